#include "op/infer/conv_chain.h"

#include <string>

#include "base/check.h"
#include "base/strings.h"
#include "op/infer/infer_meta.h"

namespace wherry {
namespace {

// Part `i` of `count` equal parts; `size` times `otherwise` of an empty list.
std::vector<int64_t> PartOf(const std::vector<int64_t>& list, const char* name, size_t i, size_t count, size_t size,
                            int64_t otherwise) {
  if (list.empty()) return std::vector<int64_t>(size, otherwise);
  WHERRY_ENFORCE(list.size() == count * size, kInvalidArgument, name, " is [", Join(list, ", "), "], expected ", size,
                 " numbers for each of ", count, " convolutions, or nothing");
  const auto from = list.begin() + static_cast<int64_t>(i * size);
  return {from, from + static_cast<int64_t>(size)};
}

}  // namespace

std::vector<ConvLink> ParseConvChain(size_t count, const ConvChainLists& lists) {
  std::vector<ConvLink> links;
  for (size_t i = 0; i < count; ++i) {
    ConvLink link;
    link.strides = PartOf(lists.strides, "strides", i, count, 2, 1);
    link.paddings = PartOf(lists.paddings, "paddings", i, count, 4, 0);
    link.dilations = PartOf(lists.dilations, "dilations", i, count, 2, 1);
    const int64_t groups = PartOf(lists.groups, "groups", i, count, 1, 1)[0];
    WHERRY_ENFORCE(groups >= 1 && groups < (int64_t{1} << 31), kInvalidArgument, "groups is [",
                   Join(lists.groups, ", "), "], expected numbers from 1");
    link.groups = static_cast<int>(groups);
    links.push_back(std::move(link));
  }
  return links;
}

std::vector<MetaTensor> ConvChainImages(const MetaTensor& x, std::span<const MetaTensor* const> filters,
                                        const std::vector<const MetaTensor*>& operands,
                                        const std::vector<ConvLink>& links,
                                        std::span<const Epilogue* const> epilogues) {
  std::vector<MetaTensor> images;
  for (size_t i = 0; i < links.size(); ++i) {
    const ConvLink& link = links[i];
    images.push_back(Conv2dInferMeta(i == 0 ? x : images.back(), *filters[i], operands, link.strides, link.paddings,
                                     "EXPLICIT", link.dilations, link.groups, *epilogues[i]));
  }
  return images;
}

MetaTensor Conv2dChainInferMeta(const MetaTensor& x, const MetaTensor& filter1, const MetaTensor& filter2,
                                const MetaTensor* filter3, const std::vector<const MetaTensor*>& operands,
                                const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                                const std::vector<int64_t>& dilations, const std::vector<int64_t>& groups,
                                const Epilogue& epilogue1, const Epilogue& epilogue2, const Epilogue& epilogue3) {
  const MetaTensor* const filters[] = {&filter1, &filter2, filter3};
  const Epilogue* const epilogues[] = {&epilogue1, &epilogue2, &epilogue3};
  const size_t count = filter3 == nullptr ? 2 : 3;
  WHERRY_ENFORCE(count == 3 || epilogue3.steps.empty(), kInvalidArgument, "epilogue3 is '", ToString(epilogue3),
                 "', but there is no filter3");
  const auto links = ParseConvChain(count, {strides, paddings, dilations, groups});
  return ConvChainImages(x, {filters, count}, operands, links, epilogues).back();
}

}  // namespace wherry
