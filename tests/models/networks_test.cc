// Small networks of the usual shapes: the optimised one gives what the untouched one gives, at one and two threads and
// on changing batch sizes.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/device_context.h"
#include "format/wry.h"
#include "ir/text.h"
#include "wherry/predictor.h"

namespace wherry {
namespace {

struct Network {
  const char* name;
  std::vector<std::pair<const char*, Shape>> weights;  // filled with random numbers
  std::vector<int64_t> image;                          // the input without its batch
  const char* text;
  std::vector<const char*> gone;  // ops that no longer appear once optimised
};

void PrintTo(const Network& network, std::ostream* stream) { *stream << network.name; }

const std::vector<Network>& Networks() {
  static const std::vector<Network> kNetworks = {
      {"mlp",
       {{"w1", {30, 50}}, {"b1", {50}}, {"w2", {50, 10}}, {"b2", {10}}},
       {30},
       R"(
block main(%x : f32[N,30]) -> (%y) {
  %a = mul(x: %x, y: %w1)
  %b = add(x: %a, y: %b1)
  %c = relu(x: %b)
  %d = matmul(x: %c, y: %w2)
  %e = add(x: %d, y: %b2)
  %y = softmax(x: %e)
})",
       {"mul", "matmul", "add", "relu"}},
      {"lenet",
       {{"c1", {6, 1, 3, 3}},
        {"b1", {1, 6, 1, 1}},
        {"c2", {16, 6, 5, 5}},
        {"b2", {1, 16, 1, 1}},
        {"w", {400, 10}},
        {"b", {10}}},
       {1, 28, 28},
       R"(
block main(%x : f32[N,1,28,28]) -> (%y) {
  %a = conv2d(x: %x, filter: %c1) {paddings = [1, 1]}
  %b1x = add(x: %a, y: %b1)
  %c = relu(x: %b1x)
  %d = pool2d(x: %c) {kernel_size = [2, 2], strides = [2, 2]}
  %e = conv2d(x: %d, filter: %c2)
  %f = add(x: %e, y: %b2)
  %g = relu(x: %f)
  %h = pool2d(x: %g) {kernel_size = [2, 2], strides = [2, 2]}
  %i = reshape(x: %h) {shape = [0, -1]}
  %j = matmul(x: %i, y: %w)
  %y = add(x: %j, y: %b)
})",
       {"add", "relu", "matmul"}},
      {"residual",
       {{"c0", {24, 3, 3, 3}},
        {"c1", {24, 24, 3, 3}},
        {"c2", {24, 1, 5, 5}},
        {"mean", {24}},
        {"variance", {24}},
        {"scale", {24}},
        {"bias", {24}}},
       {3, 15, 17},
       R"(
block main(%x : f32[N,3,15,17]) -> (%y) {
  %a = conv2d(x: %x, filter: %c0) {paddings = [1, 1]}
  %b = batch_norm(x: %a, mean: %mean, variance: %variance, scale: %scale, bias: %bias)
  %c = relu(x: %b)
  %d = conv2d(x: %c, filter: %c1) {paddings = [1, 1]}
  %e = batch_norm(x: %d, mean: %mean, variance: %variance, scale: %scale, bias: %bias)
  %f = add(x: %e, y: %c)
  %g = relu(x: %f)
  %h = conv2d(x: %g, filter: %c2) {paddings = [2, 2], groups = 24}
  %i = add(x: %g, y: %h)
  %y = pool2d(x: %i) {kernel_size = [1, 1], global_pooling = true, pooling_type = "avg"}
})",
       {"batch_norm", "relu"}},
      {"squeeze_excite",
       {{"c0", {20, 3, 3, 3}},
        {"s1", {5, 20, 1, 1}},
        {"t1", {1, 5, 1, 1}},
        {"s2", {20, 5, 1, 1}},
        {"t2", {1, 20, 1, 1}},
        {"c1", {7, 20, 1, 1}}},
       {3, 16, 12},
       R"(
weight %three : f32[1] = [3]
weight %six : f32[1] = [6]
block main(%x : f32[N,3,16,12]) -> (%y, %s) {
  %a = conv2d(x: %x, filter: %c0) {paddings = [1, 1], strides = [2, 2]}
  %b = add(x: %a, y: %three)
  %c = clip(x: %b) {min = 0, max = 6}
  %d = multiply(x: %a, y: %c)
  %e = divide(x: %d, y: %six)
  %p = pool2d(x: %e) {kernel_size = [1, 1], global_pooling = true, pooling_type = "avg"}
  %q = conv2d(x: %p, filter: %s1)
  %r = add(x: %q, y: %t1)
  %t = relu(x: %r)
  %u = conv2d(x: %t, filter: %s2)
  %v = add(x: %u, y: %t2)
  %s = hardsigmoid(x: %v)
  %w = multiply(x: %e, y: %s)
  %y = conv2d(x: %w, filter: %c1)
})",
       {"add", "clip", "divide", "hardsigmoid"}},
      {"branches",
       {{"w", {8, 8}}, {"b", {8}}},
       {8},
       R"(
weight %zero : f32[] = [0]
block main(%x : f32[N,8]) -> (%y) {
  %m = mean(x: %x)
  %p = greater_than(x: %m, y: %zero)
  %z = if(cond: %p, captures: [%x, %w, %b]) blocks(then, else)
  %y = tanh(x: %z)
}
block then(%x1 : f32[N,8], %w1 : f32[8,8], %b1 : f32[8]) -> (%r1) {
  %a1 = matmul(x: %x1, y: %w1)
  %r1 = add(x: %a1, y: %b1)
}
block else(%x2 : f32[N,8], %w2 : f32[8,8], %b2 : f32[8]) -> (%r2) {
  %r2 = multiply(x: %x2, y: %b2)
})",
       {}},
  };
  return kNetworks;
}

