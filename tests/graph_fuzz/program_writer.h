// ProgramWriter: builds a valid program op by op. What the schema or InferMeta refuses is not added, so generators may
// try anything.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "robustness/random.h"

namespace wherry::graph_fuzz {

using Dims = std::vector<int64_t>;
// Parameter -> names, and attributes, of one op.
using Operands = std::vector<std::pair<std::string, std::vector<std::string>>>;
using Attributes = std::vector<std::pair<std::string, Attribute>>;

// Writes one block of a program; a child's writer has the same program. An input's name says what it is to be filled
// with: x3:-2:2 is the third value and lies in [-2, 2] (see data.h).
class ProgramWriter {
 public:
  ProgramWriter(Program* program, size_t block, Random* random) : program_(program), block_(block), random_(*random) {}

  Random& random() { return random_; }
  Program& program() { return *program_; }
  Block& block() { return program_->blocks[block_]; }
  bool is_child() const { return block_ != 0; }

  // The results' names; empty when the op is not valid. Outputs are named here.
  std::vector<std::string> Add(OpDesc op);
  // The first result's name, or "".
  std::string Add(const std::string& type, const Operands& inputs, const Attributes& attributes = {});
  // A control-flow op, whose results' types the caller knows.
  std::vector<std::string> AddFlow(OpDesc op, const std::string& param, const std::vector<MetaTensor>& types);

  // In a child block a new input is a weight.
  std::string NewInput(DataType dtype, const Dims& dims, int low = -2, int high = 2);
  std::string NewWeight(DataType dtype, const Dims& dims, int low = -2, int high = 2);
  std::string NewWeight(DenseTensor tensor);
  // An integer weight with these numbers.
  std::string Numbers(const std::vector<int64_t>& numbers, DataType dtype = DataType::kInt64);
  // An input of a child block.
  std::string NewCapture(const MetaTensor& type);

  // Every value of which type and shape are known: inputs, weights and results, oldest first.
  std::vector<std::string> Values(const std::function<bool(const MetaTensor&)>& fits) const;
  // One of them, later ones more often; "" when there is none.
  std::string Existing(const std::function<bool(const MetaTensor&)>& fits);
  // A value of this type and a rank in [low, high]: mostly one that is there.
  std::string Any(DataType dtype, int low = 0, int high = 5);
  // A value of exactly this type: one that is there, a new input or a weight.
  std::string Like(DataType dtype, const Dims& dims);
  // A value that broadcasts to these dims: some of them 1 or left out.
  std::string Broadcasts(DataType dtype, Dims dims);

  const MetaTensor& TypeOf(const std::string& name) const { return types_.at(name); }
  Dims DimsOf(const std::string& name) const;
  int RankOf(const std::string& name) const { return types_.at(name).rank(); }
  // 1..5, rarely 0.
  int64_t AnyDim();
  Dims AnyDims(int low_rank, int high_rank);
  DataType AnyType();

 private:
  std::string NewName(const char* stem);
  std::string Keep(const std::string& name, MetaTensor type);

  Program* program_;
  size_t block_;
  Random& random_;
  std::map<std::string, MetaTensor> types_;
  std::vector<std::string> order_;
  size_t next_ = 0;
};

}  // namespace wherry::graph_fuzz
