// SequenceMap and FlexAttention: functions that own graphs.
#include <cmath>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/onnx/graph_importer.h"

namespace wherry::onnx {

// A loop over the positions of the first sequence, which carries the results so far.
void GraphImporter::ImportSequenceMap(const NodeProto& node, OnnxContext* context) {
  OnnxContext& c = *context;
  const size_t input_count = node.op.inputs.size();
  const GraphProto& graph = BodyOf(node, context, input_count, 0);
  const size_t result_count = graph.outputs.size();
  if (node.op.outputs.size() > result_count) {
    c.Corrupt("it has ", node.op.outputs.size(), " outputs, its body gives ", result_count);
  }
  if (c.TypeOf(c.Input(0)) != DataType::kSequence) c.Corrupt("its first input is no sequence");
  const std::string length = c.Emit("sequence_length", {{"sequence", {c.Input(0)}}});
  std::vector<std::string> results;
  std::vector<MetaTensor> types;
  for (size_t i = 0; i < result_count; ++i) {
    results.push_back(c.Emit("sequence_construct", {}));
    types.push_back(c.Meta(results.back()));
  }
  std::vector<DataType> element_types(result_count, DataType::kUndefined);
  BlockBuilder& body = state_.builder.NewLoopBody(MetaTensor(DataType::kBool, {}), types, [&](BlockBuilder* block) {
    OnnxContext inside = c.Inside(block);
    const std::vector<std::string> leading = block->inputs();
    std::vector<std::string> inputs;
    for (size_t i = 0; i < input_count; ++i) {
      const std::string x = c.Input(i);
      block->Capture(block_, x);
      if (c.TypeOf(x) != DataType::kSequence) {
        inputs.push_back(x);
        continue;
      }
      inputs.push_back(inside.Emit("sequence_at", {{"sequence", {x}}, {"position", {leading[0]}}},
                                   {{"dtype", state_.builder.ElementType(x)}}));
      const ValueInfoProto& info = graph.inputs[i];
      if (info.dims && info.dims->size() <= static_cast<size_t>(Shape::kMaxRank))
        block->SetRank(inputs.back(), static_cast<int>(info.dims->size()));
    }
    const std::vector<std::string> values = ImportBody(graph, inputs, block);
    std::vector<std::string> outputs = {inside.Constant(FilledTensor(Shape(), Scalar(true), DataType::kBool))};
    for (size_t i = 0; i < result_count; ++i) {
      element_types[i] = block->Meta(values[i]).dtype;
      outputs.push_back(inside.Emit("sequence_insert", {{"sequence", {leading[2 + i]}}, {"x", {values[i]}}}));
    }
    block->SetOutputs(std::move(outputs));
    return state_.converter.unsupported().empty();
  });
  std::vector<std::string> stems(result_count, c.Stem());
  results = block_.AddLoop(length, "", results, &body, stems, node.op.label);
  for (size_t i = 0; i < node.op.outputs.size(); ++i) {
    state_.builder.SetElementType(results[i], element_types[i]);
    c.Bind(i, results[i]);
  }
}

// softmax(Q K' * scale) V with what its graphs make of the scores and of the weights.
void GraphImporter::ImportFlexAttention(const NodeProto& node, OnnxContext* context) {
  OnnxContext& c = *context;
  const std::string query = c.Input(0);
  std::string keys = c.Input(1);
  std::string values = c.Input(2);
  for (const std::string& x : {query, keys, values}) {
    if (c.Rank(x) != 4) c.Corrupt("an input has ", c.Rank(x), " dimensions, expected 4");
  }
  const auto known = [&](const std::string& x, size_t axis) {
    const Dim dim = c.Meta(x).dims[axis];
    if (!dim.known()) c.Unsupported("the heads and their size are not known");
    return dim.value();
  };
  const DataType dtype = c.TypeOf(query);
  DataType precise = dtype == DataType::kFP64 ? dtype : DataType::kFloat;
  if (const auto number = c.Attr<int64_t>("softmax_precision", 0); number != 0) precise = DataTypeOf(number);
  if (!IsFloating(precise)) c.Corrupt("attribute softmax_precision is no floating type");
  const int64_t heads = known(query, 1);
  const int64_t key_heads = known(keys, 1);
  if (key_heads < 1 || heads % key_heads != 0) c.Corrupt(heads, " heads share ", key_heads, " of the keys");
  const auto repeated = [&](const std::string& x) {
    if (heads == key_heads) return x;
    const std::string wide =
        c.Emit("expand", {{"x", {c.Unsqueezed(x, {2})}}}, {{"shape", IntArray({-1, -1, heads / key_heads, -1, -1})}});
    return c.Emit("flatten", {{"x", {wide}}}, {{"start_axis", int64_t{1}}, {"stop_axis", int64_t{2}}});
  };
  keys = repeated(keys);
  values = repeated(values);
  const double scale =
      c.HasAttr("scale") ? c.Attr<double>("scale") : 1.0 / std::sqrt(static_cast<double>(known(query, 3)));
  const auto modified = [&](const char* name, const std::string& x) {
    const auto it = node.graphs.find(name);
    if (it == node.graphs.end()) return x;
    if (it->second->inputs.size() != 1 || it->second->outputs.size() != 1) {
      c.Corrupt(name, " has ", it->second->inputs.size(), " inputs and ", it->second->outputs.size(),
                " outputs, expected one of each");
    }
    return ImportBody(*it->second, {x}, &block_)[0];
  };
  const std::string product =
      c.Emit("matmul", {{"x", {c.Cast(query, precise)}}, {"y", {c.Cast(keys, precise)}}}, {{"transpose_y", true}});
  const std::string scores = modified("score_mod", c.Scaled(product, scale));
  const std::string weights = modified("prob_mod", c.Emit("softmax", {{"x", {scores}}}, {{"axis", int64_t{-1}}}));
  c.Bind(0, c.Cast(c.Binary("matmul", weights, c.Cast(values, precise)), dtype));
}

}  // namespace wherry::onnx
