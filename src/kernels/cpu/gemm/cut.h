// How a product is cut into chunks for the threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cancellation.h"
#include "base/cpu_info.h"
#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "kernels/cpu/gemm/gemm_call.h"

namespace wherry::cpu {

// Into how many blocks the row tiles and the panels of a product are cut; each pair of blocks is a chunk.
struct GemmCut {
  int64_t row_blocks = 1;
  int64_t panel_blocks = 1;
};

// m rows in `tiles` by `panels` of 64 columns, whose weights take so many bytes. Only the order of work and who does it
// depend on the cut, never the result.
inline GemmCut CutGemm(int64_t m, int64_t tiles, int64_t panels, int64_t k, int64_t bytes, int threads) {
  // Chunks of less than this many multiply-adds (4-10 us) are not worth claiming.
  constexpr int64_t kMinWork = int64_t{1} << 19;
  // Weights up to half of L2 stay there beside the rows, so each block of rows may go through all panels. Larger ones
  // are taken a panel at a time, which stays in L2 while the rows pass by.
  const auto small_weights = static_cast<int64_t>(CpuInfo::Get().l2_bytes / 2);
  constexpr int64_t kChunksPerThread = 12;
  // Between chunks a run can be cancelled: none takes more than 20 to 40 ms.
  constexpr int64_t kMostWork = int64_t{1} << 31;
  const int64_t work = m * panels * kPanelWidth * std::max<int64_t>(1, k);
  const int64_t most = std::max<int64_t>(threads == 1 ? 1 : threads * kChunksPerThread, work / kMostWork);
  const int64_t chunks = std::clamp<int64_t>(work / kMinWork, 1, most);
  GemmCut cut;
  if (bytes <= small_weights && tiles >= chunks) {
    cut.row_blocks = chunks;
  } else {
    cut.panel_blocks = tiles == 1 ? std::min(panels, chunks) : panels;
    cut.row_blocks = std::clamp<int64_t>(chunks / cut.panel_blocks, 1, tiles);
  }
  return cut;
}

// Calls block(tile_begin, tile_end, panel_begin, panel_end) for each chunk.
inline void RunCut(const GemmCut& cut, int64_t tiles, int64_t panels, ThreadPool* pool,
                   FunctionRef<void(int64_t, int64_t, int64_t, int64_t)> block) {
  const auto run = [&](int64_t chunk) {
    const int64_t row_block = chunk % cut.row_blocks;
    const int64_t panel_block = chunk / cut.row_blocks;
    block(row_block * tiles / cut.row_blocks, (row_block + 1) * tiles / cut.row_blocks,
          panel_block * panels / cut.panel_blocks, (panel_block + 1) * panels / cut.panel_blocks);
  };
  const int64_t chunks = cut.row_blocks * cut.panel_blocks;
  if (pool != nullptr && chunks > 1) {
    pool->Run(chunks, run);
  } else {
    for (int64_t i = 0; i < chunks; ++i) {
      ThrowIfCancelled();
      run(i);
    }
  }
}

}  // namespace wherry::cpu
