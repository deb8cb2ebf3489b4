#include "outputs.h"

#include <algorithm>
#include <filesystem>

#include "wherry/program.h"
#include "wherry/text.h"

namespace wherry::tools {

namespace {

namespace fs = std::filesystem;

bool IsDevice(const std::string& path) {
  std::error_code ignored;
  return fs::is_other(fs::status(path, ignored));
}

// Where writing to `path` would write: also of links to what is not there yet.
fs::path Target(const std::string& path) {
  std::error_code error;
  fs::path target = fs::absolute(path, error);
  constexpr int kMostLinks = 40;  // as many as the system follows
  for (int i = 0; i < kMostLinks && fs::is_symlink(target, error); ++i)
    target = target.parent_path() / fs::read_symlink(target, error);
  return fs::weakly_canonical(target, error);
}

bool Same(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) || Target(a) == Target(b);
}

// Whether writing `output` may destroy the file at `path`.
bool Destroys(const Output& output, const std::string& path) {
  if (output.endings.empty()) return Same(output.path, path);
  const fs::path file(path);
  const std::vector<std::string>& endings = output.endings;
  return std::find(endings.begin(), endings.end(), file.extension()) != endings.end() &&
         Same(output.path, file.has_parent_path() ? file.parent_path().string() : ".");
}

[[noreturn]] void Refuse(const Output& output, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "the output '" + Printable(output.path) + "' of " + output.option + why);
}

}  // namespace

void CheckOutputs(const ModelOptions& options, const std::vector<Output>& outputs) {
  std::vector<Output> written;
  for (const Output& output : outputs) {
    if (!output.path.empty() && !IsDevice(output.path)) written.push_back(output);
  }
  for (auto a = written.begin(); a != written.end(); ++a) {
    for (auto b = written.begin(); b != a; ++b) {
      if (Destroys(*a, b->path) || Destroys(*b, a->path)) Refuse(*a, " is also what " + b->option + " writes");
    }
  }
  std::error_code ignored;
  // Only what exists can be destroyed, so that most commands need not look for the model's files.
  if (std::none_of(written.begin(), written.end(),
                   [&ignored](const Output& output) { return fs::exists(output.path, ignored); }))
    return;
  std::vector<std::string> files = ModelFiles(options.Config());
  for (const Output& output : written) {
    for (const std::string& file : files) {
      if (Destroys(output, file)) Refuse(output, " would replace '" + Printable(file) + "' of the model itself");
    }
    if (!options.inputs.empty() && Destroys(output, options.inputs)) Refuse(output, " would replace the inputs");
  }
}

}  // namespace wherry::tools
