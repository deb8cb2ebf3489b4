// Sorting by keys with the positions that they come from.
#pragma once

#include <atomic>
#include <cstdint>

namespace wherry::cpu {

template <typename KeyType, typename IndexType>
struct SortRecord {
  using Key = KeyType;
  using Index = IndexType;
  Key key;
  Index index;
};
using ShortRecord = SortRecord<uint32_t, uint32_t>;
using LongRecord = SortRecord<uint64_t, uint64_t>;

// Puts n records in ascending order of their keys, equal ones in the order they have. `spare` has room for as many;
// returns where they lie, which is one of the two. Error(kCancelled) between passes once `cancelled` (null: never).
// Record: ShortRecord for at most 2^32 - 1 records, LongRecord.
template <typename Record>
Record* SortRecords(Record* records, Record* spare, int64_t n, const std::atomic<bool>* cancelled);

}  // namespace wherry::cpu
