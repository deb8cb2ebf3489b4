#include "graph_fuzz/generators.h"

#include <algorithm>
#include <set>

namespace wherry::graph_fuzz {

namespace {

const std::vector<Generator>& AllGenerators() {
  static const std::vector<Generator> all = [] {
    std::vector<Generator> generators;
    for (const auto family :
         {ElementwiseGenerators(), NetworkGenerators(), ShapeGenerators(), FlowGenerators(), MotifGenerators()}) {
      generators.insert(generators.end(), family.begin(), family.end());
    }
    return generators;
  }();
  return all;
}

// An op once more, with the same arguments.
void Duplicate(ProgramWriter* writer) {
  if (writer->block().ops.empty()) return;
  const OpDesc original = writer->random().PickFrom(writer->block().ops);
  if (!original.blocks().empty()) return;
  OpDesc op = original;
  for (const auto& [param, names] : original.outputs()) op.SetOutput(param, {});
  writer->Add(std::move(op));
}

// Everything that nothing reads (but for what is to be dead), some values that are read, now and then an input or a
// weight, and one of them twice.
void ChooseOutputs(ProgramWriter* writer) {
  Random& random = writer->random();
  Block& block = writer->block();
  std::set<std::string> read;
  for (const OpDesc& op : block.ops) {
    for (const auto& [param, names] : op.inputs()) read.insert(names.begin(), names.end());
  }
  for (const OpDesc& op : block.ops) {
    for (const auto& [param, names] : op.outputs()) {
      for (const std::string& name : names) {
        if (read.count(name) != 0 ? random.OneIn(10) : !random.OneIn(8)) block.outputs.push_back(name);
      }
    }
  }
  const std::vector<std::string> values = writer->Values([](const MetaTensor&) { return true; });
  if (block.outputs.empty() || random.OneIn(25)) block.outputs.push_back(random.PickFrom(values));
  if (random.OneIn(30)) block.outputs.push_back(random.PickFrom(block.outputs));
  for (size_t i = 0; i < block.outputs.size(); ++i) block.output_names.push_back("y" + std::to_string(i));
}

// Numbers of the inputs' shapes become symbols: all that are equal, or one alone. What cannot be inferred then stays as
// it is.
void MakeSymbolic(Program* program, Random* random) {
  Program symbolic = program->Clone();
  symbolic.symbols = std::make_shared<SymbolTable>();
  const auto chosen = static_cast<int64_t>(1 + random->Below(5));
  const bool all = random->OneIn(2);
  Block& block = symbolic.main();
  for (size_t i = 0; i < block.inputs.size(); ++i) {
    for (Dim& dim : block.values.at(block.inputs[i]).dims) {
      if (dim != Dim(chosen) || !(all || random->OneIn(3))) continue;
      dim = symbolic.symbols->Symbol(all ? "N" + std::to_string(chosen)
                                         : std::string(1, static_cast<char>('A' + i % 26)) + std::to_string(chosen));
    }
  }
  try {
    InferProgram(&symbolic);
  } catch (const Error&) {
    return;
  }
  *program = std::move(symbolic);
}

}  // namespace

void AddSomething(ProgramWriter* writer) {
  const std::vector<Generator>& all = AllGenerators();
  int total = 0;
  for (const Generator& generator : all) total += generator.weight;
  auto at = static_cast<int>(writer->random().Below(static_cast<size_t>(total)));
  for (const Generator& generator : all) {
    at -= generator.weight;
    if (at < 0) return generator.add(writer);
  }
}

Program MakeProgram(uint64_t seed) {
  Random random(seed);
  Program program;
  ProgramWriter writer(&program, 0, &random);
  const size_t steps = 1 + random.Below(random.OneIn(10) ? 20 : 7);
  writer.NewInput(DataType::kFloat, writer.AnyDims(1, 4));
  for (size_t i = 0; i < steps; ++i) {
    AddSomething(&writer);
    if (random.OneIn(10)) Duplicate(&writer);
  }
  ChooseOutputs(&writer);
  if (random.OneIn(3)) MakeSymbolic(&program, &random);
  return program;
}

}  // namespace wherry::graph_fuzz
