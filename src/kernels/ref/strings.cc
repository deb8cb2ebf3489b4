// Strings: joined, split, normalised.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/broadcast.h"
#include "kernels/ref/letter_case.h"

namespace wherry::ref {
namespace {

template <typename T>
void Concat(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  MapBroadcast<T, T, T>(x, y, out, [](const T& a, const T& b) { return a + b; });
}

constexpr std::string_view kSpaces = " \t\n\v\f\r";

// Between occurrences of the delimiter.
std::vector<std::string> SplitAt(std::string_view text, std::string_view delimiter, int64_t max_splits) {
  std::vector<std::string> pieces;
  while (max_splits < 0 || static_cast<int64_t>(pieces.size()) < max_splits) {
    const size_t at = text.find(delimiter);
    if (at == std::string_view::npos) break;
    pieces.emplace_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  pieces.emplace_back(text);
  return pieces;
}

// Between runs of white space.
std::vector<std::string> SplitWords(std::string_view text, int64_t max_splits) {
  std::vector<std::string> pieces;
  const auto skip_spaces = [&text] { text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size())); };
  for (skip_spaces(); !text.empty(); skip_spaces()) {
    const bool last = max_splits >= 0 && static_cast<int64_t>(pieces.size()) == max_splits;
    const size_t end = last ? text.find_last_not_of(kSpaces) + 1 : std::min(text.find_first_of(kSpaces), text.size());
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(last ? text.size() : end);
  }
  return pieces;
}

template <typename T>
void Split(const CpuContext& /*context*/, const DenseTensor& x, const std::string& delimiter, int64_t max_splits,
           DenseTensor* out, DenseTensor* count) {
  const T* from = x.data<T>();
  count->Allocate(HostAllocator(), TensorMeta{DataType::kInt64, x.shape()});
  int64_t* counts = count->mutable_data<int64_t>();
  std::vector<std::vector<T>> all;
  size_t most = 0;
  for (int64_t i = 0, n = x.numel(); i < n; ++i) {
    all.push_back(delimiter.empty() ? SplitWords(from[i], max_splits) : SplitAt(from[i], delimiter, max_splits));
    counts[i] = static_cast<int64_t>(all.back().size());
    most = std::max(most, all.back().size());
  }
  Shape shape = x.shape();
  shape.push_back(static_cast<int64_t>(most));
  out->Allocate(HostAllocator(), TensorMeta{DataType::kString, shape});
  T* to = out->mutable_data<T>();
  for (std::vector<T>& pieces : all) {
    pieces.resize(most);
    for (T& piece : pieces) *to++ = std::move(piece);
  }
}

template <typename T>
void Normalize(const CpuContext& /*context*/, const DenseTensor& x, const std::string& letter_case, bool case_sensitive,
               const std::vector<std::string>& stop_words, DenseTensor* out) {
  std::vector<std::string> stops;
  for (const std::string& word : stop_words) stops.push_back(case_sensitive ? word : LowerCase(word));
  std::vector<T> kept;
  for (int64_t i = 0, n = x.numel(); i < n; ++i) {
    const T& text = x.data<T>()[i];
    if (std::find(stops.begin(), stops.end(), case_sensitive ? text : LowerCase(text)) != stops.end()) continue;
    kept.push_back(letter_case == "lower" ? LowerCase(text) : letter_case == "upper" ? UpperCase(text) : text);
  }
  if (kept.empty()) kept.emplace_back();
  Shape shape = x.shape();
  shape[shape.rank() - 1] = static_cast<int64_t>(kept.size());
  out->Allocate(HostAllocator(), TensorMeta{DataType::kString, shape});
  std::move(kept.begin(), kept.end(), out->mutable_data<T>());
}

}  // namespace

REGISTER_KERNEL(string_concat, ref, kHost, kNCHW, Concat, std::string);
REGISTER_KERNEL(string_split, ref, kHost, kNCHW, Split, std::string);
REGISTER_KERNEL(string_normalize, ref, kHost, kNCHW, Normalize, std::string);

}  // namespace wherry::ref
