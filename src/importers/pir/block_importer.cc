#include "importers/pir/block_importer.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/strings.h"
#include "importer/apply_rule.h"
#include "importer/import_rule.h"
#include "op/control_flow.h"

namespace wherry::pir {

namespace {

// Import rules and converters know the operators of pd_op by their names alone.
std::string TypeOf(const Operator& op) { return op.dialect == "pd_op" ? op.name : op.dialect + "." + op.name; }

// Operators whose name ends in '_' write an operand, and one more. Which operand; -1: none.
int WrittenOperand(const std::string& type) {
  if (type == "array_pop") return 0;
  if (type.empty() || type.back() != '_') return -1;
  // Batch norm leaves its statistics alone when a network runs; share_data_ is a view.
  if (type == "batch_norm_" || type == "sync_batch_norm_" || type == "share_data_") return -1;
  return type == "assign_out_" ? 1 : 0;
}

bool IsStructure(const std::string& type) {
  for (const char* known : {"if", "while", "data", "feed", "fetch", "builtin.parameter", "builtin.combine",
                            "builtin.split", "builtin.slice", "builtin.shadow_output", "cf.yield"}) {
    if (type == known) return true;
  }
  return false;
}

MetaTensor MetaOf(const Type& type, ProgramBuilder* builder, const std::string& stem) {
  if (type.kind != Type::Kind::kTensor || type.dims.size() > static_cast<size_t>(Shape::kMaxRank)) {
    return MetaTensor::UnknownRank(type.dtype);
  }
  MetaTensor meta(type.dtype, {});
  for (size_t i = 0; i < type.dims.size(); ++i) {
    meta.dims.push_back(type.dims[i] < 0 ? builder->NewDim(StrCat(stem, "_", i)) : Dim(type.dims[i]));
  }
  return meta;
}

template <typename T>
T AttrOr(const Operator& op, const char* name, const T& fallback) {
  const auto it = op.attrs.find(name);
  if (it == op.attrs.end()) return fallback;
  const T* value = std::get_if<T>(&it->second);
  WHERRY_ENFORCE(value != nullptr, kCorrupt, "attribute ", name, " is of another type");
  return *value;
}

}  // namespace

std::vector<std::string> BlockImporter::Find(int64_t id) {
  if (id == 0) return {};
  const auto own = values_.find(id);
  if (own != values_.end()) {
    state_.lookups += own->second.size();
    WHERRY_ENFORCE(state_.lookups <= ProgramState::kMostLookups, kResourceExhausted, "its operators read more than ",
                   ProgramState::kMostLookups, " tensors");
    return own->second;
  }
  WHERRY_ENFORCE(parent_ != nullptr, kCorrupt, "it reads value ", id, ", which no operator before it makes");
  const std::vector<std::string> values = parent_->Find(id);
  for (const std::string& value : values) {
    if (!value.empty()) block_.Capture(parent_->block_, value);
  }
  return values;
}

std::string BlockImporter::FindWritten(int64_t id) {
  std::vector<std::string> values = Find(id);
  WHERRY_ENFORCE(values.size() == 1 && !values[0].empty(), kUnsupported, "its block writes value ", id,
                 ", which is not one tensor");
  return std::move(values[0]);
}

void BlockImporter::AddData(const Operator& op) {
  WHERRY_ENFORCE(parent_ == nullptr, kCorrupt, "an input inside of a branch");
  WHERRY_ENFORCE(op.results.size() == 1, kCorrupt, "an input has ", op.results.size(), " results, expected one");
  const Value& result = op.results[0];
  const auto name = AttrOr<std::string>(op, "name", StrCat("input_", result.id));
  Type type = result.type;
  if (type.kind != Type::Kind::kTensor) {  // what the attributes say
    type.kind = Type::Kind::kTensor;
    type.dtype = AttrOr<DataType>(op, "dtype", DataType::kUndefined);
    type.dims = AttrOr<std::vector<int64_t>>(op, "shape", {});
  }
  WHERRY_ENFORCE(SizeOf(type.dtype) > 0, kUnsupported, "input ", Quote(name),
                 " has an element type that Wherry does not have");
  WHERRY_ENFORCE(type.dims.size() <= static_cast<size_t>(Shape::kMaxRank), kUnsupported, "input ", Quote(name), " has ",
                 type.dims.size(), " dimensions, at most ", Shape::kMaxRank, " are possible");
  WHERRY_ENFORCE(state_.inputs.insert(name).second, kCorrupt, "input ", Quote(name), " is there twice");
  values_[result.id] = {block_.AddInput(name, MetaOf(type, &state_.builder, name))};
}

bool BlockImporter::ImportStructure(const Operator& op) {
  const std::string type = TypeOf(op);
  const auto vector_of = [&] {
    WHERRY_ENFORCE(state_.vectors.count(op.operands[0]) != 0, kCorrupt, "it takes value ", op.operands[0],
                   " apart, which is no vector");
    return Find(op.operands[0]);
  };
  const auto expect = [](const char* what, size_t count, size_t expected) {
    WHERRY_ENFORCE(count == expected, kCorrupt, "it has ", count, " ", what, ", expected ", expected);
  };
  if (type == "builtin.parameter") {
    // Loaded before; one that is in no file (the dropout state of rnn) is an absent operand.
    if (!op.persistable) values_[op.results.at(0).id] = {};
    return true;
  }
  if (type == "data" || type == "feed") {
    AddData(op);
  } else if (type == "fetch" || type == "builtin.shadow_output") {
    expect("operands", op.operands.size(), 1);
    const std::vector<std::string> values = Find(op.operands[0]);
    WHERRY_ENFORCE(parent_ == nullptr && values.size() == 1, kCorrupt, "an output is not one tensor");
    WHERRY_ENFORCE(!values[0].empty(), kUnsupported,
                   "an output is a result of an operator that Wherry does not compute, or nothing");
    const auto col = AttrOr<int64_t>(op, "col", static_cast<int64_t>(fetches_.size()));
    const auto name = AttrOr<std::string>(op, "name", AttrOr<std::string>(op, "output_name", StrCat("output_", col)));
    const bool is_new = fetches_.emplace(col, std::make_pair(name, values[0])).second;
    WHERRY_ENFORCE(is_new, kCorrupt, "an output before it is for column ", col, " too");
  } else if (type == "builtin.combine") {
    expect("results", op.results.size(), 1);
    std::vector<std::string> all;
    for (const int64_t operand : op.operands) {
      const std::vector<std::string> values = Find(operand);
      all.push_back(values.size() == 1 ? values[0] : "");
    }
    values_[op.results[0].id] = std::move(all);
    state_.vectors.insert(op.results[0].id);
  } else if (type == "builtin.split") {
    expect("operands", op.operands.size(), 1);
    const std::vector<std::string> values = vector_of();
    WHERRY_ENFORCE(values.size() == op.results.size(), kCorrupt, "it takes a vector of ", values.size(), " apart into ",
                   op.results.size(), " values");
    for (size_t i = 0; i < values.size(); ++i) values_[op.results[i].id] = {values[i]};
  } else if (type == "builtin.slice") {
    expect("operands", op.operands.size(), 1);
    expect("results", op.results.size(), 1);
    const std::vector<std::string> values = vector_of();
    const auto index = AttrOr<int64_t>(op, "index", -1);
    WHERRY_ENFORCE(index >= 0 && index < static_cast<int64_t>(values.size()), kCorrupt, "it takes element ", index,
                   " of a vector of ", values.size());
    values_[op.results[0].id] = {values[static_cast<size_t>(index)]};
  } else if (type == "cf.yield") {
    WHERRY_ENFORCE(parent_ != nullptr && &op == &desc_.ops.back(), kCorrupt, "it is not at the end of a branch");
    for (const int64_t operand : op.operands) {
      const std::vector<std::string> values = Find(operand);
      WHERRY_ENFORCE(values.size() == 1 && !values[0].empty(), kUnsupported,
                     "a branch gives a value that is not one tensor");
      yielded_.push_back(values[0]);
    }
  } else {
    return false;
  }
  return true;
}

ForeignOp BlockImporter::ToForeign(const Operator& op, int index) {
  ForeignOp foreign;
  foreign.format = "pir";
  foreign.type = TypeOf(op);
  // The form that writes an operand computes the same.
  if (WrittenOperand(foreign.type) == 0 && !IsConvertible(foreign)) {
    ForeignOp plain = foreign;
    plain.type.pop_back();
    if (IsConvertible(plain)) foreign.type = plain.type;
  }
  foreign.block = number_;
  foreign.index = index;
  foreign.attrs = op.attrs;
  foreign.complete = true;
  for (const Value& result : op.results) {
    ForeignOp::Slot slot;
    if (result.id != 0) {
      const std::string name = StrCat(op.name, "_", result.id);
      if (foreign.label.empty()) foreign.label = name;
      if (result.type.kind == Type::Kind::kVector) {
        for (size_t k = 0; k < result.type.elements.size(); ++k) slot.values.push_back(StrCat(name, ".", k));
      } else {
        slot.values = {name};
      }
    }
    foreign.outputs.push_back(std::move(slot));
  }
  return foreign;
}

void BlockImporter::TakeResults(const Operator& op, const ForeignOp& foreign, const paddle::OpContext& context) {
  const std::map<std::string, std::string> bound(context.results().begin(), context.results().end());
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (op.results[i].id == 0) continue;
    if (op.results[i].type.kind == Type::Kind::kVector) state_.vectors.insert(op.results[i].id);
    // A result that is not bound (a mask, statistics of training) is an empty value, an Error where it is read.
    std::vector<std::string>& values = values_[op.results[i].id];
    values.clear();
    for (const std::string& name : foreign.outputs[i].values) {
      const auto it = bound.find(name);
      values.push_back(it == bound.end() ? "" : it->second);
    }
    const Type& type = op.results[i].type;
    if (type.kind == Type::Kind::kTensor && type.dims.size() <= static_cast<size_t>(Shape::kMaxRank) &&
        values.size() == 1 && !values[0].empty()) {
      block_.SetRank(values[0], static_cast<int>(type.dims.size()));
    }
  }
}

