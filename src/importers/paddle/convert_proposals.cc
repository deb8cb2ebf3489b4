// Proposals given to the levels of a pyramid and collected from them, and boxes in images.
#include <limits>

#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

std::string Where(OpContext& c, const std::string& condition, const std::string& x, const std::string& y) {
  return c.Emit("where", {{"condition", {condition}}, {"x", {x}}, {"y", {y}}});
}

// Number `i` of each row of boxes.
std::string Corner(OpContext& c, const std::string& boxes, int64_t i) {
  const std::string column =
      c.Emit("slice", {{"x", {boxes}}},
             {{"axes", std::vector<int64_t>{1}}, {"starts", IntArray({i})}, {"ends", IntArray({i + 1})}});
  return c.Squeezed(column, {1});
}

std::string AsIndex(OpContext& c, const std::string& x) { return c.Cast(x, DataType::kInt64); }

// How many rows the images up to and including each have together.
std::string EndsOf(OpContext& c, const std::string& counts) {
  return c.Emit("cumsum", {{"x", {AsIndex(c, c.Reshaped(counts, {-1}))}}}, {{"axis", Scalar(int64_t{0})}});
}

// The image of each row of x: the number of images that end before it.
std::string ImageOfRows(OpContext& c, const std::string& x, const std::string& counts) {
  const std::string rows = c.CountTo(c.Dimension(x, 0));
  return c.Emit("searchsorted", {{"sequence", {EndsOf(c, counts)}}, {"values", {rows}}}, {{"right", true}});
}

// How many numbers of `images` are 0, 1, ... up to the number of `counts`, as i32.
std::string CountEach(OpContext& c, const std::string& images, const std::string& counts) {
  const std::string numbers = c.Unsqueezed(c.CountTo(c.Dimension(c.Reshaped(counts, {-1}), 0)), {1});
  const std::string same = c.Cast(c.Binary("equal", numbers, c.Unsqueezed(images, {0})), DataType::kInt32);
  return c.Emit("sum", {{"x", {same}}}, {{"axis", IntArray({1})}});
}

std::string Rows(OpContext& c, const std::string& x, const std::string& rows) {
  return c.Emit("gather", {{"x", {x}}, {"index", {rows}}}, {{"axis", int64_t{0}}});
}

std::string OrderOf(OpContext& c, const std::string& x, bool descending) {
  return c.EmitMany("argsort", {{"x", {x}}}, {{"axis", int64_t{0}}, {"descending", descending}}, 2)[1];
}

// The level of a region is log2 of its size over refer_scale, from refer_level on; those too small or too large go to
// the first or the last.
void DistributeProposals(OpContext& c) {
  const std::string rois = c.Input({"FpnRois", 0});
  const std::string counts = c.OptionalInput({"RoisNum", 1});
  const auto first = c.Attr<int64_t>("min_level");
  const auto last = c.Attr<int64_t>("max_level");
  const auto refer_level = c.Attr<int64_t>("refer_level");
  const auto refer_scale = c.Attr<int64_t>("refer_scale");
  constexpr int64_t kMostLevels = 64;
  constexpr int64_t kHighest = 1 << 20;  // differences of what is below are no overflow
  for (const int64_t level : {first, last, refer_level}) {
    if (level < -kHighest || level > kHighest) c.Corrupt("one of its levels is ", level);
  }
  if (first > last || last - first >= kMostLevels) c.Corrupt("its levels are ", first, " to ", last);
  if (refer_scale <= 0) c.Corrupt("attribute refer_scale is ", refer_scale);
  const double extra = c.Attr<bool>("pixel_offset", true) ? 1.0 : 0.0;
  const std::string width = c.Binary("subtract", Corner(c, rois, 2), Corner(c, rois, 0));
  const std::string height = c.Binary("subtract", Corner(c, rois, 3), Corner(c, rois, 1));
  const std::string zero = c.Like(rois, 0.0);
  const std::string upside_down =
      c.Binary("logical_or", c.Binary("less_than", width, zero), c.Binary("less_than", height, zero));
  const std::string area =
      Where(c, upside_down, zero, c.Binary("multiply", c.Scaled(width, 1.0, extra), c.Scaled(height, 1.0, extra)));
  const std::string ratio = c.Binary("divide", c.Unary("sqrt", area), c.Like(rois, static_cast<double>(refer_scale)));
  constexpr double kLeastRatio = 1e-6;
  const std::string steps =
      c.Binary("divide", c.Unary("log", c.Scaled(ratio, 1.0, kLeastRatio)), c.Like(rois, 0.693147180559945309));
  const std::string level = c.Unary("floor", c.Scaled(steps, 1.0, static_cast<double>(refer_level - first)));
  const std::string target = AsIndex(
      c, c.Emit("clip", {{"x", {level}}}, {{"min", Scalar(0.0)}, {"max", Scalar(static_cast<double>(last - first))}}));
  const std::string images = counts.empty() ? "" : ImageOfRows(c, rois, counts);
  for (int64_t i = 0; i <= last - first; ++i) {
    const std::string on_level = c.Binary("equal", target, c.Like(target, static_cast<double>(i)));
    const std::string rows = c.Squeezed(c.Unary("nonzero", on_level), {1});
    const auto k = static_cast<size_t>(i);
    c.Result({"MultiFpnRois", 0}, Rows(c, rois, rows), k);
    if (counts.empty()) continue;
    const std::string each = CountEach(c, Rows(c, images, rows), counts);
    c.Result({"MultiLevelRoIsNum", 1}, each, k);
  }
  // Where each region is now.
  const std::string place = OrderOf(c, OrderOf(c, target, false), false);
  c.Result({"RestoreIndex", 2}, c.Cast(c.Unsqueezed(place, {1}), DataType::kInt32));
}

