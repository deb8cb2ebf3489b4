// Rotary position embeddings, as the operators of that name and attention with them have it.
#pragma once

#include <cstdint>
#include <string>

#include "importers/onnx/converter.h"

namespace wherry::onnx {

// x of four dimensions whose last one is a head's: of its first `turned` elements, pairs turned by the angles whose
// cosines and sines broadcast with [..., turned / 2]. Pairs are neighbours, or the halves' elements with one index.
std::string Rotated(OnnxContext& c, const std::string& x, const std::string& cos, const std::string& sin,
                    int64_t turned, bool interleaved);
// The first turned / 2 columns of the rows of a cache [positions, half] that `positions` names, with an axis of 1 at
// `heads_axis` for the heads.
std::string AnglesAt(OnnxContext& c, const std::string& cache, const std::string& positions, int64_t turned,
                     int64_t heads_axis);

}  // namespace wherry::onnx
