#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "core/text_cursor.h"
#include "ir/text.h"
#include "ir/text_format.h"
#include "op/schema_registry.h"

namespace wherry {

namespace text {

bool IsPlainNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '/' || c == ':' || c == '-';
}

std::string ValueName(std::string_view name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), &IsPlainNameCharacter);
  return StrCat('%', plain ? std::string(name) : QuoteExact(name));
}

namespace {
constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}  // namespace

std::string Base64(const std::byte* data, size_t size) {
  std::string out;
  out.reserve((size + 2) / 3 * 4);
  for (size_t i = 0; i < size; i += 3) {
    uint32_t word = 0;
    for (size_t j = 0; j < 3; ++j) word = word << 8U | (i + j < size ? std::to_integer<uint32_t>(data[i + j]) : 0U);
    for (size_t j = 0; j < 4; ++j) out += i + j > size ? '=' : kAlphabet[word >> (18U - 6U * j) & 63U];
  }
  return out;
}

}  // namespace text

namespace {

// The shortest decimal that reads back to the same float.
std::string ShortestText(float value) {
  if (!std::isfinite(value)) return ToString(Attribute(double{value}));
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

// The number of elements up to which a weight is printed as a list.
constexpr int64_t kListedElements = 64;
constexpr int64_t kSummaryElements = 8;
constexpr size_t kSummaryBytes = 200;

template <typename T>
std::string ListElements(const DenseTensor& tensor) {
  std::string out = "[";
  const T* data = tensor.data<T>();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    if (i != 0) out += ", ";
    if constexpr (std::is_same_v<T, bool>) {
      out += data[i] ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
      out += ToString(Attribute(static_cast<int64_t>(data[i])));
    } else {
      out += ShortestText(data[i]);
    }
  }
  return out + "]";
}

// Types whose elements are listed exactly; the others are always base64.
std::string ListOrEmpty(const DenseTensor& tensor) {
  switch (tensor.dtype()) {
    case DataType::kBool: return ListElements<bool>(tensor);
    case DataType::kInt8: return ListElements<int8_t>(tensor);
    case DataType::kUInt8: return ListElements<uint8_t>(tensor);
    case DataType::kInt32: return ListElements<int32_t>(tensor);
    case DataType::kInt64: return ListElements<int64_t>(tensor);
    case DataType::kFloat: return ListElements<float>(tensor);
    default: return "";
  }
}

std::string WeightData(const DenseTensor& tensor, bool exact) {
  if (tensor.numel() <= (exact ? kListedElements : kSummaryElements)) {
    std::string list = ListOrEmpty(tensor);
    // A NaN's payload is not in its text.
    if (!list.empty() && list.find("nan") == std::string::npos) return list;
  }
  if (!exact) return "{...}";
  return StrCat("base64\"", text::Base64(static_cast<const std::byte*>(tensor.raw_data()), tensor.nbytes()), "\"");
}

class Printer {
 public:
  Printer(const Program& program, const PrintOptions& options) : program_(program), options_(options) {}

  std::string Run() {
    for (const auto& [key, value] : program_.metadata)
      out_ += StrCat("meta ", QuoteExact(key), " = ", MetadataValue(value), "\n");
    if (program_.optimized) out_ += "optimized\n";
    if (options_.exact_weights) PrintWeights();
    for (size_t i = 0; i < program_.blocks.size(); ++i) PrintBlock(i);
    if (!options_.exact_weights) PrintWeights();  // people look for the inputs first
    return std::move(out_);
  }

 private:
  void PrintWeights() {
    if (!options_.weights) return;
    for (const auto& [name, tensor] : program_.weights) {
      out_ += StrCat("weight ", text::ValueName(name), " : ", MetaTensor(tensor.meta()).DebugString(), " = ",
                     WeightData(tensor, options_.exact_weights), "\n");
    }
  }

  static std::string BlockName(size_t index) { return index == 0 ? "main" : StrCat("block", index); }

  std::string MetadataValue(const std::string& value) const {
    if (options_.exact_weights || value.size() <= kSummaryBytes) return QuoteExact(value);
    return StrCat("{", value.size(), " bytes}");
  }

  std::string TypeOf(const Block& block, const std::string& name) const {
    const auto it = block.values.find(name);
    return it == block.values.end() ? "?" : it->second.DebugString();
  }

