#include "importers/paddle/converter.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/strings.h"

namespace wherry::paddle {

const ForeignOp::Slot* OpContext::InputSlot(Param param) const {
  if (!pir()) return param.name == nullptr ? nullptr : op().FindInput(param.name);
  if (param.position < 0 || static_cast<size_t>(param.position) >= op().inputs.size()) return nullptr;
  return &op().inputs[static_cast<size_t>(param.position)];
}

void OpContext::Refuse(std::initializer_list<const char*> inputs) const {
  for (const char* name : inputs) {
    if (HasInput({name})) Unsupported("input ", name, " is given");
  }
}

std::vector<std::string> OpContext::InputList(Param param) const {
  const ForeignOp::Slot* slot = InputSlot(param);
  if (slot == nullptr) return {};
  return slot->Present();
}

void OpContext::ExpectForm(int operands, int results) const {
  WHERRY_CHECK(operands >= 0, "the converter of PIR's ", op().type, " does not say how many operands that has");
  if (static_cast<int>(op().inputs.size()) == operands && static_cast<int>(op().outputs.size()) == results) return;
  Corrupt("it has ", op().inputs.size(), " operands and ", op().outputs.size(), " results, expected ", operands,
          " and ", results);
}

std::string OpContext::OptionalInput(Param param) const {
  const std::vector<std::string> values = InputList(param);
  if (values.size() > 1)
    Corrupt("input ", pir() ? StrCat(param.position) : Quote(param.name), " has ", values.size(),
            " tensors, expected one");
  return values.empty() ? "" : values[0];
}

std::string OpContext::Input(Param param) const {
  std::string value = OptionalInput(param);
  if (value.empty()) Corrupt("input ", pir() ? StrCat(param.position) : Quote(param.name), " is missing");
  return value;
}

std::optional<size_t> OpContext::OutputPosition(Param param) const {
  const auto& slots = op().outputs;
  if (pir()) {
    if (param.position < 0 || static_cast<size_t>(param.position) >= slots.size()) return std::nullopt;
    return static_cast<size_t>(param.position);
  }
  const auto slot = std::find_if(slots.begin(), slots.end(),
                                 [&](const auto& s) { return param.name != nullptr && s.name == param.name; });
  if (slot == slots.end()) return std::nullopt;
  return static_cast<size_t>(slot - slots.begin());
}

void OpContext::Result(Param param, const std::string& value, size_t k) {
  if (const auto position = OutputPosition(param)) Bind(*position, value, k);
}

size_t OpContext::ResultCount(Param param) const {
  const auto position = OutputPosition(param);
  return position ? op().outputs[*position].values.size() : 0;
}

std::optional<int> OpContext::DeclaredRank(Param param) const {
  const auto position = OutputPosition(param);
  if (!position || op().outputs[*position].values.empty()) return std::nullopt;
  const std::string& name = op().outputs[*position].values[0];
  if (declared_rank != nullptr) return (*declared_rank)(name);
  if (declared_meta == nullptr) return std::nullopt;
  const MetaTensor meta = (*declared_meta)(name);
  return meta.rank_known ? std::optional<int>(meta.rank()) : std::nullopt;
}

DataType OpContext::DeclaredType(Param param) const {
  const auto position = OutputPosition(param);
  if (!position || op().outputs[*position].values.empty() || declared_meta == nullptr) return DataType::kUndefined;
  return (*declared_meta)(op().outputs[*position].values[0]).dtype;
}

Ints OpContext::FromList(const std::vector<std::string>& values) {
  Ints ints;
  std::vector<int64_t> known;
  for (const std::string& value : values) {
    const auto one = ConstantInts(value);
    if (!one || one->size() != 1) break;
    known.push_back((*one)[0]);
  }
  if (known.size() == values.size()) {
    ints.values = std::move(known);
    return ints;
  }
  std::vector<std::string> parts;
  for (const std::string& value : values) parts.push_back(Cast(Reshaped(value, {1}), DataType::kInt64));
  ints.tensor = parts.size() == 1 ? parts[0] : Emit("concat", {{"x", parts}}, {{"axis", int64_t{0}}});
  return ints;
}

Ints OpContext::FromTensor(const std::string& value) {
  Ints ints;
  ints.values = ConstantInts(value);
  if (ints.values) return ints;
  const MetaTensor& meta = Meta(value);
  ints.tensor = meta.rank_known && meta.rank() != 1 ? Reshaped(value, {-1}) : value;
  return ints;
}

std::optional<Ints> OpContext::OptionalInts(Param tensor, Param list, const std::string& attr) {
  const auto of = [this](const std::vector<std::string>& values) {
    return values.size() == 1 ? FromTensor(values[0]) : FromList(values);
  };
  if (const auto values = InputList(list); !values.empty()) return FromList(values);
  if (const auto values = InputList(tensor); !values.empty()) return of(values);
  // An attribute that is a variable.
  if (const ForeignOp::Slot* slot = attr.empty() || pir() ? nullptr : op().FindInput(attr);
      slot != nullptr && !slot->values.empty()) {
    return of(slot->Present());
  }
  if (attr.empty()) return std::nullopt;
  // PIR always writes what ProgramDesc may leave to a default.
  if (pir() && InputSlot(tensor) != nullptr) Input(tensor);  // says that it is missing
  if (!pir() && !HasAttr(attr)) return std::nullopt;
  Ints ints;
  ints.values = Attr<std::vector<int64_t>>(attr);
  return ints;
}

void OpContext::OpenEnds(const std::optional<std::vector<int64_t>>& steps, Ints* ends) const {
  if (pir() || !steps || !ends->values) return;
  for (size_t i = 0; i < std::min(steps->size(), ends->values->size()); ++i) {
    if ((*steps)[i] < 0 && (*ends->values)[i] == -1) (*ends->values)[i] = std::numeric_limits<int32_t>::min();
  }
}

Ints OpContext::IntsOf(Param tensor, Param list, const std::string& attr) {
  auto ints = OptionalInts(tensor, list, attr);
  if (!ints) Corrupt("neither input ", tensor.name == nullptr ? "" : tensor.name, " nor attribute ", attr, " is given");
  return std::move(*ints);
}

std::vector<int64_t> OpContext::KnownInts(Param tensor, Param list, const std::string& attr) {
  const Ints ints = IntsOf(tensor, list, attr);
  if (!ints.values) Unsupported(attr, " is a tensor that is not constant");
  return *ints.values;
}

int64_t OpContext::KnownInt(Param tensor, const std::string& attr, int64_t fallback) {
  const auto ints = OptionalInts(tensor, {nullptr}, attr);
  if (!ints) return fallback;
  if (!ints->values) Unsupported(attr, " is a tensor that is not constant");
  if (ints->values->size() != 1) Corrupt(attr, " has ", ints->values->size(), " values, expected one");
  return (*ints->values)[0];
}

Number OpContext::NumberOf(Param tensor, const std::string& attr, const std::optional<Scalar>& fallback) {
  Number number;
  std::string value = OptionalInput(tensor);
  if (value.empty() && !pir() && !attr.empty()) value = OptionalInput({attr.c_str()});
  if (!value.empty()) {
    number.value = ConstantScalar(value);
    if (!number.value) number.tensor = value;
  } else if (pir() && InputSlot(tensor) != nullptr) {
    Input(tensor);  // says that it is missing
  } else if (!attr.empty() && (pir() || HasAttr(attr) || !fallback)) {
    number.value = Attr<Scalar>(attr);
  } else {
    if (!fallback) Input(tensor);  // says that it is missing
    number.value = fallback;
  }
  return number;
}

void OpContext::Pass(const char* name, const Ints& ints, OpInputs* inputs, OpAttrs* attrs) {
  if (ints.values) {
    attrs->emplace_back(name, IntArray(*ints.values));
  } else {
    inputs->emplace_back(name, std::vector<std::string>{ints.tensor});
  }
}

void OpContext::Pass(const char* name, const Number& number, OpInputs* inputs, OpAttrs* attrs) {
  if (number.value) {
    attrs->emplace_back(name, *number.value);
  } else {
    inputs->emplace_back(name, std::vector<std::string>{number.tensor});
  }
}

std::string OpContext::TensorOf(const Ints& ints) {
  if (ints.values) return ConvertContext::ConstantInts(*ints.values);
  return Cast(ints.tensor, DataType::kInt64);
}

std::string OpContext::TensorOf(const Number& number, DataType dtype) {
  if (number.value) return ConstantScalar(*number.value, dtype);
  return Cast(Reshaped(number.tensor, {}), dtype);
}

std::string OpContext::Scaled(const std::string& x, double scale, double bias) {
  return Emit("scale", {{"x", {x}}}, {{"scale", Scalar(scale)}, {"bias", Scalar(bias)}});
}

std::string OpContext::Reshaped(const std::string& x, std::vector<int64_t> shape) {
  const MetaTensor& meta = Meta(x);
  if (meta.rank_known && meta.dims == std::vector<Dim>(shape.begin(), shape.end())) return x;
  return Emit("reshape", {{"x", {x}}}, {{"shape", IntArray(std::move(shape))}});
}

std::string OpContext::Transposed(const std::string& x, std::vector<int64_t> perm) {
  return Emit("transpose", {{"x", {x}}}, {{"perm", std::move(perm)}});
}

std::string OpContext::Cast(const std::string& x, DataType dtype) {
  if (TypeOf(x) == dtype) return x;
  return Emit("cast", {{"x", {x}}}, {{"dtype", dtype}});
}

std::string OpContext::Unsqueezed(const std::string& x, std::vector<int64_t> axes) {
  return axes.empty() ? x : Emit("unsqueeze", {{"x", {x}}}, {{"axis", IntArray(std::move(axes))}});
}

std::string OpContext::Squeezed(const std::string& x, std::vector<int64_t> axes) {
  return axes.empty() ? x : Emit("squeeze", {{"x", {x}}}, {{"axis", IntArray(std::move(axes))}});
}

std::string OpContext::Dimension(const std::string& x, int64_t axis) {
  return Emit("slice", {{"x", {Unary("shape", x)}}},
              {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({axis})}, {"ends", IntArray({axis + 1})}});
}

