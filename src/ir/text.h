// The text form of programs, .wir: prints and parses exactly.
//
//   weight %w : f32[2,2] = [1, 2, 3, 4]
//   weight %big : f32[64,64] = base64"..."           (or, printed for people: = {...})
//   block main(%x : f32[N,2]) -> (%y) {
//     %t = mul(x: %x, y: %w) {x_num_col_dims = 1} : f32[N,2]
//     (out: [%a, %b]) = split(x: %t) {sections = [1, 1], axis = 1} : f32[N,1], f32[N,1]
//     %y = if(cond: %c, captures: [%a, %b]) blocks(then, else) @"label" #cpu:if:gemm/x86/f32/nchw alias(%t) : f32[N,2]
//   }
// Attributes that equal the schema's default are left out. Names that are not [A-Za-z0-9_./:-]+ are quoted: %"a b".
// Comments start with //. See docs/design/ir.md for the grammar.
#pragma once

#include <string>
#include <string_view>

#include "ir/program.h"

namespace wherry {

struct PrintOptions {
  bool weights = true;  // print weights at all
  // All weight data (base64 beyond 64 elements) and metadata, weights first; false, for people: weights last, and {...}
  // beyond 8 elements or 200 bytes.
  bool exact_weights = true;
  bool types = true;  // ": f32[N,2]" after each op
  bool picks = true;  // "#provider:variant/key"
};
std::string PrintProgram(const Program& program, const PrintOptions& options = {});

// Error(kInvalidArgument) with line and column. Ops are validated against their schemas; the result passes
// VerifyProgram. `weights` are all of them when the text has no weight lines, else those whose data it leaves out
// ({...}). Metadata that it leaves out is not there.
Program ParseProgram(std::string_view text, WeightTable weights = {});

}  // namespace wherry
