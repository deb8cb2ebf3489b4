#include "importer/convert_context.h"

#include <cstring>
#include <type_traits>

#include "base/strings.h"
#include "importer/constant_tensor.h"

namespace wherry {

namespace {

template <typename T>
constexpr AttrType AttrTypeFor() {
  if constexpr (std::is_same_v<T, bool>) return AttrType::kBool;
  if constexpr (std::is_same_v<T, int64_t>) return AttrType::kInt;
  if constexpr (std::is_same_v<T, double>) return AttrType::kFloat;
  if constexpr (std::is_same_v<T, std::string>) return AttrType::kString;
  if constexpr (std::is_same_v<T, std::vector<bool>>) return AttrType::kBools;
  if constexpr (std::is_same_v<T, std::vector<int64_t>>) return AttrType::kInts;
  if constexpr (std::is_same_v<T, std::vector<double>>) return AttrType::kFloats;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return AttrType::kStrings;
  if constexpr (std::is_same_v<T, Scalar>) return AttrType::kScalar;
  if constexpr (std::is_same_v<T, DataType>) return AttrType::kDataType;
}

// Integer elements of a host tensor in plain layout.
template <typename T, typename Number>
void AppendNumbers(const DenseTensor& tensor, std::vector<Number>* out) {
  const auto* bytes = static_cast<const std::byte*>(tensor.raw_data());
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    T value;  // the bytes may be unaligned
    std::memcpy(&value, bytes + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      out->push_back(static_cast<Number>(static_cast<float>(value)));
    } else {
      out->push_back(static_cast<Number>(value));
    }
  }
}

template <typename T>
Scalar FirstAs(const DenseTensor& tensor) {
  T value;
  std::memcpy(&value, tensor.raw_data(), sizeof(T));
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return Scalar::OfType(tensor.dtype(), static_cast<double>(static_cast<float>(value)));
  } else {
    return Scalar(value);
  }
}

}  // namespace

std::string ConvertContext::OptionalInput(size_t position) const {
  if (position >= op_.inputs.size()) return "";
  const ForeignOp::Slot& slot = op_.inputs[position];
  if (slot.values.empty()) return "";
  if (slot.values.size() > 1) {
    Corrupt("input ", slot.name.empty() ? StrCat(position) : slot.name, " has ", slot.values.size(),
            " tensors, expected one");
  }
  return slot.values[0];
}

std::string ConvertContext::Input(size_t position) const {
  std::string value = OptionalInput(position);
  if (value.empty()) Corrupt("input ", position, " is missing; there are ", op_.inputs.size());
  return value;
}

template <typename T>
T ConvertContext::Attr(const std::string& name) const {
  const Attribute* value = op_.FindAttr(name);
  if (value == nullptr) Corrupt("attribute ", name, " is missing");
  try {
    if constexpr (std::is_same_v<T, DataType>) {
      if (const auto* number = std::get_if<int64_t>(value); number != nullptr && op_.data_type_of != nullptr) {
        return op_.data_type_of(*number);
      }
      if (const auto* type = std::get_if<DataType>(value)) return *type;
    }
    return std::get<T>(ConvertAttribute(*value, AttrTypeFor<T>(), "attribute " + name));
  } catch (const Error& error) {
    Corrupt(error.message());
  }
}
template bool ConvertContext::Attr(const std::string&) const;
template int64_t ConvertContext::Attr(const std::string&) const;
template double ConvertContext::Attr(const std::string&) const;
template std::string ConvertContext::Attr(const std::string&) const;
template std::vector<bool> ConvertContext::Attr(const std::string&) const;
template std::vector<int64_t> ConvertContext::Attr(const std::string&) const;
template std::vector<double> ConvertContext::Attr(const std::string&) const;
template std::vector<std::string> ConvertContext::Attr(const std::string&) const;
template Scalar ConvertContext::Attr(const std::string&) const;
template DataType ConvertContext::Attr(const std::string&) const;

int ConvertContext::Rank(const std::string& value) const {
  const MetaTensor& meta = Meta(value);
  if (!meta.rank_known) Unsupported("the rank of ", Quote(value), " is not known");
  return meta.rank();
}

