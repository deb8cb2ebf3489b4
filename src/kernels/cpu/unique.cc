// unique of elements: equal ones come together when their keys are sorted.
#include <algorithm>
#include <limits>
#include <vector>

#include "base/cancellation.h"
#include "core/buffer.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/sort/ordered_key.h"
#include "kernels/cpu/sort/record_sort.h"

namespace wherry::cpu {
namespace {

struct Results {
  DenseTensor* out;
  DenseTensor* indices;
  DenseTensor* inverse;
  DenseTensor* counts;
};

// Numbers groups by their first members. `numbers` has room for all groups.
template <typename Index>
void NumberByOccurrence(Index* group_of, int64_t n, Index groups, Index* numbers) {
  constexpr Index kNone = std::numeric_limits<Index>::max();
  std::fill_n(numbers, groups, kNone);
  Index next = 0;
  for (int64_t i = 0; i < n; ++i) {
    Index& number = numbers[group_of[i]];
    if (number == kNone) number = next++;
    group_of[i] = number;
  }
}

template <typename Index>
Index* Allocate(int64_t count, DenseTensor* out) {
  out->Allocate(HostAllocator(), TensorMeta{DataTypeOf<Index>(), Shape{count}});
  return out->mutable_data<Index>();
}

template <typename Index, typename T, typename Group>
void Write(const T* x, const Group* group_of, int64_t n, int64_t groups, const Results& results) {
  T* const out = Allocate<T>(groups, results.out);
  auto* const indices = Allocate<Index>(groups, results.indices);
  auto* const inverse = Allocate<Index>(n, results.inverse);
  auto* const counts = Allocate<Index>(groups, results.counts);
  std::fill_n(counts, groups, Index{0});
  for (int64_t i = 0; i < n; ++i) {
    const Group group = group_of[i];
    if (counts[group]++ == 0) {
      out[group] = x[i];
      indices[group] = static_cast<Index>(i);
    }
    inverse[i] = static_cast<Index>(group);
  }
}

template <typename Record, typename T>
void FindGroups(const CpuContext& context, const DenseTensor& x, bool sorted, bool consecutive, DataType dtype,
                const Results& results) {
  const T* const from = x.data<T>();
  const int64_t n = x.numel();
  auto* const records = static_cast<Record*>(context.Scratch(2 * static_cast<size_t>(n) * sizeof(Record)));
  for (int64_t i = 0; i < n; ++i) {
    records[i] = {OrderedKey(from[i]), static_cast<typename Record::Index>(i)};
  }
  const Record* const ordered =
      consecutive ? records : SortRecords(records, records + n, n, ScopedCancellation::Flag());
  // Of each element, over the other half of the scratch memory.
  auto* const group_of = reinterpret_cast<typename Record::Index*>(ordered == records ? records + n : records);
  typename Record::Index groups = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || ordered[i].key != ordered[i - 1].key) ++groups;
    group_of[ordered[i].index] = groups - 1;
  }
  if (!sorted && !consecutive) NumberByOccurrence(group_of, n, groups, group_of + n);
  if (dtype == DataType::kInt32) {
    Write<int32_t>(from, group_of, n, static_cast<int64_t>(groups), results);
  } else {
    Write<int64_t>(from, group_of, n, static_cast<int64_t>(groups), results);
  }
}

template <typename T>
void Unique(const CpuContext& context, const DenseTensor& x, const std::vector<int64_t>& /*axis*/, bool sorted,
            bool consecutive, DataType dtype, DenseTensor* out, DenseTensor* indices, DenseTensor* inverse,
            DenseTensor* counts) {
  const Results results{out, indices, inverse, counts};
  if constexpr (sizeof(OrderedKeyOf<T>) == sizeof(ShortRecord::Key)) {
    if (x.numel() < std::numeric_limits<ShortRecord::Index>::max()) {
      return FindGroups<ShortRecord, T>(context, x, sorted, consecutive, dtype, results);
    }
  }
  FindGroups<LongRecord, T>(context, x, sorted, consecutive, dtype, results);
}

Support Supports(const KernelProblem& problem) {
  const bool whole = problem.Attr<std::vector<int64_t>>("axis").empty();
  return whole ? Support::Yes() : Support::No("compares elements, not slices");
}

}  // namespace

REGISTER_KERNEL(unique, cpu, kNative, kNCHW, Unique, float, double, int32_t, int64_t).Supports(&Supports);

}  // namespace wherry::cpu
