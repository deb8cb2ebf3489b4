// Shapes: reading them and changing them.
#include <limits>

#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

void Reshape(OnnxContext& c) {
  OpInputs inputs = {{"x", {c.Input(0)}}};
  OpAttrs attrs = {{"allow_zero", c.Attr<bool>("allowzero", false)}};
  const auto shape = c.OptionalInts(1, "shape");
  if (!shape) c.Corrupt("input 1 is missing");
  OnnxContext::Pass("shape", *shape, &inputs, &attrs);
  c.EmitResult("reshape", inputs, attrs);
}

void Flatten(OnnxContext& c) {
  const std::string x = c.Input(0);
  c.Bind(0, c.AsMatrix(x, c.Axis(c.Attr<int64_t>("axis", 1), c.Rank(x), /*past_end=*/true)));
}

// Over one axis; before opset 13, over all axes from that one on, as one.
void SoftmaxOver(OnnxContext& c, const char* type) {
  const std::string x = c.Input(0);
  if (c.opset() >= 13) return c.EmitResult(type, {{"x", {x}}}, {{"axis", c.Attr<int64_t>("axis", -1)}});
  const int rank = c.Rank(x);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", 1), rank, /*past_end=*/true);
  bool is_one_axis = axis < rank;
  for (int64_t i = axis + 1; i < rank; ++i)
    is_one_axis = is_one_axis && c.Meta(x).dims[static_cast<size_t>(i)] == Dim(1);
  if (is_one_axis) return c.EmitResult(type, {{"x", {x}}}, {{"axis", axis}});
  const std::string y = c.Emit(type, {{"x", {c.AsMatrix(x, axis)}}}, {{"axis", int64_t{1}}});
  c.EmitResult("reshape", {{"x", {y}}, {"shape", {c.Unary("shape", x)}}}, {{"allow_zero", true}});
}
void Softmax(OnnxContext& c) { SoftmaxOver(c, "softmax"); }
void LogSoftmax(OnnxContext& c) { SoftmaxOver(c, "log_softmax"); }

void Shape(OnnxContext& c) {
  const std::string shape = c.Unary("shape", c.Input(0));
  const auto start = c.Attr<int64_t>("start", 0);
  if (start == 0 && !c.HasAttr("end")) return c.Bind(0, shape);
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  c.EmitResult("slice", {{"x", {shape}}},
               {{"axes", std::vector<int64_t>{0}},
                {"starts", IntArray({start})},
                {"ends", IntArray({c.Attr<int64_t>("end", kEnd)})}});
}

void Size(OnnxContext& c) { c.EmitResult("prod", {{"x", {c.Unary("shape", c.Input(0))}}}); }

void ByAxes(OnnxContext& c, const char* type) {
  OpInputs inputs = {{"x", {c.Input(0)}}};
  OpAttrs attrs;
  if (const auto axes = c.OptionalInts(1, "axes")) {
    OnnxContext::Pass("axis", *axes, &inputs, &attrs);
  } else if (std::string(type) == "unsqueeze") {
    c.Corrupt("axes are missing");
  }
  c.EmitResult(type, inputs, attrs);
}
void Squeeze(OnnxContext& c) { ByAxes(c, "squeeze"); }
void Unsqueeze(OnnxContext& c) { ByAxes(c, "unsqueeze"); }

void Expand(OnnxContext& c) {
  OpInputs inputs = {{"x", {c.Input(0)}}};
  OpAttrs attrs;
  c.Input(1);
  OnnxContext::Pass("shape", *c.IntsAt(1), &inputs, &attrs);
  c.EmitResult("expand", inputs, attrs);
}

void Tile(OnnxContext& c) {
  OpInputs inputs = {{"x", {c.Input(0)}}};
  OpAttrs attrs;
  c.Input(1);
  OnnxContext::Pass("repeats", *c.IntsAt(1), &inputs, &attrs);
  c.EmitResult("tile", inputs, attrs);
}

constexpr int64_t kMostBlockSize = 1 << 20;  // its square is a number of channels

std::string ReshapedTo(OnnxContext& c, const std::string& x, const std::vector<std::string>& dims) {
  const std::string shape = c.Emit("concat", {{"x", dims}}, {{"axis", int64_t{0}}});
  return c.Emit("reshape", {{"x", {x}}, {"shape", {shape}}}, {{"allow_zero", true}});
}

