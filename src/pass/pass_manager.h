// PassManager: all passes by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pass/pass_registry.h"

namespace wherry {

// Thread-safe. Holds descriptors with factories; a pass object lives for one optimiser run.
class PassManager {
 public:
  // With what was registered since the last call. A name that is taken is left out and Error(kAlreadyExists), once.
  static PassManager& Global();

  // A new pass of that name with its bindings, or Error(kNotFound) with the nearest names. For a pass added as an
  // object (AddNewPass) the result shares it, and uses of it are serialised.
  std::unique_ptr<mir::Pass> Create(const std::string& name) const;
  bool Has(const std::string& name) const;
  std::vector<std::string> Names() const;  // sorted
  // Error(kAlreadyExists) when the name is taken.
  void Add(const PassDescriptor* descriptor);
  // The sources' spelling: takes ownership of an object. False when the name is taken (the object is deleted).
  bool AddNewPass(const std::string& name, mir::Pass* pass);
  // Runs every pass added by AddNewPass on a graph, in the order they were added: what the sources' PassManager::Run
  // does.
  void Run(const std::unique_ptr<mir::SSAGraph>& graph);

 private:
  PassManager();
  struct Impl;
  Impl* impl_;
};

// Why a pass with these bindings does not run for these places and registered kernels; empty when it does.
std::string SkipReason(const mir::Pass& pass, const std::vector<Place>& valid_places);

}  // namespace wherry
