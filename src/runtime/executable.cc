#include "runtime/executable.h"

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"
#include "op/schema_registry.h"
#include "runtime/binding.h"

namespace wherry {

std::string Instruction::name() const { return desc->DisplayName(); }

namespace {

// Turns one block's names into slots and binds its kernels.
class BlockCompiler {
 public:
  BlockCompiler(const Program& program, const Block& block, std::vector<std::string>* problems,
                std::vector<std::string>* notes)
      : program_(program), block_(block), problems_(problems), notes_(notes) {}

  CompiledBlock Run(const std::vector<std::string>& watched) {
    for (const std::string& name : block_.inputs) compiled_.inputs.push_back(Slot(name));
    for (size_t i = 0; i < block_.ops.size(); ++i) CompileOp(i);
    for (const std::string& name : block_.outputs) compiled_.outputs.push_back(Slot(name));
    compiled_.output_names = block_.output_names.empty() ? block_.outputs : block_.output_names;
    for (const auto& [name, source] : block_.aliases) {
      if (slots_.count(name) != 0 && slots_.count(source) != 0)
        compiled_.slots[slots_[name]].alias = static_cast<int>(slots_[source]);
    }
    for (const std::string& name : watched) {
      if (slots_.count(name) != 0) compiled_.watched.push_back(static_cast<int>(slots_[name]));
    }
    return std::move(compiled_);
  }

 private:
  int Slot(const std::string& name) {
    const auto [it, fresh] = slots_.emplace(name, compiled_.slots.size());
    if (fresh) {
      wherry::Slot slot;
      slot.name = name;
      slot.dtype = TypeOf(name)->dtype;
      const auto weight = program_.weights.find(name);
      if (weight != program_.weights.end()) slot.weight = &weight->second;
      compiled_.slots.push_back(std::move(slot));
    }
    return static_cast<int>(it->second);
  }

  const MetaTensor* TypeOf(const std::string& name) {
    const auto known = block_.values.find(name);
    if (known != block_.values.end()) return &known->second;
    const auto weight = program_.weights.find(name);
    if (weight == program_.weights.end()) return &unknown_;
    auto [it, fresh] = weight_types_.try_emplace(name, MetaTensor(weight->second.meta()));
    if (fresh) AttachValues(weight->second, &it->second);
    return &it->second;
  }

  void CompileOp(size_t index) {
    const OpDesc& op = block_.ops[index];
    Instruction instruction;
    instruction.desc = &op;
    instruction.schema = &SchemaRegistry::Global().Get(op.Type());
    instruction.blocks = op.blocks();
    const OpSchema& schema = *instruction.schema;
    std::vector<BoundArg> bound(schema.args.size());
    for (size_t i = 0; i < schema.args.size(); ++i) {
      InstructionArg arg;
      const std::vector<std::string>& names = op.Input(schema.args[i].name);
      for (const std::string& name : names) {
        arg.slots.push_back(Slot(name));
        bound[i].tensors.push_back(TypeOf(name));
      }
      if (!names.empty() && std::all_of(names.begin(), names.end(),
                                        [this](const std::string& n) { return program_.weights.count(n) != 0; })) {
        instruction.constants.push_back(static_cast<int8_t>(i));
      }
      const auto attribute = op.attrs().find(schema.args[i].name);
      if (attribute != op.attrs().end()) arg.attribute = bound[i].attribute = &attribute->second;
      instruction.args.push_back(std::move(arg));
    }
    std::vector<const MetaTensor*> results;
    for (const OutputDef& output : schema.outputs) {
      std::vector<int>& slots = instruction.outputs.emplace_back();
      for (const std::string& name : op.Output(output.name)) {
        slots.push_back(Slot(name));
        results.push_back(TypeOf(name));
      }
    }
    if (!schema.RunByRuntime()) {
      const KernelProblem problem(schema, bound, results, instruction.constants, 1);
      const KernelPick pick = index < block_.picks.size() ? block_.picks[index] : KernelPick();
      try {
        KernelBinding binding = BindKernel(problem, bound, pick);
        instruction.kernel = binding.kernel;
        instruction.reason = binding.reason;
        if (!binding.note.empty()) notes_->push_back(StrCat(instruction.name(), ": ", binding.note));
      } catch (const Error& error) {
        problems_->push_back(StrCat(instruction.name(), ": ", error.message()));
      }
    }
    compiled_.instructions.push_back(std::move(instruction));
  }

  const Program& program_;
  const Block& block_;
  std::vector<std::string>* problems_;
  std::vector<std::string>* notes_;
  CompiledBlock compiled_;
  std::map<std::string, size_t> slots_;
  std::map<std::string, MetaTensor> weight_types_;
  const MetaTensor unknown_ = MetaTensor::UnknownRank(DataType::kUndefined);
};

bool NeedsInference(const Program& program) {
  return std::any_of(program.blocks.begin(), program.blocks.end(), [](const Block& block) {
    return std::any_of(block.ops.begin(), block.ops.end(), [&block](const OpDesc& op) {
      return std::any_of(op.outputs().begin(), op.outputs().end(), [&block](const auto& output) {
        return std::any_of(output.second.begin(), output.second.end(), [&block](const std::string& name) {
          const auto type = block.values.find(name);
          return type == block.values.end() || type->second.dtype == DataType::kUndefined;
        });
      });
    });
  });
}

}  // namespace

std::shared_ptr<const Executable> Executable::Build(Program&& program, const std::vector<std::string>& watched,
                                                    std::vector<std::string>* unsupported) {
  if (NeedsInference(program)) InferProgram(&program);
  auto executable = std::make_shared<Executable>();
  executable->program_ = std::move(program);
  std::vector<std::string> problems;
  for (size_t i = 0; i < executable->program_.blocks.size(); ++i) {
    executable->blocks_.push_back(
        BlockCompiler(executable->program_, executable->program_.blocks[i], &problems, &executable->notes_)
            .Run(i == 0 ? watched : std::vector<std::string>()));
  }
  if (unsupported != nullptr && !problems.empty()) {
    unsupported->insert(unsupported->end(), problems.begin(), problems.end());
    return nullptr;
  }
  WHERRY_ENFORCE(problems.empty(), kUnsupported, problems.size(), " op", problems.size() == 1 ? "" : "s",
                 " cannot run here: ", Join(problems, "; "));
  for (const auto& [name, tensor] : executable->program_.weights) executable->weight_bytes_ += tensor.nbytes();
  for (auto& [name, forms] : executable->program_.packed) {
    const DenseTensor& weight = executable->program_.weights.at(name);
    for (PackedWeight& packed : forms) executable->packs_.AddStored(weight, std::move(packed));
  }
  executable->program_.packed.clear();  // from now on the cache has them
  return executable;
}

const MetaTensor& Executable::InputType(size_t i) const {
  const Block& block = program_.main();
  return block.values.at(block.inputs[i]);
}

MetaTensor Executable::OutputType(size_t i) const {
  const Block& block = program_.main();
  const std::string& name = block.outputs[i];
  if (const auto type = block.values.find(name); type != block.values.end()) return type->second;
  if (const auto weight = program_.weights.find(name); weight != program_.weights.end())
    return MetaTensor(weight->second.meta());
  return MetaTensor::UnknownRank(DataType::kUndefined);
}

}  // namespace wherry
