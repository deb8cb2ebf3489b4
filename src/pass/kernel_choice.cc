#include "pass/kernel_choice.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <limits>

#include "base/check.h"
#include "kernel/cost.h"
#include "kernel/kernel_registry.h"
#include "kernel/key_rule.h"
#include "kernel/layout_rule.h"

namespace wherry::mir {

namespace {

// A statement as a KernelProblem; the metas are copies, so that a candidate's layouts can be tried on them.
class StmtProblem {
 public:
  StmtProblem(const SSAGraph& graph, const Node* node, int threads, const AttributeMap& instead)
      : node_(node), threads_(threads) {
    const Node::Stmt& stmt = node->AsStmt();
    const OpSchema& schema = stmt.schema();
    bound_.resize(schema.args.size());
    for (size_t i = 0; i < schema.args.size(); ++i) {
      const NodeList& args = stmt.input_list(schema.args[i].name);
      for (const Node* arg : args) {
        metas_.push_back(arg->AsArg().type);
        bound_[i].tensors.push_back(&metas_.back());
        inputs_.push_back({i, arg, &metas_.back()});
      }
      if (stmt.HasAttr(schema.args[i].name)) bound_[i].attribute = &stmt.attrs().at(schema.args[i].name);
      const auto other = instead.find(schema.args[i].name);
      if (other != instead.end()) bound_[i].attribute = &other->second;
      const bool constant = !args.empty() && std::all_of(args.begin(), args.end(),
                                                         [](const Node* arg) { return arg->AsArg().is_weight; });
      if (constant) constants_.push_back(static_cast<int8_t>(i));
    }
    for (const OutputDef& output : schema.outputs) {
      for (const Node* result : stmt.output_list(output.name)) {
        metas_.push_back(result->AsArg().type);
        outputs_.push_back(&metas_.back());
        results_.push_back({&metas_.back(), graph.IsOutput(result)});
      }
    }
  }

  // Lays the metas out as the kernel would see them; returns what the conversions cost, those of the graph's results
  // too.
  double LayOutFor(const Kernel& kernel) {
    double cost = 0;
    for (const Input& input : inputs_) {
      const MetaTensor& now = input.arg->AsArg().type;
      input.meta->layout = WantedLayout(kernel, node_, input.index, now);
      if (input.meta->layout != now.layout && !input.arg->AsArg().is_weight)
        cost += EstimateConversionMicroseconds(now, threads_);
      const DataType wanted = kernel.key.dtype();
      const auto& casts = node_->AsStmt().schema().support_trans_dtype;
      const bool may_cast = std::find(casts.begin(), casts.end(), static_cast<int8_t>(input.index)) != casts.end();
      if (may_cast && wanted != DataType::kAny && wanted != now.dtype)
        cost += EstimateConversionMicroseconds(now, threads_);
    }
    for (const Result& result : results_) {
      result.meta->layout = ResultLayout(kernel, node_, *result.meta);
      // The user gets it plain.
      if (result.is_output && result.meta->layout != DataLayout::kNCHW)
        cost += EstimateConversionMicroseconds(*result.meta, threads_);
    }
    return cost;
  }

  // A value of unknown rank lies plain: nobody can tell before the run whether a conversion would move it.
  std::string LayoutRefusal(const Kernel& kernel) const {
    if (kernel.key.layout() != DataLayout::kNHWC) return "";
    const OpSchema& schema = node_->AsStmt().schema();
    const bool known =
        std::all_of(inputs_.begin(), inputs_.end(),
                    [&](const Input& input) {
                      return input.meta->rank_known || !schema.args[input.index].is_tensor() ||
                             !FollowsLayout(schema, input.index);
                    }) &&
        std::all_of(results_.begin(), results_.end(), [](const Result& result) { return result.meta->rank_known; });
    return known ? "" : "its layout needs values of known rank";
  }

  KernelProblem problem() const {
    return KernelProblem(node_->AsStmt().schema(), bound_, outputs_, constants_, threads_);
  }
  DataType key_type() const { return KeyDataType(node_->AsStmt().schema(), bound_); }

 private:
  struct Input {
    size_t index;
    const Node* arg;
    MetaTensor* meta;
  };
  struct Result {
    MetaTensor* meta;
    bool is_output;
  };

