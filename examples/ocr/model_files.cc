#include "model_files.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <vector>

namespace ocr {

namespace {

namespace fs = std::filesystem;

// Empty if there is none.
std::string TheOne(const std::vector<fs::path>& entries, const std::string& what,
                   const std::function<bool(const fs::path&)>& fits) {
  std::string found;
  for (const fs::path& entry : entries) {
    if (!fits(entry)) continue;
    if (!found.empty())
      throw std::runtime_error("'" + found + "' and '" + entry.string() + "': which is the " + what + "?");
    found = entry.string();
  }
  return found;
}

}  // namespace

ModelPaths FindModels(const std::string& folder, ModelPaths given) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error))
    entries.push_back(entry->path());
  if (error) throw std::runtime_error("'" + folder + "': cannot read the models' folder: " + error.message());
  std::sort(entries.begin(), entries.end());

  const auto find_model = [&](const char* part, const std::string& what, std::string* path) {
    if (!path->empty()) return;
    *path = TheOne(entries, what, [&](const fs::path& entry) {
      std::error_code no_folder;
      const bool model =
          entry.extension() == ".onnx" || entry.extension() == ".wry" || fs::is_directory(entry, no_folder);
      return model && entry.filename().string().find(part) != std::string::npos;
    });
    if (path->empty())
      throw std::runtime_error("'" + folder + "' has no " + what + ": an .onnx or .wry file or a folder with '" + part +
                               "' in its name");
  };
  find_model("det", "text detector", &given.detector);
  find_model("cls", "network for the direction of text", &given.orienter);
  find_model("rec", "network that reads text", &given.recognizer);
  if (given.dictionary.empty()) {
    given.dictionary = TheOne(entries, "dictionary", [](const fs::path& entry) { return entry.extension() == ".txt"; });
  }
  return given;
}

}  // namespace ocr
