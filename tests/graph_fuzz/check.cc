#include "graph_fuzz/check.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/check.h"
#include "base/mapped_file.h"
#include "base/strings.h"
#include "format/wry.h"
#include "graph_fuzz/data.h"
#include "ir/text.h"
#include "pass/optimizer.h"
#include "pass/pass_manager.h"

namespace wherry::graph_fuzz {

namespace {

// The pipeline's passes from the kernel pick on keep their order: each stands on the one before it.
size_t PlaceBegin(const std::vector<std::string>& pipeline) {
  const auto pick = std::find(pipeline.begin(), pipeline.end(), "static_kernel_pick_pass");
  return static_cast<size_t>(pick - pipeline.begin());
}

std::string TextOf(const Program& program) {
  const std::string text = PrintProgram(program);
  const std::string again = PrintProgram(ParseProgram(text));
  return text == again ? "" : StrCat("text: printed again it is\n", again);
}

Program ThroughFile(const Program& program) {
  const std::string path = (std::filesystem::temp_directory_path() / StrCat("graph_fuzz_", getpid(), ".wry")).string();
  SaveWry(program, path);
  Program loaded = LoadWry(FileBytes(path, MappedFile::Open(path)));
  std::remove(path.c_str());
  return loaded;
}

}  // namespace

std::string Setup::DebugString() const {
  std::vector<std::string> names;
  for (const Place& place : places) names.push_back(place.DebugString());
  return StrCat("places ", Join(names, ", "), "; ", threads, " threads", save ? "; saved" : "", twice ? "; twice" : "",
                "; passes ", Join(passes, ","));
}

Setup DefaultSetup() {
  Setup setup;
  setup.places = {Place(Target::kNative)};
  for (const std::string& pass : DefaultPipeline()) setup.passes.insert(setup.passes.end(), 2, pass);
  return setup;
}

Setup RandomSetup(Random* random) {
  static const std::vector<std::vector<Place>> places = [] {
    std::vector<std::vector<Place>> all = {{Place(Target::kNative)}};
    for (const DataLayout layout : {DataLayout::kNCHW, DataLayout::kNHWC, DataLayout::kAny})
      all.push_back({Place{Target::kNative, DataType::kFloat, layout}});
    all.push_back({Place{Target::kHost, DataType::kFloat, DataLayout::kAny}});
    return all;
  }();
  const std::vector<std::string>& pipeline = DefaultPipeline();
  const size_t place_begin = PlaceBegin(pipeline);
  Setup setup;
  setup.places = random->PickFrom(places);
  setup.threads = random->OneIn(2) ? 1 : 2;
  setup.save = random->OneIn(8);
  setup.twice = random->OneIn(4);
  std::vector<std::string> free(pipeline.begin(), pipeline.begin() + static_cast<int64_t>(place_begin));
  const size_t keep = 1 + random->Below(4);  // of four
  if (random->OneIn(2)) {
    for (size_t i = free.size(); i > 1; --i) std::swap(free[i - 1], free[random->Below(i)]);
  }
  for (const std::string& pass : free) {
    if (random->Below(4) < keep) setup.passes.push_back(pass);
  }
  const size_t keep_of_place = random->OneIn(2) ? 8 : random->Below(8);
  for (size_t i = place_begin; i < pipeline.size(); ++i) {
    if (random->Below(8) < keep_of_place) setup.passes.push_back(pipeline[i]);
  }
  return setup;
}

std::optional<Subject> MakeSubject(Program program) {
  Subject subject;
  try {
    VerifyProgram(program);
    InferProgram(&program);
    subject.inputs = InputsFor(program);
    subject.plain = RunProgram(program.Clone(), subject.inputs, 1, false);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) throw;
    return std::nullopt;
  }
  subject.program = std::move(program);
  return subject;
}

std::string Check(const Subject& subject, const Setup& setup) {
  std::string problem = TextOf(subject.program);
  if (!problem.empty()) return problem;
  Program optimized;
  try {
    OptimizerOptions options;
    options.verify = true;
    Optimizer optimizer(std::move(options));
    optimized = optimizer.Run(subject.program.Clone(), setup.places, {},
                              setup.passes.empty() ? std::vector<std::string>{"none"} : setup.passes);
    const std::vector<PassReport>& passes = optimizer.report().passes;
    for (size_t i = 1; i < passes.size(); ++i) {
      if (passes[i].name == passes[i - 1].name && passes[i].changed)
        return StrCat("idempotence: ", passes[i].name, " changes its own result");
    }
    problem = TextOf(optimized);
    if (!problem.empty()) return problem;
  } catch (const std::exception& error) {
    return StrCat("optimise: ", error.what());
  }
  Outputs outputs;
  try {
    if (setup.save) optimized = ThroughFile(optimized);
    outputs = RunProgram(std::move(optimized), subject.inputs, setup.threads, true, setup.twice);
  } catch (const std::exception& error) {
    return StrCat("run: ", error.what());
  }
  problem = Difference(subject.program, subject.inputs, subject.plain, outputs);
  return problem.empty() ? "" : StrCat("result: ", problem);
}

}  // namespace wherry::graph_fuzz
