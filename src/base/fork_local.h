// An atomic number that a fork sets back to zero in the child.
#pragma once

#include <atomic>

namespace wherry {

// Lives on a page of its own that the kernel wipes in a forked child (MADV_WIPEONFORK), so "does this process have my
// threads?" costs one load instead of a getpid() system call. Where the kernel cannot do that (before Linux 4.14) the
// child keeps the parent's value: an owner must stay correct then, only slower.
class ForkLocal {
 public:
  // Throws kResourceExhausted if there is no page.
  ForkLocal();
  ~ForkLocal();
  ForkLocal(const ForkLocal&) = delete;
  ForkLocal& operator=(const ForkLocal&) = delete;

  std::atomic<int>& operator*() const noexcept { return *value_; }
  std::atomic<int>* operator->() const noexcept { return value_; }
  // True if the kernel promised to wipe the value in a child.
  bool wiped_on_fork() const noexcept { return wiped_on_fork_; }

 private:
  std::atomic<int>* value_;
  bool wiped_on_fork_;
};

}  // namespace wherry
