#include "importer/program_builder.h"

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"
#include "op/control_flow.h"
#include "op/infer_in_block.h"
#include "op/schema_registry.h"
#include "op/unknown_dim.h"

namespace wherry {

namespace {

// What is known of a value that may come from either of two places.
MetaTensor Either(const MetaTensor& a, const MetaTensor& b, SymbolTable* symbols) {
  WHERRY_ENFORCE(a.dtype == b.dtype, kInvalidArgument, "the branches give ", a.DebugString(), " and ", b.DebugString());
  if (!a.rank_known || !b.rank_known || a.rank() != b.rank()) return MetaTensor::UnknownRank(a.dtype);
  MetaTensor either(a.dtype, a.dims);
  for (size_t i = 0; i < either.dims.size(); ++i) {
    if (a.dims[i] != b.dims[i]) either.dims[i] = symbols->FreshSymbol("d");
  }
  return either;
}

// Counts up while it lives.
class Nested {
 public:
  explicit Nested(int* count) : count_(count) { ++*count_; }
  ~Nested() { --*count_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  int* count_;
};

}  // namespace

Block& BlockBuilder::block() const { return program_->program_.blocks[static_cast<size_t>(index_)]; }
const std::vector<std::string>& BlockBuilder::inputs() const { return block().inputs; }
const std::vector<std::string>& BlockBuilder::outputs() const { return block().outputs; }

std::string BlockBuilder::AddInput(const std::string& stem, MetaTensor meta) {
  const std::string name = program_->UniqueName(stem);
  block().inputs.push_back(name);
  block().values[name] = meta;
  metas_[name] = std::move(meta);
  return name;
}

void BlockBuilder::Capture(const BlockBuilder& outer, const std::string& value) {
  if (Knows(value)) return;
  const MetaTensor& meta = outer.Meta(value);
  block().inputs.push_back(value);
  block().values[value] = meta;
  metas_[value] = meta;
}

std::vector<std::string> BlockBuilder::Define(OpDesc op, const std::vector<std::pair<std::string, size_t>>& outputs,
                                              const std::vector<std::string>& stems, std::vector<MetaTensor> metas) {
  std::vector<std::string> names;
  for (const auto& [param, count] : outputs) {
    std::vector<std::string> bound;
    for (size_t i = 0; i < count; ++i) {
      const size_t position = names.size();
      bound.push_back(program_->UniqueName(stems[position]));
      metas_[bound.back()] = std::move(metas[position]);
      names.push_back(bound.back());
    }
    op.SetOutput(param, bound);
  }
  block().ops.push_back(std::move(op));
  return names;
}

std::vector<std::string> BlockBuilder::Add(OpDesc op, const std::vector<std::string>& stems) {
  const OpSchema& schema = SchemaRegistry::Global().Get(op.Type());
  std::vector<std::pair<std::string, size_t>> outputs;
  std::vector<size_t> counts;
  size_t left = stems.size();
  for (const OutputDef& output : schema.outputs) {
    const size_t count = output.is_list ? left : std::min<size_t>(left, 1);
    left -= count;
    counts.push_back(count);
    if (count > 0) outputs.emplace_back(output.name, count);
  }
  WHERRY_CHECK(left == 0, op.Type(), " has fewer than ", stems.size(), " outputs");
  // Validation wants the outputs there; the real names come after all checks, so that nothing is left behind by a
  // failure.
  for (const auto& [param, count] : outputs) op.SetOutput(param, std::vector<std::string>(count, "result"));
  ValidateOpDesc(schema, &op);

  std::vector<BoundArg> args(schema.args.size());
  for (size_t i = 0; i < schema.args.size(); ++i) {
    for (const std::string& value : op.Input(schema.args[i].name)) args[i].tensors.push_back(&Meta(value));
    const auto attr = op.attrs().find(schema.args[i].name);
    if (attr != op.attrs().end()) args[i].attribute = &attr->second;
  }
  std::vector<MetaTensor> metas;
  const bool in_block = index_ != 0;
  for (auto& results : in_block ? InferMetaInBlock(schema, args, counts) : InferMeta(schema, args, counts)) {
    for (MetaTensor& result : results) metas.push_back(std::move(result));
  }
  for (MetaTensor& meta : metas) {
    for (Dim& dim : meta.dims) {
      if (dim == kUnknownDim) dim = program_->NewDim("d");
    }
    // Nothing could run it; and a file could make every value after it large.
    WHERRY_ENFORCE(!meta.rank_known || meta.rank() <= Shape::kMaxRank, kUnsupported, op.Type(),
                   " gives a result of rank ", meta.rank(), ", at most ", Shape::kMaxRank, " is possible");
  }
  WHERRY_ENFORCE(metas.size() == stems.size(), kInvalidArgument, op.Type(), " gives ", metas.size(), " results, ",
                 stems.size(), " are expected");
  return Define(std::move(op), outputs, stems, std::move(metas));
}

std::vector<std::string> BlockBuilder::AddIf(const std::string& cond, BlockBuilder* then_block,
                                             BlockBuilder* else_block, const std::vector<std::string>& stems,
                                             const std::string& label) {
  for (BlockBuilder* child : {then_block, else_block}) {
    WHERRY_CHECK(child->outputs().size() == stems.size(), "a branch gives ", child->outputs().size(), " results for ",
                 stems.size());
    const std::vector<std::string> others = (child == then_block ? else_block : then_block)->inputs();
    for (const std::string& value : others) child->Capture(*this, value);
  }
  else_block->block().inputs = then_block->inputs();
  OpDesc op("if");
  op.SetLabel(label);
  op.SetInput("cond", {cond});
  op.SetInput("captures", then_block->inputs());
  op.SetBlocks({then_block->index(), else_block->index()});
  std::vector<MetaTensor> metas;
  for (size_t i = 0; i < stems.size(); ++i) {
    metas.push_back(Either(then_block->Meta(then_block->outputs()[i]), else_block->Meta(else_block->outputs()[i]),
                           &program_->symbols()));
  }
  const OpSchema& schema = SchemaRegistry::Global().Get("if");
  const std::vector<std::string> results =
      Define(std::move(op), {{schema.outputs[0].name, stems.size()}}, stems, std::move(metas));
  for (size_t i = 0; i < stems.size(); ++i) {
    program_->CopyElementType(then_block->outputs()[i], results[i]);
    program_->CopyElementType(else_block->outputs()[i], results[i]);
  }
  return results;
}

std::vector<std::string> BlockBuilder::AddLoop(const std::string& trip_count, const std::string& cond,
                                               const std::vector<std::string>& carried, BlockBuilder* body,
                                               const std::vector<std::string>& stems, const std::string& label) {
  const size_t first_capture = kLoopLeadingInputs + carried.size();
  WHERRY_CHECK(body->inputs().size() >= first_capture && stems.size() >= carried.size() &&
                   body->outputs().size() == kLoopLeadingOutputs + stems.size(),
               "a loop's block has ", body->inputs().size(), " inputs and ", body->outputs().size(), " outputs");
  OpDesc op("loop");
  op.SetLabel(label);
  if (!trip_count.empty()) op.SetInput("trip_count", {trip_count});
  if (!cond.empty()) op.SetInput("cond", {cond});
  op.SetInput("carried", carried);
  op.SetInput("captures", {body->inputs().begin() + static_cast<std::ptrdiff_t>(first_capture), body->inputs().end()});
  op.SetBlocks({body->index()});
  std::vector<MetaTensor> metas;
  for (size_t i = 0; i < stems.size(); ++i) {
    if (i < carried.size()) {
      metas.push_back(body->Meta(body->inputs()[kLoopLeadingInputs + i]));
      continue;
    }
    MetaTensor row = body->Meta(body->outputs()[kLoopLeadingOutputs + i]).WithoutValues();
    if (row.rank_known) row.dims.insert(row.dims.begin(), program_->NewDim("d"));
    metas.push_back(std::move(row));
  }
  const OpSchema& schema = SchemaRegistry::Global().Get("loop");
  const std::vector<std::string> results =
      Define(std::move(op),
             {{schema.outputs[0].name, carried.size()}, {schema.outputs[1].name, stems.size() - carried.size()}}, stems,
             std::move(metas));
  for (size_t i = 0; i < carried.size(); ++i) {
    program_->CopyElementType(body->outputs()[kLoopLeadingOutputs + i], results[i]);
  }
  return results;
}

void BlockBuilder::SetOutputs(std::vector<std::string> values, std::vector<std::string> names) {
  for (const std::string& value : values) WHERRY_CHECK(Knows(value), "block ", index_, " does not have ", Quote(value));
  block().outputs = std::move(values);
  block().output_names = std::move(names);
}

bool BlockBuilder::Knows(const std::string& value) const {
  return metas_.count(value) != 0 || program_->weight_metas_.count(value) != 0;
}

const MetaTensor& BlockBuilder::Meta(const std::string& value) const {
  const auto own = metas_.find(value);
  if (own != metas_.end()) return own->second;
  const auto weight = program_->weight_metas_.find(value);
  WHERRY_CHECK(weight != program_->weight_metas_.end(), "block ", index_, " does not have ", Quote(value));
  return weight->second;
}

void BlockBuilder::SetRank(const std::string& value, int rank) {
  const auto it = metas_.find(value);
  if (it == metas_.end() || it->second.rank_known) return;
  it->second = MetaTensor(it->second.dtype, std::vector<Dim>(static_cast<size_t>(rank)));
  for (Dim& dim : it->second.dims) dim = program_->NewDim("d");
}

ProgramBuilder::ProgramBuilder() { builders_.push_back(std::make_unique<BlockBuilder>(this, 0)); }

BlockBuilder& ProgramBuilder::NewBlock() {
  builders_.push_back(std::make_unique<BlockBuilder>(this, static_cast<int>(program_.blocks.size())));
  program_.blocks.emplace_back();
  return *builders_.back();
}

BlockBuilder& ProgramBuilder::NewLoopBody(const MetaTensor& cond, const std::vector<MetaTensor>& carried,
                                          const std::function<bool(BlockBuilder*)>& import) {
  const bool exact = loops_ < kMostExactLoops;
  std::vector<CarriedType> types;
  for (const MetaTensor& type : carried) {
    types.emplace_back(type);
    if (!exact) types.back().SetAnyDims(&symbols());
  }
  const size_t first = builders_.size();
  for (int pass = 0;; ++pass) {
    const Nested nested(&loops_);
    BlockBuilder& body = NewBlock();
    body.AddInput("iteration", MetaTensor(DataType::kInt64, {}));
    body.AddInput("condition", cond.WithoutValues());
    for (const CarriedType& type : types) body.AddInput("carried", type.type());
    bool again = false;
    try {
      const bool useful = import(&body);
      for (size_t i = 0; i < types.size(); ++i) {
        const MetaTensor& next = body.Meta(body.outputs().at(kLoopLeadingOutputs + i));
        if (useful && !types[i].Admits(next, pass, &symbols())) again = true;
      }
      if (!again) return body;
    } catch (const Error&) {
      // It may fail for the first dimensions only.
      if (pass > 0 || !exact) throw;
      for (CarriedType& type : types) type.SetAnyDims(&symbols());
    }
    builders_.resize(first);
    program_.blocks.resize(first);
  }
}

std::string ProgramBuilder::AddWeight(const std::string& stem, DenseTensor tensor) {
  const std::string name = UniqueName(stem);
  MetaTensor meta(tensor.meta());
  AttachValues(tensor, &meta);
  weight_metas_[name] = std::move(meta);
  program_.weights[name] = std::move(tensor);
  return name;
}

DataType ProgramBuilder::ElementType(const std::string& sequence) const {
  const auto it = element_types_.find(sequence);
  return it == element_types_.end() ? DataType::kUndefined : it->second;
}

void ProgramBuilder::CopyElementType(const std::string& from, const std::string& to) {
  if (const DataType dtype = ElementType(from); dtype != DataType::kUndefined) SetElementType(to, dtype);
  if (IsOptional(from)) SetOptional(to);
}

std::string ProgramBuilder::AddConstant(const std::string& stem, DenseTensor tensor) {
  constant_bytes_ += tensor.nbytes();
  const size_t most = kMostConstantBytes + kConstantsPerByte * file_bytes_;
  WHERRY_ENFORCE(constant_bytes_ <= most, kResourceExhausted, "the model's constants take more than ", most,
                 " bytes, but its files have ", file_bytes_);
  const std::string name = AddWeight(stem, std::move(tensor));
  constants_.insert(name);
  return name;
}

const DenseTensor* ProgramBuilder::FindWeight(const std::string& value) const {
  const auto it = program_.weights.find(value);
  return it == program_.weights.end() ? nullptr : &it->second;
}

std::string ProgramBuilder::UniqueName(const std::string& stem) {
  std::string name = stem.empty() ? "value" : stem;
  const std::string base = name;
  int& next = names_[base];
  if (next == 0) {
    next = 1;
    return name;
  }
  do {  // "a.1" may be a name of the file too
    name = StrCat(base, '.', next++);
  } while (!names_.try_emplace(name, 1).second);
  return name;
}

namespace {

// A value may be several outputs under one name (Paddle writes such models): those after the first get names of their
// own.
void MakeUnique(const std::vector<std::string>& outputs, std::vector<std::string>* names) {
  std::set<std::string> taken(names->begin(), names->end());
  std::map<std::string, std::pair<std::string, int>> named;  // name -> its value, how often
  for (size_t i = 0; i < names->size(); ++i) {
    const std::string name = (*names)[i];
    auto& [value, count] = named.try_emplace(name, outputs[i], 0).first->second;
    WHERRY_ENFORCE(value == outputs[i], kCorrupt, "two outputs of different values have the name ", Quote(name));
    if (count++ == 0) continue;
    while (!taken.insert((*names)[i] = StrCat(name, '.', count - 1)).second) ++count;
  }
}

}  // namespace

Program ProgramBuilder::Finish() {
  std::set<std::string> seen(program_.blocks[0].inputs.begin(), program_.blocks[0].inputs.end());
  std::vector<std::string> outputs = program_.main().outputs;
  std::vector<std::string> names = program_.main().output_names.empty() ? outputs : program_.main().output_names;
  MakeUnique(outputs, &names);
  for (std::string& output : outputs) {
    if (FindWeight(output) == nullptr && seen.insert(output).second) continue;
    const bool is_sequence = main().Meta(output).dtype == DataType::kSequence;
    OpDesc op(is_sequence ? "sequence_assign" : "assign");
    op.SetInput(is_sequence ? "sequence" : "x", {output});
    output = main().Add(std::move(op), {output + ".out"})[0];
  }
  if (names == outputs) names.clear();
  main().SetOutputs(std::move(outputs), std::move(names));

  std::set<std::string> unused = std::move(constants_);
  for (const Block& block : program_.blocks) {
    for (const OpDesc& op : block.ops) {
      for (const auto& [param, values] : op.inputs()) {
        for (const std::string& value : values) unused.erase(value);
      }
    }
    for (const std::string& value : block.outputs) unused.erase(value);
  }
  for (const std::string& name : unused) program_.weights.erase(name);
  VerifyProgram(program_);
  return std::move(program_);
}

}  // namespace wherry
