// Operators written with several of Wherry's: moving elements about.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// One dimension of a shape that follows from x: a number, or one of x's dimensions times or over a number.
struct Part {
  int64_t number = 0;
  int axis = -1;  // -1: `number` itself
  int64_t times = 1;
  int64_t over = 1;
};
Part Fixed(int64_t number) { return Part{number}; }
Part Axis(int axis, int64_t times = 1, int64_t over = 1) { return Part{0, axis, times, over}; }

// Dimension `axis` of x if it is known now.
std::optional<int64_t> KnownDim(OpContext& c, const std::string& x, int axis) {
  const Dim& dim = c.Meta(x).dims[static_cast<size_t>(axis)];
  if (!dim.known()) return std::nullopt;
  return dim.value();
}

// x reshaped to these dimensions; those that are not known now are computed by operators.
std::string ReshapedTo(OpContext& c, const std::string& x, const std::string& source, const std::vector<Part>& parts) {
  std::vector<int64_t> known;
  for (const Part& part : parts) {
    const auto dim = part.axis < 0 ? std::optional<int64_t>(part.number) : KnownDim(c, source, part.axis);
    if (!dim) break;
    if (*dim % part.over != 0) c.Corrupt("dimension ", part.axis, " of ", *dim, " is no multiple of ", part.over);
    known.push_back(*dim / part.over * part.times);
  }
  if (known.size() == parts.size()) return c.Reshaped(x, known);
  const std::string shape = c.Emit("shape", {{"x", {source}}});
  std::vector<std::string> dims;
  const auto constant = [&c](int64_t value) { return c.ConvertContext::ConstantInts(std::vector<int64_t>{value}); };
  for (const Part& part : parts) {
    if (part.axis < 0) {
      dims.push_back(constant(part.number));
      continue;
    }
    const int64_t axis = part.axis;
    std::string dim =
        c.Emit("slice", {{"x", {shape}}},
               {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({axis})}, {"ends", IntArray({axis + 1})}});
    if (part.over != 1) dim = c.Binary("floor_divide", dim, constant(part.over));
    if (part.times != 1) dim = c.Binary("multiply", dim, constant(part.times));
    dims.push_back(dim);
  }
  return c.Emit("reshape", {{"x", {x}}, {"shape", {c.Emit("concat", {{"x", dims}}, {{"axis", int64_t{0}}})}}});
}

// The input with channels on axis 1; it must be images.
std::string Images(OpContext& c) {
  std::string x = c.Input({"X", 0});
  if (c.Rank(x) != 4) c.Corrupt("its input has rank ", c.Rank(x), ", expected 4");
  return c.ChannelsLast() ? c.ToChannelsFirst(x) : x;
}
void ImagesResult(OpContext& c, const std::string& value) {
  c.Result({"Out", 0}, c.ChannelsLast() ? c.ToChannelsLast(value) : value);
}

int64_t PositiveAttr(OpContext& c, const char* name) {
  const auto value = c.Attr<int64_t>(name);
  constexpr int64_t kMost = 1 << 16;
  if (value < 1 || value > kMost) c.Corrupt("attribute ", name, " is ", value);
  return value;
}

void PixelShuffle(OpContext& c) {
  const int64_t r = PositiveAttr(c, "upscale_factor");
  const std::string x = Images(c);
  const std::string apart = ReshapedTo(c, x, x, {Axis(0), Axis(1, 1, r * r), Fixed(r), Fixed(r), Axis(2), Axis(3)});
  const std::string moved = c.Transposed(apart, {0, 1, 4, 2, 5, 3});
  ImagesResult(c, ReshapedTo(c, moved, x, {Axis(0), Axis(1, 1, r * r), Axis(2, r), Axis(3, r)}));
}

void PixelUnshuffle(OpContext& c) {
  const int64_t r = PositiveAttr(c, "downscale_factor");
  const std::string x = Images(c);
  const std::string apart = ReshapedTo(c, x, x, {Axis(0), Axis(1), Axis(2, 1, r), Fixed(r), Axis(3, 1, r), Fixed(r)});
  const std::string moved = c.Transposed(apart, {0, 1, 3, 5, 2, 4});
  ImagesResult(c, ReshapedTo(c, moved, x, {Axis(0), Axis(1, r * r), Axis(2, 1, r), Axis(3, 1, r)}));
}

void ChannelShuffle(OpContext& c) {
  if (c.op().type == "shuffle_channel") {  // has no layout
    return c.EmitResult("shuffle_channel", {{"x", {c.Input({"X", 0})}}}, {{"groups", PositiveAttr(c, "group")}});
  }
  const int64_t groups = PositiveAttr(c, "groups");
  ImagesResult(c, c.Emit("shuffle_channel", {{"x", {Images(c)}}}, {{"groups", groups}}));
}

