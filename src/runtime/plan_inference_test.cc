#include "runtime/plan_inference.h"

#include <gtest/gtest.h>

#include <numeric>

#include "ir/text.h"
#include "pass/optimizer.h"
#include "runtime/session.h"

namespace wherry {
namespace {

constexpr char kImages[] = R"(
block main(%x : f32[1,2,3,5], %f : f32[4,2,1,1], %z : f32[1,4,3,5]) -> (%sum, %flat) {
  %a = conv2d(x: %x, filter: %f)
  %b = relu(x: %a)
  %sum = add(x: %z, y: %b)
  %flat = reshape(x: %b) {shape = [1, 60]}
}
)";

DenseTensor Counting(const Shape& shape) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kFloat, shape, DataLayout::kNCHW, 0});
  std::iota(tensor.mutable_data<float>(), tensor.mutable_data<float>() + tensor.numel(), -3.0F);
  return tensor;
}

std::vector<std::vector<float>> RunAfter(const std::vector<std::string>& passes) {
  Program program = ParseProgram(kImages);
  if (!passes.empty()) program = Optimizer().Run(std::move(program), {}, {}, passes);
  Session session(Executable::Build(std::move(program)), nullptr);
  const DenseTensor x = Counting({1, 2, 3, 5});
  const DenseTensor f = Counting({4, 2, 1, 1});
  const DenseTensor z = Counting({1, 4, 3, 5});
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  session.Run({&x, &f, &z}, &outputs);
  std::vector<std::vector<float>> values;
  for (const auto& output : outputs) {
    EXPECT_EQ(output->layout(), DataLayout::kNCHW);
    values.emplace_back(output->data<float>(), output->data<float>() + output->numel());
  }
  return values;
}

TEST(PlanInference, KernelsOfAnotherLayoutWithoutCastsConvertForThemselves) {
  const auto expected = RunAfter({});
  EXPECT_EQ(RunAfter({"infer_shapes_pass", "static_kernel_pick_pass"}), expected);
  EXPECT_EQ(RunAfter({"infer_shapes_pass", "static_kernel_pick_pass", "variable_place_inference_pass"}), expected);
}

}  // namespace
}  // namespace wherry
