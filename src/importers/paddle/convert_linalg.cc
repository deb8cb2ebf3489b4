// Products, diagonals and factors of matrices.
#include <algorithm>
#include <numeric>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importer/einsum.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

void Einsum(OpContext& c) {
  const std::vector<std::string> operands = c.InputList({"Operands", 0});
  c.EmitResult("assign", {{"x", {LowerEinsum(&c, c.Attr<std::string>("equation"), operands)}}});
}

// Every element of x times all of y, in its place.
void Kron(OpContext& c) {
  std::string x = c.Input({"X", 0});
  std::string y = c.Input({"Y", 1});
  const int rank = std::max(c.Rank(x), c.Rank(y));
  const auto widened = [&](const std::string& value) {
    std::vector<int64_t> axes(static_cast<size_t>(rank - c.Rank(value)));
    std::iota(axes.begin(), axes.end(), 0);
    return c.Unsqueezed(value, axes);
  };
  x = widened(x);
  y = widened(y);
  const std::string shape = c.Binary("multiply", c.Unary("shape", x), c.Unary("shape", y));
  std::vector<int64_t> after;
  std::vector<int64_t> before;
  for (int64_t i = 0; i < rank; ++i) {
    after.push_back(2 * i + 1);
    before.push_back(2 * i);
  }
  const std::string product = c.Binary("multiply", c.Unsqueezed(x, after), c.Unsqueezed(y, before));
  c.EmitResult("reshape", {{"x", {product}}, {"shape", {shape}}}, {{"allow_zero", true}});
}

void Cross(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string y = c.Input({"Y", 1});
  const int rank = c.Rank(x);
  // 9 stands for the first axis of 3.
  constexpr int64_t kFirstOfThree = 9;
  auto axis = c.Attr<int64_t>(c.pir() ? "axis" : "dim", kFirstOfThree);
  if (axis == kFirstOfThree) {
    const std::vector<Dim>& dims = c.Meta(x).dims;
    axis = std::find(dims.begin(), dims.end(), Dim(3)) - dims.begin();
  }
  axis = c.Axis(axis, rank);
  const auto turned = [&](const std::string& value, const std::vector<int64_t>& order) {
    return c.Emit("gather", {{"x", {value}}, {"index", {c.ConvertContext::ConstantInts(order)}}}, {{"axis", axis}});
  };
  const std::string plus = c.Binary("multiply", turned(x, {1, 2, 0}), turned(y, {2, 0, 1}));
  const std::string minus = c.Binary("multiply", turned(x, {2, 0, 1}), turned(y, {1, 2, 0}));
  c.EmitResult("subtract", {{"x", {plus}}, {"y", {minus}}});
}

void Mv(OpContext& c) {
  const std::string column = c.Unsqueezed(c.Input({"Vec", 1}), {1});
  c.Result({"Out", 0}, c.Squeezed(c.Binary("matmul", c.Input({"X", 0}), column), {1}));
}

// beta * input + alpha * x y
void Baddbmm(OpContext& c) {
  const std::string product = c.Binary("matmul", c.Input({"x", 1}), c.Input({"y", 2}));
  const std::string term = c.Scaled(c.Input({"input", 0}), c.Attr<double>("beta", 1.0));
  c.Result({"out", 0}, c.Binary("add", term, c.Scaled(product, c.Attr<double>("alpha", 1.0))));
}

// out[b, s] = x[b] weight[s] y[b] + bias[s]
void BilinearProduct(OpContext& c) {
  const std::string bias = c.OptionalInput({"Bias", 3});
  const std::string product =
      LowerEinsum(&c, "bm,smn,bn->bs", {c.Input({"X", 0}), c.Input({"Weight", 2}), c.Input({"Y", 1})});
  c.Result({"Out", 0}, bias.empty() ? product : c.Binary("add", product, bias));
}

// Of a vector, the matrix with it as diagonal; of a matrix, its diagonal.
void Diag(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const auto offset = c.Attr<int64_t>("offset", 0);
  if (c.Rank(x) == 2) return c.EmitResult("diagonal", {{"x", {x}}}, {{"offset", offset}});
  if (c.Rank(x) != 1) c.Corrupt("its input has rank ", c.Rank(x));
  c.EmitResult("diag_embed", {{"x", {x}}},
               {{"offset", offset}, {"fill", Scalar(c.Attr<double>("padding_value", 0.0))}});
}

void Trace(OpContext& c) {
  const std::string diagonal = c.Emit("diagonal", {{"x", {c.Input({"Input", 0})}}},
                                      {{"offset", c.Attr<int64_t>("offset", 0)},
                                       {"axis1", c.Attr<int64_t>("axis1", 0)},
                                       {"axis2", c.Attr<int64_t>("axis2", 1)}});
  c.EmitResult("sum", {{"x", {diagonal}}}, {{"axis", IntArray({-1})}});
}