DenseTensor RandomTensor(const Shape& shape, float low, float high, std::mt19937* random) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kFloat, shape, DataLayout::kNCHW, 0});
  std::uniform_real_distribution<float> real(low, high);
  for (int64_t i = 0; i < tensor.numel(); ++i) tensor.mutable_data<float>()[i] = real(*random);
  return tensor;
}

class NetworksTest : public testing::TestWithParam<Network> {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / ("wherry_networks_test_" + std::to_string(::getpid()) + ".wry"))
                .string();
    std::mt19937 random(7);
    WeightTable weights;
    for (const auto& [name, shape] : GetParam().weights) {
      const float shift = std::string(name) == "variance" ? 1.0F : 0.0F;
      weights.emplace(name, RandomTensor(shape, shift - 0.5F, shift + 0.5F, &random));
    }
    SaveWry(ParseProgram(GetParam().text, std::move(weights)), path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::shared_ptr<PaddlePredictor> Predictor(int threads, bool passes) const {
    CxxConfig config;
    config.set_model_dir(path_);
    config.set_threads(threads);
    config.set_verify(true);
    if (!passes) config.set_passes_internal({"none"});
    return CreatePaddlePredictor(config);
  }

  // All outputs, one after the other.
  static std::vector<float> RunOn(PaddlePredictor* predictor, const DenseTensor& x) {
    const auto input = predictor->GetInput(0);
    input->Resize(x.shape());
    std::copy_n(x.data<float>(), x.numel(), input->mutable_data<float>());
    predictor->Run();
    std::vector<float> values;
    for (int i = 0; i < static_cast<int>(predictor->GetOutputNames().size()); ++i) {
      const auto output = predictor->GetOutput(i);
      values.insert(values.end(), output->data<float>(), output->data<float>() + output->numel());
    }
    return values;
  }

 private:
  std::string path_;
};

TEST_P(NetworksTest, OptimisedGivesWhatUntouchedGives) {
  const auto untouched = Predictor(1, false);
  std::mt19937 random(11);
  for (const int threads : {1, 2}) {
    const auto optimised = Predictor(threads, true);
    for (const int64_t batch : {1, 5, 2, 1}) {
      Shape shape{batch};
      for (const int64_t dim : GetParam().image) shape.push_back(dim);
      // Both signs, and one that prevails, so that an `if` takes each of its branches.
      const float shift = batch == 2 ? -1.0F : 1.0F;
      const DenseTensor x = RandomTensor(shape, shift - 2, shift + 2, &random);
      const std::vector<float> expected = RunOn(untouched.get(), x);
      const std::vector<float> found = RunOn(optimised.get(), x);
      ASSERT_EQ(found.size(), expected.size());
      float largest = 0;
      for (const float value : expected) largest = std::max(largest, std::abs(value));
      ASSERT_GT(largest, 1e-2F);
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(found[i], expected[i], 2e-5F * largest)
            << "element " << i << ", batch " << batch << ", " << threads << " threads";
      }
    }
  }
}

TEST_P(NetworksTest, IsOptimised) {
  const std::string text = Predictor(1, true)->ProgramText();
  for (const char* op : GetParam().gone) {
    EXPECT_EQ(text.find(std::string("= ") + op + "("), std::string::npos) << op << "\n" << text;
  }
}

INSTANTIATE_TEST_SUITE_P(, NetworksTest, testing::ValuesIn(Networks()),
                         [](const auto& network) { return std::string(network.param.name); });

}  // namespace
}  // namespace wherry