void BlockImporter::ImportOps() {
  constexpr int kMostNesting = 32;
  int depth = 0;
  for (const BlockImporter* outer = parent_; outer != nullptr; outer = outer->parent_) ++depth;
  WHERRY_ENFORCE(depth <= kMostNesting, kUnsupported, state_.model, " nests blocks more than ", kMostNesting, " deep");
  for (size_t i = 0; i < desc_.ops.size(); ++i) ImportOp(desc_.ops[i], static_cast<int>(i));
}

void BlockImporter::ImportOp(const Operator& op, int index) {
  ForeignOp foreign = ToForeign(op, index);
  paddle::OpContext context(foreign, &block_);
  const OpConverter::DeclaredMeta declared = [&](const std::string& name) {
    for (size_t i = 0; i < op.results.size(); ++i) {
      const auto& names = foreign.outputs[i].values;
      const auto at = std::find(names.begin(), names.end(), name);
      if (at == names.end()) continue;
      const Type& type = op.results[i].type;
      const auto k = static_cast<size_t>(at - names.begin());
      return MetaOf(type.kind == Type::Kind::kVector ? type.elements[k] : type, &state_.builder, name);
    }
    return MetaTensor::UnknownRank(DataType::kUndefined);
  };
  context.declared_meta = &declared;
  context.notes = &state_.notes;
  const bool owns_blocks = foreign.type == "if" || foreign.type == "while";
  if (!owns_blocks && IsStructure(foreign.type)) {
    state_.converter.ConvertWith(
        &context, [&] { ImportStructure(op); }, declared);
    // Placeholders, if that failed.
    if (!context.results().empty()) TakeResults(op, foreign, context);
    return;
  }
  if (!owns_blocks && !IsConvertible(foreign)) {
    state_.converter.Reject(&context, "", declared);
    Scan(op);
    return TakeResults(op, foreign, context);
  }
  const auto resolve = [&] {
    for (const int64_t operand : op.operands) {
      std::vector<std::string> values = Find(operand);
      const bool dropped = values.size() == 1 && values[0].empty();
      WHERRY_ENFORCE(!dropped, kUnsupported, "it reads value ", operand,
                     ", which has no value when a trained network runs");
      foreign.inputs.push_back({"", std::move(values)});
    }
  };
  const int written = WrittenOperand(TypeOf(op));
  state_.converter.ConvertWith(
      &context,
      [&] {
        resolve();
        const bool writes = written >= 0 && static_cast<size_t>(written) < op.operands.size();
        WHERRY_ENFORCE(!writes || values_.count(op.operands[static_cast<size_t>(written)]) != 0, kUnsupported,
                       "it writes a value of an outer block");
        WHERRY_ENFORCE(!writes || (!op.results.empty() && op.results[0].id != 0), kCorrupt,
                       "it writes an operand, but has no result");
        if (foreign.type == "if") {
          ImportIf(op, &context);
        } else if (foreign.type == "while") {
          ImportWhile(op, &context);
        } else {
          const ImportRule* rule = FindImportRule(foreign.format, foreign.domain, foreign.type);
          if (rule != nullptr)
            context.ExpectForm(static_cast<int>(rule->inputs.size()), static_cast<int>(rule->outputs.size()));
          ConvertOp(&context, &context);
        }
      },
      declared);
  TakeResults(op, foreign, context);
  if (written >= 0 && static_cast<size_t>(written) < op.operands.size() && !op.results.empty() &&
      op.results[0].id != 0) {
    const auto result = values_.find(op.results[0].id);
    if (result != values_.end())
      values_[op.operands[static_cast<size_t>(written)]] = std::vector<std::string>(result->second);
  }
}

