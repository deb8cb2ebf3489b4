// If, Loop, Scan: operators that own graphs.
#include <limits>

#include "base/check.h"
#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/onnx/graph_importer.h"

namespace wherry::onnx {

namespace {

std::vector<std::string> StemsOf(const NodeProto& node, const OnnxContext& context, size_t count) {
  std::vector<std::string> stems;
  for (size_t i = 0; i < count; ++i) {
    const bool named = i < node.op.outputs.size() && !node.op.outputs[i].values.empty();
    stems.push_back(named ? node.op.outputs[i].values[0] : context.Stem());
  }
  return stems;
}

std::string AlwaysTrue(OnnxContext* context) {
  return context->Constant(FilledTensor(Shape(), Scalar(true), DataType::kBool));
}

}  // namespace

void GraphImporter::ImportIf(const NodeProto& node, OnnxContext* context) {
  const auto branch = [&](const char* name) -> const GraphProto& {
    const auto it = node.graphs.find(name);
    if (it == node.graphs.end()) context->Corrupt("attribute ", name, " is missing or no graph");
    if (it->second->outputs.size() != node.op.outputs.size()) {
      context->Corrupt(name, " has ", it->second->outputs.size(), " results, expected ", node.op.outputs.size());
    }
    return *it->second;
  };
  const GraphProto& then_graph = branch("then_branch");
  const GraphProto& else_graph = branch("else_branch");
  const std::string cond = context->Input(0);
  if (const auto known = context->ConstantInts(cond); known && known->size() == 1) {
    const std::vector<std::string> values = ImportBody((*known)[0] != 0 ? then_graph : else_graph, {}, &block_);
    for (size_t i = 0; i < values.size(); ++i) context->Bind(i, values[i]);
    return;
  }
  const auto import = [&](const GraphProto& graph) {
    BlockBuilder& block = state_.builder.NewBlock();
    block.SetOutputs(ImportBody(graph, {}, &block));
    return &block;
  };
  BlockBuilder* const then_block = import(then_graph);
  BlockBuilder* const else_block = import(else_graph);
  const std::vector<std::string> stems = StemsOf(node, *context, node.op.outputs.size());
  const std::vector<std::string> results = block_.AddIf(cond, then_block, else_block, stems, node.op.label);
  for (size_t i = 0; i < results.size(); ++i) context->Bind(i, results[i]);
}

const GraphProto& GraphImporter::BodyOf(const NodeProto& node, OnnxContext* context, size_t inputs, size_t outputs) {
  const auto it = node.graphs.find("body");
  if (it == node.graphs.end()) context->Corrupt("attribute body is missing or no graph");
  const GraphProto& body = *it->second;
  if (body.inputs.size() != inputs || body.outputs.size() < outputs) {
    context->Corrupt("its body has ", body.inputs.size(), " inputs and ", body.outputs.size(), " outputs, expected ",
                     inputs, " inputs and at least ", outputs, " outputs");
  }
  for (const TensorProto& initializer : body.initializers) {
    for (const ValueInfoProto& input : body.inputs) {
      if (input.name == initializer.name)
        context->Corrupt("input ", Quote(input.name), " of its body is an initializer");
    }
  }
  return body;
}

std::vector<std::string> GraphImporter::ImportBody(const GraphProto& body, const std::vector<std::string>& inputs,
                                                   BlockBuilder* block) {
  GraphImporter child(&state_, body, block, this, call_, depth_ + 1);
  for (size_t i = 0; i < inputs.size(); ++i) child.Define(body.inputs[i].name, inputs[i]);
  child.AddInitializers();
  child.ImportNodes();
  return child.Outputs();
}

void GraphImporter::ImportLoop(const NodeProto& node, OnnxContext* context) {
  if (node.op.inputs.size() < 2) context->Corrupt("it has ", node.op.inputs.size(), " inputs, expected at least 2");
  const size_t carried_count = node.op.inputs.size() - 2;
  const GraphProto& graph = BodyOf(node, context, 2 + carried_count, 1 + carried_count);
  const size_t result_count = graph.outputs.size() - 1;
  if (node.op.outputs.size() > result_count) {
    context->Corrupt("it has ", node.op.outputs.size(), " outputs, its body gives ", result_count);
  }
  const std::string cond = context->OptionalInput(1);
  std::vector<std::string> carried;
  std::vector<MetaTensor> types;
  for (size_t i = 0; i < carried_count; ++i) {
    carried.push_back(context->Input(2 + i));
    types.push_back(block_.Meta(carried.back()));
  }
  const MetaTensor cond_type = cond.empty() ? MetaTensor(DataType::kBool, {}) : block_.Meta(cond);
  BlockBuilder& body = state_.builder.NewLoopBody(cond_type, types, [&](BlockBuilder* block) {
    for (size_t i = 0; i < carried.size(); ++i) {
      state_.builder.CopyElementType(carried[i], block->inputs()[2 + i]);
    }
    block->SetOutputs(ImportBody(graph, block->inputs(), block));
    return state_.converter.unsupported().empty();
  });
  const std::vector<std::string> results = block_.AddLoop(context->OptionalInput(0), cond, carried, &body,
                                                          StemsOf(node, *context, result_count), node.op.label);
  for (size_t i = 0; i < node.op.outputs.size(); ++i) context->Bind(i, results[i]);
}

// The attributes of a Scan, one of each list for each scanned input or result.
struct GraphImporter::ScanForm {
  std::vector<int64_t> axes;
  std::vector<int64_t> reversed;
  std::vector<int64_t> out_axes;
  std::vector<int64_t> out_reversed;
};

void GraphImporter::ImportScan(const NodeProto& node, OnnxContext* context) {
  OnnxContext& c = *context;
  const bool batched = c.opset() < 9;
  const size_t first = batched ? 1 : 0;  // the lengths of the batch's sequences come before all else
  const size_t given = node.op.inputs.size();
  const auto scanned = static_cast<size_t>(c.Attr<int64_t>("num_scan_inputs"));
  if (given < first || scanned == 0 || scanned > given - first) c.Corrupt("attribute num_scan_inputs is ", scanned);
  const size_t state_count = given - first - scanned;
  const GraphProto& graph = BodyOf(node, context, given - first, state_count);
  const size_t result_count = graph.outputs.size();
  if (node.op.outputs.size() > result_count) {
    c.Corrupt("it has ", node.op.outputs.size(), " outputs, its body gives ", result_count);
  }
  const auto list = [&](const char* name, size_t count) {
    const auto values = c.Attr<std::vector<int64_t>>(name, std::vector<int64_t>(count, 0));
    if (values.size() != count) c.Corrupt("attribute ", name, " has ", values.size(), " values, expected ", count);
    return values;
  };
  const ScanForm form = {
      list("scan_input_axes", scanned), list(batched ? "directions" : "scan_input_directions", scanned),
      list("scan_output_axes", result_count - state_count), list("scan_output_directions", result_count - state_count)};
  std::vector<std::string> states;
  std::vector<std::string> inputs;
  for (size_t i = 0; i < state_count + scanned; ++i) (i < state_count ? states : inputs).push_back(c.Input(first + i));
  const std::vector<std::string> stems = StemsOf(node, c, result_count);
  const std::vector<std::string> results =
      batched ? BatchedScan(&c, graph, states, inputs, form, stems) : Scan(&c, graph, states, inputs, form, stems);
  for (size_t i = 0; i < node.op.outputs.size(); ++i) c.Bind(i, results[i]);
}

// A loop over the positions along the scanned axes, whose body takes its slices of them.
std::vector<std::string> GraphImporter::Scan(OnnxContext* context, const GraphProto& graph,
                                             const std::vector<std::string>& states,
                                             const std::vector<std::string>& scanned, const ScanForm& form,
                                             const std::vector<std::string>& stems) {
  OnnxContext& c = *context;
  std::vector<MetaTensor> types;
  for (const std::string& state : states) types.push_back(c.Meta(state));
  std::string count;
  std::string last;
  std::vector<int64_t> from_zero;
  for (size_t i = 0; i < scanned.size(); ++i) {
    from_zero.push_back(c.Axis(form.axes[i], c.Rank(scanned[i])));
    if (count.empty()) count = c.Dimension(scanned[i], from_zero[0]);
    if (form.reversed[i] != 0 && last.empty()) last = c.Scaled(c.Squeezed(count, {0}), 1.0, -1.0);
  }
  BlockBuilder& body = state_.builder.NewLoopBody(MetaTensor(DataType::kBool, {}), types, [&](BlockBuilder* block) {
    OnnxContext inside = c.Inside(block);
    const std::vector<std::string> leading = block->inputs();
    std::vector<std::string> inputs(leading.begin() + 2, leading.end());
    for (size_t i = 0; i < scanned.size(); ++i) {
      block->Capture(block_, scanned[i]);
      std::string index = leading[0];
      if (form.reversed[i] != 0) {
        block->Capture(block_, last);
        index = inside.Binary("subtract", last, index);
      }
      inputs.push_back(inside.Emit("gather", {{"x", {scanned[i]}}, {"index", {index}}}, {{"axis", from_zero[i]}}));
    }
    std::vector<std::string> outputs = ImportBody(graph, inputs, block);
    outputs.insert(outputs.begin(), AlwaysTrue(&inside));
    block->SetOutputs(std::move(outputs));
    return state_.converter.unsupported().empty();
  });
  std::vector<std::string> results = block_.AddLoop(count, "", states, &body, stems, c.op().label);
  for (size_t i = states.size(); i < results.size(); ++i) {
    const size_t k = i - states.size();
    std::string& y = results[i];
    if (form.out_reversed[k] != 0) {
      constexpr int64_t kBeforeStart = std::numeric_limits<int64_t>::min();
      y = c.Emit("slice", {{"x", {y}}},
                 {{"axes", std::vector<int64_t>{0}},
                  {"starts", IntArray({-1})},
                  {"ends", IntArray({kBeforeStart})},
                  {"steps", std::vector<int64_t>{-1}}});
    }
    if (form.out_axes[k] == 0) continue;
    const int rank = c.Rank(y);
    std::vector<int64_t> perm;
    for (int64_t axis = 1; axis < rank; ++axis) perm.push_back(axis);
    perm.insert(perm.begin() + c.Axis(form.out_axes[k], rank), 0);
    y = c.Emit("transpose", {{"x", {y}}}, {{"perm", perm}});
  }
  return results;
}

// Opset 8: states and scanned inputs have a batch in front, and its sequences may have lengths of their own (input 0).
// A loop over the batch around the loop over a sequence; what a shorter one gives is filled up with zeros.
std::vector<std::string> GraphImporter::BatchedScan(OnnxContext* context, const GraphProto& graph,
                                                    const std::vector<std::string>& states,
                                                    const std::vector<std::string>& scanned, const ScanForm& form,
                                                    const std::vector<std::string>& stems) {
  const std::string lengths = context->OptionalInput(0);
  const std::string batch = context->Dimension(scanned[0], 0);
  const GraphProto no_nodes;
  BlockBuilder& body = state_.builder.NewLoopBody(MetaTensor(DataType::kBool, {}), {}, [&](BlockBuilder* block) {
    OnnxContext inside = context->Inside(block);
    GraphImporter sample(&state_, no_nodes, block, this, call_, depth_ + 1);
    const std::string index = block->inputs()[0];
    const auto taken = [&](const std::string& x) {
      block->Capture(block_, x);
      return inside.Emit("gather", {{"x", {x}}, {"index", {index}}});
    };
    std::string length = lengths;
    if (!lengths.empty()) length = inside.Reshaped(inside.Cast(taken(lengths), DataType::kInt64), {1});
    std::vector<std::string> sample_states;
    std::vector<std::string> sequences;
    for (const std::string& state : states) sample_states.push_back(taken(state));
    std::string missing;
    for (const std::string& x : scanned) {
      std::string sequence = taken(x);
      if (!length.empty()) {
        if (missing.empty()) missing = inside.Binary("subtract", inside.Dimension(sequence, 0), length);
        sequence = inside.Emit("slice", {{"x", {sequence}}, {"ends", {length}}},
                               {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({0})}});
      }
      sequences.push_back(sequence);
    }
    std::vector<std::string> outputs = sample.Scan(&inside, graph, sample_states, sequences, form, stems);
    for (size_t i = states.size(); i < outputs.size() && !missing.empty(); ++i) {
      const auto rank = static_cast<size_t>(inside.Rank(outputs[i]));
      std::vector<std::string> paddings = {inside.ConvertContext::ConstantInts(std::vector<int64_t>(rank, 0)), missing};
      if (rank > 1) paddings.push_back(inside.ConvertContext::ConstantInts(std::vector<int64_t>(rank - 1, 0)));
      const std::string all = inside.Emit("concat", {{"x", paddings}}, {{"axis", int64_t{0}}});
      outputs[i] = inside.Emit("pad", {{"x", {outputs[i]}}, {"paddings", {all}}});
    }
    outputs.insert(outputs.begin(), AlwaysTrue(&inside));
    block->SetOutputs(std::move(outputs));
    return state_.converter.unsupported().empty();
  });
  return block_.AddLoop(batch, "", {}, &body, stems, context->op().label);
}

}  // namespace wherry::onnx
