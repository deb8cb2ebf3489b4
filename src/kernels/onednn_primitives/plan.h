// What conv2d, matmul, fc and fused_matmul have in common: a primitive of a source, weights and a destination, with
// post-ops.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <memory>
#include <string>
#include <vector>

#include "kernel/kernel_context.h"
#include "kernels/onednn_primitives/epilogue.h"

namespace wherry::onednn {

// What a kernel has worked out about a problem before a primitive is made.
struct Recipe {
  dnnl::primitive primitive;  // made only when asked for
  dnnl::memory::desc source;
  dnnl::memory::desc weights_given;   // as the op's argument lies
  dnnl::memory::desc weights_wanted;  // as the primitive takes them
  dnnl::memory::desc destination;
  dnnl::memory::desc scratchpad;
  std::vector<Operand> operands;
  std::string implementation;  // oneDNN's name for it
};

// Fills the recipe from the primitive_desc of a convolution or a matmul.
template <typename PrimitiveDesc, typename Primitive>
void Fill(const PrimitiveDesc& desc, bool make_primitive, Primitive* /*type*/, Recipe* recipe) {
  recipe->source = desc.src_desc();
  recipe->weights_wanted = desc.weights_desc();
  recipe->destination = desc.dst_desc();
  recipe->scratchpad = desc.scratchpad_desc();
  recipe->implementation = desc.impl_info_str();
  if (make_primitive) recipe->primitive = Primitive(desc);
}

// Every argument and output has a known shape without a 0 in it; otherwise the reason in `why` if they never will, or
// "".
bool KnownAndNotEmpty(const KernelProblem& problem, std::string_view x, std::string_view weights, std::string* why);

// "" or why this recipe is refused: oneDNN would run its reference code.
std::string RefusalOf(const Recipe& recipe);

// `weights` is the name of the argument that may be packed (the second input).
std::shared_ptr<const KernelPlan> MakePlan(const KernelProblem& problem, std::string_view weights, Recipe recipe);

size_t PackedBytes(const TensorMeta& weight, std::string_view format);
void Pack(const DenseTensor& weight, std::string_view format, void* packed);

// For kernels whose inputs are the source, the weights and, where they have them, the operands. Allocates nothing on a
// plan that ran before; oneDNN does (2.6: five small blocks for a matmul).
void Run(KernelContext* context);

}  // namespace wherry::onednn
