// The OpenCL device that this process uses, with what belongs to it and not to one context.
#pragma once

#include <memory>
#include <string>

#include "core/buffer.h"
#include "kernels/opencl/api.h"
#include "kernels/opencl/program_cache.h"

namespace wherry::opencl {

// One OpenCL context, so that every buffer is usable by every OpenCLContext, and one in-order queue, so that what one
// of them computed is there for the next. Thread-safe. Lives as long as the process.
class Device {
 public:
  // The first GPU of any platform, else the first accelerator, else the first device. Null when there is none, and then
  // `why` (if not null) says what is missing.
  static Device* Find(std::string* why);
  // Likewise, but none is Error(kUnavailable).
  static Device& Get();

  const std::string& name() const { return name_; }
  cl_context context() const { return context_.get(); }
  cl_command_queue queue() const { return queue_.get(); }
  Allocator& allocator() { return *allocator_; }
  ProgramCache& programs() { return *programs_; }
  size_t max_work_group_size() const { return max_work_group_size_; }

 private:
  explicit Device(cl_device_id id);

  std::string name_;
  Owned<cl_context> context_;
  Owned<cl_command_queue> queue_;
  std::unique_ptr<Allocator> allocator_;
  std::unique_ptr<ProgramCache> programs_;
  size_t max_work_group_size_ = 1;
};

}  // namespace wherry::opencl