  const Node* node_;
  int threads_;
  std::deque<MetaTensor> metas_;
  std::vector<BoundArg> bound_;
  std::vector<Input> inputs_;
  std::vector<const MetaTensor*> outputs_;
  std::vector<Result> results_;
  std::vector<int8_t> constants_;
};

bool HasFixedLayout(const Kernel& kernel) {
  return kernel.key.layout() == DataLayout::kNCHW || kernel.key.layout() == DataLayout::kNHWC;
}

bool IsElementwise(const Node* stmt) {
  const OpSchema& schema = stmt->AsStmt().schema();
  return schema.Has(kTraitUnary) || schema.Has(kTraitBinary);
}

// As the arguments lie now: plain beside a value of unknown rank.
DataLayout ImagesNow(const Kernel& kernel, const Node* stmt) {
  if (HasFixedLayout(kernel)) return kernel.key.layout();
  const Node* leading = LeadingImage(stmt);
  return leading == nullptr ? DataLayout::kNCHW : leading->AsArg().type.layout;
}

bool SameTarget(Target kernel, Target place) {
  return kernel == Target::kAny || place == Target::kAny || kernel == place ||
         (IsHostMemory(kernel) && IsHostMemory(place));
}

// Where among the valid places the kernel stands, and whether its type is that place's.
void RankPlace(const std::vector<Place>& places, RankedKernel* ranked) {
  const KernelKey& key = ranked->kernel->key;
  const auto count = static_cast<int>(places.size());
  ranked->place_rank = 2 * count;
  ranked->precision_exact = false;
  for (int i = 0; i < count; ++i) {
    const Place& place = places[static_cast<size_t>(i)];
    if (!SameTarget(key.target(), place.target())) continue;
    const bool exact =
        key.dtype() == place.precision() || key.dtype() == DataType::kAny || place.precision() == DataType::kAny;
    const int rank = exact ? i : count + i;
    if (rank < ranked->place_rank) {
      ranked->place_rank = rank;
      ranked->precision_exact = exact;
    }
  }
}

// A kernel that no place names is admissible when there is no choice: integers and bools, and host kernels beside a
// device's.
std::string PlaceRefusal(const std::vector<Place>& places, const RankedKernel& ranked) {
  if (ranked.place_rank < 2 * static_cast<int>(places.size())) return "";
  if (IsHostMemory(ranked.kernel->key.target())) return "";
  return StrCat("its target ", ToString(ranked.kernel->key.target()), " is in no valid place");
}

bool Better(const RankedKernel& a, const RankedKernel& b, const std::vector<KernelPickFactor::Criterion>& order,
            const std::vector<Place>& places) {
  if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
  const auto layout_differs = [&places](const RankedKernel& ranked) {
    const DataLayout layout = ranked.kernel->key.layout();
    return layout != DataLayout::kAny && std::none_of(places.begin(), places.end(), [layout](const Place& place) {
             return place.layout() == layout;
           });
  };
  for (const KernelPickFactor::Criterion criterion : order) {
    switch (criterion) {
      case KernelPickFactor::Criterion::kTarget:
        if (a.place_rank != b.place_rank) return a.place_rank < b.place_rank;
        break;
      case KernelPickFactor::Criterion::kPrecision:
        if (a.precision_exact != b.precision_exact) return a.precision_exact;
        break;
      case KernelPickFactor::Criterion::kCost:
        if (a.cost_us() != b.cost_us()) return a.cost_us() < b.cost_us();
        break;
      case KernelPickFactor::Criterion::kDataLayout:
        if (layout_differs(a) != layout_differs(b)) return layout_differs(b);
        break;
      case KernelPickFactor::Criterion::kPriority:
        if (a.kernel->priority != b.kernel->priority) return a.kernel->priority > b.kernel->priority;
        break;
    }
  }
  return false;  // the registry's order
}

}  // namespace

const Node* LeadingImage(const Node* stmt) {
  const OpSchema& schema = stmt->AsStmt().schema();
  const Node* leading = nullptr;
  for (const ArgDef& arg : schema.args) {
    if (!arg.is_tensor()) continue;
    for (const Node* node : stmt->AsStmt().input_list(arg.name)) {
      const MetaTensor& type = node->AsArg().type;
      if (node->AsArg().is_weight) continue;
      if (!type.rank_known) return nullptr;
      if (leading == nullptr || type.rank() > leading->AsArg().type.rank()) leading = node;
    }
  }
  return leading;
}

DataLayout WantedLayout(const KernelAlternative& alternative, const Node* stmt, size_t arg_index,
                        const MetaTensor& type) {
  const OpSchema& schema = stmt->AsStmt().schema();
  if (!type.rank_known || type.rank() < 3 || !schema.args[arg_index].is_tensor()) return type.layout;
  if (!FollowsLayout(schema, arg_index)) return DataLayout::kNCHW;
  if (HasFixedLayout(*alternative.kernel)) return alternative.kernel->key.layout();
  return std::string_view(schema.name) == "layout" ? type.layout : alternative.images;
}

DataLayout ResultLayout(const KernelAlternative& alternative, const Node* stmt, const MetaTensor& result) {
  if (!result.rank_known || result.rank() < 3) return DataLayout::kNCHW;
  if (HasFixedLayout(*alternative.kernel)) return alternative.kernel->key.layout();
  if (!IsElementwise(stmt)) return result.layout;
  const Node* leading = LeadingImage(stmt);
  return leading != nullptr && leading->AsArg().type.rank() == result.rank() ? alternative.images : result.layout;
}

DataLayout WantedLayout(const Kernel& kernel, const Node* stmt, size_t arg_index, const MetaTensor& type) {
  return WantedLayout({&kernel, ImagesNow(kernel, stmt)}, stmt, arg_index, type);
}

DataLayout ResultLayout(const Kernel& kernel, const Node* stmt, const MetaTensor& result) {
  return ResultLayout({&kernel, ImagesNow(kernel, stmt)}, stmt, result);
}

std::vector<KernelAlternative> ListAlternatives(const SSAGraph& graph, const Node* stmt, const PassContext& context) {
  std::vector<KernelAlternative> alternatives;
  const std::vector<RankedKernel> ranking = RankKernels(graph, stmt, context, false);
  for (const RankedKernel& ranked : ranking) {
    if (ranked.place_rank != ranking[0].place_rank || ranked.precision_exact != ranking[0].precision_exact) continue;
    const DataLayout now = ImagesNow(*ranked.kernel, stmt);
    alternatives.push_back({ranked.kernel, now, ranked.kernel_us});
    const Node* leading = LeadingImage(stmt);
    if (HasFixedLayout(*ranked.kernel) || !IsElementwise(stmt) || leading == nullptr) continue;
    if (leading->AsArg().type.rank() < 3) continue;
    const DataLayout other = now == DataLayout::kNCHW ? DataLayout::kNHWC : DataLayout::kNCHW;
    alternatives.push_back({ranked.kernel, other, ranked.kernel_us});
  }
  return alternatives;
}

namespace {

// The kernels of a statement, and what each would cost. Whether one can run is asked apart: of a library's kernel that
// may take as long as all estimates together, and few are asked until one is found that can.
class Ranking {
 public:
  Ranking(const SSAGraph& graph, const Node* stmt, const PassContext& context, bool refused,
          const AttributeMap& instead = {})
      : problem_(graph, stmt, context.pool == nullptr ? 1 : context.pool->threads(), instead),
        places_(graph.valid_places()),
        order_(context.pick_factor.order()) {
    const DataType type = problem_.key_type();
    const auto kernels = KernelFactory::Instance().Kernels(stmt->AsStmt().schema().kernel);
    list_.reserve(kernels.size());
    for (const Kernel* kernel : kernels) {
      const bool other_type =
          kernel->key.dtype() != DataType::kAny && type != DataType::kUndefined && kernel->key.dtype() != type;
      if (other_type && !refused) continue;
      RankedKernel ranked;
      ranked.kernel = kernel;
      RankPlace(places_, &ranked);
      ranked.refusal = PlaceRefusal(places_, ranked);
      if (ranked.refusal.empty() && other_type) {
        // No stream here: most kernels of most ops end here.
        ranked.refusal = std::string("it is for ") + ToString(kernel->key.dtype()) + ", the op is of " + ToString(type);
      }
      if (ranked.refusal.empty()) ranked.refusal = problem_.LayoutRefusal(*kernel);
      if (ranked.refusal.empty()) {
        ranked.conversion_us = problem_.LayOutFor(*kernel);
        ranked.kernel_us = EstimateCost(*kernel, problem_.problem()).microseconds;
      }
      if (refused || ranked.refusal.empty()) list_.push_back(std::move(ranked));
    }
    Sort();
  }

