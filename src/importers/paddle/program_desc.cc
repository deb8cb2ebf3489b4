#include "importers/paddle/program_desc.h"

#include <algorithm>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <set>

#include "base/check.h"
#include "base/strings.h"
#include "importers/paddle/proto.h"

namespace wherry::paddle {

DataType DataTypeOf(int64_t number) {
  switch (number) {
    case 0: return DataType::kBool;
    case 1: return DataType::kInt16;
    case 2: return DataType::kInt32;
    case 3: return DataType::kInt64;
    case 4: return DataType::kFP16;
    case 5: return DataType::kFloat;
    case 6: return DataType::kFP64;
    case 20: return DataType::kUInt8;
    case 21: return DataType::kInt8;
    case 22: return DataType::kBF16;
    case 23: return DataType::kComplex64;
    case 24: return DataType::kComplex128;
    case 32: return DataType::kFP8E4M3FN;
    case 33: return DataType::kFP8E5M2;
    case 37: return DataType::kUInt32;
    case 38: return DataType::kUInt64;
    default: return DataType::kUndefined;
  }
}

bool VarDesc::IsParameter() const {
  return persistable && type != kFeedMinibatch && type != kFetchList && type != kRaw && type != kReader;
}

namespace {

// The numbers of OpDesc.Attr's types.
enum AttrKind {
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
  kBoolean,
  kBooleans,
  kBlock,
  kLong,
  kBlocks,
  kLongs,
  kFloat64s,
  kVar,
  kVars,
  kFloat64,
  kScalar,
  kScalars
};

class ProgramParser {
 public:
  explicit ProgramParser(const FileBytes& file) : file_(file) {}

  ProgramDesc Run() {
    try {
      ProgramDesc program;
      ForEachField(Bytes(file_.data), [&](Reader& field) {
        if (Is(field, 1, kBytes)) {
          where_ = StrCat("block ", program.blocks.size());
          program.blocks.push_back(ParseBlock(field.get_view(), static_cast<int>(program.blocks.size())));
          return true;
        }
        if (!Is(field, 4, kBytes)) return false;
        ForEachField(field.get_view(), [&](Reader& version) {
          if (!Is(version, 1, kVarint)) return false;
          program.version = version.get_int64();
          return true;
        });
        return true;
      });
      WHERRY_ENFORCE(!program.blocks.empty(), kCorrupt, Quote(file_.name, 1000),
                     " is a Paddle program without any block");
      return program;
    } catch (const protozero::exception& error) {
      Throw(ErrorCode::kCorrupt, Quote(file_.name, 1000),
            " was taken for a Paddle program, but its bytes are damaged in ", where_, ": ",
            protobuf::WhyDamaged(error));
    }
  }

 private:
  BlockDesc ParseBlock(View view, int index) {
    BlockDesc block;
    ForEachField(view, [&](Reader& field) {
      if (Is(field, 2, kVarint)) {
        block.parent = field.get_int32();
      } else if (Is(field, 3, kBytes)) {
        VarDesc var = ParseVar(field.get_view());
        std::string name = var.name;
        const bool is_new = block.vars.emplace(name, std::move(var)).second;
        WHERRY_ENFORCE(is_new, kCorrupt, Quote(file_.name, 1000), ": block ", index, " has variable ", Quote(name),
                       " twice");
      } else if (Is(field, 4, kBytes)) {
        where_ = "block " + std::to_string(index) + ", operator " + std::to_string(block.ops.size());
        block.ops.push_back(ParseOperator(field.get_view()));
        block.ops.back().op.block = index;
        block.ops.back().op.index = static_cast<int>(block.ops.size()) - 1;
      } else {
        return false;
      }
      return true;
    });
    return block;
  }

  static VarDesc ParseVar(View view) {
    VarDesc var;
    ForEachField(view, [&](Reader& field) {
      if (Is(field, 1, kBytes)) {
        var.name = field.get_string();
      } else if (Is(field, 2, kBytes)) {
        ParseVarType(field.get_view(), &var);
      } else if (Is(field, 3, kVarint)) {
        var.persistable = field.get_uint64() != 0;
      } else {
        return false;
      }
      return true;
    });
    return var;
  }

