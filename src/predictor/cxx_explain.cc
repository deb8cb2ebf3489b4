// ExplainModel: one load with everything recorded, and a plan for one set of shapes.
#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/stopwatch.h"
#include "base/strings.h"
#include "predictor/cxx_explain_changes.h"
#include "predictor/cxx_explain_diagram.h"
#include "predictor/cxx_explain_kernels.h"
#include "predictor/cxx_explain_memory.h"
#include "predictor/cxx_load.h"
#include "predictor/light_predictor.h"
#include "predictor/profile.h"
#include "predictor/random_inputs.h"
#include "runtime/session.h"
#include "wherry/explain.h"
#include "wherry/predictor.h"

namespace wherry {

namespace {

constexpr double kMeasureMilliseconds = 1000;
constexpr size_t kMostRuns = 50;

int64_t WeightBytes(const Program& program) {
  size_t bytes = 0;
  for (const auto& [name, tensor] : program.weights) bytes += tensor.nbytes();
  return static_cast<int64_t>(bytes);
}

double Median(std::vector<double>* values) {
  std::sort(values->begin(), values->end());
  return (*values)[values->size() / 2];
}

class Explainer {
 public:
  Explainer(const CxxConfig& config, const ExplainOptions& options)
      : config_(config), options_(options), pool_(MakePool(config.threads())), picking_pool_(PickingPool(config)) {
    out_.threads = pool_ == nullptr ? 1 : pool_->threads();
  }

  ModelExplanation Run() {
    LoadedModel loaded = Load();
    DescribeLoad(loaded);
    Program& program = loaded.program;
    out_.after = MakeDiagrams(program);
    out_.weight_bytes = WeightBytes(program);
    ExplainOps(program);
    std::map<std::string, Tensor> inputs;
    try {
      inputs = Inputs(program);
    } catch (const Error& error) {
      if (options_.measure) throw;  // who asks for times is not served by a page without
      out_.memory.unavailable = error.what();
    }
    const std::shared_ptr<const Executable> executable = Executable::Build(std::move(program));
    DescribeKernels(*executable);
    if (out_.memory.unavailable.empty()) PlanAndMeasure(executable, inputs);
    for (const OpExplanation& op : out_.ops) {
      // What did not run in measuring does not count, whatever it would take.
      if (options_.measure && op.block > 0 && out_.block_memory.count(op.block) == 0) continue;
      out_.estimated_us += std::max(op.estimated_us, 0.0);
    }
    out_.packed_bytes = static_cast<int64_t>(executable->packs().bytes());
    return std::move(out_);
  }

 private:
  LoadedModel Load() {
    LoadObserver observer;
    observer.imported = [this](const Program& program) {
      out_.before = MakeDiagrams(program);
      out_.weight_bytes_before = WeightBytes(program);
      texts_ = TextsOf(program);
    };
    observer.after_pass = [this](const std::string&, int, const mir::SSAGraph& graph) {
      OpTexts texts = TextsOf(graph.Snapshot());
      changes_.push_back(Differences(texts_, texts));
      texts_ = std::move(texts);
      if (picked_.empty() && HasPicks(graph)) picked_ = ExplainKernels(graph, picking_pool_);
    };
    return LoadModel(config_, observer);
  }

  void DescribeLoad(const LoadedModel& loaded) {
    out_.model = config_.model_path();
    out_.version = PaddlePredictor::GetVersion();
    out_.metadata = loaded.program.metadata;
    std::vector<Place> places = config_.valid_places();
    if (places.empty()) places.emplace_back(Target::kNative);
    for (const Place& place : places) out_.places += (out_.places.empty() ? "" : ", ") + place.DebugString();
    out_.import_ms = loaded.import_ms;
    out_.optimize_ms = loaded.report.milliseconds;
    size_t ran = 0;
    for (const PassReport& report : loaded.report.passes) {
      PassExplanation& pass = out_.passes.emplace_back();
      pass.name = report.name;
      pass.ran = report.ran;
      pass.skipped_because = report.skipped_because;
      pass.milliseconds = report.milliseconds;
      pass.matches = report.matches;
      pass.ops_before = static_cast<int64_t>(report.stmts_before);
      pass.ops_after = static_cast<int64_t>(report.stmts_after);
      pass.changed = report.changed;
      pass.notes = report.notes;
      if (report.ran) pass.changes = std::move(changes_.at(ran++));
    }
  }

  // Those of the final program, as they were when their kernels were picked.
  void ExplainOps(const Program& program) {
    std::map<std::pair<int, std::string>, std::string> inserted_by;
    for (const PassExplanation& pass : out_.passes) {
      for (const OpChange& change : pass.changes) {
        if (change.before.empty()) inserted_by[{change.block, change.name}] = pass.name;
      }
    }
    std::map<std::pair<int, std::string>, OpExplanation*> at_pick;
    for (OpExplanation& op : picked_) {
      if (!op.results.empty()) at_pick[{op.block, op.results[0]}] = &op;
    }
    out_.ops = ExplainKernels(*mir::SSAGraph::FromProgram(program.Clone(), config_.valid_places()), picking_pool_);
    for (OpExplanation& op : out_.ops) {
      if (op.results.empty()) continue;
      const std::pair<int, std::string> key{op.block, op.results[0]};
      const auto before = at_pick.find(key);
      if (before != at_pick.end() && before->second->type == op.type) {
        op.candidates = std::move(before->second->candidates);
      } else if (!picked_.empty() && inserted_by.count(key) != 0) {
        op.inserted_by = inserted_by.at(key);
      }
    }
  }

