#include "importer/model_files.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string_view>
#include <system_error>

#include "base/check.h"
#include "base/mapped_file.h"
#include "base/strings.h"

namespace wherry {

namespace fs = std::filesystem;

namespace {

// Paddle 3 prefers the newer form where both were exported; so does this list.
constexpr const char* kMainFiles[] = {"inference.json", "inference.pdmodel", "model.json",
                                      "model.pdmodel",  "__model__",         "model"};

std::vector<std::string> WithExtension(const std::vector<std::string>& names, const std::set<fs::path>& extensions) {
  std::vector<std::string> found;
  std::copy_if(names.begin(), names.end(), std::back_inserter(found),
               [&extensions](const std::string& name) { return extensions.count(fs::path(name).extension()) != 0; });
  return found;
}

std::vector<std::string> RegularFiles(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) names.push_back(it->path().filename().string());
  }
  WHERRY_ENFORCE(!error, kUnavailable, "cannot list ", Quote(folder, 1000), ": ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

std::string Listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 10;
  std::vector<std::string> quoted;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) quoted.push_back(Quote(names[i]));
  if (names.size() > kMost) quoted.push_back(StrCat("and ", names.size() - kMost, " more"));
  return quoted.empty() ? "no file" : Join(quoted, ", ");
}

}  // namespace

void CheckFileName(const std::string& name) {
  const auto refuse = [&name](const char* why) {
    Throw(ErrorCode::kInvalidArgument, "the model names the file ", Quote(name), ", which ", why);
  };
  if (name.empty()) refuse("is empty");
  if (name.find('\0') != std::string::npos) refuse("has a zero byte");
  if (name.front() == '/') refuse("is an absolute path; only files inside the model's folder are opened");
  if (name.find('\\') != std::string::npos) refuse("has a backslash");
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = std::string_view(name).substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..")
      refuse("has an empty part, '.' or '..'; only files inside the model's folder are opened");
    begin = end + 1;
  }
}

FileBytes OpenFile(const std::string& path) { return {path, MappedFile::Open(path)}; }

FileBytes OpenInFolder(const std::string& folder, const std::string& name) {
  CheckFileName(name);
  const fs::path path = fs::path(folder.empty() ? "." : folder) / name;
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  WHERRY_ENFORCE(!error, kNotFound, "there is no folder ", Quote(folder, 1000));
  const fs::path target = fs::canonical(path, error);
  WHERRY_ENFORCE(!error, kNotFound, "there is no file ", Quote(path.string(), 1000), ": ", error.message());
  const auto [mismatch, ignored] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
  WHERRY_ENFORCE(mismatch == root.end(), kInvalidArgument, Quote(path.string(), 1000), " is a link to ",
                 Quote(target.string(), 1000), ", outside of the model's folder");
  FileBytes bytes = OpenFile(target.string());
  bytes.name = path.string();
  return bytes;
}

ParamsGuess GuessParams(const std::string& model_name) {
  const fs::path path(model_name);
  const auto beside = [&path](const std::string& name) { return (path.parent_path() / name).string(); };
  ParamsGuess guess;
  if (path.extension() == ".onnx") return guess;
  if (path.extension() == ".pdmodel" || path.extension() == ".json") {
    guess.files = {beside(path.stem().string() + ".pdiparams")};
  } else if (path.filename() == "__model__") {
    guess.files = {beside("__params__"), beside("params")};
    guess.may_be_separate = true;
  } else {
    guess.files = {beside(path.filename().string() + ".pdiparams"), beside("params"), beside("weights"),
                   beside("__params__")};
    guess.may_be_separate = true;
  }
  return guess;
}

std::string FindMainFile(const std::string& folder) {
  const std::vector<std::string> names = RegularFiles(folder);
  for (const char* candidate : kMainFiles) {
    if (std::binary_search(names.begin(), names.end(), candidate)) return candidate;
  }
  std::vector<std::string> found = WithExtension(names, {".pdmodel", ".onnx"});
  // Most .json files are no models, but config.json and its like beside one.
  if (found.empty()) {
    found = WithExtension(names, {".json"});
    const auto has_parameters = [&names](const std::string& name) {
      return std::binary_search(names.begin(), names.end(), GuessParams(name).files.front());
    };
    if (std::any_of(found.begin(), found.end(), has_parameters)) std::erase_if(found, std::not_fn(has_parameters));
  }
  WHERRY_ENFORCE(found.size() <= 1, kInvalidArgument, "the folder ", Quote(folder, 1000), " has several models (",
                 Listed(found), "); give the path of one");
  WHERRY_ENFORCE(!found.empty(), kNotFound, "there is no model in the folder ", Quote(folder, 1000), ": looked for ",
                 Join(kMainFiles, ", "), ", *.pdmodel, *.json, *.onnx; found ", Listed(names));
  return found[0];
}

}  // namespace wherry