// The positions in a triangle of a rows x columns matrix, as [2, count].
void TriangleIndices(OpContext& c, bool lower) {
  const auto rows = c.Attr<int64_t>(lower ? "rows" : "row");
  const auto columns = c.Attr<int64_t>(lower ? "cols" : "col");
  const auto offset = c.Attr<int64_t>("offset", 0);
  constexpr int64_t kMost = 1 << 12;
  if (rows < 0 || columns < 0 || rows > kMost || columns > kMost) c.Unsupported("it is ", rows, " x ", columns);
  std::vector<int64_t> places[2];
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      if (lower ? j - i > offset : j - i < offset) continue;
      places[0].push_back(i);
      places[1].push_back(j);
    }
  }
  std::vector<Scalar> values(places[0].begin(), places[0].end());
  values.insert(values.end(), places[1].begin(), places[1].end());
  const Shape shape{2, static_cast<int64_t>(places[0].size())};
  c.Result({"out", 0},
           c.Constant(TensorOfScalars(shape, values, c.Attr<DataType>("dtype", DataType::kInt64)), c.Stem()));
}
void TrilIndices(OpContext& c) { TriangleIndices(c, true); }
void TriuIndices(OpContext& c) { TriangleIndices(c, false); }

// Signs and logarithms, one behind the other.
void Slogdet(OpContext& c) {
  const auto parts = c.EmitMany("slogdet", {{"x", {c.Input({"Input", 0})}}}, {}, 2);
  c.EmitResult("stack", {{"x", parts}}, {{"axis", int64_t{0}}});
}

void Solve(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string y = c.Input({"Y", 1});
  // A list is one column.
  if (c.Rank(y) != 1) return c.EmitResult("solve", {{"x", {x}}, {"y", {y}}});
  const std::string z = c.Emit("solve", {{"x", {x}}, {"y", {c.Unsqueezed(y, {1})}}});
  c.Result({"Out", 0}, c.Squeezed(z, {-1}));
}

// x = L L^T z, or U^T U z: two triangular solutions.
void CholeskySolve(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string y = c.Input({"Y", 1});
  const bool upper = c.Attr<bool>("upper", false);
  const auto solved = [&](const std::string& right, bool transpose) {
    return c.Emit("triangular_solve", {{"x", {y}}, {"y", {right}}}, {{"upper", upper}, {"transpose", transpose}});
  };
  c.Result({"Out", 0}, solved(solved(x, upper), !upper));
}

// By squares: one product for each digit of n in base 2, and one more for each that is 1.
void MatrixPower(OpContext& c) {
  std::string square = c.Input({"X", 0});
  auto n = c.Attr<int64_t>("n");
  constexpr int64_t kMost = 1 << 20;
  if (n < -kMost || n > kMost) c.Unsupported("attribute n is ", n);
  if (n < 0) square = c.Unary("inverse", square);
  n = std::abs(n);
  if (n == 0) {
    const std::string ones = c.Emit(
        "full_like", {{"x", {c.Emit("diagonal", {{"x", {square}}}, {{"axis1", int64_t{-2}}, {"axis2", int64_t{-1}}})}}},
        {{"value", Scalar(1)}});
    return c.EmitResult("diag_embed", {{"x", {ones}}});
  }
  std::string result;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = result.empty() ? square : c.Binary("matmul", result, square);
    if (n > 1) square = c.Binary("matmul", square, square);
  }
  c.EmitResult("assign", {{"x", {result}}});
}

}  // namespace

REGISTER_CONVERTER(paddle, einsum, &Convert<Einsum>);
REGISTER_CONVERTER(pir, einsum, &Convert<Einsum, 1, 3>);
REGISTER_CONVERTER(paddle, kron, &Convert<Kron>);
REGISTER_CONVERTER(pir, kron, &Convert<Kron, 2>);
REGISTER_CONVERTER(paddle, cross, &Convert<Cross>);
REGISTER_CONVERTER(pir, cross, &Convert<Cross, 2>);
REGISTER_CONVERTER(paddle, mv, &Convert<Mv>);
REGISTER_CONVERTER(pir, mv, &Convert<Mv, 2>);
REGISTER_CONVERTER(paddle, baddbmm, &Convert<Baddbmm>);
REGISTER_CONVERTER(pir, baddbmm, &Convert<Baddbmm, 3>);
REGISTER_CONVERTER(paddle, bilinear_tensor_product, &Convert<BilinearProduct>);
REGISTER_CONVERTER(pir, bilinear, &Convert<BilinearProduct, 4>);
REGISTER_CONVERTER(paddle, diag_v2, &Convert<Diag>);
REGISTER_CONVERTER(pir, diag, &Convert<Diag, 1>);
REGISTER_CONVERTER(paddle, trace, &Convert<Trace>);
REGISTER_CONVERTER(pir, trace, &Convert<Trace, 1>);
REGISTER_CONVERTER(paddle, tril_indices, &Convert<TrilIndices>);
REGISTER_CONVERTER(pir, tril_indices, &Convert<TrilIndices, 0>);
REGISTER_CONVERTER(paddle, triu_indices, &Convert<TriuIndices>);
REGISTER_CONVERTER(pir, triu_indices, &Convert<TriuIndices, 0>);
REGISTER_CONVERTER(paddle, slogdeterminant, &Convert<Slogdet>);
REGISTER_CONVERTER(pir, slogdet, &Convert<Slogdet, 1>);
REGISTER_CONVERTER(paddle, solve, &Convert<Solve>);
REGISTER_CONVERTER(pir, solve, &Convert<Solve, 2>);
REGISTER_CONVERTER(paddle, cholesky_solve, &Convert<CholeskySolve>);
REGISTER_CONVERTER(pir, cholesky_solve, &Convert<CholeskySolve, 2>);
REGISTER_CONVERTER(paddle, matrix_power, &Convert<MatrixPower>);
REGISTER_CONVERTER(pir, matrix_power, &Convert<MatrixPower, 1>);

}  // namespace wherry::paddle