std::vector<int64_t> BlockImporter::WrittenOutside(const std::vector<Block>& blocks) {
  std::vector<int64_t> written;
  for (const Block& block : blocks) {
    std::set<int64_t> inside;
    for (const Value& arg : block.args) inside.insert(arg.id);
    const auto note = [&](int64_t id) {
      if (inside.count(id) == 0 && std::find(written.begin(), written.end(), id) == written.end())
        written.push_back(id);
    };
    for (const Operator& op : block.ops) {
      const int operand = WrittenOperand(TypeOf(op));
      if (operand >= 0 && static_cast<size_t>(operand) < op.operands.size())
        note(op.operands[static_cast<size_t>(operand)]);
      // The parser has bounded how deep blocks nest.
      for (const int64_t id : WrittenOutside(op.blocks)) note(id);
      for (const Value& result : op.results) inside.insert(result.id);
    }
  }
  return written;
}

void BlockImporter::ImportIf(const Operator& op, paddle::OpContext* context) {
  WHERRY_ENFORCE(op.blocks.size() == 2 && op.operands.size() == 1, kCorrupt, "it has ", op.blocks.size(),
                 " blocks and ", op.operands.size(), " operands, expected 2 and 1");
  const std::string cond = context->Input(0);
  // What a branch writes of its outer blocks is a result of both.
  const std::vector<int64_t> written = WrittenOutside(op.blocks);
  BlockBuilder* builders[2];
  for (size_t i = 0; i < 2; ++i) {
    builders[i] = &state_.builder.NewBlock();
    BlockImporter branch(&state_, op.blocks[i], builders[i], this);
    for (const int64_t id : written) branch.values_[id] = branch.Find(id);
    branch.ImportOps();
    WHERRY_ENFORCE(branch.yielded_.size() == op.results.size(), kCorrupt, "a branch gives ", branch.yielded_.size(),
                   " values, expected ", op.results.size());
    for (const int64_t id : written) branch.yielded_.push_back(branch.FindWritten(id));
    builders[i]->SetOutputs(branch.yielded_);
  }
  std::vector<std::string> stems;
  for (const Value& result : op.results) stems.push_back(StrCat("if_", result.id));
  for (const int64_t id : written) stems.push_back(StrCat("if_", id));
  const std::vector<std::string> results = block_.AddIf(cond, builders[0], builders[1], stems, context->op().label);
  for (size_t i = 0; i < op.results.size(); ++i) context->Bind(i, results[i]);
  for (size_t i = 0; i < written.size(); ++i) values_[written[i]] = {results[op.results.size() + i]};
}

