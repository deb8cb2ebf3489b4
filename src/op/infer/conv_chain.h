// The convolutions of conv2d_chain: what each takes of the operator's lists, and the images between them. Shared by its
// InferMeta function, its cost and its kernels.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "op/epilogue.h"
#include "op/meta_tensor.h"

namespace wherry {

inline constexpr size_t kMaxConvChain = 3;

// The lists of conv2d_chain; an empty one stands for ones, of paddings for zeros.
struct ConvChainLists {
  const std::vector<int64_t>& strides;
  const std::vector<int64_t>& paddings;
  const std::vector<int64_t>& dilations;
  const std::vector<int64_t>& groups;
};

// One of the convolutions, as conv2d's attributes.
struct ConvLink {
  std::vector<int64_t> strides;
  std::vector<int64_t> paddings;  // [top, bottom, left, right]
  std::vector<int64_t> dilations;
  int groups = 1;
};

// `count` of them, numbers as conv2d's InferMeta takes them. Error(kInvalidArgument) for lists of another length.
std::vector<ConvLink> ParseConvChain(size_t count, const ConvChainLists& lists);

// The result of each convolution, checked as conv2d checks its own; `filters` has no null, `epilogues` one for each.
std::vector<MetaTensor> ConvChainImages(const MetaTensor& x, std::span<const MetaTensor* const> filters,
                                        const std::vector<const MetaTensor*>& operands,
                                        const std::vector<ConvLink>& links, std::span<const Epilogue* const> epilogues);

}  // namespace wherry
