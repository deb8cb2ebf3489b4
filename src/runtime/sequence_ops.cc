#include "runtime/sequence_ops.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/checked_math.h"
#include "op/attribute_cast.h"
#include "op/schema_registry.h"

namespace wherry {

namespace {

using Tensors = std::vector<DenseTensor>;

// Arguments by name.
class Call {
 public:
  Call(const OpSchema& schema, const std::vector<CallArg>& args, CpuContext* context)
      : schema_(schema), args_(args), context_(context) {}

  const DenseTensor* Find(std::string_view name) const {
    const auto& tensors = Arg(name).tensors;
    return tensors.empty() ? nullptr : tensors[0];
  }
  const std::vector<const DenseTensor*>& List(std::string_view name) const { return Arg(name).tensors; }
  template <typename T>
  T Attr(std::string_view name) const {
    return AttributeCast<T>(Arg(name).attribute);
  }
  // An element of its own memory, in plain order on the host; a sequence as it is.
  DenseTensor Own(const DenseTensor& tensor) const {
    if (tensor.dtype() == DataType::kSequence) return tensor;
    if (IsHostMemory(tensor.target())) {
      DenseTensor copy(context_->allocator(), {tensor.dtype(), tensor.shape(), DataLayout::kNCHW, 0});
      CopyHostTensor(tensor, &copy);
      return copy;
    }
    return TransformTensor(tensor, DataType::kUndefined, DataLayout::kNCHW, context_);
  }
  DenseTensor Invoke(const char* op, const std::vector<CallArg>& args) const {
    return std::move(InvokeOp(SchemaRegistry::Global().Get(op), args, context_).at(0).at(0));
  }

 private:
  const CallArg& Arg(std::string_view name) const {
    const int index = schema_.FindArg(name);
    WHERRY_CHECK(index >= 0, schema_.name, " has no argument ", name);
    return args_[static_cast<size_t>(index)];
  }