// Carries its operands, and what its block writes of outer blocks.
void BlockImporter::ImportWhile(const Operator& op, paddle::OpContext* context) {
  WHERRY_ENFORCE(op.blocks.size() == 1 && op.operands.size() == op.results.size() + 1 &&
                     op.blocks[0].args.size() == op.results.size(),
                 kCorrupt, "it has ", op.blocks.size(), " blocks, ", op.operands.size(), " operands and ",
                 op.results.size(), " results");
  const std::vector<Value>& args = op.blocks[0].args;
  std::vector<int64_t> inside;
  std::vector<std::string> carried;
  std::vector<std::string> stems;
  for (size_t i = 0; i < args.size(); ++i) {
    inside.push_back(args[i].id);
    carried.push_back(context->Input(i + 1));
    stems.push_back(StrCat("while_", op.results[i].id));
  }
  for (const int64_t id : WrittenOutside(op.blocks)) {
    inside.push_back(id);
    carried.push_back(FindWritten(id));
    stems.push_back(StrCat("while_", id));
  }
  std::vector<MetaTensor> types;
  for (const std::string& value : carried) types.push_back(block_.Meta(value));
  const std::string cond = context->Input(0);
  BlockBuilder& body = state_.builder.NewLoopBody(block_.Meta(cond), types, [&](BlockBuilder* block) {
    BlockImporter importer(&state_, op.blocks[0], block, this);
    for (size_t i = 0; i < inside.size(); ++i) {
      importer.values_[inside[i]] = {block->inputs()[kLoopLeadingInputs + i]};
    }
    importer.ImportOps();
    WHERRY_ENFORCE(importer.yielded_.size() == args.size() + 1, kCorrupt, "its block gives ", importer.yielded_.size(),
                   " values, expected ", args.size() + 1);
    for (size_t i = args.size(); i < inside.size(); ++i) importer.yielded_.push_back(importer.FindWritten(inside[i]));
    block->SetOutputs(importer.yielded_);
    return state_.converter.unsupported().empty();
  });
  const std::vector<std::string> results = block_.AddLoop("", cond, carried, &body, stems, context->op().label);
  for (size_t i = 0; i < results.size(); ++i) {
    if (i < args.size()) {
      context->Bind(i, results[i]);
    } else {
      values_[inside[i]] = {results[i]};
    }
  }
}

void BlockImporter::Scan(const Operator& op) {
  // The parser has bounded how deep blocks nest.
  for (const Block& block : op.blocks) {
    const int number = state_.blocks++;
    for (size_t i = 0; i < block.ops.size(); ++i) {
      ForeignOp inner = ToForeign(block.ops[i], static_cast<int>(i));
      inner.block = number;
      if (!IsStructure(inner.type) && !IsConvertible(inner)) state_.converter.unsupported().Add(inner);
      Scan(block.ops[i]);
    }
  }
}

void BlockImporter::SetFetches() {
  std::vector<std::string> outputs;
  std::vector<std::string> names;
  for (const auto& [col, fetch] : fetches_) {
    names.push_back(fetch.first);
    outputs.push_back(fetch.second);
  }
  WHERRY_ENFORCE(!outputs.empty(), kCorrupt, state_.model, " has no fetch operator, so no output");
  block_.SetOutputs(std::move(outputs), std::move(names));
}

}  // namespace wherry::pir
