// A Paddle ProgramDesc (framework.proto, proto2) as plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_bytes.h"
#include "importer/foreign_op.h"
#include "wherry/types.h"

namespace wherry::paddle {

// Paddle's numbers for element types (VarType.Type); kUndefined for one that is no element type.
DataType DataTypeOf(int64_t number);

struct VarDesc {
  // VarType.Type of what is no ordinary tensor.
  static constexpr int kDenseTensor = 7;
  static constexpr int kFeedMinibatch = 9;
  static constexpr int kFetchList = 10;
  static constexpr int kTensorArray = 13;
  static constexpr int kReader = 15;
  static constexpr int kRaw = 17;

  std::string name;
  int type = kDenseTensor;
  bool persistable = false;
  // Of a tensor, where the file says: some exporters leave it out for feed and fetch variables. Negative dims are
  // unknown.
  std::optional<DataType> dtype;
  std::vector<int64_t> dims;
  int64_t lod_level = 0;  // how deep its sequences are nested, whose lengths go beside the tensor

  // A parameter, which the parameter files have.
  bool IsParameter() const;
};

struct OperatorDesc {
  ForeignOp op;                                        // inputs hold variable names
  std::map<std::string, std::vector<int64_t>> blocks;  // attributes that are blocks, by name
};

struct BlockDesc {
  int parent = -1;
  std::map<std::string, VarDesc> vars;
  std::vector<OperatorDesc> ops;
};

struct ProgramDesc {
  std::vector<BlockDesc> blocks;
  int64_t version = 0;
};

// Reads what proto2 allows: fields in any order, unknown ones, repeated numbers packed or not. Error(kCorrupt) with the
// place.
ProgramDesc ParseProgramDesc(const FileBytes& file);

}  // namespace wherry::paddle
