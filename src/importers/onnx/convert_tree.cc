// TreeEnsemble, and TreeEnsembleRegressor and TreeEnsembleClassifier as they were before it, of ai.onnx.ml.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/onnx/convert_string.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

using Ints64 = std::vector<int64_t>;

// The lists that the operator tree_ensemble takes.
struct Forest {
  DenseTensor splits;
  std::vector<std::array<int64_t, 7>> nodes;
  Ints64 roots;
  Ints64 leaves = {0};
  Ints64 targets;
  DenseTensor weights;
  std::optional<DenseTensor> members;
};

std::vector<double> Numbers(OnnxContext& c, const DenseTensor& tensor) {
  const std::string value = c.Constant(tensor);
  if (auto floats = c.ConstantFloats(value)) return *floats;
  const auto ints = c.ConvertContext::ConstantInts(value);
  if (!ints) c.Corrupt("a list of numbers is ", tensor.meta().DebugString());
  return {ints->begin(), ints->end()};
}

// As many numbers of an attribute as there are nodes; `fallback` for each where it may be absent.
Ints64 OfNodes(OnnxContext& c, const std::string& name, size_t count, std::optional<int64_t> fallback = std::nullopt) {
  if (!c.HasAttr(name) && fallback) return Ints64(count, *fallback);
  auto values = c.Attr<Ints64>(name);
  if (values.empty() && fallback) return Ints64(count, *fallback);
  if (values.size() != count) c.Corrupt("attribute ", name, " has ", values.size(), " values for ", count, " nodes");
  return values;
}

std::string EmitForest(OnnxContext& c, const std::string& x, Forest forest, int64_t target_count,
                       const std::string& aggregate) {
  const auto count = static_cast<int64_t>(forest.nodes.size());
  std::vector<Scalar> flat;
  for (const auto& node : forest.nodes) flat.insert(flat.end(), node.begin(), node.end());
  const DataType dtype = forest.weights.dtype();
  const auto constant = [&](DenseTensor tensor) { return c.Cast(c.Constant(std::move(tensor)), dtype); };
  const auto ints = [&](const Ints64& values) { return c.Constant(IntsTensor(values)); };
  return c.Emit("tree_ensemble",
                {{"x", {c.Cast(x, dtype)}},
                 {"splits", {constant(forest.splits)}},
                 {"nodes", {c.Constant(TensorOfScalars(Shape{count, 7}, flat, DataType::kInt64))}},
                 {"roots", {ints(forest.roots)}},
                 {"leaves", {ints(forest.leaves)}},
                 {"targets", {ints(forest.targets)}},
                 {"weights", {constant(forest.weights)}},
                 {"members", {forest.members ? constant(*forest.members) : ""}}},
                {{"target_count", target_count}, {"aggregate", aggregate}});
}

enum class Transform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

std::string Transformed(OnnxContext& c, const std::string& x, Transform transform) {
  switch (transform) {
    case Transform::kNone: return x;
    case Transform::kSoftmax: return c.Emit("softmax", {{"x", {x}}}, {{"axis", int64_t{-1}}});
    case Transform::kLogistic: return c.Unary("sigmoid", x);
    case Transform::kProbit: return c.Scaled(c.Unary("erfinv", c.Scaled(x, 2.0, -1.0)), 1.4142135623730951);
    case Transform::kSoftmaxZero: break;
  }
  // Over what is not 0, which stays.
  const OpAttrs over = {{"axis", IntArray({-1})}, {"keepdim", true}};
  const std::string is_zero = c.Binary("equal", x, c.Like(x, 0.0));
  const std::string powers = c.Unary("exp", c.Binary("subtract", x, c.Emit("max", {{"x", {x}}}, over)));
  const std::string kept = c.Emit("where", {{"condition", {is_zero}}, {"x", {c.Like(x, 0.0)}}, {"y", {powers}}});
  const std::string sum = c.Emit("sum", {{"x", {kept}}}, over);
  const std::string none = c.Binary("equal", sum, c.Like(x, 0.0));
  const std::string divisor = c.Emit("where", {{"condition", {none}}, {"x", {c.Like(x, 1.0)}}, {"y", {sum}}});
  return c.Binary("divide", kept, divisor);
}

