// Runs what depends on constants only, once and now: statements whose arguments are all weights, and values that
// inference knows. An `if` on a constant becomes the branch that it takes. Constants bound to IntArray and Scalar
// arguments become attributes.
#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/checked_math.h"
#include "base/stopwatch.h"
#include "core/device_context.h"
#include "ir/fuse_util.h"
#include "kernel/invoke.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"
#include "wherry/tensor.h"

namespace wherry::mir {
namespace {

// Weights lie in host memory.
bool IsPlacement(const Node::Stmt& stmt) { return stmt.op_type() == "io_copy"; }

class FoldConstantsPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    inlined_ = false;
    made_.clear();
    for (Node* stmt : graph->StmtTopologicalOrder()) Fold(graph.get(), stmt);
  }

 private:
  void Fold(SSAGraph* graph, Node* stmt) {
    // More is known of what a branch gives than of what either would.
    if (inlined_) InferStmt(graph, stmt);
    BindAttributes(graph, stmt);
    const OpSchema& schema = stmt->AsStmt().schema();
    if (std::string_view(schema.name) == "if") {
      TakeBranch(graph, stmt);
    } else if (!schema.RunByRuntime() && !schema.Has(kTraitRandom) && !IsPlacement(stmt->AsStmt()) &&
               !FoldKnownValues(graph, stmt)) {
      FoldByRunning(graph, stmt);
    }
  }

  // An `if` whose condition is known is the branch that it takes.
  void TakeBranch(SSAGraph* graph, Node* stmt) {
    const DenseTensor* cond = graph->TryWeight(stmt->AsStmt().input("cond"));
    if (cond == nullptr || cond->dtype() != DataType::kBool || cond->numel() != 1) return;
    const bool first = cond->data<bool>()[0];
    Note(StrCat("if ", stmt->AsStmt().label(), ": always takes the ", first ? "first" : "second", " branch"));
    const NodeList branch = graph->InlineBlock(stmt, first ? 0 : 1);
    inlined_ = true;
    for (Node* inner : branch) Fold(graph, inner);
  }

  // reshape(x, shape: %w) with a weight, or with values that inference knows as numbers, becomes reshape(x) {shape =
  // [...]}.
  static void BindAttributes(SSAGraph* graph, Node* node) {
    const Node::Stmt& stmt = node->AsStmt();
    for (const ArgDef& def : stmt.schema().args) {
      if (def.is_tensor() || !def.may_be_tensor()) continue;
      Node* arg = stmt.input(def.name);
      if (arg == nullptr) continue;
      Attribute value;
      if (const DenseTensor* weight = graph->TryWeight(arg)) {
        const Tensor tensor(std::make_shared<DenseTensor>(*weight));
        if (def.type == AttrType::kScalar && weight->numel() != 1) continue;
        value = def.type == AttrType::kScalar ? Attribute(Scalar(tensor)) : Attribute(IntArray(tensor));
      } else if (const std::optional<std::vector<int64_t>> numbers = Numbers(arg->AsArg().type)) {
        if (def.type == AttrType::kScalar && numbers->size() != 1) continue;
        value = def.type == AttrType::kScalar ? Attribute(Scalar(numbers->at(0))) : Attribute(IntArray(*numbers));
      } else if (const auto entries = EntriesOf(stmt, arg->AsArg().type)) {
        value = IntArray(*entries);
      } else {
        continue;
      }
      graph->SetInput(node, def.name, {});
      graph->SetAttr(node, def.name, value);
      if (arg->AsArg().is_weight && arg->outlinks().empty() && !graph->IsOutput(arg)) graph->EraseArg(arg);
    }
  }

