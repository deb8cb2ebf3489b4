// Padding: of any axes, of images, and of volumes.
#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

void EmitPad(OpContext& c, const Ints& paddings, const std::string& mode, const Number& value) {
  std::string x = c.Input({"X", 0});
  const bool complex = c.TypeOf(x) == DataType::kComplex64 || c.TypeOf(x) == DataType::kComplex128;
  Ints all = paddings;
  if (complex) {
    // As pairs, which are not padded themselves.
    if (!value.value || value.value->to<double>() != 0.0) c.Unsupported("it pads complex numbers with others than 0");
    if (!all.values) c.Unsupported("its paddings of complex numbers are not known");
    all.values->insert(all.values->begin() + static_cast<std::ptrdiff_t>(all.values->size() / 2), 0);
    all.values->push_back(0);
    x = c.Unary("as_real", x);
  }
  OpInputs inputs = {{"x", {x}}};
  OpAttrs attrs = {{"mode", mode}};
  OpContext::Pass("paddings", all, &inputs, &attrs);
  OpContext::Pass("value", value, &inputs, &attrs);
  const std::string padded = c.Emit("pad", inputs, attrs);
  c.Result({"Out", 0}, complex ? c.Unary("as_complex", padded) : padded);
}

std::string ModeOf(OpContext& c) {
  const auto mode = c.Attr<std::string>("mode", "constant");
  if (mode == "constant" || mode == "reflect" || mode == "edge") return mode;
  if (mode == "replicate") return "edge";
  if (mode == "circular") return "wrap";
  c.Unsupported("attribute mode is ", Quote(mode));
}

// [before axis 0, after axis 0, before axis 1, ...]
void Pad(OpContext& c) {
  const auto pairs = c.Attr<std::vector<int64_t>>("paddings");
  const int rank = c.Rank(c.Input({"X", 0}));
  if (pairs.size() != 2 * static_cast<size_t>(rank))
    c.Corrupt("attribute paddings has ", pairs.size(), " values for an input of rank ", rank);
  Ints paddings;
  paddings.values.emplace();
  for (const size_t side : {size_t{0}, size_t{1}}) {
    for (size_t i = side; i < pairs.size(); i += 2) paddings.values->push_back(pairs[i]);
  }
  EmitPad(c, paddings, "constant", c.NumberOf({nullptr, 1}, "pad_value", Scalar(0.0)));
}

// Pairs for the axes between batch and channels, the last axis first; `first_to_last`: the first axis first.
void PadSpatial(OpContext& c, const Ints& pairs, bool first_to_last, const Number& value) {
  const auto rank = static_cast<size_t>(c.Rank(c.Input({"X", 0})));
  const size_t count = pairs.values ? pairs.values->size() : 2 * (rank - 2);
  const size_t axes = count / 2;
  if (count % 2 != 0 || rank != axes + 2) {
    c.Corrupt("there are ", count, " paddings for an input of rank ", rank);
  }
  // Where each padding, before all axes and then after, stands in the list; at `count`, for batch and channels, a 0 is
  // added.
  std::vector<int64_t> source(2 * rank, static_cast<int64_t>(count));
  const size_t first = c.ChannelsLast() ? 1 : 2;
  for (size_t i = 0; i < axes; ++i) {
    const size_t axis = first + (first_to_last ? i : axes - 1 - i);
    source[axis] = static_cast<int64_t>(2 * i);
    source[axis + rank] = static_cast<int64_t>(2 * i + 1);
  }
  Ints paddings;
  if (pairs.values) {
    paddings.values.emplace();
    for (const int64_t i : source) {
      paddings.values->push_back(static_cast<size_t>(i) < count ? (*pairs.values)[static_cast<size_t>(i)] : 0);
    }
  } else {
    const std::string zero = c.ConvertContext::ConstantInts(std::vector<int64_t>{0});
    const std::string longer = c.Emit("concat", {{"x", {c.TensorOf(pairs), zero}}}, {{"axis", int64_t{0}}});
    paddings.tensor = c.Emit("gather", {{"x", {longer}}, {"index", {c.ConvertContext::ConstantInts(source)}}},
                             {{"axis", int64_t{0}}});
  }
  EmitPad(c, paddings, ModeOf(c), value);
}

void Pad2d(OpContext& c) {
  PadSpatial(c, c.IntsOf({"Paddings"}, {nullptr}, "paddings"), true, c.NumberOf({nullptr}, "pad_value", Scalar(0.0)));
}

void Pad3d(OpContext& c) {
  PadSpatial(c, c.IntsOf({"Paddings", 1}, {nullptr}, "paddings"), false,
             c.NumberOf({nullptr}, c.pir() ? "pad_value" : "value", Scalar(0.0)));
}

}  // namespace

REGISTER_CONVERTER(paddle, pad, &Convert<Pad>);
REGISTER_CONVERTER(pir, pad, &Convert<Pad, 2>);
REGISTER_CONVERTER(paddle, pad2d, &Convert<Pad2d>);
REGISTER_CONVERTER(paddle, pad3d, &Convert<Pad3d>);
REGISTER_CONVERTER(pir, pad3d, &Convert<Pad3d, 2>);

}  // namespace wherry::paddle
