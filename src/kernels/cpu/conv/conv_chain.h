// Convolutions one after the other, a band of rows at a time, so that the images between stay in the second-level cache
// instead of going to memory and back.
//
// A chunk of the result's rows is computed band by band. Each image between has a buffer for the rows that the next
// convolution's band needs; from one band to the next the rows that are needed again (a 3x3 kernel's two) move to its
// front, which costs some 2 % of computing them. Only where chunks meet are such rows computed twice.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu/conv/conv.h"

namespace wherry::cpu {

// Which algorithm a convolution of a chain takes: none that needs scratch or many rows.
ConvAlgorithm ChainAlgorithm(const ConvShape& shape);

// What depends on the shapes. Immutable, may be shared by threads.
class ConvChainPlan {
 public:
  // shapes: the convolutions, each of the result of the one before, whose pixels between have no gaps; paddings from 0
  // to below the (dilated) kernel. threads: how many the pool will have.
  ConvChainPlan(std::vector<ConvShape> shapes, int threads);

  size_t size() const { return shapes_.size(); }
  const ConvShape& shape(size_t i) const { return shapes_[i]; }
  // Floats of the scratch that Run needs, 64-byte aligned.
  int64_t scratch_floats() const { return buffer_sets_ * buffer_floats_; }
  // For people: "4 chunks, bands of 3 rows, 250 KB".
  std::string DebugString() const;

  // in, out: the first pixel. packed: of each convolution, from PackConv for its ChainAlgorithm. The added operands of
  // `epilogues` are numbered by their convolution's pixels.
  void Run(const float* in, std::span<const float* const> packed, std::span<const TileEpilogue> epilogues, float* out,
           float* scratch, ThreadPool* pool) const;

 private:
  // Rows of one convolution's result.
  struct Step {
    size_t link;
    size_t plan;     // in plans_
    int64_t row;     // the first
    int64_t in_row;  // of its image, which begins `in_at` rows into the buffer in front
    int64_t in_at;
    int64_t out_at;      // rows into the buffer behind
    int64_t moved_from;  // rows [moved_from, moved_from + moved) of that buffer move to its front first
    int64_t moved;
  };
  class StepMaker;

  int64_t BandBytes(int64_t rows) const;
  int64_t RowFloats(size_t link) const;  // of the convolution's result
  void RunChunk(int64_t image, int64_t chunk, const float* in, std::span<const float* const> packed,
                std::span<const TileEpilogue> epilogues, float* out, float* buffers) const;

  std::vector<ConvShape> shapes_;
  int64_t band_rows_ = 1;
  int64_t jobs_ = 0;                       // runs of neighbouring chunks of all images
  int64_t buffer_sets_ = 1;                // one, or as many as jobs
  std::vector<std::vector<Step>> chunks_;  // of one image
  std::vector<ConvPlan> plans_;
  std::vector<int64_t> buffers_;  // where each image between begins
  int64_t buffer_floats_ = 0;
};

}  // namespace wherry::cpu
