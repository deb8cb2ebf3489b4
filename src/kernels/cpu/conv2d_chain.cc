// conv2d_chain in f32 on NHWC images: all its convolutions, band by band.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "core/device_context.h"
#include "kernel/conv_chain_problem.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/conv/conv_chain.h"
#include "kernels/cpu/conv/conv_problem.h"
#include "kernels/cpu/op_epilogue.h"

namespace wherry::cpu {
namespace {

// Positions among the kernel's tensors and attributes.
constexpr size_t kX = 0;
constexpr size_t kFilters = 1;
constexpr size_t kOperands = 4;
constexpr size_t kEpilogues = 4;

struct Conv2dChainPlan : KernelPlan {
  explicit Conv2dChainPlan(ConvChainPlan plan) : chain(std::move(plan)) {}
  ConvChainPlan chain;
};

// A padding that a kernel lies in whole has rows that no row of the image gives.
bool MeetsTheImage(const ConvLink& link, const Shape& filter) {
  for (size_t i = 0; i < link.paddings.size(); ++i) {
    const size_t axis = i / 2;
    const int64_t window = (filter[static_cast<int>(axis) + 2] - 1) * link.dilations[axis] + 1;
    if (link.paddings[i] < 0 || link.paddings[i] >= window) return false;
  }
  return true;
}

Support Supports(const KernelProblem& problem) {
  const auto filters = ConvChainFilters(problem);
  const auto links = ConvChainLinks(problem, filters.size());
  for (size_t i = 0; i < filters.size(); ++i) {
    if (!filters[i]->known() || !problem.IsConstant(kConvChainFilters[i])) {
      return Support::No(StrCat("needs a constant ", kConvChainFilters[i]));
    }
    if (!MeetsTheImage(links[i], filters[i]->shape())) {
      return Support::No("needs paddings from 0 to less than the kernel's extent");
    }
  }
  return Support::Yes();
}

std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) {
  const auto filters = ConvChainFilters(problem);
  const auto links = ConvChainLinks(problem, filters.size());
  const TensorMeta x = problem.Input("x")->tensor_meta();
  std::vector<ConvShape> shapes;
  std::vector<PackRequest> packs;
  for (size_t i = 0; i < filters.size(); ++i) {
    ConvShape shape;
    shape.weight = ConvWeightShapeOf(filters[i]->shape(), links[i].groups);
    shape.batch = x.shape[0];
    shape.in_height = i == 0 ? x.shape[2] : shapes.back().out_height();
    shape.in_width = i == 0 ? x.shape[3] : shapes.back().out_width();
    shape.stride_height = links[i].strides[0];
    shape.stride_width = links[i].strides[1];
    shape.dilation_height = links[i].dilations[0];
    shape.dilation_width = links[i].dilations[1];
    shape.pad_top = links[i].paddings[0];
    shape.pad_bottom = links[i].paddings[1];
    shape.pad_left = links[i].paddings[2];
    shape.pad_right = links[i].paddings[3];
    shape.in_pixel_stride = i == 0 ? x.effective_pixel_stride() : shapes.back().out_pixel_stride;
    shape.out_pixel_stride =
        i + 1 == filters.size() ? problem.Output().tensor_meta().effective_pixel_stride() : shape.weight.out_channels;
    packs.push_back({static_cast<int>(kFilters + i), ConvPackFormat(ChainAlgorithm(shape), links[i].groups)});
    shapes.push_back(shape);
  }
  auto plan = std::make_shared<Conv2dChainPlan>(ConvChainPlan(std::move(shapes), problem.threads()));
  plan->packs = std::move(packs);
  plan->scratch_bytes = static_cast<size_t>(plan->chain.scratch_floats()) * sizeof(float);
  plan->algorithm = plan->chain.DebugString();
  return plan;
}

void Run(KernelContext* context) {
  DenseTensor& out = *context->Output(0);
  if (out.numel() == 0) return;
  const auto& plan = context->plan<Conv2dChainPlan>();
  const auto& device = context->device_as<CpuContext>();
  std::array<const float*, kMaxConvChain> packed{};
  std::array<TileEpilogue, kMaxConvChain> epilogues;
  const size_t count = plan.chain.size();
  for (size_t i = 0; i < count; ++i) {
    const ConvShape& shape = plan.chain.shape(i);
    packed[i] = static_cast<const float*>(context->Packed(i).buffer->data());
    epilogues[i] =
        BindEpilogue(context->AttrAt<Epilogue>(kEpilogues + i), context->InputAt(kOperands), shape.weight.out_channels);
  }
  plan.chain.Run(context->Input(kX)->data<float>(), {packed.data(), count}, {epilogues.data(), count},
                 out.mutable_data<float>(), static_cast<float*>(device.Scratch(plan.scratch_bytes)), device.pool());
}

}  // namespace

REGISTER_KERNEL_VARIANT(conv2d_chain, cpu, bands, kNative, kFloat, kNHWC)
    .Supports(&Supports)
    .Plan(&Plan)
    .Pack(&PackedConvFilterBytes, &PackConvFilter)
    .Run(&Run)
    .PixelStrides();

}  // namespace wherry::cpu
