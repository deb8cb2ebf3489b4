#include "kernel/cost.h"

#include <string_view>

namespace wherry {

namespace {

// Measured on one Zen 4 core: vector kernels reach 60-110 GFLOP/s in products and 10-20 GB/s elsewhere; the reference's
// plain loops 0.5-1 Gop/s and about as many GB/s.
struct Rates {
  double operations_per_us;
  double bytes_per_us;
};
constexpr Rates kVectorRates{60e3, 10e3};
constexpr Rates kReferenceRates{700, 700};
constexpr double kCallMicroseconds = 0.2;
// Reading one layout and writing the other, about 4 GB/s each way.
constexpr double kConversionBytesPerMicrosecond = 4e3;

double Extent(const Dim& dim) { return static_cast<double>(dim.known() ? dim.value() : kAssumedDim); }

double Elements(const MetaTensor& tensor) {
  if (!tensor.rank_known) return static_cast<double>(kAssumedDim * kAssumedDim);
  double elements = 1;
  for (const Dim& dim : tensor.dims) elements *= Extent(dim);
  return elements;
}

double Last(const MetaTensor& tensor) {
  if (!tensor.rank_known || tensor.rank() == 0) return 1;
  return Extent(tensor.dims.back());
}

}  // namespace

double EstimateBytes(const MetaTensor& tensor) {
  const size_t size = SizeOf(tensor.dtype);
  return Elements(tensor) * static_cast<double>(size == 0 ? 4 : size);
}

Work EstimateWork(const KernelProblem& problem) {
  Work work;
  for (size_t i = 0; i < problem.output_count(); ++i) {
    work.bytes += EstimateBytes(problem.Output(i));
    work.operations += Elements(problem.Output(i));
  }
  const OpSchema& schema = problem.schema();
  for (const ArgDef& arg : schema.args) {
    if (!arg.is_tensor()) continue;
    for (const MetaTensor* tensor : problem.InputList(arg.name)) work.bytes += EstimateBytes(*tensor);
  }
  const std::string_view op = schema.name;
  if (op == "conv2d" || op == "conv2d_transpose") {
    // Each element of the result, or of x, meets all of the filter that belongs to one of its channels.
    const MetaTensor& elements = op == "conv2d" ? problem.Output() : *problem.Input("x");
    const MetaTensor& filter = *problem.Input("filter");
    const double channels =
        filter.rank_known && filter.rank() > 0 && filter.dims[0].known() && filter.dims[0].value() > 0
            ? static_cast<double>(filter.dims[0].value())
            : static_cast<double>(kAssumedDim);
    work.operations = 2 * Elements(elements) * Elements(filter) / channels;
  } else if (op == "matmul" || op == "fused_matmul" || op == "mul" || op == "fc") {
    const MetaTensor* left = problem.Input(op == "fc" ? "input" : "x");
    work.operations = 2 * Elements(problem.Output()) * Last(*left);
  } else if (op == "attention") {
    // Every query meets every key twice: in its score, and in the result.
    const MetaTensor& key = *problem.Input("key");
    const int sequence = key.rank_known && key.rank() == 4 ? 2 : 1;
    const Dim keys = key.rank_known && key.rank() > 2 ? key.dims[static_cast<size_t>(sequence)] : Dim(kAssumedDim);
    work.operations = 4 * Elements(problem.Output()) * Extent(keys);
  }
  return work;
}

double EstimateMicroseconds(const Kernel& kernel, const KernelProblem& problem) {
  const Work work = EstimateWork(problem);
  double laying_out_us = 0;
  const Rates& rates = kernel.provider == "ref" ? kReferenceRates : kVectorRates;
  if (kernel.provider == "cpu" && kernel.key.layout() == DataLayout::kNCHW &&
      std::string_view(problem.schema().name) == "conv2d") {
    // It lays the images out within, which is never better than doing so for all that use them.
    laying_out_us =
        1 + EstimateConversionMicroseconds(*problem.Input("x")) + EstimateConversionMicroseconds(problem.Output());
  }
  return laying_out_us + kCallMicroseconds + work.operations / rates.operations_per_us +
         work.bytes / rates.bytes_per_us;
}

double EstimateConversionMicroseconds(const MetaTensor& tensor) {
  return kCallMicroseconds + 2 * EstimateBytes(tensor) / kConversionBytesPerMicrosecond;
}

}  // namespace wherry
