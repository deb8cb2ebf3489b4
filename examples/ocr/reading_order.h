// The order in which people read lines of text.
#pragma once

#include <cstddef>
#include <vector>

#include "geometry.h"

namespace ocr {

// The quads' indices in reading order: rows from the top, left to right in a row; columns of running text one after
// the other. A page that lies at an angle is read along its lines.
std::vector<size_t> ReadingOrder(const std::vector<Quad>& quads);

}  // namespace ocr
