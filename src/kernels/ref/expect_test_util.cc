#include "kernels/ref/expect_test_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <sstream>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/invoke.h"
#include "kernel/kernel_registry.h"
#include "op/schema_registry.h"

namespace wherry::ref {
namespace {

std::string Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \n");
  return begin == std::string_view::npos ? ""
                                         : std::string(text.substr(begin, text.find_last_not_of(" \n") - begin + 1));
}

std::vector<std::string> SplitAt(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + separator.size()) {
    parts.push_back(Trim(text.substr(begin, end - begin)));
  }
  parts.push_back(Trim(text.substr(begin)));
  return parts;
}

template <typename T>
void Fill(const std::vector<std::string>& words, T* to) {
  for (const std::string& word : words) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      *to++ = T(std::strtof(word.c_str(), nullptr));
    } else if constexpr (std::is_floating_point_v<T>) {
      *to++ = static_cast<T>(std::strtod(word.c_str(), nullptr));
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      *to++ = std::strtoull(word.c_str(), nullptr, 10);
    } else {
      *to++ = static_cast<T>(std::strtoll(word.c_str(), nullptr, 10));
    }
  }
}

// Calls visit(T{}) with the element type of the dtype.
template <typename Visit>
void WithElement(DataType dtype, Visit visit) {
  switch (dtype) {
    case DataType::kBool: return visit(bool{});
    case DataType::kInt8: return visit(int8_t{});
    case DataType::kUInt8: return visit(uint8_t{});
    case DataType::kInt16: return visit(int16_t{});
    case DataType::kUInt16: return visit(uint16_t{});
    case DataType::kInt32: return visit(int32_t{});
    case DataType::kUInt32: return visit(uint32_t{});
    case DataType::kInt64: return visit(int64_t{});
    case DataType::kUInt64: return visit(uint64_t{});
    case DataType::kFP16: return visit(Float16{});
    case DataType::kBF16: return visit(BFloat16{});
    case DataType::kFloat: return visit(float{});
    case DataType::kFP64: return visit(double{});
    default: Throw(ErrorCode::kUnsupported, "no test data of type ", ToString(dtype));
  }
}

// dtype[dims] and the elements.
DenseTensor ParseTensor(const std::string& text) {
  const size_t open = text.find('[');
  const size_t close = text.find(']');
  WHERRY_CHECK(open != std::string::npos && close != std::string::npos, "not a tensor: ", text);
  Shape shape;
  if (close > open + 1) {
    for (const std::string& dim : SplitAt(text.substr(open + 1, close - open - 1), ","))
      shape.push_back(std::stoll(dim));
  }
  std::vector<std::string> words;
  std::istringstream rest(text.substr(close + 1));
  for (std::string word; rest >> word;) words.push_back(word);
  DenseTensor tensor(HostAllocator(), TensorMeta{ParseDataType(text.substr(0, open)), shape});
  WHERRY_CHECK(static_cast<int64_t>(words.size()) == shape.numel(), words.size(), " elements for ",
               shape.DebugString());
  WithElement(tensor.dtype(), [&](auto element) { Fill(words, tensor.mutable_data<decltype(element)>()); });
  return tensor;
}

template <typename T>
double AsDouble(T value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

void ExpectTensor(const DenseTensor& got, const DenseTensor& want) {
  ASSERT_EQ(got.meta().DebugString(), want.meta().DebugString());
  WithElement(want.dtype(), [&](auto element) {
    using T = decltype(element);
    for (int64_t i = 0; i < want.numel(); ++i) {
      const T a = got.data<T>()[i];
      const T b = want.data<T>()[i];
      if (IsFloating(want.dtype())) {
        const double left = AsDouble(a);
        const double right = AsDouble(b);
        const double unit = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16> ? 1e-3 : 1e-6;
        const bool same = std::isfinite(right) ? std::fabs(left - right) <= unit * std::max(1.0, std::fabs(right))
                                               : left == right || (std::isnan(left) && std::isnan(right));
        EXPECT_TRUE(same) << "element " << i << ": got " << left << ", expected " << right;
      } else {
        EXPECT_EQ(AsDouble(a), AsDouble(b)) << "element " << i;
        EXPECT_TRUE(std::memcmp(&a, &b, sizeof(T)) == 0) << "element " << i;
      }
    }
  });
}

// Runs `op | argument = value | ...` with the ref kernel.
std::vector<std::vector<DenseTensor>> RunCall(const std::vector<std::string>& fields) {
  const OpSchema& schema = SchemaRegistry::Global().Get(fields.at(0));
  std::deque<DenseTensor> tensors;
  std::vector<CallArg> args(schema.args.size());
  for (size_t i = 1; i < fields.size(); ++i) {
    if (fields[i].empty()) continue;
    const size_t equals = fields[i].find(" = ");
    WHERRY_CHECK(equals != std::string::npos, "not an argument: ", fields[i]);
    const int arg = schema.FindArg(fields[i].substr(0, equals));
    WHERRY_CHECK(arg >= 0, schema.name, " has no argument ", fields[i].substr(0, equals));
    const std::string value = fields[i].substr(equals + 3);
    const ArgDef& def = schema.args[static_cast<size_t>(arg)];
    CallArg& call = args[static_cast<size_t>(arg)];
    if (def.is_tensor()) {
      call.tensors.push_back(&tensors.emplace_back(ParseTensor(value)));
    } else {
      call.attribute = ParseAttribute(def.type, value);
    }
  }
  CpuContext context;
  const KernelKey key =
      ResolveKernelKey(schema, args, KernelKey(Target::kHost, DataType::kUndefined, DataLayout::kNCHW));
  InvokeOptions options;
  options.kernel = KernelFactory::Instance().FindKernel(schema.kernel, "ref", "", key);
  WHERRY_CHECK(options.kernel != nullptr, "no ref kernel of ", schema.kernel, " for ", key.DebugString());
  return InvokeOp(schema, args, &context, options);
}

// The text's lines with their continuations.
std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) continue;
    if (line[0] == ' ') {
      lines.back() += " " + Trim(line);
    } else {
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace

void ExpectAll(std::string_view text) {
  for (const std::string& line : Lines(text)) {
    SCOPED_TRACE(line);
    std::vector<std::string> fields = SplitAt(line, "-> ");
    const std::vector<std::string> expected(fields.begin() + 1, fields.end());
    ASSERT_FALSE(expected.empty());
    try {
      std::vector<DenseTensor> results;
      for (const std::vector<DenseTensor>& group : RunCall(SplitAt(fields[0], "|"))) {
        results.insert(results.end(), group.begin(), group.end());
      }
      ASSERT_EQ(results.size(), expected.size());
      for (size_t i = 0; i < results.size(); ++i) ExpectTensor(results[i], ParseTensor(expected[i]));
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

std::string ErrorOf(std::string_view line) {
  try {
    RunCall(SplitAt(std::string(line), "|"));
  } catch (const Error& error) {
    return error.code() == ErrorCode::kInternal ? StrCat("internal: ", error.what()) : error.what();
  }
  return "";
}

}  // namespace wherry::ref
