// The names of packed weights' formats: a oneDNN memory descriptor as text, and back.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace wherry::onednn {

// How a weight is given and how it is wanted. Both f32, of the same dimensions.
struct WeightFormat {
  dnnl::memory::desc given;
  dnnl::memory::desc wanted;
};

// "dnnl:64x32x3x3:288,9,3,1>288,9,3,1:b16a16": the dimensions, the strides of the given weight, those of the wanted one
// between blocks, and its blocks (dimension a, b, ... and size) from the outermost. Null for a descriptor that this
// cannot say (one with extra data, as for int8); such a weight is reordered at every run.
std::optional<std::string> FormatName(const WeightFormat& format);

// Error(kInvalidArgument) when the text is not what FormatName gives.
WeightFormat ParseFormatName(std::string_view name);

}  // namespace wherry::onednn
