#include <gtest/gtest.h>

#include "kernels/ref/expect_test_util.h"

namespace wherry::ref {
namespace {

TEST(Detection, TheBestBoxesStay) {
  ExpectAll(R"(
nms | boxes = f32[1,3,4] 0 0 2 2 2 2.2 0 0.2 0 9 2 11 | scores = f32[1,1,3] 0.5 0.9 0.5 | max_output = 9 |
  iou_threshold = 0.5 | score_threshold = 0 | -> i64[2,3] 0 0 1 0 0 2
nms | boxes = f32[1,2,4] 1 1 2 2 1 9 2 2 | scores = f32[1,2,2] 0.5 0.9 0.1 0.6 | max_output = 1 | iou_threshold = 0.5 |
  score_threshold = 0.2 | center_point = true | -> i64[2,3] 0 0 1 0 1 1
multiclass_nms | boxes = f32[1,3,4] 0 0 2 2 0 0.2 2 2.2 0 9 2 11 | scores = f32[1,2,3] 0.9 0.9 0.9 0.5 0.8 0.4 |
  score_threshold = 0.1 | nms_top_k = -1 | keep_top_k = -1 | nms_threshold = 0.5 | ->
  f32[2,6] 1 0.8 0 0.2 2 2.2 1 0.4 0 9 2 11 -> i32[2,1] 1 2 -> i32[1] 2
multiclass_nms | boxes = f32[1,1,4] 0 0 2 2 | scores = f32[1,2,1] 0.9 0.1 | score_threshold = 0.5 | nms_top_k = -1 |
  keep_top_k = -1 | never_empty = true | -> f32[1,1] -1 -> i32[0,1] -> i32[1] 0
matrix_nms | boxes = f32[1,2,4] 0 0 2 2 0 1 2 3 | scores = f32[1,1,2] 0.5 0.9 | score_threshold = 0.1 | nms_top_k = -1 |
  keep_top_k = -1 | background_label = -1 | -> f32[2,6] 0 0.9 0 1 2 3 0 0.3333333 0 0 2 2 -> i32[2,1] 1 0 -> i32[1] 2
)");
  EXPECT_NE(ErrorOf("nms | boxes = f32[1,2,3] 0 0 0 0 0 0 | scores = f32[1,1,2] 0 0 | max_output = 1 | "
                    "iou_threshold = 0 | score_threshold = 0 |")
                .find("expected [n, m, 4]"),
            std::string::npos);
}

TEST(Detection, BoxesOfHeads) {
  ExpectAll(R"(
yolo_box | x = f32[1,6,1,1] 0 0 0 0 0 0 | img_size = i32[1,2] 20 40 | anchors = [8, 4] | class_num = 1 |
  conf_thresh = 0.1 | downsample_ratio = 16 | -> f32[1,1,4] 10 7.5 30 12.5 -> f32[1,1,1] 0.25
yolo_box | x = f32[1,6,1,1] 0 0 0 0 -9 0 | img_size = i32[1,2] 20 40 | anchors = [8, 4] | class_num = 1 |
  conf_thresh = 0.1 | downsample_ratio = 16 | -> f32[1,1,4] 0 0 0 0 -> f32[1,1,1] 0
prior_box | input = f32[1,1,1,1] 0 | image = f32[1,1,8,16] 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
  0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
  0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 | min_sizes = [4] | max_sizes = [9] |
  clip = false | -> f32[1,1,2,4] 0.375 0.25 0.625 0.75 0.3125 0.125 0.6875 0.875 ->
  f32[1,1,2,4] 0.1 0.1 0.2 0.2 0.1 0.1 0.2 0.2
)");
  EXPECT_NE(ErrorOf("yolo_box | x = f32[1,5,1,1] 0 0 0 0 0 | img_size = i32[1,2] 2 2 | anchors = [8, 4] | "
                    "class_num = 1 | conf_thresh = 0 | downsample_ratio = 1 |")
                .find("expected [n, 6, h, w]"),
            std::string::npos);
}

}  // namespace
}  // namespace wherry::ref
