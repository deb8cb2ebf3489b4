// A convolution by any of the algorithms: one interface over their plans, packed weights and run functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "kernels/cpu/conv/conv_algorithm.h"
#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/conv/depthwise.h"
#include "kernels/cpu/conv/implicit_gemm.h"
#include "kernels/cpu/conv/winograd.h"
#include "kernels/cpu/tile_epilogue.h"

namespace wherry::cpu {

// Floats of the packed weight.
int64_t ConvPackedSize(ConvAlgorithm algorithm, const ConvWeightShape& shape);

// Packs a contiguous OIHW weight into `packed` (64-byte aligned).
void PackConv(ConvAlgorithm algorithm, const ConvWeightShape& shape, const float* weight, float* packed,
              ThreadPool* pool, PanelLayout layout = WeightLayout());

// The name of a packed form for the instruction set that is active, and back: "conv16:winograd4:1", the layout of
// panels, the algorithm and the groups, which the weight's own shape does not tell. A name that is none is an
// Error(kInvalidArgument).
std::string ConvPackFormat(ConvAlgorithm algorithm, int64_t groups);
struct ConvFormat {
  ConvAlgorithm algorithm;
  int64_t groups;
  PanelLayout layout;
};
ConvFormat ParseConvPackFormat(std::string_view format);

// What depends on the shape. Immutable, may be shared by threads.
class ConvPlan {
 public:
  // CanRun(algorithm, shape) must hold. threads: how many the pool will have.
  ConvPlan(ConvAlgorithm algorithm, const ConvShape& shape, int threads);

  ConvAlgorithm algorithm() const { return algorithm_; }
  const ConvShape& shape() const { return shape_; }
  // Floats of the scratch that Run needs, 64-byte aligned.
  int64_t scratch_floats() const;
  // For people: "winograd4, 2 blocks of 25 tiles".
  std::string DebugString() const;

  // in, out: the first pixel. packed: from PackConv for the same algorithm.
  void Run(const float* in, const float* packed, const TileEpilogue& epilogue, float* out, float* scratch,
           ThreadPool* pool) const;

 private:
  struct GemmPlan {};

  ConvAlgorithm algorithm_;
  ConvShape shape_;
  std::variant<GemmPlan, ImplicitGemmPlan, WinogradPlan, DepthwisePlan> plan_;
};

}  // namespace wherry::cpu
