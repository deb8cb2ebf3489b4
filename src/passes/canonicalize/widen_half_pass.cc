// Operators on f16 and bf16 that only plain loops take as they are compute in f32: arguments are cast before them,
// results behind them, and a result that goes on to the next such operator goes there as it is, without being rounded
// in between. Weights become f32 when they are read (packed, mostly). What has a kernel of its own for 16 bits and
// reads nothing that was computed in f32, as a lookup in a table, stays.
//
// Casts of the model itself stay and round. Overflows of f16 between operators no longer happen.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "core/device_context.h"
#include "ir/fuse_util.h"
#include "kernel/invoke.h"
#include "kernel/kernel_registry.h"
#include "pass/kernel_choice.h"
#include "pass/pass_registry.h"
#include "pass/weight_in_memory.h"

namespace wherry::mir {
namespace {

bool IsHalf(DataType dtype) { return dtype == DataType::kFP16 || dtype == DataType::kBF16; }
bool IsHalf(const Node* arg) { return IsHalf(arg->AsArg().type.dtype); }

// Plain loops, for any type that the operator has.
bool IsReference(const Kernel& kernel) { return kernel.provider == "ref"; }

void WidenTo(const DenseTensor& halves, float* to) {
  CpuContext cpu;
  ForEachPiece(InPieces(halves), [&](const DenseTensor& piece, int64_t begin) {
    const DenseTensor floats = TransformTensor(piece, DataType::kFloat, DataLayout::kUndefined, &cpu);
    std::copy_n(floats.data<float>(), floats.numel(), to + begin);
    return true;
  });
}

// The weight in f32, made when it is read: what kernels only read packed is never there in full.
DenseTensor Widened(const DenseTensor& weight) {
  TensorMeta meta = weight.meta();
  meta.dtype = DataType::kFloat;
  auto write = [weight](void* to) {
    WidenTo(weight, static_cast<float*>(to));
    weight.buffer()->Discard();
  };
  auto write_part = [weight](void* to, size_t offset, size_t bytes) {
    const auto count = static_cast<int64_t>(bytes / sizeof(float));
    DenseTensor part(HostAllocator(), TensorMeta{weight.dtype(), Shape{count}});
    const size_t size = SizeOf(weight.dtype());
    if (!weight.CopyPartTo(part.mutable_raw_data(), offset / sizeof(float) * size, part.nbytes())) return false;
    WidenTo(part, static_cast<float*>(to));
    return true;
  };
  return DenseTensor(meta, Buffer::Deferred(meta.nbytes(), std::move(write), std::move(write_part)));
}

class WidenHalfPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    wide_.clear();
    int operators = 0;
    std::vector<std::string> rounded;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      if (ShouldWiden(*graph, stmt) && Widen(graph.get(), stmt, &rounded)) ++operators;
    }
    EraseUnused(graph.get(), std::move(rounded));
    if (operators > 0) Note(StrCat(operators, " operators on 16 bits compute in f32"));
  }

 private:
  struct Wide {
    Node* node;
    bool computed;  // in f32, and then rounded
  };

  bool ShouldWiden(const SSAGraph& graph, const Node* node) const {
    const Node::Stmt& stmt = node->AsStmt();
    // A sequence does not say the type of its tensors: they stay what the model says.
    if (!stmt.blocks().empty() || stmt.schema().Has(kTraitSequence)) return false;
    if (stmt.op_type() == "bitcast") return false;  // the bits are asked for
    bool half = false;
    for (const auto& [param, args] : stmt.inputs()) {
      for (const Node* arg : args) {
        if (!IsHalf(arg)) continue;
        half = true;
        const auto wide = wide_.find(arg);
        if (wide != wide_.end() && wide->second.computed) return true;
      }
    }
    if (!half || stmt.op_type() == "cast" || !HasFastFloats(stmt)) return false;
    const Kernel* own = ChooseKernel(graph, node, context()).kernel;
    return own == nullptr || IsReference(*own);
  }

  static bool HasFastFloats(const Node::Stmt& stmt) {
    const std::vector<const Kernel*> kernels = KernelFactory::Instance().Kernels(stmt.schema().kernel);
    return std::any_of(kernels.begin(), kernels.end(), [](const Kernel* kernel) {
      const DataType dtype = kernel->key.dtype();
      return !IsReference(*kernel) && (dtype == DataType::kFloat || dtype == DataType::kAny);
    });
  }

  // `arg` in f32, made once. near: the first statement that reads it so.
  Node* WideOf(SSAGraph* graph, Node* arg, const Node* near) {
    const auto known = wide_.find(arg);
    if (known != wide_.end()) return known->second.node;
    const std::string name = arg->AsArg().name + ".f32";
    Node* wide = nullptr;
    if (const DenseTensor* weight = graph->TryWeight(arg)) {
      wide = graph->NewWeight(name, Widened(*weight));
    } else {
      wide = graph->NewArg(name);
      InferStmt(graph, graph->NewStmt("cast", {{"x", {arg}}}, {{"out", {wide}}}, {{"dtype", DataType::kFloat}}, near));
    }
    wide_[arg] = {wide, false};
    return wide;
  }

  // Says whether it did. rounded: what is perhaps no longer used.
  bool Widen(SSAGraph* graph, Node* node, std::vector<std::string>* rounded) {
    const Node::Stmt& stmt = node->AsStmt();
    Binding inputs = stmt.inputs();
    for (auto& [param, args] : inputs) {
      for (Node*& arg : args) {
        if (IsHalf(arg)) arg = WideOf(graph, arg, node);
      }
    }
    Binding outputs = stmt.outputs();
    for (auto& [param, results] : outputs) {
      for (Node*& result : results) result = graph->NewArg(result->AsArg().name + (IsHalf(result) ? ".f32" : ""));
    }
    Node* const wide = graph->NewStmt(stmt.op_type(), inputs, outputs, stmt.attrs(), node);
    try {
      InferStmt(graph, wide);
    } catch (const Error&) {  // it is not for f32: as before
      graph->EraseStmt(wide);
      return false;
    }
    graph->SetLabel(wide, stmt.label());
    std::vector<std::pair<Node*, Node*>> replaced;
    for (const auto& [param, results] : stmt.outputs()) {
      for (size_t i = 0; i < results.size(); ++i) replaced.emplace_back(results[i], outputs.at(param)[i]);
    }
    for (const auto& [before, now] : replaced) {
      const DataType dtype = before->AsArg().type.dtype;
      Node* result = now;
      if (IsHalf(dtype) && now->AsArg().type.dtype == DataType::kFloat) {
        result = graph->NewArg(StrCat(before->AsArg().name, ".", ToString(dtype)));
        InferStmt(graph, graph->NewStmt("cast", {{"x", {now}}}, {{"out", {result}}}, {{"dtype", dtype}}, node));
        wide_[result] = {now, true};
        rounded->push_back(result->AsArg().name);
      }
      graph->ReplaceUses(before, result);
    }
    graph->EraseStmt(node);
    return true;
  }

  std::map<const Node*, Wide> wide_;  // by what is of 16 bits
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(widen_half_pass, wherry::mir::WidenHalfPass).BindTargets({TARGET(kAny)}).BindKernel("cast");