  // Inputs by name, for the shapes asked for.
  std::map<std::string, Tensor> Inputs(const Program& program) const {
    std::map<std::string, Shape> shapes = options_.shapes;
    for (const auto& [name, tensor] : options_.inputs) shapes[name] = tensor.shape();
    std::map<std::string, Tensor> inputs = RandomInputsFor(program, shapes);
    for (const auto& [name, tensor] : options_.inputs) inputs[name] = tensor;
    return inputs;
  }

  // What will really run, also where nothing was picked or a pick cannot be honoured.
  void DescribeKernels(const Executable& executable) {
    std::map<std::pair<int, std::string>, OpExplanation*> by_result;
    for (OpExplanation& op : out_.ops) {
      if (!op.results.empty()) by_result[{op.block, op.results[0]}] = &op;
    }
    for (size_t b = 0; b < executable.program().blocks.size(); ++b) {
      const CompiledBlock& block = executable.block(static_cast<int>(b));
      for (size_t i = 0; i < block.instructions.size(); ++i) {
        const Instruction& instruction = block.instructions[i];
        if (instruction.kernel == nullptr) continue;
        DiagramOp& drawn = out_.after[b].ops[i];
        drawn.kernel = instruction.kernel->id();
        drawn.key = instruction.kernel->key.DebugString();
        drawn.reason = instruction.reason;
        const auto op = by_result.find({static_cast<int>(b), instruction.desc->FirstResult()});
        if (op == by_result.end()) continue;
        op->second->reason = instruction.reason;
        for (CandidateExplanation& candidate : op->second->candidates)
          candidate.picked = candidate.kernel == drawn.kernel && candidate.key == drawn.key;
        op_of_[&instruction] = op->second;
      }
    }
  }

  void PlanAndMeasure(const std::shared_ptr<const Executable>& executable,
                      const std::map<std::string, Tensor>& inputs) {
    Session session(executable, pool_, config_.memory_limit());
    std::vector<DenseTensor> tensors;
    std::vector<TensorMeta> metas;
    for (const std::string& name : executable->program().main().inputs) {
      tensors.push_back(*inputs.at(name).impl());
      metas.push_back(tensors.back().meta());
    }
    try {
      session.Prepare(metas);
      out_.memory = ExplainMemory(*session.plan());
      for (const PlannedCall& call : session.plan()->calls) DescribeCall(*session.plan(), call);
      if (options_.measure) Measure(&session, tensors);
      for (int block = 1; block < static_cast<int>(executable->program().blocks.size()); ++block) {
        const ShapePlan* const plan = session.plan(block);
        if (plan == nullptr) continue;
        out_.block_memory[block] = ExplainMemory(*plan);
        for (const PlannedCall& call : plan->calls) DescribeCall(*plan, call);
      }
    } catch (const Error& error) {
      if (options_.measure) throw;
      out_.memory = MemoryExplanation();
      out_.memory.unavailable = error.what();
    }
    size_t i = 0;
    for (const std::string& name : executable->program().main().inputs)
      out_.memory.inputs[name] = metas[i++].DebugString();
  }

  void DescribeCall(const ShapePlan& plan, const PlannedCall& call) {
    const auto op = op_of_.find(call.instruction);
    if (op == op_of_.end() || call.at_run_time) return;
    const std::vector<ProfileEvent> events = MakeProfile({RecordOf(plan, call, out_.threads)});
    op->second->flops = events[0].flops;
    op->second->bytes = events[0].bytes;
    op->second->family = events[0].family;
    op->second->estimated_us = events[0].estimated_us;
    if (call.context.has_plan()) op->second->algorithm = call.context.plan<KernelPlan>().algorithm;
  }

  void Measure(Session* session, const std::vector<DenseTensor>& tensors) {
    std::vector<const DenseTensor*> pointers;
    for (const DenseTensor& tensor : tensors) pointers.push_back(&tensor);
    std::vector<std::shared_ptr<DenseTensor>> outputs;
    session->Run(pointers, &outputs);  // the first touches its memory for the first time
    std::vector<double> runs;
    std::map<const Instruction*, std::vector<double>> times;
    const Stopwatch total;
    do {
      const Stopwatch run;
      session->set_profiling(true);
      session->Run(pointers, &outputs);
      runs.push_back(run.Milliseconds() * 1e3);
      for (const StepRecord& step : session->steps()) {
        if (step.depth == 0 && step.instruction != nullptr) times[step.instruction].push_back(step.duration_us);
      }
    } while (total.Milliseconds() < kMeasureMilliseconds && runs.size() < kMostRuns);
    out_.measured_us = Median(&runs);
    for (auto& [instruction, values] : times) {
      const auto op = op_of_.find(instruction);
      if (op != op_of_.end()) op->second->measured_us = Median(&values);
    }
    // Once more, and before each op its candidates, on what its arguments are then.
    session->set_call_observer([this](const ShapePlan& plan, const PlannedCall& call) {
      const auto op = op_of_.find(call.instruction);
      if (op != op_of_.end() && timed_.insert(call.instruction).second)
        MeasureCandidates(plan, call, op->second, pool_);
    });
    session->Run(pointers, &outputs);
    session->set_call_observer(nullptr);
  }

  const CxxConfig& config_;
  const ExplainOptions& options_;
  const std::shared_ptr<ThreadPool> pool_;  // for runs
  const std::shared_ptr<ThreadPool> picking_pool_;
  ModelExplanation out_;
  OpTexts texts_;
  std::vector<std::vector<OpChange>> changes_;          // of the passes that ran
  std::vector<OpExplanation> picked_;                   // when kernels had just been picked
  std::map<const Instruction*, OpExplanation*> op_of_;  // into out_.ops
  std::set<const Instruction*> timed_;                  // those whose candidates were measured
};

}  // namespace

ModelExplanation ExplainModel(const CxxConfig& config, const ExplainOptions& options) {
  return Explainer(config, options).Run();
}

}  // namespace wherry
