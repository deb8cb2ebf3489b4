// A program of Paddle 3 (PIR in JSON) as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_bytes.h"
#include "op/attribute.h"
#include "wherry/types.h"

namespace wherry::pir {

struct Type {
  enum class Kind { kNone, kTensor, kVector, kOther };
  Kind kind = Kind::kNone;
  DataType dtype = DataType::kUndefined;
  std::vector<int64_t> dims;   // kTensor; negative: unknown
  std::vector<Type> elements;  // kVector
};

struct Value {
  int64_t id = 0;  // positive; a block's arguments negative; 0 is an absent one
  Type type;
};

struct Block;

struct Operator {
  std::string dialect;  // "builtin", "pd_op", "cf", or what the file has
  std::string name;     // without the dialect; builtin.parameter is "parameter"
  std::vector<int64_t> operands;
  std::vector<Value> results;
  // Numbers, texts, types, and lists of them. Others (places, pointers, complex numbers, ...) are left out.
  AttributeMap attrs;
  std::vector<Block> blocks;  // of its regions, which have one each
  // Of a parameter.
  std::string parameter;
  bool persistable = true;
};

struct Block {
  std::vector<Value> args;
  std::vector<Operator> ops;
};

struct Program {
  int64_t version = 0;
  Block main;
};

// The newest version that is known; older ones differ in nothing but the width of numbers.
constexpr int64_t kNewestVersion = 4;

// Error(kCorrupt) with the place; kUnsupported for a newer version.
Program ParseProgram(const FileBytes& file);

}  // namespace wherry::pir