Transform TransformNamed(OnnxContext& c) {
  const auto name = c.Attr<std::string>("post_transform", "NONE");
  constexpr const char* kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const auto* const it = std::find(std::begin(kNames), std::end(kNames), name);
  if (it == std::end(kNames)) c.Corrupt("attribute post_transform is ", Quote(name));
  return static_cast<Transform>(it - kNames);
}

void TreeEnsemble(OnnxContext& c) {
  Forest forest;
  forest.splits = c.Tensor("nodes_splits");
  forest.weights = c.Tensor("leaf_weights");
  forest.targets = c.Attr<Ints64>("leaf_targetids");
  forest.roots = c.Attr<Ints64>("tree_roots");
  const auto count = static_cast<size_t>(forest.splits.numel());
  const Ints64 features = OfNodes(c, "nodes_featureids", count);
  const std::vector<double> modes = Numbers(c, c.Tensor("nodes_modes"));
  if (modes.size() != count) c.Corrupt("attribute nodes_modes has ", modes.size(), " values for ", count, " nodes");
  const Ints64 when_true = OfNodes(c, "nodes_truenodeids", count);
  const Ints64 when_false = OfNodes(c, "nodes_falsenodeids", count);
  const Ints64 true_is_leaf = OfNodes(c, "nodes_trueleafs", count);
  const Ints64 false_is_leaf = OfNodes(c, "nodes_falseleafs", count);
  const Ints64 nan_is_true = OfNodes(c, "nodes_missing_value_tracks_true", count, 0);
  const std::vector<double> members =
      c.HasTensor("membership_values") ? Numbers(c, c.Tensor("membership_values")) : std::vector<double>();
  if (!members.empty()) forest.members = c.Tensor("membership_values");
  int64_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    const int64_t begin = next;
    int64_t end = next;
    constexpr double kMember = 6.0;
    if (modes[i] == kMember) {
      // The members of each such node end with NaN.
      const auto size = static_cast<int64_t>(members.size());
      while (end < size && members[static_cast<size_t>(end)] == members[static_cast<size_t>(end)]) ++end;
      next = std::min(end + 1, size);
    }
    forest.nodes.push_back({features[i], static_cast<int64_t>(modes[i]),
                            true_is_leaf[i] != 0 ? -1 - when_true[i] : when_true[i],
                            false_is_leaf[i] != 0 ? -1 - when_false[i] : when_false[i], nan_is_true[i], begin, end});
  }
  for (size_t i = 0; i < forest.targets.size(); ++i) forest.leaves.push_back(static_cast<int64_t>(i) + 1);
  constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto aggregate = c.Attr<int64_t>("aggregate_function", 1);
  const auto transform = c.Attr<int64_t>("post_transform", 0);
  if (aggregate < 0 || aggregate > 3) c.Corrupt("attribute aggregate_function is ", aggregate);
  if (transform < 0 || transform > 4) c.Corrupt("attribute post_transform is ", transform);
  const std::string y =
      EmitForest(c, c.Input(0), std::move(forest), c.Attr<int64_t>("n_targets"), kAggregates[aggregate]);
  c.Bind(0, Transformed(c, y, static_cast<Transform>(transform)));
}

// A list of floats, or of a type of its own as NAME_as_tensor.
DenseTensor FloatsOf(OnnxContext& c, const std::string& name) {
  if (c.HasTensor(name + "_as_tensor")) return c.Tensor(name + "_as_tensor");
  std::vector<Scalar> values;
  for (const double value : c.Attr<std::vector<double>>(name, std::vector<double>())) values.emplace_back(value);
  const Shape shape{static_cast<int64_t>(values.size())};
  return TensorOfScalars(shape, values, DataType::kFloat);
}

