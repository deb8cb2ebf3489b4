#include "pass/optimizer.h"

#include "base/check.h"
#include "base/stopwatch.h"
#include "pass/pass_manager.h"

namespace wherry {

namespace {

size_t CountStmts(mir::SSAGraph& graph) {
  size_t count = 0;
  graph.ForEachGraph([&count](mir::SSAGraph& each) { count += each.stmt_count(); });
  return count;
}

// Applies a pass to the child graphs of `graph`, innermost first, then to itself. A child is owned by its statement and
// passes take the owning pointer, so children are reached through the statements.
void ApplyToAll(mir::Pass* pass, const std::unique_ptr<mir::SSAGraph>& graph) {
  for (const mir::Node* node : graph->StmtsWithBlocks()) {
    for (const auto& block : node->AsStmt().blocks()) ApplyToAll(pass, block);
  }
  pass->Apply(graph);
}

// Applies the pass and sees that it kept its promise; returns whether it changed anything. A pass that promises nothing
// about the graph is asked only whether it edited it, which costs nothing: fingerprints look at every node. (`exact`:
// one that edited it back changed nothing.)
bool ApplyAndCheck(mir::Pass* object, const std::unique_ptr<mir::SSAGraph>& graph, bool exact) {
  const mir::Pass& pass = *object;
  if (pass.kind() == mir::Pass::Kind::kProgramWise && !exact) {
    const uint64_t edits = graph->edits();
    ApplyToAll(object, graph);
    return graph->edits() != edits;
  }
  const mir::SSAGraph::Fingerprint before = graph->ComputeFingerprint();
  ApplyToAll(object, graph);
  const mir::SSAGraph::Fingerprint after = graph->ComputeFingerprint();
  if (pass.kind() == mir::Pass::Kind::kDebug) {
    WHERRY_CHECK(before == after, "pass ", pass.name(), " is a DebugPass and changed the graph");
  }
  if (pass.kind() == mir::Pass::Kind::kStmtWise) {
    WHERRY_CHECK(before.topology == after.topology, "pass ", pass.name(),
                 " is a StmtPass and changed the graph's structure");
  }
  return !(before == after);
}

}  // namespace

Program Optimizer::Run(Program&& program, const std::vector<Place>& valid_places,
                       const KernelPickFactor& kernel_pick_factor, const std::vector<std::string>& passes) {
  report_ = OptimizeReport();
  const Stopwatch time;
  const std::vector<Place> places = valid_places.empty() ? std::vector<Place>{Place(Target::kNative)} : valid_places;
  const bool none = passes.size() == 1 && passes[0] == "none";
  const std::vector<std::string>& names = passes.empty() ? DefaultPipeline() : passes;
  std::vector<std::unique_ptr<mir::Pass>> objects;
  if (!none) {
    for (const std::string& name : names) objects.push_back(PassManager::Global().Create(name));
  }
  PassContext context = options_.context;
  context.pick_factor = kernel_pick_factor;

  std::unique_ptr<mir::SSAGraph> graph = mir::SSAGraph::FromProgram(std::move(program), places);
  size_t stmts = CountStmts(*graph);
  double watched_ms = 0;  // what after_pass took is not the optimiser's time
  for (size_t i = 0; i < objects.size(); ++i) {
    mir::Pass& pass = *objects[i];
    PassReport& report = report_.passes.emplace_back();
    report.name = pass.name();
    report.skipped_because = SkipReason(pass, places);
    report.stmts_before = report.stmts_after = stmts;
    if (report.skipped_because.empty()) {
      const Stopwatch pass_time;
      report.start_ms = time.Milliseconds() - watched_ms;
      pass.set_context(&context);
      pass.set_report(&report);
      const size_t searches = graph->shared().searches;
      const size_t replaced = graph->shared().replaced;
      try {
        report.changed = ApplyAndCheck(&pass, graph, options_.verify);
        if (options_.verify) graph->Verify();
      } catch (Error& error) {
        error.AddContext(StrCat("running pass ", pass.name()));
        throw;
      }
      stmts = report.stmts_after = CountStmts(*graph);
      report.ran = true;
      if (graph->shared().searches != searches) report.matches = static_cast<int>(graph->shared().replaced - replaced);
      report.milliseconds = pass_time.Milliseconds();
      if (options_.after_pass) {
        const Stopwatch watching;
        options_.after_pass(pass.name(), static_cast<int>(i), *graph);
        watched_ms += watching.Milliseconds();
      }
    }
    if (pass.name() == options_.stop_after) break;
  }
  Program result = mir::SSAGraph::ToProgram(std::move(graph));
  result.optimized = !none;
  report_.milliseconds = time.Milliseconds() - watched_ms;
  return result;
}

}  // namespace wherry
