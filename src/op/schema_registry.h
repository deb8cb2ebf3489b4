// All operator schemas by name: the built-in ones and those that plug-ins and programs add.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "op/op_schema.h"
#include "op/pending.h"

namespace wherry {

// Generated from ops/*.yaml.
std::span<const OpDescriptor* const> BuiltinOps();

// Thread-safe. Built on first use from BuiltinOps() and the pending list; grows only when a plug-in is loaded; never
// shrinks. A pending op whose name is taken is left out and reported as Error(kAlreadyExists) by the first Global()
// after its registration.
class SchemaRegistry {
 public:
  static SchemaRegistry& Global();

  // By name or alias; null if there is none.
  const OpSchema* Find(std::string_view name) const;
  // Absent: Error(kNotFound) with the nearest names.
  const OpSchema& Get(std::string_view name) const;
  std::vector<const OpSchema*> List() const;  // sorted by name
  // Error(kAlreadyExists) if the name or an alias is taken.
  void Add(const OpDescriptor* descriptor);

 private:
  SchemaRegistry();
  struct Impl;
  Impl* impl_;
};

}  // namespace wherry

// Keeps an operator that wherry_add_ops compiled into a static library and that only models use: a program that calls
// its function needs none.
#define USE_OP(name) WHERRY_USE_(wherry_op_##name)
