#include "graph_fuzz/reduce.h"

#include <algorithm>
#include <set>

#include "graph_fuzz/data.h"

namespace wherry::graph_fuzz {

namespace {

using Change = std::function<bool(Program*)>;  // false: not possible

// Drops ops, inputs, weights and blocks that no output needs.
void DropUnused(Program* program) {
  Block& block = program->main();
  std::set<std::string> used(block.outputs.begin(), block.outputs.end());
  std::vector<OpDesc> kept;
  for (auto op = block.ops.rbegin(); op != block.ops.rend(); ++op) {
    const bool needed = std::any_of(op->outputs().begin(), op->outputs().end(), [&](const auto& output) {
      return std::any_of(output.second.begin(), output.second.end(),
                         [&](const std::string& name) { return used.count(name) != 0; });
    });
    if (!needed) continue;
    for (const auto& [param, names] : op->inputs()) used.insert(names.begin(), names.end());
    kept.push_back(*op);
  }
  std::reverse(kept.begin(), kept.end());
  block.ops = std::move(kept);
  std::erase_if(block.inputs, [&](const std::string& name) { return used.count(name) == 0; });
  // A block that no op owns goes; those after it move up.
  for (size_t index = program->blocks.size(); index-- > 1;) {
    const bool owned = std::any_of(program->blocks.begin(), program->blocks.end(), [&](const Block& each) {
      return std::any_of(each.ops.begin(), each.ops.end(), [&](const OpDesc& op) {
        return std::count(op.blocks().begin(), op.blocks().end(), static_cast<int>(index)) != 0;
      });
    });
    if (owned) continue;
    program->blocks.erase(program->blocks.begin() + static_cast<int64_t>(index));
    for (Block& each : program->blocks) {
      for (OpDesc& op : each.ops) {
        std::vector<int> blocks = op.blocks();
        for (int& child : blocks) child -= child > static_cast<int>(index) ? 1 : 0;
        op.SetBlocks(blocks);
      }
    }
  }
  for (const Block& each : program->blocks) {
    for (const OpDesc& op : each.ops) {
      for (const auto& [param, names] : op.inputs()) used.insert(names.begin(), names.end());
    }
    used.insert(each.outputs.begin(), each.outputs.end());
  }
  std::erase_if(program->weights, [&](const auto& weight) { return used.count(weight.first) == 0; });
}

// Every use of `from` becomes one of `to`.
void Rename(Block* block, const std::string& from, const std::string& to) {
  for (OpDesc& op : block->ops) {
    const auto inputs = op.inputs();
    for (const auto& [param, args] : inputs) {
      std::vector<std::string> names = args;
      std::replace(names.begin(), names.end(), from, to);
      op.SetInput(param, names);
    }
  }
  std::replace(block->outputs.begin(), block->outputs.end(), from, to);
}

bool IsPlain(const MetaTensor& type) {
  return type.rank_known && SizeOf(type.dtype) > 0 && type.dtype <= DataType::kFP64;
}

// An op's results become inputs of the program.
bool CutOff(Program* program, size_t index) {
  Block& block = program->main();
  const OpDesc op = block.ops[index];
  for (const auto& [param, names] : op.outputs()) {
    for (const std::string& name : names) {
      const auto type = block.values.find(name);
      if (type == block.values.end() || !IsPlain(type->second)) return false;
      const std::string input = name + (IsFloating(type->second.dtype) ? ":-2:2" : ":0:2");
      block.inputs.push_back(input);
      block.values[input] = type->second.WithoutValues();
      Rename(&block, name, input);
    }
  }
  block.ops.erase(block.ops.begin() + static_cast<int64_t>(index));
  return true;
}

// An op's result becomes one of its arguments of the same type.
bool PassBy(Program* program, size_t index, size_t choice) {
  Block& block = program->main();
  const OpDesc op = block.ops[index];
  const auto type_of = [&](const std::string& name) -> MetaTensor {
    const auto type = block.values.find(name);
    if (type != block.values.end()) return type->second.WithoutValues();
    const auto weight = program->weights.find(name);
    return weight == program->weights.end() ? MetaTensor() : MetaTensor(weight->second.meta());
  };
  std::vector<std::string> args;
  for (const auto& [param, names] : op.inputs()) args.insert(args.end(), names.begin(), names.end());
  if (choice >= args.size() || op.outputs().size() != 1 || op.outputs().begin()->second.size() != 1) return false;
  const std::string result = op.outputs().begin()->second[0];
  if (type_of(args[choice]) != type_of(result)) return false;
  Rename(&block, result, args[choice]);
  block.ops.erase(block.ops.begin() + static_cast<int64_t>(index));
  return true;
}

bool KeepOutput(Program* program, size_t index) {
  Block& block = program->main();
  if (block.outputs.size() < 2) return false;
  block.outputs = {block.outputs[index]};
  block.output_names = {"y"};
  return true;
}

bool DropOutput(Program* program, size_t index) {
  Block& block = program->main();
  if (block.outputs.size() < 2) return false;
  block.outputs.erase(block.outputs.begin() + static_cast<int64_t>(index));
  if (!block.output_names.empty()) block.output_names.pop_back();
  return true;
}

// The result of an op in the middle becomes the only output.
bool EndAt(Program* program, size_t index) {
  Block& block = program->main();
  if (index + 1 >= block.ops.size()) return false;
  block.outputs = block.ops[index].outputs().begin()->second;
  block.output_names.clear();
  return !block.outputs.empty();
}

bool MakeKnown(Program* program) {
  bool any = false;
  const std::vector<DenseTensor> inputs = InputsFor(*program);
  for (size_t i = 0; i < inputs.size(); ++i) {
    MetaTensor& type = program->main().values.at(program->main().inputs[i]);
    any = any || !type.known();
    type = MetaTensor(inputs[i].meta());
  }
  return any;
}

std::vector<Change> Changes(const Program& program) {
  std::vector<Change> changes = {MakeKnown};
  for (size_t i = 0; i < program.main().outputs.size(); ++i)
    changes.emplace_back([i](Program* changed) { return KeepOutput(changed, i); });
  for (size_t i = 0; i < program.main().outputs.size(); ++i)
    changes.emplace_back([i](Program* changed) { return DropOutput(changed, i); });
  for (size_t i = 0; i < program.main().ops.size(); ++i)
    changes.emplace_back([i](Program* changed) { return EndAt(changed, i); });
  for (size_t i = program.main().ops.size(); i-- > 0;) {
    changes.emplace_back([i](Program* changed) { return CutOff(changed, i); });
    for (size_t choice = 0; choice < 3; ++choice)
      changes.emplace_back([i, choice](Program* changed) { return PassBy(changed, i, choice); });
  }
  return changes;
}

}  // namespace

Program ReduceProgram(Program program, const std::function<bool(const Program&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const Change& change : Changes(program)) {
      Program changed = program.Clone();
      try {
        if (!change(&changed)) continue;
        DropUnused(&changed);
        InferProgram(&changed);
      } catch (const Error&) {
        continue;
      }
      if (!fails(changed)) continue;
      program = std::move(changed);
      smaller = true;
      break;
    }
  }
  return program;
}

std::vector<std::string> ReduceList(std::vector<std::string> passes,
                                    const std::function<bool(const std::vector<std::string>&)>& fails) {
  for (size_t piece = passes.size() / 2; piece > 0; piece = piece > 1 ? (piece + 1) / 2 : 0) {
    for (size_t at = 0; at < passes.size();) {
      std::vector<std::string> fewer = passes;
      fewer.erase(fewer.begin() + static_cast<int64_t>(at),
                  fewer.begin() + static_cast<int64_t>(std::min(at + piece, fewer.size())));
      if (fails(fewer)) {
        passes = std::move(fewer);
      } else {
        at += piece;
      }
    }
  }
  return passes;
}

}  // namespace wherry::graph_fuzz