// The largest of each `groups` neighbouring channels.
void Maxout(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const int rank = c.Rank(x);
  const int64_t groups = PositiveAttr(c, "groups");
  auto axis = c.Attr<int64_t>("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) c.Corrupt("attribute axis is ", axis, " for an input of rank ", rank);
  std::vector<Part> parts;
  for (int i = 0; i < rank; ++i) {
    parts.push_back(i == axis ? Axis(i, 1, groups) : Axis(i));
    if (i == axis) parts.push_back(Fixed(groups));
  }
  c.EmitResult("max", {{"x", {ReshapedTo(c, x, x, parts)}}}, {{"axis", IntArray({axis + 1})}});
}

// A size of -1 takes the rest.
void Crop(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const Ints offsets = c.IntsOf({"Offsets", 2}, {"OffsetsTensor"}, "offsets");
  const Ints shape = c.IntsOf({"Shape", 1}, {"ShapeTensor"}, "shape");
  const auto rank = static_cast<size_t>(c.Rank(x));
  for (const Ints* list : {&offsets, &shape}) {
    if (list->values && list->values->size() != rank) {
      c.Corrupt("it has ", list->values->size(), " offsets or sizes for an input of rank ", rank);
    }
  }
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  constexpr int64_t kRest = std::numeric_limits<int32_t>::max();
  OpInputs inputs = {{"x", {x}}};
  OpAttrs attrs = {{"axes", axes}};
  Ints ends;
  if (offsets.values && shape.values) {
    ends.values.emplace();
    for (size_t i = 0; i < rank; ++i) {
      const int64_t offset = (*offsets.values)[i];
      const int64_t size = (*shape.values)[i];
      if (offset < 0 || offset > kRest || size > kRest) c.Corrupt("it crops from ", offset, " on, ", size, " elements");
      ends.values->push_back(size < 0 ? kRest : offset + size);
    }
  } else {
    const std::string sizes = c.TensorOf(shape);
    const std::string rest = c.Binary("less_than", sizes, c.Like(sizes, 0.0));
    const std::string last = c.Binary("add", c.TensorOf(offsets), sizes);
    ends.tensor =
        c.Emit("where", {{"condition", {rest}}, {"x", {c.Like(sizes, static_cast<double>(kRest))}}, {"y", {last}}});
  }
  OpContext::Pass("starts", offsets, &inputs, &attrs);
  OpContext::Pass("ends", ends, &inputs, &attrs);
  c.EmitResult("slice", inputs, attrs);
}

// Every input over the grid that all span.
void Meshgrid(OpContext& c) {
  const std::vector<std::string> axes = c.InputList({"X", 0});
  if (axes.empty() || axes.size() > static_cast<size_t>(Shape::kMaxRank)) c.Corrupt("it has ", axes.size(), " inputs");
  std::vector<std::string> sizes;
  for (const std::string& axis : axes) sizes.push_back(c.Emit("shape", {{"x", {c.Reshaped(axis, {-1})}}}));
  const std::string grid = c.Emit("concat", {{"x", sizes}}, {{"axis", int64_t{0}}});
  for (size_t i = 0; i < axes.size(); ++i) {
    std::vector<int64_t> shape(axes.size(), 1);
    shape[i] = -1;
    OpInputs inputs = {{"x", {c.Reshaped(axes[i], shape)}}};
    OpAttrs attrs;
    Ints dims;
    dims.values = c.ConvertContext::ConstantInts(grid);
    dims.tensor = grid;
    OpContext::Pass("shape", dims, &inputs, &attrs);
    c.Result({"Out", 0}, c.Emit("expand", inputs, attrs), i);
  }
}

void BroadcastTensors(OpContext& c) {
  const std::vector<std::string> tensors = c.InputList({"X", 0});
  std::vector<Dim> common;
  for (const std::string& tensor : tensors) {
    c.Rank(tensor);
    const std::vector<Dim>& dims = c.Meta(tensor).dims;
    if (dims.size() > common.size()) common.insert(common.begin(), dims.size() - common.size(), Dim(1));
    for (size_t i = 0; i < dims.size(); ++i) {
      Dim& dim = common[common.size() - dims.size() + i];
      const auto both = BroadcastDim(dim, dims[i]);
      if (!both) c.Corrupt("its inputs do not broadcast");
      dim = *both;
    }
  }
  OpInputs inputs = {{"x", {}}};
  OpAttrs attrs;
  if (std::all_of(common.begin(), common.end(), [](const Dim& dim) { return dim.known(); })) {
    std::vector<int64_t> shape;
    for (const Dim& dim : common) shape.push_back(dim.value());
    attrs.emplace_back("shape", IntArray(shape));
  } else {
    // What is computed of all of them has the common shape.
    std::string all;
    for (const std::string& tensor : tensors) {
      const std::string set =
          c.Emit("full_like", {{"x", {tensor}}}, {{"value", Scalar(true)}, {"dtype", DataType::kBool}});
      all = all.empty() ? set : c.Binary("logical_and", all, set);
    }
    inputs.emplace_back("shape", std::vector<std::string>{c.Unary("shape", all)});
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    inputs[0].second = {tensors[i]};
    c.Result({"Out", 0}, c.Emit("expand", inputs, attrs), i);
  }
}

// Row i has x[i] ones, then zeros.
void SequenceMask(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  // Not positive: the largest of the lengths.
  const auto given = c.OptionalInts({"MaxLenTensor", 1}, {nullptr}, "maxlen");
  std::string places;
  if (given && given->values && given->values->size() == 1 && given->values->front() > 0) {
    constexpr int64_t kMostLength = int64_t{1} << 24;
    const int64_t length = given->values->front();
    if (length > kMostLength) c.Unsupported("the length is ", length);
    places = c.Emit("arange", {}, {{"start", Scalar(int64_t{0})}, {"end", Scalar(length)}, {"dtype", c.TypeOf(x)}});
  } else {
    const std::string length = given && !given->values ? given->tensor : c.Reshaped(c.Unary("max", x), {1});
    places = c.Cast(c.CountTo(c.Cast(length, DataType::kInt64)), c.TypeOf(x));
  }
  const std::string column = c.Emit("unsqueeze", {{"x", {x}}}, {{"axis", IntArray({-1})}});
  c.Result({"Y", 0}, c.Cast(c.Binary("less_than", places, column), c.Attr<DataType>("out_dtype", DataType::kInt64)));
}

void Eye(OpContext& c) {
  Ints rows = c.IntsOf({nullptr, 0}, {nullptr}, "num_rows");
  Ints columns = c.OptionalInts({nullptr, 1}, {nullptr}, "num_columns").value_or(rows);
  if (columns.values && *columns.values == std::vector<int64_t>{-1}) columns = rows;
  const std::string down = c.Unsqueezed(c.CountTo(c.TensorOf(rows)), {1});
  const std::string on_diagonal = c.Binary("equal", down, c.CountTo(c.TensorOf(columns)));
  c.Result({"Out", 0}, c.Cast(on_diagonal, c.Attr<DataType>("dtype", DataType::kFloat)));
}

// Version 1: like tile.
void ExpandTimes(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"X"})}}};
  OpAttrs attrs;
  OpContext::Pass("repeats", c.IntsOf({"ExpandTimes"}, {"expand_times_tensor"}, "expand_times"), &inputs, &attrs);
  c.EmitResult("tile", inputs, attrs);
}

}  // namespace

