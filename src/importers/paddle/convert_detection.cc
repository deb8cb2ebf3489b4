// Boxes: coded and decoded, and the best of them.
#include <cmath>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// Number `i` of the last axis.
std::string Entry(OpContext& c, const std::string& x, int64_t i) {
  return c.Squeezed(
      c.Emit("slice", {{"x", {x}}},
             {{"axes", std::vector<int64_t>{-1}}, {"starts", IntArray({i})}, {"ends", IntArray({i + 1})}}),
      {-1});
}

// Boxes as their centers and sizes.
struct Centered {
  std::string x;
  std::string y;
  std::string width;
  std::string height;
};
// `extra`: 1 where the pixels at the right and bottom ends belong to a box. The center of a box that is to be coded
// lies between its corners, that of one that it is compared with half its size from the first one.
Centered CenteredOf(OpContext& c, const std::string& boxes, double extra, bool between_corners) {
  const std::string x1 = Entry(c, boxes, 0);
  const std::string y1 = Entry(c, boxes, 1);
  const std::string x2 = Entry(c, boxes, 2);
  const std::string y2 = Entry(c, boxes, 3);
  Centered centered;
  centered.width = c.Scaled(c.Binary("subtract", x2, x1), 1.0, extra);
  centered.height = c.Scaled(c.Binary("subtract", y2, y1), 1.0, extra);
  if (between_corners) {
    centered.x = c.Scaled(c.Binary("add", x1, x2), 0.5);
    centered.y = c.Scaled(c.Binary("add", y1, y2), 0.5);
  } else {
    centered.x = c.Binary("add", x1, c.Scaled(centered.width, 0.5));
    centered.y = c.Binary("add", y1, c.Scaled(centered.height, 0.5));
  }
  return centered;
}

void BoxCoder(OpContext& c) {
  const std::string prior = c.Input({"PriorBox", 0});
  const std::string target = c.Input({"TargetBox", 2});
  std::string variance = c.OptionalInput({"PriorBoxVar", 1});
  const auto code = c.Attr<std::string>("code_type", "encode_center_size");
  const double extra = c.Attr<bool>("box_normalized", true) ? 0.0 : 1.0;
  const auto numbers = c.Attr<std::vector<double>>("variance", {});
  if (!numbers.empty() && numbers.size() != 4) c.Corrupt("attribute variance has ", numbers.size(), " numbers");
  if (variance.empty() && !numbers.empty()) {
    variance = c.Constant(TensorOfScalars({4}, std::vector<Scalar>(numbers.begin(), numbers.end()), c.TypeOf(target)));
  }
  Centered boxes = CenteredOf(c, prior, extra, /*between_corners=*/false);
  const auto joined = [&](const std::vector<std::string>& parts) {
    return c.Emit("stack", {{"x", parts}}, {{"axis", int64_t{-1}}});
  };
  if (code == "encode_center_size") {
    // Every target with every prior.
    const Centered own = CenteredOf(c, target, extra, /*between_corners=*/true);
    const auto column = [&](const std::string& x) { return c.Unsqueezed(x, {1}); };
    const auto offset = [&](const std::string& from, const std::string& to, const std::string& size) {
      return c.Binary("divide", c.Binary("subtract", column(to), from), size);
    };
    const auto growth = [&](const std::string& to, const std::string& size) {
      return c.Unary("log", c.Unary("abs", c.Binary("divide", column(to), size)));
    };
    const std::string coded = joined({offset(boxes.x, own.x, boxes.width), offset(boxes.y, own.y, boxes.height),
                                      growth(own.width, boxes.width), growth(own.height, boxes.height)});
    return c.Result({"OutputBox", 0},
                    variance.empty() ? c.Unary("assign", coded) : c.Binary("divide", coded, variance));
  }
  if (code != "decode_center_size") c.Corrupt("attribute code_type is ", Quote(code));
  // The priors lie along the second axis of the targets, or along the first.
  const auto axis = c.Attr<int64_t>("axis", 0);
  if (axis != 0 && axis != 1) c.Corrupt("attribute axis is ", axis);
  const auto placed = [&](const std::string& x) { return axis == 0 ? x : c.Unsqueezed(x, {1}); };
  std::string offsets = target;
  if (!variance.empty()) {
    const bool per_box = axis == 1 && c.Rank(variance) == 2;
    offsets = c.Binary("multiply", target, per_box ? c.Unsqueezed(variance, {1}) : variance);
  }
  const auto center = [&](int64_t i, const std::string& size, const std::string& from) {
    return c.Binary("add", c.Binary("multiply", Entry(c, offsets, i), placed(size)), placed(from));
  };
  const auto size = [&](int64_t i, const std::string& of) {
    return c.Binary("multiply", c.Unary("exp", Entry(c, offsets, i)), placed(of));
  };
  const std::string x = center(0, boxes.width, boxes.x);
  const std::string y = center(1, boxes.height, boxes.y);
  const std::string half_width = c.Scaled(size(2, boxes.width), 0.5);
  const std::string half_height = c.Scaled(size(3, boxes.height), 0.5);
  const auto far = [&](const std::string& at, const std::string& half) {
    return c.Scaled(c.Binary("add", at, half), 1.0, -extra);
  };
  c.Result({"OutputBox", 0}, joined({c.Binary("subtract", x, half_width), c.Binary("subtract", y, half_height),
                                     far(x, half_width), far(y, half_height)}));
}

