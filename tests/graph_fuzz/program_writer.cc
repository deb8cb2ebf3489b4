#include "graph_fuzz/program_writer.h"

#include <algorithm>

#include "base/check.h"
#include "graph_fuzz/data.h"
#include "op/schema_registry.h"

namespace wherry::graph_fuzz {

namespace {

constexpr int64_t kMostElements = 4096;

std::vector<Dim> AsDims(const Dims& dims) { return {dims.begin(), dims.end()}; }

TensorMeta MetaOf(DataType dtype, const Dims& dims) {
  TensorMeta meta;
  meta.dtype = dtype;
  for (const int64_t dim : dims) meta.shape.push_back(dim);
  return meta;
}

}  // namespace

std::string ProgramWriter::NewName(const char* stem) {
  return stem + (is_child() ? std::to_string(block_) + "." : std::string()) + std::to_string(next_++);
}

std::string ProgramWriter::Keep(const std::string& name, MetaTensor type) {
  types_[name] = std::move(type);
  order_.push_back(name);
  return name;
}

std::vector<std::string> ProgramWriter::Add(OpDesc op) {
  const OpSchema& schema = SchemaRegistry::Global().Get(op.Type());
  if (schema.RunByRuntime() || schema.Has(kTraitRandom)) return {};
  std::vector<std::string> names;
  try {
    // Results are bound after inference, which says how many a list has; validation wants one of each until then.
    for (const OutputDef& output : schema.outputs) {
      if (!op.HasOutput(output.name)) op.SetOutput(output.name, {NewName("v")});
    }
    ValidateOpDesc(schema, &op);
    std::vector<BoundArg> bound(schema.args.size());
    for (size_t i = 0; i < schema.args.size(); ++i) {
      for (const std::string& name : op.Input(schema.args[i].name)) bound[i].tensors.push_back(&types_.at(name));
      const auto attribute = op.attrs().find(schema.args[i].name);
      if (attribute != op.attrs().end()) bound[i].attribute = &attribute->second;
    }
    const auto results = InferMeta(schema, bound, {});
    for (const auto& group : results) {
      for (const MetaTensor& type : group) {
        const bool small = !type.rank_known || !type.known() || type.shape().numel() <= kMostElements;
        WHERRY_ENFORCE(small, kOutOfRange, "too large");
      }
    }
    for (size_t i = 0; i < schema.outputs.size(); ++i) {
      std::vector<std::string> group;
      for (const MetaTensor& type : results[i]) group.push_back(Keep(NewName("v"), type));
      op.SetOutput(schema.outputs[i].name, group);
      names.insert(names.end(), group.begin(), group.end());
    }
  } catch (const Error&) {
    return {};
  }
  block().ops.push_back(std::move(op));
  return names;
}

std::string ProgramWriter::Add(const std::string& type, const Operands& inputs, const Attributes& attributes) {
  OpDesc op(type);
  for (const auto& [param, names] : inputs) {
    for (const std::string& name : names) {
      if (name.empty()) return "";
    }
    op.SetInput(param, names);
  }
  for (const auto& [name, value] : attributes) op.SetAttribute(name, value);
  const std::vector<std::string> results = Add(std::move(op));
  return results.empty() ? "" : results[0];
}

std::vector<std::string> ProgramWriter::AddFlow(OpDesc op, const std::string& param,
                                                const std::vector<MetaTensor>& types) {
  std::vector<std::string> names = op.Output(param);
  for (const MetaTensor& type : types) names.push_back(Keep(NewName("v"), type));
  op.SetOutput(param, names);
  block().ops.push_back(std::move(op));
  return names;
}

std::string ProgramWriter::NewInput(DataType dtype, const Dims& dims, int low, int high) {
  if (is_child()) return NewWeight(dtype, dims, low, high);
  const std::string name = StrCat(NewName("x"), ":", low, ":", high);
  block().inputs.push_back(name);
  MetaTensor type(dtype, AsDims(dims));
  block().values[name] = type;
  return Keep(name, std::move(type));
}

std::string ProgramWriter::NewWeight(DataType dtype, const Dims& dims, int low, int high) {
  return NewWeight(RandomTensor(dtype, dims, low, high, random_.Below(1U << 20U)));
}

std::string ProgramWriter::NewWeight(DenseTensor tensor) {
  MetaTensor type(tensor.meta());
  AttachValues(tensor, &type);
  const std::string name = NewName("w");
  program_->weights[name] = std::move(tensor);
  return Keep(name, std::move(type));
}

std::string ProgramWriter::Numbers(const std::vector<int64_t>& numbers, DataType dtype) {
  DenseTensor tensor(HostAllocator(), MetaOf(dtype, {static_cast<int64_t>(numbers.size())}));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (dtype == DataType::kInt64) {
      tensor.mutable_data<int64_t>()[i] = numbers[i];
    } else {
      tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(numbers[i]);
    }
  }
  return NewWeight(std::move(tensor));
}

