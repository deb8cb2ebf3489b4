// What the converters of quantised operators share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "importers/onnx/converter.h"

namespace wherry::onnx {

// i8 or u8.
bool IsByte(DataType dtype);
// A value of one element.
bool IsSingle(OnnxContext& c, const std::string& value);
// One element, or one per place along one axis. An empty name is no value, which is fine.
bool IsPerChannel(OnnxContext& c, const std::string& value);
// Integers less than a byte as i8 or u8, others as they are. An empty name stays.
std::string Widened(OnnxContext& c, const std::string& x);
// The integers less their zero point (perhaps none), as `dtype`. `unsqueeze`: the axes that a zero point of one
// dimension lacks behind its own.
std::string Centred(OnnxContext& c, const std::string& x, const std::string& zero, std::vector<int64_t> unsqueeze,
                    DataType dtype);

// What DynamicQuantizeLinear gives for x.
struct DynamicallyQuantized {
  std::string integers;  // u8
  std::string scale;
  std::string zero_point;
};
DynamicallyQuantized QuantizedDynamically(OnnxContext& c, const std::string& x);

// QLinearConv of `x` in place of its first input.
std::string QLinearConvOf(OnnxContext& c, const std::string& x);

}  // namespace wherry::onnx
