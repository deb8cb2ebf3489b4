// Pass: one way of making a program better. Derive from the kind that says what it may change; the driver checks that
// it kept to it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "core/dim.h"
#include "ir/ssa_graph.h"
#include "kernel/kernel_timer.h"
#include "pass/report.h"
#include "wherry/types.h"

namespace wherry {

// The order in which the static pick compares candidates; criteria not named come last in this order.
class KernelPickFactor {
 public:
  enum class Criterion : uint8_t { kTarget, kPrecision, kCost, kDataLayout, kPriority };
  KernelPickFactor() = default;
  // Paddle-Lite's setters: each puts its criterion behind those already considered.
  KernelPickFactor& ConsiderTarget() { return Consider(Criterion::kTarget); }
  KernelPickFactor& ConsiderPrecision() { return Consider(Criterion::kPrecision); }
  KernelPickFactor& ConsiderDataLayout() { return Consider(Criterion::kDataLayout); }
  // All five, the ones considered first.
  std::vector<Criterion> order() const;

 private:
  KernelPickFactor& Consider(Criterion criterion);
  std::vector<Criterion> considered_;
};

// What passes of one optimiser run share.
struct PassContext {
  KernelPickFactor pick_factor;
  std::shared_ptr<ThreadPool> pool;  // for folding and measuring; null: the calling thread
  // A constant that is larger than what it is made from is folded up to this size (a mask for 2,048 positions), and as
  // long as what a pass holds beside what it was made from is not more than the model's weights and this.
  size_t max_folded_bytes = size_t{16} << 20U;
  size_t max_folded_growth = size_t{64} << 20U;
  // What folding may take by the cost model's estimates for one thread, beside 20 ms for each MB of weights.
  double max_folding_us = 5e6;
  // For measured_kernel_pick_pass: what measures, and numbers for the symbols of dimensions. Null: nothing is measured.
  std::shared_ptr<KernelTimer> timer;
  SymbolValues symbols;
  std::map<std::string, std::string> options;  // pass-specific, by "pass.option"
};

namespace mir {

// Lives for one optimiser run; Apply may be called for several graphs (child graphs first). Not thread-safe.
class Pass {
 public:
  enum class Kind : uint8_t { kProgramWise, kStmtWise, kDebug };

  explicit Pass(Kind kind) : kind_(kind) {}
  virtual ~Pass() = default;
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // Changes the graph. Errors leave the graph unusable; the driver adds the pass's name.
  virtual void Apply(const std::unique_ptr<SSAGraph>& graph) = 0;

  Kind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  void set_name(const std::string& name) { name_ = name; }
  const std::set<Target>& bound_targets() const { return bound_targets_; }
  const std::set<Target>& excluded_targets() const { return excluded_targets_; }
  const std::map<std::string, std::set<Place>>& bound_kernels() const { return bound_kernels_; }
  void BindTargets(const std::set<Target>& targets) { bound_targets_.insert(targets.begin(), targets.end()); }
  void ExcludeTargets(const std::set<Target>& targets) { excluded_targets_.insert(targets.begin(), targets.end()); }
  void BindKernels(const std::map<std::string, std::set<Place>>& kernels) { bound_kernels_ = kernels; }

  void set_context(const PassContext* context) { context_ = context; }
  void set_report(PassReport* report) { report_ = report; }

 protected:
  // Set by the driver before Apply; a default context when run by hand.
  const PassContext& context() const;
  // A line for the report: "conv2d_3: fused bias and relu". No effect when nobody collects.
  void Note(std::string line) const {
    if (report_ != nullptr) report_->notes.push_back(std::move(line));
  }
  // A line that a summary of the whole run should have too.
  void NoteHeadline(const std::string& line) const {
    Note(line);
    if (report_ != nullptr) report_->headlines.push_back(line);
  }

  const Kind kind_;
  std::string name_;
  std::set<Target> bound_targets_;  // empty: any
  std::set<Target> excluded_targets_;
  std::map<std::string, std::set<Place>> bound_kernels_;

 private:
  const PassContext* context_ = nullptr;
  PassReport* report_ = nullptr;
};

class ProgramPass : public Pass {
 public:
  ProgramPass() : Pass(Kind::kProgramWise) {}
};
// May change attributes, types and side tables, not the structure.
class StmtPass : public Pass {
 public:
  StmtPass() : Pass(Kind::kStmtWise) {}
};
// May change nothing.
class DebugPass : public Pass {
 public:
  DebugPass() : Pass(Kind::kDebug) {}
};

}  // namespace mir
}  // namespace wherry
