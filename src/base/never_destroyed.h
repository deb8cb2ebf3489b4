// A static object that outlives every thread.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace wherry {

// Holds a T that is never destroyed: threads may outlive main, and what is static ends with main. For a function's own
// `static NeverDestroyed<T> name;`, whose construction at the first call is thread-safe.
template <class T>
class NeverDestroyed {
 public:
  template <class... Args>
  explicit NeverDestroyed(Args&&... args) : object_(new (storage_) T(std::forward<Args>(args)...)) {}
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;

  T& operator*() noexcept { return *object_; }
  const T& operator*() const noexcept { return *object_; }
  T* operator->() noexcept { return object_; }
  const T* operator->() const noexcept { return object_; }

 private:
  alignas(T) std::byte storage_[sizeof(T)];
  T* object_;
};

}  // namespace wherry
