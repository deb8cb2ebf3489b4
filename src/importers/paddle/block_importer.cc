#include "importers/paddle/block_importer.h"

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"
#include "importer/apply_rule.h"

namespace wherry::paddle {

namespace {

// feed and fetch operators by the place (`col`) that they stand for. Error(kCorrupt) if two stand for one.
std::vector<const OperatorDesc*> ByColumn(const BlockDesc& block, const std::string& type) {
  std::vector<std::pair<int64_t, const OperatorDesc*>> found;
  for (const OperatorDesc& desc : block.ops) {
    if (desc.op.type != type) continue;
    const Attribute* col = desc.op.FindAttr("col");
    const auto* number = col == nullptr ? nullptr : std::get_if<int64_t>(col);
    WHERRY_ENFORCE(col == nullptr || number != nullptr, kCorrupt, Describe(desc.op),
                   ": attribute col is not an integer");
    found.emplace_back(number == nullptr ? 0 : *number, &desc);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const OperatorDesc*> ops;
  for (const auto& [col, desc] : found) {
    const auto before = ops.size();
    WHERRY_ENFORCE(before == 0 || found[before - 1].first != col, kCorrupt, Describe(desc->op), " is for column ", col,
                   ", as ", Describe(found[before - 1].second->op), " is");
    ops.push_back(desc);
  }
  return ops;
}

std::string OnlyValue(const OperatorDesc& desc, const std::vector<ForeignOp::Slot>& slots, const char* name) {
  for (const ForeignOp::Slot& slot : slots) {
    if (slot.name == name && slot.values.size() == 1 && !slot.values[0].empty()) return slot.values[0];
  }
  Throw(ErrorCode::kCorrupt, Describe(desc.op), " does not name one variable as ", name);
}

}  // namespace

const VarDesc* BlockImporter::FindVar(const std::string& name) const {
  const auto it = desc_.vars.find(name);
  if (it != desc_.vars.end()) return &it->second;
  return parent_ == nullptr ? nullptr : parent_->FindVar(name);
}

std::optional<int> BlockImporter::DeclaredRank(const std::string& name) const {
  const VarDesc* var = FindVar(name);
  // No dimensions may be a scalar's, or, in files of Paddle before 2.5, those of a shape that was not known.
  if (var == nullptr || var->type != VarDesc::kDenseTensor || var->dims.empty()) return std::nullopt;
  if (var->dims.size() > static_cast<size_t>(Shape::kMaxRank)) return std::nullopt;
  return static_cast<int>(var->dims.size());
}

MetaTensor BlockImporter::DeclaredMeta(const std::string& name) const {
  const VarDesc* var = FindVar(name);
  MetaTensor meta = MetaTensor::UnknownRank(var != nullptr && var->dtype ? *var->dtype : DataType::kUndefined);
  if (const auto rank = DeclaredRank(name)) {
    meta = MetaTensor(meta.dtype, std::vector<Dim>(static_cast<size_t>(*rank)));
    for (Dim& dim : meta.dims) dim = state_.builder.NewDim("d");
  }
  return meta;
}

void BlockImporter::AddFeeds() {
  for (const OperatorDesc* feed : ByColumn(desc_, "feed")) {
    const std::string name = OnlyValue(*feed, feed->op.outputs, "Out");
    const VarDesc* var = FindVar(name);
    WHERRY_ENFORCE(var != nullptr, kCorrupt, "input ", Quote(name), " is no variable of the main block");
    WHERRY_ENFORCE(values_.count(name) == 0, kCorrupt, "input ", Quote(name), " is fed twice");
    const DataType dtype = var->dtype.value_or(DataType::kFloat);
    WHERRY_ENFORCE(SizeOf(dtype) > 0, kUnsupported, "input ", Quote(name),
                   " has an element type that Wherry does not have");
    WHERRY_ENFORCE(var->dims.size() <= static_cast<size_t>(Shape::kMaxRank), kUnsupported, "input ", Quote(name),
                   " has ", var->dims.size(), " dimensions, at most ", Shape::kMaxRank, " are possible");
    MetaTensor meta(dtype, {});
    if (!var->dtype) meta = MetaTensor::UnknownRank(dtype);
    for (size_t i = 0; i < var->dims.size(); ++i) {
      meta.dims.push_back(var->dims[i] < 0 ? state_.builder.NewDim(StrCat(name, "_", i)) : Dim(var->dims[i]));
    }
    values_[name] = block_.AddInput(name, std::move(meta));
    if (var->lod_level > 0) NoteOneSequence(name);
  }
}

// No input has lengths beside it: one that may have is one sequence.
void BlockImporter::NoteOneSequence(const std::string& variable) {
  ForeignOp op;
  op.type = "feed";
  OpContext context(op, &block_);
  state_.notes.lengths[values_.at(variable)] = context.Dimension(values_.at(variable), 0);
}

void BlockImporter::SetFetches() {
  std::vector<std::string> outputs;
  std::vector<std::string> names;
  for (const OperatorDesc* fetch : ByColumn(desc_, "fetch")) {
    const std::string name = OnlyValue(*fetch, fetch->op.inputs, "X");
    const std::string value = Find(name);
    WHERRY_ENFORCE(!value.empty(), kCorrupt, "output ", Quote(name), " is set by no operator");
    outputs.push_back(value);
    names.push_back(name);
  }
  WHERRY_ENFORCE(!outputs.empty(), kCorrupt, state_.model, " has no fetch operator, so no output");
  block_.SetOutputs(std::move(outputs), std::move(names));
}

std::string BlockImporter::Find(const std::string& variable) {
  const auto own = values_.find(variable);
  if (own != values_.end()) return own->second;
  if (parent_ == nullptr) {
    const auto param = state_.params.find(variable);
    return param == state_.params.end() ? "" : param->second;
  }
  const std::string value = parent_->Find(variable);
  if (!value.empty()) block_.Capture(parent_->block_, value);
  return value;
}

ForeignOp BlockImporter::Resolved(const OperatorDesc& desc) {
  ForeignOp op = desc.op;
  // Values are named after the first result: let that be the one that everybody reads.
  std::stable_partition(op.outputs.begin(), op.outputs.end(), [](const ForeignOp::Slot& slot) {
    return slot.name == "Out" || slot.name == "Output" || slot.name == "Y" || slot.name == "out";
  });
  for (const ForeignOp::Slot& slot : op.outputs) {
    for (const std::string& name : slot.values) {
      if (op.label.empty()) op.label = name;
    }
  }
  // An array is written in place; one that has no value yet is empty.
  if (const ForeignOp::Slot* array = op.type == "write_to_array" ? op.FindOutput("Out") : nullptr;
      array != nullptr && array->values.size() == 1 && !Find(array->values[0]).empty()) {
    op.inputs.push_back({"Array", {array->values[0]}});
  }
  for (ForeignOp::Slot& slot : op.inputs) {
    for (std::string& name : slot.values) {
      if (name.empty()) continue;
      const std::string value = Find(name);
      if (value.empty()) {
        const auto dropped = dropped_.find(name);
        WHERRY_ENFORCE(dropped == dropped_.end(), kUnsupported, "it reads ", Quote(name), ", a result of ",
                       dropped->second, " that has no value when a trained network runs");
        Throw(ErrorCode::kCorrupt, Describe(op), " reads variable ", Quote(name), ", which no operator before it sets");
      }
      name = value;
    }
  }
  return op;
}

void BlockImporter::TakeResults(const OpContext& context) {
  for (const auto& [variable, value] : context.results()) {
    values_[variable] = value;
    dropped_.erase(variable);
    if (const auto rank = DeclaredRank(variable)) block_.SetRank(value, *rank);
  }
  for (const ForeignOp::Slot& slot : context.op().outputs) {
    for (const std::string& variable : slot.values) {
      // Batch norm's MeanOut is its input Mean: that keeps its value.
      if (!variable.empty() && Find(variable).empty()) dropped_.emplace(variable, Describe(context.op()));
    }
  }
}

void BlockImporter::ImportOps() {
  constexpr int kMostNesting = 32;
  WHERRY_ENFORCE(Depth() <= kMostNesting, kUnsupported, state_.model, " nests blocks more than ", kMostNesting,
                 " deep");
  for (position_ = 0; position_ < desc_.ops.size(); ++position_) ImportOp(desc_.ops[position_]);
}

void BlockImporter::ImportOp(const OperatorDesc& desc) {
  const std::string& type = desc.op.type;
  if (type == "feed" || type == "fetch") return;
  const OpContext::RankLookup rank = [this](const std::string& name) { return DeclaredRank(name); };
  const OpConverter::DeclaredMeta declared = [this](const std::string& name) { return DeclaredMeta(name); };
  const bool conditional = type == "conditional_block" && desc.blocks.count("sub_block") != 0;
  if (type == "while" && desc.blocks.count("sub_block") != 0) {
    OpContext context(desc.op, &block_);
    state_.converter.ConvertWith(
        &context, [&] { ImportWhile(desc); }, declared);
    return TakeResults(context);
  }
  if (!conditional && type != "select_input" && !IsConvertible(desc.op)) {
    OpContext context(desc.op, &block_);
    state_.converter.Reject(&context, "", declared);
    ScanBlocks(desc);
    return TakeResults(context);
  }
  ForeignOp op;
  try {
    if (conditional || type == "select_input") {
      op = desc.op;
    } else {
      op = Resolved(desc);
    }
  } catch (Error& error) {
    if (error.code() != ErrorCode::kUnsupported) throw;
    OpContext context(desc.op, &block_);
    state_.converter.Reject(&context, error.message(), declared);
    return TakeResults(context);
  }
  OpContext context(op, &block_);
  context.declared_rank = &rank;
  context.declared_meta = &declared;
  context.notes = &state_.notes;
  if (conditional) {
    state_.converter.ConvertWith(
        &context, [&] { ImportConditional(desc, &context); }, declared);
    // Its results have no value before a select_input chooses.
    if (context.results().empty()) return;
  } else if (type == "select_input") {
    state_.converter.ConvertWith(
        &context, [&] { ImportSelect(desc, &context); }, declared);
  } else {
    state_.converter.Convert(&context, &context, declared);
    context.PassLengths();
  }
  TakeResults(context);
  if ((type == "logical_not" || type == "cast") && context.results().size() == 1) {
    origins_[context.results()[0].second] = {type, context.Input({"X"})};
  }
}

}  // namespace wherry::paddle
