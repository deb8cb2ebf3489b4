// CreatePaddlePredictor(MobileConfig): runs what was optimised before.
#include "base/check.h"
#include "base/mapped_file.h"
#include "format/wry.h"
#include "predictor/light_predictor.h"

namespace wherry {

std::shared_ptr<PaddlePredictor> CreatePaddlePredictor(const MobileConfig& config) {
  FileBytes bytes;
  if (config.data() != nullptr) {
    bytes = FileBytes{"model in memory", {static_cast<const std::byte*>(config.data()), config.size()}, nullptr};
  } else {
    WHERRY_ENFORCE(!config.model_path().empty(), kInvalidArgument, "the config names no model");
    auto file = MappedFile::Open(config.model_path());
    bytes = FileBytes{config.model_path(), {file->data(), file->size()}, file};
  }
  return std::make_shared<LightPredictor>(Executable::Build(LoadWry(bytes)), std::make_shared<PredictorOrigin>(),
                                          config);
}

}  // namespace wherry
