#include "importers/pir/pir_program.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/check.h"
#include "base/strings.h"

namespace wherry::pir {

namespace {

using Json = nlohmann::json;

// Deep enough for 40 nested ifs; what is read recursively stays far from the end of the stack.
constexpr int kMostNesting = 400;

// The JSON parser itself takes any depth, but what comes after it does not.
void CheckNesting(std::string_view text, const std::string& file) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      ++depth;
      WHERRY_ENFORCE(depth <= kMostNesting, kUnsupported, Quote(file, 1000), " nests lists and objects more than ",
                     kMostNesting, " deep, at byte ", i);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

DataType ScalarType(const std::string& name) {
  static constexpr std::pair<std::string_view, DataType> kTypes[] = {
      {"t_bool", DataType::kBool},       {"t_i8", DataType::kInt8},
      {"t_ui8", DataType::kUInt8},       {"t_i16", DataType::kInt16},
      {"t_i32", DataType::kInt32},       {"t_i64", DataType::kInt64},
      {"t_index", DataType::kInt64},     {"t_f16", DataType::kFP16},
      {"t_bf16", DataType::kBF16},       {"t_f32", DataType::kFloat},
      {"t_f64", DataType::kFP64},        {"t_c64", DataType::kComplex64},
      {"t_c128", DataType::kComplex128}, {"t_f8e4m3fn", DataType::kFP8E4M3FN},
      {"t_f8e5m2", DataType::kFP8E5M2}};
  for (const auto& [text, type] : kTypes) {
    if (text == name) return type;
  }
  return DataType::kUndefined;
}

// "float32" and so on; "Undefined(ALL_DTYPE)" and names that a later Paddle adds are no type.
DataType NamedType(const std::string& name) {
  static constexpr std::pair<std::string_view, DataType> kTypes[] = {{"bool", DataType::kBool},
                                                                     {"int8", DataType::kInt8},
                                                                     {"uint8", DataType::kUInt8},
                                                                     {"int16", DataType::kInt16},
                                                                     {"uint16", DataType::kUInt16},
                                                                     {"int32", DataType::kInt32},
                                                                     {"uint32", DataType::kUInt32},
                                                                     {"int64", DataType::kInt64},
                                                                     {"uint64", DataType::kUInt64},
                                                                     {"float16", DataType::kFP16},
                                                                     {"bfloat16", DataType::kBF16},
                                                                     {"float32", DataType::kFloat},
                                                                     {"float64", DataType::kFP64},
                                                                     {"complex64", DataType::kComplex64},
                                                                     {"complex128", DataType::kComplex128},
                                                                     {"float8_e4m3fn", DataType::kFP8E4M3FN},
                                                                     {"float8_e5m2", DataType::kFP8E5M2}};
  for (const auto& [text, type] : kTypes) {
    if (text == name) return type;
  }
  return DataType::kUndefined;
}

class Parser {
 public:
  explicit Parser(const FileBytes& file) : file_(file) {}

  Program Run() {
    const std::string_view text(reinterpret_cast<const char*>(file_.data.data()), file_.data.size());
    CheckNesting(text, file_.name);
    Json root;
    try {
      root = Json::parse(text.begin(), text.end());
    } catch (const Json::exception& error) {
      Throw(ErrorCode::kCorrupt, Quote(file_.name, 1000),
            " was taken for a Paddle 3 program, but is no valid JSON: ", error.what());
    }
    try {
      return ParseRoot(root);
    } catch (const Json::exception& error) {
      Fail(error.what());
    }
  }

 private:
  [[noreturn]] void Fail(const std::string& message) const {
    Throw(ErrorCode::kCorrupt, Quote(file_.name, 1000), " (a Paddle 3 program), ", where_, ": ", message);
  }

