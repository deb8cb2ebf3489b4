// ValidateOpDesc.
#include <string>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "op/op_schema.h"

namespace wherry {
namespace {

using Names = std::vector<std::string>;
using Bindings = std::map<std::string, Names>;

class Validator {
 public:
  Validator(const OpSchema& schema, OpDesc* op) : schema_(schema), op_(op) {}

  void Run() {
    CheckType();
    CheckInputs();
    CheckOutputs();
    CheckAttributes();
    CheckFusedPrograms();
    WHERRY_ENFORCE(op_->blocks().size() == static_cast<size_t>(schema_.block_count), kInvalidArgument, Who(),
                   ": expected ", schema_.block_count, " blocks, got ", op_->blocks().size());
  }

 private:
  // For messages: every op of a model is checked several times while it loads.
  std::string Who() const {
    return op_->label().empty() ? StrCat("op ", schema_.name)
                                : StrCat("op ", schema_.name, " (", Quote(op_->label()), ")");
  }

  void CheckType() {
    bool known = op_->Type() == schema_.name;
    for (const char* alias : schema_.aliases) known |= op_->Type() == alias;
    WHERRY_CHECK(known, "op of type ", Quote(op_->Type()), " is checked as ", schema_.name);
    op_->SetType(schema_.name);
  }

  // Names from a file may be anything, but not nothing: an absent value has no entry.
  void CheckNames(const char* what, const std::string& param, const Names& names) const {
    for (const std::string& name : names) {
      WHERRY_ENFORCE(!name.empty(), kInvalidArgument, Who(), ": ", what, " ", Quote(param), " has an empty name");
    }
  }

  template <typename Def>
  [[noreturn]] void ThrowUnknown(const char* what, const std::string& name, std::span<const Def> defs) const {
    Names names;
    for (const Def& def : defs) names.emplace_back(def.name);
    Throw(ErrorCode::kInvalidArgument, Who(), ": there is no ", what, " ", Quote(name), DidYouMean(name, names),
          " (there are: ", Join(names, ", "), ")");
  }

  void CheckInputs() const {
    for (const auto& [param, names] : op_->inputs()) {
      const int index = schema_.FindArg(param);
      if (index < 0) ThrowUnknown("input", param, schema_.args);
      const ArgDef& arg = schema_.args[static_cast<size_t>(index)];
      WHERRY_ENFORCE(arg.is_tensor() || arg.may_be_tensor(), kInvalidArgument, Who(), ": '", arg.name,
                     "' is an attribute of type ", ToString(arg.type), ", not a tensor");
      WHERRY_ENFORCE(arg.kind == ArgKind::kTensorList || names.size() == 1, kInvalidArgument, Who(), ": input '",
                     arg.name, "': expected one tensor, got ", names.size());
      CheckNames("input", param, names);
    }
    for (const ArgDef& arg : schema_.args) {
      WHERRY_ENFORCE(arg.kind != ArgKind::kTensor || op_->HasInput(arg.name), kInvalidArgument, Who(), ": input '",
                     arg.name, "' is missing");
    }
  }

  void CheckOutputs() const {
    for (const auto& [param, names] : op_->outputs()) {
      const int index = schema_.FindOutput(param);
      if (index < 0) ThrowUnknown("output", param, schema_.outputs);
      WHERRY_ENFORCE(schema_.outputs[static_cast<size_t>(index)].is_list || names.size() == 1, kInvalidArgument, Who(),
                     ": output '", param, "': expected one name, got ", names.size());
      CheckNames("output", param, names);
    }
    for (const OutputDef& output : schema_.outputs) {
      WHERRY_ENFORCE(output.optional || output.is_list || op_->HasOutput(output.name), kInvalidArgument, Who(),
                     ": output '", output.name, "' is missing");
    }
  }

  void CheckAttributes() const {
    for (const auto& [name, value] : op_->attrs()) {
      const int index = schema_.FindArg(name);
      if (index < 0) ThrowUnknown("attribute", name, schema_.args);
      const ArgDef& arg = schema_.args[static_cast<size_t>(index)];
      WHERRY_ENFORCE(!arg.is_tensor(), kInvalidArgument, Who(), ": '", arg.name, "' is a tensor, not an attribute");
      WHERRY_ENFORCE(!op_->HasInput(name), kInvalidArgument, Who(), ": '", arg.name,
                     "' is both an attribute and an input");
    }
    for (const ArgDef& arg : schema_.args) {
      if (arg.is_tensor() || op_->HasInput(arg.name)) continue;
      const auto attr = op_->attrs().find(arg.name);
      if (attr != op_->attrs().end() && TypeOf(attr->second) == arg.type) continue;
      const auto what = [&] { return StrCat(Who(), ": attribute '", arg.name, "'"); };
      if (attr != op_->attrs().end()) {
        op_->SetAttribute(arg.name, ConvertAttribute(attr->second, arg.type, what()));
      } else {
        WHERRY_ENFORCE(arg.default_text != nullptr, kInvalidArgument, what(), " is missing");
        op_->SetAttribute(arg.name, ParseAttribute(arg.type, arg.default_text));
      }
    }
  }

  // A kernel indexes operands and registers by what these say.
  void CheckFusedPrograms() const {
    try {
      for (const auto& [name, value] : op_->attrs()) {
        if (const auto* epilogue = std::get_if<Epilogue>(&value)) {
          Validate(*epilogue, static_cast<int>(op_->Input("operands").size()));
        } else if (const auto* program = std::get_if<ElementwiseProgram>(&value)) {
          Validate(*program);
          const size_t inputs = op_->Input("inputs").size();
          WHERRY_ENFORCE(static_cast<size_t>(program->inputs) == inputs, kInvalidArgument, "an elementwise program of ",
                         program->inputs, " inputs, but ", inputs, " are bound");
        }
      }
    } catch (Error& error) {
      error.AddContext(StrCat("checking ", Who()));
      throw;
    }
  }

  const OpSchema& schema_;
  OpDesc* op_;
};

}  // namespace

void ValidateOpDesc(const OpSchema& schema, OpDesc* op) { Validator(schema, op).Run(); }

}  // namespace wherry