  void PrintBlock(size_t index) {
    const Block& block = program_.blocks[index];
    out_ += StrCat("block ", BlockName(index), "(");
    for (size_t i = 0; i < block.inputs.size(); ++i) {
      out_ += StrCat(i == 0 ? "" : ", ", text::ValueName(block.inputs[i]), " : ", TypeOf(block, block.inputs[i]));
    }
    out_ += ") -> (";
    for (size_t i = 0; i < block.outputs.size(); ++i) {
      out_ += StrCat(i == 0 ? "" : ", ", text::ValueName(block.outputs[i]));
      if (!block.output_names.empty()) out_ += StrCat(" as ", QuoteExact(block.output_names[i]));
    }
    out_ += ") {\n";
    for (size_t i = 0; i < block.ops.size(); ++i) PrintOp(block, i);
    out_ += "}\n";
  }

  void PrintOp(const Block& block, size_t index) {
    const OpDesc& op = block.ops[index];
    const OpSchema& schema = SchemaRegistry::Global().Get(op.Type());
    std::vector<std::string> results;
    for (const OutputDef& output : schema.outputs) {
      const std::vector<std::string>& names = op.Output(output.name);
      results.insert(results.end(), names.begin(), names.end());
    }
    out_ += "  ";
    PrintResults(schema, op);
    out_ += StrCat(" = ", op.Type(), "(");
    PrintArguments(schema, op);
    out_ += ")";
    PrintAttributes(schema, op);
    if (!op.blocks().empty()) {
      out_ += " blocks(";
      for (size_t i = 0; i < op.blocks().size(); ++i)
        out_ += StrCat(i == 0 ? "" : ", ", BlockName(static_cast<size_t>(op.blocks()[i])));
      out_ += ")";
    }
    if (!op.label().empty()) out_ += StrCat(" @", QuoteExact(op.label()));
    if (options_.picks && index < block.picks.size() && block.picks[index].picked()) {
      const KernelPick& pick = block.picks[index];
      out_ += StrCat(" #", pick.provider, ":", pick.variant, "/", pick.key.DebugString());
    }
    std::string aliases;
    for (const std::string& name : results) {
      const auto it = block.aliases.find(name);
      if (it != block.aliases.end())
        aliases += StrCat(aliases.empty() ? "" : ", ", text::ValueName(name), " = ", text::ValueName(it->second));
    }
    if (!aliases.empty()) out_ += StrCat(" alias(", aliases, ")");
    if (options_.types) {
      for (size_t i = 0; i < results.size(); ++i) out_ += StrCat(i == 0 ? " : " : ", ", TypeOf(block, results[i]));
    }
    out_ += "\n";
  }

  static std::string NameList(const std::vector<std::string>& names, bool is_list) {
    if (!is_list) return text::ValueName(names[0]);
    std::string out = "[";
    for (size_t i = 0; i < names.size(); ++i) out += StrCat(i == 0 ? "" : ", ", text::ValueName(names[i]));
    return out + "]";
  }

  // %y, or (%a, %b), or with parameter names where one would be ambiguous: (out: [%a, %b], mask: %m).
  void PrintResults(const OpSchema& schema, const OpDesc& op) {
    if (schema.outputs.size() == 1 && !schema.outputs[0].is_list) {
      out_ += text::ValueName(op.Output(schema.outputs[0].name).at(0));
      return;
    }
    out_ += "(";
    bool first = true;
    for (const OutputDef& output : schema.outputs) {
      const std::vector<std::string>& names = op.Output(output.name);
      if (names.empty()) continue;
      out_ += StrCat(first ? "" : ", ", output.name, ": ", NameList(names, output.is_list));
      first = false;
    }
    out_ += ")";
  }

  void PrintArguments(const OpSchema& schema, const OpDesc& op) {
    bool first = true;
    for (const ArgDef& arg : schema.args) {
      const std::vector<std::string>& names = op.Input(arg.name);
      if (names.empty()) continue;
      out_ += StrCat(first ? "" : ", ", arg.name, ": ", NameList(names, arg.kind == ArgKind::kTensorList));
      first = false;
    }
  }

  void PrintAttributes(const OpSchema& schema, const OpDesc& op) {
    std::string text;
    for (const ArgDef& arg : schema.args) {
      if (arg.is_tensor() || !op.HasAttr(arg.name)) continue;
      const Attribute& value = op.GetAttribute(arg.name);
      if (arg.default_text != nullptr && SameAttribute(value, ParseAttribute(arg.type, arg.default_text))) continue;
      std::string printed = ToString(value);
      if (arg.type == AttrType::kEpilogue || arg.type == AttrType::kElementwiseProgram) printed = QuoteExact(printed);
      text += StrCat(text.empty() ? "" : ", ", arg.name, " = ", printed);
    }
    if (!text.empty()) out_ += StrCat(" {", text, "}");
  }

  const Program& program_;
  const PrintOptions& options_;
  std::string out_;
};

}  // namespace

std::string PrintProgram(const Program& program, const PrintOptions& options) {
  return Printer(program, options).Run();
}

}  // namespace wherry
