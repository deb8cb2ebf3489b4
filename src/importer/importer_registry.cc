#include "importer/importer_registry.h"

#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "base/check.h"

namespace wherry {

struct ImporterRegistry::Impl {
  std::mutex mutex;
  std::vector<std::unique_ptr<const Importer>> importers;
  // By importer and type, which point into descriptors; those are never freed.
  std::map<std::string_view, std::unordered_map<std::string_view, const ConverterDescriptor*>> converters;

  void Add(const ImporterDescriptor* descriptor) {
    for (const auto& importer : importers) {
      WHERRY_ENFORCE(std::string_view(importer->name()) != descriptor->name, kAlreadyExists, "an importer named '",
                     descriptor->name, "' is registered already");
    }
    importers.emplace_back(descriptor->create());
  }
  void Add(const ConverterDescriptor* descriptor) {
    const bool added = converters[descriptor->importer].emplace(descriptor->type, descriptor).second;
    WHERRY_ENFORCE(added, kAlreadyExists, "a converter for the ", descriptor->importer, " operator '", descriptor->type,
                   "' is registered already");
  }
  void Merge() {
    if (HasPending<ImporterDescriptor>()) TakePending<ImporterDescriptor>(&AddTo<ImporterDescriptor>, this);
    if (HasPending<ConverterDescriptor>()) TakePending<ConverterDescriptor>(&AddTo<ConverterDescriptor>, this);
  }

 private:
  template <typename Descriptor>
  static void AddTo(const Descriptor* descriptor, void* registry) {
    static_cast<Impl*>(registry)->Add(descriptor);
  }
};

ImporterRegistry::ImporterRegistry() : impl_(new Impl) {
  for (const ImporterDescriptor* descriptor : BuiltinImporters()) impl_->Add(descriptor);
  for (const ConverterDescriptor* descriptor : BuiltinConverters()) impl_->Add(descriptor);
}

ImporterRegistry& ImporterRegistry::Global() {
  static ImporterRegistry registry;  // its Impl is never destroyed: threads may outlive main
  return registry;
}

std::vector<const Importer*> ImporterRegistry::Importers() {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->Merge();
  std::vector<const Importer*> importers;
  for (const auto& importer : impl_->importers) importers.push_back(importer.get());
  return importers;
}

const ConverterDescriptor* ImporterRegistry::FindConverter(const std::string& importer, const std::string& type) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->Merge();
  const auto of_importer = impl_->converters.find(importer);
  if (of_importer == impl_->converters.end()) return nullptr;
  const auto it = of_importer->second.find(type);
  return it == of_importer->second.end() ? nullptr : it->second;
}

}  // namespace wherry
