#include <optional>
#include <vector>

#include "base/check.h"
#include "core/promote.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

MetaTensor Broadcast(const MetaTensor& x, const MetaTensor& y, DataType dtype) {
  if (!x.rank_known || !y.rank_known) return MetaTensor::UnknownRank(dtype);
  MetaTensor out(dtype, BroadcastDims(x, y, "x", "y"));
  // A lower-rank operand has no channels axis to be laid out differently.
  const bool x_leads = x.dims.size() >= y.dims.size();
  const MetaTensor& full = x_leads ? x : y;
  const MetaTensor& other = x_leads ? y : x;
  out.layout = other.layout == full.layout || other.dims.size() < full.dims.size() ? full.layout : DataLayout::kNCHW;
  return out;
}

// Applies `function` (Dim, Dim) -> optional<Dim> to the values of both, broadcast; one nullopt and nothing is known.
template <typename Function>
void CombineValues(const MetaTensor& x, const MetaTensor& y, Function function, MetaTensor* out) {
  if (!x.values || !y.values || !MayHaveValues(*out)) return;
  const std::vector<size_t> left = BroadcastIndices(out->dims, x.dims);
  const std::vector<size_t> right = BroadcastIndices(out->dims, y.dims);
  std::vector<Dim> values;
  values.reserve(left.size());
  try {
    for (size_t i = 0; i < left.size(); ++i) {
      const std::optional<Dim> value = function((*x.values)[left[i]], (*y.values)[right[i]]);
      if (!value) return;
      values.push_back(*value);
    }
  } catch (const Error&) {
    return;  // beyond 64 bits, or a division by zero: the kernel wraps or reports it
  }
  SetValues(out, std::move(values));
}

template <typename Function>
MetaTensor Arithmetic(const MetaTensor& x, const MetaTensor& y, Function function) {
  MetaTensor out = Broadcast(x, y, PromoteTypes(x.dtype, y.dtype));
  CombineValues(x, y, function, &out);
  return out;
}

// -1, 0 or 1 as a is less than, equal to or greater than b; nullopt when a symbol leaves it open. Dimensions are not
// negative.
std::optional<int> Order(const Dim& a, const Dim& b) {
  if (a == b) return 0;
  if (a.known() && b.known()) return a.value() < b.value() ? -1 : 1;
  if (a.known() && a.value() < 0) return -1;
  if (b.known() && b.value() < 0) return 1;
  return std::nullopt;
}

template <typename Predicate>
MetaTensor Compare(const MetaTensor& x, const MetaTensor& y, Predicate holds) {
  MetaTensor out = Broadcast(x, y, DataType::kBool);
  CombineValues(
      x, y,
      [holds](const Dim& a, const Dim& b) -> std::optional<Dim> {
        const std::optional<int> order = Order(a, b);
        if (!order) return std::nullopt;
        return Dim(holds(*order) ? 1 : 0);
      },
      &out);
  return out;
}

template <typename Combine>
MetaTensor Logical(const MetaTensor& x, const MetaTensor& y, Combine combine) {
  MetaTensor out = Broadcast(x, y, DataType::kBool);
  CombineValues(
      x, y,
      [combine](const Dim& a, const Dim& b) -> std::optional<Dim> {
        if (!a.known() || !b.known()) return std::nullopt;
        return Dim(combine(a.value() != 0, b.value() != 0) ? 1 : 0);
      },
      &out);
  return out;
}

}  // namespace

MetaTensor BinaryInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Broadcast(x, y, PromoteTypes(x.dtype, y.dtype));
}

MetaTensor AddInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Arithmetic(x, y, [](const Dim& a, const Dim& b) { return std::optional<Dim>(a + b); });
}

MetaTensor SubtractInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Arithmetic(x, y, [](const Dim& a, const Dim& b) { return std::optional<Dim>(a - b); });
}

MetaTensor MultiplyInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Arithmetic(x, y, [](const Dim& a, const Dim& b) { return std::optional<Dim>(a * b); });
}

