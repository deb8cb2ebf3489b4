// An ONNX ModelProto (onnx.proto) as plain data. Weights stay where they are: a TensorProto is its header and a view of
// its message.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/file_bytes.h"
#include "importer/foreign_op.h"
#include "importer/protobuf.h"
#include "wherry/types.h"

namespace wherry::onnx {

// ONNX's numbers for element types (TensorProto.DataType); kUndefined for one that is none, or that Wherry lacks.
DataType DataTypeOf(int64_t number);
// "FLOAT8E4M3FNUZ", or the number, for messages.
std::string NameOfDataType(int64_t number);

struct TensorProto {
  std::string name;
  int64_t data_type = 0;
  std::vector<int64_t> dims;
  bool external = false;
  std::map<std::string, std::string> external_data;  // location, offset, length, checksum
  std::optional<protobuf::View> raw_data;
  protobuf::View message;  // all of it, for the elements that are no raw_data
};

struct ValueInfoProto {
  struct Dimension {
    std::optional<int64_t> value;
    std::string param;
  };
  std::string name;
  // "tensor", "sequence", "map", "optional", "sparse tensor", "opaque"; empty: the file does not say.
  std::string kind;
  // Of a sequence's elements or an optional's; data_type is theirs if they are tensors.
  std::string element_kind;
  int64_t data_type = 0;
  std::optional<std::vector<Dimension>> dims;
};

struct GraphProto;

struct NodeProto {
  // Inputs hold names of the file. An attribute that has no place here and none below (a type, a sparse tensor, a list
  // of graphs) is std::monostate.
  ForeignOp op;
  std::map<std::string, TensorProto> tensors;
  std::map<std::string, std::shared_ptr<const GraphProto>> graphs;
  // In a function: attribute -> the function's attribute that it is.
  std::map<std::string, std::string> references;
  std::string overload;
};

struct GraphProto {
  std::string name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfoProto> inputs;
  std::vector<ValueInfoProto> outputs;
  std::map<std::string, ValueInfoProto> values;
};

using Opsets = std::map<std::string, int64_t>;  // domain ("" also for "ai.onnx") -> version

// The body is a graph whose inputs and outputs are names only.
struct FunctionProto {
  GraphProto body;
  std::vector<std::string> attributes;
  NodeProto defaults;  // holds attributes that have a value when a call does not give one
  Opsets opsets;
};

struct ModelProto {
  // Domain, name, overload.
  using FunctionKey = std::tuple<std::string, std::string, std::string>;

  int64_t ir_version = 0;
  std::string producer_name;
  std::string producer_version;
  Opsets opsets;
  std::map<std::string, std::string> properties;  // metadata_props
  std::optional<GraphProto> graph;
  std::map<FunctionKey, FunctionProto> functions;
};

// Graphs in attributes nest at most this deep, and so do calls of functions.
constexpr int kMostNesting = 64;

// Reads what proto2 allows: fields in any order, unknown ones, repeated numbers packed or not, messages in several
// pieces but for tensors and the graph. The model's bytes must outlive it. Error(kCorrupt) with the place;
// Error(kUnsupported) for graphs that nest deeper than kMostNesting.
ModelProto ParseModel(const FileBytes& file);

// Whether an ONNX model may begin there.
bool LooksLikeModel(std::span<const std::byte> data);

}  // namespace wherry::onnx
