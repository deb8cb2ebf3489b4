// The test cases of ops/*.yaml as constant data. cases.gen.cc is generated.
#pragma once

#include <cstdint>
#include <span>

#include "op/op_schema.h"

namespace wherry::conformance {

// A tensor to be made: given values, or random ones by range.
struct CaseTensor {
  DataType dtype;
  std::span<const int64_t> shape;
  double low;  // low > high: the type's default range
  double high;
  std::span<const double> values;
};

// What one argument of the schema is given.
struct CaseArg {
  int8_t arg;
  std::span<const CaseTensor> tensors;
  const char* attribute = nullptr;  // what ParseAttribute reads; null: tensors
};

struct Case {
  const char* text;  // as in the YAML, the type of a set spelled out
  std::span<const CaseArg> args;
};

// Greatest relative errors.
struct Tolerance {
  double f64;
  double f32;
  double f16;
  double bf16;
};

struct OpCases {
  const OpDescriptor* op;
  std::span<const Case> cases;
  Tolerance tolerance;
};

// Every operator that has cases, sorted by name.
std::span<const OpCases> AllCases();

}  // namespace wherry::conformance
