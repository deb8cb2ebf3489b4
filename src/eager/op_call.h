// OpCall: one call of a generated API function, from the user's tensors to the results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/invoke.h"
#include "op/op_schema.h"
#include "wherry/scalar.h"
#include "wherry/tensor.h"
#include "wherry/types.h"

namespace wherry::eager {

// Filled with all arguments in the schema's order, then run once. Keeps references to the tensors' data, no more.
// Errors name the operator, the argument, what was expected and what was given. Not thread-safe; different calls may
// run in parallel.
class OpCall {
 public:
  explicit OpCall(const OpSchema& schema);

  // An undefined Tensor is an absent one: Error(kInvalidArgument) where the schema needs it.
  void EmplaceBackInput(const Tensor& tensor);
  void EmplaceBackInput(const std::vector<Tensor>& tensors);
  void EmplaceBackAttr(bool value) { Add(value); }
  void EmplaceBackAttr(int value) { Add(int64_t{value}); }
  void EmplaceBackAttr(int64_t value) { Add(value); }
  void EmplaceBackAttr(float value) { Add(double{value}); }
  void EmplaceBackAttr(double value) { Add(value); }
  void EmplaceBackAttr(const std::string& value) { Add(value); }
  void EmplaceBackAttr(const std::vector<bool>& value) { Add(value); }
  void EmplaceBackAttr(const std::vector<int>& value) { Add(std::vector<int64_t>(value.begin(), value.end())); }
  void EmplaceBackAttr(const std::vector<int64_t>& value) { Add(value); }
  void EmplaceBackAttr(const std::vector<float>& value) { Add(std::vector<double>(value.begin(), value.end())); }
  void EmplaceBackAttr(const std::vector<double>& value) { Add(value); }
  void EmplaceBackAttr(const std::vector<std::string>& value) { Add(value); }
  void EmplaceBackAttr(const Scalar& value) { Add(value); }
  void EmplaceBackAttr(const std::vector<Scalar>& value) { Add(value); }
  void EmplaceBackAttr(const IntArray& value) { Add(value); }
  void EmplaceBackAttr(DataType value) { Add(value); }
  void EmplaceBackAttr(DataLayout value) { Add(value); }
  void EmplaceBackAttr(Target value) { Add(value); }
  // An argument that the API function does not have (an epilogue, its operands): absent, or the schema's default.
  void EmplaceBackDefault() { Add(Attribute()); }

  // Finds the kernel's key by the schema's rules, selects the kernel, transforms inputs, infers, allocates and runs.
  // Afterwards the results are complete, on whatever device they lie.
  void Run();
  // Likewise, but the only output is written over the memory of `tensor`, which must have the output's type and shape;
  // all handles of `tensor` see it. Otherwise Error(kInvalidArgument) and the tensor is as it was.
  void RunInplace(Tensor* tensor);

  // The results by output; each may be taken once.
  Tensor Output(size_t i);
  std::vector<Tensor> OutputList(size_t i);

 private:
  void Add(Attribute attribute);
  void Invoke(const InvokeOptions& options);
  CallArg& Next();
  std::string Argument(size_t i) const;

  const OpSchema& schema_;
  std::vector<CallArg> args_;
  std::vector<std::vector<DenseTensor>> outputs_;
};

}  // namespace wherry::eager
