// What the engine has: operators, kernels, passes, places.
#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/check.h"
#include "importer/import_rule.h"
#include "importer/importer.h"
#include "importer/importer_registry.h"
#include "kernel/kernel_registry.h"
#include "kernel/plugin.h"
#include "kernel/provider.h"
#include "op/schema_registry.h"
#include "pass/optimizer.h"
#include "pass/pass_manager.h"
#include "wherry/program.h"

namespace wherry {

namespace {

std::string Signature(const OpSchema& schema) {
  std::string text = "(";
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const ArgDef& arg = schema.args[i];
    text += i == 0 ? "" : ", ";
    switch (arg.kind) {
      case ArgKind::kTensor: text += "Tensor "; break;
      case ArgKind::kOptionalTensor: text += "optional Tensor "; break;
      case ArgKind::kTensorList: text += "Tensor[] "; break;
      case ArgKind::kAttribute: text += StrCat(ToString(arg.type), " "); break;
    }
    text += arg.name;
    if (arg.default_text != nullptr) text += StrCat(" = ", arg.default_text);
  }
  text += ") -> ";
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    text += StrCat(i == 0 ? "" : ", ", schema.outputs[i].is_list ? "Tensor[] " : "Tensor ", schema.outputs[i].name);
  }
  return text;
}

const char* KindName(mir::Pass::Kind kind) {
  switch (kind) {
    case mir::Pass::Kind::kProgramWise: return "program";
    case mir::Pass::Kind::kStmtWise: return "stmt";
    case mir::Pass::Kind::kDebug: return "debug";
  }
  return "";
}

}  // namespace

std::vector<OpInfo> ListOps() {
  LoadDefaultPlugins();
  std::vector<OpInfo> infos;
  for (const OpSchema* schema : SchemaRegistry::Global().List()) {
    OpInfo info;
    info.name = schema->name;
    info.doc = schema->doc == nullptr ? "" : schema->doc;
    info.signature = Signature(*schema);
    for (const char* alias : schema->aliases) info.aliases.emplace_back(alias);
    for (const ImportRule& rule : BuiltinImportRules()) {
      if (info.name == rule.op) info.formats.push_back(StrCat(rule.format, ":", rule.type));
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

std::vector<ImportInfo> ListImports() {
  std::vector<ImportInfo> infos;
  for (const ImportRule& rule : BuiltinImportRules()) {
    const std::string_view domain = rule.domain;
    const int until = rule.until == ImportRule::kNoLimit ? -1 : rule.until;
    infos.push_back({rule.format, StrCat(domain, domain.empty() ? "" : ".", rule.type), rule.op, rule.since, until});
  }
  for (const ConverterDescriptor* converter : BuiltinConverters()) {
    std::string type = converter->type;
    constexpr std::string_view kMicrosoft = "com_microsoft_";  // the only other domain that has converters
    if (type.starts_with(kMicrosoft)) type = StrCat("com.microsoft.", type.substr(kMicrosoft.size()));
    infos.push_back({converter->importer, std::move(type), "", 1, -1});
  }
  std::sort(infos.begin(), infos.end(), [](const ImportInfo& a, const ImportInfo& b) {
    return std::tie(a.format, a.type, a.since) < std::tie(b.format, b.type, b.since);
  });
  return infos;
}

std::vector<KernelInfo> ListKernels() {
  std::vector<KernelInfo> infos;
  for (const Kernel* kernel : KernelFactory::Instance().List()) {
    infos.push_back({kernel->op, kernel->provider, kernel->variant, kernel->key.DebugString(), kernel->priority});
  }
  return infos;
}

std::vector<PassInfo> ListPasses() {
  std::vector<PassInfo> infos;
  const std::vector<std::string>& pipeline = DefaultPipeline();
  for (const std::string& name : PassManager::Global().Names()) {
    const auto pass = PassManager::Global().Create(name);
    PassInfo info;
    info.name = name;
    info.kind = KindName(pass->kind());
    for (Target target : pass->bound_targets()) info.targets.emplace_back(ToString(target));
    for (const auto& [kernel, places] : pass->bound_kernels()) info.kernels.push_back(kernel);
    const auto at = std::find(pipeline.begin(), pipeline.end(), name);
    if (at != pipeline.end()) info.position = static_cast<int>(at - pipeline.begin());
    infos.push_back(std::move(info));
  }
  return infos;
}

std::vector<PlaceInfo> ListPlaces() {
  std::vector<PlaceInfo> infos;
  infos.push_back({"host", ToString(Target::kNative), true, ""});
  for (const ProviderDescriptor* provider : ProviderRegistry::Global().List()) {
    PlaceInfo info;
    info.provider = provider->name;
    info.target = ToString(provider->target);
    info.available = provider->available == nullptr || provider->available(&info.why);
    infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace wherry
