// Attention of one head without its matrix of scores: blocks of keys pass by the queries, whose running maximum, sum
// and result are corrected as they come (Milakov & Gimelshein, "Online normalizer calculation for softmax", 2018; Dao
// et al., "FlashAttention", 2022).
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cpu/simd/isa.h"

namespace wherry::cpu {

// Rows are `stride` floats apart, their elements next to each other. Nothing is read or written outside the rows.
struct FlashHead {
  const float* query = nullptr;
  int64_t query_stride = 0;
  const float* key = nullptr;
  int64_t key_stride = 0;
  const float* value = nullptr;
  int64_t value_stride = 0;
  float* out = nullptr;  // overlaps no input
  int64_t out_stride = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t size = 0;        // floats of a query and a key
  int64_t value_size = 0;  // floats of a value and a result
  float scale = 1.0f;
  // At most one of them: what is added to the score of query i and key j, or whether it stays or is masked_score, at
  // [i * mask_query_stride + j * mask_key_stride].
  const float* added = nullptr;
  const bool* allowed = nullptr;
  int64_t mask_query_stride = 0;
  int64_t mask_key_stride = 0;  // 0 or 1
  float masked_score = 0.0f;
  // Query i sees keys [0, visible + i).
  int64_t visible = kSeesAll;
  bool zero_masked_rows = false;

  static constexpr int64_t kSeesAll = std::numeric_limits<int64_t>::max() / 2;
};

// The most queries that one call takes.
inline constexpr int64_t kFlashMaxQueries = 512;

// Floats of scratch for heads of these sizes.
int64_t FlashScratchFloats(int64_t size, int64_t value_size);

// The results of queries [begin, end), on the caller alone, by the bodies of `isa`. Thread-safe, allocates nothing.
void RunFlashAttention(const FlashHead& head, int64_t begin, int64_t end, float* scratch, Isa isa);

}  // namespace wherry::cpu
