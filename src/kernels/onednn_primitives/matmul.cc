// matmul, fused_matmul and fc in f32, by oneDNN's matmul.
#include <algorithm>

#include "base/check.h"
#include "kernels/onednn_primitives/engine.h"
#include "kernels/onednn_primitives/functions.h"
#include "kernels/onednn_primitives/plan.h"

namespace wherry::onednn {

namespace {

using dnnl::memory;

struct Matrix {
  memory::dims dims;  // batch..., rows, columns
  memory::dims strides;
  memory::desc desc() const { return {dims, memory::data_type::f32, strides}; }
};

Matrix Plain(memory::dims dims) {
  Matrix matrix{std::move(dims), {}};
  matrix.strides.resize(matrix.dims.size());
  int64_t stride = 1;
  for (size_t i = matrix.dims.size(); i-- > 0;) {
    matrix.strides[i] = stride;
    stride *= matrix.dims[i];
  }
  return matrix;
}

// An operand of matmul with 1s in front up to `rank` dimensions; a vector is a row or a column.
Matrix OperandOf(const Shape& shape, bool transpose, bool vector_is_row, size_t rank) {
  memory::dims dims = shape.vector();
  const bool vector = dims.size() == 1;
  if (vector) dims.insert(vector_is_row ? dims.begin() : dims.end(), 1);
  if (dims.size() < rank) dims.insert(dims.begin(), rank - dims.size(), 1);
  Matrix matrix = Plain(std::move(dims));
  if (transpose && !vector) {
    const size_t last = rank - 1;
    std::swap(matrix.dims[last - 1], matrix.dims[last]);
    std::swap(matrix.strides[last - 1], matrix.strides[last]);
  }
  return matrix;
}

struct Product {
  Matrix x;
  Matrix y;
  Matrix out;
  bool pack_y;  // y may come in oneDNN's own format
  float alpha = 1.0F;
  bool has_epilogue = false;
};

Product MatmulProduct(const KernelProblem& problem) {
  const Shape x = problem.Input("x")->shape();
  const Shape y = problem.Input("y")->shape();
  const auto rank = static_cast<size_t>(std::max({x.rank(), y.rank(), 2}));
  Product product;
  product.x = OperandOf(x, problem.Attr<bool>("transpose_x"), true, rank);
  product.y = OperandOf(y, problem.Attr<bool>("transpose_y"), false, rank);
  memory::dims out(rank);
  for (size_t i = 0; i + 2 < rank; ++i) out[i] = product.x.dims[i] == 1 ? product.y.dims[i] : product.x.dims[i];
  out[rank - 2] = product.x.dims[rank - 2];
  out[rank - 1] = product.y.dims[rank - 1];
  product.out = Plain(std::move(out));
  product.pack_y = y.rank() == 2 && rank == 2;
  return product;
}

Product FusedMatmulProduct(const KernelProblem& problem) {
  Product product = MatmulProduct(problem);
  product.alpha = problem.Attr<float>("alpha");
  product.has_epilogue = true;
  return product;
}

Product FcProduct(const KernelProblem& problem) {
  const Shape input = problem.Input("input")->shape();
  const Shape w = problem.Input("w")->shape();
  const int rows = problem.Attr<int>("in_num_col_dims");
  Product product;
  product.x = Plain({input.numel(0, rows), input.numel(rows, input.rank())});
  product.y = Plain(w.vector());
  product.out = Plain({product.x.dims[0], w[1]});
  product.pack_y = true;
  product.has_epilogue = true;
  return product;
}

// "" or why oneDNN cannot or should not do this.
std::string Cook(const KernelProblem& problem, const Product& product, std::string_view weights, bool make_primitive,
                 Recipe* recipe) {
  PostOps post_ops;
  memory::desc bias;
  if (product.alpha != 1.0F) post_ops.ops.append_eltwise(1.0F, dnnl::algorithm::eltwise_linear, product.alpha, 0.0F);
  if (product.has_epilogue) {
    const auto rank = static_cast<int>(product.out.dims.size());
    // oneDNN's bias comes before every post-op, alpha too; and is of the result's rank.
    const std::string why =
        TranslateEpilogue(problem, {product.out.dims, product.out.strides, rank - 1}, false, &post_ops, &bias);
    if (!why.empty()) return why;
  }
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post_ops.ops);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);

  recipe->operands = std::move(post_ops.operands);
  recipe->weights_given = product.y.desc();
  const bool any = product.pack_y && problem.IsConstant(weights);
  const memory::desc wanted =
      any ? memory::desc(product.y.dims, memory::data_type::f32, memory::format_tag::any) : recipe->weights_given;
  const ThreadScope threads(problem.threads(), nullptr);
  try {
    const dnnl::matmul::desc desc(product.x.desc(), wanted, product.out.desc());
    const dnnl::matmul::primitive_desc primitive_desc(desc, attributes, Engine());
    Fill(primitive_desc, make_primitive, static_cast<dnnl::matmul*>(nullptr), recipe);
  } catch (const dnnl::error& error) {
    return StrCat("oneDNN: ", error.message);
  }
  return RefusalOf(*recipe);
}

struct MatmulOp {
  static constexpr std::string_view kX = "x";
  static constexpr std::string_view kWeights = "y";
  static Product Make(const KernelProblem& problem) { return MatmulProduct(problem); }
};
struct FusedMatmulOp {
  static constexpr std::string_view kX = "x";
  static constexpr std::string_view kWeights = "y";
  static Product Make(const KernelProblem& problem) { return FusedMatmulProduct(problem); }
};
struct FcOp {
  static constexpr std::string_view kX = "input";
  static constexpr std::string_view kWeights = "w";
  static Product Make(const KernelProblem& problem) { return FcProduct(problem); }
};

template <typename Op>
Support Supports(const KernelProblem& problem) {
  std::string why;
  if (KnownAndNotEmpty(problem, Op::kX, Op::kWeights, &why)) {
    Recipe recipe;
    why = Cook(problem, Op::Make(problem), Op::kWeights, false, &recipe);
  }
  return why.empty() ? Support::Yes() : Support::No(why);
}

template <typename Op>
std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) {
  Recipe recipe;
  const std::string why = Cook(problem, Op::Make(problem), Op::kWeights, true, &recipe);
  WHERRY_ENFORCE(why.empty(), kUnsupported, "onednn: ", why);
  return MakePlan(problem, Op::kWeights, std::move(recipe));
}

template <typename Op>
KernelFunctions FunctionsOf() {
  return {&Supports<Op>, &Plan<Op>, &PackedBytes, &Pack, &Run};
}

}  // namespace

KernelFunctions MatmulFunctions() { return FunctionsOf<MatmulOp>(); }
KernelFunctions FusedMatmulFunctions() { return FunctionsOf<FusedMatmulOp>(); }
KernelFunctions FcFunctions() { return FunctionsOf<FcOp>(); }

}  // namespace wherry::onednn
