// What only moves elements, one operator behind the other (transposes, casts of layouts, views between them), becomes
// at most one transpose between views. What lies with channels last and is wanted as rows of channels is not moved at
// all: the ways there and back through the plain order go.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ir/fuse_util.h"
#include "op/memory_piece.h"
#include "pass/kernel_choice.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"

namespace wherry::mir {
namespace {

using Axes = std::vector<int64_t>;

Axes OrderOf(const MetaTensor& type) {
  const std::vector<size_t> order = MemoryOrder(type);
  return {order.begin(), order.end()};
}

std::vector<Dim> InOrder(const std::vector<Dim>& dims, const Axes& order) {
  std::vector<Dim> result;
  for (const int64_t axis : order) result.push_back(dims[static_cast<size_t>(axis)]);
  return result;
}

Axes Inverse(const Axes& perm) {
  Axes inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

bool IsSorted(const Axes& axes) { return std::is_sorted(axes.begin(), axes.end()); }

// The perm of a transpose, or of a layout cast that has one; nothing for other operators.
std::optional<Axes> PermOf(const Node::Stmt& stmt) {
  if (stmt.op_type() == "transpose") return Permutation(stmt);
  if (stmt.op_type() != "layout" || stmt.GetAttr<Axes>("perm").empty()) return std::nullopt;
  return Permutation(stmt);
}

bool OnlyMoves(const std::string& op) { return op == "transpose" || op == "layout" || IsView(op); }

// Where the elements of a value go: its axes are taken apart into factors as far as the operators that follow do.
class Movement {
 public:
  explicit Movement(const MetaTensor& source) {
    for (const Dim& dim : source.dims) {
      axes_.emplace_back();
      if (dim != Dim(1)) axes_.back().push_back(NewFactor(dim));
    }
    from_ = FactorsOf(OrderOf(source));
  }

  void Transpose(const Axes& perm) {
    std::vector<std::vector<size_t>> axes;
    for (const int64_t axis : perm) axes.push_back(axes_[static_cast<size_t>(axis)]);
    axes_ = std::move(axes);
  }

  // The same elements in the same order as axes of these sizes. False if factors would have to be torn apart.
  bool Reshape(const std::vector<Dim>& wanted) {
    std::vector<size_t> left;
    for (const std::vector<size_t>& axis : axes_) left.insert(left.end(), axis.begin(), axis.end());
    std::vector<std::vector<size_t>> axes;
    size_t at = 0;
    for (const Dim& dim : wanted) {
      axes.emplace_back();
      for (Dim rest = dim; rest != Dim(1);) {
        if (at == left.size()) return false;
        const size_t factor = left[at];
        const Dim size = sizes_[factor];
        axes.back().push_back(factor);
        if (const std::optional<Dim> more = ExactDiv(rest, size)) {
          rest = *more;
          ++at;
          continue;
        }
        const std::optional<Dim> inner = ExactDiv(size, rest);
        if (!inner) return false;
        sizes_[factor] = rest;
        left[at] = NewFactor(*inner);
        from_.insert(std::find(from_.begin(), from_.end(), factor) + 1, left[at]);
        rest = Dim(1);
      }
    }
    axes_ = std::move(axes);
    return at == left.size();
  }

  // Sizes of the runs that stay together, in the order in which they lie in the source, and where each goes.
  struct Runs {
    std::vector<Dim> sizes;
    Axes perm;
    bool moves() const { return sizes.size() > 1; }
  };
  // The value as it is now, its axes lying in this order.
  Runs RunsTo(const Axes& order) const {
    const std::vector<size_t> to = FactorsOf(order);
    std::vector<size_t> run_of(sizes_.size());
    Runs runs;
    for (size_t i = 0; i < from_.size(); ++i) {
      const auto place = std::find(to.begin(), to.end(), from_[i]);
      const bool goes_on = i > 0 && place != to.begin() && *(place - 1) == from_[i - 1];
      if (!goes_on) runs.sizes.emplace_back(1);
      runs.sizes.back() = runs.sizes.back() * sizes_[from_[i]];
      run_of[from_[i]] = runs.sizes.size() - 1;
    }
    for (const size_t factor : to) {
      const auto run = static_cast<int64_t>(run_of[factor]);
      if (runs.perm.empty() || runs.perm.back() != run) runs.perm.push_back(run);
    }
    return runs;
  }

 private:
  size_t NewFactor(const Dim& size) {
    sizes_.push_back(size);
    return sizes_.size() - 1;
  }
  std::vector<size_t> FactorsOf(const Axes& order) const {
    std::vector<size_t> factors;
    for (const int64_t axis : order) {
      const std::vector<size_t>& own = axes_[static_cast<size_t>(axis)];
      factors.insert(factors.end(), own.begin(), own.end());
    }
    return factors;
  }

  std::vector<Dim> sizes_;                 // by factor
  std::vector<size_t> from_;               // the factors as they lie in the source
  std::vector<std::vector<size_t>> axes_;  // those of each axis now
};

// Of a statement that only moves elements. False if it cannot be followed.
bool Follow(const Node::Stmt& stmt, Movement* movement) {
  if (IsView(stmt.op_type())) return movement->Reshape(Dims(stmt.output()));
  if (const std::optional<Axes> perm = PermOf(stmt)) movement->Transpose(*perm);
  return true;
}

class JoinMovesPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    graph_ = graph.get();
    int joined = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) joined += Join(stmt) ? 1 : 0;
    if (joined > 0) Note(std::to_string(joined) + " chains that move elements joined");
  }

