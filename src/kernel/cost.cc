#include "kernel/cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "kernel/conv_chain_problem.h"
#include "op/epilogue.h"

namespace wherry {

namespace {

enum Family : uint8_t {
  kView,
  kProduct,
  kWinograd,
  kDepthwise,
  kRecurrent,
  kElementwise,
  kTranscendental,
  kReduction,
  kMovement,
  kReferenceProduct,
  kReferenceElementwise,
  kReferenceMovement,
  kFamilies
};

// Medians over the operators of ten networks of the zoo and of bench/families.wir that take at least 20 us, on one
// thread of a 3.6 GHz core with AVX-512; how to measure them again stands in docs/design/kernels.md.
constexpr std::array<CostFamily, kFamilies> kTable{{
    {"view", 0, 0},
    {"product", 200, 40},
    {"winograd", 420, 40},  // operations that multiplying directly would take
    {"depthwise", 65, 40},
    {"recurrent", 25, 40},  // few rows at a time
    {"elementwise", 9, 40},
    {"transcendental", 4, 30},
    {"reduction", 7, 33},
    {"movement", 0, 25},
    {"ref product", 0.5, 6},
    {"ref elementwise", 0.4, 6},
    {"ref movement", 0, 4},
}};

constexpr double kCallMicroseconds = 0.2;
// Less than this is not worth another thread: waking one takes some microseconds.
constexpr double kShareMicroseconds = 10;

// The pool's workers have to be woken, and share their processors with OpenMP threads that go on spinning for some
// milliseconds: 0.15 to 1 ms an op, the medians of tuned networks less what their kernels take alone (vit_small,
// resnet50, yolov8n; two threads on two cores, libgomp).
constexpr double kHandOverMicroseconds = 1000;

double Extent(const Dim& dim) { return static_cast<double>(dim.known() ? dim.value() : kAssumedDim); }

double Elements(const MetaTensor& tensor) {
  if (!tensor.rank_known) return static_cast<double>(kAssumedDim * kAssumedDim);
  double elements = 1;
  for (const Dim& dim : tensor.dims) elements *= Extent(dim);
  return elements;
}

double ExtentAt(const MetaTensor& tensor, int axis) {
  const int rank = tensor.rank_known ? tensor.rank() : 0;
  const int at = axis < 0 ? axis + rank : axis;
  return at < 0 || at >= rank ? 1 : std::max(1.0, Extent(tensor.dims[static_cast<size_t>(at)]));
}

using Names = std::initializer_list<std::string_view>;

bool IsOneOf(std::string_view name, Names names) { return std::find(names.begin(), names.end(), name) != names.end(); }

// Some twenty operations per element and more.
bool IsTranscendental(std::string_view op) {
  return IsOneOf(op, {"exp",        "log",   "sigmoid", "tanh",      "erf",     "softplus", "silu",
                      "mish",       "elu",   "gelu",    "gelu_tanh", "swish",   "sin",      "cos",
                      "tan",        "asin",  "acos",    "atan",      "sinh",    "cosh",     "asinh",
                      "acosh",      "atanh", "expm1",   "log1p",     "erfinv",  "lgamma",   "digamma",
                      "i0",         "i0e",   "i1",      "i1e",       "softmax", "pow",      "elementwise_pow",
                      "log_softmax"});
}

bool IsMovement(std::string_view op) {
  return IsOneOf(op, {"transpose",       "layout", "io_copy",     "slice",  "split",     "concat",    "stack",
                      "expand",          "tile",   "pad",         "gather", "gather_nd", "embedding", "take_along_axis",
                      "shuffle_channel", "full",   "full_like",   "flip",   "roll",      "where",     "cast",
                      "assign",          "unbind", "index_select"});
}

bool IsReduction(std::string_view op) {
  return IsOneOf(op, {"sum", "mean", "max", "min", "prod", "layer_norm", "rms_norm", "group_norm", "instance_norm",
                      "pool2d", "pool3d", "argmax", "argmin", "topk", "cumsum"});
}

double ChainProducts(const KernelProblem& problem) {
  const auto filters = ConvChainFilters(problem);
  const auto links = ConvChainLinks(problem, filters.size());
  const Epilogue none;
  const Epilogue* const epilogues[kMaxConvChain] = {&none, &none, &none};
  const auto images = ConvChainImages(*problem.Input("x"), filters, {}, links, epilogues);
  double products = 0;
  for (size_t i = 0; i < images.size(); ++i) {
    products += 2 * Elements(images[i]) * Elements(*filters[i]) / ExtentAt(*filters[i], 0);
  }
  return products;
}

// Multiplications and additions of what multiplies; 0 for everything else.
double Products(const KernelProblem& problem) {
  const std::string_view op = problem.schema().name;
  if (IsOneOf(op, {"conv2d", "quantized_conv2d", "conv3d", "deformable_conv"})) {
    // Each element of the result meets all of the filter that belongs to one of its channels; below, of x.
    const MetaTensor& filter = *problem.Input("filter");
    return 2 * Elements(problem.Output()) * Elements(filter) / ExtentAt(filter, 0);
  }
  if (op == "conv2d_chain") return ChainProducts(problem);
  if (IsOneOf(op, {"conv2d_transpose", "conv3d_transpose"})) {
    const MetaTensor& filter = *problem.Input("filter");
    return 2 * Elements(*problem.Input("x")) * Elements(filter) / ExtentAt(filter, 0);
  }
  if (op == "fc") return 2 * Elements(*problem.Input("input")) * ExtentAt(*problem.Input("w"), -1);
  if (op == "mul")
    return 2 * Elements(*problem.Input("x")) * Elements(*problem.Input("y")) / ExtentAt(*problem.Input("y"), 0);
  if (IsOneOf(op, {"matmul", "quantized_matmul", "fused_matmul", "weight_only_linear"})) {
    const bool may_transpose = problem.schema().FindArg("transpose_x") >= 0 && problem.HasAttr("transpose_x");
    const bool transposed = may_transpose && problem.Attr<bool>("transpose_x");
    const MetaTensor& x = *problem.Input("x");
    return 2 * Elements(problem.Output()) * ExtentAt(x, transposed && x.rank_known && x.rank() > 1 ? -2 : -1);
  }
  if (op == "attention") {
    // Every query meets every key twice: in its score, and in the result.
    const MetaTensor& key = *problem.Input("key");
    return 4 * Elements(problem.Output()) * ExtentAt(key, key.rank_known && key.rank() == 4 ? 2 : 1);
  }
  if (op == "rnn") {
    const double steps = Elements(*problem.Input("x")) / ExtentAt(*problem.Input("x"), -1);
    return 2 * steps * (Elements(*problem.Input("w")) + Elements(*problem.Input("r")));
  }
  return 0;
}

// What all windows hold together: those that overlap far are more than what they lie in. 0 for what has none.
double InWindows(const KernelProblem& problem) {
  if (!IsOneOf(problem.schema().name, {"pool2d", "pool3d", "max_pool_with_index"})) return 0;
  if (!problem.HasAttr("kernel_size") || problem.Attr<bool>("global_pooling") || problem.Attr<bool>("adaptive"))
    return 0;
  double elements = Elements(problem.Output());
  for (const int64_t extent : problem.Attr<IntArray>("kernel_size")) elements *= static_cast<double>(extent);
  return elements;
}

// Operations of a Fourier transform along the longest dimension; 0 for everything else. Measured on the reference: 8
// for each halving, and eight times as many where a prime factor over 64 makes it a convolution of twice to four times
// the length.
double InTransforms(const KernelProblem& problem) {
  if (std::string_view(problem.schema().name) != "dft") return 0;
  const MetaTensor& out = problem.Output();
  int64_t longest = 2;
  for (const Dim& dim : out.dims) longest = std::max(longest, dim.known() ? dim.value() : kAssumedDim);
  int64_t rest = longest;
  for (int64_t factor = 2; factor <= 64; ++factor) {
    while (rest % factor == 0) rest /= factor;
  }
  return Elements(out) * 8 * std::log2(static_cast<double>(longest)) * (rest > 1 ? 8 : 1);
}

bool IsDepthwise(const KernelProblem& problem) {
  return problem.Attr<int>("groups") > 1 && ExtentAt(*problem.Input("filter"), 1) == 1;
}

// As the kernels of conv2d choose, roughly.
bool IsWinograd(const KernelProblem& problem) {
  const MetaTensor& filter = *problem.Input("filter");
  const auto all_one = [](const std::vector<int64_t>& values) {
    return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 1; });
  };
  return problem.Attr<int>("groups") == 1 && filter.rank_known && filter.rank() == 4 && ExtentAt(filter, 2) == 3 &&
         ExtentAt(filter, 3) == 3 && ExtentAt(filter, 0) >= 16 && ExtentAt(filter, 1) >= 16 &&
         all_one(problem.Attr<std::vector<int64_t>>("strides")) &&
         all_one(problem.Attr<std::vector<int64_t>>("dilations"));
}

