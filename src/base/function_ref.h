// A callable passed down a call, without ownership and without allocation.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace wherry {

template <class Signature>
class FunctionRef;

// Refers to a callable that must outlive the FunctionRef. So it is a parameter type: a lambda written at the call lives
// until the call returns. Never keep one as a member beyond that. Copying is two words. Calling is thread-safe if the
// callable is.
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
           // NOLINTNEXTLINE(google-explicit-constructor): call sites pass a lambda
           std::is_invocable_r_v<Result, Callable&, Args...>) FunctionRef(Callable&& callable)
  noexcept {
    using Bare = std::remove_reference_t<Callable>;
    if constexpr (std::is_function_v<Bare>) {
      target_.function = reinterpret_cast<void (*)()>(&callable);
      call_ = [](Storage target, Args... args) -> Result {
        return Invoke(*reinterpret_cast<Bare*>(target.function), std::forward<Args>(args)...);
      };
    } else {
      target_.object = const_cast<void*>(static_cast<const void*>(std::addressof(callable)));
      call_ = [](Storage target, Args... args) -> Result {
        return Invoke(*static_cast<Bare*>(target.object), std::forward<Args>(args)...);
      };
    }
  }

  Result operator()(Args... args) const { return call_(target_, std::forward<Args>(args)...); }

 private:
  template <class Bare>
  static Result Invoke(Bare& target, Args... args) {
    if constexpr (std::is_void_v<Result>) {
      target(std::forward<Args>(args)...);  // a result that is not wanted is dropped
    } else {
      return target(std::forward<Args>(args)...);
    }
  }

  // A function pointer does not fit a void* by the standard.
  union Storage {
    void* object;
    void (*function)();
  };

  Storage target_;
  Result (*call_)(Storage, Args...);
};

}  // namespace wherry
