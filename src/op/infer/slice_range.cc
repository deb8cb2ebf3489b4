#include "op/infer/slice_range.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace wherry {

SliceRange ResolveSlice(int64_t extent, int64_t start, int64_t end, int64_t step) {
  const bool forwards = step > 0;
  // Cutting off comes first, so that adding the extent cannot overflow.
  const auto position = [extent, forwards](int64_t at) {
    const int64_t lowest = forwards ? 0 : -1;
    const int64_t highest = forwards ? extent : extent - 1;
    if (at < 0) at = at < -extent ? lowest : at + extent;
    return std::clamp(at, lowest, highest);
  };
  SliceRange range;
  range.start = position(start);
  const int64_t room = forwards ? position(end) - range.start : range.start - position(end);
  // As unsigned the magnitude of any step fits.
  const uint64_t magnitude = forwards ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  range.count = room > 0 ? static_cast<int64_t>(static_cast<uint64_t>(room - 1) / magnitude) + 1 : 0;
  // One that is never taken may be any number, which kernels would multiply with strides.
  range.step = range.count > 1 ? step : forwards ? 1 : -1;
  return range;
}

int64_t ArangeCount(const Scalar& start, const Scalar& end, const Scalar& step) {
  constexpr int64_t kMost = int64_t{1} << 40;
  if (start.is_floating() || end.is_floating() || step.is_floating()) {
    const double by = step.to<double>();
    const double count = std::ceil((end.to<double>() - start.to<double>()) / by);
    WHERRY_ENFORCE(by != 0.0 && !std::isnan(count), kInvalidArgument, "from ", start.to<double>(), " to ",
                   end.to<double>(), " by ", by, ": no such range");
    WHERRY_ENFORCE(count <= static_cast<double>(kMost), kOutOfRange, "a range of ", count, " elements");
    return count > 0.0 ? static_cast<int64_t>(count) : 0;
  }
  const int64_t by = step.to<int64_t>();
  WHERRY_ENFORCE(by != 0, kInvalidArgument, "step is 0");
  const int64_t first = by > 0 ? start.to<int64_t>() : end.to<int64_t>();
  const int64_t last = by > 0 ? end.to<int64_t>() : start.to<int64_t>();
  if (last <= first) return 0;
  // As unsigned the distance of any two 64-bit numbers fits, and so does the magnitude of any step.
  const uint64_t room = static_cast<uint64_t>(last) - static_cast<uint64_t>(first);
  const uint64_t magnitude = by > 0 ? static_cast<uint64_t>(by) : uint64_t{0} - static_cast<uint64_t>(by);
  const uint64_t count = (room - 1) / magnitude + 1;
  WHERRY_ENFORCE(count <= static_cast<uint64_t>(kMost), kOutOfRange, "a range of ", count, " elements");
  return static_cast<int64_t>(count);
}

int64_t ArangeElement(const Scalar& start, const Scalar& step, int64_t i) {
  if (start.is_floating() || step.is_floating())
    return Scalar(start.to<double>() + step.to<double>() * static_cast<double>(i)).to<int64_t>();
  return static_cast<int64_t>(start.to<uint64_t>() + step.to<uint64_t>() * static_cast<uint64_t>(i));
}

}  // namespace wherry
