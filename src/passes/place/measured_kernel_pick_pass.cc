// Picks kernels, and layouts with them, by what they take on this machine: each op's candidates are timed on made-up
// data of its shapes, conversions between layouts estimated, and the graph's choices made together (pass/assignment.h).
// Runs behind static_kernel_pick_pass, whose picks stay where nothing is faster by more than the noise.
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>

#include "base/strings.h"
#include "kernel/cost.h"
#include "pass/assignment.h"
#include "pass/kernel_choice.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// What another pick must be faster by.
constexpr double kNoise = 0.02;
// Plain loops of minutes are not run to find out that they are slow.
constexpr double kHopeless = 50;  // times the best estimate
constexpr double kShort = 2000;   // microseconds: always worth a try
constexpr double kLong = 1e6;     // microseconds: never, by the estimate
// Calls whose values do not fit into memory many times over are not made up.
constexpr size_t kMostBytes = size_t{1} << 30;

std::string Text(double microseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f us", microseconds);
  return text.data();
}

// A statement whose kernel is to be chosen.
struct Choice {
  Node* stmt;
  std::vector<KernelAlternative> alternatives;
  std::vector<double> microseconds;  // of the kernels alone
  bool measured = false;
  size_t before = 0;  // the alternative picked before
};

class MeasuredKernelPickPass : public StmtPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    if (context().timer == nullptr) {
      Note("nothing to measure with: no tuning was asked for");
      return;
    }
    const int measured = context().timer->measured();
    const int remembered = context().timer->remembered();
    std::vector<Choice> choices;
    std::map<const Node*, size_t> number;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      std::optional<Choice> choice = ChoiceFor(*graph, stmt);
      if (!choice) continue;
      number.emplace(stmt, choices.size());
      choices.push_back(std::move(*choice));
    }
    AssignmentProblem problem;
    std::vector<size_t> before;
    for (const Choice& choice : choices) {
      problem.AddNode(NodeCosts(*graph, choice, number));
      before.push_back(choice.before);
    }
    for (const Choice& choice : choices) AddEdges(choice, choices, number, &problem);
    std::vector<size_t> chosen = problem.Solve();
    if (problem.CostOf(chosen) >= problem.CostOf(before)) chosen = before;
    for (size_t i = 0; i < choices.size(); ++i) SetChoice(graph.get(), choices[i], chosen[i]);
    const auto timed =
        std::count_if(choices.begin(), choices.end(), [](const Choice& choice) { return choice.measured; });
    if (timed == 0 && graph->is_child()) return;  // a network may have dozens of such blocks
    NoteHeadline(StrCat(context().timer->measured() - measured, " times measured, ",
                        context().timer->remembered() - remembered, " remembered", Sizes(), "; kernels (", timed,
                        " measured, ", choices.size() - static_cast<size_t>(timed),
                        " estimated) and conversions (estimated): ", Text(problem.CostOf(chosen)),
                        ", as picked before ", Text(problem.CostOf(before))));
  }

 private:
  // ", with N = 1, H = 640": what symbols of dimensions stand for while measuring.
  std::string Sizes() const {
    std::string text;
    for (const auto& [symbol, value] : context().symbols)
      text += StrCat(text.empty() ? ", with " : ", ", symbol, " = ", value);
    return text;
  }

  // The type with numbers for its symbols; nullopt if some are not known.
  std::optional<MetaTensor> Numbers(const MetaTensor& type) const {
    if (!type.rank_known) return std::nullopt;
    MetaTensor known = type;
    for (Dim& dim : known.dims) {
      const std::optional<int64_t> number = Evaluate(dim, context().symbols);
      if (!number || *number < 0) return std::nullopt;
      dim = Dim(*number);
    }
    return known;
  }

  int threads() const { return context().pool == nullptr ? 1 : context().pool->threads(); }

  double HandOver(const Kernel* kernel) const { return HandOverMicroseconds(*kernel, threads()); }

  double Conversion(const MetaTensor& type) const {
    return EstimateConversionMicroseconds(Numbers(type).value_or(type), threads());
  }

  std::optional<Choice> ChoiceFor(const SSAGraph& graph, Node* stmt) const {
    const OpSchema& schema = stmt->AsStmt().schema();
    const KernelPick* pick = graph.Pick(stmt);
    if (schema.RunByRuntime() || std::string_view(schema.name) == "io_copy" || pick == nullptr) return std::nullopt;
    Choice choice{stmt, ListAlternatives(graph, stmt, context()), {}, false, 0};
    const DataLayout images = stmt->outlinks().empty() ? DataLayout::kNCHW : stmt->outlinks()[0]->AsArg().type.layout;
    bool found = false;
    for (size_t i = 0; i < choice.alternatives.size(); ++i) {
      const KernelAlternative& alternative = choice.alternatives[i];
      choice.microseconds.push_back(alternative.kernel_us);
      const Kernel& kernel = *alternative.kernel;
      if (kernel.provider != pick->provider || kernel.variant != pick->variant || kernel.key != pick->key) continue;
      if (found && alternative.images != images) continue;
      choice.before = i;
      found = true;
    }
    if (!found) return std::nullopt;
    Measure(graph, &choice);
    return choice;
  }

  void Measure(const SSAGraph& graph, Choice* choice) const {
    const auto& alternatives = choice->alternatives;
    const bool one_kernel = std::all_of(alternatives.begin(), alternatives.end(), [&](const KernelAlternative& each) {
      return each.kernel == alternatives[0].kernel;
    });
    if (one_kernel) return;
    std::optional<SampleCall> sample = SampleOf(graph, choice->stmt);
    if (!sample) return;
    const double best = *std::min_element(choice->microseconds.begin(), choice->microseconds.end());
    std::map<const Kernel*, double> times;  // with handing over
    const auto measure = [&](const auto& wanted) {
      std::vector<const Kernel*> kernels;
      for (const KernelAlternative& each : alternatives) {
        const bool hopeless = each.kernel_us > std::clamp(kHopeless * best, kShort, kLong);
        if (!hopeless && wanted(each) && times.emplace(each.kernel, kNever).second) kernels.push_back(each.kernel);
      }
      const auto measured = context().timer->Microseconds(kernels, &*sample);
      for (size_t i = 0; i < kernels.size(); ++i)
        times[kernels[i]] = measured[i].value_or(kNever) + HandOver(kernels[i]);
    };
    measure([&](const KernelAlternative& each) { return HandOver(each.kernel) == 0; });
    // Behind the others, whose times threads that go on spinning would spoil, and not if handing over alone is longer.
    double fastest = kNever;
    for (const auto& [kernel, time] : times) fastest = std::min(fastest, time);
    const Kernel* const before = alternatives[choice->before].kernel;
    measure([&](const KernelAlternative& each) {
      return HandOver(each.kernel) > 0 && (HandOver(each.kernel) < fastest || each.kernel == before);
    });
    // What was picked cannot be timed: estimates stay, which cannot be compared with times.
    if (times.count(before) == 0 || times[before] == kNever) return;
    for (size_t i = 0; i < alternatives.size(); ++i) {
      const auto time = times.find(alternatives[i].kernel);
      choice->microseconds[i] = time == times.end() ? kNever : time->second * (i == choice->before ? 1 : 1 + kNoise);
    }
    choice->measured = true;
  }

  std::optional<SampleCall> SampleOf(const SSAGraph& graph, const Node* node) const {
    const Node::Stmt& stmt = node->AsStmt();
    const OpSchema& schema = stmt.schema();
    SampleCall sample(schema);
    size_t bytes = 0;
    for (const Node* result : node->outlinks()) {
      const std::optional<MetaTensor> type = Numbers(result->AsArg().type);
      if (type) bytes += type->WithoutValues().tensor_meta().nbytes();
    }
    for (size_t i = 0; i < schema.args.size(); ++i) {
      for (const Node* arg : stmt.input_list(schema.args[i].name)) {
        if (const DenseTensor* weight = graph.TryWeight(arg)) {
          sample.AddWeight(i, weight);
          continue;
        }
        const std::optional<MetaTensor> type = Numbers(arg->AsArg().type);
        if (!type || SizeOf(type->dtype) == 0) return std::nullopt;
        sample.AddTensor(i, type->WithoutValues().tensor_meta());
        bytes += type->WithoutValues().tensor_meta().nbytes();
      }
      if (stmt.HasAttr(schema.args[i].name)) sample.SetAttribute(i, stmt.attrs().at(schema.args[i].name));
    }
    if (bytes > kMostBytes) return std::nullopt;
    for (const OutputDef& output : schema.outputs) sample.AddOutput(stmt.output_list(output.name).size());
    return sample;
  }

  // Kernels, and conversions of what lies plain: arguments from elsewhere, and the graph's results.
  std::vector<double> NodeCosts(const SSAGraph& graph, const Choice& choice,
                                const std::map<const Node*, size_t>& number) const {
    std::vector<double> costs = choice.microseconds;
    const OpSchema& schema = choice.stmt->AsStmt().schema();
    for (size_t i = 0; i < costs.size(); ++i) {
      const KernelAlternative& alternative = choice.alternatives[i];
      for (const Node* result : choice.stmt->outlinks()) {
        const MetaTensor& type = result->AsArg().type;
        if (graph.IsOutput(result) && ResultLayout(alternative, choice.stmt, type) != DataLayout::kNCHW)
          costs[i] += Conversion(type);
      }
      for (size_t arg = 0; arg < schema.args.size(); ++arg) {
        for (const Node* value : choice.stmt->AsStmt().input_list(schema.args[arg].name)) {
          if (value->AsArg().is_weight || number.count(value->producer()) != 0) continue;
          costs[i] += Misfit(alternative, choice.stmt, arg, value, value->AsArg().type.layout);
        }
      }
    }
    return costs;
  }

  // What it costs that an argument lies in a layout.
  double Misfit(const KernelAlternative& alternative, const Node* stmt, size_t arg, const Node* value,
                DataLayout layout) const {
    MetaTensor type = value->AsArg().type;
    type.layout = layout;
    const bool is_fixed = alternative.kernel->key.layout() != DataLayout::kAny;
    if (WantedLayout(alternative, stmt, arg, type) == layout) return 0;
    return !is_fixed && LeadingImage(stmt) == value ? kNever : Conversion(type);
  }

  void AddEdges(const Choice& choice, const std::vector<Choice>& choices, const std::map<const Node*, size_t>& number,
                AssignmentProblem* problem) const {
    const OpSchema& schema = choice.stmt->AsStmt().schema();
    for (size_t arg = 0; arg < schema.args.size(); ++arg) {
      for (const Node* value : choice.stmt->AsStmt().input_list(schema.args[arg].name)) {
        const auto producer = number.find(value->producer());
        if (value->AsArg().is_weight || producer == number.end()) continue;
        const Choice& maker = choices[producer->second];
        std::vector<double> costs;
        for (const KernelAlternative& made : maker.alternatives) {
          const DataLayout layout = ResultLayout(made, maker.stmt, value->AsArg().type);
          for (const KernelAlternative& wanted : choice.alternatives) {
            costs.push_back(Misfit(wanted, choice.stmt, arg, value, layout));
          }
        }
        problem->AddEdge(producer->second, number.at(choice.stmt), std::move(costs));
      }
    }
  }

  void SetChoice(SSAGraph* graph, const Choice& choice, size_t chosen) const {
    const KernelAlternative& alternative = choice.alternatives[chosen];
    for (Node* result : choice.stmt->outlinks()) {
      MetaTensor& type = result->AsArg().type;
      type.layout = ResultLayout(alternative, choice.stmt, type);
    }
    if (!choice.measured && chosen == choice.before) return;
    const auto time = [&](size_t i) {
      const double hand_over = HandOver(choice.alternatives[i].kernel);
      const double all = choice.microseconds[i] / (choice.measured && i != choice.before ? 1 + kNoise : 1);
      return Text(all) + (hand_over > 0 ? StrCat(", ", Text(hand_over), " of it for threads of its own") : "");
    };
    std::string reason = (choice.measured ? "measured " : "estimated ") + time(chosen);
    size_t next = choice.alternatives.size();
    for (size_t i = 0; i < choice.alternatives.size(); ++i) {
      if (choice.alternatives[i].kernel == alternative.kernel || choice.microseconds[i] == kNever) continue;
      if (next == choice.alternatives.size() || choice.microseconds[i] < choice.microseconds[next]) next = i;
    }
    if (next < choice.alternatives.size())
      reason += "; next " + choice.alternatives[next].kernel->id() + " " + time(next);
    const Kernel& kernel = *alternative.kernel;
    if (chosen != choice.before) {
      Note(StrCat(choice.stmt->AsStmt().op_type(), " ", choice.stmt->outlinks()[0]->AsArg().name, ": ", kernel.id(),
                  " (", ToString(alternative.images), ") instead of ", choice.alternatives[choice.before].kernel->id(),
                  ", ", reason));
    }
    graph->SetPick(choice.stmt, KernelPick{kernel.provider, kernel.variant, kernel.key, reason});
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(measured_kernel_pick_pass, wherry::mir::MeasuredKernelPickPass).BindTargets({TARGET(kAny)});
