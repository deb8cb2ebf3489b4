#include "importers/onnx/model_proto.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/check.h"
#include "base/strings.h"

namespace wherry::onnx {

using protobuf::ForEachField;
using protobuf::Is;
using protobuf::kBytes;
using protobuf::kFixed32;
using protobuf::kVarint;
using protobuf::Reader;
using protobuf::TakeFloats;
using protobuf::TakeInts;
using protobuf::View;

namespace {

// By number.
constexpr std::array<const char*, 27> kDataTypeNames = {
    "UNDEFINED", "FLOAT",      "UINT8",      "INT8",         "UINT16",         "INT16",      "INT32",
    "INT64",     "STRING",     "BOOL",       "FLOAT16",      "DOUBLE",         "UINT32",     "UINT64",
    "COMPLEX64", "COMPLEX128", "BFLOAT16",   "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ",
    "UINT4",     "INT4",       "FLOAT4E2M1", "FLOAT8E8M0",   "UINT2",          "INT2"};

// The numbers of AttributeProto.AttributeType.
enum AttributeKind {
  kUndefined,
  kFloat,
  kInt,
  kString,
  kTensor,
  kGraph,
  kFloats,
  kInts,
  kStrings,
  kTensors,
  kGraphs,
  kSparseTensor,
  kSparseTensors,
  kType,
  kTypes
};

std::string Domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

void TakeOpset(View view, Opsets* opsets) {
  std::string domain;
  int64_t version = 0;
  ForEachField(view, [&](Reader& field) {
    if (Is(field, 1, kBytes)) {
      domain = field.get_string();
    } else if (Is(field, 2, kVarint)) {
      version = field.get_int64();
    } else {
      return false;
    }
    return true;
  });
  (*opsets)[Domain(domain)] = version;
}

// A StringStringEntryProto; the last one of a key counts.
void TakeEntry(View view, std::map<std::string, std::string>* entries) {
  std::string key;
  std::string value;
  ForEachField(view, [&](Reader& field) {
    if (Is(field, 1, kBytes)) {
      key = field.get_string();
    } else if (Is(field, 2, kBytes)) {
      value = field.get_string();
    } else {
      return false;
    }
    return true;
  });
  (*entries)[std::move(key)] = std::move(value);
}

TensorProto ParseTensor(View view) {
  TensorProto tensor;
  tensor.message = view;
  ForEachField(view, [&](Reader& field) {
    if (Is(field, 2, kVarint)) {
      tensor.data_type = field.get_int32();
    } else if (Is(field, 8, kBytes)) {
      tensor.name = field.get_string();
    } else if (Is(field, 9, kBytes)) {
      tensor.raw_data = field.get_view();
    } else if (Is(field, 13, kBytes)) {
      TakeEntry(field.get_view(), &tensor.external_data);
    } else if (Is(field, 14, kVarint)) {
      tensor.external = field.get_int32() == 1;
    } else {
      return TakeInts(field, 1, &tensor.dims);
    }
    return true;
  });
  return tensor;
}

void ParseShape(View view, ValueInfoProto* info) {
  info->dims.emplace();
  ForEachField(view, [&](Reader& field) {
    if (!Is(field, 1, kBytes)) return false;
    ValueInfoProto::Dimension dimension;
    ForEachField(field.get_view(), [&](Reader& part) {
      if (Is(part, 1, kVarint)) {
        dimension.value = part.get_int64();
      } else if (Is(part, 2, kBytes)) {
        dimension.param = part.get_string();
      } else {
        return false;
      }
      return true;
    });
    info->dims->push_back(std::move(dimension));
    return true;
  });
}

void ParseType(View view, ValueInfoProto* info, int depth = 0) {
  ForEachField(view, [&](Reader& field) {
    if (field.wire_type() != kBytes) return false;
    switch (field.tag()) {
      case 1: info->kind = "tensor"; break;
      case 4: info->kind = "sequence"; break;
      case 5: info->kind = "map"; return false;
      case 7: info->kind = "opaque"; return false;
      case 8: info->kind = "sparse tensor"; return false;
      case 9: info->kind = "optional"; break;
      default: return false;
    }
    if (info->kind != "tensor") {
      // The types of the elements' own elements are not needed.
      constexpr int kDeepest = 1;
      if (depth > kDeepest) return false;
      ValueInfoProto element;
      ForEachField(field.get_view(), [&](Reader& part) {
        if (!Is(part, 1, kBytes)) return false;
        ParseType(part.get_view(), &element, depth + 1);
        return true;
      });
      info->element_kind = element.kind;
      if (element.kind == "tensor") info->data_type = element.data_type;
      return true;
    }
    ForEachField(field.get_view(), [&](Reader& part) {
      if (Is(part, 1, kVarint)) {
        info->data_type = part.get_int32();
      } else if (Is(part, 2, kBytes)) {
        ParseShape(part.get_view(), info);
      } else {
        return false;
      }
      return true;
    });
    return true;
  });
}

ValueInfoProto ParseValueInfo(View view) {
  ValueInfoProto info;
  ForEachField(view, [&](Reader& field) {
    if (Is(field, 1, kBytes)) {
      info.name = field.get_string();
    } else if (Is(field, 2, kBytes)) {
      ParseType(field.get_view(), &info);
    } else {
      return false;
    }
    return true;
  });
  return info;
}

ForeignOp::Slot SlotOf(std::string name) {
  ForeignOp::Slot slot;
  if (!name.empty()) slot.values.push_back(std::move(name));
  return slot;
}

class ModelParser {
 public:
  explicit ModelParser(const FileBytes& file) : file_(file) {}