int64_t OpContext::Axis(int64_t axis, int rank) const {
  if (axis < -int64_t{rank} || axis >= rank) Corrupt("the axis is ", axis, " for an input of rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

std::vector<Scalar> OpContext::ListedValues() const {
  for (const char* name :
       {"values", "bool_values", "fp32_values", "int32_values", "int64_values", "fp64_values", "int8_values"}) {
    const Attribute* attr = op().FindAttr(name);
    if (attr == nullptr) continue;
    auto values = std::get<std::vector<Scalar>>(ConvertAttribute(*attr, AttrType::kScalars, name));
    if (!values.empty()) return values;
  }
  return {};
}

std::string OpContext::LengthsOf(const std::string& value) const {
  const auto found = notes->lengths.find(value);
  return found == notes->lengths.end() ? "" : found->second;
}

void OpContext::PassLengths() {
  const auto rows = [this](const std::string& value) {
    const MetaTensor& meta = Meta(value);
    return meta.rank_known && meta.rank() > 0 ? meta.dims[0] : Dim(0);
  };
  for (const ForeignOp::Slot& slot : op().inputs) {
    for (const std::string& input : slot.values) {
      const std::string lengths = input.empty() ? "" : LengthsOf(input);
      if (lengths.empty()) continue;
      for (const auto& [name, value] : results()) {
        if (value != input && rows(value) == rows(input)) notes->lengths.emplace(value, lengths);
      }
      return;
    }
  }
}

std::string OpContext::LastTogether(const std::string& x, std::vector<int64_t>* axes) {
  const int rank = Rank(x);
  if (rank == 0) {
    axes->clear();
    return Reshaped(x, {1});
  }
  if (axes->empty()) {
    axes->resize(static_cast<size_t>(rank));
    std::iota(axes->begin(), axes->end(), 0);
  }
  for (int64_t& axis : *axes) axis = Axis(axis, rank);
  std::sort(axes->begin(), axes->end());
  if (std::adjacent_find(axes->begin(), axes->end()) != axes->end()) Corrupt("it has an axis twice");
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) {
    if (!std::binary_search(axes->begin(), axes->end(), i)) perm.push_back(i);
  }
  const auto outer = static_cast<int64_t>(perm.size());
  perm.insert(perm.end(), axes->begin(), axes->end());
  const std::string moved = std::is_sorted(perm.begin(), perm.end()) ? x : Transposed(x, perm);
  if (axes->size() == 1) return moved;
  return Emit("flatten", {{"x", {moved}}}, {{"start_axis", outer}, {"stop_axis", int64_t{-1}}});
}

bool OpContext::ChannelsLast() const {
  for (const char* name : {"data_format", "data_layout"}) {
    if (!HasAttr(name)) continue;
    const auto format = Attr<std::string>(name);
    if (format == "NHWC" || format == "NLC" || format == "NDHWC") return true;
    if (format == "NCHW" || format == "NCL" || format == "NCDHW" || format == "NC" || format == "AnyLayout")
      return false;
    Unsupported("attribute ", name, " is ", Quote(format));
  }
  if (op().complete) Corrupt("attribute data_format is missing");
  return false;
}

std::string OpContext::ToChannelsFirst(const std::string& x) {
  const int rank = Rank(x);
  if (rank < 3) return x;
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  return Transposed(x, std::move(perm));
}

std::string OpContext::ToChannelsLast(const std::string& x) {
  const int rank = Rank(x);
  if (rank < 3) return x;
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  return Transposed(x, std::move(perm));
}

}  // namespace wherry::paddle
