#include "pass/report.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "wherry/text.h"

namespace wherry {

std::string OptimizeReport::DebugString() const {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2);
  for (const PassReport& pass : passes) {
    out << std::left << std::setw(40) << pass.name << std::right;
    if (!pass.ran) {
      out << " skipped: " << pass.skipped_because << "\n";
      continue;
    }
    out << std::setw(9) << pass.milliseconds << " ms";
    if (pass.matches > 0) out << "  " << pass.matches << (pass.matches == 1 ? " match" : " matches");
    if (pass.changed) {
      out << "  changed";
      if (pass.stmts_before != pass.stmts_after)
        out << ", " << pass.stmts_before << " -> " << pass.stmts_after << " ops";
    }
    out << "\n";
    for (const std::string& note : pass.notes) out << "    " << Printable(note, note.size()) << "\n";
  }
  return out.str() + Totals();
}

std::string OptimizeReport::Summary() const {
  std::string text = Totals();
  for (const PassReport& pass : passes) {
    for (const std::string& line : pass.headlines) text += Printable(line, line.size()) + "\n";
  }
  return text;
}

std::string OptimizeReport::Totals() const {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1);
  if (!passes.empty()) out << passes.front().stmts_before << " -> " << passes.back().stmts_after << " ops in ";
  out << milliseconds << " ms; "
      << std::count_if(passes.begin(), passes.end(), [](const PassReport& pass) { return pass.changed; }) << " of "
      << passes.size() << " passes changed something";
  const auto skipped = std::count_if(passes.begin(), passes.end(), [](const PassReport& pass) { return !pass.ran; });
  if (skipped > 0) out << ", " << skipped << " skipped";
  out << "\n";
  return out.str();
}

}  // namespace wherry
