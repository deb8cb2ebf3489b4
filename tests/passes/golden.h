// Golden tests of passes: src/passes/<phase>/<pass>.wir holds cases, each an input and the program expected after the
// pass.
//
//   // places: x86:float:nchw          (optional directives, before the input)
//   // before: infer_shapes_pass       (passes run first, on the input)
//   // symbols: N=2, H=7               (for the numeric comparison; others are 3)
//   // not idempotent: why
//   // not numeric: why
//   block main(...) ...
//   // ==>
//   block main(...) ...
//   // ----
//
// A case whose expected program is the input is one that the pass must leave alone.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace wherry::golden {

struct Case {
  std::string file;
  std::string pass;
  int number = 0;
  std::string directives;  // the comment lines, as they stand
  std::string input;       // text
  std::string expected;    // text; empty in a new case that is to be filled in by an update
  std::vector<Place> places;
  std::vector<std::string> before;
  SymbolValues symbols;
  bool idempotent = true;
  bool numeric = true;
};

std::vector<std::string> Files();
std::vector<Case> ReadCases(const std::string& file);
void WriteCases(const std::string& file, const std::vector<Case>& cases);

// The case's input after `before` and then the pass, `times` times.
Program Apply(const Case& test, int times);
// The largest difference of the outputs of two programs on the same random inputs, relative to the largest magnitude.
double Compare(const Case& test, Program a, Program b);

}  // namespace wherry::golden
