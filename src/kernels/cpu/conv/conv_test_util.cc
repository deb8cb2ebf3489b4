#include "kernels/cpu/conv/conv_test_util.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace wherry::cpu {
namespace {

std::vector<float> Random(int64_t size, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(size));
  for (float& v : values) v = normal(rng);
  return values;
}

}  // namespace

ConvShape MakeConvShape(int64_t batch, int64_t height, int64_t width, const ConvWeightShape& weight, int64_t stride,
                        int64_t pad, int64_t dilation) {
  ConvShape s;
  s.batch = batch;
  s.in_height = height;
  s.in_width = width;
  s.weight = weight;
  s.stride_height = s.stride_width = stride;
  s.dilation_height = s.dilation_width = dilation;
  s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = pad;
  s.in_pixel_stride = s.in_channels();
  s.out_pixel_stride = weight.out_channels;
  return s;
}

ConvProblem::ConvProblem(const ConvShape& s, uint32_t seed) : shape(s) {
  std::mt19937 rng(seed);
  const int64_t in_pixels = s.batch * s.in_height * s.in_width;
  input = Random(in_pixels * s.in_pixel_stride, rng);
  for (int64_t p = 0; p < in_pixels; ++p) {
    for (int64_t c = s.in_channels(); c < s.in_pixel_stride; ++c) {
      input[static_cast<size_t>(p * s.in_pixel_stride + c)] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  weight = Random(s.weight.elements(), rng);
  bias = Random(s.weight.out_channels, rng);
  residual = Random(s.out_pixels() * s.weight.out_channels, rng);
  output.assign(static_cast<size_t>(s.out_pixels() * s.out_pixel_stride), kUntouched);
}

TileEpilogue MakeEpilogue(const ConvProblem& p, TestEpilogue which) {
  TileEpilogue e;
  const int64_t stride = p.shape.weight.out_channels;
  switch (which) {
    case TestEpilogue::kNone: return e;
    case TestEpilogue::kBias: return e.Bias(p.bias.data());
    case TestEpilogue::kBiasRelu: return e.Bias(p.bias.data()).Activate({ActKind::kRelu, 0, 0});
    case TestEpilogue::kBiasAddRelu:
      return e.Bias(p.bias.data()).Add(p.residual.data(), stride).Activate({ActKind::kRelu, 0, 0});
    case TestEpilogue::kBiasHardSwish: return e.Bias(p.bias.data()).Activate({ActKind::kHardSwish, 0, 0});
    case TestEpilogue::kBiasHardSwishScaleBias:
      return e.Bias(p.bias.data()).Activate({ActKind::kHardSwish, 0, 0}).Scale(p.bias.data()).Bias(p.bias.data());
    case TestEpilogue::kBiasSwish: return e.Bias(p.bias.data()).Activate({ActKind::kSwish, 1, 0});
    case TestEpilogue::kBiasGelu: return e.Bias(p.bias.data()).Activate({ActKind::kGelu, 0, 0});
    case TestEpilogue::kScaleBiasAdd: return e.Scale(p.bias.data()).Bias(p.bias.data()).Add(p.residual.data(), stride);
    case TestEpilogue::kRelu: return e.Activate({ActKind::kRelu, 0, 0});
    case TestEpilogue::kHardSwish: return e.Activate({ActKind::kHardSwish, 0, 0});
    case TestEpilogue::kLeakyRelu: return e.Bias(p.bias.data()).Activate({ActKind::kLeakyRelu, 0.1f, 0});
  }
  return e;
}

std::vector<double> ReferenceConv(const ConvProblem& p, TestEpilogue which) {
  const ConvShape& s = p.shape;
  const ConvWeightShape& w = s.weight;
  std::vector<double> out;
  out.reserve(static_cast<size_t>(s.out_pixels() * w.out_channels));
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t oy = 0; oy < s.out_height(); ++oy) {
      for (int64_t ox = 0; ox < s.out_width(); ++ox) {
        for (int64_t k = 0; k < w.out_channels; ++k) {
          const int64_t group = k / w.out_channels_per_group();
          double sum = 0;
          for (int64_t ky = 0; ky < w.kernel_height; ++ky) {
            const int64_t iy = oy * s.stride_height - s.pad_top + ky * s.dilation_height;
            if (iy < 0 || iy >= s.in_height) continue;
            for (int64_t kx = 0; kx < w.kernel_width; ++kx) {
              const int64_t ix = ox * s.stride_width - s.pad_left + kx * s.dilation_width;
              if (ix < 0 || ix >= s.in_width) continue;
              const float* in = &p.input[static_cast<size_t>(
                  ((n * s.in_height + iy) * s.in_width + ix) * s.in_pixel_stride + group * w.in_channels_per_group)];
              const float* weight =
                  &p.weight[static_cast<size_t>(k * w.in_channels_per_group * w.taps() + ky * w.kernel_width + kx)];
              for (int64_t c = 0; c < w.in_channels_per_group; ++c) {
                sum += static_cast<double>(in[c]) * static_cast<double>(weight[c * w.taps()]);
              }
            }
          }
          const double bias = p.bias[static_cast<size_t>(k)];
          const double residual = p.residual[out.size()];
          switch (which) {
            case TestEpilogue::kNone: break;
            case TestEpilogue::kBias: sum += bias; break;
            case TestEpilogue::kBiasRelu: sum = std::max(0.0, sum + bias); break;
            case TestEpilogue::kBiasAddRelu: sum = std::max(0.0, sum + bias + residual); break;
            case TestEpilogue::kBiasHardSwish:
              sum += bias;
              sum *= std::clamp(sum / 6 + 0.5, 0.0, 1.0);
              break;
            case TestEpilogue::kBiasHardSwishScaleBias:
              sum += bias;
              sum = sum * std::clamp(sum / 6 + 0.5, 0.0, 1.0) * bias + bias;
              break;
            case TestEpilogue::kBiasSwish:
              sum += bias;
              sum /= 1 + std::exp(-sum);
              break;
            case TestEpilogue::kBiasGelu:
              sum += bias;
              sum *= 0.5 * (1 + std::erf(sum / std::sqrt(2.0)));
              break;
            case TestEpilogue::kScaleBiasAdd: sum = sum * bias + bias + residual; break;
            case TestEpilogue::kRelu: sum = std::max(0.0, sum); break;
            case TestEpilogue::kLeakyRelu:
              sum += bias;
              sum = std::max(sum, 0.1 * sum);
              break;
            case TestEpilogue::kHardSwish: sum *= std::clamp(sum / 6 + 0.5, 0.0, 1.0); break;
          }
          out.push_back(sum);
        }
      }
    }
  }
  return out;
}

