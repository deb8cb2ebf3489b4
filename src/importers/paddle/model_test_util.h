// A tiny writer of Paddle models, for tests: the bytes of a ProgramDesc and of parameter records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/file_bytes.h"
#include "ir/program.h"

namespace wherry::paddle {

struct TestBlockRef {
  int block;
};
struct TestVarRef {
  std::string name;
};
using TestAttr = std::variant<bool, int, int64_t, float, double, std::string, std::vector<int>, std::vector<int64_t>,
                              std::vector<float>, std::vector<std::string>, TestBlockRef, TestVarRef>;

struct TestVar {
  std::string name;
  int dtype = 5;  // FP32
  std::vector<int64_t> dims;
  bool persistable = false;
  int type = 7;
};

struct TestOp {
  std::string type;
  std::vector<std::pair<std::string, std::vector<std::string>>> inputs;
  std::vector<std::pair<std::string, std::vector<std::string>>> outputs;
  std::vector<std::pair<std::string, TestAttr>> attrs;
};

struct TestBlock {
  std::vector<TestVar> vars;
  std::vector<TestOp> ops;
};

struct TestModel {
  std::vector<TestBlock> blocks = std::vector<TestBlock>(1);
  bool packed = false;    // repeated numbers
  bool shuffled = false;  // fields of a message in another order, with unknown ones between

  // A variable, and the feed or fetch operator for it.
  void AddInput(const std::string& name, const std::vector<int64_t>& dims, int dtype = 5);
  void AddOutput(const std::string& name);
  void AddParam(const std::string& name, const std::vector<int64_t>& dims, int dtype = 5);
  void AddVar(const std::string& name, const std::vector<int64_t>& dims, int dtype = 5);
  TestOp& AddOp(TestOp op, size_t block = 0);

  std::string Bytes() const;

 private:
  int feeds_ = 0;
  int fetches_ = 0;
};

// One parameter record. `data`: the raw elements.
std::string ParamRecord(const std::vector<int64_t>& dims, const std::string& data, int dtype = 5);
// The bytes of these floats.
std::string FloatBytes(const std::vector<float>& values);

FileBytes InMemory(const std::string& name, const std::string& bytes);
// By the registered importers, from memory.
Program ImportBytes(const std::string& model, const std::string& params = "");

// The one operator of that type in the main block; the test fails if there is none.
const OpDesc& FindOp(const Program& program, const std::string& type);

}  // namespace wherry::paddle
