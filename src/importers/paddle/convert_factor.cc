// What follows from the factors of matrices.
#include <cmath>
#include <limits>

#include "importer/constant_tensor.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// u, s, vh
std::vector<std::string> Svd(OpContext& c, const std::string& x) { return c.EmitMany("svd", {{"x", {x}}}, {}, 3); }

std::string Product(OpContext& c, const std::string& x, const std::string& y, bool transpose_x = false) {
  return c.Emit("matmul", {{"x", {x}}, {"y", {y}}}, {{"transpose_x", transpose_x}});
}

void SingularValues(OpContext& c) { c.EmitResult("assign", {{"x", {Svd(c, c.Input({"X", 0}))[1]}}}); }

// The largest number of a list of each matrix.
std::string Largest(OpContext& c, const std::string& values) {
  return c.Emit("max", {{"x", {values}}}, {{"axis", IntArray({-1})}, {"keepdim", true}});
}

double EpsilonOf(OpContext& c, const std::string& x) {
  return c.TypeOf(x) == DataType::kFP64 ? std::numeric_limits<double>::epsilon()
                                        : static_cast<double>(std::numeric_limits<float>::epsilon());
}

// The larger extent of the matrices.
int64_t LargerExtent(OpContext& c, const std::string& x) {
  const int rank = c.Rank(x);
  if (rank < 2) c.Corrupt("its input has rank ", rank);
  const std::vector<Dim>& dims = c.Meta(x).dims;
  const Dim& rows = dims[dims.size() - 2];
  if (!rows.known() || !dims.back().known()) c.Unsupported("the size of the matrices is not known");
  return std::max(rows.value(), dims.back().value());
}

// How many singular values (sizes of eigenvalues if `hermitian`) are over a tolerance: one given, or epsilon times the
// largest times the larger extent.
void MatrixRank(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const bool hermitian = c.Attr<bool>("hermitian", false);
  const std::string values = hermitian ? c.Unary("abs", c.Unary("eigvalsh", x)) : Svd(c, x)[1];
  const bool with_tensor = !c.OptionalInput({"TolTensor", c.op().type == "matrix_rank_tol" ? 1 : -1}).empty();
  std::string tolerance;
  if (with_tensor) {
    const std::string given = c.Cast(c.Input({"TolTensor", 1}), c.TypeOf(x));
    tolerance = c.Unsqueezed(given, {-1});
    if (c.Attr<bool>("use_default_tol", false)) {
      const double factor = EpsilonOf(c, x) * static_cast<double>(LargerExtent(c, x));
      tolerance = c.Binary("maximum", tolerance, c.Scaled(Largest(c, values), factor));
    }
  } else if (c.Attr<bool>("use_default_tol", true)) {
    tolerance = c.Scaled(Largest(c, values), EpsilonOf(c, x) * static_cast<double>(LargerExtent(c, x)));
  } else {
    tolerance = c.Like(x, c.Attr<double>("tol", 0.0));
  }
  const std::string counted = c.Cast(c.Binary("greater_than", values, tolerance), DataType::kInt64);
  c.EmitResult("sum", {{"x", {counted}}}, {{"axis", IntArray({-1})}});
}

