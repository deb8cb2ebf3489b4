#include "predictor/cxx_dump.h"

#include <cstdio>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/strings.h"
#include "base/system_error.h"
#include "format/wry.h"
#include "ir/text.h"

namespace wherry {

void ProgramDump::Write(const std::string& name, const Program& program) {
  if (!on()) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) ThrowSystemError(error.value(), "cannot make the folder " + Quote(folder_, 1000));
  char prefix[16];
  std::snprintf(prefix, sizeof(prefix), "%03d_", number_++);
  PrintOptions options;
  options.exact_weights = false;
  AtomicFile file(folder_ + "/" + prefix + name + ".wir");
  file.Write(PrintProgram(program, options));
  file.Commit();
  // A weight is never changed under its name, so one table serves all the texts.
  weights_.insert(program.weights.begin(), program.weights.end());
}

void ProgramDump::WriteWeights() const {
  if (!on()) return;
  Program program;
  program.weights = weights_;
  SaveWry(program, folder_ + "/" + kDumpedWeights);
}

}  // namespace wherry