 private:
  // Whether all that it takes and gives is in the host's memory, of a known number of dimensions, none of them 0.
  bool IsMove(const Node* stmt) const {
    if (!OnlyMoves(stmt->AsStmt().op_type()) || stmt->inlinks().size() != 1 || stmt->outlinks().size() != 1)
      return false;
    const KernelPick* const pick = graph_->Pick(stmt);
    if (pick == nullptr || !IsHostMemory(pick->key.target())) return false;
    const auto fits = [](const Node* arg) {
      const MetaTensor& type = arg->AsArg().type;
      return type.rank_known && type.pixel_stride == 0 &&
             (type.layout == DataLayout::kNCHW || type.layout == DataLayout::kNHWC) &&
             std::none_of(type.dims.begin(), type.dims.end(), [](const Dim& dim) { return dim == Dim(0); });
    };
    return fits(stmt->inlinks()[0]) && fits(stmt->outlinks()[0]);
  }

  // Ends where something else reads the value, or several do.
  bool IsLast(const Node* stmt) const {
    const Node* const out = stmt->outlinks()[0];
    return !HasOneUse(*graph_, out) || !IsMove(out->outlinks()[0]);
  }

  static bool Moves(const Node* stmt) {
    const MetaTensor& from = stmt->inlinks()[0]->AsArg().type;
    Movement movement(from);
    if (!Follow(stmt->AsStmt(), &movement)) return false;  // a view
    return movement.RunsTo(OrderOf(stmt->outlinks()[0]->AsArg().type)).moves();
  }

  bool Join(Node* last) {
    if (!IsMove(last) || !IsLast(last)) return false;
    // The chain from its end on, and how often it moves the elements for this end alone.
    NodeList chain;
    std::vector<int> moves;  // up to each statement
    bool alone = true;
    for (Node* stmt = last; stmt != nullptr && IsMove(stmt); stmt = stmt->inlinks()[0]->producer()) {
      alone = alone && (stmt == last || HasOneUse(*graph_, stmt->outlinks()[0]));
      chain.push_back(stmt);
      moves.push_back((moves.empty() ? 0 : moves.back()) + (alone && Moves(stmt) ? 1 : 0));
    }
    // From as far back as it can be followed.
    for (; chain.size() > 1; chain.pop_back(), moves.pop_back()) {
      Node* const source = chain.back()->inlinks()[0];
      Movement movement(source->AsArg().type);
      const bool followed = std::all_of(chain.rbegin(), chain.rend(),
                                        [&](const Node* stmt) { return Follow(stmt->AsStmt(), &movement); });
      if (!followed) continue;
      const MetaTensor& result = last->outlinks()[0]->AsArg().type;
      const Movement::Runs runs = movement.RunsTo(OrderOf(result));
      if ((runs.moves() ? 1 : 0) >= moves.back() || runs.sizes.size() > Shape::kMaxRank) continue;
      if (Replace(source, runs, last)) return true;
    }
    return false;
  }

  // One of the statements that take the chain's place.
  struct Step {
    const char* op;
    AttributeMap attrs;
  };

  bool Replace(Node* source, const Movement::Runs& runs, Node* last) {
    const MetaTensor& from = source->AsArg().type;
    Node* const out = last->outlinks()[0];
    const MetaTensor& to = out->AsArg().type;
    std::vector<Step> steps;
    const Axes from_order = OrderOf(from);
    const Axes to_order = OrderOf(to);
    if (!IsSorted(from_order)) steps.push_back({"layout", {{"layout", DataLayout::kNCHW}, {"perm", from_order}}});
    std::vector<Dim> dims = InOrder(from.dims, from_order);
    const auto reshape = [&](const std::vector<Dim>& wanted) {
      if (dims == wanted) return true;
      const std::optional<Axes> entries = ReshapeEntries(dims, wanted);
      if (!entries) return false;
      steps.push_back({"reshape", {{"shape", IntArray(*entries)}}});
      dims = wanted;
      return true;
    };
    if (runs.moves()) {
      if (!reshape(runs.sizes)) return false;
      steps.push_back({"transpose", {{"perm", runs.perm}}});
      dims = InOrder(dims, runs.perm);
    }
    if (!reshape(InOrder(to.dims, to_order))) return false;
    if (!IsSorted(to_order)) steps.push_back({"layout", {{"layout", DataLayout::kNHWC}, {"perm", Inverse(to_order)}}});

    Node* value = source;
    for (const Step& step : steps) {
      Node* const result = graph_->NewArg(out->AsArg().name);
      Node* const stmt = graph_->NewStmt(step.op, {{"x", {value}}}, {{"out", {result}}}, step.attrs, last);
      InferStmt(graph_, stmt);
      const KernelChoice choice = ChooseKernel(*graph_, stmt, context());
      WHERRY_CHECK(choice.kernel != nullptr, step.op, " of ", value->AsArg().type.DebugString(), " has no kernel");
      graph_->SetPick(stmt, PickOf(choice));
      value = result;
    }
    graph_->ReplaceUses(out, value);
    EraseUnused(graph_, {out->AsArg().name});
    return true;
  }

  SSAGraph* graph_ = nullptr;
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(join_moves_pass, wherry::mir::JoinMovesPass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("layout")
    .BindKernel("transpose");