REGISTER_CONVERTER(paddle, pixel_shuffle, &Convert<PixelShuffle>);
REGISTER_CONVERTER(pir, pixel_shuffle, &Convert<PixelShuffle, 1>);
REGISTER_CONVERTER(paddle, pixel_unshuffle, &Convert<PixelUnshuffle>);
REGISTER_CONVERTER(pir, pixel_unshuffle, &Convert<PixelUnshuffle, 1>);
REGISTER_CONVERTER(paddle, channel_shuffle, &Convert<ChannelShuffle>);
REGISTER_CONVERTER(pir, channel_shuffle, &Convert<ChannelShuffle, 1>);
REGISTER_CONVERTER(paddle, shuffle_channel, &Convert<ChannelShuffle>);
REGISTER_CONVERTER(pir, shuffle_channel, &Convert<ChannelShuffle, 1>);
REGISTER_CONVERTER(paddle, maxout, &Convert<Maxout>);
REGISTER_CONVERTER(pir, maxout, &Convert<Maxout, 1>);
REGISTER_CONVERTER(paddle, crop_tensor, &Convert<Crop>);
REGISTER_CONVERTER(pir, crop, &Convert<Crop, 3>);
REGISTER_CONVERTER(paddle, meshgrid, &Convert<Meshgrid>);
REGISTER_CONVERTER(pir, meshgrid, &Convert<Meshgrid, 1>);
REGISTER_CONVERTER(paddle, broadcast_tensors, &Convert<BroadcastTensors>);
REGISTER_CONVERTER(pir, broadcast_tensors, &Convert<BroadcastTensors, 1>);
REGISTER_CONVERTER(paddle, sequence_mask, &Convert<SequenceMask>);
REGISTER_CONVERTER(pir, sequence_mask, &Convert<SequenceMask, 2>);
REGISTER_CONVERTER(paddle, eye, &Convert<Eye>);
REGISTER_CONVERTER(pir, eye, &Convert<Eye, 2>);
REGISTER_CONVERTER(paddle, expand, &Convert<ExpandTimes>);

}  // namespace wherry::paddle
