// OperatorBase: an operator made once, without a device, whose kernels are chosen by the context it is run with.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/device_context.h"
#include "core/scope.h"
#include "kernel/kernel.h"
#include "op/op_desc.h"
#include "op/op_schema.h"

namespace wherry {

class OperatorBase;

// What one run sees.
struct OpContext {
  const OperatorBase* op;
  Scope* scope;
  DeviceContext* device_context;
};

// Made by OpRegistry::CreateOp. Running is const and may happen in parallel with different scopes and contexts; Bind is
// not.
class OperatorBase {
 public:
  OperatorBase() = default;
  virtual ~OperatorBase() = default;
  OperatorBase(const OperatorBase&) = delete;
  OperatorBase& operator=(const OperatorBase&) = delete;

  // Reads inputs from and writes outputs to `scope`, running the kernel for `device_context`; data in another memory
  // space is moved as needed. Afterwards outputs lie in the device's memory.
  void Run(Scope* scope, DeviceContext* device_context) const;
  void Run(const std::shared_ptr<Scope>& scope, DeviceContext* device_context) const {
    Run(scope.get(), device_context);
  }
  // What a subclass overrides to choose its own kernels. The default selects from the KernelFactory.
  virtual void Run(OpContext* context) const;

  // Fixes the kernel for every later run: the best for `key`. Error as SelectKernelOrThrowError. A context of another
  // target then is Error(kInvalidArgument).
  void Bind(const KernelKey& key);
  const Kernel* bound_kernel() const { return bound_; }

  const OpDesc& desc() const { return desc_; }
  const std::string& Type() const { return desc_.Type(); }
  template <typename T>
  T GetAttr(const std::string& name) const {
    return desc_.GetAttr<T>(name);
  }
  std::string DebugString() const { return desc_.DebugString(); }

 private:
  friend class OpRegistry;
  OpDesc desc_;
  const OpSchema* schema_ = nullptr;  // null for types that only a creator knows
  const Kernel* bound_ = nullptr;
};

// Operator types: every schema, and types with a creator of their own. Thread-safe.
class OpRegistry {
 public:
  using Creator = std::function<std::unique_ptr<OperatorBase>()>;

  // Validates the description against its schema (or takes it as it is for a type with a creator). Error(kNotFound)
  // with the nearest names.
  static std::unique_ptr<OperatorBase> CreateOp(const OpDesc& desc);
  // A type with a C++ class of its own. Error(kAlreadyExists) when another creator has the name; a creator goes before
  // a schema.
  static void RegisterOp(const std::string& type, const Creator& creator);
};

}  // namespace wherry
