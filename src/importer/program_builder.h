// ProgramBuilder and BlockBuilder: how importers write a Program. Names are made unique, operators are checked against
// their schemas, and what is known about each value is inferred as they are added, so that a conversion may depend on
// ranks, types and constants.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace wherry {

class ProgramBuilder;

// One block. Made by ProgramBuilder; lives as long as that. Names passed in must be values that this block sees: its
// own, weights, and what Import() brought in.
class BlockBuilder {
 public:
  BlockBuilder(ProgramBuilder* program, int index) : program_(program), index_(index) {}
  BlockBuilder(const BlockBuilder&) = delete;
  BlockBuilder& operator=(const BlockBuilder&) = delete;

  ProgramBuilder& program() { return *program_; }
  int index() const { return index_; }

  // A new input; returns its name, `stem` or `stem`.N.
  std::string AddInput(const std::string& stem, MetaTensor meta);
  // A block that belongs to an op of this one sees weights and its inputs only: makes `value`, one of `outer`'s, an
  // input with the same name (once). Weights need none, and are left.
  void Capture(const BlockBuilder& outer, const std::string& value);
  const std::vector<std::string>& inputs() const;

  // Adds an op. The results are named after `stems`, one per output in the schema's order (a list output: as many as
  // there are stems). Returns their names. Errors as ValidateOpDesc and InferMeta, naming the op.
  std::vector<std::string> Add(OpDesc op, const std::vector<std::string>& stems);
  // The op `if`: its blocks must be complete. Both get the same inputs; each must give stems.size() results.
  std::vector<std::string> AddIf(const std::string& cond, BlockBuilder* then_block, BlockBuilder* else_block,
                                 const std::vector<std::string>& stems, const std::string& label);

  // The op `loop`. `body` must be complete: its inputs are the iteration, the condition, the carried values, captures;
  // its outputs the condition, the next carried values, and what is added to the scans. `trip_count` and `cond` may be
  // empty. The results are the carried values in the end, then the scans.
  std::vector<std::string> AddLoop(const std::string& trip_count, const std::string& cond,
                                   const std::vector<std::string>& carried, BlockBuilder* body,
                                   const std::vector<std::string>& stems, const std::string& label);

  void SetOutputs(std::vector<std::string> values, std::vector<std::string> names = {});
  const std::vector<std::string>& outputs() const;

  // Whether this block sees a value of that name.
  bool Knows(const std::string& value) const;
  // What is known; values of integer tensors are there where they could be computed. Error(kInternal) unless Knows().
  const MetaTensor& Meta(const std::string& value) const;
  // For a value of unknown rank: it has this rank, as the file says. Used for conversions only.
  void SetRank(const std::string& value, int rank);

 private:
  friend class ProgramBuilder;

  Block& block() const;
  std::vector<std::string> Define(OpDesc op, const std::vector<std::pair<std::string, size_t>>& outputs,
                                  const std::vector<std::string>& stems, std::vector<MetaTensor> metas);

  ProgramBuilder* program_;
  int index_;
  std::unordered_map<std::string, MetaTensor> metas_;
};

// Not thread-safe.
class ProgramBuilder {
 public:
  ProgramBuilder();

  BlockBuilder& main() { return *builders_[0]; }
  // Owned by this builder. To be used by exactly one op.
  BlockBuilder& NewBlock();

  // A block for a loop that carries values of these types, imported by `import`, which gets the block with its first
  // inputs (the iteration, the condition, the carried values) and sets its outputs. What is inferred about the block
  // must hold for every iteration: if the carried values have other types after one, it is imported again for more
  // general ones. `import` returns false if that is of no use, since it found what is not supported.
  BlockBuilder& NewLoopBody(const MetaTensor& cond, const std::vector<MetaTensor>& carried,
                            const std::function<bool(BlockBuilder*)>& import);

  // A weight of the model; returns its name.
  std::string AddWeight(const std::string& stem, DenseTensor tensor);
  // A weight that Finish() drops if nothing uses it. A few bytes of a file may describe a large one: all together may
  // take kMostConstantBytes and kConstantsPerByte for each byte of the files they come from, else
  // Error(kResourceExhausted).
  static constexpr size_t kMostConstantBytes = size_t{1} << 28;
  static constexpr size_t kConstantsPerByte = 8;  // a small number may be a byte in the file, and an int64 here
  void SetFileBytes(size_t bytes) { file_bytes_ = bytes; }
  std::string AddConstant(const std::string& stem, DenseTensor tensor);
  // Null unless the value is a weight or a constant.
  const DenseTensor* FindWeight(const std::string& value) const;

  // Of what a sequence holds (kSequence: sequences); kUndefined: not known. Results of control flow have that of the
  // value they come from.
  DataType ElementType(const std::string& sequence) const;
  void SetElementType(const std::string& sequence, DataType dtype) { element_types_[sequence] = dtype; }
  // Whether a sequence is an optional value of the model: one that holds at most one.
  bool IsOptional(const std::string& sequence) const { return optionals_.count(sequence) != 0; }
  void SetOptional(const std::string& sequence) { optionals_.insert(sequence); }
  // Says the same of `to` as of `from`.
  void CopyElementType(const std::string& from, const std::string& to);

  SymbolTable& symbols() { return *program_.symbols; }
  // A dimension that is known only at run time: a new symbol.
  Dim NewDim(const std::string& stem) { return program_.symbols->FreshSymbol(stem); }
  std::map<std::string, std::string>& metadata() { return program_.metadata; }
  // `stem`, or `stem`.N if that is a value or weight already.
  std::string UniqueName(const std::string& stem);

  // The program, verified. A result that is a weight, an input or there twice becomes a value of its own. Ends the
  // builder's life: nothing else may be called after it.
  Program Finish();

 private:
  friend class BlockBuilder;

  Program program_;
  std::vector<std::unique_ptr<BlockBuilder>> builders_;
  int loops_ = 0;  // that are being imported
  std::unordered_map<std::string, MetaTensor> weight_metas_;
  std::unordered_map<std::string, DataType> element_types_;
  std::set<std::string> optionals_;
  std::set<std::string> constants_;
  size_t constant_bytes_ = 0;
  size_t file_bytes_ = 0;
  std::unordered_map<std::string, int> names_;  // -> the next number to try
};

}  // namespace wherry
