// Padding: of any axes, of images, and of volumes.
#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

void EmitPad(OpContext& c, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
             const std::string& mode, const Number& value) {
  std::vector<int64_t> paddings = before;
  paddings.insert(paddings.end(), after.begin(), after.end());
  OpInputs inputs = {{"x", {c.Input({"X", 0})}}};
  OpAttrs attrs = {{"paddings", IntArray(paddings)}, {"mode", mode}};
  OpContext::Pass("value", value, &inputs, &attrs);
  c.EmitResult("pad", inputs, attrs);
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
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    before.push_back(pairs[i]);
    after.push_back(pairs[i + 1]);
  }
  EmitPad(c, before, after, "constant", c.NumberOf({nullptr, 1}, "pad_value", Scalar(0.0)));
}

// Pairs for the axes between batch and channels, the last axis first; `first_to_last`: the first axis first.
void PadSpatial(OpContext& c, const std::vector<int64_t>& pairs, bool first_to_last, const Number& value) {
  const size_t axes = pairs.size() / 2;
  const int rank = c.Rank(c.Input({"X", 0}));
  if (pairs.size() % 2 != 0 || static_cast<size_t>(rank) != axes + 2) {
    c.Corrupt("there are ", pairs.size(), " paddings for an input of rank ", rank);
  }
  std::vector<int64_t> before(axes + 2, 0);
  std::vector<int64_t> after(axes + 2, 0);
  const size_t first = c.ChannelsLast() ? 1 : 2;
  for (size_t i = 0; i < axes; ++i) {
    const size_t axis = first + (first_to_last ? i : axes - 1 - i);
    before[axis] = pairs[2 * i];
    after[axis] = pairs[2 * i + 1];
  }
  EmitPad(c, before, after, ModeOf(c), value);
}

void Pad2d(OpContext& c) {
  PadSpatial(c, c.KnownInts({"Paddings"}, {nullptr}, "paddings"), true,
             c.NumberOf({nullptr}, "pad_value", Scalar(0.0)));
}

void Pad3d(OpContext& c) {
  PadSpatial(c, c.KnownInts({"Paddings", 1}, {nullptr}, "paddings"), false,
             c.NumberOf({nullptr}, c.pir() ? "pad_value" : "value", Scalar(0.0)));
}

}  // namespace

REGISTER_CONVERTER(paddle, pad, &Convert<Pad>);
REGISTER_CONVERTER(pir, pad, &Convert<Pad>);
REGISTER_CONVERTER(paddle, pad2d, &Convert<Pad2d>);
REGISTER_CONVERTER(paddle, pad3d, &Convert<Pad3d>);
REGISTER_CONVERTER(pir, pad3d, &Convert<Pad3d>);

}  // namespace wherry::paddle
