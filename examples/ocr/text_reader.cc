#include "text_reader.h"

#include <algorithm>
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
  constexpr float kSureVote = 0.3F;
  float vote = Vote(upside_down, boxes);
  if (std::abs(vote) < kSureVote) vote = ReadBothWays(image, boxes);
  if (vote > 0) {
    for (size_t i = 0; i < boxes.size(); ++i) {
      boxes[i] = boxes[i].UpsideDown();
      lines[i] = Crop(image, boxes[i].quad, boxes[i].bend);
    }
  }
  // Most of a page lies one way. Lines that surely look otherwise are read the other way too.
  constexpr float kSureLine = 0.9F;
  std::vector<size_t> doubtful;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if ((vote > 0 ? 1 - upside_down[i] : upside_down[i]) > kSureLine) doubtful.push_back(i);
  }
  for (const size_t i : doubtful) {
    const TextBox turned = boxes[i].UpsideDown();
    lines.push_back(Crop(image, turned.quad, turned.bend));
  }
  // Not every box has text in it, and what is read both ways counts twice here.
  const auto done = [&](size_t count) {
    progress("read " + std::to_string(count) + " of " + std::to_string(lines.size()) + " pieces");
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

float TextReader::ReadBothWays(const Image& image, const std::vector<TextBox>& boxes) {
  constexpr size_t kMostLines = 3;
  const size_t count = std::min(boxes.size(), kMostLines);
  std::vector<Image> lines;
  for (size_t i = 0; i < count; ++i) {
    const TextBox& box = boxes[(2 * i + 1) * boxes.size() / (2 * count)];  // from all over the page
    const TextBox turned = box.UpsideDown();
    lines.push_back(Crop(image, box.quad, box.bend));
    lines.push_back(Crop(image, turned.quad, turned.bend));
  }
  const std::vector<Reading> readings = recognizer_.Read(lines, [](size_t) {});
  float balance = 0;
  for (size_t i = 0; i < count; ++i) balance += readings[2 * i + 1].score - readings[2 * i].score;
  return balance;
}

std::vector<TextReader::Stage> TextReader::stages() const {
  return {{"detection", detector_.times()}, {"orientation", orienter_.times()}, {"recognition", recognizer_.times()}};
}

}  // namespace ocr
