#include "pass/report.h"
#include "wherry/text.h"

#include <iomanip>
#include <sstream>

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
  out << "total " << milliseconds << " ms\n";
  return out.str();
}

}  // namespace wherry
