// Looking into a model: its program, its kernels, what cannot run.
#include <algorithm>

#include "base/check.h"
#include "base/strings.h"
#include "ir/dot.h"
#include "ir/json.h"
#include "ir/text.h"
#include "kernel/kernel_registry.h"
#include "op/schema_registry.h"
#include "pass/kernel_choice.h"
#include "predictor/cxx_load.h"
#include "runtime/executable.h"
#include "wherry/program.h"

namespace wherry {

namespace {

// The configuration's passes up to the one after which kernels are picked, so that the graph is as the pick sees it.
std::vector<std::string> PassesBeforePick(const CxxConfig& config) {
  std::vector<std::string> passes = PassesOf(config);
  const auto pick = std::find(passes.begin(), passes.end(), "static_kernel_pick_pass");
  passes.erase(pick, passes.end());
  if (passes.empty()) passes.emplace_back("infer_shapes_pass");
  return passes;
}

bool IsCalled(const mir::Node* stmt, const std::string& name) {
  if (stmt->AsStmt().label() == name) return true;
  return std::any_of(stmt->outlinks().begin(), stmt->outlinks().end(),
                     [&name](const mir::Node* result) { return result->AsArg().name == name; });
}

std::string ExplainStmt(const mir::SSAGraph& graph, const mir::Node* stmt, const PassContext& context) {
  std::string text = stmt->AsStmt().desc().DebugString() + "\n";
  bool first = true;
  for (const mir::RankedKernel& ranked : mir::RankKernels(graph, stmt, context)) {
    const Kernel& kernel = *ranked.kernel;
    text += StrCat(first && ranked.refusal.empty() ? "  -> " : "     ", kernel.id(), " (", kernel.key.DebugString(),
                   ", priority ", kernel.priority, "): ");
    if (ranked.refusal.empty()) {
      text += StrCat("cost ", ranked.cost_us(), " us (kernel ", ranked.kernel_us, ", conversions ",
                     ranked.conversion_us, "), place rank ", ranked.place_rank, "\n");
    } else {
      text += StrCat("refused: ", ranked.refusal, "\n");
    }
    first = false;
  }
  return text;
}

}  // namespace

std::string ShowModel(const CxxConfig& config, const std::string& format) {
  static const std::vector<std::string> formats = {"text", "wir", "dot", "json"};
  WHERRY_ENFORCE(std::find(formats.begin(), formats.end(), format) != formats.end(), kInvalidArgument,
                 "there is no format ", Quote(format), "; formats are ", Join(formats, ", "));
  const Program program = LoadModel(config).program;
  if (format == "dot") return ToDot(program);
  if (format == "json") return ToJson(program);
  PrintOptions options;
  options.exact_weights = format == "wir";
  return PrintProgram(program, options);
}

std::string ExplainOp(const CxxConfig& config, const std::string& op) {
  CxxConfig before = config;
  before.set_passes_internal(PassesBeforePick(config));
  Program program = LoadModel(before).program;
  std::vector<Place> places = config.valid_places();
  if (places.empty()) places.emplace_back(NativeTarget());
  const auto graph = mir::SSAGraph::FromProgram(std::move(program), places);
  const PassContext context;
  std::string text;
  std::vector<std::string> names;
  // Forward, as the pick goes: each op sees the layouts that the picks before it give.
  for (mir::Node* stmt : graph->StmtTopologicalOrder()) {
    if (stmt->AsStmt().schema().RunByRuntime()) continue;
    if (IsCalled(stmt, op)) text += ExplainStmt(*graph, stmt, context);
    names.push_back(stmt->AsStmt().label().empty() ? stmt->outlinks()[0]->AsArg().name : stmt->AsStmt().label());
    const mir::KernelChoice choice = mir::ChooseKernel(*graph, stmt, context);
    if (choice.kernel == nullptr) continue;
    for (mir::Node* result : stmt->outlinks()) {
      result->AsArg().type.layout = mir::ResultLayout(*choice.kernel, stmt, result->AsArg().type);
    }
  }
  WHERRY_ENFORCE(!text.empty(), kNotFound, "the program has no op whose label or result is ", Quote(op),
                 DidYouMean(op, names));
  return text;
}

std::vector<std::string> CheckModel(const CxxConfig& config) {
  try {
    Executable::Build(LoadModel(config).program);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) throw;
    return {error.what()};
  }
  return {};
}

}  // namespace wherry
