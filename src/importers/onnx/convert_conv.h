// What the attributes of ONNX operators say about windows: convolutions and pools.
#pragma once

#include <string>
#include <vector>

#include "importers/onnx/converter.h"

namespace wherry::onnx {

// The window's attributes, for the two or three spatial axes that our operators have.
struct Window {
  std::string padding_algorithm = "EXPLICIT";
  std::vector<int64_t> strides;
  std::vector<int64_t> paddings;  // begin and end of each axis
  std::vector<int64_t> dilations;
};

// For `axes` spatial axes, 1 to 3; a single one gets one of height 1 before it.
Window WindowOf(OnnxContext& c, size_t axes);
// An attribute with `count` values, or as many times `fallback`. Another number: Error(kCorrupt).
std::vector<int64_t> PerAxis(OnnxContext& c, const char* name, size_t count, int64_t fallback);
// `height` before a single value.
std::vector<int64_t> WithHeight(std::vector<int64_t> values, int64_t height);
// The number of spatial axes of what has this rank, 1 to 3, else Unsupported().
size_t SpatialAxes(OnnxContext& c, int rank, const char* what);

// x with its last axis as axis 1, and back.
std::string ChannelsFirst(OnnxContext& c, const std::string& x);
std::string ChannelsLast(OnnxContext& c, const std::string& x);

// The operator's attributes applied to `x` and `filter`, floats of one type, in place of its inputs. `bias` may be
// empty.
std::string EmitConv(OnnxContext& c, std::string x, std::string filter, const std::string& bias);
// The same for the operator `op` + "2d" ("3d" for three spatial axes), whose inputs begin with x and the filter.
std::string EmitConv(OnnxContext& c, const std::string& op, OpInputs inputs, OpAttrs attrs);

}  // namespace wherry::onnx
