// What the program prints.
#pragma once

#include <string>
#include <vector>

#include "image.h"
#include "text_reader.h"

namespace ocr {

// "0.996  [7,12 292,14 292,33 7,32]  Region-based segmentation", a line each. Boxes are cut at the image's edge.
std::string LinesAsText(const std::vector<Line>& lines, const Image& image);

// {"image", "width", "height", "lines": [{"text", "score", "box": [[x, y], ...]}],
//  "times_ms": {STAGE: {"load", "optimize", "run", "runs"}}}, a line of text and a stage on a line each.
std::string ResultAsJson(const std::string& path, const Image& image, const std::vector<Line>& lines,
                         const std::vector<TextReader::Stage>& stages);

// A table of the same times.
std::string TimesAsText(const std::vector<TextReader::Stage>& stages);

}  // namespace ocr
