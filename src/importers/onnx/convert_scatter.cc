// Elements put in or picked out by positions; order and rank.
#include <limits>
#include <utility>

#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

std::string ReduceOf(OnnxContext& c) {
  const auto reduction = c.Attr<std::string>("reduction", "none");
  for (const char* known : {"add", "mul", "max", "min"}) {
    if (reduction == known) return reduction;
  }
  if (reduction != "none") c.Corrupt("attribute reduction is ", Quote(reduction));
  return "assign";
}

void ScatterElements(OnnxContext& c) {
  c.EmitResult("put_along_axis", {{"x", {c.Input(0)}}, {"index", {c.Input(1)}}, {"value", {c.Input(2)}}},
               {{"axis", c.Attr<int64_t>("axis", 0)}, {"reduce", ReduceOf(c)}});
}

void ScatterND(OnnxContext& c) {
  c.EmitResult("scatter_nd", {{"x", {c.Input(0)}}, {"index", {c.Input(1)}}, {"updates", {c.Input(2)}}},
               {{"reduce", ReduceOf(c)}});
}

// A cache with the update at write_indices[sample] and behind, along the axis.
void TensorScatter(OnnxContext& c) {
  const std::string cache = c.Input(0);
  const std::string update = c.Input(1);
  const int rank = c.Rank(cache);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", -2), rank);
  if (axis == 0) c.Corrupt("the axis is that of the batch");
  const auto mode = c.Attr<std::string>("mode", "linear");
  if (mode != "linear" && mode != "circular") c.Corrupt("attribute mode is ", Quote(mode));
  std::string places = c.PositionsAlong(update, axis, rank - 1 - axis);
  if (c.HasInput(2)) {
    std::vector<int64_t> behind;
    for (int64_t i = 1; i < rank; ++i) behind.push_back(i);
    places = c.Binary("add", places, c.Unsqueezed(c.Input(2), behind));
  }
  if (mode == "circular") places = c.Binary("remainder", places, c.Dimension(cache, axis));
  const std::string index = c.Emit("expand", {{"x", {places}}, {"shape", {c.Unary("shape", update)}}});
  c.EmitResult("put_along_axis", {{"x", {cache}}, {"index", {index}}, {"value", {update}}},
               {{"axis", axis}, {"reduce", std::string("assign")}});
}

// The slices, or elements, where a list of bools is true; it may end before they do.
void Compress(OnnxContext& c) {
  const std::string x = c.Input(0);
  const std::string positions = c.Reshaped(c.Unary("nonzero", c.Input(1)), {-1});
  if (!c.HasAttr("axis")) {
    return c.EmitResult("gather", {{"x", {c.Reshaped(x, {-1})}}, {"index", {positions}}}, {{"axis", int64_t{0}}});
  }
  c.EmitResult("gather", {{"x", {x}}, {"index", {positions}}}, {{"axis", c.Axis(c.Attr<int64_t>("axis"), c.Rank(x))}});
}

void Unique(OnnxContext& c) {
  OpAttrs attrs = {{"sorted", c.Attr<bool>("sorted", true)}};
  if (c.HasAttr("axis")) attrs.emplace_back("axis", std::vector<int64_t>{c.Attr<int64_t>("axis")});
  const auto results = c.EmitMany("unique", {{"x", {c.Input(0)}}}, attrs, 4);
  for (size_t i = 0; i < results.size(); ++i) c.Bind(i, results[i]);
}

void TopK(OnnxContext& c) {
  OpInputs inputs = {{"x", {c.Input(0)}}};
  OpAttrs attrs = {{"axis", c.Attr<int64_t>("axis", -1)}, {"largest", c.Attr<bool>("largest", true)}};
  if (c.HasInput(1)) {
    c.PassScalar("k", 1, &inputs, &attrs);
  } else {
    attrs.emplace_back("k", Scalar(c.Attr<int64_t>("k")));
  }
  const auto results = c.EmitMany("topk", inputs, attrs, 2);
  c.Bind(0, results[0]);
  c.Bind(1, results[1]);
}

