#include "ir/svg.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <string_view>

#include "base/strings.h"
#include "ir/drawing.h"

namespace wherry {

namespace {

constexpr double kMargin = 24;
constexpr double kTitleHeight = 28;
constexpr double kFar = 500;

constexpr std::string_view kStyle = R"(
  svg { background: #fbfbfa; --ink: #22262b; --soft: #6b7280; --line: #9aa3ad; }
  text { font: 11px ui-monospace, 'DejaVu Sans Mono', monospace; text-anchor: middle; fill: var(--ink); }
  .title { font: 600 12px system-ui, sans-serif; } .detail { font-size: 10px; fill: var(--soft); }
  path { fill: none; stroke: var(--line); stroke-width: 1.2; }
  .far { stroke-dasharray: 3 5; opacity: .35; }
  rect { stroke-width: 1.2; fill: #eceef0; stroke: #aab1b9; }
  .product { fill: #dbe8fb; stroke: #5a8fd6; } .norm { fill: #e9e0f8; stroke: #9878cf; }
  .pool { fill: #d5f0ec; stroke: #45a89b; } .elementwise { fill: #def1dc; stroke: #6aac63; }
  .shape { fill: #f8ecd0; stroke: #cfa03d; } .convert { fill: #fbe0d4; stroke: #d98256; }
  .control { fill: #f8dbe6; stroke: #cc6690; } .io { fill: #ffffff; stroke: #22262b; }
  @media (prefers-color-scheme: dark) {
    svg { background: #15181c; --ink: #e6e8ea; --soft: #9aa3ad; --line: #5d6670; }
    rect { fill: #2a2f36; stroke: #5d6670; }
    .product { fill: #1c3252; stroke: #5a8fd6; } .norm { fill: #33264d; stroke: #9878cf; }
    .pool { fill: #153f3a; stroke: #45a89b; } .elementwise { fill: #203d1e; stroke: #6aac63; }
    .shape { fill: #453512; stroke: #cfa03d; } .convert { fill: #4a2818; stroke: #d98256; }
    .control { fill: #4a1f31; stroke: #cc6690; } .io { fill: #15181c; stroke: #e6e8ea; }
  }
)";

// Names come from the model: any bytes. Printable UTF-8, and nothing that XML reads as markup.
std::string XmlText(const std::string& text, size_t most = 2000) {
  const std::string quoted = Quote(text, most);
  std::string out;
  for (const char c : std::string_view(quoted).substr(1, quoted.rfind('\'') - 1)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out + (text.size() > most ? "…" : "");
}

class SvgWriter {
 public:
  std::string Run(const Program& program) {
    // Not six digits: a long program is wider or higher than a million.
    out_ << std::fixed << std::setprecision(1);
    double x = kMargin;
    double height = 0;
    for (size_t i = 0; i < program.blocks.size(); ++i) {
      const BlockDrawing drawing = DrawBlock(program, i);
      out_ << "<g transform=\"translate(" << x << ' ' << kMargin + kTitleHeight << ")\">\n";
      if (program.blocks.size() > 1)
        out_ << "<text class=\"title\" x=\"" << drawing.size.width / 2 << "\" y=\"-12\">"
             << (i == 0 ? "main" : "block" + std::to_string(i)) << "</text>\n";
      for (const DrawnEdge& edge : drawing.edges) WriteEdge(edge);
      for (const DrawnNode& node : drawing.nodes) WriteNode(program.blocks[i], node);
      out_ << "</g>\n";
      x += drawing.size.width + 2 * kMargin;
      height = std::max(height, drawing.size.height);
    }
    std::ostringstream head;
    head << std::fixed << std::setprecision(0);
    const double width = std::max(x - kMargin, 2 * kMargin);
    height += 2 * kMargin + kTitleHeight;
    head << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << std::ceil(width) << "\" height=\""
         << std::ceil(height) << "\" viewBox=\"0 0 " << std::ceil(width) << ' ' << std::ceil(height) << "\">\n<style>"
         << kStyle << "</style>\n";
    return head.str() + out_.str() + "</svg>\n";
  }

 private:
  // Straight in lanes, and in between a curve that leaves and arrives upright.
  void WriteEdge(const DrawnEdge& edge) {
    // Past many layers a line would run through what lies between: it is only hinted at.
    const bool far = edge.route.size() == 2 && edge.route[1].y - edge.route[0].y > kFar;
    out_ << (far ? "<path class=\"far\" d=\"M" : "<path d=\"M") << edge.route[0].x << ' ' << edge.route[0].y;
    for (size_t i = 1; i < edge.route.size(); ++i) {
      const LayoutPoint& from = edge.route[i - 1];
      const LayoutPoint& to = edge.route[i];
      const double middle = (from.y + to.y) / 2;
      if (from.x == to.x) {
        out_ << 'L' << to.x << ' ' << to.y;
      } else {
        out_ << 'C' << from.x << ' ' << middle << ' ' << to.x << ' ' << middle << ' ' << to.x << ' ' << to.y;
      }
    }
    out_ << "\"><title>" << XmlText(edge.value) << "</title></path>\n";
  }

  void WriteNode(const Block& block, const DrawnNode& node) {
    const bool is_op = node.kind == DrawnNode::Kind::kOp;
    const auto index = static_cast<size_t>(node.index);
    out_ << "<g><rect class=\"" << (is_op ? OpCategory(node.title) : "io") << "\" x=\""
         << node.centre.x - node.size.width / 2 << "\" y=\"" << node.centre.y - node.size.height / 2 << "\" width=\""
         << node.size.width << "\" height=\"" << node.size.height << "\" rx=\"" << (is_op ? 6 : 20) << "\"/>"
         << "<text class=\"title\" x=\"" << node.centre.x << "\" y=\"" << node.centre.y - 4 << "\">"
         << XmlText(node.title, kMostCharacters) << "</text><text class=\"detail\" x=\"" << node.centre.x << "\" y=\""
         << node.centre.y + 12 << "\">" << XmlText(node.detail, kMostCharacters) << "</text>";
    if (is_op) {
      out_ << "<title>" << XmlText(block.ops[index].DebugString());
      if (index < block.picks.size() && block.picks[index].picked())
        out_ << "\n" << XmlText(block.picks[index].provider + " " + block.picks[index].reason);
      out_ << "</title>";
    }
    out_ << "</g>\n";
  }

  std::ostringstream out_;
};

}  // namespace

std::string ToSvg(const Program& program) { return SvgWriter().Run(program); }

}  // namespace wherry
