#include "importer/apply_rule.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "importer/importer_registry.h"
#include "op/schema_registry.h"

namespace wherry {

namespace {

const ImportTensor* FindTheirs(std::span<const ImportTensor> tensors, std::string_view name) {
  for (const ImportTensor& tensor : tensors) {
    if (tensor.theirs != nullptr && tensor.theirs == name) return &tensor;
  }
  return nullptr;
}

// What converters of an operator are registered as: its type, behind the domain where there is one
// ("com.microsoft", "FusedMatMul": com_microsoft_FusedMatMul).
std::string ConverterName(const ForeignOp& op) {
  if (op.domain.empty()) return op.type;
  std::string name = op.domain + "_" + op.type;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

class RuleApplication {
 public:
  RuleApplication(const ImportRule& rule, ConvertContext* context)
      : rule_(rule), context_(*context), schema_(SchemaRegistry::Global().Get(rule.op)), by_name_(false) {
    for (const ImportTensor& tensor : rule.inputs) by_name_ = by_name_ || tensor.theirs != nullptr;
    for (const ImportTensor& tensor : rule.outputs) by_name_ = by_name_ || tensor.theirs != nullptr;
  }

  void Run() {
    CheckNothingIsLost();
    for (size_t i = 0; i < rule_.inputs.size(); ++i) TakeInput(i);
    for (const ImportAttr& attr : rule_.attrs) TakeAttr(attr);
    BindOutputs();
  }

 private:
  const ArgDef& Arg(const char* name) const {
    const int index = schema_.FindArg(name);
    WHERRY_CHECK(index >= 0, "the import rule of ", rule_.type, " names '", name, "', which ", schema_.name,
                 " does not have");
    return schema_.args[static_cast<size_t>(index)];
  }

  void CheckNothingIsLost() const {
    const auto& slots = context_.op().inputs;
    for (size_t i = 0; i < slots.size(); ++i) {
      if (std::all_of(slots[i].values.begin(), slots[i].values.end(), [](const std::string& v) { return v.empty(); }))
        continue;
      bool has_place =
          by_name_ ? FindTheirs(rule_.inputs, slots[i].name) != nullptr : i < rule_.inputs.size() || TakesTheRest();
      for (const ImportAttr& attr : rule_.attrs)
        has_place = has_place || (attr.theirs != nullptr && attr.theirs == slots[i].name);
      if (!has_place)
        context_.Unsupported("input ", slots[i].name.empty() ? StrCat(i) : Quote(slots[i].name), " is given");
    }
    for (const char* name : {"data_format", "data_layout"}) {
      const Attribute* layout = context_.op().FindAttr(name);
      if (layout == nullptr) continue;
      const bool named = std::any_of(rule_.attrs.begin(), rule_.attrs.end(), [&](const ImportAttr& attr) {
        return attr.theirs != nullptr && std::string_view(attr.theirs) == name;
      });
      const auto* text = std::get_if<std::string>(layout);
      if (!named && text != nullptr && text->size() > 1 && text->back() == 'C' && *text != "NC") {
        context_.Unsupported("attribute ", name, " is ", Quote(*text));
      }
    }
  }

  // The last input of a rule by position is a list: it takes all operands that are left.
  bool TakesTheRest() const {
    return !by_name_ && !rule_.inputs.empty() && rule_.inputs.back().ours != nullptr &&
           Arg(rule_.inputs.back().ours).kind == ArgKind::kTensorList;
  }

  void TakeInput(size_t i) {
    const ImportTensor& tensor = rule_.inputs[i];
    if (tensor.ours == nullptr) return;
    const auto& slots = context_.op().inputs;
    ForeignOp::Slot all;
    if (by_name_) {
      const ForeignOp::Slot* slot = context_.op().FindInput(tensor.theirs);
      if (slot != nullptr) all = *slot;
    } else {
      const size_t end = i + 1 == rule_.inputs.size() && TakesTheRest() ? slots.size() : std::min(slots.size(), i + 1);
      for (size_t j = i; j < end; ++j)
        all.values.insert(all.values.end(), slots[j].values.begin(), slots[j].values.end());
    }
    const std::vector<std::string> values = all.Present();
    const ArgDef& arg = Arg(tensor.ours);
    const std::string what = tensor.theirs != nullptr ? Quote(tensor.theirs) : StrCat(i);
    if (values.empty()) {
      if (arg.kind == ArgKind::kTensor || (arg.kind == ArgKind::kAttribute && context_.op().complete))
        context_.Corrupt("input ", what, " is missing");
      return;
    }
    if (arg.kind != ArgKind::kTensorList && values.size() != 1) {
      context_.Corrupt("input ", what, " has ", values.size(), " tensors, expected one");
    }
    if (arg.kind == ArgKind::kAttribute) {
      TakeTensorAttr(arg, values[0]);
    } else {
      inputs_.emplace_back(arg.name, values);
    }
  }

  // An IntArray or Scalar whose value is known becomes an attribute, else it stays a tensor.
  void TakeTensorAttr(const ArgDef& arg, const std::string& value) {
    if (arg.type == AttrType::kIntArray) {
      if (auto ints = context_.ConstantInts(value)) return SetAttr(arg.name, IntArray(std::move(*ints)));
    } else if (arg.type == AttrType::kScalar) {
      if (auto scalar = context_.ConstantScalar(value)) return SetAttr(arg.name, *scalar);
    } else {
      const auto scalar = context_.ConstantScalar(value);
      if (!scalar) context_.Unsupported("argument ", arg.name, " is a tensor that is not constant");
      const Attribute found(*scalar);
      return SetAttr(arg.name, ConvertAttribute(found, arg.type, StrCat("argument ", arg.name)));
    }
    inputs_.emplace_back(arg.name, std::vector<std::string>{value});
  }

  void TakeAttr(const ImportAttr& attr) {
    if (IsTaken(attr.ours)) return;
    if (attr.theirs != nullptr) {
      if (const Attribute* value = context_.op().FindAttr(attr.theirs))
        return SetAttr(attr.ours, Converted(attr, *value));
      // An attribute may be a variable, which is then an input of that name.
      const ForeignOp::Slot* slot = context_.op().FindInput(attr.theirs);
      if (slot != nullptr && by_name_ && slot->values.size() == 1 && FindTheirs(rule_.inputs, attr.theirs) == nullptr) {
        return TakeTensorAttr(Arg(attr.ours), slot->values[0]);
      }
      if (context_.op().complete) context_.Corrupt("attribute ", attr.theirs, " is missing");
    }
    if (attr.value != nullptr) return SetAttr(attr.ours, attr.ParsedValue());
    if (Arg(attr.ours).default_text == nullptr) context_.Corrupt("attribute ", attr.theirs, " is missing");
  }

  Attribute Converted(const ImportAttr& attr, const Attribute& value) const {
    const auto* number = std::get_if<int64_t>(&value);
    if (attr.type == AttrType::kDataType && number != nullptr && context_.op().data_type_of != nullptr) {
      const DataType type = context_.op().data_type_of(*number);
      // -1, or a number that stands for no type: as if it were absent.
      if (type == DataType::kUndefined && attr.value != nullptr) return attr.ParsedValue();
      return type;
    }
    try {
      return ConvertAttribute(value, attr.type, StrCat("attribute ", attr.theirs));
    } catch (const Error& error) {
      context_.Corrupt(error.message());
    }
  }

  bool IsTaken(std::string_view name) const {
    return std::any_of(inputs_.begin(), inputs_.end(), [&](const auto& input) { return input.first == name; }) ||
           std::any_of(attrs_.begin(), attrs_.end(), [&](const auto& attr) { return attr.first == name; });
  }

  void SetAttr(const char* name, Attribute value) { attrs_.emplace_back(name, std::move(value)); }

  // The file's results that the rule does not name stay unbound.
  void BindOutputs() {
    const auto& slots = context_.op().outputs;
    if (schema_.outputs[0].is_list) {
      // By position a list is all results, by name those of one parameter.
      const size_t position = by_name_ ? PositionOf(0) : 0;
      const size_t count = by_name_ ? (position < slots.size() ? slots[position].values.size() : 0) : slots.size();
      const auto results = context_.EmitMany(rule_.op, inputs_, attrs_, count);
      for (size_t i = 0; i < count; ++i)
        by_name_ ? context_.Bind(position, results[i], i) : context_.Bind(i, results[i]);
      return;
    }
    const auto results = context_.EmitMany(rule_.op, inputs_, attrs_, schema_.outputs.size());
    for (size_t i = 0; i < results.size(); ++i) context_.Bind(PositionOf(i), results[i]);
  }

  // Where the file has the i-th output of the schema; past the end if the rule does not name it.
  size_t PositionOf(size_t i) const {
    if (rule_.outputs.empty()) return i;
    const auto& slots = context_.op().outputs;
    for (size_t position = 0; position < rule_.outputs.size(); ++position) {
      const ImportTensor& tensor = rule_.outputs[position];
      if (tensor.ours == nullptr || std::string_view(tensor.ours) != schema_.outputs[i].name) continue;
      if (tensor.theirs == nullptr) return position;
      const auto slot =
          std::find_if(slots.begin(), slots.end(), [&](const auto& s) { return s.name == tensor.theirs; });
      return static_cast<size_t>(slot - slots.begin());
    }
    return slots.size();
  }

  const ImportRule& rule_;
  ConvertContext& context_;
  const OpSchema& schema_;
  bool by_name_;
  OpInputs inputs_;
  OpAttrs attrs_;
};

}  // namespace

void ApplyImportRule(const ImportRule& rule, ConvertContext* context) { RuleApplication(rule, context).Run(); }

bool ConvertOp(ConvertContext* context, void* converter_context) {
  const ForeignOp& op = context->op();
  if (const ImportRule* rule = FindImportRule(op.format, op.domain, op.type, op.opset)) {
    ApplyImportRule(*rule, context);
    return true;
  }
  const ConverterDescriptor* converter = ImporterRegistry::Global().FindConverter(op.format, ConverterName(op));
  if (converter == nullptr) return false;
  converter->convert(converter_context);
  return true;
}

bool IsConvertible(const ForeignOp& op) {
  return FindImportRule(op.format, op.domain, op.type, op.opset) != nullptr ||
         ImporterRegistry::Global().FindConverter(op.format, ConverterName(op)) != nullptr;
}

}  // namespace wherry