void MulticlassNms(OpContext& c) {
  const std::string boxes = c.Input({"BBoxes", 0});
  const std::string scores = c.Input({"Scores", 1});
  // [rows, classes], as against [images, classes, boxes].
  const bool by_rows = c.Rank(scores) == 2;
  const std::string rois_num = c.OptionalInput({"RoisNum", 2});
  if (by_rows && rois_num.empty()) c.Unsupported("its boxes have no RoisNum (LoD)");
  const MetaTensor& meta = c.Meta(boxes);
  if (meta.rank_known && !meta.dims.empty() && meta.dims.back().known() && meta.dims.back().value() != 4)
    c.Unsupported("its boxes are polygons of ", meta.dims.back().value(), " numbers");
  const bool first_version = c.op().type == "multiclass_nms";
  const auto results =
      c.EmitMany("multiclass_nms", {{"boxes", {boxes}}, {"scores", {scores}}, {"rois_num", {by_rows ? rois_num : ""}}},
                 {{"score_threshold", c.Attr<double>("score_threshold")},
                  {"nms_top_k", c.Attr<int64_t>("nms_top_k")},
                  {"keep_top_k", c.Attr<int64_t>("keep_top_k")},
                  {"nms_threshold", c.Attr<double>("nms_threshold", 0.3)},
                  {"normalized", c.Attr<bool>("normalized", true)},
                  {"nms_eta", c.Attr<double>("nms_eta", 1.0)},
                  {"background_label", c.Attr<int64_t>("background_label", 0)},
                  {"never_empty", first_version}},
                 3);
  c.Result({"Out", 0}, results[0]);
  c.Result({"Index", 1}, results[1]);
  c.Result({"NmsRoisNum", 2}, results[2]);
}

void MatrixNms(OpContext& c) {
  const auto results =
      c.EmitMany("matrix_nms", {{"boxes", {c.Input({"BBoxes", 0})}}, {"scores", {c.Input({"Scores", 1})}}},
                 {{"score_threshold", c.Attr<double>("score_threshold")},
                  {"nms_top_k", c.Attr<int64_t>("nms_top_k")},
                  {"keep_top_k", c.Attr<int64_t>("keep_top_k")},
                  {"post_threshold", c.Attr<double>("post_threshold", 0.0)},
                  {"use_gaussian", c.Attr<bool>("use_gaussian", false)},
                  {"gaussian_sigma", c.Attr<double>("gaussian_sigma", 2.0)},
                  {"background_label", c.Attr<int64_t>("background_label", 0)},
                  {"normalized", c.Attr<bool>("normalized", true)}},
                 3);
  c.Result({"Out", 0}, results[0]);
  c.Result({"Index", 1}, results[1]);
  c.Result({"RoisNum", 2}, results[2]);
}

// Of boxes [n, 4] that are in order already, those that overlap none before.
void Nms(OpContext& c) {
  const std::string boxes = c.Input({"Boxes", 0});
  const double threshold = c.Attr<double>(c.pir() ? "threshold" : "iou_threshold", 1.0);
  const std::string order = c.Cast(c.CountTo(c.Dimension(boxes, 0)), c.TypeOf(boxes));
  const std::string scores = c.Unsqueezed(c.Unary("neg", order), {0, 1});
  constexpr double kBelowAll = -1e30;
  const std::string rows = c.Emit("nms", {{"boxes", {c.Unsqueezed(boxes, {0})}}, {"scores", {scores}}},
                                  {{"max_output", Scalar(int64_t{INT32_MAX})},
                                   {"iou_threshold", Scalar(threshold)},
                                   {"score_threshold", Scalar(kBelowAll)}});
  c.Result({"KeepBoxesIdxs", 0},
           c.Squeezed(c.Emit("slice", {{"x", {rows}}},
                             {{"axes", std::vector<int64_t>{1}}, {"starts", IntArray({2})}, {"ends", IntArray({3})}}),
                      {1}));
}

