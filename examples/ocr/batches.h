// Lines of text scaled to one height and put together into batches of similar width.
#pragma once

#include <cstddef>
#include <vector>

#include "image.h"

namespace ocr {

struct Batch {
  int width = 0;              // that the network is to see; no image is wider
  std::vector<size_t> lines;  // indices of the lines
  std::vector<Image> images;  // the lines, scaled to the height

  std::vector<const Image*> Pointers() const;
};

// Each line keeps its shape unless it would be wider than `most_width`. A batch's width is `least_width`, or the
// multiple of 32 that each of its lines needs: in a wider one, PP-OCR's recognition loses the spaces between words.
// Shortest lines first, at most `most_lines` in a batch.
std::vector<Batch> MakeBatches(const std::vector<Image>& lines, int height, int least_width, int most_width,
                               size_t most_lines);

}  // namespace ocr
