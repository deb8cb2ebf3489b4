// What the optimiser did, pass by pass: for people (text), for machines (JSON by the tools).
#pragma once

#include <string>
#include <vector>

namespace wherry {

struct PassReport {
  std::string name;
  bool ran = false;
  std::string skipped_because;  // when it did not run: "targets {arm} do not meet the valid places {x86/f32/nchw}"
  double start_ms = 0;          // since the optimiser began
  double milliseconds = 0;
  size_t stmts_before = 0;  // over all graphs
  size_t stmts_after = 0;
  bool changed = false;
  int matches = -1;                    // patterns that it replaced; -1: it looked for none
  std::vector<std::string> notes;      // the pass's own lines
  std::vector<std::string> headlines;  // those of them that a summary has too
};

struct OptimizeReport {
  std::vector<PassReport> passes;
  double milliseconds = 0;
  std::string DebugString() const;  // a table, notes indented below, and Totals()
  std::string Summary() const;      // Totals() and the passes' headlines
  std::string Totals() const;       // "352 -> 80 ops in 144.6 ms; 14 of 54 passes changed something" and a line break
};

}  // namespace wherry