// Trees whose nodes have numbers within their tree; the weights of leaves are those of the attributes `prefix`_...
Forest ForestOf(OnnxContext& c, const std::string& prefix) {
  Forest forest;
  forest.splits = FloatsOf(c, "nodes_values");
  const auto modes = c.Attr<std::vector<std::string>>("nodes_modes");
  const size_t count = modes.size();
  if (static_cast<size_t>(forest.splits.numel()) != count)
    c.Corrupt("attribute nodes_values has ", forest.splits.numel(), " values for ", count, " nodes");
  const Ints64 trees = OfNodes(c, "nodes_treeids", count);
  const Ints64 numbers = OfNodes(c, "nodes_nodeids", count);
  const Ints64 features = OfNodes(c, "nodes_featureids", count);
  const Ints64 when_true = OfNodes(c, "nodes_truenodeids", count);
  const Ints64 when_false = OfNodes(c, "nodes_falsenodeids", count);
  const Ints64 nan_is_true = OfNodes(c, "nodes_missing_value_tracks_true", count, 0);
  constexpr const char* kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};

  // (tree, node) -> where it is: leaves are -1 - their number. Leaves stay among the nodes, where nothing leads to
  // them.
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  std::vector<std::vector<size_t>> weights_of;  // of each leaf: positions in the lists of weights
  for (size_t i = 0; i < count; ++i) {
    const bool is_leaf = modes[i] == "LEAF";
    const auto place = is_leaf ? -1 - static_cast<int64_t>(weights_of.size()) : static_cast<int64_t>(i);
    if (!places.emplace(std::pair{trees[i], numbers[i]}, place).second)
      c.Corrupt("tree ", trees[i], " has node ", numbers[i], " twice");
    if (is_leaf) weights_of.emplace_back();
    // The first of its tree is the root.
    if (i == 0 || trees[i] != trees[i - 1]) forest.roots.push_back(place);
  }
  const auto place_of = [&](int64_t tree, int64_t number) {
    const auto it = places.find({tree, number});
    if (it == places.end()) c.Corrupt("tree ", tree, " has no node ", number);
    return it->second;
  };
  for (size_t i = 0; i < count; ++i) {
    if (modes[i] == "LEAF") {
      forest.nodes.push_back({});
      continue;
    }
    const auto* const mode = std::find(std::begin(kModes), std::end(kModes), modes[i]);
    if (mode == std::end(kModes)) c.Corrupt("attribute nodes_modes has ", Quote(modes[i]));
    forest.nodes.push_back({features[i], mode - kModes, place_of(trees[i], when_true[i]),
                            place_of(trees[i], when_false[i]), nan_is_true[i], 0, 0});
  }

  const DenseTensor weights = FloatsOf(c, prefix + "_weights");
  const std::vector<double> weight_values = Numbers(c, weights);
  const size_t weight_count = weight_values.size();
  const Ints64 weight_trees = OfNodes(c, prefix + "_treeids", weight_count);
  const Ints64 weight_nodes = OfNodes(c, prefix + "_nodeids", weight_count);
  const Ints64 targets = OfNodes(c, prefix + "_ids", weight_count);
  for (size_t i = 0; i < weight_count; ++i) {
    const int64_t place = place_of(weight_trees[i], weight_nodes[i]);
    if (place < 0) weights_of[static_cast<size_t>(-(place + 1))].push_back(i);
  }
  std::vector<Scalar> in_order;
  for (const std::vector<size_t>& leaf : weights_of) {
    for (const size_t i : leaf) {
      forest.targets.push_back(targets[i]);
      in_order.emplace_back(weight_values[i]);
    }
    forest.leaves.push_back(static_cast<int64_t>(forest.targets.size()));
  }
  forest.weights = TensorOfScalars(Shape{static_cast<int64_t>(in_order.size())}, in_order, weights.dtype());
  return forest;
}

std::string WithBase(OnnxContext& c, const std::string& y) {
  const DenseTensor base = FloatsOf(c, "base_values");
  return base.numel() == 0 ? y : c.Binary("add", y, c.Cast(c.Constant(base), c.TypeOf(y)));
}

