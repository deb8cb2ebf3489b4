#include "predictor/cxx_explain_kernels.h"

#include <algorithm>

#include "kernel/cost.h"
#include "kernel/invoke.h"
#include "kernel/kernel_registry.h"
#include "pass/kernel_choice.h"
#include "runtime/session.h"

namespace wherry {

namespace {

void ExplainGraph(const mir::SSAGraph& graph, const PassContext& context, int* next_block,
                  std::vector<OpExplanation>* ops) {
  const int block = (*next_block)++;  // as SSAGraph::Snapshot numbers them
  for (const mir::Node* stmt : graph.StmtTopologicalOrder()) {
    for (const auto& child : stmt->AsStmt().blocks()) ExplainGraph(*child, context, next_block, ops);
    if (stmt->AsStmt().schema().RunByRuntime()) continue;
    OpExplanation op;
    const OpDesc desc = stmt->AsStmt().desc();
    op.block = block;
    op.name = desc.DisplayName();
    op.type = desc.Type();
    op.text = desc.DebugString();
    for (const auto& [param, names] : desc.outputs()) op.results.insert(op.results.end(), names.begin(), names.end());
    const KernelPick* pick = graph.Pick(stmt);
    if (pick != nullptr) op.reason = pick->reason;
    if (mir::AssumesSizes(stmt)) op.assumed_dim = kAssumedDim;
    for (const mir::RankedKernel& ranked : mir::RankKernels(graph, stmt, context)) {
      const Kernel& kernel = *ranked.kernel;
      CandidateExplanation candidate;
      candidate.kernel = kernel.id();
      candidate.key = kernel.key.DebugString();
      candidate.priority = kernel.priority;
      candidate.picked = pick != nullptr && pick->provider == kernel.provider && pick->variant == kernel.variant &&
                         pick->key == kernel.key;
      candidate.refusal = ranked.refusal;
      candidate.kernel_us = ranked.kernel_us;
      candidate.conversion_us = ranked.conversion_us;
      candidate.place_rank = ranked.place_rank;
      if (candidate.picked) op.estimated_us = candidate.kernel_us;
      op.candidates.push_back(std::move(candidate));
    }
    ops->push_back(std::move(op));
  }
}

}  // namespace

std::vector<OpExplanation> ExplainKernels(const mir::SSAGraph& graph, const std::shared_ptr<ThreadPool>& pool) {
  std::vector<OpExplanation> ops;
  PassContext context;
  context.pool = pool;
  int next_block = 0;
  ExplainGraph(graph, context, &next_block, &ops);
  return ops;
}

void MeasureCandidates(const ShapePlan& plan, const PlannedCall& call, OpExplanation* op,
                       const std::shared_ptr<ThreadPool>& pool) {
  constexpr double kMostMicroseconds = 50'000;
  if (call.at_run_time || call.nothing) return;
  const Instruction& instruction = *call.instruction;
  std::vector<CallArg> args(instruction.args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    for (const int slot : instruction.args[i].slots) args[i].tensors.push_back(&plan.tensors[call.Slot(slot)]);
    if (args[i].tensors.empty() && instruction.args[i].attribute != nullptr)
      args[i].attribute = *instruction.args[i].attribute;
  }
  CpuContext device(pool);
  InvokeOptions options;
  options.constants = instruction.constants;
  for (const std::vector<int>& slots : instruction.outputs) options.output_counts.push_back(slots.size());
  for (const Kernel* kernel : KernelFactory::Instance().Kernels(instruction.schema->kernel)) {
    const auto candidate =
        std::find_if(op->candidates.begin(), op->candidates.end(), [kernel](const CandidateExplanation& each) {
          return each.kernel == kernel->id() && each.key == kernel->key.DebugString();
        });
    if (candidate == op->candidates.end() || !candidate->refusal.empty()) continue;
    if (kernel->key.target() != Target::kHost && kernel->key.target() != Target::kNative) continue;
    if (EstimateCall(plan, call, *kernel, device.threads()).microseconds > kMostMicroseconds) continue;
    options.kernel = kernel;
    double measured = -1;
    options.kernel_us = &measured;
    try {
      InvokeOp(*instruction.schema, args, &device, options);
      candidate->measured_us = measured;
    } catch (const Error&) {
      continue;  // it has no time
    }
  }
}

bool HasPicks(const mir::SSAGraph& graph) {
  const mir::NodeList nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [&graph](const mir::Node* node) {
    if (!node->IsStmt()) return false;
    const auto& blocks = node->AsStmt().blocks();
    return graph.Pick(node) != nullptr ||
           std::any_of(blocks.begin(), blocks.end(), [](const auto& child) { return HasPicks(*child); });
  });
}

}  // namespace wherry
