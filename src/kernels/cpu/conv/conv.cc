#include "kernels/cpu/conv/conv.h"

#include <charconv>
#include <optional>

#include "base/check.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/layout_format.h"

namespace wherry::cpu {
namespace {

constexpr ConvAlgorithm kAlgorithms[] = {ConvAlgorithm::kDirect, ConvAlgorithm::kGemm, ConvAlgorithm::kWinograd2,
                                         ConvAlgorithm::kWinograd4, ConvAlgorithm::kDepthwise};
constexpr std::string_view kPrefix = "conv";  // then the name of the panels' layout

WinogradSize WinogradSizeOf(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::kWinograd4 ? WinogradSize::kF4 : WinogradSize::kF2;
}

}  // namespace

int64_t ConvPackedSize(ConvAlgorithm algorithm, const ConvWeightShape& shape) {
  switch (algorithm) {
    case ConvAlgorithm::kDirect: return ImplicitGemmPackedSize(shape);
    case ConvAlgorithm::kGemm: return PackedFloats(shape.in_channels_per_group, shape.out_channels);
    case ConvAlgorithm::kWinograd2:
    case ConvAlgorithm::kWinograd4: return WinogradPackedSize(shape, WinogradSizeOf(algorithm));
    case ConvAlgorithm::kDepthwise: return DepthwisePackedSize(shape);
  }
  return 0;
}

void PackConv(ConvAlgorithm algorithm, const ConvWeightShape& shape, const float* weight, float* packed,
              ThreadPool* pool, PanelLayout layout) {
  switch (algorithm) {
    case ConvAlgorithm::kDirect: return PackImplicitGemm(shape, ImageForm::kNhwc, weight, packed, pool, layout);
    case ConvAlgorithm::kGemm:
      // The filter is [out][in]; the product's right-hand side is [in][out].
      return PackB({weight, 1, shape.in_channels_per_group}, shape.in_channels_per_group, shape.out_channels, packed,
                   pool, layout);
    case ConvAlgorithm::kWinograd2:
    case ConvAlgorithm::kWinograd4: return PackWinograd(shape, WinogradSizeOf(algorithm), weight, packed, pool, layout);
    case ConvAlgorithm::kDepthwise: return PackDepthwise(shape, weight, packed);
  }
}

std::string ConvPackFormat(ConvAlgorithm algorithm, int64_t groups) {
  return LayoutFormat(kPrefix, WeightLayout()) + ':' + ConvAlgorithmName(algorithm) + ':' + std::to_string(groups);
}

ConvFormat ParseConvPackFormat(std::string_view format) {
  std::string_view rest = format;
  const std::optional<PanelLayout> layout = TakeLayout(kPrefix, &rest);
  if (layout && rest.starts_with(":")) {
    rest.remove_prefix(1);
    for (const ConvAlgorithm algorithm : kAlgorithms) {
      const std::string_view name = ConvAlgorithmName(algorithm);
      if (rest.substr(0, name.size()) != name || rest.substr(name.size(), 1) != ":") continue;
      int64_t groups = 0;
      const char* const end = rest.data() + rest.size();
      const auto parsed = std::from_chars(rest.data() + name.size() + 1, end, groups);
      if (parsed.ec == std::errc() && parsed.ptr == end && groups > 0) return {algorithm, groups, *layout};
    }
  }
  Throw(ErrorCode::kInvalidArgument, "'", format, "' is no packed form of a convolution's filter");
}

ConvPlan::ConvPlan(ConvAlgorithm algorithm, const ConvShape& shape, int threads)
    : algorithm_(algorithm), shape_(shape) {
  WHERRY_CHECK(CanRun(algorithm, shape), "the algorithm ", ConvAlgorithmName(algorithm),
               " cannot run this convolution");
  switch (algorithm) {
    case ConvAlgorithm::kDirect: plan_.emplace<ImplicitGemmPlan>(shape, ImageForm::kNhwc, threads); break;
    case ConvAlgorithm::kGemm: break;
    case ConvAlgorithm::kWinograd2:
    case ConvAlgorithm::kWinograd4: plan_.emplace<WinogradPlan>(shape, WinogradSizeOf(algorithm), threads); break;
    case ConvAlgorithm::kDepthwise: plan_.emplace<DepthwisePlan>(shape, threads); break;
  }
}

int64_t ConvPlan::scratch_floats() const {
  const WinogradPlan* winograd = std::get_if<WinogradPlan>(&plan_);
  return winograd == nullptr ? 0 : winograd->scratch_floats();
}

std::string ConvPlan::DebugString() const {
  const char* name = ConvAlgorithmName(algorithm_);
  if (const auto* winograd = std::get_if<WinogradPlan>(&plan_)) {
    if (winograd->share_panels) return StrCat(name, ", ", winograd->panels, " panels of ", winograd->tiles, " tiles");
    return StrCat(name, ", ", winograd->blocks, " blocks of ", winograd->block_tiles, " tiles");
  }
  if (const auto* direct = std::get_if<ImplicitGemmPlan>(&plan_)) {
    return StrCat(name, ", ", direct->pixel_chunks, " x ", direct->panel_chunks, " chunks");
  }
  if (const auto* depthwise = std::get_if<DepthwisePlan>(&plan_)) {
    return StrCat(name, ", ", depthwise->row_chunks, " x ", depthwise->channel_chunks, " chunks");
  }
  return name;
}

void ConvPlan::Run(const float* in, const float* packed, const TileEpilogue& epilogue, float* out, float* scratch,
                   ThreadPool* pool) const {
  if (const auto* winograd = std::get_if<WinogradPlan>(&plan_)) {
    RunWinograd(*winograd, in, packed, epilogue, out, scratch, pool);
  } else if (const auto* direct = std::get_if<ImplicitGemmPlan>(&plan_)) {
    RunImplicitGemm(*direct, in, packed, epilogue, out, pool);
  } else if (const auto* depthwise = std::get_if<DepthwisePlan>(&plan_)) {
    RunDepthwise(*depthwise, in, packed, epilogue, out, pool);
  } else {
    GemmPacked({in, shape_.in_pixel_stride, 1}, packed, out, shape_.out_pixel_stride, shape_.out_pixels(),
               shape_.weight.out_channels, shape_.weight.in_channels_per_group, epilogue, pool, WeightLayout());
  }
}

}  // namespace wherry::cpu
