// Parts of tensors: Slice, Split, Pad.
#include <algorithm>
#include <numeric>

#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

// A slice along axes, or with steps, that are known only at run time: the positions along every axis, gathered.
void SliceOfUnknownAxes(OnnxContext& c) {
  std::string x = c.Input(0);
  const int rank = c.Rank(x);
  const auto number = [&](int64_t value) { return c.ConvertContext::ConstantInts({value}); };
  const auto choose = [&](const std::string& condition, const std::string& yes, const std::string& no) {
    return c.Emit("where", {{"condition", {condition}}, {"x", {yes}}, {"y", {no}}});
  };
  const auto from_start = [&](const std::string& positions, const std::string& size) {
    return choose(c.Binary("less_than", positions, number(0)), c.Binary("add", positions, size), positions);
  };
  const std::string shape = c.Unary("shape", x);
  std::string axes;
  if (c.HasInput(3)) axes = from_start(c.Cast(c.Input(3), DataType::kInt64), number(rank));
  // What is given for some axes, and `others` for the rest.
  const auto of_all_axes = [&](size_t input, const std::string& others) {
    if (!c.HasInput(input)) return others;
    const std::string values = c.Cast(c.Input(input), DataType::kInt64);
    const std::string index = axes.empty() ? c.PositionsAlong(values, 0, 0) : axes;
    return c.Emit("put_along_axis", {{"x", {others}}, {"index", {index}}, {"value", {values}}},
                  {{"axis", int64_t{0}}, {"reduce", std::string("assign")}});
  };
  const auto filled = [&](int64_t value) {
    return c.ConvertContext::ConstantInts(std::vector<int64_t>(static_cast<size_t>(rank), value));
  };
  const std::string steps = of_all_axes(4, filled(1));
  const std::string forward = c.Binary("greater_than", steps, number(0));
  const std::string last = choose(forward, shape, c.Scaled(shape, 1.0, -1.0));
  const auto within = [&](const std::string& positions, const std::string& first) {
    return c.Binary("minimum", c.Binary("maximum", from_start(positions, shape), first), last);
  };
  const std::string starts = within(of_all_axes(1, filled(0)), number(0));
  const std::string ends = within(of_all_axes(2, shape), choose(forward, number(0), number(-1)));
  for (int64_t axis = 0; axis < rank; ++axis) {
    const auto at = [&](const std::string& values) {
      const std::string one =
          c.Emit("slice", {{"x", {values}}},
                 {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({axis})}, {"ends", IntArray({axis + 1})}});
      return c.Squeezed(one, {0});
    };
    const std::string positions =
        c.Emit("arange", {{"start", {at(starts)}}, {"end", {at(ends)}}, {"step", {at(steps)}}});
    x = c.Emit("gather", {{"x", {x}}, {"index", {positions}}}, {{"axis", axis}});
  }
  c.Bind(0, x);
}

void Slice(OnnxContext& c) {
  const auto unknown = [&](size_t input) { return c.HasInput(input) && !c.IntsAt(input)->values; };
  if (c.opset() >= 10 && (unknown(3) || unknown(4))) return SliceOfUnknownAxes(c);
  OpInputs inputs = {{"x", {c.Input(0)}}};
  const auto starts = c.OptionalInts(1, "starts");
  const auto ends = c.OptionalInts(2, "ends");
  if (!starts || !ends) c.Corrupt("starts or ends are missing");
  auto axes = c.KnownInts(3, "axes");
  if (!axes) {
    size_t count = 0;
    if (starts->values) {
      count = starts->values->size();
    } else {
      const MetaTensor& meta = c.Meta(starts->tensor);
      if (!meta.rank_known || meta.rank() != 1 || !meta.dims[0].known())
        c.Unsupported("the number of starts is not known");
      count = static_cast<size_t>(meta.dims[0].value());
    }
    if (count > static_cast<size_t>(wherry::Shape::kMaxRank)) c.Corrupt("there are ", count, " starts");
    axes.emplace(count);
    std::iota(axes->begin(), axes->end(), 0);
  }
  OpAttrs attrs = {{"axes", *axes}};
  OnnxContext::Pass("starts", *starts, &inputs, &attrs);
  OnnxContext::Pass("ends", *ends, &inputs, &attrs);
  if (const auto steps = c.KnownInts(4, "steps")) attrs.emplace_back("steps", *steps);
  c.EmitResult("slice", inputs, attrs);
}

// The sizes of `count` pieces of `whole`: equal, but for the last where that does not divide (opset 18).
std::vector<int64_t> EqualPieces(OnnxContext& c, int64_t whole, int64_t count) {
  if (whole % count != 0 && !c.HasAttr("num_outputs")) c.Corrupt(whole, " does not make ", count, " equal pieces");
  const int64_t piece = whole / count + (whole % count == 0 ? 0 : 1);
  std::vector<int64_t> pieces;
  for (int64_t left = whole; static_cast<int64_t>(pieces.size()) < count; left -= pieces.back()) {
    pieces.push_back(std::min(piece, left));
  }
  return pieces;
}

// The same for a dimension that is known when it runs.
std::string EqualPiecesOf(OnnxContext& c, const std::string& whole, size_t count) {
  const auto ints = [&](const std::vector<int64_t>& values) { return c.ConvertContext::ConstantInts(values); };
  const auto divisor = static_cast<int64_t>(count);
  if (!c.HasAttr("num_outputs")) {
    // Pieces of another dimension do not make it, which split finds.
    const std::string piece = c.Binary("floor_divide", whole, ints({divisor}));
    return c.Emit("concat", {{"x", std::vector<std::string>(count, piece)}}, {{"axis", int64_t{0}}});
  }
  const std::string above = c.Binary("add", whole, ints({divisor - 1}));
  const std::string piece = c.Binary("floor_divide", above, ints({divisor}));
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::string left = c.Binary("subtract", whole, c.Binary("multiply", piece, ints(numbers)));
  return c.Binary("minimum", c.Binary("maximum", left, ints({0})), piece);
}

