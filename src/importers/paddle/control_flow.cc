// Control flow of ProgramDesc: `while`, which carries the variables of outer blocks that its block writes, and `if`.
// Paddle writes an if as two conditional blocks and a choice for every result:
//
//   conditional_block(Cond: c; sub_block) -> t      conditional_block(Cond: logical_not(c); sub_block) -> f
//   select_input(X: [f, t], Mask: cast(c)) -> out
//
// The blocks are imported where they stand; the first select_input makes the `if` of both.
#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/strings.h"
#include "importer/apply_rule.h"
#include "importers/paddle/block_importer.h"
#include "op/control_flow.h"

namespace wherry::paddle {

int BlockImporter::TakeBlock(const OperatorDesc& desc) {
  const auto it = desc.blocks.find("sub_block");
  WHERRY_ENFORCE(it != desc.blocks.end() && it->second.size() == 1, kCorrupt, Describe(desc.op),
                 " has no attribute sub_block");
  const int64_t child = it->second[0];
  // Each block is used once and lies after its owner, so a file cannot make the import walk in circles or grow without
  // bound.
  WHERRY_ENFORCE(child > index_ && child < static_cast<int64_t>(state_.program.blocks.size()), kCorrupt,
                 Describe(desc.op), " owns block ", child, " of ", state_.program.blocks.size(),
                 ", which must be one after its own");
  WHERRY_ENFORCE(!state_.block_used[static_cast<size_t>(child)], kCorrupt, "block ", child,
                 " belongs to two operators, the second is ", Describe(desc.op));
  state_.block_used[static_cast<size_t>(child)] = true;
  return static_cast<int>(child);
}

void BlockImporter::ScanBlocks(const OperatorDesc& desc) {
  // A list, not recursion: a file may nest as deep as it has blocks.
  std::vector<const OperatorDesc*> owners = {&desc};
  while (!owners.empty()) {
    const OperatorDesc& owner = *owners.back();
    owners.pop_back();
    for (const auto& [name, blocks] : owner.blocks) {
      for (const int64_t child : blocks) {
        const bool exists = child > 0 && child < static_cast<int64_t>(state_.program.blocks.size());
        if (!exists || state_.block_used[static_cast<size_t>(child)]) continue;
        state_.block_used[static_cast<size_t>(child)] = true;
        for (const OperatorDesc& inner : state_.program.blocks[static_cast<size_t>(child)].ops) {
          const bool known = inner.op.type == "conditional_block" || inner.op.type == "select_input" ||
                             inner.op.type == "while" || IsConvertible(inner.op);
          if (!known) state_.converter.unsupported().Add(inner.op);
          owners.push_back(&inner);
        }
      }
    }
  }
}

bool BlockImporter::IsOfOneIteration(const std::string& variable, const BlockDesc& body) const {
  const auto names = [&variable](const std::vector<ForeignOp::Slot>& slots) {
    return std::any_of(slots.begin(), slots.end(), [&](const ForeignOp::Slot& slot) {
      return std::find(slot.values.begin(), slot.values.end(), variable) != slot.values.end();
    });
  };
  if (desc_.vars.count(variable) == 0) return false;  // who else uses it is not known
  for (const OperatorDesc& inner : body.ops) {
    if (names(inner.op.inputs)) return false;
    if (!names(inner.op.outputs)) continue;
    // Those write a part, or not always.
    if (inner.op.type == "write_to_array" || !inner.blocks.empty()) return false;
    break;
  }
  return std::none_of(desc_.ops.begin() + static_cast<std::ptrdiff_t>(position_) + 1, desc_.ops.end(),
                      [&](const OperatorDesc& later) { return names(later.op.inputs); });
}

void BlockImporter::CheckWrites(const BlockImporter& child, const std::set<std::string>& known) const {
  for (const auto& [variable, value] : child.values_) {
    if (known.count(variable) != 0 || child.desc_.vars.count(variable) != 0) continue;
    for (const BlockImporter* outer = this; outer != nullptr; outer = outer->parent_) {
      WHERRY_ENFORCE(outer->values_.count(variable) == 0, kCorrupt, "its block writes ", Quote(variable),
                     " of an outer block, which is not among the outputs");
    }
  }
}

void BlockImporter::ImportWhile(const OperatorDesc& desc) {
  const ForeignOp::Slot* const slot = desc.op.FindInput("Condition");
  WHERRY_ENFORCE(slot != nullptr && slot->values.size() == 1, kCorrupt, "input Condition is not one variable");
  const std::string& cond_variable = slot->values[0];
  const std::string cond = Find(cond_variable);
  WHERRY_ENFORCE(!cond.empty(), kCorrupt, "it reads variable ", Quote(cond_variable),
                 ", which no operator before it sets");
  const int child = TakeBlock(desc);
  const BlockDesc& body_desc = state_.program.blocks[static_cast<size_t>(child)];
  std::vector<std::string> variables;
  std::vector<std::string> carried;
  std::vector<MetaTensor> types;
  std::set<std::string> seen;
  for (const OperatorDesc& inner : body_desc.ops) {
    for (const ForeignOp::Slot& output : inner.op.outputs) {
      for (const std::string& variable : output.values) {
        if (variable.empty() || body_desc.vars.count(variable) != 0 || !seen.insert(variable).second) continue;
        std::string before = Find(variable);
        const VarDesc* const var = FindVar(variable);
        if (before.empty() && var != nullptr && var->type == VarDesc::kTensorArray) {
          before = block_.Add(OpDesc("sequence_construct"), {variable})[0];
        }
        if (before.empty() || (variable != cond_variable && IsOfOneIteration(variable, body_desc))) continue;
        variables.push_back(variable);
        carried.push_back(before);
        types.push_back(block_.Meta(before));
      }
    }
  }
  const std::vector<bool> used = state_.block_used;
  BlockBuilder& body = state_.builder.NewLoopBody(block_.Meta(cond), types, [&](BlockBuilder* block) {
    state_.block_used = used;
    BlockImporter importer(&state_, child, block, this);
    for (size_t i = 0; i < variables.size(); ++i) {
      importer.values_[variables[i]] = block->inputs()[kLoopLeadingInputs + i];
    }
    importer.ImportOps();
    CheckWrites(importer, seen);
    std::vector<std::string> outputs = {importer.Find(cond_variable)};
    for (const std::string& variable : variables) outputs.push_back(importer.Find(variable));
    block->SetOutputs(std::move(outputs));
    return state_.converter.unsupported().empty();
  });
  const std::vector<std::string> results = block_.AddLoop("", cond, carried, &body, variables, "");
  for (size_t i = 0; i < variables.size(); ++i) values_[variables[i]] = results[i];
}

void BlockImporter::ImportConditional(const OperatorDesc& desc, OpContext* context) {
  const auto variable = [&](const char* param) -> const ForeignOp::Slot& {
    const ForeignOp::Slot* slot = desc.op.FindInput(param);
    WHERRY_ENFORCE(slot != nullptr && slot->values.size() == 1, kCorrupt, "input ", param, " is not one variable");
    return *slot;
  };
  const std::string cond = Find(variable("Cond").values[0]);
  WHERRY_ENFORCE(!cond.empty(), kCorrupt, "it reads variable ", Quote(variable("Cond").values[0]),
                 ", which no operator before it sets");
  const int child = TakeBlock(desc);
  BlockBuilder& body = state_.builder.NewBlock();
  BlockImporter importer(&state_, child, &body, this);
  importer.ImportOps();

  std::vector<std::string> outs;
  if (const ForeignOp::Slot* slot = desc.op.FindOutput("Out")) outs = slot->values;
  // Absent ones keep their places, by which results are bound.
  const bool has_before = !outs.empty() && std::all_of(outs.begin(), outs.end(), [&](const std::string& out) {
    return out.empty() || !Find(out).empty();
  });
  CheckWrites(importer, {outs.begin(), outs.end()});
  Conditional conditional{cond, &body, {}};
  for (const std::string& out : outs) {
    const std::string value = importer.Find(out);
    // A result that the block does not set may be one that nobody reads.
    if (!value.empty()) conditional.results[out] = value;
  }
  if (!has_before) {
    for (const auto& [out, value] : conditional.results) {
      const std::string before = Find(out);
      WHERRY_ENFORCE(before.empty() || before == value, kUnsupported, "its block writes ", Quote(out),
                     ", which had a value, and others that had none");
    }
    for (const auto& [out, value] : conditional.results) conditional_of_[out] = conditionals_.size();
    for (const std::string& out : outs) dropped_.emplace(out, Describe(desc.op));
    conditionals_.push_back(std::move(conditional));
    return;
  }
  // Without a second block, variables keep what they had.
  BlockBuilder& otherwise = state_.builder.NewBlock();
  std::vector<std::string> yes;
  std::vector<std::string> no;
  for (const std::string& out : outs) {
    if (out.empty()) continue;
    yes.push_back(conditional.results.at(out));
    no.push_back(Find(out));
    otherwise.Capture(block_, no.back());
  }
  body.SetOutputs(yes);
  otherwise.SetOutputs(no);
  std::vector<std::string> stems = outs;
  std::erase(stems, "");
  const std::vector<std::string> results = block_.AddIf(cond, &body, &otherwise, stems, "");
  size_t taken = 0;
  for (size_t i = 0; i < outs.size(); ++i) {
    if (!outs[i].empty()) context->Result({"Out"}, results[taken++], i);
  }
}

void BlockImporter::ImportSelect(const OperatorDesc& desc, OpContext* context) {
  const ForeignOp::Slot* choices = desc.op.FindInput("X");
  const ForeignOp::Slot* mask = desc.op.FindInput("Mask");
  WHERRY_ENFORCE(choices != nullptr && choices->values.size() == 2 && mask != nullptr && mask->values.size() == 1,
                 kCorrupt, "it does not have two inputs X and one Mask");
  const std::pair<std::string, std::string> pair{choices->values[0], choices->values[1]};
  if (selected_.count(pair) == 0) {
    const auto no = conditional_of_.find(pair.first);
    const auto yes = conditional_of_.find(pair.second);
    const auto chosen_by = origins_.find(Find(mask->values[0]));
    WHERRY_ENFORCE(no != conditional_of_.end() && yes != conditional_of_.end() && chosen_by != origins_.end(),
                   kUnsupported, "it does not choose between two conditional blocks");
    Conditional& taken = conditionals_[yes->second];
    Conditional& other = conditionals_[no->second];
    const auto negated = origins_.find(other.cond);
    WHERRY_ENFORCE(chosen_by->second == std::make_pair(std::string("cast"), taken.cond) && negated != origins_.end() &&
                       negated->second == std::make_pair(std::string("logical_not"), taken.cond),
                   kUnsupported, "the conditions of the blocks that it chooses between are not each other's opposite");
    MergeBranches(&taken, &other,
                  desc.op.outputs.empty() || desc.op.outputs[0].values.empty() ? "" : desc.op.outputs[0].values[0]);
  }
  context->Result({"Out"}, selected_.at(pair));
}

void BlockImporter::MergeBranches(Conditional* yes, Conditional* no, const std::string& label) {
  WHERRY_ENFORCE(!yes->merged && !no->merged, kUnsupported, "a block is chosen against several others");
  yes->merged = no->merged = true;
  const auto choices_of = [](const ForeignOp& op) -> const std::vector<std::string>* {
    const ForeignOp::Slot* choices = op.type == "select_input" ? op.FindInput("X") : nullptr;
    return choices == nullptr || choices->values.size() != 2 ? nullptr : &choices->values;
  };
  if (selects_.empty()) {
    for (size_t i = 0; i < desc_.ops.size(); ++i) {
      if (const auto* choices = choices_of(desc_.ops[i].op)) selects_.emplace((*choices)[1], i);
    }
  }
  // All choices between these two blocks, from here on.
  std::set<size_t> places;
  for (const auto& [variable, value] : yes->results) {
    const auto [begin, end] = selects_.equal_range(variable);
    for (auto it = begin; it != end; ++it) {
      if (it->second >= position_) places.insert(it->second);
    }
  }
  std::vector<std::string> stems;
  std::vector<std::string> yes_values;
  std::vector<std::string> no_values;
  std::map<std::pair<std::string, std::string>, size_t> pairs;  // -> its place in those
  for (const size_t place : places) {
    const ForeignOp& op = desc_.ops[place].op;
    const std::vector<std::string>& choices = *choices_of(op);
    const auto no_value = no->results.find(choices[0]);
    if (no_value == no->results.end() || !pairs.emplace(std::make_pair(choices[0], choices[1]), stems.size()).second)
      continue;
    stems.push_back(op.outputs.empty() || op.outputs[0].values.empty() ? "selected" : op.outputs[0].values[0]);
    yes_values.push_back(yes->results.at(choices[1]));
    no_values.push_back(no_value->second);
  }
  yes->block->SetOutputs(yes_values);
  no->block->SetOutputs(no_values);
  const std::vector<std::string> results = block_.AddIf(yes->cond, yes->block, no->block, stems, label);
  for (const auto& [pair, i] : pairs) selected_[pair] = results[i];
}

}  // namespace wherry::paddle
