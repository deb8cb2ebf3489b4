#include "reading_order.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "page_direction.h"

namespace ocr {

namespace {

// A line's extent in a page that has been turned so that its lines are level.
struct Extent {
  size_t index = 0;
  float left = 0, right = 0, top = 0, bottom = 0;

  float width() const { return right - left; }
  float height() const { return bottom - top; }
};
using Extents = std::vector<Extent>;

float Median(std::vector<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Whether this is running text: lines that are long for their height.
bool IsRunningText(const Extents& lines) {
  if (lines.size() < 3) return false;
  std::vector<float> ratios;
  for (const Extent& line : lines) ratios.push_back(line.width() / std::max(line.height(), 1.0F));
  return Median(ratios) >= 6;
}

// If the lines are columns of running text: those left of the widest gap, and those right of it.
std::optional<std::pair<Extents, Extents>> SplitColumns(Extents lines) {
  std::sort(lines.begin(), lines.end(), [](const Extent& a, const Extent& b) { return a.left < b.left; });
  size_t split = 0;
  float widest = 0;
  float reached = lines[0].right;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].left - reached > widest) {
      widest = lines[i].left - reached;
      split = i;
    }
    reached = std::max(reached, lines[i].right);
  }
  const auto middle = lines.begin() + static_cast<std::ptrdiff_t>(split);
  std::pair<Extents, Extents> halves(Extents(lines.begin(), middle), Extents(middle, lines.end()));
  if (!IsRunningText(halves.first) || !IsRunningText(halves.second)) return std::nullopt;
  return halves;
}

// The lines in bands that lie below each other: the middle halves of two bands' lines share no height.
std::vector<Extents> SplitBands(Extents lines) {
  const auto top = [](const Extent& line) { return line.top + line.height() / 4; };
  const auto bottom = [](const Extent& line) { return line.bottom - line.height() / 4; };
  std::sort(lines.begin(), lines.end(), [&](const Extent& a, const Extent& b) { return top(a) < top(b); });
  std::vector<Extents> bands;
  float reached = 0;
  for (const Extent& line : lines) {
    if (bands.empty() || top(line) >= reached) bands.emplace_back();
    reached = bands.back().empty() ? bottom(line) : std::max(reached, bottom(line));
    bands.back().push_back(line);
  }
  return bands;
}

// A band from left to right: rows of a table, or one row.
void AppendBand(Extents band, std::vector<size_t>* order) {
  std::sort(band.begin(), band.end(), [](const Extent& a, const Extent& b) { return a.left < b.left; });
  for (const Extent& line : band) order->push_back(line.index);
}

void Append(const Extents& lines, std::vector<size_t>* order) {
  const std::vector<Extents> bands = SplitBands(lines);
  // The longest stretch of bands from here on that are columns is read column by column.
  constexpr size_t kMostBands = 150;  // looking for it takes the third power
  for (size_t begin = 0; begin < bands.size();) {
    size_t end = std::min(bands.size(), begin + kMostBands);
    Extents stretch;
    for (size_t i = begin; i < end; ++i) stretch.insert(stretch.end(), bands[i].begin(), bands[i].end());
    std::optional<std::pair<Extents, Extents>> columns;
    for (; end > begin; --end) {
      columns = SplitColumns(stretch);
      if (columns) break;
      stretch.resize(stretch.size() - bands[end - 1].size());
    }
    if (columns) {
      Append(columns->first, order);
      Append(columns->second, order);
      begin = end;
    } else {
      AppendBand(bands[begin++], order);
    }
  }
}

}  // namespace

std::vector<size_t> ReadingOrder(const std::vector<Quad>& quads) {
  std::vector<size_t> order;
  if (quads.empty()) return order;
  const Point right = PageDirection(quads);
  const Point down{-right.y, right.x};
  Extents extents;
  for (size_t i = 0; i < quads.size(); ++i) {
    Extent extent{i, 0, 0, 0, 0};
    for (size_t corner = 0; corner < 4; ++corner) {
      const float x = Dot(quads[i][corner], right);
      const float y = Dot(quads[i][corner], down);
      extent.left = corner == 0 ? x : std::min(extent.left, x);
      extent.right = corner == 0 ? x : std::max(extent.right, x);
      extent.top = corner == 0 ? y : std::min(extent.top, y);
      extent.bottom = corner == 0 ? y : std::max(extent.bottom, y);
    }
    extents.push_back(extent);
  }
  Append(extents, &order);
  return order;
}

}  // namespace ocr