  static void ParseVarType(View view, VarDesc* var) {
    ForEachField(view, [&](Reader& field) {
      if (Is(field, 1, kVarint)) {
        var->type = field.get_int32();
      } else if (Is(field, 2, kBytes)) {  // selected_rows: a TensorDesc
        TakeTensor(field.get_view(), var);
      } else if (Is(field, 3, kBytes) ||
                 Is(field, 4, kBytes)) {  // a dense tensor or an array of them: a TensorDesc and the LoD level
        ForEachField(field.get_view(), [&](Reader& inner) {
          if (Is(inner, 1, kBytes)) {
            TakeTensor(inner.get_view(), var);
          } else if (Is(inner, 2, kVarint)) {
            var->lod_level = inner.get_int32();
          } else {
            return false;
          }
          return true;
        });
      } else {
        return false;
      }
      return true;
    });
  }

  static void TakeTensor(View view, VarDesc* var) {
    const TensorDesc tensor = ParseTensorDesc(view);
    if (tensor.data_type >= 0) var->dtype = DataTypeOf(tensor.data_type);
    var->dims = tensor.dims;
  }

  OperatorDesc ParseOperator(View view) {
    OperatorDesc result;
    ForeignOp& op = result.op;
    op.format = "paddle";
    op.data_type_of = &DataTypeOf;
    // The type comes after the inputs and outputs; for messages it is wanted first.
    ForEachField(view, [&](Reader& field) {
      if (!Is(field, 3, kBytes)) return false;
      op.type = field.get_string();
      return true;
    });
    where_ += " (" + Quote(op.type) + ")";
    std::set<std::string> attrs;
    const auto once = [&](bool is_new, const char* what, const std::string& name) {
      WHERRY_ENFORCE(is_new, kCorrupt, Quote(file_.name, 1000), ": ", where_, " has ", what, " ", Quote(name),
                     " twice");
    };
    const auto add_slot = [&](std::vector<ForeignOp::Slot>* slots, const char* what, ForeignOp::Slot slot) {
      const bool is_new =
          std::none_of(slots->begin(), slots->end(), [&](const auto& s) { return s.name == slot.name; });
      once(is_new, what, slot.name);
      slots->push_back(std::move(slot));
    };
    ForEachField(view, [&](Reader& field) {
      if (Is(field, 1, kBytes)) {
        add_slot(&op.inputs, "input", ParseSlot(field.get_view()));
      } else if (Is(field, 2, kBytes)) {
        add_slot(&op.outputs, "output", ParseSlot(field.get_view()));
      } else if (Is(field, 4, kBytes)) {
        const std::string name = ParseAttr(field.get_view(), &result);
        once(attrs.insert(name).second, "attribute", name);
      } else {
        return false;
      }
      return true;
    });
    WHERRY_ENFORCE(!op.type.empty(), kCorrupt, Quote(file_.name, 1000), ": ", where_, " has no type");
    return result;
  }

  static ForeignOp::Slot ParseSlot(View view) {
    ForeignOp::Slot slot;
    ForEachField(view, [&](Reader& field) {
      if (Is(field, 1, kBytes)) {
        slot.name = field.get_string();
      } else if (Is(field, 2, kBytes)) {
        slot.values.push_back(field.get_string());
        // Paddle's own name for "no variable".
        if (slot.values.back() == "@EMPTY@") slot.values.back().clear();
      } else {
        return false;
      }
      return true;
    });
    return slot;
  }

  struct RawAttr {
    std::string name;
    int kind = -1;
    int64_t integer = 0;
    double floating = 0.0;
    bool boolean = false;
    std::string text;
    std::vector<int64_t> integers;
    std::vector<double> floats;
    std::vector<bool> booleans;
    std::vector<std::string> texts;
    std::vector<std::string> vars;
    std::vector<Scalar> scalars;
  };

  // What Paddle notes about each operator for people and for training. The Python stack that made it is most of many a
  // file: text recognition's direction network has 1.4 MB of it and 0.5 MB of weights.
  static bool IsNote(const std::string& name) {
    if (!name.starts_with("op_")) return false;
    return name == "op_callstack" || name == "op_namescope" || name == "op_role" || name == "op_role_var" ||
           name == "op_device";
  }