void Split(OnnxContext& c) {
  const std::string x = c.Input(0);
  const size_t count = c.op().outputs.size();
  if (count == 0) c.Corrupt("it has no outputs");
  const int rank = c.Rank(x);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", 0), rank);
  if (c.Attr<int64_t>("num_outputs", static_cast<int64_t>(count)) != static_cast<int64_t>(count)) {
    c.Corrupt("attribute num_outputs is ", c.Attr<int64_t>("num_outputs"), ", there are ", count, " outputs");
  }
  OpInputs inputs = {{"x", {x}}};
  OpAttrs attrs = {{"axis", axis}};
  if (const auto sizes = c.OptionalInts(1, "split")) {
    if (sizes->values && sizes->values->size() != count) {
      c.Corrupt("there are ", sizes->values->size(), " sizes for ", count, " outputs");
    }
    OnnxContext::Pass("sections", *sizes, &inputs, &attrs);
  } else {
    const Dim whole = c.Meta(x).dims[static_cast<size_t>(axis)];
    if (whole.known()) {
      attrs.emplace_back("sections", IntArray(EqualPieces(c, whole.value(), static_cast<int64_t>(count))));
    } else if (count == 1) {
      attrs.emplace_back("sections", IntArray({-1}));
    } else {
      inputs.emplace_back("sections", std::vector<std::string>{EqualPiecesOf(c, c.Dimension(x, axis), count)});
    }
  }
  const std::vector<std::string> pieces = c.EmitMany("split", inputs, attrs, count);
  for (size_t i = 0; i < count; ++i) c.Bind(i, pieces[i]);
}

// Pads of some axes, the begins and then the ends in the axes' order, as those of all axes.
Ints PadsOfAllAxes(OnnxContext& c, Ints pads, const std::vector<int64_t>& axes) {
  const size_t count = axes.size();
  if (pads.values && pads.values->size() != 2 * count) {
    c.Corrupt("there are ", pads.values->size(), " pads for ", count, " axes");
  }
  const int rank = c.Rank(c.Input(0));
  // Where each of all pads stands in these; at 2 * count, for the axes that are not there, a 0 is added.
  std::vector<int64_t> source(2 * static_cast<size_t>(rank), static_cast<int64_t>(2 * count));
  for (size_t i = 0; i < count; ++i) {
    const auto axis = static_cast<size_t>(c.Axis(axes[i], rank));
    source[axis] = static_cast<int64_t>(i);
    source[axis + static_cast<size_t>(rank)] = static_cast<int64_t>(i + count);
  }
  if (pads.values) {
    pads.values->push_back(0);
    std::vector<int64_t> all;
    for (const int64_t i : source) all.push_back((*pads.values)[static_cast<size_t>(i)]);
    pads.values = std::move(all);
  } else {
    const std::string zero = c.ConvertContext::ConstantInts({0});
    const std::string longer =
        c.Emit("concat", {{"x", {c.Cast(pads.tensor, DataType::kInt64), zero}}}, {{"axis", int64_t{0}}});
    pads.tensor = c.Emit("gather", {{"x", {longer}}, {"index", {c.ConvertContext::ConstantInts(source)}}},
                         {{"axis", int64_t{0}}});
  }
  return pads;
}

// The same for axes that are not known now: put where they belong in a list of zeros.
Ints PadsOfUnknownAxes(OnnxContext& c, const Ints& pads, const std::string& axes) {
  const int64_t rank = c.Rank(c.Input(0));
  const auto constant = [&c](const std::vector<int64_t>& values) { return c.ConvertContext::ConstantInts(values); };
  const std::string begins = c.Binary("remainder", c.Cast(axes, DataType::kInt64), constant({rank}));
  const std::string places =
      c.Emit("concat", {{"x", {begins, c.Binary("add", begins, constant({rank}))}}}, {{"axis", int64_t{0}}});
  const std::string given = pads.values ? constant(*pads.values) : c.Cast(pads.tensor, DataType::kInt64);
  Ints all;
  all.tensor = c.Emit("put_along_axis", {{"x", {constant(std::vector<int64_t>(static_cast<size_t>(2 * rank), 0))}},
                                         {"index", {places}},
                                         {"value", {given}}});
  return all;
}

void Pad(OnnxContext& c) {
  OpInputs inputs = {{"x", {c.Input(0)}}};
  OpAttrs attrs;
  const auto mode = c.Attr<std::string>("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    c.Corrupt("attribute mode is ", Quote(mode));
  }
  attrs.emplace_back("mode", mode);
  auto pads = c.OptionalInts(1, "pads");
  if (!pads) c.Corrupt("pads are missing");
  if (const auto axes = c.IntsAt(3)) {
    pads = axes->values ? PadsOfAllAxes(c, *pads, *axes->values) : PadsOfUnknownAxes(c, *pads, axes->tensor);
  }
  OnnxContext::Pass("paddings", *pads, &inputs, &attrs);
  if (c.HasInput(2)) {
    c.PassScalar("value", 2, &inputs, &attrs);
  } else if (c.HasAttr("value")) {
    attrs.emplace_back("value", Scalar(c.Attr<double>("value")));
  }
  c.EmitResult("pad", inputs, attrs);
}

}  // namespace

REGISTER_CONVERTER(onnx, Slice, &Convert<Slice>);
REGISTER_CONVERTER(onnx, Split, &Convert<Split>);
REGISTER_CONVERTER(onnx, Pad, &Convert<Pad>);

}  // namespace wherry::onnx