  ModelProto Run() {
    try {
      return Model();
    } catch (const protozero::exception& error) {
      Throw(ErrorCode::kCorrupt, Quote(file_.name, 1000), " was taken for an ONNX model, but its bytes are damaged in ",
            where_, ": ", protobuf::WhyDamaged(error));
    }
  }

 private:
  ModelProto Model() {
    ModelProto model;
    ForEachField(protobuf::Bytes(file_.data), [&](Reader& field) {
      if (Is(field, 1, kVarint)) {
        model.ir_version = field.get_int64();
      } else if (Is(field, 2, kBytes)) {
        model.producer_name = field.get_string();
      } else if (Is(field, 3, kBytes)) {
        model.producer_version = field.get_string();
      } else if (Is(field, 7, kBytes)) {
        WHERRY_ENFORCE(!model.graph, kCorrupt, Quote(file_.name, 1000), " has two graphs");
        where_ = "the graph";
        model.graph = Graph(field.get_view(), 0);
        where_ = "the model";
      } else if (Is(field, 8, kBytes)) {
        TakeOpset(field.get_view(), &model.opsets);
      } else if (Is(field, 14, kBytes)) {
        TakeEntry(field.get_view(), &model.properties);
      } else if (Is(field, 25, kBytes)) {
        Function(field.get_view(), &model);
      } else {
        return false;
      }
      return true;
    });
    return model;
  }

  GraphProto Graph(View view, int depth) {
    WHERRY_ENFORCE(depth <= kMostNesting, kUnsupported, Quote(file_.name, 1000), " nests graphs more than ",
                   kMostNesting, " deep");
    GraphProto graph;
    ForEachField(view, [&](Reader& field) {
      if (field.wire_type() != kBytes) return false;
      switch (field.tag()) {
        case 1:
          if (depth == 0) where_ = "node " + std::to_string(graph.nodes.size());
          graph.nodes.push_back(Node(field.get_view(), depth));
          graph.nodes.back().op.block = graphs_;
          graph.nodes.back().op.index = static_cast<int>(graph.nodes.size()) - 1;
          return true;
        case 2: graph.name = field.get_string(); return true;
        case 5:
          if (depth == 0) where_ = "initializer " + std::to_string(graph.initializers.size());
          graph.initializers.push_back(ParseTensor(field.get_view()));
          return true;
        case 11: graph.inputs.push_back(ParseValueInfo(field.get_view())); return true;
        case 12: graph.outputs.push_back(ParseValueInfo(field.get_view())); return true;
        case 13: {
          ValueInfoProto info = ParseValueInfo(field.get_view());
          std::string name = info.name;
          graph.values[std::move(name)] = std::move(info);
          return true;
        }
        case 15: Throw(ErrorCode::kUnsupported, Quote(file_.name, 1000), " has sparse initializers");
        default: return false;
      }
    });
    for (const ValueInfoProto& output : graph.outputs) graph.values.emplace(output.name, output);
    return graph;
  }

