#include "conformance/onnx/corpus.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/function_ref.h"
#include "base/strings.h"
#include "core/dense_tensor.h"

namespace wherry::onnx_tests {

namespace {

static_assert(std::endian::native == std::endian::little, "the corpus is read as it lies in memory");

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool done() const { return bytes_.empty(); }
  std::string_view rest() const { return bytes_; }

  std::string_view Take(uint64_t size) {
    WHERRY_ENFORCE(size <= bytes_.size(), kCorrupt, "the corpus ends early");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  template <typename T>
  T Number() {
    T number;
    std::memcpy(&number, Take(sizeof(T)).data(), sizeof(T));
    return number;
  }
  std::string_view Blob() { return Take(Number<uint64_t>()); }
  std::string String() { return std::string(Blob()); }

 private:
  std::string_view bytes_;
};

Tensor ReadTensor(Reader* reader) {
  const std::string type = reader->String();
  Tensor tensor;
  std::vector<int64_t> dims(reader->Number<uint32_t>());
  for (int64_t& dim : dims) dim = reader->Number<int64_t>();
  const std::string_view elements = reader->Blob();
  const DataType dtype = ParseDataType(type);
  tensor.Resize(Shape(dims));
  void* data = tensor.mutable_raw_data(dtype);
  if (dtype == DataType::kString) {
    Reader strings(elements);
    for (int64_t i = 0; i < tensor.numel(); ++i) static_cast<std::string*>(data)[i] = strings.String();
  } else {
    WHERRY_ENFORCE(elements.size() == tensor.nbytes(), kCorrupt, tensor.nbytes(), " bytes are ", elements.size());
    if (!elements.empty()) std::memcpy(data, elements.data(), elements.size());
  }
  return tensor;
}

std::optional<Tensor> ReadValue(Reader* reader) {
  const auto kind = reader->Number<uint8_t>();
  if (kind == 0) return std::nullopt;
  if (kind == 1) return ReadTensor(reader);
  std::vector<DenseTensor> elements;
  const auto count = reader->Number<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) elements.push_back(*ReadValue(reader).value().impl());
  return Tensor(std::make_shared<DenseTensor>(SequenceOf(std::move(elements))));
}

// Past a value, whose type Wherry may lack.
void SkipValue(Reader* reader) {
  const auto kind = reader->Number<uint8_t>();
  if (kind == 1) {
    reader->Blob();
    reader->Take(reader->Number<uint32_t>() * sizeof(int64_t));
    reader->Blob();
  } else if (kind == 2) {
    const auto count = reader->Number<uint32_t>();
    for (uint32_t i = 0; i < count; ++i) SkipValue(reader);
  }
}

std::vector<NamedValue> ReadValues(Reader* reader) {
  std::vector<NamedValue> values(reader->Number<uint32_t>());
  for (NamedValue& value : values) {
    value.name = reader->String();
    value.value = ReadValue(reader);
  }
  return values;
}

// One element as a number; the text of types that have none here.
template <typename T>
bool Near(const void* got, const void* expected, int64_t i, double rtol, double atol, std::string* difference) {
  const auto a = static_cast<double>(static_cast<const T*>(got)[i]);
  const auto b = static_cast<double>(static_cast<const T*>(expected)[i]);
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  if (std::isfinite(a) && std::isfinite(b) && std::fabs(a - b) <= atol + rtol * std::fabs(b)) return true;
  *difference = StrCat("element ", i, " is ", a, ", expected ", b);
  return false;
}

struct Half {  // reads both 16-bit floats as numbers
  Float16 value;
  explicit operator double() const { return static_cast<float>(value); }
};
struct Brain {
  BFloat16 value;
  explicit operator double() const { return static_cast<float>(value); }
};

// Codes of 8-bit floats: the same, or both NaN (with either sign).
template <int first_nan>
bool SameCode(const void* got, const void* expected, int64_t i, double /*rtol*/, double /*atol*/,
              std::string* difference) {
  const int a = static_cast<const uint8_t*>(got)[i];
  const int b = static_cast<const uint8_t*>(expected)[i];
  const bool zeros = (a & 0x7F) == 0 && (b & 0x7F) == 0;
  if (a == b || zeros || ((a & 0x7F) >= first_nan && (b & 0x7F) >= first_nan)) return true;
  *difference = StrCat("element ", i, " has the code ", a, ", expected ", b);
  return false;
}

// 4-bit floats, two in a byte.
bool SameNibble(const void* got, const void* expected, int64_t i, double /*rtol*/, double /*atol*/,
                std::string* difference) {
  const auto code = [i](const void* data) {
    return static_cast<const uint8_t*>(data)[i / 2] >> (i % 2 == 0 ? 0 : 4) & 0xF;
  };
  const int a = code(got);
  const int b = code(expected);
  if (a == b || ((a & 7) == 0 && (b & 7) == 0)) return true;
  *difference = StrCat("element ", i, " has the code ", a, ", expected ", b);
  return false;
}

template <typename T>
double Largest(const DenseTensor& tensor) {
  double largest = 0;
  const auto* data = static_cast<const T*>(tensor.raw_data());
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const double magnitude = std::fabs(static_cast<double>(data[i]));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

// What a tensor's elements may be off by.
double Allowed(const DenseTensor& tensor, double tolerance, double steps) {
  switch (tensor.dtype()) {
    case DataType::kFloat: return tolerance * Largest<float>(tensor);
    case DataType::kFP64: return tolerance * Largest<double>(tensor);
    case DataType::kFP16: return std::max(tolerance, 0x4p-10) * Largest<Half>(tensor);
    case DataType::kBF16: return std::max(tolerance, 0x4p-7) * Largest<Brain>(tensor);
    default: return steps;
  }
}

using NearFn = bool (*)(const void*, const void*, int64_t, double, double, std::string*);

NearFn NearOf(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat: return &Near<float>;
    case DataType::kFP64: return &Near<double>;
    case DataType::kFP16: return &Near<Half>;
    case DataType::kBF16: return &Near<Brain>;
    case DataType::kFP8E4M3FN: return &SameCode<0x7F>;
    case DataType::kFP8E5M2: return &SameCode<0x7D>;
    case DataType::kFP4E2M1: return &SameNibble;
    case DataType::kInt8: return &Near<int8_t>;
    case DataType::kUInt8: return &Near<uint8_t>;
    case DataType::kInt16: return &Near<int16_t>;
    case DataType::kUInt16: return &Near<uint16_t>;
    case DataType::kInt32: return &Near<int32_t>;
    case DataType::kUInt32: return &Near<uint32_t>;
    case DataType::kInt64: return &Near<int64_t>;
    case DataType::kUInt64: return &Near<uint64_t>;
    default: return nullptr;  // equal bytes
  }
}

}  // namespace

