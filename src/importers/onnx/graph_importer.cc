#include "importers/onnx/graph_importer.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/check.h"
#include "base/strings.h"
#include "importer/apply_rule.h"
#include "importer/import_rule.h"
#include "importers/onnx/node_order.h"
#include "importers/onnx/storage_types.h"

namespace wherry::onnx {

namespace {

// Of the domain "".
constexpr int64_t kOldestOpset = 6;
constexpr int64_t kNewestOpset = 28;

// Empty: there is none. Converters are for kOldestOpset and later, a rule says itself what it is for.
std::string OpsetProblem(const ForeignOp& op) {
  const int64_t opset = op.opset;
  if (op.domain == "com.microsoft.nchwc") {
    return "its weights lie as ONNX Runtime has them on the machine that wrote the file; let it optimise to the level "
           "'extended'";
  }
  if (!op.domain.empty() || (opset >= kOldestOpset && opset <= kNewestOpset)) return "";
  if (opset < kOldestOpset && FindImportRule(op.format, op.domain, op.type, op.opset) != nullptr) return "";
  if (opset == 0) return "the model imports no opset of its domain";
  return StrCat("it is of opset ", opset, "; Wherry reads ", kOldestOpset, " to ", kNewestOpset);
}

// Whether the same text means the same number. Exporters write "?" for each dimension that they know nothing of; ~ is
// for symbols of Wherry's own.
bool IsDimensionName(const std::string& text) {
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80; };
  return text[0] != '~' && std::any_of(text.begin(), text.end(), is_letter);
}

}  // namespace

GraphImporter::GraphImporter(ModelState* state, const GraphProto& graph, BlockBuilder* block, GraphImporter* parent,
                             const Call* call, int depth)
    : state_(*state), graph_(graph), block_(*block), parent_(parent), call_(call), depth_(depth) {
  WHERRY_ENFORCE(depth <= kMostNesting, kUnsupported, "graphs and calls of functions nest more than ", kMostNesting,
                 " deep");
}

void GraphImporter::Define(const std::string& name, const std::string& value) {
  WHERRY_ENFORCE(values_.emplace(name, value).second, kCorrupt, "value ", Quote(name), " is given twice in graph ",
                 Quote(graph_.name));
}

std::optional<std::string> GraphImporter::Find(const std::string& name) {
  const auto own = values_.find(name);
  if (own != values_.end()) return own->second;
  if (parent_ == nullptr || dropped_.count(name) != 0) return std::nullopt;
  std::optional<std::string> value = parent_->Find(name);
  if (value && !value->empty() && &parent_->block_ != &block_) block_.Capture(parent_->block_, *value);
  return value;
}

bool GraphImporter::IsDropped(const std::string& name, std::string* why) const {
  const auto own = dropped_.find(name);
  if (own != dropped_.end()) *why = own->second;
  return own != dropped_.end() || (parent_ != nullptr && parent_->IsDropped(name, why));
}

const ValueInfoProto* GraphImporter::FindInfo(const std::string& name) const {
  const auto it = graph_.values.find(name);
  return it == graph_.values.end() ? nullptr : &it->second;
}

MetaTensor GraphImporter::MetaOf(const ValueInfoProto& info, bool is_input) {
  const DataType dtype = DataTypeOf(info.data_type);
  if (!info.dims || info.dims->size() > static_cast<size_t>(Shape::kMaxRank)) {
    WHERRY_ENFORCE(!info.dims || !is_input, kUnsupported, "input ", Quote(info.name), " has ", info.dims->size(),
                   " dimensions, at most ", Shape::kMaxRank, " are possible");
    return MetaTensor::UnknownRank(dtype);
  }
  MetaTensor meta(dtype, {});
  for (const ValueInfoProto::Dimension& dim : *info.dims) {
    // Some exporters write -1 or 0 for a dimension that is not known; 0 is allowed, too.
    if (dim.value && *dim.value >= 0) {
      meta.dims.emplace_back(*dim.value);
    } else if (is_input && IsDimensionName(dim.param)) {
      meta.dims.push_back(state_.builder.symbols().Symbol(dim.param));
    } else {
      meta.dims.push_back(state_.builder.NewDim(is_input ? StrCat(info.name, "_", meta.dims.size()) : "d"));
    }
  }
  return meta;
}

MetaTensor GraphImporter::DeclaredMeta(const std::string& name) {
  const ValueInfoProto* info = FindInfo(name);
  return info == nullptr ? MetaTensor::UnknownRank(DataType::kUndefined) : MetaOf(*info, false);
}

