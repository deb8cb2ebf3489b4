// What the blocks of control flow take and give, for those who check, infer, import and run them.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "op/op_schema.h"

namespace wherry {

inline bool IsLoop(const OpSchema& schema) { return std::string_view(schema.name) == "loop"; }

// Inputs and outputs of a loop's block that come before the carried values: the iteration and the condition; the
// condition.
inline constexpr size_t kLoopLeadingInputs = 2;
inline constexpr size_t kLoopLeadingOutputs = 1;

struct BlockArity {
  size_t inputs;
  size_t outputs;
};

// Of each block of the operator. `count` says how many values are bound to an argument or output.
inline BlockArity ArityOfBlocks(const OpSchema& schema, const std::function<size_t(const char*)>& count) {
  if (!IsLoop(schema)) return {count("captures"), count(schema.outputs[0].name)};
  return {kLoopLeadingInputs + count("carried") + count("captures"),
          kLoopLeadingOutputs + count("finals") + count("scans")};
}

// Loops nested deeper than this are imported and inferred once, for any shapes: doing it again for more general ones at
// each level would take time that grows with 3 to the depth.
inline constexpr int kMostExactLoops = 3;

// The type for which a loop's block is inferred, of one carried value: at first that of the value that goes in. If an
// iteration gives another, the block is inferred again for one that holds for more.
class CarriedType {
 public:
  // `before`: the type for which the block was inferred the last time, whose symbols stand for any numbers again.
  explicit CarriedType(const MetaTensor& first, const MetaTensor& before = {})
      : type_(first.WithoutValues()), before_(before.WithoutValues()), any_(first.dims.size(), false) {}

  const MetaTensor& type() const { return type_; }
  // Whether `next`, what an iteration gives, is of this type. If not, it becomes one with any numbers in the dimensions
  // that differ, or of any rank; from the third pass on it becomes that in any case, so that few are needed.
  // Error(kInvalidArgument) when the element types differ.
  bool Admits(const MetaTensor& next, int pass, SymbolTable* symbols);
  // Any numbers in all dimensions.
  void SetAnyDims(SymbolTable* symbols);

 private:
  void SetAny(size_t dim, SymbolTable* symbols);

  MetaTensor type_;
  MetaTensor before_;
  std::vector<bool> any_;  // by dimension
};

}  // namespace wherry
