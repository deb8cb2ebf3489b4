// Looking into a model: its program, its kernels, what cannot run.
#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "base/check.h"
#include "base/log.h"
#include "base/strings.h"
#include "ir/dot.h"
#include "ir/json.h"
#include "ir/svg.h"
#include "ir/text.h"
#include "pass/optimizer.h"
#include "predictor/cxx_explain_changes.h"
#include "predictor/cxx_explain_kernels.h"
#include "predictor/cxx_load.h"
#include "predictor/light_predictor.h"
#include "runtime/executable.h"
#include "wherry/explain.h"
#include "wherry/program.h"

namespace wherry {

namespace {

bool IsCalled(const OpExplanation& op, const std::string& name) {
  return op.name == name || std::find(op.results.begin(), op.results.end(), name) != op.results.end();
}

// "0.42 us", "1387270 us": three digits, but all of them before the point.
std::string Microseconds(double us) {
  const int digits = us < 10 ? 2 : us < 100 ? 1 : 0;
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f us", digits, std::min(us, 1e30));
  return text.data();
}

std::string ExplainText(const OpExplanation& op) {
  std::string text = op.text + "\n";
  for (const CandidateExplanation& candidate : op.candidates) {
    text += StrCat(candidate.picked ? "  -> " : "     ", candidate.kernel, " (", candidate.key, ", priority ",
                   candidate.priority, "): ");
    if (candidate.refusal.empty()) {
      text += StrCat("cost ", Microseconds(candidate.kernel_us + candidate.conversion_us), " (kernel ",
                     Microseconds(candidate.kernel_us), ", conversions ", Microseconds(candidate.conversion_us),
                     "), place rank ", candidate.place_rank);
      if (candidate.measured_us >= 0) text += StrCat(", kernel measured ", Microseconds(candidate.measured_us));
      text += "\n";
    } else {
      text += StrCat("refused: ", candidate.refusal, "\n");
    }
  }
  if (op.candidates.empty()) text += "     no kernel of it is registered\n";
  if (!op.reason.empty()) text += StrCat("  picked because: ", op.reason, "\n");
  return text;
}

// "conv2d(x: a) -> (out: b)": "conv2d".
std::string TypeOfText(const std::string& text) { return text.substr(0, text.find('(')); }

// What passes took of each type of op, as lines: "24 conv2d taken by quantize_fuse_pass, which put quantized_conv2d in
// their place". What a pass only moves (a fused op has the name of the last result) does not count.
class TakenOps {
 public:
  void Add(const std::string& pass, const std::vector<OpChange>& changes) {
    struct Balance {
      int lost = 0;
      std::set<std::string> instead;
    };
    std::map<std::string, Balance> types;
    for (const OpChange& change : changes) {
      const std::string before = TypeOfText(change.before);
      const std::string after = TypeOfText(change.after);
      if (before == after) continue;
      ++types[before].lost;
      --types[after].lost;
      if (!after.empty()) types[before].instead.insert(after);
    }
    for (const auto& [type, balance] : types) {
      if (type.empty() || balance.lost <= 0) continue;
      std::string& text = texts_[type];
      text += StrCat("  ", balance.lost, " ", type, " taken by ", pass);
      if (!balance.instead.empty()) {
        text += StrCat(", which put ", Join(balance.instead, " and "), " in their place");
      }
      text += "\n";
    }
  }
  std::string Text(const std::string& type) const {
    const auto text = texts_.find(type);
    return text == texts_.end() ? "" : text->second;
  }
  std::set<std::string> Types() const {
    std::set<std::string> types;
    for (const auto& [type, text] : texts_) types.insert(type);
    return types;
  }

 private:
  std::map<std::string, std::string> texts_;
};

// A load that remembers what --explain may be asked for.
struct Explained {
  std::vector<OpExplanation> ops;            // when kernels had been picked, else at the end
  std::map<std::string, std::string> fates;  // what happened to ops that are gone, by the name of their first result
  TakenOps taken;