  const Json& Field(const Json& object, const char* key) const {
    const Json* field = OptionalField(object, key);
    if (field == nullptr) Fail(StrCat("there is no key \"", key, "\""));
    return *field;
  }
  const Json* OptionalField(const Json& object, const char* key) const {
    if (!object.is_object()) Fail(StrCat("expected an object with the key \"", key, "\", found ", object.type_name()));
    const auto it = object.find(key);
    return it == object.end() || it->is_null() ? nullptr : &*it;
  }
  const Json& Array(const Json& json, const char* what) const {
    if (!json.is_array()) Fail(StrCat(what, " is ", json.type_name(), ", expected an array"));
    return json;
  }
  int64_t Integer(const Json& json, const char* what) const {
    if (json.is_boolean()) return json.get<bool>() ? 1 : 0;
    if (json.is_number_unsigned() &&
        json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      Fail(StrCat(what, " is ", json.get<uint64_t>(), ", which does not fit 64 bits with a sign"));
    }
    if (!json.is_number_integer()) Fail(StrCat(what, " is ", json.type_name(), ", expected an integer"));
    return json.get<int64_t>();
  }
  std::string Text(const Json& json, const char* what) const {
    if (!json.is_string()) Fail(StrCat(what, " is ", json.type_name(), ", expected a string"));
    return json.get<std::string>();
  }
  std::vector<int64_t> Integers(const Json& json, const char* what) const {
    std::vector<int64_t> values;
    for (const Json& item : Array(json, what)) values.push_back(Integer(item, what));
    return values;
  }

  Program ParseRoot(const Json& root) {
    Program program;
    where_ = "key base_code";
    if (const Json* base = OptionalField(root, "base_code")) {
      if (const Json* magic = OptionalField(*base, "magic"); magic != nullptr && Text(*magic, "magic") != "pir") {
        Fail(StrCat("magic is ", Quote(Text(*magic, "magic")), ", expected 'pir'"));
      }
      if (const Json* version = OptionalField(*base, "version")) program.version = Integer(*version, "version");
    }
    WHERRY_ENFORCE(program.version >= 0 && program.version <= kNewestVersion, kUnsupported, Quote(file_.name, 1000),
                   " is a Paddle 3 program of version ", program.version, "; Wherry reads versions 0 to ",
                   kNewestVersion);
    where_ = "key program";
    const Json& regions = Array(Field(Field(root, "program"), "regions"), "regions");
    if (regions.size() != 1) Fail(StrCat("it has ", regions.size(), " regions, expected one"));
    program.main = ParseRegion(regions[0]);
    return program;
  }

  Block ParseRegion(const Json& region) {
    const Json& blocks = Array(Field(region, "blocks"), "blocks");
    if (blocks.size() != 1) Fail(StrCat("a region has ", blocks.size(), " blocks, expected one"));
    Block block;
    if (const Json* args = OptionalField(blocks[0], "args")) {
      std::unordered_set<int64_t> ids;
      for (const Json& arg : Array(*args, "args")) {
        block.args.push_back(
            {Integer(Field(arg, "#"), "the id of a block's argument"), ParseType(OptionalField(arg, "TT"))});
        const int64_t id = block.args.back().id;
        if (id >= 0) Fail(StrCat("a block's argument has the number ", id, ", as results of operators have"));
        if (!ids.insert(id).second) Fail(StrCat("a block has argument ", id, " twice"));
      }
    }
    for (const Json& op : Array(Field(blocks[0], "ops"), "ops")) block.ops.push_back(ParseOperator(op));
    return block;
  }

