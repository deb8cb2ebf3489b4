// What a call of conv2d_chain says of its convolutions, for its kernels and its cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/problem.h"
#include "op/infer/conv_chain.h"

namespace wherry {

inline constexpr std::array<const char*, kMaxConvChain> kConvChainFilters = {"filter1", "filter2", "filter3"};

// Those that are there.
inline std::vector<const MetaTensor*> ConvChainFilters(const KernelProblem& problem) {
  std::vector<const MetaTensor*> filters;
  for (const char* name : kConvChainFilters) {
    if (problem.Input(name) != nullptr) filters.push_back(problem.Input(name));
  }
  return filters;
}

// `count` convolutions, as many as there are filters.
inline std::vector<ConvLink> ConvChainLinks(const KernelProblem& problem, size_t count) {
  const auto list = [&](const char* name) -> const std::vector<int64_t>& {
    return problem.Attr<std::vector<int64_t>>(name);
  };
  return ParseConvChain(count, {list("strides"), list("paddings"), list("dilations"), list("groups")});
}

}  // namespace wherry