  NodeProto Node(View view, int depth) {
    NodeProto node;
    ForeignOp& op = node.op;
    op.format = "onnx";
    op.data_type_of = &DataTypeOf;
    ForEachField(view, [&](Reader& field) {
      if (field.wire_type() != kBytes) return false;
      switch (field.tag()) {
        case 1: op.inputs.push_back(SlotOf(field.get_string())); return true;
        case 2: op.outputs.push_back(SlotOf(field.get_string())); return true;
        case 3: op.label = field.get_string(); return true;
        case 4: op.type = field.get_string(); return true;
        case 5: TakeAttribute(field.get_view(), depth, &node); return true;
        case 7: op.domain = Domain(field.get_string()); return true;
        case 8: node.overload = field.get_string(); return true;
        default: return false;
      }
    });
    WHERRY_ENFORCE(!op.type.empty(), kCorrupt, Quote(file_.name, 1000), " has a node ",
                   op.label.empty() ? "" : Quote(op.label) + " ", "without an operator (", where_, ")");
    return node;
  }

  void TakeAttribute(View view, int depth, NodeProto* node) {
    std::string name;
    std::string reference;
    int64_t kind = kUndefined;
    double number = 0;
    int64_t integer = 0;
    std::string text;
    std::vector<double> numbers;
    std::vector<int64_t> integers;
    std::vector<std::string> texts;
    std::optional<TensorProto> tensor;
    std::optional<View> graph;
    int64_t found = kUndefined;  // in files older than the field `type`
    ForEachField(view, [&](Reader& field) {
      if (Is(field, 1, kBytes)) {
        name = field.get_string();
      } else if (Is(field, 2, kFixed32)) {
        number = static_cast<double>(field.get_float());
        found = kFloat;
      } else if (Is(field, 3, kVarint)) {
        integer = field.get_int64();
        found = kInt;
      } else if (Is(field, 4, kBytes)) {
        text = field.get_string();
        found = kString;
      } else if (Is(field, 5, kBytes)) {
        tensor = ParseTensor(field.get_view());
        found = kTensor;
      } else if (Is(field, 6, kBytes)) {
        graph = field.get_view();
        found = kGraph;
      } else if (Is(field, 9, kBytes)) {
        texts.push_back(field.get_string());
        found = kStrings;
      } else if (Is(field, 20, kVarint)) {
        kind = field.get_int32();
      } else if (Is(field, 21, kBytes)) {
        reference = field.get_string();
      } else if (TakeFloats(field, 7, &numbers)) {
        found = kFloats;
      } else if (TakeInts(field, 8, &integers)) {
        found = kInts;
      } else {
        return false;
      }
      return true;
    });
    if (!reference.empty()) {
      node->references[std::move(name)] = std::move(reference);
      return;
    }
    Attribute& value = node->op.attrs[name];
    switch (kind == kUndefined ? found : kind) {
      case kFloat: value = number; break;
      case kInt: value = integer; break;
      case kString: value = std::move(text); break;
      case kFloats: value = std::move(numbers); break;
      case kInts: value = std::move(integers); break;
      case kStrings: value = std::move(texts); break;
      case kTensor:
        if (tensor) node->tensors[name] = std::move(*tensor);
        break;
      case kGraph:
        if (graph) {
          ++graphs_;
          node->graphs[name] = std::make_shared<GraphProto>(Graph(*graph, depth + 1));
        }
        break;
      default: break;
    }
  }

