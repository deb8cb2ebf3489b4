#include "importer/importer.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "importer/describe_bytes.h"
#include "importer/importer_registry.h"
#include "importer/model_files.h"

namespace wherry {

namespace {

// The importer that is surest of the file.
const Importer& PickImporter(const FileBytes& model) {
  const Importer* best = nullptr;
  int best_score = 0;
  std::vector<std::string> names;
  for (const Importer* importer : ImporterRegistry::Global().Importers()) {
    names.emplace_back(importer->name());
    const int score = importer->Sniff(model.data, model.name);
    if (score > best_score) {
      best = importer;
      best_score = score;
    }
  }
  if (best != nullptr) return *best;
  const std::string name = Quote(model.name, 1000);
  WHERRY_ENFORCE(!model.data.empty(), kCorrupt, name, " is empty");
  WHERRY_ENFORCE(!LooksLikeNaiveBuffer(model.data), kUnsupported, name, " is ", DescribeBytes(model.data),
                 ", which is bound to that program's kernels; give the model that it was made from");
  WHERRY_ENFORCE(!LooksLikePaddleParams(model.data), kInvalidArgument, name, " is ", DescribeBytes(model.data),
                 ", not a model; give the model file, and this one as its parameters");
  Throw(ErrorCode::kCorrupt, name, " is no model that Wherry reads: it is ", DescribeBytes(model.data),
        "; there are importers for ", Join(names, ", "));
}

Program Import(const ModelSource& source) {
  const Importer& importer = PickImporter(source.model);
  try {
    Program program = importer.Import(source);
    program.metadata["format"] = importer.name();
    return program;
  } catch (Error& error) {
    error.AddContext(
        StrCat("importing ", Quote(source.model.name, 1000), " with the importer '", importer.name(), "'"));
    throw;
  }
}

// Fills in source->params from the first candidate that is there.
void FindParams(const ParamsGuess& guess, const std::function<std::optional<FileBytes>(const std::string&)>& try_open,
                ModelSource* source) {
  source->looked_for = guess.files;
  source->separate_params = guess.may_be_separate;
  for (const std::string& name : guess.files) {
    if (std::optional<FileBytes> params = try_open(name)) {
      source->params = std::move(*params);
      source->separate_params = false;
      return;
    }
  }
}

}  // namespace

Program ImportModel(const std::string& path, const std::string& params_path, std::vector<std::string> overridden_inputs,
                    std::vector<std::string>* unsupported) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path file(path);
  if (fs::is_directory(file, error)) file /= FindMainFile(path);
  ModelSource source;
  source.overridden_inputs = std::move(overridden_inputs);
  source.unsupported = unsupported;
  source.model = OpenFile(file.string());
  const std::string folder = file.parent_path().string();
  source.open = [folder](const std::string& name) { return OpenInFolder(folder, name); };
  if (!params_path.empty()) {
    source.params = OpenFile(params_path);
    source.params_given = true;
  } else {
    FindParams(
        GuessParams(file.filename().string()),
        [&folder](const std::string& name) -> std::optional<FileBytes> {
          const fs::path candidate = fs::path(folder) / name;
          std::error_code absent;
          if (!fs::is_regular_file(candidate, absent)) return std::nullopt;
          return OpenFile(candidate.string());
        },
        &source);
  }
  return Import(source);
}

Program ImportModel(FileBytes model, FileBytes params, std::vector<std::string> overridden_inputs,
                    std::vector<std::string>* unsupported) {
  ModelSource source;
  source.overridden_inputs = std::move(overridden_inputs);
  source.unsupported = unsupported;
  source.model = std::move(model);
  source.params_given = params.data.data() != nullptr;
  source.params = std::move(params);
  source.open = [](const std::string& name) -> FileBytes {
    CheckFileName(name);
    Throw(ErrorCode::kNotFound, "the model names the file ", Quote(name), ", but was given as memory without a reader");
  };
  return Import(source);
}

Program ImportModel(const std::string& name, const FileReader& reader, std::vector<std::string> overridden_inputs,
                    std::vector<std::string>* unsupported) {
  ModelSource source;
  source.overridden_inputs = std::move(overridden_inputs);
  source.unsupported = unsupported;
  source.model = reader(name);
  if (source.model.name.empty()) source.model.name = name;
  source.open = [&reader](const std::string& file) {
    CheckFileName(file);
    return reader(file);
  };
  FindParams(
      GuessParams(name),
      [&reader](const std::string& file) -> std::optional<FileBytes> {
        try {
          return reader(file);
        } catch (const Error& error) {
          if (error.code() == ErrorCode::kNotFound) return std::nullopt;
          throw;
        }
      },
      &source);
  return Import(source);
}

}  // namespace wherry
