// Registering passes:
//
//   REGISTER_MIR_PASS(fc_fuse_pass, wherry::mir::FcFusePass)
//       .BindTargets({TARGET(kAny)})
//       .BindKernel("fc");
//
// In the tree this is constant data whose address a generated table takes; elsewhere the same line also puts itself on
// the pending list, and USE_MIR_PASS(fc_fuse_pass) in the program keeps it when it sits in a static library.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "op/pending.h"
#include "pass/pass.h"

namespace wherry {

struct PassDescriptor {
  static constexpr size_t kMaxEntries = 8;
  struct BoundKernel {
    const char* kernel = nullptr;
    Place place;  // undefined parts: any
  };

  const char* name = nullptr;
  mir::Pass* (*create)() = nullptr;  // a new pass, owned by the caller
  mir::Pass::Kind kind = mir::Pass::Kind::kProgramWise;
  std::array<Target, kMaxEntries> targets{};
  size_t target_count = 0;  // 0: any
  std::array<Target, kMaxEntries> excluded{};
  size_t excluded_count = 0;
  std::array<BoundKernel, kMaxEntries> kernels{};
  size_t kernel_count = 0;

  template <typename PassClass>
  static consteval PassDescriptor Make(const char* name) {
    static_assert(std::is_base_of_v<mir::Pass, PassClass>,
                  "REGISTER_MIR_PASS: the class must derive from ProgramPass, StmtPass or DebugPass");
    PassDescriptor descriptor;
    descriptor.name = name;
    descriptor.create = [] { return static_cast<mir::Pass*>(new PassClass()); };
    descriptor.kind = std::is_base_of_v<mir::DebugPass, PassClass>  ? mir::Pass::Kind::kDebug
                      : std::is_base_of_v<mir::StmtPass, PassClass> ? mir::Pass::Kind::kStmtWise
                                                                    : mir::Pass::Kind::kProgramWise;
    return descriptor;
  }
  consteval PassDescriptor BindTargets(std::initializer_list<Target> list) const {
    PassDescriptor copy = *this;
    for (Target target : list) copy.targets.at(copy.target_count++) = target;
    return copy;
  }
  consteval PassDescriptor ExcludeTargets(std::initializer_list<Target> list) const {
    PassDescriptor copy = *this;
    for (Target target : list) copy.excluded.at(copy.excluded_count++) = target;
    return copy;
  }
  consteval PassDescriptor BindKernel(const char* kernel, Place place = Place()) const {
    PassDescriptor copy = *this;
    copy.kernels.at(copy.kernel_count++) = BoundKernel{kernel, place};
    return copy;
  }
};

// Generated from the registrations under src/passes.
std::span<const PassDescriptor* const> BuiltinPasses();

}  // namespace wherry

// The class comes last so that it may contain commas.
#define REGISTER_MIR_PASS(name, ... /* class */) \
  WHERRY_DESCRIPTOR_(PassDescriptor, wherry_pass_##name) = ::wherry::PassDescriptor::Make<__VA_ARGS__>(#name)

// Keeps a pass that was registered out of the tree, in a static library.
#define USE_MIR_PASS(name) WHERRY_USE_(wherry_pass_##name)