void TreeEnsembleRegressor(OnnxContext& c) {
  const auto aggregate = c.Attr<std::string>("aggregate_function", "SUM");
  const std::string y = EmitForest(c, c.Input(0), ForestOf(c, "target"), c.Attr<int64_t>("n_targets", 1), aggregate);
  c.Bind(0, c.Cast(Transformed(c, WithBase(c, y), TransformNamed(c)), DataType::kFloat));
}

void TreeEnsembleClassifier(OnnxContext& c) {
  Forest forest = ForestOf(c, "class");
  const bool names_are_strings = c.HasAttr("classlabels_strings");
  const DenseTensor labels = names_are_strings ? StringsTensor(c.Attr<std::vector<std::string>>("classlabels_strings"))
                                               : IntsTensor(c.Attr<Ints64>("classlabels_int64s"));
  const int64_t classes = labels.numel();
  const std::string names = c.Constant(labels);
  Ints64 positions(static_cast<size_t>(classes));
  std::iota(positions.begin(), positions.end(), 0);
  const Transform transform = TransformNamed(c);
  const auto label_at = [&](const std::string& index) {
    const std::string unused = c.Constant(
        names_are_strings ? StringsTensor({""}) : FilledTensor(Shape{1}, Scalar(int64_t{0}), DataType::kInt64));
    c.EmitResult(
        "map_values",
        {{"x", {index}}, {"keys", {c.Constant(IntsTensor(positions))}}, {"values", {names}}, {"fallback", {unused}}});
  };
  // Weights for one of two classes only are those of the second.
  const bool one_score = classes == 2 && !forest.targets.empty() &&
                         std::all_of(forest.targets.begin(), forest.targets.end(),
                                     [&](int64_t target) { return target == forest.targets[0]; });
  if (!one_score) {
    const std::string scores = WithBase(c, EmitForest(c, c.Input(0), std::move(forest), classes, "SUM"));
    label_at(c.Emit("argmax", {{"x", {scores}}}, {{"axis", int64_t{1}}}));
    return c.Bind(1, c.Cast(Transformed(c, scores, transform), DataType::kFloat));
  }
  const std::vector<double> weights = Numbers(c, forest.weights);
  const bool positive = std::all_of(weights.begin(), weights.end(), [](double weight) { return weight >= 0.0; });
  std::fill(forest.targets.begin(), forest.targets.end(), 0);
  const std::string score = WithBase(c, EmitForest(c, c.Input(0), std::move(forest), 1, "SUM"));
  const std::string is_second = c.Binary("greater_than", score, c.Like(score, positive ? 0.5 : 0.0));
  label_at(c.Cast(c.Squeezed(is_second, {1}), DataType::kInt64));
  // Two with signs, or, where the score counts as a probability, it and what is missing to 1.
  const bool logistic = transform == Transform::kLogistic;
  std::vector<std::string> both = {positive && !logistic ? c.Scaled(score, -1.0, 1.0) : c.Unary("neg", score), score};
  if (logistic) {
    for (std::string& one : both) one = c.Unary("sigmoid", one);
  } else if (transform == Transform::kProbit) {
    both[1] = Transformed(c, score, transform);
    both[0] = positive ? c.Scaled(both[1], -1.0, 1.0) : c.Unary("neg", both[1]);
  }
  c.Bind(1, c.Cast(c.Emit("concat", {{"x", both}}, {{"axis", int64_t{1}}}), DataType::kFloat));
}

}  // namespace

REGISTER_CONVERTER(onnx, ai_onnx_ml_TreeEnsemble, &Convert<TreeEnsemble>);
REGISTER_CONVERTER(onnx, ai_onnx_ml_TreeEnsembleRegressor, &Convert<TreeEnsembleRegressor>);
REGISTER_CONVERTER(onnx, ai_onnx_ml_TreeEnsembleClassifier, &Convert<TreeEnsembleClassifier>);

}  // namespace wherry::onnx
