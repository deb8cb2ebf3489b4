#include "importers/onnx/tensor_reader.h"

#include <charconv>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/strings.h"
#include "importer/constant_tensor.h"

namespace wherry::onnx {

using protobuf::ForEachField;
using protobuf::Is;
using protobuf::kBytes;
using protobuf::kFixed32;
using protobuf::kFixed64;
using protobuf::kVarint;
using protobuf::Reader;

namespace {

std::string NameOf(const TensorProto& proto) {
  return proto.name.empty() ? std::string("a tensor") : "tensor " + Quote(proto.name);
}

TensorMeta MetaOf(const TensorProto& proto) {
  const DataType dtype = DataTypeOf(proto.data_type);
  WHERRY_ENFORCE(dtype != DataType::kUndefined, kUnsupported, NameOf(proto), " has elements of type ",
                 NameOfDataType(proto.data_type), ", which Wherry does not have");
  WHERRY_ENFORCE(proto.dims.size() <= static_cast<size_t>(Shape::kMaxRank), kUnsupported, NameOf(proto), " has ",
                 proto.dims.size(), " dimensions, at most ", Shape::kMaxRank, " are possible");
  for (const int64_t dim : proto.dims) {
    WHERRY_ENFORCE(dim >= 0, kCorrupt, NameOf(proto), " has a negative dimension: [", Join(proto.dims, ","), "]");
  }
  TensorMeta meta{dtype, Shape(proto.dims)};
  try {
    meta.nbytes();
  } catch (const Error& error) {
    Throw(ErrorCode::kCorrupt, NameOf(proto), ": ", error.message());
  }
  return meta;
}

// Writes elements one after the other and counts those that do not fit.
template <typename T>
class Elements {
 public:
  explicit Elements(DenseTensor* tensor)
      : to_(static_cast<T*>(tensor->mutable_raw_data())), capacity_(tensor->nbytes() / sizeof(T)) {}

  void Add(T value) {
    if (count_ < capacity_) to_[count_] = std::move(value);
    ++count_;
  }
  size_t count() const { return count_; }
  size_t capacity() const { return capacity_; }

