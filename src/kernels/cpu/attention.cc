// attention in f32: heads and blocks of their queries, shared among the threads.
#include <algorithm>
#include <memory>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/attention/flash_attention.h"
#include "kernels/cpu/share_out.h"
#include "op/infer/attention_shape.h"

namespace wherry::cpu {
namespace {

struct AttentionPlan : KernelPlan {
  AttentionShape shape;
  int64_t parts = 1;  // of the queries of a head
  int64_t slots = 1;  // of scratch: one per thread that takes part
  int64_t slot_floats = 0;
};

std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) {
  // Fewer queries than this do not pay for bringing a head's keys into panels again.
  constexpr int64_t kMinQueries = 48;
  constexpr int64_t kPartsPerThread = 4;
  // Multiply-adds that are not worth waking a thread for.
  constexpr int64_t kSmall = int64_t{1} << 18;
  const MetaTensor* mask = problem.Input("mask");
  const Shape mask_shape = mask == nullptr ? Shape{} : mask->shape();
  auto plan = std::make_shared<AttentionPlan>();
  AttentionShape& s = plan->shape;
  s = MakeAttentionShape(problem.Input("query")->shape(), problem.Input("key")->shape(),
                         problem.Input("value")->shape(), mask == nullptr ? nullptr : &mask_shape,
                         problem.Attr<int>("heads"), problem.Attr<int>("key_heads"), problem.Attr<int>("size"),
                         problem.Attr<std::vector<int64_t>>("columns"), problem.Attr<bool>("merged"));
  const int64_t heads = std::max<int64_t>(1, s.batch * s.heads);
  const int64_t threads = problem.threads();
  plan->parts = std::max((s.queries + kFlashMaxQueries - 1) / kFlashMaxQueries, int64_t{1});
  const double work = static_cast<double>(heads) * static_cast<double>(s.queries) * static_cast<double>(s.keys) *
                      static_cast<double>(s.size + s.value_size);
  if (threads > 1 && work > static_cast<double>(kSmall)) {
    const int64_t wanted = (kPartsPerThread * threads + heads - 1) / heads;
    plan->parts = std::max(plan->parts, std::min(wanted, s.queries / kMinQueries));
    plan->slots = std::min(threads, heads * plan->parts);
  }
  plan->slot_floats = FlashScratchFloats(s.size, s.value_size);
  plan->scratch_bytes = static_cast<size_t>(plan->slots * plan->slot_floats) * sizeof(float);
  plan->algorithm = "flash";
  return plan;
}

// Positions among the kernel's attributes: heads, key_heads, size, columns come first, merged last.
constexpr size_t kScale = 4;
constexpr size_t kCausal = 5;
constexpr size_t kMaskedScore = 6;
constexpr size_t kZeroMaskedRows = 7;

void Run(KernelContext* context) {
  const AttentionPlan& plan = context->plan<AttentionPlan>();
  const AttentionShape& s = plan.shape;
  DenseTensor* const out = context->Output(0);
  if (out->numel() == 0) return;
  const float* const query = context->Input(0)->data<float>();
  const float* const key = context->Input(1)->data<float>();
  const float* const value = context->Input(2)->data<float>();
  const DenseTensor* const mask = context->Input(3);
  float* const result = out->mutable_data<float>();
  const bool flags = mask != nullptr && mask->dtype() == DataType::kBool;
  FlashHead head;
  head.query_stride = s.query.row;
  head.key_stride = s.key.row;
  head.value_stride = s.value.row;
  head.out_stride = s.out.row;
  head.queries = s.queries;
  head.keys = s.keys;
  head.size = s.size;
  head.value_size = s.value_size;
  head.scale = context->AttrAt<float>(kScale);
  head.masked_score = context->AttrAt<float>(kMaskedScore);
  head.zero_masked_rows = context->AttrAt<bool>(kZeroMaskedRows);
  if (context->AttrAt<bool>(kCausal)) head.visible = 1 + s.keys - s.queries;
  head.mask_query_stride = s.mask[2];
  head.mask_key_stride = s.mask[3];
  const CpuContext& device = context->device_as<CpuContext>();
  float* const scratch = static_cast<float*>(device.Scratch(plan.scratch_bytes));
  const Isa isa = ActiveIsa();

  const auto take = [&](int64_t unit, float* slot) {
    const int64_t part = unit % plan.parts;
    const int64_t h = unit / plan.parts % s.heads;
    const int64_t b = unit / plan.parts / s.heads;
    const int64_t own = h / (s.heads / s.key_heads);
    FlashHead one = head;
    one.query = query + s.query.first + b * s.query.batch + h * s.query.head;
    one.key = key + s.key.first + b * s.key.batch + own * s.key.head;
    one.value = value + s.value.first + b * s.value.batch + own * s.value.head;
    one.out = result + b * s.out.batch + h * s.out.head;
    const int64_t place = b * s.mask[0] + h * s.mask[1];
    if (flags) one.allowed = mask->data<bool>() + place;
    if (mask != nullptr && !flags) one.added = mask->data<float>() + place;
    RunFlashAttention(one, part * s.queries / plan.parts, (part + 1) * s.queries / plan.parts, slot, isa);
  };
  ShareOut(device.pool(), plan.slots, s.batch * s.heads * plan.parts, [&](int64_t slot, const auto& next) {
    for (int64_t unit = next(); unit >= 0; unit = next()) take(unit, scratch + slot * plan.slot_floats);
  });
}

}  // namespace

REGISTER_KERNEL_VARIANT(attention, cpu, flash, kNative, kFloat, kNCHW).Plan(&Plan).Run(&Run);

}  // namespace wherry::cpu
