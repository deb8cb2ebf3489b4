// Executable: a program made ready to run: slots for values, instructions with their kernels. Shared by all clones of a
// predictor.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/program.h"
#include "kernel/kernel.h"
#include "op/op_schema.h"
#include "runtime/pack_cache.h"

namespace wherry {

// What is bound to one argument of an instruction.
struct InstructionArg {
  std::vector<int> slots;                // tensors, or the tensor an attribute is read from
  const Attribute* attribute = nullptr;  // into the program's OpDesc
};

struct Instruction {
  const OpDesc* desc = nullptr;
  const OpSchema* schema = nullptr;
  const Kernel* kernel = nullptr;  // null: control flow, io_copy, and ops whose type is known only at run time
  std::string reason;              // why this kernel
  std::vector<InstructionArg> args;
  std::vector<std::vector<int>> outputs;  // slots by schema output
  std::vector<int8_t> constants;          // arguments that are weights
  std::vector<int> blocks;                // compiled blocks of control flow
  std::string name() const;               // the label, or the first result's name
};

struct Slot {
  std::string name;
  DataType dtype = DataType::kUndefined;  // where it is known without shapes
  const DenseTensor* weight = nullptr;    // into the program's weight table
  int alias = -1;                         // slot whose memory it shares when the sizes agree
};

struct CompiledBlock {
  std::vector<Slot> slots;
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::vector<std::string> output_names;
  std::vector<Instruction> instructions;
  std::vector<int> watched;  // slots that keep memory of their own
};

// Immutable but for the pack cache; thread-safe.
class Executable {
 public:
  // Takes the program, infers it where types are missing, and binds a kernel to every op: the pick's, where there is
  // one that is still registered and willing, else the best by kernel/'s static rule. Every op without a kernel is
  // reported in one Error(kUnsupported), or if there is a list in that, and then the result is null.
  static std::shared_ptr<const Executable> Build(Program&& program, const std::vector<std::string>& watched = {},
                                                 std::vector<std::string>* unsupported = nullptr);

  const Program& program() const { return program_; }
  const CompiledBlock& main() const { return blocks_[0]; }
  const CompiledBlock& block(int index) const { return blocks_[static_cast<size_t>(index)]; }
  const MetaTensor& InputType(size_t i) const;
  // The declared or inferred type of an output; unknown rank when nothing is known.
  MetaTensor OutputType(size_t i) const;
  PackCache& packs() const { return packs_; }
  size_t weight_bytes() const { return weight_bytes_; }
  // Picks that could not be honoured, with the reason; part of the report.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Program program_;
  std::vector<CompiledBlock> blocks_;
  std::vector<std::string> notes_;
  size_t weight_bytes_ = 0;
  mutable PackCache packs_;
};

}  // namespace wherry