 private:
  T* to_;
  size_t capacity_;
  size_t count_ = 0;
};

// The elements of the repeated field `tag`, each as a T.
template <typename T, typename Single, typename Packed>
void TakeElements(const TensorProto& proto, uint32_t tag, protozero::pbf_wire_type type, DenseTensor* tensor,
                  Single single, Packed packed) {
  Elements<T> elements(tensor);
  try {
    ForEachField(proto.message, [&](Reader& field) {
      if (Is(field, tag, type)) {
        elements.Add(static_cast<T>(single(field)));
        return true;
      }
      if (!Is(field, tag, kBytes)) return false;
      for (const auto value : packed(field)) elements.Add(static_cast<T>(value));
      return true;
    });
  } catch (const protozero::exception& error) {
    Throw(ErrorCode::kCorrupt, NameOf(proto), " has damaged elements: ", protobuf::WhyDamaged(error));
  }
  WHERRY_ENFORCE(elements.count() == elements.capacity(), kCorrupt, NameOf(proto), ", ", tensor->meta().DebugString(),
                 ", has ", elements.count(), " elements in its list, expected ", elements.capacity());
}

template <typename T>
void TakeFixed(const TensorProto& proto, uint32_t tag, DenseTensor* tensor) {
  if constexpr (sizeof(T) == 4) {
    TakeElements<T>(
        proto, tag, kFixed32, tensor, [](Reader& f) { return f.get_float(); },
        [](Reader& f) { return f.get_packed_float(); });
  } else {
    TakeElements<T>(
        proto, tag, kFixed64, tensor, [](Reader& f) { return f.get_double(); },
        [](Reader& f) { return f.get_packed_double(); });
  }
}

// int32_data holds all types below 32 bits too, 16-bit and 8-bit floats as their bits, two 4-bit numbers in one.
template <typename T>
void TakeVarints(const TensorProto& proto, uint32_t tag, DenseTensor* tensor) {
  TakeElements<T>(
      proto, tag, kVarint, tensor, [](Reader& f) { return f.get_int64(); },
      [](Reader& f) { return f.get_packed_int64(); });
}

void TakeStrings(const TensorProto& proto, DenseTensor* tensor) {
  Elements<std::string> elements(tensor);
  ForEachField(proto.message, [&](Reader& field) {
    if (!Is(field, 6, kBytes)) return false;
    elements.Add(field.get_string());
    return true;
  });
  WHERRY_ENFORCE(elements.count() == elements.capacity(), kCorrupt, NameOf(proto), ", ", tensor->meta().DebugString(),
                 ", has ", elements.count(), " strings, expected ", elements.capacity());
}

void TakeTyped(const TensorProto& proto, DenseTensor* tensor) {
  switch (tensor->dtype()) {
    case DataType::kFloat:
    case DataType::kComplex64: return TakeFixed<float>(proto, 4, tensor);
    case DataType::kFP64:
    case DataType::kComplex128: return TakeFixed<double>(proto, 10, tensor);
    case DataType::kBool: {
      TakeVarints<uint8_t>(proto, 5, tensor);
      auto* bools = static_cast<uint8_t*>(tensor->mutable_raw_data());
      for (int64_t i = 0; i < tensor->numel(); ++i) bools[i] = bools[i] != 0 ? 1 : 0;
      return;
    }
    case DataType::kInt8:
    case DataType::kUInt8:
    case DataType::kInt4:
    case DataType::kUInt4:
    case DataType::kInt2:
    case DataType::kUInt2:
    case DataType::kFP4E2M1:
    case DataType::kFP8E4M3FNUZ:
    case DataType::kFP8E5M2FNUZ:
    case DataType::kFP8E8M0:
    case DataType::kFP8E4M3FN:
    case DataType::kFP8E5M2: return TakeVarints<uint8_t>(proto, 5, tensor);
    case DataType::kInt16:
    case DataType::kUInt16:
    case DataType::kFP16:
    case DataType::kBF16: return TakeVarints<uint16_t>(proto, 5, tensor);
    case DataType::kInt32: return TakeVarints<int32_t>(proto, 5, tensor);
    case DataType::kInt64: return TakeVarints<int64_t>(proto, 7, tensor);
    case DataType::kUInt32: return TakeVarints<uint32_t>(proto, 11, tensor);
    case DataType::kUInt64: return TakeVarints<uint64_t>(proto, 11, tensor);
    case DataType::kString: return TakeStrings(proto, tensor);
    default: Throw(ErrorCode::kInternal, "no list for elements of type ", ToString(tensor->dtype()));
  }
}

// An entry of external_data, a decimal number.
std::optional<uint64_t> Number(const TensorProto& proto, const char* key) {
  const auto it = proto.external_data.find(key);
  if (it == proto.external_data.end()) return std::nullopt;
  const std::string& text = it->second;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  WHERRY_ENFORCE(error == std::errc() && end == text.data() + text.size(), kCorrupt, "external data of ", NameOf(proto),
                 ": the ", key, " is ", Quote(text), ", expected a number of bytes");
  return value;
}

}  // namespace

DenseTensor TensorReader::Read(const TensorProto& proto) {
  const TensorMeta meta = MetaOf(proto);
  if (proto.external) return ReadExternal(proto, meta);
  if (proto.raw_data && meta.dtype != DataType::kString) {
    WHERRY_ENFORCE(proto.raw_data->size() == meta.nbytes(), kCorrupt, NameOf(proto), ", ", meta.DebugString(),
                   ", has raw data of ", proto.raw_data->size(), " bytes, expected ", meta.nbytes());
    return TensorOfBytes(meta, protobuf::AsBytes(*proto.raw_data), source_.model);
  }
  // Every element takes a bit of the message at least (4-bit numbers: half a varint), a string two bytes; so nothing is
  // allocated that the file cannot fill.
  WHERRY_ENFORCE(static_cast<uint64_t>(meta.shape.numel()) / 8 <= proto.message.size(), kCorrupt, NameOf(proto), ", ",
                 meta.DebugString(), ", has ", proto.message.size(), " bytes in all");
  DenseTensor tensor(HostAllocator(), meta);
  TakeTyped(proto, &tensor);
  return tensor;
}

DenseTensor TensorReader::ReadExternal(const TensorProto& proto, const TensorMeta& meta) {
  WHERRY_ENFORCE(meta.dtype != DataType::kString, kCorrupt, NameOf(proto), " has strings as external data");
  const auto location = proto.external_data.find("location");
  WHERRY_ENFORCE(location != proto.external_data.end(), kCorrupt, "external data of ", NameOf(proto),
                 " has no location");
  const uint64_t offset = Number(proto, "offset").value_or(0);
  const size_t size = meta.nbytes();
  const uint64_t length = Number(proto, "length").value_or(size);
  WHERRY_ENFORCE(length == size, kCorrupt, "external data of ", NameOf(proto), ", ", meta.DebugString(),
                 ", has length ", length, ", expected ", size, " bytes");
  try {
    auto file = files_.find(location->second);
    if (file == files_.end()) {
      file = files_.emplace(location->second, source_.open(location->second)).first;
      file_bytes_ += file->second.data.size();
    }
    const FileBytes& bytes = file->second;
    WHERRY_ENFORCE(offset <= bytes.data.size() && size <= bytes.data.size() - offset, kCorrupt, "offset ", offset,
                   " and length ", size, " lead beyond the ", bytes.data.size(), " bytes of ", Quote(bytes.name, 1000));
    return TensorOfBytes(meta, bytes.data.subspan(offset, size), bytes);
  } catch (Error& error) {
    error.AddContext("reading external data of " + NameOf(proto));
    throw;
  }
}

}  // namespace wherry::onnx
