#include "text_reader.h"

#include <cmath>

#include "crop.h"
#include "reading_order.h"

namespace ocr {

namespace {

// What the lines say together of the page, weighted by length: from -1, it is upright, to 1, it stands on its head.
float Vote(const std::vector<float>& upside_down, const std::vector<TextBox>& boxes) {
  float sum = 0;
  float total = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    sum += Width(boxes[i].quad) * (2 * upside_down[i] - 1);
    total += Width(boxes[i].quad);
  }
  return total > 0 ? sum / total : 0;
}

}  // namespace

TextReader::TextReader(const ModelPaths& models, int threads)
    : detector_(models.detector, threads),
      orienter_(models.orienter, threads),
      recognizer_(models.recognizer, models.dictionary, threads) {}

std::vector<Line> TextReader::Read(const Image& image, const ReaderOptions& options,
                                   const std::function<void(const std::string&)>& progress) {
  progress("looking for text");
  std::vector<TextBox> boxes = detector_.Find(image, options.boxes);
  std::vector<Image> lines;
  for (const TextBox& box : boxes) lines.push_back(Crop(image, box.quad, box.bend));
  progress(std::to_string(lines.size()) + " lines found, looking which way up they are");
  const std::vector<float> upside_down = orienter_.UpsideDown(lines);
  // Most of a page lies one way. Each line is read that way, and those that look otherwise, or all if the page does not
  // know, the other way too.
  constexpr float kSure = 0.3F;
  const float vote = Vote(upside_down, boxes);
  std::vector<size_t> doubtful;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (vote > 0) {
      boxes[i] = boxes[i].UpsideDown();
      lines[i] = Crop(image, boxes[i].quad, boxes[i].bend);
    }
    if (std::abs(vote) < kSure || (upside_down[i] > 0.5F) != (vote > 0)) doubtful.push_back(i);
  }
  for (const size_t i : doubtful) {
    const TextBox turned = boxes[i].UpsideDown();
    lines.push_back(Crop(image, turned.quad, turned.bend));
  }
  const auto done = [&](size_t count) {
    progress("read " + std::to_string(count) + " of " + std::to_string(lines.size()) + " lines");
  };
  std::vector<Reading> readings = recognizer_.Read(lines, done);
  for (size_t k = 0; k < doubtful.size(); ++k) {
    const size_t i = doubtful[k];
    Reading& turned = readings[boxes.size() + k];
    if (turned.score <= readings[i].score) continue;
    readings[i] = std::move(turned);
    boxes[i] = boxes[i].UpsideDown();
  }
  std::vector<Quad> quads;
  for (const TextBox& box : boxes) quads.push_back(box.Around());
  std::vector<Line> result;
  for (const size_t i : ReadingOrder(quads)) {
    if (!readings[i].text.empty() && readings[i].score >= options.least_score)
      result.push_back({readings[i].text, readings[i].score, quads[i]});
  }
  return result;
}

std::vector<TextReader::Stage> TextReader::stages() const {
  return {{"detection", detector_.times()}, {"orientation", orienter_.times()}, {"recognition", recognizer_.times()}};
}

}  // namespace ocr