  const OpSchema& schema_;
  const std::vector<CallArg>& args_;
  CpuContext* context_;
};

std::vector<int64_t> Integers(const DenseTensor& tensor, const char* what) {
  const DataType dtype = tensor.dtype();
  WHERRY_ENFORCE(dtype == DataType::kInt64 || dtype == DataType::kInt32, kInvalidArgument, what, " is ",
                 tensor.meta().DebugString(), ", expected i64 or i32");
  if (dtype == DataType::kInt64) return {tensor.data<int64_t>(), tensor.data<int64_t>() + tensor.numel()};
  return {tensor.data<int32_t>(), tensor.data<int32_t>() + tensor.numel()};
}

int64_t OneInteger(const DenseTensor& tensor, const char* what) {
  WHERRY_ENFORCE(tensor.numel() == 1, kInvalidArgument, what, " is ", tensor.meta().DebugString(),
                 ", expected one number");
  return Integers(tensor, what)[0];
}

// In [0, places), counted from the end of `count` tensors when it is negative; `absent` if it is not given.
std::ptrdiff_t Position(const DenseTensor* tensor, size_t count, size_t places, size_t absent) {
  auto position = static_cast<int64_t>(absent);
  if (tensor != nullptr) {
    position = OneInteger(*tensor, "the position");
    if (position < 0) position += static_cast<int64_t>(count);
  }
  WHERRY_ENFORCE(position >= 0 && position < static_cast<int64_t>(places), kInvalidArgument, "the position is ",
                 position, " in a sequence of ", count);
  return static_cast<std::ptrdiff_t>(position);
}

Tensors Construct(const Call& call) {
  Tensors tensors;
  for (const DenseTensor* tensor : call.List("x")) tensors.push_back(call.Own(*tensor));
  return tensors;
}

Tensors Assign(const Call& call) { return TensorsOf(*call.Find("sequence")); }

Tensors Insert(const Call& call) {
  Tensors tensors = TensorsOf(*call.Find("sequence"));
  const size_t count = tensors.size();
  const std::ptrdiff_t at = Position(call.Find("position"), count, count + 1, count);
  tensors.insert(tensors.begin() + at, call.Own(*call.Find("x")));
  return tensors;
}

Tensors Write(const Call& call) {
  Tensors tensors = TensorsOf(*call.Find("sequence"));
  const int64_t at = OneInteger(*call.Find("position"), "the position");
  constexpr int64_t kMost = int64_t{1} << 24;
  WHERRY_ENFORCE(at >= 0 && at < kMost, kInvalidArgument, "the position is ", at);
  if (static_cast<size_t>(at) >= tensors.size()) {
    const DenseTensor nothing(HostAllocator(), TensorMeta{DataType::kFloat, Shape({0}), DataLayout::kNCHW, 0});
    tensors.resize(static_cast<size_t>(at) + 1, nothing);
  }
  tensors[static_cast<size_t>(at)] = call.Own(*call.Find("x"));
  return tensors;
}

Tensors Erase(const Call& call) {
  Tensors tensors = TensorsOf(*call.Find("sequence"));
  const size_t count = tensors.size();
  tensors.erase(tensors.begin() + Position(call.Find("position"), count, count, count - 1));
  return tensors;
}

DenseTensor At(const Call& call) {
  const Tensors& tensors = TensorsOf(*call.Find("sequence"));
  // Shared: nothing writes over what an operator outside of the plan gave, but what is given to the user may be.
  return call.Own(tensors[static_cast<size_t>(Position(call.Find("position"), tensors.size(), tensors.size(), 0))]);
}

DenseTensor Concat(const Call& call) {
  CallArg list;
  for (const DenseTensor& tensor : TensorsOf(*call.Find("sequence"))) list.tensors.push_back(&tensor);
  WHERRY_ENFORCE(!list.tensors.empty(), kInvalidArgument, "the sequence is empty");
  CallArg axis;
  axis.attribute = int64_t{call.Attr<int>("axis")};
  return call.Invoke(call.Attr<bool>("new_axis") ? "stack" : "concat", {list, axis});
}

DenseTensor Sizes(const Call& call) {
  const Tensors& tensors = TensorsOf(*call.Find("sequence"));
  const int axis = call.Attr<int>("axis");
  const Shape shape({static_cast<int64_t>(tensors.size())});
  DenseTensor sizes(HostAllocator(), TensorMeta{DataType::kInt32, shape, DataLayout::kNCHW, 0});
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int rank = tensors[i].shape().rank();
    WHERRY_ENFORCE(axis >= -rank && axis < rank, kInvalidArgument, "axis is ", axis, " for ",
                   tensors[i].meta().DebugString());
    sizes.mutable_data<int32_t>()[i] = static_cast<int32_t>(tensors[i].shape()[axis < 0 ? axis + rank : axis]);
  }
  return sizes;
}

Tensors Split(const Call& call) {
  const DenseTensor& x = *call.Find("x");
  const int rank = x.shape().rank();
  int axis = call.Attr<int>("axis");
  WHERRY_ENFORCE(axis >= -rank && axis < rank, kInvalidArgument, "axis is ", axis, " for ", x.meta().DebugString());
  if (axis < 0) axis += rank;
  const int64_t extent = x.shape()[axis];
  const DenseTensor* const split = call.Find("split");
  std::vector<int64_t> sizes;
  if (split == nullptr || split->shape().rank() == 0) {
    const int64_t size = split == nullptr ? 1 : OneInteger(*split, "the split");
    WHERRY_ENFORCE(size > 0, kInvalidArgument, "the split is ", size);
    for (int64_t left = extent; left > 0; left -= size) sizes.push_back(std::min(size, left));
  } else {
    sizes = Integers(*split, "the split");
    int64_t sum = 0;
    for (const int64_t size : sizes) {
      WHERRY_ENFORCE(size >= 0, kInvalidArgument, "the split has a size of ", size);
      sum = CheckedAdd(sum, size, "sizes of a split");
    }
    WHERRY_ENFORCE(sum == extent, kInvalidArgument, "the split has ", sum, " of ", extent, " along axis ", axis);
  }
  Tensors tensors;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    std::vector<CallArg> args(5);  // of the op slice
    args[0].tensors = {&x};
    args[1].attribute = std::vector<int64_t>{axis};
    args[2].attribute = IntArray({begin});
    args[3].attribute = IntArray({begin + size});
    DenseTensor piece = call.Invoke("slice", args);
    if (split == nullptr && !call.Attr<bool>("keepdims")) {
      std::vector<int64_t> dims = piece.shape().vector();
      dims.erase(dims.begin() + axis);
      piece.set_meta(TensorMeta{piece.dtype(), Shape(dims), DataLayout::kNCHW, 0});
    }
    tensors.push_back(std::move(piece));
    begin += size;
  }
  return tensors;
}

DenseTensor Length(const Call& call) {
  DenseTensor length(HostAllocator(), TensorMeta{DataType::kInt64, Shape(), DataLayout::kNCHW, 0});
  length.mutable_data<int64_t>()[0] = static_cast<int64_t>(TensorsOf(*call.Find("sequence")).size());
  return length;
}

}  // namespace

DenseTensor RunSequenceOp(const OpSchema& schema, const std::vector<CallArg>& args, CpuContext* context) {
  struct Entry {
    std::string_view name;
    Tensors (*sequence)(const Call&);
    DenseTensor (*tensor)(const Call&);
  };
  constexpr Entry kEntries[] = {
      {"sequence_construct", &Construct, nullptr},
      {"sequence_assign", &Assign, nullptr},
      {"sequence_insert", &Insert, nullptr},
      {"sequence_write", &Write, nullptr},
      {"sequence_erase", &Erase, nullptr},
      {"sequence_split", &Split, nullptr},
      {"sequence_at", nullptr, &At},
      {"sequence_concat", nullptr, &Concat},
      {"sequence_sizes", nullptr, &Sizes},
      {"sequence_length", nullptr, &Length},
  };
  const Call call(schema, args, context);
  for (const Entry& entry : kEntries) {
    if (entry.name != schema.name) continue;
    return entry.tensor != nullptr ? entry.tensor(call) : SequenceOf(entry.sequence(call));
  }
  Throw(ErrorCode::kInternal, "bug in Wherry: no operator on sequences is called ", schema.name);
}

}  // namespace wherry
