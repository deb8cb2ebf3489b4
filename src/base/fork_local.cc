#include "base/fork_local.h"

#include <sys/mman.h>

#include <cerrno>
#include <new>

#include "base/system_error.h"

namespace wherry {
namespace {

// mmap rounds it up to one page.
constexpr size_t kBytes = sizeof(std::atomic<int>);

}  // namespace

ForkLocal::ForkLocal() {
  void* page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) ThrowSystemError(errno, "cannot map a page");
#ifdef MADV_WIPEONFORK
  wiped_on_fork_ = madvise(page, kBytes, MADV_WIPEONFORK) == 0;
#else
  wiped_on_fork_ = false;
#endif
  value_ = new (page) std::atomic<int>(0);
}

ForkLocal::~ForkLocal() { munmap(value_, kBytes); }

}  // namespace wherry