  Operator ParseOperator(const Json& json) {
    Operator op;
    const std::string id = Text(Field(json, "#"), "an operator's id");
    where_ = StrCat("operator ", count_++, " (", Quote(id), ")");
    if (id == "p") {
      op.dialect = "builtin";
      op.name = "parameter";
      ParseParameter(json, &op);
      return op;
    }
    const size_t dot = id.find('.');
    op.dialect = dot == std::string::npos ? "" : id.substr(0, dot);
    op.name = dot == std::string::npos ? id : id.substr(dot + 1);
    static constexpr std::pair<std::string_view, const char*> kDialects[] = {
        {"0", "builtin"}, {"1", "pd_op"}, {"2", "cf"}, {"3", "custom_op"}, {"4", "dist"}};
    for (const auto& [number, name] : kDialects) {
      if (op.dialect == number) op.dialect = name;
    }
    // Its name and result stand in places of their own, which other operators do not have.
    if (op.dialect == "builtin" && op.name == "parameter") Fail("a parameter is written as 'p' only");
    if (const Json* operands = OptionalField(json, "I")) {
      for (const Json& operand : Array(*operands, "I")) op.operands.push_back(ValueId(operand));
    }
    if (const Json* results = OptionalField(json, "O")) AddResults(*results, &op);
    if (const Json* attrs = OptionalField(json, "A")) {
      for (const Json& attr : Array(*attrs, "A")) {
        const std::string name = Text(Field(attr, "N"), "an attribute's name");
        const bool is_new = op.attrs.emplace(name, ParseAttribute(Field(attr, "AT")).value_or(Attribute())).second;
        if (!is_new) Fail(StrCat("attribute ", Quote(name), " is there twice"));
      }
    }
    if (const Json* regions = OptionalField(json, "regions")) {
      const std::string here = where_;
      for (const Json& region : Array(*regions, "regions")) op.blocks.push_back(ParseRegion(region));
      where_ = here;
    }
    return op;
  }

  // An operand or result: {"%": id}, or {"#": id} for an argument of the block.
  int64_t ValueId(const Json& json) const {
    const Json* id = OptionalField(json, "%");
    return Integer(id != nullptr ? *id : Field(json, "#"), "a value's id");
  }

  void AddResults(const Json& json, Operator* op) {
    const auto add = [&](const Json& result) {
      op->results.push_back({ValueId(result), ParseType(OptionalField(result, "TT"))});
      const int64_t id = op->results.back().id;
      if (id < 0) Fail(StrCat("a result has the number ", id, ", as arguments of blocks have"));
      if (id != 0 && !results_.insert(id).second) Fail(StrCat("an operator before it has made value ", id));
    };
    if (json.is_object()) return add(json);
    for (const Json& result : Array(json, "O")) add(result);
  }

  // Attributes are in fixed places: [is_distributed, is_parameter, need_clip, name]; of the result [persistable, ...].
  void ParseParameter(const Json& json, Operator* op) {
    const Json& attrs = Array(Field(json, "A"), "A");
    if (attrs.size() < 4) Fail(StrCat("a parameter has ", attrs.size(), " attributes, expected four"));
    op->parameter = Text(attrs[3], "a parameter's name");
    AddResults(Field(json, "O"), op);
    if (op->results.size() != 1) Fail(StrCat("a parameter has ", op->results.size(), " results, expected one"));
    if (const Json* flags = OptionalField(json, "OA"); flags != nullptr && !Array(*flags, "OA").empty()) {
      if ((*flags)[0].is_boolean() || (*flags)[0].is_number_integer())
        op->persistable = Integer((*flags)[0], "persistable") != 0;
    }
  }

  Type ParseType(const Json* json) const {
    Type type;
    if (json == nullptr) return type;
    const std::string id = Text(Field(*json, "#"), "a type's id");
    if (id == "NULL") return type;
    const size_t dot = id.find('.');
    const std::string name = dot == std::string::npos ? id : id.substr(dot + 1);
    type.kind = Type::Kind::kOther;
    if (name == "t_dtensor") {
      const Json& data = Array(Field(*json, "D"), "a tensor's type");
      if (data.size() < 2)
        Fail(StrCat("a tensor's type has ", data.size(), " parts, expected an element type and dimensions"));
      type.kind = Type::Kind::kTensor;
      type.dtype = ElementType(data[0]);
      type.dims = Integers(data[1], "a dimension");
    } else if (name == "t_vec") {
      type.kind = Type::Kind::kVector;
      for (const Json& element : Array(Field(*json, "D"), "a vector's type"))
        type.elements.push_back(ParseType(&element));
    }
    return type;
  }

  DataType ElementType(const Json& json) const {
    const std::string id = Text(Field(json, "#"), "an element type's id");
    const size_t dot = id.find('.');
    return ScalarType(dot == std::string::npos ? id : id.substr(dot + 1));
  }

