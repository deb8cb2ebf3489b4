// matmul, fused_matmul, mul and fc in f32: one plan for all, over packed weights where the right-hand side is constant.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/layout_format.h"
#include "kernels/cpu/op_epilogue.h"
#include "op/infer/matrices.h"

namespace wherry::cpu {
namespace {

// Positions among the kernels' tensors.
constexpr size_t kX = 0;
constexpr size_t kY = 1;
constexpr size_t kOperands = 2;

// How a weight is packed: "gemm" and the name of the panels' layout; then ":t" if it is transposed, or the number of a
// weight's first axes that are its rows: "gemm64:rows=2".
constexpr std::string_view kFormat = "gemm";
constexpr std::string_view kRows = ":rows=";

// The product as loops over BatchedGemm: broadcast batch axes beyond the innermost are walked one by one.
struct MatmulPlan : KernelPlan {
  MatmulPlan(const Matrices& x, const Matrices& y, bool packs_y, int threads);
  void Run(KernelContext* context, const TileEpilogue& epilogue) const;

  BatchedGemm gemm;  // without pointers
  struct Loop {
    int64_t count = 1;
    int64_t x_stride = 0;
    int64_t y_stride = 0;
  };
  std::array<Loop, Shape::kMaxRank> loops;  // innermost first
  int loop_count = 0;
  int64_t products = 1;  // of the loops
  bool uses_packed;
};

MatmulPlan::MatmulPlan(const Matrices& x, const Matrices& y, bool packs_y, int threads) : uses_packed(packs_y) {
  WHERRY_CHECK(x.columns == y.rows, "inner dimensions ", x.columns, " and ", y.rows);
  gemm.m = x.rows;
  gemm.n = y.columns;
  gemm.k = x.columns;
  gemm.a = {nullptr, x.row_stride, x.column_stride};
  gemm.b = {nullptr, y.row_stride, y.column_stride};
  gemm.packed_layout = WeightLayout();
  gemm.c_stride = gemm.n;
  gemm.c_batch_stride = gemm.m * gemm.n;
  // Batch axes from the innermost out; an axis joins the loop inside it if both operands go on evenly.
  int64_t x_stride = x.rows * x.columns;
  int64_t y_stride = y.rows * y.columns;
  const int rank = std::max(x.batch.rank(), y.batch.rank());
  for (int i = 0; i < rank; ++i) {
    const int x_axis = x.batch.rank() - 1 - i;
    const int y_axis = y.batch.rank() - 1 - i;
    const int64_t x_dim = x_axis < 0 ? 1 : x.batch[x_axis];
    const int64_t y_dim = y_axis < 0 ? 1 : y.batch[y_axis];
    const Loop loop{x_dim == 1 ? y_dim : x_dim, x_dim == 1 ? 0 : x_stride, y_dim == 1 ? 0 : y_stride};
    x_stride *= x_dim;
    y_stride *= y_dim;
    if (loop.count == 1) continue;
    Loop* const inner = loop_count == 0 ? nullptr : &loops[static_cast<size_t>(loop_count - 1)];
    if (inner != nullptr && loop.x_stride == inner->x_stride * inner->count &&
        loop.y_stride == inner->y_stride * inner->count) {
      inner->count *= loop.count;
    } else {
      loops[static_cast<size_t>(loop_count++)] = loop;
    }
  }
  if (loop_count > 0) {
    gemm.batch = loops[0].count;
    gemm.a_batch_stride = loops[0].x_stride;
    gemm.b_batch_stride = loops[0].y_stride;
  }
  for (int i = 1; i < loop_count; ++i) products *= loops[static_cast<size_t>(i)].count;
  scratch_bytes = uses_packed ? 0 : static_cast<size_t>(BatchedGemmScratchFloats(gemm, threads)) * sizeof(float);
  algorithm = uses_packed ? "gemm, packed weights" : "gemm";
}

void MatmulPlan::Run(KernelContext* context, const TileEpilogue& epilogue) const {
  DenseTensor* const out = context->Output(0);
  if (out->numel() == 0) return;
  const CpuContext& device = context->device_as<CpuContext>();
  const float* const x = context->Input(kX)->data<float>();
  const float* const y = uses_packed ? nullptr : context->Input(kY)->data<float>();
  BatchedGemm g = gemm;
  if (uses_packed) g.packed_b = static_cast<const float*>(context->Packed(0).buffer->data());
  float* const scratch = static_cast<float*>(device.Scratch(scratch_bytes));
  for (int64_t i = 0; i < products; ++i) {
    int64_t x_offset = 0;
    int64_t y_offset = 0;
    int64_t rest = i;
    for (int d = 1; d < loop_count; ++d) {
      const Loop& loop = loops[static_cast<size_t>(d)];
      x_offset += rest % loop.count * loop.x_stride;
      y_offset += rest % loop.count * loop.y_stride;
      rest /= loop.count;
    }
    g.a.data = x + x_offset;
    if (!uses_packed) g.b.data = y + y_offset;
    g.c = out->mutable_data<float>() + i * g.batch * g.c_batch_stride;
    g.epilogue_row0 = i * g.batch * g.m;
    RunBatchedGemm(g, epilogue, scratch, device.pool());
  }
}

// The layout of a format, and what follows it.
std::pair<PanelLayout, std::string_view> SplitFormat(std::string_view format) {
  std::string_view rest = format;
  const std::optional<PanelLayout> layout = TakeLayout(kFormat, &rest);
  WHERRY_ENFORCE(layout, kInvalidArgument, "'", format, "' is no packed form of a matrix");
  return {*layout, rest};
}

Matrices ViewOfFormat(const Shape& weight, std::string_view format) {
  const std::string_view form = SplitFormat(format).second;
  if (form == kPlainMatrix || form == kTransposedMatrix) return ViewMatrices(weight, form == kTransposedMatrix, false);
  WHERRY_CHECK(form.starts_with(kRows) && form.size() == kRows.size() + 1, "format '", format, "'");
  return ViewFlat(weight, form.back() - '0');
}

size_t PackedMatrixBytes(const TensorMeta& weight, std::string_view format) {
  const Matrices view = ViewOfFormat(weight.shape, format);
  return static_cast<size_t>(PackedFloats(view.rows, view.columns)) * sizeof(float);
}

void PackMatrix(const DenseTensor& weight, std::string_view format, void* packed) {
  const Matrices view = ViewOfFormat(weight.shape(), format);
  PackB({weight.data<float>(), view.row_stride, view.column_stride}, view.rows, view.columns,
        static_cast<float*>(packed), nullptr, SplitFormat(format).first);
}

std::shared_ptr<const KernelPlan> MakePlan(const KernelProblem& problem, const Matrices& x, const Matrices& y,
                                           const char* weight, std::string_view form) {
  // A panel holds 64 columns: of one, most would be zeros.
  const bool is_column = y.columns == 1 && x.column_stride == 1;
  const bool packs = y.batch.empty() && problem.IsConstant(weight) && !is_column;
  auto plan = std::make_shared<MatmulPlan>(x, y, packs, problem.threads());
  if (packs) {
    plan->packs.push_back({static_cast<int>(kY), StrCat(LayoutFormat(kFormat, plan->gemm.packed_layout), form)});
  }
  return plan;
}

// matmul_v2 and fused_matmul.
std::shared_ptr<const KernelPlan> PlanMatmul(const KernelProblem& problem) {
  const bool transpose_y = problem.Attr<bool>("transpose_y");
  const Shape y_shape = problem.Input("y")->shape();
  return MakePlan(problem, ViewMatrices(problem.Input("x")->shape(), problem.Attr<bool>("transpose_x"), true),
                  ViewMatrices(y_shape, transpose_y, false), "y",
                  transpose_y && y_shape.rank() > 1 ? kTransposedMatrix : kPlainMatrix);
}

std::shared_ptr<const KernelPlan> PlanMul(const KernelProblem& problem) {
  const int y_rows = problem.Attr<int>("y_num_col_dims");
  return MakePlan(problem, ViewFlat(problem.Input("x")->shape(), problem.Attr<int>("x_num_col_dims")),
                  ViewFlat(problem.Input("y")->shape(), y_rows), "y", StrCat(kRows, y_rows));
}

std::shared_ptr<const KernelPlan> PlanFc(const KernelProblem& problem) {
  return MakePlan(problem, ViewFlat(problem.Input("input")->shape(), problem.Attr<int>("in_num_col_dims")),
                  ViewFlat(problem.Input("w")->shape(), 1), "w", StrCat(kRows, 1));
}

Support SupportsMul(const KernelProblem& problem) {
  if (problem.Attr<int>("y_num_col_dims") <= 9) return Support::Yes();
  return Support::No("needs at most 9 row axes of y");
}

Support SupportsFusedMatmul(const KernelProblem& problem) {
  // The channels of a product with a vector on the right are its rows.
  const MetaTensor& y = *problem.Input("y");
  if (!y.rank_known) return Support::No("needs a y of known rank");
  for (const EpilogueStep& step : problem.Attr<Epilogue>("epilogue").steps) {
    const bool per_channel = step.kind == EpilogueStep::Kind::kScale || step.kind == EpilogueStep::Kind::kBias;
    if (per_channel && y.rank() == 1) return Support::No("needs a y of two axes or more for a scale or bias");
  }
  return Support::Yes();
}

void RunPlain(KernelContext* context) { context->plan<MatmulPlan>().Run(context, TileEpilogue()); }

void RunFused(KernelContext* context, float factor, const Epilogue& steps) {
  const MatmulPlan& plan = context->plan<MatmulPlan>();
  plan.Run(context, BindEpilogue(steps, context->InputAt(kOperands), plan.gemm.n, factor));
}

// Attributes: transpose_x, transpose_y, alpha, epilogue.
void RunFusedMatmul(KernelContext* context) {
  RunFused(context, context->AttrAt<float>(2), context->AttrAt<Epilogue>(3));
}

// Attributes: in_num_col_dims, epilogue.
void RunFc(KernelContext* context) { RunFused(context, 1.0F, context->AttrAt<Epilogue>(1)); }

}  // namespace

REGISTER_KERNEL_VARIANT(matmul_v2, cpu, gemm, kNative, kFloat, kNCHW)
    .Plan(&PlanMatmul)
    .Pack(&PackedMatrixBytes, &PackMatrix)
    .Run(&RunPlain);
REGISTER_KERNEL_VARIANT(mul, cpu, gemm, kNative, kFloat, kNCHW)
    .Supports(&SupportsMul)
    .Plan(&PlanMul)
    .Pack(&PackedMatrixBytes, &PackMatrix)
    .Run(&RunPlain);
REGISTER_KERNEL_VARIANT(fused_matmul, cpu, gemm, kNative, kFloat, kNCHW)
    .Supports(&SupportsFusedMatmul)
    .Plan(&PlanMatmul)
    .Pack(&PackedMatrixBytes, &PackMatrix)
    .Run(&RunFusedMatmul);
REGISTER_KERNEL_VARIANT(fc, cpu, gemm, kNative, kFloat, kNCHW)
    .Plan(&PlanFc)
    .Pack(&PackedMatrixBytes, &PackMatrix)
    .Run(&RunFc);

}  // namespace wherry::cpu