std::optional<std::vector<int64_t>> ConvertContext::ConstantInts(const std::string& value) const {
  std::vector<int64_t> ints;
  if (const DenseTensor* weight = block_.program().FindWeight(value)) {
    switch (weight->dtype()) {
      case DataType::kBool: AppendNumbers<uint8_t>(*weight, &ints); return ints;
      case DataType::kInt8: AppendNumbers<int8_t>(*weight, &ints); return ints;
      case DataType::kUInt8: AppendNumbers<uint8_t>(*weight, &ints); return ints;
      case DataType::kInt16: AppendNumbers<int16_t>(*weight, &ints); return ints;
      case DataType::kInt32: AppendNumbers<int32_t>(*weight, &ints); return ints;
      case DataType::kInt64: AppendNumbers<int64_t>(*weight, &ints); return ints;
      default: return std::nullopt;
    }
  }
  const MetaTensor& meta = Meta(value);
  if (!meta.values) return std::nullopt;
  for (const Dim& dim : *meta.values) {
    if (!dim.known()) return std::nullopt;
    ints.push_back(dim.value());
  }
  return ints;
}

std::optional<std::vector<double>> ConvertContext::ConstantFloats(const std::string& value) const {
  const DenseTensor* weight = block_.program().FindWeight(value);
  if (weight == nullptr) return std::nullopt;
  std::vector<double> floats;
  switch (weight->dtype()) {
    case DataType::kFloat: AppendNumbers<float>(*weight, &floats); return floats;
    case DataType::kFP64: AppendNumbers<double>(*weight, &floats); return floats;
    case DataType::kFP16: AppendNumbers<Float16>(*weight, &floats); return floats;
    case DataType::kBF16: AppendNumbers<BFloat16>(*weight, &floats); return floats;
    default: return std::nullopt;
  }
}

std::optional<Scalar> ConvertContext::ConstantScalar(const std::string& value) const {
  const DenseTensor* weight = block_.program().FindWeight(value);
  if (weight != nullptr && weight->numel() == 1) {
    switch (weight->dtype()) {
      case DataType::kFloat: return FirstAs<float>(*weight);
      case DataType::kFP64: return FirstAs<double>(*weight);
      case DataType::kFP16: return FirstAs<Float16>(*weight);
      case DataType::kBF16: return FirstAs<BFloat16>(*weight);
      default: break;
    }
  }
  const auto ints = ConstantInts(value);
  if (!ints || ints->size() != 1) return std::nullopt;
  if (TypeOf(value) == DataType::kBool) return Scalar((*ints)[0] != 0);
  return Scalar::OfType(TypeOf(value), (*ints)[0]);
}

std::string ConvertContext::Stem() const {
  for (const ForeignOp::Slot& slot : op_.outputs) {
    for (const std::string& value : slot.values) {
      if (!value.empty()) return value;
    }
  }
  return op_.label.empty() ? op_.type : op_.label;
}

OpDesc ConvertContext::MakeDesc(const std::string& type, const OpInputs& inputs, const OpAttrs& attrs) const {
  OpDesc desc(type);
  desc.SetLabel(op_.label);
  for (const auto& [param, values] : inputs) {
    std::vector<std::string> present;
    for (const std::string& value : values) {
      if (!value.empty()) present.push_back(value);
    }
    if (!present.empty()) desc.SetInput(param, present);
  }
  for (const auto& [name, value] : attrs) desc.SetAttribute(name, value);
  return desc;
}

std::string ConvertContext::Emit(const std::string& type, const OpInputs& inputs, const OpAttrs& attrs,
                                 const std::string& stem) {
  return block_.Add(MakeDesc(type, inputs, attrs), {stem.empty() ? Stem() : stem})[0];
}

std::vector<std::string> ConvertContext::EmitMany(const std::string& type, const OpInputs& inputs, const OpAttrs& attrs,
                                                  size_t count) {
  std::vector<std::string> stems(count, Stem());
  size_t named = 0;
  for (const ForeignOp::Slot& slot : op_.outputs) {
    for (size_t i = 0; i < slot.values.size() && named < count; ++i) stems[named++] = slot.values[i];
  }
  return block_.Add(MakeDesc(type, inputs, attrs), stems);
}

std::string ConvertContext::Constant(DenseTensor tensor, const std::string& stem) {
  return block_.program().AddConstant(stem.empty() ? Stem() + ".constant" : stem, std::move(tensor));
}

std::string ConvertContext::ConstantInts(const std::vector<int64_t>& values) { return Constant(IntsTensor(values)); }

std::string ConvertContext::ConstantScalar(const Scalar& value, DataType dtype) {
  return Constant(FilledTensor(Shape(), value, dtype));
}

void ConvertContext::Bind(size_t position, const std::string& value, size_t k) {
  if (position >= op_.outputs.size() || k >= op_.outputs[position].values.size()) return;
  const std::string& name = op_.outputs[position].values[k];
  if (!name.empty()) results_.emplace_back(name, value);
}

void ConvertContext::EmitResult(const std::string& type, const OpInputs& inputs, const OpAttrs& attrs) {
  Bind(0, Emit(type, inputs, attrs));
}

}  // namespace wherry
