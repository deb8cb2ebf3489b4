#include "pass/pass_manager.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/check.h"
#include "base/strings.h"
#include "kernel/kernel_registry.h"
#include "kernel/plugin.h"

namespace wherry {

namespace {

// A pass that was added as an object: uses of it are serialised, each through a stand-in that lives for one optimiser
// run.
struct SharedPass {
  std::unique_ptr<mir::Pass> pass;
  std::mutex mutex;
};

class PassStandIn : public mir::Pass {
 public:
  explicit PassStandIn(std::shared_ptr<SharedPass> shared) : Pass(shared->pass->kind()), shared_(std::move(shared)) {
    bound_targets_ = shared_->pass->bound_targets();
    excluded_targets_ = shared_->pass->excluded_targets();
    bound_kernels_ = shared_->pass->bound_kernels();
  }
  void Apply(const std::unique_ptr<mir::SSAGraph>& graph) override {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->pass->set_context(&context());
    struct Reset {
      mir::Pass* pass;
      ~Reset() { pass->set_context(nullptr); }
    } reset{shared_->pass.get()};
    shared_->pass->Apply(graph);
  }

 private:
  std::shared_ptr<SharedPass> shared_;
};

}  // namespace

struct PassManager::Impl {
  mutable std::mutex mutex;
  std::map<std::string, const PassDescriptor*> descriptors;
  std::map<std::string, std::shared_ptr<SharedPass>> objects;
  std::vector<std::shared_ptr<SharedPass>> objects_in_order;

  bool Taken(const std::string& name) const { return descriptors.count(name) != 0 || objects.count(name) != 0; }
  void AddLocked(const PassDescriptor* descriptor) {
    WHERRY_ENFORCE(!Taken(descriptor->name), kAlreadyExists, "a pass named '", descriptor->name,
                   "' is already registered");
    descriptors[descriptor->name] = descriptor;
  }
  void MergePending() {
    if (!HasPending<PassDescriptor>()) return;
    // Taken under the lock: who finds nothing pending waits for it until what was taken is added.
    const std::lock_guard<std::mutex> lock(mutex);
    TakePending<PassDescriptor>(
        [](const PassDescriptor* descriptor, void* impl) { static_cast<Impl*>(impl)->AddLocked(descriptor); }, this);
  }
};

PassManager::PassManager() : impl_(new Impl) {
  for (const PassDescriptor* descriptor : BuiltinPasses()) impl_->AddLocked(descriptor);
}

PassManager& PassManager::Global() {
  LoadDefaultPlugins();
  static PassManager manager;  // its Impl is never destroyed: passes may be created while the process ends
  manager.impl_->MergePending();
  return manager;
}

std::unique_ptr<mir::Pass> PassManager::Create(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  if (const auto object = impl_->objects.find(name); object != impl_->objects.end()) {
    auto stand_in = std::make_unique<PassStandIn>(object->second);
    stand_in->set_name(name);
    return stand_in;
  }
  const auto it = impl_->descriptors.find(name);
  if (it == impl_->descriptors.end()) {
    std::vector<std::string> names;
    for (const auto& [known, descriptor] : impl_->descriptors) names.push_back(known);
    for (const auto& [known, object] : impl_->objects) names.push_back(known);
    const std::string whole = name.ends_with("_pass") ? name : name + "_pass";
    Throw(ErrorCode::kNotFound, "there is no pass named ", Quote(name), DidYouMean(whole, names));
  }
  const PassDescriptor& descriptor = *it->second;
  std::unique_ptr<mir::Pass> pass(descriptor.create());
  pass->set_name(name);
  pass->BindTargets({descriptor.targets.begin(), descriptor.targets.begin() + descriptor.target_count});
  pass->ExcludeTargets({descriptor.excluded.begin(), descriptor.excluded.begin() + descriptor.excluded_count});
  std::map<std::string, std::set<Place>> kernels;
  for (size_t i = 0; i < descriptor.kernel_count; ++i)
    kernels[descriptor.kernels[i].kernel].insert(descriptor.kernels[i].place);
  pass->BindKernels(kernels);
  return pass;
}

bool PassManager::Has(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->Taken(name);
}

std::vector<std::string> PassManager::Names() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, descriptor] : impl_->descriptors) names.push_back(name);
  for (const auto& [name, object] : impl_->objects) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

void PassManager::Add(const PassDescriptor* descriptor) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->AddLocked(descriptor);
}

bool PassManager::AddNewPass(const std::string& name, mir::Pass* pass) {
  auto shared = std::make_shared<SharedPass>();
  shared->pass.reset(pass);
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  if (impl_->Taken(name)) return false;
  pass->set_name(name);
  impl_->objects[name] = shared;
  impl_->objects_in_order.push_back(std::move(shared));
  return true;
}

void PassManager::Run(const std::unique_ptr<mir::SSAGraph>& graph) {
  std::vector<std::shared_ptr<SharedPass>> passes;
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    passes = impl_->objects_in_order;
  }
  for (const std::shared_ptr<SharedPass>& shared : passes) PassStandIn(shared).Apply(graph);
}

namespace {

std::string TargetList(const std::set<Target>& targets) {
  std::vector<std::string> names;
  for (Target target : targets) names.emplace_back(ToString(target));
  return StrCat("{", Join(names, ", "), "}");
}

// Host and the machine's own target are the same thing to a pass.
bool Meets(Target bound, Target valid) {
  return bound == Target::kAny || valid == Target::kAny || bound == valid ||
         (bound == Target::kHost && valid == Target::kNative) || (bound == Target::kNative && valid == Target::kHost);
}

bool Registered(const std::string& kernel, const Place& place) {
  for (const Kernel* candidate : KernelFactory::Instance().Kernels(kernel)) {
    const auto fits = [](auto wanted, auto got, auto undefined, auto any) {
      return wanted == undefined || wanted == any || got == any || wanted == got;
    };
    if (fits(place.target(), candidate->key.target(), Target::kUndefined, Target::kAny) &&
        fits(place.precision(), candidate->key.precision(), DataType::kUndefined, DataType::kAny) &&
        fits(place.layout(), candidate->key.layout(), DataLayout::kUndefined, DataLayout::kAny)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string SkipReason(const mir::Pass& pass, const std::vector<Place>& valid_places) {
  std::vector<std::string> places;
  for (const Place& place : valid_places) places.push_back(place.DebugString());
  const std::string valid = StrCat("{", Join(places, ", "), "}");
  const auto any_valid = [&valid_places](Target target) {
    return std::any_of(valid_places.begin(), valid_places.end(),
                       [target](const Place& place) { return Meets(target, place.target()); });
  };
  if (!pass.bound_targets().empty() &&
      std::none_of(pass.bound_targets().begin(), pass.bound_targets().end(), any_valid)) {
    return StrCat("its targets ", TargetList(pass.bound_targets()), " do not meet the valid places ", valid);
  }
  if (std::any_of(pass.excluded_targets().begin(), pass.excluded_targets().end(), any_valid)) {
    return StrCat("it excludes ", TargetList(pass.excluded_targets()), ", which meet the valid places ", valid);
  }
  for (const auto& [kernel, bound] : pass.bound_kernels()) {
    for (const Place& place : bound) {
      if (!Registered(kernel, place)) {
        return StrCat("the kernel '", kernel, "' it is bound to is not registered",
                      place == Place() ? "" : " for " + place.DebugString());
      }
    }
  }
  return "";
}

}  // namespace wherry