  std::vector<RankedKernel>& list() { return list_; }

  void AskWhetherItRuns(RankedKernel* ranked) {
    if (!ranked->refusal.empty()) return;
    problem_.LayOutFor(*ranked->kernel);
    const Support support = ranked->kernel->Supports(problem_.problem());
    if (!support.ok) ranked->refusal = support.reason;
  }

  // Best first, what was refused last.
  void Sort() {
    std::stable_sort(list_.begin(), list_.end(),
                     [this](const RankedKernel& a, const RankedKernel& b) { return Better(a, b, order_, places_); });
  }

  // The place of the first from `begin` on that can run; how many there are if none can.
  size_t Best(size_t begin = 0) {
    for (size_t i = begin; i < list_.size(); ++i) {
      AskWhetherItRuns(&list_[i]);
      if (list_[i].refusal.empty()) return i;
    }
    return list_.size();
  }

 private:
  StmtProblem problem_;
  const std::vector<Place>& places_;
  const std::vector<KernelPickFactor::Criterion> order_;
  std::vector<RankedKernel> list_;
};

}  // namespace

std::vector<RankedKernel> RankKernels(const SSAGraph& graph, const Node* stmt, const PassContext& context,
                                      bool refused) {
  Ranking ranking(graph, stmt, context, refused);
  for (RankedKernel& ranked : ranking.list()) ranking.AskWhetherItRuns(&ranked);
  if (!refused) std::erase_if(ranking.list(), [](const RankedKernel& ranked) { return !ranked.refusal.empty(); });
  ranking.Sort();
  return std::move(ranking.list());
}

bool AssumesSizes(const Node* stmt) {
  const auto open = [](const Node* value) { return !value->AsArg().type.known(); };
  return std::any_of(stmt->inlinks().begin(), stmt->inlinks().end(), open) ||
         std::any_of(stmt->outlinks().begin(), stmt->outlinks().end(), open);
}

KernelChoice ChooseKernel(const SSAGraph& graph, const Node* stmt, const PassContext& context) {
  Ranking ranking(graph, stmt, context, false);
  const std::vector<RankedKernel>& list = ranking.list();
  const size_t best = ranking.Best();
  KernelChoice choice;
  if (best == list.size()) {
    for (const RankedKernel& ranked : RankKernels(graph, stmt, context)) {
      choice.reason += StrCat(choice.reason.empty() ? "" : "; ", ranked.kernel->id(), " (",
                              ranked.kernel->key.DebugString(), "): ", ranked.refusal);
    }
    if (choice.reason.empty()) {
      choice.reason = StrCat("no kernel of '", stmt->AsStmt().schema().kernel, "' is registered");
    }
    return choice;
  }
  choice.kernel = list[best].kernel;
  const auto cost = [](const RankedKernel& ranked) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f us", ranked.cost_us());
    return std::string(text.data());
  };
  choice.reason = "estimated " + cost(list[best]);
  const size_t next = ranking.Best(best + 1);
  if (next < list.size()) choice.reason += "; next " + list[next].kernel->id() + " " + cost(list[next]);
  return choice;
}

KernelPick PickOf(const KernelChoice& choice) {
  return {choice.kernel->provider, choice.kernel->variant, choice.kernel->key, choice.reason};
}

double CostWith(const SSAGraph& graph, const Node* stmt, const PassContext& context, const AttributeMap& instead) {
  Ranking ranking(graph, stmt, context, false, instead);
  const size_t best = ranking.Best();
  return best < ranking.list().size() ? ranking.list()[best].cost_us() : std::numeric_limits<double>::infinity();
}

}  // namespace wherry::mir
