// What decoders make of sequences of labels.
#include <algorithm>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/floats.h"

namespace wherry::ref {
namespace {

// The lengths of the rows of a [rows, columns] tensor: all of it without `lengths`.
std::vector<int64_t> LengthsOf(const DenseTensor* lengths, int64_t rows, int64_t columns, const char* name) {
  if (lengths == nullptr) return std::vector<int64_t>(static_cast<size_t>(rows), columns);
  std::vector<int64_t> values = IntsOf(*lengths);
  WHERRY_ENFORCE(static_cast<int64_t>(values.size()) == rows, kInvalidArgument, name, " has ", values.size(),
                 " numbers for ", rows, " sequences");
  for (const int64_t length : values) {
    WHERRY_ENFORCE(length >= 0 && length <= columns, kInvalidArgument, name, " has ", length,
                   " for a sequence of at most ", columns);
  }
  return values;
}

template <typename T>
void CtcAlign(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor* lengths, int blank,
              bool merge_repeated, int padding_value, DenseTensor* out, DenseTensor* out_lengths) {
  const int64_t rows = x.shape()[0];
  const int64_t columns = x.shape()[1];
  const std::vector<int64_t> length = LengthsOf(lengths, rows, columns, "input_length");
  T* to = out->mutable_data<T>();
  std::fill_n(to, rows * columns, static_cast<T>(padding_value));
  for (int64_t row = 0; row < rows; ++row) {
    const T* const from = x.data<T>() + row * columns;
    int64_t count = 0;
    for (int64_t i = 0; i < length[static_cast<size_t>(row)]; ++i) {
      const bool repeated = merge_repeated && i > 0 && from[i] == from[i - 1];
      if (from[i] != static_cast<T>(blank) && !repeated) to[row * columns + count++] = from[i];
    }
    out_lengths->mutable_data<T>()[row] = static_cast<T>(count);
  }
}

template <typename T>
void EditDistance(const CpuContext& /*context*/, const DenseTensor& hyps, const DenseTensor& refs,
                  const DenseTensor* hyps_length, const DenseTensor* refs_length, bool normalized, DenseTensor* count,
                  DenseTensor* out) {
  const int64_t rows = hyps.shape()[0];
  const std::vector<int64_t> hyp_length = LengthsOf(hyps_length, rows, hyps.shape()[1], "hyps_length");
  const std::vector<int64_t> ref_length = LengthsOf(refs_length, rows, refs.shape()[1], "refs_length");
  count->mutable_data<int64_t>()[0] = rows;
  for (int64_t row = 0; row < rows; ++row) {
    const T* const hyp = hyps.data<T>() + row * hyps.shape()[1];
    const T* const ref = refs.data<T>() + row * refs.shape()[1];
    const int64_t m = hyp_length[static_cast<size_t>(row)];
    const int64_t n = ref_length[static_cast<size_t>(row)];
    WHERRY_ENFORCE(!normalized || n > 0, kInvalidArgument, "reference ", row, " is empty");
    // Between what was read of the hypothesis and each beginning of the reference.
    std::vector<int64_t> distance(static_cast<size_t>(n) + 1);
    std::iota(distance.begin(), distance.end(), 0);
    for (int64_t i = 0; i < m; ++i) {
      int64_t diagonal = std::exchange(distance[0], i + 1);
      for (size_t j = 0; j < static_cast<size_t>(n); ++j) {
        const int64_t replaced = diagonal + (hyp[i] == ref[j] ? 0 : 1);
        diagonal = distance[j + 1];
        distance[j + 1] = std::min({replaced, diagonal + 1, distance[j] + 1});
      }
    }
    const auto changes = static_cast<float>(distance.back());
    out->mutable_data<float>()[row] = normalized ? changes / static_cast<float>(n) : changes;
  }
}

// The best path through scores [steps, tags] of one sequence, which ends with the last of `length` steps.
template <typename T>
double BestPath(const T* scores, const T* transitions, int64_t tags, int64_t length, bool include_bos_eos_tag,
                int64_t* path) {
  const auto score = [&](int64_t step, int64_t tag) { return Load(scores[step * tags + tag]); };
  const auto transition = [&](int64_t from, int64_t to) { return Load(transitions[from * tags + to]); };
  std::vector<std::vector<int64_t>> before;  // [step][tag]: the best tag one step earlier
  std::vector<double> best(static_cast<size_t>(tags));
  for (int64_t tag = 0; tag < tags; ++tag) {
    best[static_cast<size_t>(tag)] = score(0, tag) + (include_bos_eos_tag ? transition(tags - 1, tag) : 0.0);
  }
  for (int64_t step = 1; step < length; ++step) {
    std::vector<double> next(best.size());
    std::vector<int64_t> from(best.size(), 0);
    for (int64_t tag = 0; tag < tags; ++tag) {
      const auto through = [&](int64_t last) { return best[static_cast<size_t>(last)] + transition(last, tag); };
      int64_t& last = from[static_cast<size_t>(tag)];
      for (int64_t other = 1; other < tags; ++other) {
        if (through(other) > through(last)) last = other;
      }
      next[static_cast<size_t>(tag)] = through(last) + score(step, tag);
    }
    before.push_back(std::move(from));
    best = std::move(next);
  }
  if (include_bos_eos_tag) {
    for (int64_t tag = 0; tag < tags; ++tag) best[static_cast<size_t>(tag)] += transition(tags - 2, tag);
  }
  auto tag = static_cast<size_t>(std::max_element(best.begin(), best.end()) - best.begin());
  const double result = best[tag];
  for (int64_t step = length - 1; step >= 0; --step) {
    path[step] = static_cast<int64_t>(tag);
    if (step > 0) tag = static_cast<size_t>(before[static_cast<size_t>(step) - 1][tag]);
  }
  return result;
}

template <typename T>
void ViterbiDecode(const CpuContext& /*context*/, const DenseTensor& potentials, const DenseTensor& transitions,
                   const DenseTensor& lengths, bool include_bos_eos_tag, DenseTensor* scores, DenseTensor* path) {
  const int64_t rows = potentials.shape()[0];
  const int64_t steps = potentials.shape()[1];
  const int64_t tags = potentials.shape()[2];
  WHERRY_ENFORCE(tags >= (include_bos_eos_tag ? 2 : 1), kInvalidArgument, "there are ", tags, " tags");
  const std::vector<int64_t> length = LengthsOf(&lengths, rows, steps, "lengths");
  // The path is as long as the longest sequence.
  const int64_t longest = rows == 0 ? 0 : *std::max_element(length.begin(), length.end());
  path->Allocate(HostAllocator(), TensorMeta{DataType::kInt64, Shape{rows, longest}});
  std::fill_n(path->mutable_data<int64_t>(), rows * longest, 0);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t own = length[static_cast<size_t>(row)];
    const double score = own == 0 ? 0.0
                                  : BestPath(potentials.data<T>() + row * steps * tags, transitions.data<T>(), tags,
                                             own, include_bos_eos_tag, path->mutable_data<int64_t>() + row * longest);
    scores->mutable_data<T>()[row] = Store<T>(score);
  }
}

}  // namespace

REGISTER_KERNEL(ctc_align, ref, kHost, kNCHW, CtcAlign, int32_t, int64_t);
REGISTER_KERNEL(edit_distance, ref, kHost, kNCHW, EditDistance, int32_t, int64_t);
REGISTER_KERNEL(viterbi_decode, ref, kHost, kNCHW, ViterbiDecode, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
