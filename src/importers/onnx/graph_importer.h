// One graph of an ONNX model turned into operators of a block: of a block of its own, or of its user's, where a
// function's body or a branch that is always taken is put in place of the node.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "importer/op_converter.h"
#include "importers/onnx/converter.h"
#include "importers/onnx/model_proto.h"

namespace wherry::onnx {

// What the graphs of one model share.
struct ModelState {
  // Calls put a function's nodes in place of one, so a small file could ask for any number of them.
  static constexpr int64_t kMostCalledNodes = 200'000;

  const ModelProto& model;
  std::string name;  // the file and its format, for messages
  TensorReader tensors;
  ProgramBuilder builder;
  OpConverter converter;
  int64_t called_nodes = 0;
  std::set<std::string> overridden_inputs;  // of the main graph, as in ModelSource
};

// A call of a function: what its body's nodes may refer to.
struct Call {
  const FunctionProto* function;
  const NodeProto* arguments;  // holds attributes
  const Call* caller;          // null: the main graph
};

// Not thread-safe. A child is made while its parent's import stands at the node that owns it.
class GraphImporter {
 public:
  // The main graph.
  GraphImporter(ModelState* state, const GraphProto& graph, BlockBuilder* block)
      : GraphImporter(state, graph, block, nullptr, nullptr, 0) {}
  GraphImporter(const GraphImporter&) = delete;
  GraphImporter& operator=(const GraphImporter&) = delete;

  // Inputs that have an initializer keep that value and are none, unless they are overridden.
  void AddInputs();
  void ImportNodes();
  // The values of the graph's outputs. Error(kCorrupt) when one has none.
  std::vector<std::string> Outputs();

 private:
  // `parent`: whose names it sees, null in a function. `call`: the function that it belongs to. Error(kUnsupported)
  // when graphs and calls nest deeper than kMostNesting.
  GraphImporter(ModelState* state, const GraphProto& graph, BlockBuilder* block, GraphImporter* parent,
                const Call* call, int depth);

  void Define(const std::string& name, const std::string& value);
  // The value of a name; empty: an input of a function that the call leaves out; nullopt: nothing gives it. A value of
  // an outer block is captured.
  std::optional<std::string> Find(const std::string& name);
  bool IsDropped(const std::string& name, std::string* why) const;
  void AddSequenceInput(const ValueInfoProto& input);
  void AddInitializers();
  void ImportNode(const NodeProto& node);
  // How an operator that owns graphs is imported; null for others.
  using ImportFn = void (GraphImporter::*)(const NodeProto& node, OnnxContext* context);
  static ImportFn ControlFlowOf(const ForeignOp& op);
  void ImportIf(const NodeProto& node, OnnxContext* context);
  void ImportLoop(const NodeProto& node, OnnxContext* context);
  void ImportScan(const NodeProto& node, OnnxContext* context);
  // The results of Scan: the states in the end, then what is gathered along the axes of the form.
  struct ScanForm;
  std::vector<std::string> Scan(OnnxContext* context, const GraphProto& graph, const std::vector<std::string>& states,
                                const std::vector<std::string>& scanned, const ScanForm& form,
                                const std::vector<std::string>& stems);
  std::vector<std::string> BatchedScan(OnnxContext* context, const GraphProto& graph,
                                       const std::vector<std::string>& states, const std::vector<std::string>& scanned,
                                       const ScanForm& form, const std::vector<std::string>& stems);
  void ImportSequenceMap(const NodeProto& node, OnnxContext* context);
  void ImportFlexAttention(const NodeProto& node, OnnxContext* context);
  // A graph of the node; Corrupt() unless it has that many inputs and outputs and no input with an initializer.
  static const GraphProto& BodyOf(const NodeProto& node, OnnxContext* context, size_t inputs, size_t outputs);
  // Imports a graph of a node, a loop's body or a branch, into `block`, whose values `inputs` are the graph's inputs;
  // returns the graph's outputs.
  std::vector<std::string> ImportBody(const GraphProto& body, const std::vector<std::string>& inputs,
                                      BlockBuilder* block);
  void ImportCall(const NodeProto& node, OnnxContext* context, const FunctionProto& function);
  // With values for its inputs, and attributes in place of a function's references.
  NodeProto Resolved(const NodeProto& node);
  void TakeResults(const OnnxContext& context);
  // Notes what is not supported in the graphs of a node that is not supported itself.
  void ScanGraphs(const NodeProto& node);
  int OpsetOf(const std::string& domain) const;
  const ValueInfoProto* FindInfo(const std::string& name) const;
  MetaTensor MetaOf(const ValueInfoProto& info, bool is_input);
  MetaTensor DeclaredMeta(const std::string& name);

  ModelState& state_;
  const GraphProto& graph_;
  BlockBuilder& block_;
  GraphImporter* parent_;
  const Call* call_;
  int depth_;
  std::unordered_map<std::string, std::string> values_;   // name -> value
  std::unordered_map<std::string, std::string> dropped_;  // name -> the node that gives no value for it
};

}  // namespace wherry::onnx
