// Control flow with captures: blocks are written by the same generators as the program around them.
#include "graph_fuzz/generators.h"

namespace wherry::graph_fuzz {

namespace {

constexpr size_t kMostBlocks = 9;

std::string Scalar0(ProgramWriter* writer, DataType dtype, int low, int high) {
  return writer->random().OneIn(2) ? writer->NewWeight(dtype, {}, low, high) : writer->NewInput(dtype, {}, low, high);
}

// A value of x's type and shape, by an op that keeps them.
std::string Same(ProgramWriter* writer, const std::string& x) {
  static constexpr const char* kUnary[] = {"relu", "tanh", "neg", "assign", "sigmoid"};
  Random& random = writer->random();
  const MetaTensor type = writer->TypeOf(x).WithoutValues();
  const std::string other =
      writer->Existing([&](const MetaTensor& candidate) { return candidate.WithoutValues() == type; });
  const std::string result = random.OneIn(2) ? writer->Add("add", {{"x", {x}}, {"y", {other}}})
                                             : writer->Add(random.Pick(kUnary), {{"x", {x}}});
  return result.empty() ? x : result;
}

std::vector<std::string> SomeValues(ProgramWriter* writer, size_t count) {
  std::vector<std::string> values;
  for (size_t i = 0; i < count; ++i) {
    const std::string value =
        writer->Existing([](const MetaTensor& type) { return type.dtype == DataType::kFloat && type.rank() < 5; });
    if (!value.empty()) values.push_back(value);
  }
  return values;
}

void AddIf(ProgramWriter* writer) {
  Program& program = writer->program();
  Random& random = writer->random();
  if (program.blocks.size() + 2 > kMostBlocks) return;
  const std::string x = writer->Any(DataType::kFloat, 0, 4);
  std::vector<std::string> captures = {x};
  for (const std::string& value : SomeValues(writer, random.Below(3))) captures.push_back(value);
  const auto first = static_cast<int>(program.blocks.size());
  program.blocks.resize(program.blocks.size() + 2);
  for (const size_t branch : {0U, 1U}) {
    ProgramWriter inner(&program, static_cast<size_t>(first) + branch, &random);
    std::vector<std::string> inputs;
    for (const std::string& capture : captures) inputs.push_back(inner.NewCapture(writer->TypeOf(capture)));
    for (size_t i = random.Below(3); i > 0; --i) AddSomething(&inner);
    inner.block().outputs = {random.OneIn(6) ? inputs[0] : Same(&inner, inputs[0])};
  }
  std::string condition = Scalar0(writer, DataType::kBool, 0, 1);
  if (random.OneIn(3)) {
    const std::string mean = writer->Add("mean", {{"x", {x}}});
    condition = writer->Add("greater_than", {{"x", {mean}}, {"y", {writer->NewWeight(DataType::kFloat, {}, 0, 0)}}});
  }
  if (condition.empty()) condition = Scalar0(writer, DataType::kBool, 0, 1);
  OpDesc op("if");
  op.SetInput("cond", {condition});
  op.SetInput("captures", captures);
  op.SetBlocks({first, first + 1});
  writer->AddFlow(std::move(op), "out", {writer->TypeOf(x).WithoutValues()});
}

void AddLoop(ProgramWriter* writer) {
  Program& program = writer->program();
  Random& random = writer->random();
  if (program.blocks.size() + 1 > kMostBlocks) return;
  const std::string x = writer->Any(DataType::kFloat, 0, 3);
  const std::vector<std::string> captures = SomeValues(writer, random.Below(3));
  const auto index = static_cast<int>(program.blocks.size());
  program.blocks.emplace_back();
  ProgramWriter inner(&program, static_cast<size_t>(index), &random);
  inner.NewCapture(MetaTensor(DataType::kInt64, {}));
  const std::string condition = inner.NewCapture(MetaTensor(DataType::kBool, {}));
  const std::string carried = inner.NewCapture(writer->TypeOf(x));
  for (const std::string& capture : captures) inner.NewCapture(writer->TypeOf(capture));
  for (size_t i = random.Below(3); i > 0; --i) AddSomething(&inner);
  const std::string next = Same(&inner, carried);
  inner.block().outputs = {condition, next};
  const bool scans = random.OneIn(2);
  if (scans) inner.block().outputs.push_back(random.OneIn(2) ? next : carried);
  OpDesc op("loop");
  op.SetInput("trip_count", {Scalar0(writer, DataType::kInt64, 0, 3)});
  op.SetInput("carried", {x});
  op.SetInput("captures", captures);
  op.SetBlocks({index});
  if (scans) op.SetOutput("scans", {x + ".scan" + std::to_string(index)});
  writer->AddFlow(std::move(op), "finals", {writer->TypeOf(x).WithoutValues()});
}

constexpr Generator kGenerators[] = {{"if", 3, AddIf}, {"loop", 3, AddLoop}};

}  // namespace

std::span<const Generator> FlowGenerators() { return kGenerators; }

}  // namespace wherry::graph_fuzz