// Of an operator whose input is an image.
int64_t BlockSize(OnnxContext& c, const std::string& x) {
  const auto block = c.Attr<int64_t>("blocksize");
  if (c.Rank(x) != 4) c.Corrupt("the input has ", c.Rank(x), " dimensions, expected 4");
  if (block < 1 || block > kMostBlockSize) c.Corrupt("attribute blocksize is ", block);
  return block;
}

void DepthToSpace(OnnxContext& c) {
  const std::string x = c.Input(0);
  const int64_t block = BlockSize(c, x);
  const auto mode = c.Attr<std::string>("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") c.Corrupt("attribute mode is ", Quote(mode));
  const std::string n = c.Dimension(x, 0);
  const std::string h = c.Dimension(x, 2);
  const std::string w = c.Dimension(x, 3);
  const std::string size = c.ConvertContext::ConstantInts({block});
  const std::string depth =
      c.Binary("floor_divide", c.Dimension(x, 1), c.ConvertContext::ConstantInts({block * block}));
  const bool depth_last = mode == "CRD";
  const std::string pieces =
      depth_last ? ReshapedTo(c, x, {n, depth, size, size, h, w}) : ReshapedTo(c, x, {n, size, size, depth, h, w});
  const std::vector<int64_t> perm =
      depth_last ? std::vector<int64_t>{0, 1, 4, 2, 5, 3} : std::vector<int64_t>{0, 3, 4, 1, 5, 2};
  const std::string moved = c.Emit("transpose", {{"x", {pieces}}}, {{"perm", perm}});
  c.Bind(0, ReshapedTo(c, moved, {n, depth, c.Binary("multiply", h, size), c.Binary("multiply", w, size)}));
}

void SpaceToDepth(OnnxContext& c) {
  const std::string x = c.Input(0);
  const int64_t block = BlockSize(c, x);
  const auto mode = c.Attr<std::string>("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") c.Corrupt("attribute mode is ", Quote(mode));
  const std::string n = c.Dimension(x, 0);
  const std::string depth = c.Dimension(x, 1);
  const std::string size = c.ConvertContext::ConstantInts({block});
  const std::string h = c.Binary("floor_divide", c.Dimension(x, 2), size);
  const std::string w = c.Binary("floor_divide", c.Dimension(x, 3), size);
  const std::string pieces = ReshapedTo(c, x, {n, depth, h, size, w, size});
  const std::vector<int64_t> perm =
      mode == "CRD" ? std::vector<int64_t>{0, 1, 3, 5, 2, 4} : std::vector<int64_t>{0, 3, 5, 1, 2, 4};
  const std::string moved = c.Emit("transpose", {{"x", {pieces}}}, {{"perm", perm}});
  const std::string out_depth = c.Binary("multiply", depth, c.ConvertContext::ConstantInts({block * block}));
  c.Bind(0, ReshapedTo(c, moved, {n, out_depth, h, w}));
}

void NonZero(OnnxContext& c) {
  // Ours has one position a row, ONNX one a column.
  c.EmitResult("transpose", {{"x", {c.Unary("nonzero", c.Input(0))}}}, {{"perm", std::vector<int64_t>{1, 0}}});
}

}  // namespace

REGISTER_CONVERTER(onnx, Reshape, &Convert<Reshape>);
REGISTER_CONVERTER(onnx, Flatten, &Convert<Flatten>);
REGISTER_CONVERTER(onnx, Softmax, &Convert<Softmax>);
REGISTER_CONVERTER(onnx, LogSoftmax, &Convert<LogSoftmax>);
REGISTER_CONVERTER(onnx, Shape, &Convert<Shape>);
REGISTER_CONVERTER(onnx, Size, &Convert<Size>);
REGISTER_CONVERTER(onnx, Squeeze, &Convert<Squeeze>);
REGISTER_CONVERTER(onnx, Unsqueeze, &Convert<Unsqueeze>);
REGISTER_CONVERTER(onnx, Expand, &Convert<Expand>);
REGISTER_CONVERTER(onnx, Tile, &Convert<Tile>);
REGISTER_CONVERTER(onnx, DepthToSpace, &Convert<DepthToSpace>);
REGISTER_CONVERTER(onnx, SpaceToDepth, &Convert<SpaceToDepth>);
REGISTER_CONVERTER(onnx, NonZero, &Convert<NonZero>);

}  // namespace wherry::onnx