  void Function(View view, ModelProto* model) {
    where_ = StrCat("function ", model->functions.size());
    FunctionProto function;
    ModelProto::FunctionKey key;
    const auto names_only = [](std::vector<ValueInfoProto>* list, std::string name) {
      list->emplace_back();
      list->back().name = std::move(name);
    };
    ++graphs_;
    ForEachField(view, [&](Reader& field) {
      if (field.wire_type() != kBytes) return false;
      switch (field.tag()) {
        case 1: std::get<1>(key) = field.get_string(); return true;
        case 4: names_only(&function.body.inputs, field.get_string()); return true;
        case 5: names_only(&function.body.outputs, field.get_string()); return true;
        case 6: function.attributes.push_back(field.get_string()); return true;
        case 7:
          function.body.nodes.push_back(Node(field.get_view(), 0));
          function.body.nodes.back().op.block = graphs_;
          function.body.nodes.back().op.index = static_cast<int>(function.body.nodes.size()) - 1;
          return true;
        case 9: TakeOpset(field.get_view(), &function.opsets); return true;
        case 10: std::get<0>(key) = Domain(field.get_string()); return true;
        case 11: TakeAttribute(field.get_view(), 0, &function.defaults); return true;
        case 13: std::get<2>(key) = field.get_string(); return true;
        default: return false;
      }
    });
    function.body.name = std::get<1>(key);
    WHERRY_ENFORCE(model->functions.emplace(key, std::move(function)).second, kCorrupt, Quote(file_.name, 1000),
                   " has two functions ", Quote(std::get<1>(key)));
    where_ = "the model";
  }

  const FileBytes& file_;
  std::string where_ = "the model";
  int graphs_ = 0;  // besides the main one
};

}  // namespace

DataType DataTypeOf(int64_t number) {
  switch (number) {
    case 1: return DataType::kFloat;
    case 2: return DataType::kUInt8;
    case 3: return DataType::kInt8;
    case 4: return DataType::kUInt16;
    case 5: return DataType::kInt16;
    case 6: return DataType::kInt32;
    case 7: return DataType::kInt64;
    case 8: return DataType::kString;
    case 9: return DataType::kBool;
    case 10: return DataType::kFP16;
    case 11: return DataType::kFP64;
    case 12: return DataType::kUInt32;
    case 13: return DataType::kUInt64;
    case 14: return DataType::kComplex64;
    case 15: return DataType::kComplex128;
    case 16: return DataType::kBF16;
    case 17: return DataType::kFP8E4M3FN;
    case 18: return DataType::kFP8E4M3FNUZ;
    case 19: return DataType::kFP8E5M2;
    case 20: return DataType::kFP8E5M2FNUZ;
    case 21: return DataType::kUInt4;
    case 22: return DataType::kInt4;
    case 23: return DataType::kFP4E2M1;
    case 24: return DataType::kFP8E8M0;
    case 25: return DataType::kUInt2;
    case 26: return DataType::kInt2;
    default: return DataType::kUndefined;
  }
}

std::string NameOfDataType(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(kDataTypeNames.size())) return StrCat("number ", number);
  return kDataTypeNames[static_cast<size_t>(number)];
}

ModelProto ParseModel(const FileBytes& file) { return ModelParser(file).Run(); }

bool LooksLikeModel(std::span<const std::byte> data) {
  // The IR version, a small number, and then another field of ModelProto. Writers put fields in the order of their
  // numbers.
  constexpr int kMostIrVersions = 64;
  if (data.size() < 3 || data[0] != std::byte{0x08} || data[1] == std::byte{0}) return false;
  if (std::to_integer<int>(data[1]) >= kMostIrVersions) return false;
  constexpr std::array<int, 8> kNextFields = {0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72};
  return std::find(kNextFields.begin(), kNextFields.end(), std::to_integer<int>(data[2])) != kNextFields.end();
}

}  // namespace wherry::onnx
