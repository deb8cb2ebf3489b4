#include "passes/fuse/attention_operand.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ir/fuse_util.h"
#include "pass/rearrange.h"

namespace wherry::mir {
namespace {

using Axes = std::vector<int64_t>;

int64_t Known(const Dim& dim) { return dim.known() ? dim.value() : -1; }

Node* WithoutFactors(const SSAGraph& graph, Node* arg, double* factor) {
  while (const Node* producer = arg->producer()) {
    const std::optional<Factor> found = FactorOf(graph, producer->AsStmt());
    if (!found) break;
    *factor *= found->value;
    arg = found->input;
  }
  return arg;
}

// A value seen through transposes and scalings: its axes `axes` are those looked for.
struct View {
  Node* arg;
  Axes axes;
  double factor = 1.0;
};

View Walk(const SSAGraph& graph, Node* arg, Axes axes) {
  View view{arg, std::move(axes)};
  for (;;) {
    view.arg = WithoutFactors(graph, view.arg, &view.factor);
    const Node::Stmt* transpose = ProducerOf(view.arg, "transpose");
    if (transpose == nullptr || !transpose->input("x")->AsArg().type.rank_known) return view;
    const Axes perm = Permutation(*transpose);
    for (int64_t& axis : view.axes) axis = perm[static_cast<size_t>(axis)];
    view.arg = transpose->input("x");
  }
}

// Which piece of a split a value is: the size before it and its own, in a split along `axis`.
struct Piece {
  Node* whole;
  int64_t axis;
  int64_t begin;
  int64_t size;
};

std::optional<Piece> PieceOf(const Node* arg) {
  if (const Node::Stmt* split = ProducerOf(arg, "split")) {
    Piece piece{split->input("x"), split->GetAttr<int>("axis"), 0, 0};
    if (piece.axis < 0) piece.axis += static_cast<int64_t>(Dims(piece.whole).size());
    for (const Node* result : split->outputs().at("out")) {
      piece.size = Known(Dims(result)[static_cast<size_t>(piece.axis)]);
      if (piece.size < 0) return std::nullopt;
      if (result == arg) return piece;
      piece.begin += piece.size;
    }
  }
  if (const Node::Stmt* slice = ProducerOf(arg, "slice")) {
    const Axes axes = slice->GetAttr<Axes>("axes");
    if (axes.size() != 1 || !slice->HasAttr("starts") || slice->input("starts") != nullptr) return std::nullopt;
    const Axes steps = slice->GetAttr<Axes>("steps");
    Piece piece{slice->input("x"), axes[0], slice->GetAttr<IntArray>("starts")[0], 0};
    if (!piece.whole->AsArg().type.rank_known || (!steps.empty() && steps[0] != 1)) return std::nullopt;
    if (piece.axis < 0) piece.axis += piece.whole->AsArg().type.rank();
    const int64_t extent = Known(Dims(piece.whole)[static_cast<size_t>(piece.axis)]);
    piece.size = Known(Dims(arg)[static_cast<size_t>(piece.axis)]);
    if (piece.begin < 0) piece.begin += extent;
    if (extent < 0 || piece.size < 0 || piece.begin < 0 || piece.begin + piece.size > extent) return std::nullopt;
    return piece;
  }
  return std::nullopt;
}

// The same, of one place on an axis that the value then has no more.
std::optional<Piece> PlaceOf(const SSAGraph& graph, const Node* arg) {
  if (const Node::Stmt* gather = ProducerOf(arg, "gather")) {
    Node* whole = gather->input("x");
    const DenseTensor* index = graph.TryWeight(gather->input("index"));
    if (index == nullptr || index->shape().rank() != 0 || !whole->AsArg().type.rank_known) return std::nullopt;
    const int64_t at = index->dtype() == DataType::kInt64   ? index->data<int64_t>()[0]
                       : index->dtype() == DataType::kInt32 ? index->data<int32_t>()[0]
                                                            : -1;
    int64_t axis = gather->GetAttr<int>("axis");
    if (axis < 0) axis += whole->AsArg().type.rank();
    const int64_t extent = Known(Dims(whole)[static_cast<size_t>(axis)]);
    if (extent < 0 || at < -extent || at >= extent) return std::nullopt;
    return Piece{whole, axis, at < 0 ? at + extent : at, 1};
  }
  const Node::Stmt* squeeze = ProducerOf(arg, "squeeze");
  if (squeeze == nullptr || squeeze->input("axis") != nullptr) return std::nullopt;
  const IntArray& axes = squeeze->GetAttr<IntArray>("axis");
  const std::optional<Piece> piece = PieceOf(squeeze->input("x"));
  if (!piece || piece->size != 1 || axes.size() != 1) return std::nullopt;
  const int64_t axis = axes[0] < 0 ? axes[0] + static_cast<int64_t>(Dims(piece->whole).size()) : axes[0];
  return axis == piece->axis ? piece : std::nullopt;
}

// Whether `arg` is the heads of a value [batches, sequence, columns] taken apart: [batches, sequence, heads, size], or
// with axes before the last two that make more columns. Gives that value.
Node* JoinedColumns(const Node* arg, size_t batches) {
  const Node::Stmt* reshape = ProducerOf(arg, "reshape");
  if (reshape == nullptr) return nullptr;
  Node* joined = reshape->input("x");
  if (!HasRank(joined, static_cast<int>(batches) + 2)) return nullptr;
  const auto kept = Dims(joined).end() - 1;
  return std::equal(Dims(joined).begin(), kept, Dims(arg).begin()) ? joined : nullptr;
}

// [batch, heads, sequence, size] as the axes of a value of five dimensions of which one, with an extent of its own, is
// fixed at a place: of [batch, sequence, pieces, heads, size] in the end, which is columns taken apart.
bool TakePlace(const SSAGraph& graph, const View& view, AttentionOperand* operand) {
  const std::optional<Piece> place = PlaceOf(graph, view.arg);
  if (!place || !HasRank(place->whole, 5)) return false;
  Axes axes;
  for (const int64_t axis : view.axes) axes.push_back(axis + (axis >= place->axis ? 1 : 0));
  axes.push_back(place->axis);
  const View whole = Walk(graph, place->whole, axes);
  if (whole.axes != Axes{0, 3, 1, 4, 2}) return false;
  Node* joined = JoinedColumns(whole.arg, 1);
  if (joined == nullptr) return false;
  operand->arg = joined;
  operand->packed = true;
  operand->perm.clear();
  operand->column = place->begin * operand->heads * operand->size;
  operand->factor *= whole.factor;
  return true;
}

// [batch, groups, sequence, size] of which each group was repeated for several heads; null if it is none.
Node* Unrepeated(const Node* arg) {
  const Node::Stmt* join = ProducerOf(arg, "reshape");
  if (join == nullptr) join = ProducerOf(arg, "flatten");
  if (join == nullptr || !HasRank(join->input("x"), 5)) return nullptr;
  const std::vector<Dim>& dims = Dims(arg);
  const std::vector<Dim>& apart = Dims(join->input("x"));
  if (apart[0] != dims[0] || apart[3] != dims[2] || apart[4] != dims[3]) return nullptr;
  const Node::Stmt* expand = ProducerOf(join->input("x"), "expand");
  const Node::Stmt* unsqueeze = expand == nullptr ? nullptr : ProducerOf(expand->input("x"), "unsqueeze");
  if (unsqueeze == nullptr || !HasRank(unsqueeze->input("x"), 4)) return nullptr;
  const std::vector<Dim>& once = Dims(unsqueeze->input("x"));
  const std::vector<Dim> wanted = {once[0], once[1], Dim(1), once[2], once[3]};
  const bool repeats = Dims(unsqueeze->output()) == wanted && once[0] == apart[0] && once[1] == apart[1] &&
                       once[2] == apart[3] && once[3] == apart[4];
  return repeats ? unsqueeze->input("x") : nullptr;
}

}  // namespace

std::optional<AttentionOperand> TraceAttentionOperand(const SSAGraph& graph, Node* arg, bool swapped) {
  if (HasRank(arg, 3)) {
    View view = Walk(graph, arg, swapped ? Axes{0, 2, 1} : Axes{0, 1, 2});
    AttentionOperand operand;
    operand.batch = Dims(view.arg)[static_cast<size_t>(view.axes[0])];
    operand.batches = {operand.batch};
    operand.sequence = Dims(view.arg)[static_cast<size_t>(view.axes[1])];
    operand.size = Known(Dims(view.arg)[static_cast<size_t>(view.axes[2])]);
    const Node::Stmt* reshape = ProducerOf(view.arg, "reshape");
    if (reshape != nullptr && view.axes == Axes{0, 1, 2} && HasRank(reshape->input("x"), 4)) {
      const std::vector<Dim>& apart = Dims(reshape->input("x"));
      if (apart[2] == operand.sequence && apart[3] == Dims(view.arg)[2]) {
        std::optional<AttentionOperand> whole = TraceAttentionOperand(graph, reshape->input("x"), false);
        if (whole) whole->factor *= view.factor;
        return whole;
      }
    }
    if (operand.size < 0) return std::nullopt;
    operand.arg = view.arg;
    operand.heads = 1;
    operand.packed = true;
    operand.factor = view.factor;
    if (view.axes != Axes{0, 1, 2}) operand.perm = view.axes;
    return operand;
  }
  if (!arg->AsArg().type.rank_known || arg->AsArg().type.rank() < 4) return std::nullopt;
  const size_t batches = Dims(arg).size() - 3;
  Axes in_order(batches + 3);
  std::iota(in_order.begin(), in_order.end(), int64_t{0});
  Axes axes = in_order;
  if (swapped) std::swap(axes[batches + 1], axes[batches + 2]);
  const View view = Walk(graph, arg, axes);
  const auto dim = [&view](size_t i) { return Dims(view.arg)[static_cast<size_t>(view.axes[i])]; };
  AttentionOperand operand;
  operand.arg = view.arg;
  for (size_t i = 0; i < batches; ++i) operand.batches.push_back(dim(i));
  operand.batch = Product(operand.batches);
  operand.heads = Known(dim(batches));
  operand.sequence = dim(batches + 1);
  operand.size = Known(dim(batches + 2));
  operand.factor = view.factor;
  if (operand.heads < 1 || operand.size < 0) return std::nullopt;
  if (batches == 1 && TakePlace(graph, view, &operand)) return operand;
  Axes side_by_side = in_order;
  std::swap(side_by_side[batches], side_by_side[batches + 1]);
  if (view.axes == side_by_side) {
    if (Node* joined = JoinedColumns(view.arg, batches)) {
      operand.packed = true;
      operand.arg = WithoutFactors(graph, joined, &operand.factor);
      return operand;
    }
  }
  if (view.axes != in_order) {
    operand.perm = view.axes;
  } else if (Node* once = batches == 1 ? Unrepeated(view.arg) : nullptr) {
    std::optional<AttentionOperand> groups = TraceAttentionOperand(graph, once, false);
    if (groups) groups->factor *= view.factor;
    return groups;
  }
  return operand;
}

std::optional<AttentionOperand> CutFrom(const AttentionOperand& operand) {
  if (!operand.packed || !operand.perm.empty()) return std::nullopt;
  const std::optional<Piece> piece = PieceOf(operand.arg);
  const auto columns = static_cast<int64_t>(operand.batches.size()) + 1;
  if (!piece || piece->axis != columns || !HasRank(piece->whole, static_cast<int>(columns) + 1)) return std::nullopt;
  AttentionOperand cut = operand;
  cut.arg = piece->whole;
  cut.column += piece->begin;
  return cut;
}

}  // namespace wherry::mir
