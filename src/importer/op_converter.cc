#include "importer/op_converter.h"

#include "importer/apply_rule.h"

namespace wherry {

void OpConverter::Convert(ConvertContext* context, void* converter_context, const DeclaredMeta& declared) {
  if (!IsConvertible(context->op())) return Reject(context, "", declared);
  ConvertWith(
      context, [&] { ConvertOp(context, converter_context); }, declared);
}

void OpConverter::ConvertWith(ConvertContext* context, const std::function<void()>& convert,
                              const DeclaredMeta& declared) {
  try {
    convert();
    if (!UsesPlaceholders(context->op())) return;
    // What could not be inferred for that reason is no reason to complain further on.
    for (const auto& [name, value] : context->results()) {
      if (!context->Meta(value).rank_known) placeholders_.insert(value);
    }
  } catch (Error& error) {
    if (UsesPlaceholders(context->op())) return BindPlaceholders(context, declared);
    if (error.code() == ErrorCode::kUnsupported) return Reject(context, error.message(), declared);
    // It may follow from a placeholder in a block that the operator owns; what is not supported will be reported in any
    // case.
    if (!unsupported_.empty()) return BindPlaceholders(context, declared);
    error.AddContext("importing " + Describe(context->op()));
    throw;
  }
}

void OpConverter::Reject(ConvertContext* context, const std::string& reason, const DeclaredMeta& declared) {
  unsupported_.Add(context->op(), reason);
  BindPlaceholders(context, declared);
}

bool OpConverter::UsesPlaceholders(const ForeignOp& op) const {
  for (const ForeignOp::Slot& slot : op.inputs) {
    for (const std::string& value : slot.values) {
      if (placeholders_.count(value) != 0) return true;
    }
  }
  return false;
}

void OpConverter::BindPlaceholders(ConvertContext* context, const DeclaredMeta& declared) {
  context->ClearResults();
  const auto& slots = context->op().outputs;
  for (size_t i = 0; i < slots.size(); ++i) {
    for (size_t k = 0; k < slots[i].values.size(); ++k) {
      const std::string& name = slots[i].values[k];
      if (name.empty()) continue;
      // The program is never run, so an input does for a value that nothing makes.
      const std::string placeholder = context->block().AddInput(name, declared(name));
      placeholders_.insert(placeholder);
      context->Bind(i, placeholder, k);
    }
  }
}

}  // namespace wherry
