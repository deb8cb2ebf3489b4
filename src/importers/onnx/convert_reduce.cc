// Reductions: axes as an attribute at first, as an input since opset 13 (ReduceSum) or 18.
#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

struct Reduction {
  bool none = false;  // no axes, and noop_with_empty_axes: nothing is reduced
  OpInputs inputs;
  OpAttrs attrs;
};

Reduction ReductionOf(OnnxContext& c) {
  Reduction reduction;
  const bool noop = c.Attr<bool>("noop_with_empty_axes", false);
  const auto axes = c.OptionalInts(1, "axes");
  if (axes && !axes->values && noop) {
    const MetaTensor& meta = c.Meta(axes->tensor);
    if (!meta.rank_known || meta.rank() != 1 || !meta.dims[0].known()) c.Unsupported("the number of axes is not known");
    reduction.none = meta.dims[0].value() == 0;
  } else {
    reduction.none = noop && (!axes || axes->values->empty());
  }
  if (axes) OnnxContext::Pass("axis", *axes, &reduction.inputs, &reduction.attrs);
  reduction.attrs.emplace_back("keepdim", c.Attr<bool>("keepdims", true));
  return reduction;
}

std::string Reduce(OnnxContext& c, const char* type, const std::string& x, const Reduction& reduction) {
  if (reduction.none) return x;
  OpInputs inputs = reduction.inputs;
  inputs.emplace_back("x", std::vector<std::string>{x});
  return c.Emit(type, inputs, reduction.attrs);
}

template <const char* kType>
void Plain(OnnxContext& c) {
  c.Bind(0, Reduce(c, kType, c.Input(0), ReductionOf(c)));
}
constexpr char kSum[] = "sum";
constexpr char kMean[] = "mean";
constexpr char kMax[] = "max";
constexpr char kMin[] = "min";
constexpr char kProd[] = "prod";

// Roots and logarithms of integers are taken in f64 and cut off, as NumPy does.
std::string RealInput(OnnxContext& c) {
  const std::string x = c.Input(0);
  return IsInteger(c.TypeOf(x)) ? c.Cast(x, DataType::kFP64) : x;
}
void BindReal(OnnxContext& c, const std::string& result) {
  const DataType dtype = c.TypeOf(c.Input(0));
  c.Bind(0, IsInteger(dtype) ? c.Cast(result, dtype) : result);
}

void ReduceL1(OnnxContext& c) { c.Bind(0, Reduce(c, "sum", c.Unary("abs", c.Input(0)), ReductionOf(c))); }
void ReduceL2(OnnxContext& c) {
  BindReal(c, c.Unary("sqrt", Reduce(c, "sum", c.Unary("square", RealInput(c)), ReductionOf(c))));
}
void ReduceSumSquare(OnnxContext& c) { c.Bind(0, Reduce(c, "sum", c.Unary("square", c.Input(0)), ReductionOf(c))); }
void ReduceLogSum(OnnxContext& c) { BindReal(c, c.Unary("log", Reduce(c, "sum", RealInput(c), ReductionOf(c)))); }

// log(sum(exp(x - m))) + m with the maximum m, so that no exp overflows; m is 0 where it is infinite, as inf - inf is
// no number.
void ReduceLogSumExp(OnnxContext& c) {
  const Reduction reduction = ReductionOf(c);
  if (reduction.none) return c.Bind(0, c.Input(0));
  const std::string x = RealInput(c);
  Reduction kept = reduction;
  kept.attrs.back().second = true;
  const auto finite = [&](const std::string& m) {
    return c.Emit("where", {{"condition", {c.Unary("isinf", m)}}, {"x", {c.Like(x, 0.0)}}, {"y", {m}}});
  };
  const std::string shifted = c.Binary("subtract", x, finite(Reduce(c, "max", x, kept)));
  const std::string log = c.Unary("log", Reduce(c, "sum", c.Unary("exp", shifted), reduction));
  BindReal(c, c.Binary("add", log, finite(Reduce(c, "max", x, reduction))));
}

}  // namespace

REGISTER_CONVERTER(onnx, ReduceSum, &Convert<Plain<kSum>>);
REGISTER_CONVERTER(onnx, ReduceMean, &Convert<Plain<kMean>>);
REGISTER_CONVERTER(onnx, ReduceMax, &Convert<Plain<kMax>>);
REGISTER_CONVERTER(onnx, ReduceMin, &Convert<Plain<kMin>>);
REGISTER_CONVERTER(onnx, ReduceProd, &Convert<Plain<kProd>>);
REGISTER_CONVERTER(onnx, ReduceL1, &Convert<ReduceL1>);
REGISTER_CONVERTER(onnx, ReduceL2, &Convert<ReduceL2>);
REGISTER_CONVERTER(onnx, ReduceSumSquare, &Convert<ReduceSumSquare>);
REGISTER_CONVERTER(onnx, ReduceLogSum, &Convert<ReduceLogSum>);
REGISTER_CONVERTER(onnx, ReduceLogSumExp, &Convert<ReduceLogSumExp>);

}  // namespace wherry::onnx
