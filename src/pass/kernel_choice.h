// Choosing a kernel for a statement: what the picking pass, legalisation and `--explain` share.
#pragma once

#include <string>
#include <vector>

#include "ir/ssa_graph.h"
#include "kernel/kernel.h"
#include "pass/pass.h"

namespace wherry::mir {

// A registered kernel of the statement's op, and how it compares.
struct RankedKernel {
  const Kernel* kernel = nullptr;
  std::string refusal;  // why it cannot run; empty: it can
  int place_rank =
      0;  // index of the valid place it meets; beyond them for what is admissible all the same (integers, bools, host)
  bool precision_exact = true;  // its type is the place's
  double kernel_us = 0;         // estimated
  double conversion_us = 0;     // of the conversions at its inputs
  double cost_us() const { return kernel_us + conversion_us; }
};

// Everything registered for the op, best first (refused ones last, in the registry's order). `layouts` of the arguments
// are read from their types.
// `refused` says whether those that cannot run are listed too, with their reasons, which take longer to write than the
// others to find.
std::vector<RankedKernel> RankKernels(const SSAGraph& graph, const Node* stmt, const PassContext& context,
                                      bool refused = true);

// Whether its costs are of sizes made up: a dimension of an argument or result is decided at run time, and counts as
// kAssumedDim.
bool AssumesSizes(const Node* stmt);

// The pick for a statement: the first of RankKernels, or nothing (then `why` lists the refusals).
struct KernelChoice {
  const Kernel* kernel = nullptr;
  std::string reason;
};
KernelChoice ChooseKernel(const SSAGraph& graph, const Node* stmt, const PassContext& context);
// What the graph keeps of a choice, which must not be nothing.
KernelPick PickOf(const KernelChoice& choice);
// What the pick would cost if the statement had the attributes `instead` (others stay), in microseconds; infinite if
// nothing could run it.
double CostWith(const SSAGraph& graph, const Node* stmt, const PassContext& context, const AttributeMap& instead);

// A way to run a statement: a kernel, and the layout in which its images lie. A kernel for any layout is one for each.
struct KernelAlternative {
  const Kernel* kernel = nullptr;
  DataLayout images = DataLayout::kNCHW;
  double kernel_us = 0;  // estimated
};
// Those that ChooseKernel would compare by cost: they can run, and none is better by place and type. The layouts of the
// statement's arguments do not matter. Empty if nothing can run it.
std::vector<KernelAlternative> ListAlternatives(const SSAGraph& graph, const Node* stmt, const PassContext& context);
// The layout that an alternative wants an argument in, and that of its results.
DataLayout WantedLayout(const KernelAlternative& alternative, const Node* stmt, size_t arg_index,
                        const MetaTensor& type);
DataLayout ResultLayout(const KernelAlternative& alternative, const Node* stmt, const MetaTensor& result);
// Of a kernel for any layout: the argument whose images it takes as they are, and likewise lays out the others. Null if
// there is none.
const Node* LeadingImage(const Node* stmt);

// The layout that the kernel wants an argument in: kNCHW or kNHWC. A kernel for any layout takes its first image as it
// is, and the others like it.
DataLayout WantedLayout(const Kernel& kernel, const Node* stmt, size_t arg_index, const MetaTensor& type);
// The layout of the statement's results with this kernel.
DataLayout ResultLayout(const Kernel& kernel, const Node* stmt, const MetaTensor& result);

}  // namespace wherry::mir
