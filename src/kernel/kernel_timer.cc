#include "kernel/kernel_timer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/cpu_info.h"
#include "base/strings.h"

namespace wherry {
namespace {

void MakeUp(DenseTensor* tensor) {
  std::fill_n(static_cast<char*>(tensor->mutable_raw_data()), tensor->nbytes(), '\0');
  if (tensor->dtype() != DataType::kFloat && tensor->dtype() != DataType::kFP64) return;
  uint32_t state = 1;
  const auto draw = [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(static_cast<int32_t>(state)) / 2147483648.0F;
  };
  const auto fill = [&](auto* data) { std::generate_n(data, tensor->numel(), draw); };
  if (tensor->dtype() == DataType::kFloat) return fill(tensor->mutable_data<float>());
  fill(tensor->mutable_data<double>());
}

}  // namespace

void SampleCall::AddWeight(size_t arg, const DenseTensor* weight) {
  args_[arg].tensors.push_back(weight);
  const auto index = static_cast<int8_t>(arg);
  if (std::find(constants_.begin(), constants_.end(), index) == constants_.end()) constants_.push_back(index);
}

void SampleCall::AddTensor(size_t arg, const TensorMeta& meta) {
  TensorMeta plain = meta;
  plain.layout = DataLayout::kNCHW;
  plain.pixel_stride = 0;
  made_.push_back({arg, args_[arg].tensors.size(), plain});
  args_[arg].tensors.push_back(nullptr);
}

std::string SampleCall::DebugString() const {
  std::string text = schema_.name;
  for (size_t i = 0; i < args_.size(); ++i) {
    const CallArg& arg = args_[i];
    if (arg.tensors.empty() && std::holds_alternative<std::monostate>(arg.attribute)) continue;
    text += StrCat(" ", schema_.args[i].name, "=");
    for (size_t place = 0; place < arg.tensors.size(); ++place) {
      const auto made = std::find_if(made_.begin(), made_.end(),
                                     [&](const Made& each) { return each.arg == i && each.place == place; });
      text += made == made_.end() ? "const " + arg.tensors[place]->meta().DebugString() : made->meta.DebugString();
      text += ";";
    }
    if (arg.tensors.empty()) text += ToString(arg.attribute);
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

const std::vector<CallArg>& SampleCall::args() {
  for (const Made& each : made_) {
    const DenseTensor*& place = args_[each.arg].tensors[each.place];
    if (place != nullptr) continue;
    tensors_.push_back(std::make_unique<DenseTensor>(HostAllocator(), each.meta));
    MakeUp(tensors_.back().get());
    place = tensors_.back().get();
  }
  return args_;
}

InvokeOptions SampleCall::options() const {
  InvokeOptions options;
  options.constants = constants_;
  options.output_counts = output_counts_;
  return options;
}

KernelTimer::KernelTimer(std::shared_ptr<ThreadPool> pool, const std::string& cache_path)
    : device_(std::move(pool)), cache_(cache_path) {
  const CpuInfo& info = CpuInfo::Get();
  machine_ = StrCat(WHERRY_VERSION, " ", Quote(info.brand), " ", ToString(info.isa), " threads=", device_.threads());
}

std::string KernelTimer::KeyOf(const Kernel& kernel, const SampleCall& call) const {
  return StrCat(machine_, " ", kernel.id(), " ", kernel.key.DebugString(), " ", call.DebugString());
}

std::optional<double> KernelTimer::Measure(const Kernel& kernel, SampleCall* call) {
  InvokeOptions options = call->options();
  options.kernel = &kernel;
  double microseconds = -1;
  options.kernel_us = &microseconds;
  try {
    InvokeOp(call->schema(), call->args(), &device_, options);
  } catch (const Error&) {
    return std::nullopt;
  }
  return microseconds;
}

std::vector<std::optional<double>> KernelTimer::Microseconds(std::span<const Kernel* const> kernels, SampleCall* call) {
  constexpr int kTurns = 2;
  std::vector<std::optional<double>> times(kernels.size());
  std::vector<size_t> to_measure;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Target target = kernels[i]->key.target();
    if (target != Target::kHost && target != Target::kNative) continue;
    times[i] = cache_.Find(KeyOf(*kernels[i], *call));
    if (times[i]) {
      ++remembered_;
    } else {
      to_measure.push_back(i);
    }
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    for (const size_t i : to_measure) {
      if (turn > 0 && !times[i]) continue;
      const std::optional<double> time = Measure(*kernels[i], call);
      times[i] = turn == 0 || !time ? time : std::min(*times[i], *time);
    }
  }
  for (const size_t i : to_measure) {
    if (!times[i]) continue;
    ++measured_;
    cache_.Add(KeyOf(*kernels[i], *call), *times[i]);
  }
  return times;
}

}  // namespace wherry