void GraphImporter::AddInputs() {
  std::set<std::string> initialized;
  for (const TensorProto& initializer : graph_.initializers) initialized.insert(initializer.name);
  // The model's own names for dimensions come before made ones.
  for (const ValueInfoProto& input : graph_.inputs) {
    if (!input.dims) continue;
    for (const ValueInfoProto::Dimension& dim : *input.dims) {
      if (!dim.value && IsDimensionName(dim.param)) state_.builder.symbols().Symbol(dim.param);
    }
  }
  for (const ValueInfoProto& input : graph_.inputs) {
    const bool has_value = initialized.count(input.name) != 0;
    if (has_value && state_.overridden_inputs.count(input.name) == 0) continue;
    WHERRY_ENFORCE(!input.name.empty(), kCorrupt, "an input of graph ", Quote(graph_.name), " has no name");
    WHERRY_ENFORCE(!input.kind.empty(), kCorrupt, "input ", Quote(input.name), " has no type");
    if (input.kind == "sequence" || input.kind == "optional") {
      AddSequenceInput(input);
      continue;
    }
    WHERRY_ENFORCE(input.kind == "tensor", kUnsupported, "input ", Quote(input.name), " is a ", input.kind,
                   ", not a tensor");
    WHERRY_ENFORCE(DataTypeOf(input.data_type) != DataType::kUndefined, kUnsupported, "input ", Quote(input.name),
                   " has elements of type ", NameOfDataType(input.data_type), ", which Wherry does not have");
    Define(input.name, block_.AddInput(input.name, MetaOf(input, true)));
  }
  AddInitializers();
}

void GraphImporter::AddSequenceInput(const ValueInfoProto& input) {
  const std::string value = block_.AddInput(input.name, MetaTensor(DataType::kSequence, {}));
  const bool of_tensors = input.element_kind == "tensor";
  state_.builder.SetElementType(value, of_tensors ? DataTypeOf(input.data_type) : DataType::kSequence);
  if (input.kind == "optional") state_.builder.SetOptional(value);
  Define(input.name, value);
}

void GraphImporter::AddInitializers() {
  const bool is_main = call_ == nullptr && parent_ == nullptr;
  for (const TensorProto& initializer : graph_.initializers) {
    WHERRY_ENFORCE(!initializer.name.empty(), kCorrupt, "an initializer of graph ", Quote(graph_.name), " has no name");
    // An input in its place.
    if (is_main && state_.overridden_inputs.count(initializer.name) != 0 && values_.count(initializer.name) != 0)
      continue;
    DenseTensor tensor = state_.tensors.Read(initializer);
    state_.builder.SetFileBytes(state_.tensors.file_bytes());
    Define(initializer.name, state_.builder.AddConstant(initializer.name, std::move(tensor)));
  }
}

std::vector<std::string> GraphImporter::Outputs() {
  std::vector<std::string> values;
  for (const ValueInfoProto& output : graph_.outputs) {
    const std::optional<std::string> value = Find(output.name);
    if (value && !value->empty()) {
      values.push_back(*value);
      continue;
    }
    std::string giver;
    WHERRY_ENFORCE(!IsDropped(output.name, &giver), kUnsupported, "output ", Quote(output.name), " is a result of ",
                   giver, " that Wherry does not give");
    Throw(ErrorCode::kCorrupt, "output ", Quote(output.name), " of graph ", Quote(graph_.name), " is given by no node");
  }
  return values;
}

int GraphImporter::OpsetOf(const std::string& domain) const {
  for (const Opsets* opsets : {call_ == nullptr ? nullptr : &call_->function->opsets, &state_.model.opsets}) {
    if (opsets == nullptr) continue;
    const auto it = opsets->find(domain);
    constexpr int64_t kMost = 1'000'000;
    if (it != opsets->end()) return static_cast<int>(std::clamp<int64_t>(it->second, -1, kMost));
  }
  return 0;
}

NodeProto GraphImporter::Resolved(const NodeProto& node) {
  NodeProto resolved = node;
  ForeignOp& op = resolved.op;
  for (const auto& [name, reference] : node.references) {
    WHERRY_ENFORCE(call_ != nullptr, kCorrupt, Describe(op), ": attribute ", Quote(name), " refers to ",
                   Quote(reference), ", but stands in no function");
    for (const NodeProto* from : {call_->arguments, &call_->function->defaults}) {
      const auto value = from->op.attrs.find(reference);
      if (value == from->op.attrs.end()) continue;
      op.attrs[name] = value->second;
      if (const auto tensor = from->tensors.find(reference); tensor != from->tensors.end())
        resolved.tensors[name] = tensor->second;
      WHERRY_ENFORCE(from->graphs.count(reference) == 0, kUnsupported, "attribute ", Quote(name),
                     " is a graph that a function was given");
      break;
    }
  }
  for (ForeignOp::Slot& slot : op.inputs) {
    if (slot.values.empty()) continue;
    std::string& name = slot.values[0];
    const std::optional<std::string> value = Find(name);
    if (!value) {
      std::string giver;
      WHERRY_ENFORCE(!IsDropped(name, &giver), kUnsupported, "it reads ", Quote(name), ", a result of ", giver,
                     " that Wherry does not give");
      Throw(ErrorCode::kCorrupt, Describe(op), " reads ", Quote(name), ", which nothing gives");
    }
    name = *value;
    if (name.empty()) slot.values.clear();
  }
  return resolved;
}