Family ProductFamily(const KernelProblem& problem) {
  const std::string_view op = problem.schema().name;
  if (op == "rnn") return kRecurrent;
  if (op != "conv2d") return kProduct;
  if (IsDepthwise(problem)) return kDepthwise;
  return IsWinograd(problem) ? kWinograd : kProduct;
}

struct Work {
  Family family;
  double operations;
  double bytes;
};

// What a group of elementwise operators does for each element: the functions in it outweigh the rest.
Work FusedWork(const ElementwiseProgram& program, double elements) {
  double functions = 0;
  for (const ElementwiseInstruction& step : program.instructions) {
    const bool act = step.op == ElementwiseInstruction::Op::kAct;
    if (step.op == ElementwiseInstruction::Op::kPow || (act && IsTranscendental(ToString(step.act)))) ++functions;
  }
  if (functions > 0) return {kTranscendental, functions * elements, 0};
  return {kElementwise, static_cast<double>(program.instructions.size()) * elements, 0};
}

Work EstimateWork(const KernelProblem& problem) {
  const OpSchema& schema = problem.schema();
  if (schema.Has(kTraitView)) return {kView, 0, 0};
  double read = 0;
  double most = 0;  // elements of the largest argument
  for (const ArgDef& arg : schema.args) {
    if (!arg.is_tensor()) continue;
    for (const MetaTensor* tensor : problem.InputList(arg.name)) {
      read += EstimateBytes(*tensor);
      most = std::max(most, Elements(*tensor));
    }
  }
  double written = 0;
  double elements = 0;
  for (size_t i = 0; i < problem.output_count(); ++i) {
    written += EstimateBytes(problem.Output(i));
    elements += Elements(problem.Output(i));
  }
  const std::string_view op = schema.name;
  // Of a table or a wider tensor only what is taken is read.
  if (IsMovement(op)) return {kMovement, 0, written + std::min(read, written)};
  Work work{kElementwise, elements, 0};
  if (const double products = Products(problem); products > 0) {
    work = {ProductFamily(problem), products, 0};
  } else if (op == "fused_elementwise") {
    work = FusedWork(problem.Attr<ElementwiseProgram>("program"), elements);
  } else if (IsTranscendental(op)) {
    work.family = kTranscendental;
  } else if (IsReduction(op)) {
    work = {kReduction, most, 0};
  }
  work.operations = std::max({work.operations, InWindows(problem), InTransforms(problem)});
  work.bytes = read + written;
  return work;
}