// The x of least size that comes nearest to A x = b: V (S^-1 (U^T b)) without the singular values that are nothing
// beside the largest.
void LeastSquares(OpContext& c) {
  const std::string a = c.Input({"X", 0});
  const std::string b = c.Input({"Y", 1});
  const Number given = c.NumberOf({nullptr, 2}, "rcond", Scalar(0.0));
  double rcond = given.value ? given.value->to<double>() : 0.0;
  if (!(rcond > 0.0)) rcond = EpsilonOf(c, a) * static_cast<double>(LargerExtent(c, a));
  const auto parts = Svd(c, a);
  const std::string counts = c.Binary("greater_than", parts[1], c.Scaled(Largest(c, parts[1]), rcond));
  const std::string one = c.Like(a, 1.0);
  const std::string safe = c.Emit("where", {{"condition", {counts}}, {"x", {parts[1]}}, {"y", {one}}});
  const std::string inverse = c.Binary("divide", c.Cast(counts, c.TypeOf(a)), safe);
  const std::string along = c.Binary("multiply", Product(c, parts[0], b, true), c.Unsqueezed(inverse, {-1}));
  const std::string solution = c.Unary("assign", Product(c, parts[2], along, true));
  c.Result({"Solution", 0}, solution);
  const Dim& rows = c.Meta(a).dims[c.Meta(a).dims.size() - 2];
  const Dim& columns = c.Meta(a).dims.back();
  const bool more = rows.known() && columns.known() && rows.value() > columns.value();
  if (more && c.Attr<std::string>("driver", "gels") != "gelsy") {
    const std::string squares = c.Unary("square", c.Binary("subtract", b, Product(c, a, solution)));
    c.Result({"Residuals", 1}, c.Emit("sum", {{"x", {squares}}}, {{"axis", IntArray({-2})}}));
  } else {
    c.Result({"Residuals", 1}, c.Constant(TensorOfScalars(Shape{0}, {}, c.TypeOf(a))));
  }
  const std::string rank = c.Emit("sum", {{"x", {c.Cast(counts, DataType::kInt32)}}}, {{"axis", IntArray({-1})}});
  c.Result({"Rank", 2}, rank);
  c.Result({"SingularValues", 3}, parts[1]);
}

// L, U and P of what lu gives.
void LuUnpack(OpContext& c) {
  const std::string lu = c.Input({"X", 0});
  const int rank = c.Rank(lu);
  const std::vector<Dim>& dims = c.Meta(lu).dims;
  if (rank < 2) c.Corrupt("its input has rank ", rank);
  const Dim m = dims[dims.size() - 2];
  const Dim n = dims.back();
  if (!m.known() || !n.known()) c.Unsupported("the size of the matrices is not known");
  const int64_t k = std::min(m.value(), n.value());
  const auto first = [&](const std::string& x, int64_t axis) {
    return c.Emit("slice", {{"x", {x}}},
                  {{"axes", std::vector<int64_t>{axis}}, {"starts", IntArray({0})}, {"ends", IntArray({k})}});
  };
  const auto triangle = [&](const std::string& x, bool upper, int64_t offset) {
    return c.Emit("tril_triu", {{"x", {x}}}, {{"lower", !upper}, {"diagonal", Scalar(offset)}});
  };
  const std::string below = triangle(first(lu, -1), false, -1);
  const std::string ones = c.Emit("full_like", {{"x", {below}}}, {{"value", Scalar(1.0)}});
  const std::string diagonal = triangle(triangle(ones, false, 0), true, 0);
  const std::string permutation =
      c.Emit("lu_permutation", {{"lu", {lu}}, {"pivots", {c.Cast(c.Input({"Pivots", 1}), DataType::kInt32)}}});
  c.Result({"Pmat", 0}, permutation);
  c.Result({"L", 1}, c.Binary("add", below, diagonal));
  c.Result({"U", 2}, triangle(first(lu, -2), true, 0));
}

}  // namespace

REGISTER_CONVERTER(pir, svdvals, &Convert<SingularValues, 1>);
REGISTER_CONVERTER(paddle, svdvals, &Convert<SingularValues>);
REGISTER_CONVERTER(paddle, matrix_rank, &Convert<MatrixRank>);
REGISTER_CONVERTER(pir, matrix_rank, &Convert<MatrixRank, 1>);
REGISTER_CONVERTER(pir, matrix_rank_tol, &Convert<MatrixRank, 2>);
REGISTER_CONVERTER(paddle, lstsq, &Convert<LeastSquares>);
REGISTER_CONVERTER(pir, lstsq, &Convert<LeastSquares, 3, 4>);
REGISTER_CONVERTER(paddle, lu_unpack, &Convert<LuUnpack>);
REGISTER_CONVERTER(pir, lu_unpack, &Convert<LuUnpack, 2, 3>);

}  // namespace wherry::paddle
