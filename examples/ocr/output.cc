#include "output.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace ocr {

namespace {

using Json = nlohmann::ordered_json;

struct Pixel {
  int x = 0;
  int y = 0;
};

Pixel InImage(Point point, const Image& image) {
  return {static_cast<int>(std::lround(std::clamp(point.x, 0.0F, static_cast<float>(image.width)))),
          static_cast<int>(std::lround(std::clamp(point.y, 0.0F, static_cast<float>(image.height))))};
}

double Rounded(double value, double parts) { return std::round(value * parts) / parts; }

Json LineAsJson(const Line& line, const Image& image) {
  Json box = Json::array();
  for (const Point& corner : line.box) {
    const Pixel pixel = InImage(corner, image);
    box.push_back({pixel.x, pixel.y});
  }
  return {{"text", line.text}, {"score", Rounded(static_cast<double>(line.score), 1e4)}, {"box", std::move(box)}};
}

// On one line. A path need not be UTF-8.
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string LinesAsText(const std::vector<Line>& lines, const Image& image) {
  std::string text;
  for (const Line& line : lines) {
    char score[16];
    std::snprintf(score, sizeof(score), "%.3f", static_cast<double>(line.score));
    std::string box;
    for (const Point& corner : line.box) {
      const Pixel pixel = InImage(corner, image);
      box += (box.empty() ? "" : " ") + std::to_string(pixel.x) + "," + std::to_string(pixel.y);
    }
    text += std::string(score) + "  [" + box + "]  " + line.text + "\n";
  }
  return text;
}

std::string ResultAsJson(const std::string& path, const Image& image, const std::vector<Line>& lines,
                         const std::vector<TextReader::Stage>& stages) {
  std::string text = "{\"image\": " + Dump(path) + ", \"width\": " + std::to_string(image.width) +
                     ", \"height\": " + std::to_string(image.height) + ",\n \"lines\": [";
  for (size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? "\n  " : ",\n  ") + Dump(LineAsJson(lines[i], image));
  text += "],\n \"times_ms\": {";
  for (size_t i = 0; i < stages.size(); ++i) {
    const NetworkTimes& times = stages[i].times;
    const Json json{{"load", Rounded(times.load, 10)},
                    {"optimize", Rounded(times.optimize, 10)},
                    {"run", Rounded(times.run, 10)},
                    {"runs", times.runs}};
    text += (i == 0 ? "\n  " : ",\n  ") + Dump(stages[i].name) + ": " + Dump(json);
  }
  return text + "}}\n";
}

std::string TimesAsText(const std::vector<TextReader::Stage>& stages) {
  std::string text = "             load  optimise       run\n";
  for (const TextReader::Stage& stage : stages) {
    char row[128];
    const NetworkTimes& times = stage.times;
    std::snprintf(row, sizeof(row), "%-11s %5.0f  %8.0f  %8.0f ms in %d run%s\n", stage.name,
                  times.load - times.optimize, times.optimize, times.run, times.runs, times.runs == 1 ? "" : "s");
    text += row;
  }
  return text;
}

}  // namespace ocr