void GraphImporter::TakeResults(const OnnxContext& context) {
  for (const auto& [name, value] : context.results()) {
    Define(name, value);
    const ValueInfoProto* info = FindInfo(name);
    if (info != nullptr && info->dims && info->dims->size() <= static_cast<size_t>(Shape::kMaxRank))
      block_.SetRank(value, static_cast<int>(info->dims->size()));
  }
  for (const ForeignOp::Slot& slot : context.op().outputs) {
    for (const std::string& name : slot.values) {
      if (values_.count(name) == 0) dropped_.emplace(name, Describe(context.op()));
    }
  }
}

GraphImporter::ImportFn GraphImporter::ControlFlowOf(const ForeignOp& op) {
  if (op.domain == "ai.onnx.preview" && op.type == "FlexAttention") return &GraphImporter::ImportFlexAttention;
  if (!op.domain.empty()) return nullptr;
  if (op.type == "SequenceMap") return &GraphImporter::ImportSequenceMap;
  if (op.type == "If") return &GraphImporter::ImportIf;
  if (op.type == "Loop") return &GraphImporter::ImportLoop;
  if (op.type == "Scan") return &GraphImporter::ImportScan;
  return nullptr;
}

void GraphImporter::ScanGraphs(const NodeProto& node) {
  for (const auto& [attr, graph] : node.graphs) {
    for (const NodeProto& inner : graph->nodes) {
      ForeignOp op = inner.op;
      op.opset = OpsetOf(op.domain);
      if (!IsConvertible(op) && ControlFlowOf(op) == nullptr)
        state_.converter.unsupported().Add(op, StrCat("opset ", op.opset));
      ScanGraphs(inner);
    }
  }
}

void GraphImporter::ImportNodes() {
  if (call_ != nullptr) {
    state_.called_nodes += static_cast<int64_t>(graph_.nodes.size());
    WHERRY_ENFORCE(state_.called_nodes <= ModelState::kMostCalledNodes, kUnsupported,
                   "calls of functions stand for more than ", ModelState::kMostCalledNodes, " nodes");
  }
  for (const size_t i : OrderOfNodes(graph_)) ImportNode(graph_.nodes[i]);
}

void GraphImporter::ImportNode(const NodeProto& node) {
  const OpConverter::DeclaredMeta declared = [this](const std::string& name) { return DeclaredMeta(name); };
  const ModelProto::FunctionKey key{node.op.domain, node.op.type, node.overload};
  const auto function = state_.model.functions.find(key);
  const bool is_call = function != state_.model.functions.end();
  const ImportFn control_flow = ControlFlowOf(node.op);
  const int opset = OpsetOf(node.op.domain);
  NodeProto resolved = node;
  resolved.op.opset = opset;
  std::string problem = is_call ? "" : OpsetProblem(resolved.op);
  if (problem.empty() && !is_call && control_flow == nullptr && !IsConvertible(resolved.op))
    problem = StrCat("opset ", opset);
  if (problem.empty()) {
    try {
      resolved = Resolved(node);
      resolved.op.opset = opset;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      problem = error.message();
    }
  }
  OnnxContext context(resolved.op, resolved, &block_, &state_.tensors);
  if (!problem.empty()) {
    state_.converter.Reject(&context, problem, declared);
    ScanGraphs(node);
  } else if (is_call) {
    state_.converter.ConvertWith(
        &context, [&] { ImportCall(resolved, &context, function->second); }, declared);
  } else if (control_flow != nullptr) {
    state_.converter.ConvertWith(
        &context, [&] { (this->*control_flow)(resolved, &context); }, declared);
  } else {
    state_.converter.ConvertWith(
        &context,
        [&] {
          const DataType stored = HoldOperands(&context, &resolved.op);
          ConvertOp(&context, &context);
          StoreResults(&context, stored);
        },
        declared);
  }
  TakeResults(context);
}

void GraphImporter::ImportCall(const NodeProto& node, OnnxContext* context, const FunctionProto& function) {
  const GraphProto& body = function.body;
  const Call call{&function, &node, call_};
  for (const Call* outer = call_; outer != nullptr; outer = outer->caller) {
    if (outer->function == &function) {
      context->Corrupt("the function ", Quote(body.name), " calls itself, directly or through others (recursion)");
    }
  }
  if (node.op.inputs.size() > body.inputs.size() || node.op.outputs.size() > body.outputs.size()) {
    context->Corrupt("the function takes ", body.inputs.size(), " inputs and gives ", body.outputs.size(),
                     " results; the call has ", node.op.inputs.size(), " and ", node.op.outputs.size());
  }
  GraphImporter child(&state_, body, &block_, nullptr, &call, depth_ + 1);
  for (size_t i = 0; i < body.inputs.size(); ++i) child.Define(body.inputs[i].name, context->OptionalInput(i));
  child.ImportNodes();
  for (size_t i = 0; i < node.op.outputs.size(); ++i) {
    const std::optional<std::string> value = child.Find(body.outputs[i].name);
    if (value && !value->empty()) context->Bind(i, *value);
  }
}

}  // namespace wherry::onnx