  // A reshape's shape that holds symbols, as exporters compute it to keep the batch: a dimension that x has at the same
  // place is written 0, and one other may be -1.
  static std::optional<std::vector<int64_t>> EntriesOf(const Node::Stmt& stmt, const MetaTensor& shape) {
    if (stmt.op_type() != "reshape" || stmt.GetAttr<bool>("allow_zero") || !shape.values) return std::nullopt;
    return ReshapeEntries(stmt.input("x")->AsArg().type.dims, *shape.values);
  }

  // The values of an integer tensor, when all of them are numbers.
  static std::optional<std::vector<int64_t>> Numbers(const MetaTensor& type) {
    if (!type.values || !type.known()) return std::nullopt;
    std::vector<int64_t> numbers;
    for (const Dim& value : *type.values) {
      if (!value.known()) return std::nullopt;
      numbers.push_back(value.value());
    }
    return numbers;
  }

  bool FoldKnownValues(SSAGraph* graph, Node* stmt) {
    const NodeList results = stmt->outlinks();
    std::vector<DenseTensor> tensors;
    for (const Node* result : results) {
      const MetaTensor& type = result->AsArg().type;
      const std::optional<std::vector<int64_t>> numbers = Numbers(type);
      if (!numbers || !(IsInteger(type.dtype) || type.dtype == DataType::kBool)) return false;
      DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kInt64, type.shape(), DataLayout::kNCHW, 0});
      std::copy(numbers->begin(), numbers->end(), tensor.mutable_data<int64_t>());
      CpuContext context;
      tensors.push_back(TransformTensor(tensor, type.dtype, DataLayout::kNCHW, &context));
    }
    Replace(graph, stmt, results, std::move(tensors));
    return true;
  }

  void FoldByRunning(SSAGraph* graph, Node* node) {
    const Node::Stmt& stmt = node->AsStmt();
    std::set<const Node*> read_once;
    size_t read = 0;
    size_t freed = 0;  // of that, what nothing else reads
    std::vector<CallArg> args(stmt.schema().args.size());
    for (size_t i = 0; i < args.size(); ++i) {
      const ArgDef& def = stmt.schema().args[i];
      for (const Node* arg : stmt.input_list(def.name)) {
        const DenseTensor* weight = graph->TryWeight(arg);
        if (weight == nullptr) return;
        args[i].tensors.push_back(weight);
        if (!read_once.insert(arg).second) continue;
        read += weight->nbytes();
        if (HasOneUse(*graph, arg)) freed += weight->nbytes();
        if (known_.insert(arg->AsArg().name).second) own_ += weight->nbytes();
      }
      if (stmt.HasAttr(def.name)) args[i].attribute = stmt.attrs().at(def.name);
    }
    size_t written = 0;
    NodeList results;
    InvokeOptions options;
    for (const OutputDef& output : stmt.schema().outputs) {
      const NodeList& bound = stmt.output_list(output.name);
      options.output_counts.push_back(bound.size());
      for (Node* result : bound) {
        if (!result->AsArg().type.known()) return;
        const auto bytes = SizeIfAny(result->AsArg().type);
        if (!bytes) return;
        written = CheckedAdd(written, *bytes, "size of constants");
        results.push_back(result);
      }
    }
    // A small model file may ask for any amount: what grows is bounded one by one, and what is held beside what it is
    // made from all together.
    const size_t growth = written - std::min(written, read);
    const size_t held = written - std::min(written, freed);
    const size_t most_held = context().max_folded_growth + own_;
    if ((growth > 0 && written > context().max_folded_bytes) || held > most_held - std::min(most_held, held_)) {
      Note(StrCat(stmt.op_type(), ": not folded, its result of ", written, " bytes is larger than the ", read,
                  " bytes it is made from"));
      return;
    }
    if (spent_ms_ > kMostMilliseconds) {
      Note(StrCat(stmt.op_type(), ": not folded, others took longer than they were estimated to"));
      return;
    }
    if (std::string_view(stmt.schema().name) == "transpose" && written > kDeferredBytes &&
        SizeOf(args[0].tensors.at(0)->dtype()) != 0) {
      held_ += held;
      return Replace(graph, node, results, {Transposed(stmt, args, results[0]->AsArg().type.tensor_meta())});
    }
    CpuContext cpu(context().pool);
    std::vector<DenseTensor> tensors;
    const Stopwatch watch;
    // For each byte of the model's weights that is read as long as it takes at 50 MB/s.
    double left_us = context().max_folding_us + static_cast<double>(own_) / 50 - estimated_us_;
    const double before_us = left_us;
    options.budget_us = &left_us;
    try {
      for (std::vector<DenseTensor>& group : InvokeOp(stmt.schema(), args, &cpu, options)) {
        for (DenseTensor& tensor : group) tensors.push_back(std::move(tensor));
      }
    } catch (const Error& error) {
      // What fails here fails when it is run, if it is: a branch that is never taken is no error.
      Note(StrCat(stmt.op_type(), ": not folded: ", error.message()));
      return;
    }
    spent_ms_ += watch.Milliseconds();
    estimated_us_ += before_us - left_us;
    if (tensors.size() < results.size()) return;
    held_ += held;
    Replace(graph, node, results, std::move(tensors));
  }

  // What is folded depends on estimates, the same on every machine; time itself only ends what is out of all proportion
  // to them, as operators can be that take the square of their elements.
  static constexpr double kMostMilliseconds = 60'000;

  // A large weight transposed is made when it is read: what kernels only read packed is never there in full.
  static constexpr size_t kDeferredBytes = size_t{1} << 16;
  static DenseTensor Transposed(const Node::Stmt& stmt, const std::vector<CallArg>& args, const TensorMeta& meta) {
    auto write = [&schema = stmt.schema(), weight = *args[0].tensors[0], args](void* to) {
      DenseTensor source(HostAllocator(), weight.meta());
      weight.CopyBytesTo(source.mutable_raw_data());
      weight.buffer()->Discard();
      std::vector<CallArg> call = args;
      call[0].tensors = {&source};
      CpuContext cpu;
      const DenseTensor result = InvokeOp(schema, call, &cpu).at(0).at(0);
      std::memcpy(to, result.raw_data(), result.nbytes());
    };
    return DenseTensor(meta, Buffer::Deferred(meta.nbytes(), std::move(write)));
  }

  // Nothing for more bytes than there can be: that is an error where the value is made, if it is.
  static std::optional<size_t> SizeIfAny(const MetaTensor& type) {
    try {
      return type.tensor_meta().nbytes();
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  void Replace(SSAGraph* graph, Node* stmt, const NodeList& results, std::vector<DenseTensor> tensors) {
    for (size_t i = 0; i < results.size(); ++i) {
      Node* weight = graph->NewWeight(results[i]->AsArg().name, std::move(tensors[i]));
      known_.insert(weight->AsArg().name);
      made_.insert(weight->AsArg().name);
      graph->ReplaceUses(results[i], weight);
    }
    std::vector<std::string> read;
    for (const Node* arg : stmt->inlinks()) {
      if (made_.count(arg->AsArg().name) != 0) read.push_back(arg->AsArg().name);
    }
    graph->EraseStmt(stmt);
    // What was made only to make this would else stay until the graph is put together: a chain's every link.
    for (const std::string& name : read) {
      if (graph->FindArg(name) == nullptr && made_.erase(name) != 0) graph->DropWeight(name);
    }
  }

  bool inlined_ = false;
  std::set<std::string> known_;  // weights that were read before, or made here
  std::set<std::string> made_;   // weights of this graph that were made here
  size_t own_ = 0;               // bytes of those that were not made here
  size_t held_ = 0;              // bytes of results, less those of what only they were made from, so far
  double estimated_us_ = 0;      // what running statements was estimated to take, so far
  double spent_ms_ = 0;          // what it took
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(fold_constants_pass, wherry::mir::FoldConstantsPass);