  explicit Explained(const CxxConfig& config) {
    OpTexts texts;
    LoadObserver observer;
    const std::shared_ptr<ThreadPool> pool = PickingPool(config);
    observer.imported = [&texts](const Program& program) { texts = TextsOf(program); };
    observer.after_pass = [&](const std::string& pass, int, const mir::SSAGraph& graph) {
      OpTexts now = TextsOf(graph.Snapshot());
      const std::vector<OpChange> changes = Differences(texts, now);
      for (const OpChange& change : changes) {
        if (change.after.empty()) fates[change.name] = StrCat(change.before, "\n  removed by ", pass, "\n");
      }
      taken.Add(pass, changes);
      texts = std::move(now);
      if (ops.empty() && HasPicks(graph)) ops = ExplainKernels(graph, pool);
    };
    const Program program = LoadModel(config, observer).program;
    std::set<std::pair<int, std::vector<std::string>>> seen;
    for (const OpExplanation& op : ops) seen.emplace(op.block, op.results);
    for (OpExplanation& op :
         ExplainKernels(*mir::SSAGraph::FromProgram(program.Clone(), config.valid_places()), pool)) {
      if (seen.count({op.block, op.results}) == 0) ops.push_back(std::move(op));
    }
  }
};

// What ExplainOp takes, for one that asked for something else.
std::string WhatThereIs(const Explained& explained, const std::string& asked) {
  std::set<std::string> types = explained.taken.Types();
  std::vector<std::string> names;
  for (const OpExplanation& op : explained.ops) {
    types.insert(op.type);
    names.push_back(op.name);
    names.insert(names.end(), op.results.begin(), op.results.end());
  }
  for (const auto& [name, fate] : explained.fates) names.push_back(name);
  names.insert(names.end(), types.begin(), types.end());
  return StrCat("types are ", Join(types, ", "), DidYouMean(asked, names));
}

// So that what is damaged in a .wry is found: its weights are checked when they are read.
void ReadWeights(const Program& program) {
  for (const auto& [name, weight] : program.weights) {
    if (weight.nbytes() > 0 && !weight.buffer()->is_deferred()) weight.buffer()->data();
  }
  for (const auto& [name, forms] : program.packed) {
    for (const PackedWeight& packed : forms) packed.buffer->data();
  }
}

// Files seldom have the types of what lies between inputs and outputs.
Program LoadedWithTypes(const CxxConfig& config) {
  Program program = ImportFromConfig(config);
  if (program.optimized) return program;
  try {
    Program typed = Optimizer().Run(program.Clone(), config.valid_places(), {}, {"infer_shapes_pass"});
    typed.optimized = false;
    return typed;
  } catch (const Error& error) {
    WHERRY_LOG(kWarning) << "types are shown as the file has them: " << error.what();
    return program;
  }
}

}  // namespace

std::string ShowModel(const CxxConfig& config, const std::string& format) {
  static const std::vector<std::string> formats = {"text", "wir", "dot", "svg", "json"};
  WHERRY_ENFORCE(std::find(formats.begin(), formats.end(), format) != formats.end(), kInvalidArgument,
                 "there is no format ", Quote(format), "; formats are ", Join(formats, ", "));
  const bool as_loaded = config.passes() == std::vector<std::string>{"none"};
  const Program program = as_loaded ? LoadedWithTypes(config) : LoadModel(config).program;
  if (format == "dot") return ToDot(program);
  if (format == "svg") return ToSvg(program);
  if (format == "json") return ToJson(program);
  PrintOptions options;
  options.exact_weights = format == "wir";
  return PrintProgram(program, options);
}

std::string ExplainOp(const CxxConfig& config, const std::string& op, const ExplainOptions& options) {
  Explained explained(config);
  if (options.measure) explained.ops = ExplainModel(config, options).ops;
  std::string text;
  int64_t assumed_dim = 0;
  const auto explain = [&](const OpExplanation& each) {
    text += ExplainText(each);
    assumed_dim = std::max(assumed_dim, each.assumed_dim);
  };
  for (const OpExplanation& each : explained.ops) {
    if (IsCalled(each, op)) explain(each);
  }
  if (text.empty()) {
    const auto fate = explained.fates.find(op);
    if (fate != explained.fates.end()) return fate->second;
    // A type stands for all its ops, those that passes took too.
    for (const OpExplanation& each : explained.ops) {
      if (each.type == op) explain(each);
    }
    text += explained.taken.Text(op);
  }
  WHERRY_ENFORCE(!text.empty(), kNotFound, "the program has no op whose label, result or type is ", Quote(op), "; ",
                 WhatThereIs(explained, op));
  if (assumed_dim > 0) text += StrCat("costs are estimates that count a dynamic dimension as ", assumed_dim, "\n");
  return text;
}

std::vector<std::string> CheckModel(const CxxConfig& config) {
  std::vector<std::string> problems;
  try {
    LoadObserver observer;
    observer.import = [&] { return ImportFromConfig(config, &problems); };
    Program program = LoadModel(config, observer).program;
    ReadWeights(program);
    Executable::Build(std::move(program), {}, &problems);
  } catch (const Error& error) {
    // Of what was read in part, passes and inference may expect more.
    if (!problems.empty()) return problems;
    if (error.code() != ErrorCode::kUnsupported) throw;
    problems.emplace_back(error.what());
  }
  return problems;
}

}  // namespace wherry