// The best of all levels, by image.
void CollectProposals(OpContext& c) {
  const std::vector<std::string> rois = c.InputList({"MultiLevelRois", 0});
  const std::vector<std::string> scores = c.InputList({"MultiLevelScores", 1});
  const std::vector<std::string> counts = c.InputList({"MultiLevelRoIsNum", 2});
  if (counts.empty()) c.Unsupported("the numbers of regions of each image are not there");
  if (rois.empty() || rois.size() != scores.size() || rois.size() != counts.size()) {
    c.Corrupt("it has ", rois.size(), " levels of regions, ", scores.size(), " of scores and ", counts.size(),
              " of their numbers");
  }
  const auto most = c.Attr<int64_t>(c.pir() ? "post_nms_topn" : "post_nms_topN");
  if (most < 0) c.Corrupt("it keeps ", most, " regions");
  std::vector<std::string> flat;
  std::vector<std::string> images;
  for (size_t i = 0; i < rois.size(); ++i) {
    flat.push_back(c.Reshaped(scores[i], {-1}));
    images.push_back(ImageOfRows(c, rois[i], counts[i]));
  }
  const auto best = c.Emit("slice", {{"x", {OrderOf(c, c.Joined(flat), true)}}},
                           {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({0})}, {"ends", IntArray({most})}});
  const std::string image = Rows(c, c.Joined(images), best);
  const std::string order = OrderOf(c, image, false);
  c.Result({"FpnRois", 0}, Rows(c, c.Joined(rois), Rows(c, best, order)));
  c.Result({"RoisNum", 1}, CountEach(c, image, counts[0]));
}

// Boxes clipped to the image: of height and width over its scale, rounded.
void BoxClip(OpContext& c) {
  const std::string boxes = c.Input({"Input", 0});
  const std::string info = c.Input({"ImInfo", 1});
  const MetaTensor& meta = c.Meta(info);
  const bool one_image = meta.rank_known && meta.rank() == 2 && meta.dims[0] == Dim(1);
  if (!one_image) c.Unsupported("it clips to several images");
  const std::string scale = Corner(c, info, 2);
  const auto edge = [&](int64_t i) {
    return c.Scaled(c.Unary("round", c.Binary("divide", Corner(c, info, i), scale)), 1.0, -1.0);
  };
  const std::string edges = c.Joined({edge(1), edge(0), edge(1), edge(0)});
  c.Result({"Output", 0}, c.Binary("maximum", c.Binary("minimum", boxes, edges), c.Like(boxes, 0.0)));
}

}  // namespace

REGISTER_CONVERTER(paddle, distribute_fpn_proposals, &Convert<DistributeProposals>);
REGISTER_CONVERTER(pir, distribute_fpn_proposals, &Convert<DistributeProposals, 2, 3>);
REGISTER_CONVERTER(paddle, collect_fpn_proposals, &Convert<CollectProposals>);
REGISTER_CONVERTER(pir, collect_fpn_proposals, &Convert<CollectProposals, 3, 2>);
REGISTER_CONVERTER(paddle, box_clip, &Convert<BoxClip>);
REGISTER_CONVERTER(pir, box_clip, &Convert<BoxClip, 2>);

}  // namespace wherry::paddle
