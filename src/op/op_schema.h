// OpSchema: everything that is fixed about an operator. Generated from ops/*.yaml as constant OpDescriptors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "op/attribute.h"
#include "op/meta_tensor.h"
#include "op/op_desc.h"

namespace wherry {

class InferMetaContext;
using InferMetaFn = void (*)(InferMetaContext&);

enum class ArgKind : uint8_t { kTensor, kOptionalTensor, kTensorList, kAttribute };

// `default_text` is what ParseAttribute reads; null means that the argument must be given.
struct ArgDef {
  const char* name;
  ArgKind kind;
  AttrType type = AttrType::kNone;  // kAttribute only
  const char* default_text = nullptr;

  bool is_tensor() const { return kind != ArgKind::kAttribute; }
  // An attribute that may come from a tensor instead.
  bool may_be_tensor() const { return type == AttrType::kIntArray || type == AttrType::kScalar; }
};

struct OutputDef {
  const char* name;
  bool is_list = false;
  bool optional = false;      // may be left unbound in an OpDesc
  bool intermediate = false;  // not returned by the API function
};

// Bits of OpDescriptor::traits.
enum OpTrait : uint32_t {
  kTraitUnary = 1U << 0U,   // out[i] = f(x[i]): one tensor in, any layout
  kTraitBinary = 1U << 1U,  // out = f(x, y) with NumPy broadcasting
  kTraitCommutative = 1U << 2U,
  kTraitDynamicOutput = 1U << 3U,  // the kernel decides the output's shape
  kTraitControlFlow = 1U << 4U,    // executed by runtime/; owns blocks; has no API function
  kTraitRandom = 1U << 5U,         // never folded, never merged
  kTraitSequence = 1U << 7U,       // takes or gives a sequence; executed by runtime/; has no API function
  kTraitView = 1U << 6U,           // the output may alias the input's memory unchanged (reshape, squeeze, identity)
};

// A pair of indices (argument, output).
struct ArgOutputPair {
  int8_t arg;
  int8_t output;
};

// One link of the list "dtype > x": which argument gives this part of the kernel key. Attributes are tried in order,
// tensors last.
using KeyRule = std::span<const int8_t>;

// Constant data; lives as long as the program (or plug-in).
struct OpDescriptor {
  const char* name;
  const char* doc;
  std::span<const ArgDef> args;
  std::span<const OutputDef> outputs;
  InferMetaFn infer_meta;
  std::span<const int8_t> infer_meta_params;  // argument indices, in the InferMeta function's order
  const char* kernel;                         // the name its kernels are registered under
  std::span<const int8_t> kernel_params;      // argument indices, in the kernel's order
  KeyRule data_type_rule;                     // empty: from all tensor arguments
  KeyRule backend_rule;
  KeyRule layout_rule;
  uint32_t traits = 0;
  int block_count = 0;                          // control flow: blocks owned
  std::span<const ArgOutputPair> inplace;       // the output may overwrite the argument's memory
  std::span<const int8_t> support_trans_dtype;  // arguments that may be cast to the kernel's type in eager calls
  std::span<const int8_t> skip_transform;       // arguments that are never moved or cast (shape tensors)
  bool promote = false;                         // the key's type is the promotion of all inputs' types
  std::span<const char* const> aliases;

  bool Has(OpTrait trait) const { return (traits & trait) != 0; }
  // Executed by runtime/, not by a kernel.
  bool RunByRuntime() const { return Has(kTraitControlFlow) || Has(kTraitSequence); }
  // Index of an argument or output, -1 if there is none.
  int FindArg(std::string_view param) const;
  int FindOutput(std::string_view param) const;
};
using OpSchema = OpDescriptor;

// Checks `op` against its schema and completes it: unknown parameters and attributes (with the nearest names), missing
// ones, wrong counts and types, operands and registers of fused ops, number of blocks; an alias becomes the schema's
// name, defaults are filled in and attributes converted to the schema's types. Errors name the op (type, label),
// argument, expected and got.
void ValidateOpDesc(const OpSchema& schema, OpDesc* op);

// The arguments of one InferMeta call, in the schema's argument order.
struct BoundArg {
  std::vector<const MetaTensor*> tensors;  // tensor arguments (and attributes bound to a tensor): empty = absent
  const Attribute* attribute = nullptr;    // attributes not bound to a tensor
};

// Runs the op's InferMeta. `output_counts` says how many values each output has (0: an optional one that is not
// wanted); empty means one each, and of a list as many as the function returns. Returns the results by output. Errors
// carry "inferring the shapes of op NAME"; a known dimension below 0 is one.
std::vector<std::vector<MetaTensor>> InferMeta(const OpSchema& schema, const std::vector<BoundArg>& args,
                                               std::span<const size_t> output_counts);

}  // namespace wherry
