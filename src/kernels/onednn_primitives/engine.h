// oneDNN's engine, and running its primitives on the calling thread's terms.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <type_traits>

#include "base/check.h"
#include "core/device_context.h"

namespace wherry::onednn {

// The processor. One per process, thread-safe.
const dnnl::engine& Engine();
// The calling thread's stream.
dnnl::stream& Stream();

// For as long as it lives, OpenMP uses `threads` threads in parallel regions that this thread begins, and the workers
// of `pool` (may be null) sleep instead of spinning beside them. oneDNN sizes its primitives by that number when it
// makes them and splits work by it when it runs them.
class ThreadScope {
 public:
  ThreadScope(int threads, ThreadPool* pool);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

// Calls fn; what oneDNN throws becomes an Error: kResourceExhausted when memory is short, kUnsupported when it has no
// implementation, else kInternal. `what` is being done.
template <typename Fn>
std::invoke_result_t<Fn> Translate(const char* what, Fn fn) {
  try {
    return fn();
  } catch (const dnnl::error& error) {
    const ErrorCode code = error.status == dnnl_out_of_memory   ? ErrorCode::kResourceExhausted
                           : error.status == dnnl_unimplemented ? ErrorCode::kUnsupported
                                                                : ErrorCode::kInternal;
    Throw(code, "oneDNN: ", what, ": ", error.message);
  }
}

}  // namespace wherry::onednn
