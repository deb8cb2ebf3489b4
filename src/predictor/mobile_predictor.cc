// CreatePaddlePredictor(MobileConfig): runs what was optimised before.
#include "base/check.h"
#include "base/mapped_file.h"
#include "base/stopwatch.h"
#include "format/wry.h"
#include "kernel/plugin.h"
#include "predictor/light_predictor.h"
#include "predictor/profile.h"

namespace wherry {

std::shared_ptr<PaddlePredictor> CreatePaddlePredictor(const MobileConfig& config) {
  const Stopwatch import_time;
  FileBytes bytes;
  if (config.data() != nullptr) {
    bytes = FileBytes{"model in memory", {static_cast<const std::byte*>(config.data()), config.size()}, nullptr};
  } else {
    WHERRY_ENFORCE(!config.model_path().empty(), kInvalidArgument, "the config names no model");
    bytes = FileBytes(config.model_path(), MappedFile::Open(config.model_path()));
  }
  auto origin = std::make_shared<PredictorOrigin>();
  LoadDefaultPlugins();  // whose operators the model may have
  Program program = LoadWry(bytes);
  origin->times.import_ms = import_time.Milliseconds();
  std::vector<ProfileEvent> load = {LoadEvent("import", 0, origin->times.import_ms)};
  std::shared_ptr<const Executable> executable = Executable::Build(std::move(program));
  const double built = import_time.Milliseconds();
  load.push_back(LoadEvent("bind kernels", origin->times.import_ms, built - origin->times.import_ms));
  return std::make_shared<LightPredictor>(std::move(executable), std::move(origin), config, std::move(load));
}

}  // namespace wherry
