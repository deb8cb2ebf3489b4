// For the convolution tests: random images, a plain double-precision convolution, and the comparison.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/tile_epilogue.h"

namespace wherry::cpu {

// A convolution's operands, random. Strides come from the shape; unused floats of padded pixels are NaN in the input
// (to show a kernel that reads them) and kUntouched in the output.
struct ConvProblem {
  static constexpr float kUntouched = 12345.0f;

  explicit ConvProblem(const ConvShape& shape, uint32_t seed = 1);

  ConvShape shape;
  std::vector<float> input;
  std::vector<float> weight;  // OIHW
  std::vector<float> bias;
  std::vector<float> residual;  // output pixels, out_channels apart
  std::vector<float> output;
};

struct ConvCase {
  const char* name;
  ConvShape shape;
};

// A shape with square strides, padding and dilation, and pixels without gaps.
ConvShape MakeConvShape(int64_t batch, int64_t height, int64_t width, const ConvWeightShape& weight, int64_t stride = 1,
                        int64_t pad = 0, int64_t dilation = 1);

// Which epilogue a test runs: one of every form, and a general one.
enum class TestEpilogue {
  kNone,
  kBias,
  kBiasRelu,
  kBiasAddRelu,
  kBiasHardSwish,
  kBiasHardSwishScaleBias,
  kBiasSwish,
  kBiasGelu,
  kScaleBiasAdd,
  kRelu,
  kHardSwish,
  kLeakyRelu
};
inline constexpr TestEpilogue kAllTestEpilogues[] = {
    TestEpilogue::kNone,        TestEpilogue::kBias,          TestEpilogue::kBiasRelu,
    TestEpilogue::kBiasAddRelu, TestEpilogue::kBiasHardSwish, TestEpilogue::kBiasHardSwishScaleBias,
    TestEpilogue::kBiasSwish,   TestEpilogue::kScaleBiasAdd,  TestEpilogue::kRelu,
    TestEpilogue::kHardSwish,   TestEpilogue::kLeakyRelu,     TestEpilogue::kBiasGelu};

TileEpilogue MakeEpilogue(const ConvProblem& problem, TestEpilogue which);

// The expected output, [pixel][channel] without padding.
std::vector<double> ReferenceConv(const ConvProblem& problem, TestEpilogue which);

// Largest difference between problem.output and `expected` over the largest
// |expected|; 1e9 if anything is NaN or a float between two output pixels was
// written.
double RelativeError(const ConvProblem& problem, const std::vector<double>& expected);

// NHWC [pixel][in_pixel_stride] to planar [batch][channel][pixel].
std::vector<float> ToPlanar(const ConvProblem& problem);

// Floats at a 64-byte boundary, as packed weights and scratch are. NaN, so that what is read before it is written
// shows.
class AlignedFloats {
 public:
  explicit AlignedFloats(int64_t size);
  float* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float[], Free> data_;
};

}  // namespace wherry::cpu
