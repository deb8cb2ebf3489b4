// Matrix products beyond what import rules say.
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// Version 1: with a factor.
void Matmul(OpContext& c) {
  if (c.Attr<int64_t>("head_number", 1) > 1) c.Unsupported("attribute head_number is greater than 1");
  const double alpha = c.Attr<double>("alpha", 1.0);
  std::string out = c.Emit(
      "matmul", {{"x", {c.Input({"X"})}}, {"y", {c.Input({"Y"})}}},
      {{"transpose_x", c.Attr<bool>("transpose_X", false)}, {"transpose_y", c.Attr<bool>("transpose_Y", false)}});
  if (alpha != 1.0) out = c.Scaled(out, alpha);
  c.Result({"Out"}, out);
}

void Bmm(OpContext& c) { c.EmitResult("matmul", {{"x", {c.Input({"X", 0})}}, {"y", {c.Input({"Y", 1})}}}); }

void Addmm(OpContext& c) {
  std::string product = c.Binary("matmul", c.Input({"X", 1}), c.Input({"Y", 2}));
  const double alpha = c.Attr<double>(c.pir() ? "alpha" : "Alpha", 1.0);
  const double beta = c.Attr<double>(c.pir() ? "beta" : "Beta", 1.0);
  std::string input = c.Input({"Input", 0});
  if (alpha != 1.0) product = c.Scaled(product, alpha);
  if (beta != 1.0) input = c.Scaled(input, beta);
  c.Result({"Out", 0}, c.Binary("add", input, product));
}

void Fc(OpContext& c) {
  const auto columns = c.Attr<int64_t>("in_num_col_dims", 1);
  const auto activation = c.Attr<std::string>("activation_type", "");
  if (!activation.empty() && activation != "relu") c.Unsupported("attribute activation_type is '", activation, "'");
  std::string out =
      c.Emit("mul", {{"x", {c.Input({"Input", 0})}}, {"y", {c.Input({"W", 1})}}}, {{"x_num_col_dims", columns}});
  const std::string bias = c.OptionalInput({"Bias", 2});
  if (!bias.empty()) {
    // [1, n] in old files
    out = c.Binary("add", out, c.Rank(bias) > 1 ? c.Reshaped(bias, {-1}) : bias);
  }
  if (activation == "relu") out = c.Unary("relu", out);
  c.Result({"Out", 0}, out);
}

}  // namespace

REGISTER_CONVERTER(paddle, matmul, &Convert<Matmul>);
REGISTER_CONVERTER(paddle, bmm, &Convert<Bmm>);
REGISTER_CONVERTER(pir, bmm, &Convert<Bmm, 2>);
REGISTER_CONVERTER(paddle, addmm, &Convert<Addmm>);
REGISTER_CONVERTER(pir, addmm, &Convert<Addmm, 3>);
REGISTER_CONVERTER(paddle, fc, &Convert<Fc>);
REGISTER_CONVERTER(pir, fc, &Convert<Fc, 3>);

}  // namespace wherry::paddle