MetaTensor DivideInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Arithmetic(x, y, [](const Dim& a, const Dim& b) -> std::optional<Dim> {
    if (!a.known() || !b.known()) return FloorDiv(a, b);
    if (b.value() == 0 || (a.value() == INT64_MIN && b.value() == -1)) return std::nullopt;
    return Dim(a.value() / b.value());
  });
}

MetaTensor FloorDivideInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Arithmetic(x, y, [](const Dim& a, const Dim& b) { return std::optional<Dim>(FloorDiv(a, b)); });
}

MetaTensor RemainderInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Arithmetic(x, y, [](const Dim& a, const Dim& b) { return std::optional<Dim>(Mod(a, b)); });
}

MetaTensor MaximumInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Arithmetic(x, y, [](const Dim& a, const Dim& b) { return std::optional<Dim>(Max(a, b)); });
}

MetaTensor MinimumInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Arithmetic(x, y, [](const Dim& a, const Dim& b) { return std::optional<Dim>(Min(a, b)); });
}

MetaTensor EqualInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Compare(x, y, [](int order) { return order == 0; });
}

MetaTensor NotEqualInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Compare(x, y, [](int order) { return order != 0; });
}

MetaTensor LessThanInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Compare(x, y, [](int order) { return order < 0; });
}

MetaTensor LessEqualInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Compare(x, y, [](int order) { return order <= 0; });
}

MetaTensor GreaterThanInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Compare(x, y, [](int order) { return order > 0; });
}

MetaTensor GreaterEqualInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Compare(x, y, [](int order) { return order >= 0; });
}

MetaTensor LogicalAndInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Logical(x, y, [](bool a, bool b) { return a && b; });
}

MetaTensor LogicalOrInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Logical(x, y, [](bool a, bool b) { return a || b; });
}

MetaTensor LogicalXorInferMeta(const MetaTensor& x, const MetaTensor& y) {
  return Logical(x, y, [](bool a, bool b) { return a != b; });
}

MetaTensor WhereInferMeta(const MetaTensor& condition, const MetaTensor& x, const MetaTensor& y) {
  WHERRY_ENFORCE(condition.dtype == DataType::kBool, kInvalidArgument, "condition is ", condition.DebugString(),
                 ", expected bool");
  const DataType dtype = PromoteTypes(x.dtype, y.dtype);
  if (!condition.rank_known || !x.rank_known || !y.rank_known) return MetaTensor::UnknownRank(dtype);
  MetaTensor out(dtype, BroadcastDims(x, y, "x", "y"));
  out.dims = BroadcastDims(condition, out, "condition", "x with y");
  if (!condition.values || !x.values || !y.values || !MayHaveValues(out)) return out;
  const std::vector<size_t> which = BroadcastIndices(out.dims, condition.dims);
  const std::vector<size_t> left = BroadcastIndices(out.dims, x.dims);
  const std::vector<size_t> right = BroadcastIndices(out.dims, y.dims);
  std::vector<Dim> values;
  for (size_t i = 0; i < which.size(); ++i) {
    const Dim& chosen = (*condition.values)[which[i]];
    if (!chosen.known()) return out;
    values.push_back(chosen.value() != 0 ? (*x.values)[left[i]] : (*y.values)[right[i]]);
  }
  SetValues(&out, std::move(values));
  return out;
}

MetaTensor FusedElementwiseInferMeta(const std::vector<const MetaTensor*>& inputs, const ElementwiseProgram& program) {
  Validate(program);
  WHERRY_ENFORCE(!inputs.empty() && static_cast<size_t>(program.inputs) == inputs.size(), kInvalidArgument,
                 "the program '", ToString(program), "' takes ", program.inputs, " inputs, ", inputs.size(),
                 " are given");
  MetaTensor out = inputs[0]->WithoutValues();
  out.pixel_stride = 0;
  for (const MetaTensor* input : inputs) {
    WHERRY_ENFORCE(input->dtype == out.dtype, kInvalidArgument, "inputs have the types ", ToString(out.dtype), " and ",
                   ToString(input->dtype), ", expected one type");
    out = Broadcast(out, *input, out.dtype);
  }
  return out;
}

}  // namespace wherry