std::string ProgramWriter::NewCapture(const MetaTensor& type) {
  const std::string name = NewName("c");
  block().inputs.push_back(name);
  block().values[name] = type.WithoutValues();
  return Keep(name, type.WithoutValues());
}

std::vector<std::string> ProgramWriter::Values(const std::function<bool(const MetaTensor&)>& fits) const {
  std::vector<std::string> values;
  for (const std::string& name : order_) {
    const MetaTensor& type = types_.at(name);
    if (type.rank_known && type.known() && fits(type)) values.push_back(name);
  }
  return values;
}

std::string ProgramWriter::Existing(const std::function<bool(const MetaTensor&)>& fits) {
  const std::vector<std::string> values = Values(fits);
  if (values.empty()) return "";
  // The later of two: graphs become deep rather than flat.
  return values[std::max(random_.Below(values.size()), random_.Below(values.size()))];
}

std::string ProgramWriter::Any(DataType dtype, int low, int high) {
  const auto fits = [&](const MetaTensor& type) {
    return type.dtype == dtype && type.rank() >= low && type.rank() <= high;
  };
  const std::string found = random_.OneIn(8) ? "" : Existing(fits);
  return found.empty() ? NewInput(dtype, AnyDims(low, high)) : found;
}

std::string ProgramWriter::Like(DataType dtype, const Dims& dims) {
  const MetaTensor wanted(dtype, AsDims(dims));
  const std::string found =
      random_.OneIn(3) ? "" : Existing([&](const MetaTensor& type) { return type.WithoutValues() == wanted; });
  if (!found.empty()) return found;
  return random_.OneIn(2) ? NewInput(dtype, dims) : NewWeight(dtype, dims);
}

std::string ProgramWriter::Broadcasts(DataType dtype, Dims dims) {
  if (random_.OneIn(2)) return Like(dtype, dims);
  while (!dims.empty() && random_.OneIn(3)) dims.erase(dims.begin());
  for (int64_t& dim : dims) {
    if (random_.OneIn(3)) dim = 1;
  }
  return Like(dtype, dims);
}

Dims ProgramWriter::DimsOf(const std::string& name) const { return types_.at(name).shape().vector(); }

int64_t ProgramWriter::AnyDim() { return random_.OneIn(40) ? 0 : 1 + static_cast<int64_t>(random_.Below(5)); }

Dims ProgramWriter::AnyDims(int low_rank, int high_rank) {
  const auto span = static_cast<size_t>(std::min(high_rank, 4) - low_rank + 1);
  Dims dims(static_cast<size_t>(low_rank) + random_.Below(std::max<size_t>(1, span)));
  for (int64_t& dim : dims) dim = AnyDim();
  if (!dims.empty() && random_.OneIn(2)) dims[0] = 1;
  return dims;
}

DataType ProgramWriter::AnyType() {
  static constexpr DataType kTypes[] = {DataType::kFloat, DataType::kFloat, DataType::kFloat, DataType::kFloat,
                                        DataType::kFP64,  DataType::kInt64, DataType::kInt32, DataType::kBool};
  return random_.Pick(kTypes);
}

}  // namespace wherry::graph_fuzz
