// The statistics that normalisations over the last axes give besides the normalised values: over the axes from `axis`
// on, which become ones, and in f32.
#pragma once

#include <cstdint>
#include <string>

#include "importers/onnx/converter.h"

namespace wherry::onnx {

std::string MeanOverLast(OnnxContext& c, const std::string& x, int64_t axis);
// 1 / sqrt(mean(x * x) + epsilon).
std::string InverseRms(OnnxContext& c, const std::string& x, int64_t axis, double epsilon);
// Binds results 1 and 2, where they are wanted, to the mean of x and to 1 / sqrt(variance + epsilon).
void BindStatistics(OnnxContext& c, const std::string& x, int64_t axis, double epsilon);

}  // namespace wherry::onnx
