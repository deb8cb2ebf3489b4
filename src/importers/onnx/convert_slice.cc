// Parts of tensors: Slice, Split, Pad.
#include <algorithm>
#include <numeric>

#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

void Slice(OnnxContext& c) {
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
    } else if (c.HasAttr("num_outputs")) {
      c.Unsupported("pieces of a dimension that is not known");
    } else {
      const std::string piece =
          c.Binary("floor_divide", c.Dimension(x, axis), c.ConvertContext::ConstantInts({static_cast<int64_t>(count)}));
      inputs.emplace_back(
          "sections", std::vector<std::string>{
                          c.Emit("concat", {{"x", std::vector<std::string>(count, piece)}}, {{"axis", int64_t{0}}})});
    }
  }
  const std::vector<std::string> pieces = c.EmitMany("split", inputs, attrs, count);
  for (size_t i = 0; i < count; ++i) c.Bind(i, pieces[i]);
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
  if (const auto axes = c.KnownInts(3, "axes")) {
    // Begins and ends of these axes, in their order; ours are those of all.
    if (!pads->values) c.Unsupported("pads of some axes are a tensor that is not constant");
    if (pads->values->size() != 2 * axes->size()) {
      c.Corrupt("there are ", pads->values->size(), " pads for ", axes->size(), " axes");
    }
    const int rank = c.Rank(c.Input(0));
    std::vector<int64_t> all(2 * static_cast<size_t>(rank), 0);
    for (size_t i = 0; i < axes->size(); ++i) {
      const auto axis = static_cast<size_t>(c.Axis((*axes)[i], rank));
      all[axis] = (*pads->values)[i];
      all[axis + static_cast<size_t>(rank)] = (*pads->values)[i + axes->size()];
    }
    pads->values = std::move(all);
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