double RelativeError(const ConvProblem& p, const std::vector<double>& expected) {
  constexpr double kBad = 1e9;
  const int64_t channels = p.shape.weight.out_channels;
  double largest = 0;
  double error = 0;
  for (int64_t pixel = 0; pixel < p.shape.out_pixels(); ++pixel) {
    for (int64_t c = 0; c < p.shape.out_pixel_stride; ++c) {
      const float got = p.output[static_cast<size_t>(pixel * p.shape.out_pixel_stride + c)];
      if (c >= channels) {
        if (got != ConvProblem::kUntouched) return kBad;
        continue;
      }
      if (std::isnan(got)) return kBad;
      const double want = expected[static_cast<size_t>(pixel * channels + c)];
      largest = std::max(largest, std::abs(want));
      error = std::max(error, std::abs(want - static_cast<double>(got)));
    }
  }
  return error == 0 ? 0 : error / largest;
}

std::vector<float> ToPlanar(const ConvProblem& p) {
  const ConvShape& s = p.shape;
  const int64_t plane = s.in_height * s.in_width;
  std::vector<float> planar;
  planar.reserve(static_cast<size_t>(s.batch * plane * s.in_channels()));
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t c = 0; c < s.in_channels(); ++c) {
      for (int64_t i = 0; i < plane; ++i) {
        planar.push_back(p.input[static_cast<size_t>((n * plane + i) * s.in_pixel_stride + c)]);
      }
    }
  }
  return planar;
}

AlignedFloats::AlignedFloats(int64_t size) {
  const size_t bytes = (static_cast<size_t>(size) * sizeof(float) + 63) / 64 * 64;
  data_.reset(static_cast<float*>(std::aligned_alloc(64, std::max<size_t>(bytes, 64))));
  std::fill_n(data_.get(), bytes / sizeof(float), std::numeric_limits<float>::quiet_NaN());
}

}  // namespace wherry::cpu
