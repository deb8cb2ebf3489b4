// Gemm: alpha * A' * B' + beta * C.
#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

// Whether C is one number per column of the result, for certain.
bool IsBiasPerColumn(const OnnxContext& c, const std::string& bias, const std::string& b, bool transpose_b) {
  const MetaTensor& meta = c.Meta(bias);
  const MetaTensor& b_meta = c.Meta(b);
  return meta.rank_known && meta.rank() == 1 && b_meta.rank_known && b_meta.rank() == 2 &&
         meta.dims[0] == b_meta.dims[transpose_b ? 0 : 1];
}

void Gemm(OnnxContext& c) {
  const std::string a = c.Input(0);
  const std::string b = c.Input(1);
  const std::string bias = c.OptionalInput(2);
  const auto alpha = c.Attr<double>("alpha", 1.0);
  const auto beta = c.Attr<double>("beta", 1.0);
  const bool transpose_a = c.Attr<bool>("transA", false);
  const bool transpose_b = c.Attr<bool>("transB", false);
  for (const std::string& matrix : {a, b}) {
    const MetaTensor& meta = c.Meta(matrix);
    if (meta.rank_known && meta.rank() != 2) c.Corrupt("a matrix is ", meta.DebugString());
  }
  const bool has_bias = !bias.empty() && beta != 0.0;
  const bool plain = IsFloating(c.TypeOf(a)) && alpha == 1.0 && !transpose_a &&
                     (!has_bias || (beta == 1.0 && IsBiasPerColumn(c, bias, b, transpose_b)));
  if (plain && c.block().program().FindWeight(b) != nullptr) {
    // The transposition of a weight is done once, when constants are folded.
    const std::string w =
        transpose_b ? c.Emit("transpose", {{"x", {b}}}, {{"perm", std::vector<int64_t>{1, 0}}}, b + ".transposed") : b;
    Epilogue epilogue;
    if (has_bias) {
      EpilogueStep step;
      step.kind = EpilogueStep::Kind::kBias;
      step.operand = 0;
      epilogue.steps.push_back(step);
    }
    return c.EmitResult("fc", {{"input", {a}}, {"w", {w}}, {"operands", {has_bias ? bias : ""}}},
                        {{"epilogue", epilogue}});
  }
  std::string y =
      c.Emit("matmul", {{"x", {a}}, {"y", {b}}}, {{"transpose_x", transpose_a}, {"transpose_y", transpose_b}});
  if (alpha != 1.0) y = c.Scaled(y, alpha);
  if (has_bias) y = c.Binary("add", y, beta == 1.0 ? bias : c.Scaled(bias, beta));
  c.Bind(0, y);
}

}  // namespace

REGISTER_CONVERTER(onnx, Gemm, &Convert<Gemm>);

}  // namespace wherry::onnx