Family ForReference(Family family) {
  switch (family) {
    case kView: return kView;
    case kMovement: return kReferenceMovement;
    case kProduct:
    case kWinograd:
    case kDepthwise:
    case kRecurrent: return kReferenceProduct;
    default: return kReferenceElementwise;
  }
}

double Shared(double microseconds, int threads) {
  return microseconds / std::clamp(microseconds / kShareMicroseconds, 1.0, static_cast<double>(std::max(threads, 1)));
}

}  // namespace

std::span<const CostFamily> CostFamilies() { return kTable; }

double EstimateBytes(const MetaTensor& tensor) {
  const size_t size = SizeOf(tensor.dtype);
  return Elements(tensor) * static_cast<double>(size == 0 ? 4 : size);
}

Cost EstimateCost(const Kernel& kernel, const KernelProblem& problem) {
  const Work work = EstimateWork(problem);
  const bool reference = kernel.provider == "ref";
  const Family family = reference ? ForReference(work.family) : work.family;
  Cost cost{&kTable[family], work.operations, work.bytes, 0};
  if (family == kView) return cost;
  const double computing_us = work.operations == 0 ? 0 : work.operations / (cost.family->gflops * 1e3);
  const double one_thread = std::max(computing_us, work.bytes / (cost.family->gbytes * 1e3));
  cost.microseconds = kCallMicroseconds + (reference ? one_thread : Shared(one_thread, problem.threads()));
  if (kernel.provider == "cpu" && kernel.key.layout() == DataLayout::kNCHW &&
      std::string_view(problem.schema().name) == "conv2d") {
    // It lays the images out within, which is never better than doing so for all that use them.
    cost.microseconds += 1 + EstimateConversionMicroseconds(*problem.Input("x"), problem.threads()) +
                         EstimateConversionMicroseconds(problem.Output(), problem.threads());
  }
  cost.microseconds += HandOverMicroseconds(kernel, problem.threads());
  return cost;
}

double HandOverMicroseconds(const Kernel& kernel, int threads) {
  return kernel.own_threads && threads > 1 ? kHandOverMicroseconds : 0;
}

double EstimateConversionMicroseconds(const MetaTensor& tensor, int threads) {
  return kCallMicroseconds + Shared(2 * EstimateBytes(tensor) / (kTable[kMovement].gbytes * 1e3), threads);
}

}  // namespace wherry