std::vector<OnnxTest> ReadCorpus(std::string_view bytes) {
  constexpr std::string_view kMagic = "wherry onnx corpus ";
  WHERRY_ENFORCE(bytes.starts_with(kMagic), kCorrupt, "this is no corpus");
  Reader reader(bytes.substr(bytes.find('\n') + 1));
  std::vector<OnnxTest> tests;
  while (!reader.done()) {
    OnnxTest test;
    test.name = reader.String();
    test.kind = reader.String();
    test.rtol = reader.Number<double>();
    test.atol = reader.Number<double>();
    test.model = reader.String();
    test.sets = reader.Number<uint32_t>();
    test.data = reader.rest();
    for (uint32_t lists = 0; lists < 2 * test.sets; ++lists) {
      const auto count = reader.Number<uint32_t>();
      for (uint32_t i = 0; i < count; ++i) {
        reader.Blob();
        SkipValue(&reader);
      }
    }
    tests.push_back(std::move(test));
  }
  return tests;
}

std::vector<DataSet> ReadDataSets(const OnnxTest& test) {
  Reader reader(test.data);
  std::vector<DataSet> sets(test.sets);
  for (DataSet& set : sets) {
    set.inputs = ReadValues(&reader);
    set.outputs = ReadValues(&reader);
  }
  return sets;
}

namespace {

// Compares tensors, or sequences value by value.
std::string Compare(const Tensor& got, const Tensor& expected,
                    FunctionRef<std::string(const Tensor&, const Tensor&)> compare) {
  if (got.dtype() != expected.dtype())
    return StrCat("it is ", got.impl()->meta().DebugString(), ", expected ", expected.impl()->meta().DebugString());
  if (expected.dtype() != DataType::kSequence) return compare(got, expected);
  const std::vector<DenseTensor>& ours = TensorsOf(*got.impl());
  const std::vector<DenseTensor>& theirs = TensorsOf(*expected.impl());
  if (ours.size() != theirs.size()) return StrCat("it has ", ours.size(), " values, expected ", theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    const std::string difference = Compare(Tensor(std::make_shared<DenseTensor>(ours[i])),
                                           Tensor(std::make_shared<DenseTensor>(theirs[i])), compare);
    if (!difference.empty()) return StrCat("value ", i, ": ", difference);
  }
  return "";
}

std::string TensorDifference(const Tensor& got, const Tensor& expected, double rtol, double atol) {
  if (got.shape() != expected.shape())
    return StrCat("its shape is ", got.shape().DebugString(), ", expected ", expected.shape().DebugString());
  const int64_t count = expected.numel();
  if (count == 0) return "";
  const Tensor host = got.CopyTo(Target::kHost);
  const void* ours = host.raw_data();
  const void* theirs = expected.raw_data();
  if (expected.dtype() == DataType::kString) {
    for (int64_t i = 0; i < count; ++i) {
      const std::string& a = static_cast<const std::string*>(ours)[i];
      const std::string& b = static_cast<const std::string*>(theirs)[i];
      if (a != b) return StrCat("element ", i, " is ", Quote(a), ", expected ", Quote(b));
    }
    return "";
  }
  const NearFn near = NearOf(expected.dtype());
  if (near == nullptr)
    return std::memcmp(ours, theirs, expected.nbytes()) == 0 ? "" : "its elements are others than expected";
  if (expected.dtype() == DataType::kBF16) rtol = std::max(rtol, 0x1p-6);
  for (int64_t i = 0; i < count; ++i) {
    std::string difference;
    if (!near(ours, theirs, i, rtol, atol, &difference)) return difference;
  }
  return "";
}

}  // namespace

std::string Difference(const Tensor& got, const Tensor& expected, double rtol, double atol) {
  return Compare(got, expected, [=](const Tensor& a, const Tensor& b) { return TensorDifference(a, b, rtol, atol); });
}

std::string Drift(const Tensor& got, const Tensor& expected, double tolerance, double steps) {
  return Compare(got, expected, [=](const Tensor& a, const Tensor& b) {
    return TensorDifference(a, b, 0, Allowed(*b.impl(), tolerance, steps));
  });
}

}  // namespace wherry::onnx_tests
