// CreatePaddlePredictor with a CxxConfig: import, optimise, build. In the full library only.
#include "format/wry.h"
#include "predictor/cxx_load.h"
#include "predictor/light_predictor.h"

namespace wherry {

namespace {

std::shared_ptr<PaddlePredictor> MakePredictor(LoadedModel model, const CxxConfig& config) {
  auto origin = std::make_shared<PredictorOrigin>();
  origin->times.import_ms = model.import_ms;
  origin->times.optimize_ms = model.report.milliseconds;
  origin->report = model.report.passes.empty() ? "" : model.report.DebugString();
  origin->save = [](const Program& program, const std::string& path) { SaveWry(program, path); };
  return std::make_shared<LightPredictor>(Executable::Build(std::move(model.program), config.watched_values()),
                                          std::move(origin), config);
}

}  // namespace

std::shared_ptr<PaddlePredictor> CreatePaddlePredictor(const CxxConfig& config) {
  return MakePredictor(LoadModel(config), config);
}

std::shared_ptr<PaddlePredictor> CreatePaddlePredictor(Program&& program, const CxxConfig& config) {
  return MakePredictor(LoadModel(config, nullptr, [&program] { return std::move(program); }), config);
}

}  // namespace wherry