void PriorBox(OpContext& c) {
  const auto numbers = [&](const char* name) { return c.Attr<std::vector<double>>(name, {}); };
  const auto results = c.EmitMany("prior_box", {{"input", {c.Input({"Input", 0})}}, {"image", {c.Input({"Image", 1})}}},
                                  {{"min_sizes", numbers("min_sizes")},
                                   {"max_sizes", numbers("max_sizes")},
                                   {"aspect_ratios", numbers("aspect_ratios")},
                                   {"variances", c.Attr<std::vector<double>>("variances", {0.1, 0.1, 0.2, 0.2})},
                                   {"flip", c.Attr<bool>("flip", true)},
                                   {"clip", c.Attr<bool>("clip", true)},
                                   {"step_w", c.Attr<double>("step_w", 0.0)},
                                   {"step_h", c.Attr<double>("step_h", 0.0)},
                                   {"offset", c.Attr<double>("offset", 0.5)},
                                   {"min_max_aspect_ratios_order", c.Attr<bool>("min_max_aspect_ratios_order", false)}},
                                  2);
  c.Result({"Boxes", 0}, results[0]);
  c.Result({"Variances", 1}, results[1]);
}

// Boxes of each size and ratio around each place of a map, and their variances: [h, w, boxes, 4].
void AnchorGenerator(OpContext& c) {
  const std::string x = c.Input({"Input", 0});
  const auto sizes = c.Attr<std::vector<double>>("anchor_sizes");
  const auto ratios = c.Attr<std::vector<double>>("aspect_ratios");
  const auto variances = c.Attr<std::vector<double>>("variances");
  const auto stride = c.Attr<std::vector<double>>("stride");
  const double offset = c.Attr<double>("offset", 0.5);
  if (stride.size() != 2 || variances.size() != 4) {
    c.Corrupt("it has ", stride.size(), " strides and ", variances.size(), " variances, expected 2 and 4");
  }
  const DataType dtype = c.TypeOf(x);
  std::vector<Scalar> corners;
  for (const double ratio : ratios) {
    for (const double size : sizes) {
      const double base = std::round(std::sqrt(stride[0] * stride[1] / ratio));
      const double half_width = 0.5 * (size / stride[0] * base - 1.0);
      const double half_height = 0.5 * (size / stride[1] * std::round(base * ratio) - 1.0);
      for (const double corner : {-half_width, -half_height, half_width, half_height}) corners.emplace_back(corner);
    }
  }
  const auto count = static_cast<int64_t>(corners.size() / 4);
  const std::string around = c.Constant(TensorOfScalars({count, 4}, corners, dtype));
  const auto centers = [&](int64_t axis, double step) {
    const std::string places = c.Cast(c.CountTo(c.Dimension(x, axis)), dtype);
    return c.Scaled(places, step, offset * (step - 1.0));
  };
  // Of all places: the shape [h, w], as a sum of zeros has it.
  const std::string down = c.Unsqueezed(centers(2, stride[1]), {1});
  const std::string across = c.Unsqueezed(centers(3, stride[0]), {0});
  const std::string map = c.Joined({c.Dimension(x, 2), c.Dimension(x, 3)});
  const std::string column = c.Expanded(across, map);
  const std::string row = c.Expanded(down, map);
  const std::string center = c.Emit("stack", {{"x", {column, row, column, row}}}, {{"axis", int64_t{-1}}});
  c.Result({"Anchors", 0}, c.Binary("add", c.Unsqueezed(center, {2}), around));
  const std::string variance =
      c.Constant(TensorOfScalars({4}, std::vector<Scalar>(variances.begin(), variances.end()), dtype));
  const std::string shape = c.Joined({map, c.ConvertContext::ConstantInts(std::vector<int64_t>{count, 4})});
  c.Result({"Variances", 1}, c.Expanded(variance, shape));
}

}  // namespace

REGISTER_CONVERTER(paddle, anchor_generator, &Convert<AnchorGenerator>);
REGISTER_CONVERTER(pir, anchor_generator, &Convert<AnchorGenerator, 1, 2>);
REGISTER_CONVERTER(paddle, box_coder, &Convert<BoxCoder>);
REGISTER_CONVERTER(pir, box_coder, &Convert<BoxCoder, 3>);
REGISTER_CONVERTER(paddle, multiclass_nms, &Convert<MulticlassNms>);
REGISTER_CONVERTER(paddle, multiclass_nms2, &Convert<MulticlassNms>);
REGISTER_CONVERTER(paddle, multiclass_nms3, &Convert<MulticlassNms>);
REGISTER_CONVERTER(pir, multiclass_nms3, &Convert<MulticlassNms, 3, 3>);
REGISTER_CONVERTER(paddle, matrix_nms, &Convert<MatrixNms>);
REGISTER_CONVERTER(pir, matrix_nms, &Convert<MatrixNms, 2, 3>);
REGISTER_CONVERTER(paddle, nms, &Convert<Nms>);
REGISTER_CONVERTER(pir, nms, &Convert<Nms, 1>);
REGISTER_CONVERTER(paddle, prior_box, &Convert<PriorBox>);
REGISTER_CONVERTER(pir, prior_box, &Convert<PriorBox, 2, 2>);

}  // namespace wherry::paddle
