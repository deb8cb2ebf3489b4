// Which files a model is read from.
#include <filesystem>

#include "importer/importer.h"
#include "importer/model_files.h"
#include "predictor/cxx_dump.h"
#include "wherry/error.h"
#include "wherry/program.h"

namespace wherry {

std::vector<std::string> ModelFiles(const CxxConfig& config) {
  namespace fs = std::filesystem;
  if (config.model_buffer().data != nullptr || config.reader() != nullptr) return {};
  std::vector<std::string> files;
  try {
    fs::path file(config.model_path());
    std::error_code no_folder;
    if (fs::is_directory(file, no_folder)) file /= FindMainFile(file.string());
    files.push_back(file.string());
    const fs::path folder = file.parent_path();
    const auto beside = [&folder](const std::string& name) { return (folder / name).string(); };
    if (!config.param_path().empty()) files.push_back(config.param_path());
    if (file.extension() == ".wry" || !config.param_path().empty()) return files;
    if (file.extension() == ".wir") {
      files.push_back(beside(kDumpedWeights));
      return files;
    }
    const std::string main = file.filename().string();
    ImportModel(main, [&](const std::string& name) {
      if (name == main) return OpenFile(file.string());
      files.push_back(beside(name));
      return OpenInFolder(folder.string(), name);
    });
  } catch (const Error&) {
    // Whoever loads the model reports it.
  }
  return files;
}

}  // namespace wherry
