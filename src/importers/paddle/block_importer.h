// One block of a ProgramDesc turned into a block of a Program: variables become values of single-assignment form.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "importer/op_converter.h"
#include "importers/paddle/converter.h"
#include "importers/paddle/program_desc.h"

namespace wherry::paddle {

// What the blocks of one program share.
struct ProgramState {
  const ProgramDesc& program;
  std::string model;  // the file and its format, for messages
  ProgramBuilder builder;
  OpConverter converter;
  std::unordered_map<std::string, std::string> params;  // variable -> weight
  std::vector<bool> block_used;
  ValueNotes notes;
};

// Not thread-safe. A child block is imported while its owner's import stands at the owning operator.
class BlockImporter {
 public:
  // `parent` null: the main block.
  BlockImporter(ProgramState* state, int index, BlockBuilder* block, BlockImporter* parent)
      : state_(*state),
        desc_(state->program.blocks[static_cast<size_t>(index)]),
        index_(index),
        block_(*block),
        parent_(parent) {}

  // Makes the main block's inputs of its feed operators.
  void AddFeeds();
  void ImportOps();
  // Makes the main block's outputs of its fetch operators.
  void SetFetches();

  // The value that a variable has now; empty if it has none. One of an outer block is captured.
  std::string Find(const std::string& variable);

 private:
  // A conditional_block whose results a select_input chooses later.
  struct Conditional {
    std::string cond;
    BlockBuilder* block;
    std::map<std::string, std::string> results;  // variable -> value in that block
    bool merged = false;                         // into an `if`
  };

  void NoteOneSequence(const std::string& variable);
  void ImportOp(const OperatorDesc& desc);
  void ImportWhile(const OperatorDesc& desc);
  // Whether a variable that a loop's body writes is read neither before that nor after the loop: its value before,
  // which may be a placeholder of another type, is of no interest then.
  bool IsOfOneIteration(const std::string& variable, const BlockDesc& body) const;
  // Error(kCorrupt) if a block wrote a variable that an outer block had set and that is none of these.
  void CheckWrites(const BlockImporter& child, const std::set<std::string>& known) const;
  void ImportConditional(const OperatorDesc& desc, OpContext* context);
  void ImportSelect(const OperatorDesc& desc, OpContext* context);
  void MergeBranches(Conditional* yes, Conditional* no, const std::string& label);
  // Notes what is not supported in the blocks of an operator that is not supported itself.
  void ScanBlocks(const OperatorDesc& desc);
  int TakeBlock(const OperatorDesc& desc);
  // With values for the variables that it reads. Error if one has none.
  ForeignOp Resolved(const OperatorDesc& desc);
  void TakeResults(const OpContext& context);
  const VarDesc* FindVar(const std::string& name) const;
  std::optional<int> DeclaredRank(const std::string& name) const;
  MetaTensor DeclaredMeta(const std::string& name) const;
  int Depth() const { return parent_ == nullptr ? 0 : parent_->Depth() + 1; }

  ProgramState& state_;
  const BlockDesc& desc_;
  int index_;
  BlockBuilder& block_;
  BlockImporter* parent_;
  std::unordered_map<std::string, std::string> values_;   // variable -> value
  std::unordered_map<std::string, std::string> dropped_;  // variable -> the operator whose result nobody may use
  std::vector<Conditional> conditionals_;
  std::unordered_map<std::string, size_t> conditional_of_;               // variable -> index into conditionals_
  std::map<std::pair<std::string, std::string>, std::string> selected_;  // (variable if false, if true) -> value
  std::unordered_map<std::string, std::pair<std::string, std::string>>
      origins_;                                 // value -> (logical_not or cast, its operand)
  std::multimap<std::string, size_t> selects_;  // the variable chosen if true -> select_input's place in the block
  size_t position_ = 0;                         // of the operator that is being imported
};

}  // namespace wherry::paddle