  // Non-finite numbers stand under VD, as text that differs between writer and reader.
  double Number(const Json& attr) const {
    const Json* special = OptionalField(attr, "VD");
    const Json& value = special != nullptr ? *special : Field(attr, "D");
    if (value.is_number()) return value.get<double>();
    std::string text = Text(value, "a number");
    for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (text == "nan" || text == "-nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf" || text == "infinity") return std::numeric_limits<double>::infinity();
    if (text == "-inf" || text == "-infinity") return -std::numeric_limits<double>::infinity();
    Fail(StrCat("a number is ", Quote(text)));
  }

  std::optional<Attribute> ParseAttribute(const Json& json) const {
    const std::string id = Text(Field(json, "#"), "an attribute's type");
    const size_t dot = id.find('.');
    const std::string type = dot == std::string::npos ? id : id.substr(dot + 1);
    if (type == "a_bool") {
      const int64_t value = Integer(Field(json, "D"), "a bool");
      if (value != 0 && value != 1) Fail(StrCat("a bool is ", value));
      return Attribute(value != 0);
    }
    if (type == "a_i32" || type == "a_i64" || type == "a_index") {
      const int64_t value = Integer(Field(json, "D"), "an integer");
      if (type == "a_i32" && value != static_cast<int32_t>(value)) Fail(StrCat("an integer of 32 bits is ", value));
      return Attribute(value);
    }
    if (type == "a_f32" || type == "a_f64") return Attribute(Number(json));
    if (type == "a_str" || type == "a_tensorname" || type == "a_layout")
      return Attribute(Text(Field(json, "D"), "a text"));
    if (type == "a_dtype") return Attribute(NamedType(Text(Field(json, "D"), "an element type")));
    if (type == "a_intarray") return Attribute(Integers(Field(json, "D"), "an integer"));
    if (type == "a_array") return ParseArray(Array(Field(json, "D"), "an array"));
    if (type == "a_scalar") return ParseScalar(Array(Field(json, "D"), "a scalar"));
    return std::nullopt;
  }

  // [element type, value]
  std::optional<Attribute> ParseScalar(const Json& parts) const {
    if (parts.size() != 2) return std::nullopt;
    if (parts[1].is_boolean()) return Attribute(Scalar(parts[1].get<bool>()));
    if (parts[1].is_number_integer()) return Attribute(Scalar(Integer(parts[1], "a scalar")));
    if (parts[1].is_number()) return Attribute(Scalar(parts[1].get<double>()));
    return std::nullopt;
  }

  // The element type that all have, or floats where they are mixed with integers.
  std::optional<Attribute> ParseArray(const Json& items) const {
    std::vector<int64_t> integers;
    std::vector<double> floats;
    std::vector<std::string> texts;
    bool all_bools = true;
    for (const Json& item : items) {
      const std::optional<Attribute> value = ParseAttribute(item);
      if (!value) return std::nullopt;
      if (const auto* boolean = std::get_if<bool>(&*value)) {
        integers.push_back(*boolean ? 1 : 0);
        continue;
      }
      all_bools = false;
      if (const auto* integer = std::get_if<int64_t>(&*value)) {
        integers.push_back(*integer);
        floats.push_back(static_cast<double>(*integer));
      } else if (const auto* floating = std::get_if<double>(&*value)) {
        floats.push_back(*floating);
      } else if (const auto* text = std::get_if<std::string>(&*value)) {
        texts.push_back(*text);
      } else {
        return std::nullopt;
      }
    }
    if (integers.size() == items.size()) {
      if (all_bools && !items.empty()) return Attribute(std::vector<bool>(integers.begin(), integers.end()));
      return Attribute(std::move(integers));
    }
    if (floats.size() == items.size()) return Attribute(std::move(floats));
    if (texts.size() == items.size()) return Attribute(std::move(texts));
    return std::nullopt;
  }

  const FileBytes& file_;
  std::string where_ = "the beginning";
  size_t count_ = 0;
  std::unordered_set<int64_t> results_;  // ids of those so far
};

}  // namespace

Program ParseProgram(const FileBytes& file) { return Parser(file).Run(); }

}  // namespace wherry::pir
