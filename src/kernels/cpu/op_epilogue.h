// The epilogue attribute of conv2d, fused_matmul and fc as what the kernels apply.
#pragma once

#include <cstdint>
#include <span>

#include "core/dense_tensor.h"
#include "kernels/cpu/tile_epilogue.h"
#include "op/epilogue.h"

namespace wherry::cpu {

// A multiplication by `factor` and the steps with their operands, which are f32 and whose memory must outlive the
// result. An added operand in NHWC has one row per pixel; in plain order its rows are plain_row_stride elements apart.
// Allocates nothing.
TileEpilogue BindEpilogue(const Epilogue& epilogue, std::span<const DenseTensor* const> operands,
                          int64_t plain_row_stride, float factor = 1.0F);

}  // namespace wherry::cpu
