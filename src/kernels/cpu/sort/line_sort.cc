#include "kernels/cpu/sort/line_sort.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/cancellation.h"
#include "kernels/cpu/share_out.h"
#include "kernels/cpu/sort/ordered_key.h"
#include "kernels/cpu/sort/record_sort.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

// Lines that lie side by side are read and written together: a cache line of them, unless they are so long that their
// records would leave the cache.
constexpr int64_t kMostColumns = 16;
constexpr int64_t kMostTogether = 16384;
// Elements that a worker takes at a time.
constexpr int64_t kMinElements = 4096;

template <typename T, typename Record>
class LineSorter {
 public:
  LineSorter(const AxisRun& run, int64_t wanted, bool descending) : run_(run), wanted_(wanted) {
    if (descending) flip_ = std::numeric_limits<typename Record::Key>::max();
    columns_ = std::clamp<int64_t>(kMostTogether / run.extent, 1, std::min(kMostColumns, run.inner));
    blocks_ = (run.inner + columns_ - 1) / columns_;
  }

  int64_t blocks() const { return run_.outer * blocks_; }
  int64_t block_elements() const { return columns_ * run_.extent; }
  // `scratch` has room for two records for each of a block's elements.
  void SortBlock(int64_t block, const T* x, T* out, int64_t* indices, Record* scratch,
                 const std::atomic<bool>* cancelled) const {
    const int64_t outer = block / blocks_;
    const int64_t first = block % blocks_ * columns_;
    const int64_t columns = std::min(columns_, run_.inner - first);
    const T* const from = x + outer * run_.extent * run_.inner + first;
    for (int64_t i = 0; i < run_.extent; ++i) {
      for (int64_t c = 0; c < columns; ++c) {
        const auto key = static_cast<typename Record::Key>(OrderedKey(from[i * run_.inner + c]));
        scratch[c * run_.extent + i] = {key ^ flip_, static_cast<typename Record::Index>(i)};
      }
    }
    std::array<const Record*, kMostColumns> sorted;
    Record* const spare = scratch + columns * run_.extent;
    for (int64_t c = 0; c < columns; ++c) {
      sorted[static_cast<size_t>(c)] =
          SortRecords(scratch + c * run_.extent, spare + c * run_.extent, run_.extent, cancelled);
    }
    int64_t to = outer * wanted_ * run_.inner + first;
    for (int64_t i = 0; i < wanted_; ++i, to += run_.inner) {
      for (int64_t c = 0; c < columns; ++c) {
        const auto index = static_cast<int64_t>(sorted[static_cast<size_t>(c)][i].index);
        out[to + c] = from[index * run_.inner + c];
        indices[to + c] = index;
      }
    }
  }

 private:
  const AxisRun run_;
  const int64_t wanted_;
  typename Record::Key flip_ = 0;
  int64_t columns_;
  int64_t blocks_;
};

template <typename T, typename Record>
void SortAll(const CpuContext& context, const LineSorter<T, Record>& sorter, const T* x, T* out, int64_t* indices) {
  const int64_t blocks = sorter.blocks();
  const int64_t together = std::max<int64_t>(1, kMinElements / sorter.block_elements());
  const int64_t items = (blocks + together - 1) / together;
  const int64_t workers = std::min<int64_t>(items, context.threads());
  const auto records = static_cast<size_t>(2 * sorter.block_elements());
  auto* const scratch = static_cast<Record*>(context.Scratch(static_cast<size_t>(workers) * records * sizeof(Record)));
  const std::atomic<bool>* const cancelled = ScopedCancellation::Flag();
  ShareOut(context.pool(), workers, items, [&](int64_t worker, const auto& next) {
    Record* const mine = scratch + static_cast<size_t>(worker) * records;
    for (int64_t item = next(); item >= 0; item = next()) {
      for (int64_t block = item * together; block < std::min(blocks, (item + 1) * together); ++block) {
        sorter.SortBlock(block, x, out, indices, mine, cancelled);
      }
    }
  });
}

}  // namespace

template <typename T>
void SortLines(const CpuContext& context, const DenseTensor& x, int axis, bool descending, DenseTensor* out,
               DenseTensor* indices) {
  if (out->numel() == 0) return;
  const AxisRun run = RunAlong(x.shape(), axis);
  const int64_t wanted = RunAlong(out->shape(), axis).extent;
  const auto sort = [&](const auto& sorter) {
    SortAll(context, sorter, x.data<T>(), out->mutable_data<T>(), indices->mutable_data<int64_t>());
  };
  if constexpr (sizeof(OrderedKeyOf<T>) == sizeof(ShortRecord::Key)) {
    if (run.extent <= std::numeric_limits<ShortRecord::Index>::max()) {
      return sort(LineSorter<T, ShortRecord>(run, wanted, descending));
    }
  }
  sort(LineSorter<T, LongRecord>(run, wanted, descending));
}

#define WHERRY_SORT_LINES(T) \
  template void SortLines<T>(const CpuContext&, const DenseTensor&, int, bool, DenseTensor*, DenseTensor*);
WHERRY_SORT_LINES(float)
WHERRY_SORT_LINES(double)
WHERRY_SORT_LINES(int8_t)
WHERRY_SORT_LINES(uint8_t)
WHERRY_SORT_LINES(int16_t)
WHERRY_SORT_LINES(uint16_t)
WHERRY_SORT_LINES(int32_t)
WHERRY_SORT_LINES(uint32_t)
WHERRY_SORT_LINES(int64_t)
WHERRY_SORT_LINES(uint64_t)
#undef WHERRY_SORT_LINES

}  // namespace wherry::cpu
