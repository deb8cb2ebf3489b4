// One block of a PIR program turned into a block of a Program.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "importer/op_converter.h"
#include "importers/paddle/converter.h"
#include "importers/pir/pir_program.h"

namespace wherry::pir {

// What the blocks of one program share.
struct ProgramState {
  std::string model;  // the file and its format, for messages
  ProgramBuilder builder;
  OpConverter converter;
  int blocks = 0;  // numbered in the order they are met
  std::set<std::string> inputs = {};
  std::unordered_set<int64_t> vectors = {};  // the values that are vectors
  // Tensors of values that were looked up. A vector is written once and read many times, so a short file may ask for
  // very many.
  static constexpr size_t kMostLookups = size_t{1} << 22;
  size_t lookups = 0;
  paddle::ValueNotes notes = {};
};

// Not thread-safe. A child block is imported while its owner's import stands at the owning operator.
class BlockImporter {
 public:
  // `parent` null: the main block.
  BlockImporter(ProgramState* state, const Block& desc, BlockBuilder* block, BlockImporter* parent)
      : state_(*state), desc_(desc), block_(*block), parent_(parent), number_(state->blocks++) {}

  // The weight that a parameter's value id stands for.
  void SetParameter(int64_t id, const std::string& weight) { values_[id] = {weight}; }
  void ImportOps();
  // Makes the main block's outputs of its fetch operators.
  void SetFetches();

 private:
  // The tensors that a value is: one, those of a vector (some may be empty), or none. Those of an outer block are
  // captured.
  std::vector<std::string> Find(int64_t id);
  // Of a value of an outer block that a block writes: Error(kUnsupported) if it is not one tensor.
  std::string FindWritten(int64_t id);
  void ImportOp(const Operator& op, int index);
  // Inputs, outputs, vectors and the ends of blocks, which are no computation. False for other operators.
  bool ImportStructure(const Operator& op);
  void AddData(const Operator& op);
  void ImportIf(const Operator& op, paddle::OpContext* context);
  void ImportWhile(const Operator& op, paddle::OpContext* context);
  // Values of outer blocks that operators of the blocks write, in the order in which they are met.
  static std::vector<int64_t> WrittenOutside(const std::vector<Block>& blocks);
  // Notes what is not supported in the blocks of an operator that is not supported itself.
  void Scan(const Operator& op);
  ForeignOp ToForeign(const Operator& op, int index);
  void TakeResults(const Operator& op, const ForeignOp& foreign, const paddle::OpContext& context);

  ProgramState& state_;
  const Block& desc_;
  BlockBuilder& block_;
  BlockImporter* parent_;
  int number_;
  std::unordered_map<int64_t, std::vector<std::string>> values_;
  std::vector<std::string> yielded_;
  std::map<int64_t, std::pair<std::string, std::string>> fetches_;  // column -> (name, value)
};

}  // namespace wherry::pir