// The elements at these positions of the last axis (a feature of ai.onnx.ml).
void ArrayFeatureExtractor(OnnxContext& c) {
  const std::string x = c.Input(0);
  const std::string rows = c.Rank(x) == 1 ? c.Unsqueezed(x, {0}) : x;
  const std::string index = c.Reshaped(c.Input(1), {-1});
  c.EmitResult("gather", {{"x", {rows}}, {"index", {index}}}, {{"axis", int64_t{-1}}});
}

// The first sequence_lens[i] slices of sequence i backwards, the rest as they are.
void ReverseSequence(OnnxContext& c) {
  const std::string x = c.Input(0);
  const int rank = c.Rank(x);
  const int64_t batch = c.Axis(c.Attr<int64_t>("batch_axis", 1), rank);
  const int64_t time = c.Axis(c.Attr<int64_t>("time_axis", 0), rank);
  if (batch + time != 1) c.Corrupt("the axes are ", batch, " and ", time, ", expected 0 and 1");
  const std::string steps = c.PositionsAlong(x, time, batch == 1 ? 1 : 0);
  const std::string length = batch == 0 ? c.Unsqueezed(c.Input(1), {1}) : c.Input(1);
  const std::string mirrored = c.Scaled(c.Binary("subtract", length, steps), 1.0, -1.0);
  const std::string from =
      c.Emit("where", {{"condition", {c.Binary("less_than", steps, length)}}, {"x", {mirrored}}, {"y", {steps}}});
  // Whole slices of the other axes are moved.
  const std::string sequence =
      c.Emit("expand", {{"x", {c.PositionsAlong(x, batch, batch == 0 ? 1 : 0)}}, {"shape", {c.Unary("shape", from)}}});
  std::vector<std::string> places = {sequence, from};
  if (batch == 1) std::swap(places[0], places[1]);
  c.EmitResult("gather_nd", {{"x", {x}}, {"index", {c.Emit("stack", {{"x", places}}, {{"axis", int64_t{-1}}})}}});
}

void NonMaxSuppression(OnnxContext& c) {
  OpInputs inputs = {{"boxes", {c.Input(0)}}, {"scores", {c.Input(1)}}};
  OpAttrs attrs = {{"center_point", c.Attr<bool>("center_point_box", false)}};
  const auto number = [&](const char* name, size_t position, const Scalar& fallback) {
    c.PassScalar(name, position, &inputs, &attrs);
    if (!c.HasInput(position)) attrs.emplace_back(name, fallback);
  };
  number("max_output", 2, Scalar(int64_t{0}));
  number("iou_threshold", 3, Scalar(0.0));
  number("score_threshold", 4, Scalar(std::numeric_limits<double>::lowest()));
  c.EmitResult("nms", inputs, attrs);
}

// 1 above the threshold, else 0.
void Binarizer(OnnxContext& c) {
  const std::string x = c.Input(0);
  c.Bind(0, c.Cast(c.Binary("greater_than", x, c.Like(x, c.Attr<double>("threshold", 0.0))), c.TypeOf(x)));
}

}  // namespace

REGISTER_CONVERTER(onnx, ScatterElements, &Convert<ScatterElements>);
REGISTER_CONVERTER(onnx, Scatter, &Convert<ScatterElements>);
REGISTER_CONVERTER(onnx, ScatterND, &Convert<ScatterND>);
REGISTER_CONVERTER(onnx, TensorScatter, &Convert<TensorScatter>);
REGISTER_CONVERTER(onnx, Compress, &Convert<Compress>);
REGISTER_CONVERTER(onnx, Unique, &Convert<Unique>);
REGISTER_CONVERTER(onnx, TopK, &Convert<TopK>);
REGISTER_CONVERTER(onnx, ai_onnx_ml_ArrayFeatureExtractor, &Convert<ArrayFeatureExtractor>);
REGISTER_CONVERTER(onnx, ReverseSequence, &Convert<ReverseSequence>);
REGISTER_CONVERTER(onnx, NonMaxSuppression, &Convert<NonMaxSuppression>);
REGISTER_CONVERTER(onnx, ai_onnx_ml_Binarizer, &Convert<Binarizer>);

}  // namespace wherry::onnx
