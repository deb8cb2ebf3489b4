#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/checked_math.h"
#include "wherry/types.h"

namespace wherry {

Shape::Shape(std::initializer_list<int64_t> dims) : Shape(dims.begin(), dims.size()) {}
Shape::Shape(const std::vector<int64_t>& dims) : Shape(dims.data(), dims.size()) {}
Shape::Shape(const int64_t* dims, size_t rank) {
  WHERRY_ENFORCE(rank <= static_cast<size_t>(kMaxRank), kUnsupported, "a tensor of rank ", rank, "; the most is ",
                 kMaxRank);
  std::copy_n(dims, rank, dims_.data());
  rank_ = static_cast<int>(rank);
}

void Shape::push_back(int64_t dim) {
  WHERRY_ENFORCE(rank_ < kMaxRank, kUnsupported, "a tensor of rank ", rank_ + 1, "; the most is ", kMaxRank);
  dims_[static_cast<size_t>(rank_++)] = dim;
}

int64_t Shape::numel() const { return numel(0, rank_); }

int64_t Shape::numel(int first, int last) const {
  WHERRY_CHECK(0 <= first && first <= last && last <= rank_, "dimensions [", first, ", ", last, ") of ", DebugString());
  bool empty = false;
  for (int i = first; i < last; ++i) {
    WHERRY_ENFORCE((*this)[i] >= 0, kOutOfRange, "negative dimension in shape ", DebugString());
    empty |= (*this)[i] == 0;
  }
  if (empty) return 0;  // whatever the other dimensions multiply to
  int64_t count = 1;
  for (int i = first; i < last; ++i) {
    WHERRY_ENFORCE(!__builtin_mul_overflow(count, (*this)[i], &count), kOutOfRange, "shape ", DebugString(),
                   " has more than 2^63 elements");
  }
  return count;
}

std::string Shape::DebugString() const {
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) text += ',';
    text += std::to_string((*this)[i]);
  }
  return text + ']';
}

}  // namespace wherry
