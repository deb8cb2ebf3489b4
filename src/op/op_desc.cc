#include "op/op_desc.h"

#include <algorithm>

#include "base/check.h"
#include "base/never_destroyed.h"
#include "base/strings.h"

namespace wherry {
namespace {

using Names = std::vector<std::string>;

const Names& Find(const std::map<std::string, Names>& bindings, const std::string& param) {
  static const NeverDestroyed<Names> none;
  const auto found = bindings.find(param);
  return found == bindings.end() ? *none : found->second;
}

void Set(std::map<std::string, Names>* bindings, const std::string& param, const Names& names) {
  if (names.empty()) {
    bindings->erase(param);
  } else {
    (*bindings)[param] = names;
  }
}

// Names as they are when that is readable, else quoted.
std::string NameText(const std::string& name) {
  const std::string quoted = Quote(name);
  const bool plain =
      !name.empty() && quoted.size() == name.size() + 2 && name.find_first_of(" ,:(){}[]=") == std::string::npos;
  return plain ? name : quoted;
}

std::string BindingsText(const std::map<std::string, Names>& bindings) {
  std::vector<std::string> items;
  for (const auto& [param, names] : bindings) {
    Names texts;
    for (const std::string& name : names) texts.push_back(NameText(name));
    const std::string list = Join(texts, ", ");
    items.push_back(StrCat(NameText(param), ": ", names.size() == 1 ? list : StrCat("[", list, "]")));
  }
  return StrCat("(", Join(items, ", "), ")");
}

// The text is for people: of a long list the beginning will do.
std::string AttributeText(const Attribute& attribute) {
  constexpr size_t kMaxBytes = 200;
  std::string text = ToString(attribute);
  if (text.size() <= kMaxBytes) return text;
  return StrCat(text.substr(0, kMaxBytes), "... (", text.size(), " bytes)");
}

}  // namespace

const Names& OpDesc::Input(const std::string& param) const { return Find(inputs_, param); }
const Names& OpDesc::Output(const std::string& param) const { return Find(outputs_, param); }
void OpDesc::SetInput(const std::string& param, const Names& names) { Set(&inputs_, param, names); }
void OpDesc::SetOutput(const std::string& param, const Names& names) { Set(&outputs_, param, names); }

const Attribute& OpDesc::GetAttribute(const std::string& name) const {
  const auto found = attrs_.find(name);
  if (found != attrs_.end()) return found->second;
  Names names;
  for (const auto& [attr, value] : attrs_) names.push_back(attr);
  Throw(ErrorCode::kNotFound, "op ", NameText(type_), " has no attribute ", Quote(name), DidYouMean(name, names));
}

const std::string& OpDesc::FirstResult() const {
  for (const auto& [param, names] : outputs_) {
    if (!names.empty()) return names[0];
  }
  return type_;
}

std::string OpDesc::DebugString() const {
  std::string text = StrCat(NameText(type_), BindingsText(inputs_), " -> ", BindingsText(outputs_));
  if (!attrs_.empty()) {
    std::vector<std::string> items;
    for (const auto& [name, value] : attrs_) items.push_back(StrCat(NameText(name), " = ", AttributeText(value)));
    text += StrCat(" {", Join(items, ", "), "}");
  }
  if (!blocks_.empty()) text += StrCat(" blocks(", Join(blocks_, ", "), ")");
  if (!label_.empty()) text += StrCat(" @", Quote(label_));
  return text;
}

}  // namespace wherry
