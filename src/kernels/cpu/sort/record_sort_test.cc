#include "kernels/cpu/sort/record_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/sort/ordered_key.h"
#include "wherry/error.h"

namespace wherry::cpu {
namespace {

template <typename Record>
void Check(std::vector<Record> records) {
  std::vector<Record> expected = records;
  std::stable_sort(expected.begin(), expected.end(), [](const Record& a, const Record& b) { return a.key < b.key; });
  std::vector<Record> spare(records.size());
  const Record* const sorted = SortRecords(records.data(), spare.data(), static_cast<int64_t>(records.size()), nullptr);
  for (size_t i = 0; i < records.size(); ++i) {
    ASSERT_EQ(sorted[i].key, expected[i].key) << i << " of " << records.size();
    ASSERT_EQ(sorted[i].index, expected[i].index) << i << " of " << records.size();
  }
}

template <typename Record>
void CheckSizes() {
  using Key = typename Record::Key;
  constexpr Key kMost = std::numeric_limits<Key>::max();
  std::mt19937_64 random(1);
  for (const size_t n : {0, 1, 2, 64, 65, 300, 2047, 2048, 5000}) {
    for (const Key range : {Key{0}, Key{1}, Key{1000}, Key{1} << 20, kMost}) {
      std::uniform_int_distribution<Key> keys(kMost - range, kMost);
      std::vector<Record> records(n);
      for (size_t i = 0; i < n; ++i) records[i] = {keys(random), static_cast<typename Record::Index>(i)};
      Check(records);
      std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.key < b.key; });
      Check(records);
      std::reverse(records.begin(), records.end());
      Check(records);
    }
  }
}

TEST(RecordSortTest, AsAStableSort) {
  CheckSizes<ShortRecord>();
  CheckSizes<LongRecord>();
}

TEST(RecordSortTest, IsCancelled) {
  std::vector<ShortRecord> records(100);
  std::vector<ShortRecord> spare(100);
  records[50].key = 1;
  const std::atomic<bool> cancelled{true};
  EXPECT_THROW(SortRecords(records.data(), spare.data(), 100, &cancelled), Error);
}

template <typename T>
void CheckKeys(const std::vector<T>& ascending) {
  for (size_t i = 1; i < ascending.size(); ++i) {
    EXPECT_LT(OrderedKey(ascending[i - 1]), OrderedKey(ascending[i])) << ascending[i];
  }
}
template <typename T>
void CheckFloatKeys() {
  using Limits = std::numeric_limits<T>;
  CheckKeys<T>({-Limits::infinity(), Limits::lowest(), -1, -Limits::denorm_min(), 0, Limits::denorm_min(), 1,
                Limits::max(), Limits::infinity(), Limits::quiet_NaN()});
  EXPECT_EQ(OrderedKey(T{0}), OrderedKey(-T{0}));
  EXPECT_EQ(OrderedKey(Limits::quiet_NaN()), OrderedKey(-Limits::quiet_NaN()));
}
template <typename T>
void CheckIntegerKeys() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::is_signed) {
    CheckKeys<T>({Limits::min(), -1, 0, 1, Limits::max()});
  } else {
    CheckKeys<T>({0, 1, Limits::max()});
  }
}

TEST(OrderedKeyTest, KeepsTheOrder) {
  CheckFloatKeys<float>();
  CheckFloatKeys<double>();
  CheckIntegerKeys<int8_t>();
  CheckIntegerKeys<uint8_t>();
  CheckIntegerKeys<int32_t>();
  CheckIntegerKeys<uint32_t>();
  CheckIntegerKeys<int64_t>();
  CheckIntegerKeys<uint64_t>();
}

}  // namespace
}  // namespace wherry::cpu
