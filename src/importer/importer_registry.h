// All importers and converters: the built-in ones and those that plug-ins and programs add.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "importer/importer.h"

namespace wherry {

// Thread-safe. Built on first use; grows only when a plug-in is loaded.
class ImporterRegistry {
 public:
  static ImporterRegistry& Global();

  // In the order of registration. The importers live as long as the program.
  std::vector<const Importer*> Importers();
  // Null if there is none.
  const ConverterDescriptor* FindConverter(const std::string& importer, const std::string& type);

 private:
  ImporterRegistry();
  struct Impl;
  Impl* impl_;
};

}  // namespace wherry
