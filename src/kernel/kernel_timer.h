// What kernels take on this machine, measured.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "core/dense_tensor.h"
#include "core/device_context.h"
#include "kernel/invoke.h"
#include "kernel/kernel.h"
#include "kernel/timing_cache.h"

namespace wherry {

// A call to time kernels on: its weights and attributes, and other arguments of its types, plain, made up: floats in
// [-1, 1], integers that are 0, which are good for an index. Owns what it made; borrows the rest.
class SampleCall {
 public:
  explicit SampleCall(const OpSchema& schema) : schema_(schema), args_(schema.args.size()) {}

  // Arguments by index, those of a list one after another.
  void AddWeight(size_t arg, const DenseTensor* weight);
  void AddTensor(size_t arg, const TensorMeta& meta);
  void SetAttribute(size_t arg, const Attribute& value) { args_[arg].attribute = value; }
  // The number of values of the next output.
  void AddOutput(size_t count) { output_counts_.push_back(count); }

  const OpSchema& schema() const { return schema_; }
  // One line, equal for calls that take kernels the same time: operator, attributes, types, which are weights.
  std::string DebugString() const;
  // With the made-up tensors, which this fills when it is first called.
  const std::vector<CallArg>& args();
  InvokeOptions options() const;

 private:
  struct Made {
    size_t arg;
    size_t place;
    TensorMeta meta;
  };

  const OpSchema& schema_;
  std::vector<CallArg> args_;  // null where a tensor is to be made
  std::vector<Made> made_;
  std::vector<int8_t> constants_;
  std::vector<size_t> output_counts_;
  std::vector<std::unique_ptr<DenseTensor>> tensors_;
};

// One thread at a time.
class KernelTimer {
 public:
  // Times are those of this many threads and this machine; `cache_path` as TimingCache says.
  explicit KernelTimer(std::shared_ptr<ThreadPool> pool, const std::string& cache_path = "");

  // Microseconds of each kernel by itself, of its layout and type, weights packed before: remembered, else measured, in
  // turns and more than one, so that what disturbs a moment does not decide between them. Nullopt for one that cannot
  // run the call or is no kernel of this machine's processor.
  std::vector<std::optional<double>> Microseconds(std::span<const Kernel* const> kernels, SampleCall* call);

  int measured() const { return measured_; }
  int remembered() const { return remembered_; }
  void Save() { cache_.Save(); }

 private:
  std::string KeyOf(const Kernel& kernel, const SampleCall& call) const;
  std::optional<double> Measure(const Kernel& kernel, SampleCall* call);

  CpuContext device_;
  TimingCache cache_;
  std::string machine_;
  int measured_ = 0;
  int remembered_ = 0;
};

}  // namespace wherry