  // Returns its name.
  static std::string ParseAttr(View view, OperatorDesc* out) {
    RawAttr raw;
    for (Reader field(view); field.next();) {
      if (!TakeAttrField(field, &raw)) field.skip();
      if (IsNote(raw.name)) return std::move(raw.name);
    }
    AttributeMap& attrs = out->op.attrs;
    switch (raw.kind) {
      case kInt:
      case kLong: attrs[raw.name] = raw.integer; break;
      case kFloat:
      case kFloat64: attrs[raw.name] = raw.floating; break;
      case kString: attrs[raw.name] = std::move(raw.text); break;
      case kInts:
      case kLongs: attrs[raw.name] = std::move(raw.integers); break;
      case kFloats:
      case kFloat64s: attrs[raw.name] = std::move(raw.floats); break;
      case kStrings: attrs[raw.name] = std::move(raw.texts); break;
      case kBoolean: attrs[raw.name] = raw.boolean; break;
      case kBooleans: attrs[raw.name] = std::move(raw.booleans); break;
      case kBlock: out->blocks[raw.name] = {raw.integer}; break;
      case kBlocks: out->blocks[raw.name] = std::move(raw.integers); break;
      case kVar:
      case kVars: out->op.inputs.push_back({raw.name, std::move(raw.vars)}); break;
      case kScalar: attrs[raw.name] = raw.scalars.empty() ? Attribute() : Attribute(raw.scalars[0]); break;
      case kScalars: attrs[raw.name] = std::move(raw.scalars); break;
      default: attrs[raw.name] = Attribute(); break;  // a type that a later Paddle added
    }
    return std::move(raw.name);
  }

  static bool TakeAttrField(Reader& field, RawAttr* raw) {
    if (Is(field, 3, kVarint)) {
      raw->integer = field.get_int32();
    } else if (Is(field, 12, kVarint)) {
      raw->integer = field.get_int32();
    } else if (Is(field, 13, kVarint)) {
      raw->integer = field.get_int64();
    } else if (Is(field, 4, kFixed32)) {
      raw->floating = static_cast<double>(field.get_float());
    } else if (Is(field, 19, kFixed64)) {
      raw->floating = field.get_double();
    } else if (Is(field, 10, kVarint)) {
      raw->boolean = field.get_uint64() != 0;
    } else if (Is(field, 1, kBytes)) {
      raw->name = field.get_string();
    } else if (Is(field, 2, kVarint)) {
      raw->kind = field.get_int32();
    } else if (Is(field, 5, kBytes)) {
      raw->text = field.get_string();
    } else if (Is(field, 8, kBytes)) {
      raw->texts.push_back(field.get_string());
    } else if (Is(field, 17, kBytes) || Is(field, 18, kBytes)) {
      raw->vars.push_back(field.get_string());
    } else if (Is(field, 20, kBytes) || Is(field, 21, kBytes)) {
      raw->scalars.push_back(ParseScalar(field.get_view()));
    } else {
      return TakeInts(field, 6, &raw->integers) || TakeInts(field, 14, &raw->integers) ||
             TakeInts(field, 15, &raw->integers) || TakeFloats(field, 7, &raw->floats) ||
             TakeDoubles(field, 16, &raw->floats) || TakeBools(field, 11, &raw->booleans);
    }
    return true;
  }

  static Scalar ParseScalar(View view) {
    enum ScalarKind { kBooleanScalar = 1, kLongScalar = 2 };
    int kind = 0;
    int64_t integer = 0;
    double floating = 0.0;
    bool boolean = false;
    ForEachField(view, [&](Reader& field) {
      if (Is(field, 1, kVarint)) {
        kind = field.get_int32();
      } else if (Is(field, 2, kVarint)) {
        boolean = field.get_uint64() != 0;
      } else if (Is(field, 3, kVarint)) {
        integer = field.get_int64();
      } else if (Is(field, 4, kFixed64)) {
        floating = field.get_double();
      } else {
        return false;
      }
      return true;
    });
    // Complex numbers, the only other kind, are given up: no operator that Wherry has takes one.
    return kind == kBooleanScalar ? Scalar(boolean) : kind == kLongScalar ? Scalar(integer) : Scalar(floating);
  }

  const FileBytes& file_;
  std::string where_ = "the beginning";
};

}  // namespace

ProgramDesc ParseProgramDesc(const FileBytes& file) { return ProgramParser(file).Run(); }

}  // namespace wherry::paddle
