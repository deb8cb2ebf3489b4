// Products on the tiles of AMX, 32 rows by 32 columns at a time. Only where CpuInfo says that this process may use
// them.
//
// The instructions are text, since the functions around them are compiled for every instruction set. The compiler uses
// no tile of its own. Sources: Intel's Architecture Instruction Set Extensions, chapter "AMX"; its Optimization
// Reference Manual for the shape: four sums of 16 x 16, for which two tiles of rows and two of columns are read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace wherry::cpu {

inline constexpr int64_t kAmxRows = 32;
inline constexpr int64_t kAmxColumns = 32;
// Fewer rows are better multiplied otherwise: a tile of them takes as long to load its columns as one of many.
inline constexpr int64_t kAmxLeastRows = 8;

enum class AmxFactors : uint8_t {
  kBFloat16,  // pairs of bf16; sums are f32
  kBytes,     // four u8 of rows by four i8 of columns; sums are i32
};

// row_count rows (at most kAmxRows) of row_bytes each, times kAmxColumns columns whose words of 32 bits lie side by
// side, 64 of them (a panel of word_gemm.h or byte_gemm.h) from one word of the rows to the next.
struct AmxProduct {
  const void* rows = nullptr;
  int64_t row_stride = 0;  // bytes
  int64_t row_bytes = 0;
  int64_t row_count = 0;
  const uint32_t* columns = nullptr;
};

#if defined(__x86_64__)

// The tiles of the calling thread, while it lives. One at a time.
class AmxTiles {
 public:
  AmxTiles() = default;
  ~AmxTiles() {
    if (configured_rows_ > 0) asm volatile("tilerelease" ::: "memory");
  }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  // sums: [row_count][kAmxColumns] of 4 bytes, row-major; kAmxRows rows are written at most.
  template <AmxFactors kFactors>
  void Multiply(const AmxProduct& product, void* sums) {
    Configure(product.row_count);
    constexpr int64_t kBlockBytes = kTileBytes;
    constexpr int64_t kBlockWords = kTileBytes / 4;
    const auto* rows = static_cast<const char*>(product.rows);
    const uint32_t* columns = product.columns;
    asm volatile("tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3" ::: "memory");
    int64_t left = product.row_bytes;
    for (; left >= kBlockBytes; left -= kBlockBytes) {
      AddBlock<kFactors>(rows, product.row_stride, columns, kPanelBytes);
      rows += kBlockBytes;
      columns += kBlockWords * kPanelWords;
    }
    if (left > 0) {
      // What is behind a row or its columns is not zero, or not there.
      alignas(64) char last_rows[kAmxRows * kTileBytes] = {};
      alignas(64) uint32_t last_columns[kBlockWords * kAmxColumns] = {};
      for (int64_t r = 0; r < product.row_count; ++r) {
        std::memcpy(last_rows + r * kTileBytes, rows + r * product.row_stride, static_cast<size_t>(left));
      }
      for (int64_t word = 0; word < (left + 3) / 4; ++word) {
        std::memcpy(last_columns + word * kAmxColumns, columns + word * kPanelWords, kAmxColumns * sizeof(uint32_t));
      }
      AddBlock<kFactors>(last_rows, kTileBytes, last_columns, kAmxColumns * sizeof(uint32_t));
    }
    Store(static_cast<char*>(sums));
  }

 private:
  static constexpr int64_t kTileRows = 16;
  static constexpr int64_t kTileBytes = 64;  // of a row
  static constexpr int64_t kPanelWords = 64;
  static constexpr int64_t kPanelBytes = kPanelWords * sizeof(uint32_t);
  static constexpr int64_t kSumBytes = kAmxColumns * sizeof(uint32_t);

  // Tiles 0 to 3: sums of the upper rows by both halves of the columns, of the lower rows; 4 and 5: rows; 6, 7:
  // columns.
  void Configure(int64_t rows) {
    if (rows == configured_rows_) return;
    struct alignas(64) {
      uint8_t palette = 1;
      uint8_t start_row = 0;
      uint8_t reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } config;
    static_assert(sizeof(config) == 64);
    const auto upper = static_cast<uint8_t>(std::min(rows, kTileRows));
    const auto lower = static_cast<uint8_t>(std::max<int64_t>(1, rows - kTileRows));
    const uint8_t heights[] = {upper, upper, lower, lower, upper, lower, kTileRows, kTileRows};
    for (int tile = 0; tile < 8; ++tile) {
      config.row_bytes[tile] = kTileBytes;
      config.rows[tile] = heights[tile];
    }
    asm volatile("ldtilecfg %0" ::"m"(config) : "memory");
    configured_rows_ = rows;
  }

  // Sums += what a tile of the depth holds of the rows by that of the columns.
  template <AmxFactors kFactors>
  void AddBlock(const char* rows, int64_t row_stride, const uint32_t* columns, int64_t column_stride) {
    asm volatile(
        "tileloadd (%0,%1,1), %%tmm6\n\t"
        "tileloadd 64(%0,%1,1), %%tmm7\n\t"
        "tileloadd (%2,%3,1), %%tmm4" ::"r"(columns),
        "r"(column_stride), "r"(rows), "r"(row_stride)
        : "memory");
    if constexpr (kFactors == AmxFactors::kBFloat16) {
      asm volatile("tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\ttdpbf16ps %%tmm7, %%tmm4, %%tmm1" ::: "memory");
    } else {
      asm volatile("tdpbusd %%tmm6, %%tmm4, %%tmm0\n\ttdpbusd %%tmm7, %%tmm4, %%tmm1" ::: "memory");
    }
    if (configured_rows_ <= kTileRows) return;
    asm volatile("tileloadd (%0,%1,1), %%tmm5" ::"r"(rows + kTileRows * row_stride), "r"(row_stride) : "memory");
    if constexpr (kFactors == AmxFactors::kBFloat16) {
      asm volatile("tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\ttdpbf16ps %%tmm7, %%tmm5, %%tmm3" ::: "memory");
    } else {
      asm volatile("tdpbusd %%tmm6, %%tmm5, %%tmm2\n\ttdpbusd %%tmm7, %%tmm5, %%tmm3" ::: "memory");
    }
  }

  void Store(char* sums) const {
    asm volatile("tilestored %%tmm0, (%0,%1,1)\n\ttilestored %%tmm1, 64(%0,%1,1)" ::"r"(sums), "r"(kSumBytes)
                 : "memory");
    if (configured_rows_ <= kTileRows) return;
    asm volatile("tilestored %%tmm2, (%0,%1,1)\n\ttilestored %%tmm3, 64(%0,%1,1)" ::"r"(sums + kTileRows * kSumBytes),
                 "r"(kSumBytes)
                 : "memory");
  }

  int64_t configured_rows_ = 0;
};

#endif

}  // namespace wherry::cpu
