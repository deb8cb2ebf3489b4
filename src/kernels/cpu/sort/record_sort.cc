#include "kernels/cpu/sort/record_sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/cancellation.h"

namespace wherry::cpu {
namespace {

// So many are put in order one by one, which takes less time than counting digits.
constexpr int64_t kFew = 64;

template <typename Record>
void InsertEach(Record* records, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const Record record = records[i];
    int64_t at = i;
    for (; at > 0 && record.key < records[at - 1].key; --at) records[at] = records[at - 1];
    records[at] = record;
  }
}

// The keys' digits of so many bits: places for them are counted in the nearest cache, and few records would not be
// worth as many.
constexpr int kMostDigitBits = 11;
constexpr int kDigitBitsOfFew = 8;
constexpr int64_t kManyRecords = 2048;

// By one digit of `key - least`, of `bits` from bit `shift` on.
template <typename Record>
void SortByDigit(const Record* from, Record* to, int64_t n, typename Record::Key least, int shift, int bits) {
  std::array<typename Record::Index, size_t{1} << kMostDigitBits> places;
  const size_t digits = size_t{1} << bits;
  std::fill_n(places.begin(), digits, 0);
  const auto digit = [&](const Record& record) {
    return static_cast<size_t>((record.key - least) >> shift) & (digits - 1);
  };
  for (int64_t i = 0; i < n; ++i) ++places[digit(from[i])];
  typename Record::Index place = 0;
  for (size_t d = 0; d < digits; ++d) place += std::exchange(places[d], place);
  for (int64_t i = 0; i < n; ++i) to[places[digit(from[i])]++] = from[i];
}

}  // namespace

template <typename Record>
Record* SortRecords(Record* records, Record* spare, int64_t n, const std::atomic<bool>* cancelled) {
  if (n <= kFew) {
    InsertEach(records, n);
    return records;
  }
  auto least = records[0].key;
  auto most = least;
  bool ordered = true;
  for (int64_t i = 1; i < n; ++i) {
    least = std::min(least, records[i].key);
    most = std::max(most, records[i].key);
    ordered = ordered && records[i - 1].key <= records[i].key;
  }
  if (ordered) return records;
  const int bits = std::bit_width(static_cast<typename Record::Key>(most - least));
  const int most_bits = n < kManyRecords ? kDigitBitsOfFew : kMostDigitBits;
  const int digits = (bits + most_bits - 1) / most_bits;
  for (int d = 0; d < digits; ++d) {
    ThrowIfCancelled(cancelled);
    const int begin = bits * d / digits;
    SortByDigit(records, spare, n, least, begin, bits * (d + 1) / digits - begin);
    std::swap(records, spare);
  }
  return records;
}

template ShortRecord* SortRecords(ShortRecord*, ShortRecord*, int64_t, const std::atomic<bool>*);
template LongRecord* SortRecords(LongRecord*, LongRecord*, int64_t, const std::atomic<bool>*);

}  // namespace wherry::cpu
