// What others wrote down, taken as it is or changed a little: the cases of ops/*.yaml, which cover every operator, and
// the inputs of the passes' golden tests, which are the patterns that fusions look for. A new pass or operator is
// fuzzed without a line here.
#include <algorithm>
#include <fstream>

#include "conformance/case.h"
#include "conformance/make_tensor.h"
#include "graph_fuzz/data.h"
#include "graph_fuzz/generators.h"
#include "ir/text.h"
#include "passes/golden.h"

namespace wherry::graph_fuzz {

namespace {

using conformance::CaseArg;
using conformance::CaseTensor;

std::string TensorOfCase(ProgramWriter* writer, const CaseTensor& spec) {
  Random& random = writer->random();
  const Dims dims(spec.shape.begin(), spec.shape.end());
  const bool any_numbers = spec.values.empty() && spec.low > spec.high && IsFloating(spec.dtype);
  if (any_numbers && !random.OneIn(3)) return writer->Like(spec.dtype, dims);
  const bool whole =
      spec.low <= spec.high && spec.low == static_cast<int>(spec.low) && spec.high == static_cast<int>(spec.high);
  if (spec.values.empty() && whole && random.OneIn(2)) {
    return writer->NewInput(spec.dtype, dims, static_cast<int>(spec.low), static_cast<int>(spec.high));
  }
  return writer->NewWeight(conformance::MakeTensor(spec, random.Below(1000)));
}

void AddCase(ProgramWriter* writer) {
  constexpr int64_t kMostElements = 2000;
  Random& random = writer->random();
  const auto all = conformance::AllCases();
  const conformance::OpCases& op_cases = all[random.Below(all.size())];
  if (op_cases.cases.empty()) return;
  const conformance::Case& chosen = op_cases.cases[random.Below(op_cases.cases.size())];
  OpDesc op(op_cases.op->name);
  for (const CaseArg& arg : chosen.args) {
    const ArgDef& def = op_cases.op->args[static_cast<size_t>(arg.arg)];
    if (arg.attribute != nullptr) op.SetAttribute(def.name, ParseAttribute(def.type, arg.attribute));
    std::vector<std::string> names;
    for (const CaseTensor& spec : arg.tensors) {
      int64_t elements = 1;
      for (const int64_t dim : spec.shape)
        elements = std::min(kMostElements + 1, elements * std::min(dim, kMostElements + 1));
      if (elements > kMostElements || spec.dtype > DataType::kFP64) return;
      names.push_back(TensorOfCase(writer, spec));
    }
    if (!names.empty()) op.SetInput(def.name, names);
  }
  writer->Add(std::move(op));
}

// Goldens of one block, with ops in it.
const std::vector<Program>& Motifs() {
  static const std::vector<Program> motifs = [] {
    std::vector<Program> programs;
    for (const std::string& file : golden::Files()) {
      for (const golden::Case& test : golden::ReadCases(file)) {
        Program program = ParseProgram(test.input);
        if (program.blocks.size() == 1 && !program.main().ops.empty()) programs.push_back(std::move(program));
      }
    }
    return programs;
  }();
  return motifs;
}

// The motif's shape with numbers for its symbols.
Dims NumbersFor(const MetaTensor& type, int64_t symbol) {
  Dims dims;
  for (const Dim& dim : type.dims) {
    SymbolValues values;
    for (const std::string& name : SymbolsOf(dim)) values[name] = symbol;
    dims.push_back(*Evaluate(dim, values));
  }
  return dims;
}

// One attribute that is a number, or two operands, changed; the op may then be refused.
void Change(OpDesc* op, Random* random) {
  if (random->OneIn(2) && op->HasInput("x") && op->HasInput("y")) {
    const std::vector<std::string> x = op->Input("x");
    op->SetInput("x", op->Input("y"));
    op->SetInput("y", x);
    return;
  }
  std::vector<std::string> numbers;
  for (const auto& [name, value] : op->attrs()) {
    if (TypeOf(value) == AttrType::kInt || TypeOf(value) == AttrType::kFloat || TypeOf(value) == AttrType::kBool)
      numbers.push_back(name);
  }
  if (numbers.empty()) return;
  const std::string name = random->PickFrom(numbers);
  const Attribute value = op->attrs().at(name);
  if (const auto* flag = std::get_if<bool>(&value)) op->SetAttribute(name, !*flag);
  if (const auto* whole = std::get_if<int64_t>(&value)) op->SetAttribute(name, *whole + (random->OneIn(2) ? 1 : -1));
  if (const auto* real = std::get_if<double>(&value)) op->SetAttribute(name, *real * 1.25);
}

void AddMotif(ProgramWriter* writer) {
  Random& random = writer->random();
  const Program& motif = Motifs()[random.Below(Motifs().size())];
  const bool exact = random.OneIn(3);
  const auto now_and_then = [&] { return !exact && random.OneIn(12); };
  const int64_t symbol = writer->AnyDim();
  std::map<std::string, std::string> names;
  for (const std::string& input : motif.main().inputs) {
    const MetaTensor& type = motif.main().values.at(input);
    if (!type.rank_known || SizeOf(type.dtype) == 0) return;
    const Dims dims = NumbersFor(type, symbol);
    names[input] = IsFloating(type.dtype) ? writer->Like(type.dtype, dims) : writer->NewInput(type.dtype, dims, 0, 1);
  }
  for (const auto& [name, weight] : motif.weights) {
    if (weight.layout() != DataLayout::kNCHW) return;
    const Dims dims = weight.shape().vector();
    names[name] = now_and_then() && weight.dtype() == DataType::kFloat ? writer->Like(weight.dtype(), dims)
                                                                       : writer->NewWeight(weight);
  }
  for (const OpDesc& original : motif.main().ops) {
    OpDesc op = original;
    for (const auto& [param, args] : original.inputs()) {
      std::vector<std::string> renamed;
      for (const std::string& arg : args) renamed.push_back(names[arg]);
      if (std::count(renamed.begin(), renamed.end(), "") != 0) return;
      op.SetInput(param, renamed);
    }
    for (const auto& [param, results] : original.outputs()) op.SetOutput(param, {});
    if (now_and_then()) Change(&op, &random);
    const std::vector<std::string> results = writer->Add(std::move(op));
    size_t at = 0;
    for (const auto& [param, old] : original.outputs()) {
      for (const std::string& name : old) names[name] = at < results.size() ? results[at++] : "";
    }
    if (results.empty()) return;
    if (now_and_then()) writer->Add("neg", {{"x", {results[0]}}});  // a second reader
    if (now_and_then()) {
      const std::string between = writer->Add("assign", {{"x", {results[0]}}});
      for (auto& [name, value] : names) {
        if (value == results[0] && !between.empty()) value = between;
      }
    }
  }
}

constexpr Generator kGenerators[] = {{"case", 22, AddCase}, {"motif", 24, AddMotif}};

}  // namespace

std::span<const Generator> MotifGenerators() { return kGenerators; }

}  // namespace wherry::graph_fuzz
