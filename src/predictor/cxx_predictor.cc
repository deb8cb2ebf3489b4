// CreatePaddlePredictor with a CxxConfig: import, optimise, build. In the full library only.
#include "base/stopwatch.h"
#include "format/wry.h"
#include "predictor/cxx_load.h"
#include "predictor/light_predictor.h"
#include "predictor/profile.h"

namespace wherry {

namespace {

std::shared_ptr<PaddlePredictor> MakePredictor(const CxxConfig& config, const LoadObserver& observer) {
  auto origin = std::make_shared<PredictorOrigin>();
  const Stopwatch time;
  LoadedModel model = LoadModel(config, observer);
  std::vector<ProfileEvent> load = {LoadEvent("import", 0, model.import_ms)};
  if (!model.report.passes.empty()) load.push_back(LoadEvent("optimize", model.import_ms, model.report.milliseconds));
  for (const PassReport& pass : model.report.passes) {
    if (pass.ran) load.push_back(LoadEvent(pass.name, model.import_ms + pass.start_ms, pass.milliseconds, 1));
  }
  origin->times.import_ms = model.import_ms;
  origin->times.optimize_ms = model.report.milliseconds;
  if (!model.report.passes.empty()) {
    const auto report = std::make_shared<const OptimizeReport>(std::move(model.report));
    origin->report = [report] { return report->DebugString(); };
    origin->summary = [report] { return report->Summary(); };
  }
  origin->save = [](const Program& program, const std::string& path) { SaveWry(program, path); };
  const double building = time.Milliseconds();
  origin->watched = std::move(model.watched);
  std::vector<std::string> watched;
  for (const auto& [name, value] : origin->watched) watched.push_back(value);
  std::shared_ptr<const Executable> executable = Executable::Build(std::move(model.program), watched);
  load.push_back(LoadEvent("bind kernels", building, time.Milliseconds() - building));
  return std::make_shared<LightPredictor>(std::move(executable), std::move(origin), config, std::move(load));
}

}  // namespace

std::shared_ptr<PaddlePredictor> CreatePaddlePredictor(const CxxConfig& config) { return MakePredictor(config, {}); }

std::shared_ptr<PaddlePredictor> CreatePaddlePredictor(Program&& program, const CxxConfig& config) {
  LoadObserver observer;
  observer.import = [&program] { return std::move(program); };
  return MakePredictor(config, observer);
}

}  // namespace wherry
