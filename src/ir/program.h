// Program: a network as importers emit it and files store it: blocks of operators in order, and weights.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/dense_tensor.h"
#include "core/dim.h"
#include "kernel/kernel.h"
#include "op/meta_tensor.h"
#include "op/op_desc.h"
#include "wherry/types.h"

namespace wherry {

// Names -> constant host tensors, in plain layout but for what layout casts of constants left behind. A weight is never
// edited: a pass that needs another value adds one under a new name.
using WeightTable = std::map<std::string, DenseTensor>;

// Weights' names -> their packed forms. What a kernel asks for and is not here is packed from the weight.
using PackedTable = std::map<std::string, std::vector<PackedWeight>>;

// Which kernel an op is to run with. Recorded by the picking passes, stored in .wry; empty provider: not picked.
struct KernelPick {
  std::string provider;
  std::string variant;
  KernelKey key;
  std::string reason;  // why it was taken, for people: "cost 120 us, next onednn:conv2d 180 us"

  bool picked() const { return !provider.empty(); }
  friend bool operator==(const KernelPick& a, const KernelPick& b) {
    return a.provider == b.provider && a.variant == b.variant && a.key == b.key;
  }
};

// One list of operators in single-assignment form: every name is an input, a weight, or the output of exactly one
// earlier op. A child block sees weights and its own inputs only; what it uses of its parent is passed in (captures).
struct Block {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string>
      output_names;  // what users call the outputs; one per output, or empty: the values' own names
  std::vector<OpDesc> ops;
  std::vector<KernelPick> picks;             // empty, or one per op
  std::map<std::string, MetaTensor> values;  // what is known about each value; inputs must be there
  // value -> the value whose memory it shares: in place, as a view or piece, or as a part that is joined in it
  std::map<std::string, std::string> aliases;
};

// Movable, not copyable by accident (weights are shared, but blocks are big): use Clone().
class Program {
 public:
  Program() : blocks(1), symbols(std::make_shared<SymbolTable>()) {}
  Program(Program&&) = default;
  Program& operator=(Program&&) = default;

  Program Clone() const;
  Block& main() { return blocks[0]; }
  const Block& main() const { return blocks[0]; }

  std::vector<Block> blocks;  // blocks[0] is the main one
  WeightTable weights;
  PackedTable packed;  // stored in .wry when asked
  std::shared_ptr<SymbolTable> symbols;
  std::map<std::string, std::string> metadata;  // "format": "onnx", "producer", "opset", "model.NAME"
  bool optimized = false;                       // passes have run

 private:
  Program(const Program&) = default;
};

// Checks the rules above, every op against its schema, and block indices. Error(kInvalidArgument) naming block, op and
// value.
void VerifyProgram(const Program& program);

// The symbolic or numeric metas of all values, computed in place by InferMeta from block 0's inputs on. Values already
// present are overwritten. Errors name the op. Ops whose outputs can't be known get an unknown rank or fresh symbols.
void InferProgram(Program* program);

}  // namespace wherry
