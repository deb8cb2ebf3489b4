// Random small programs: what is optimised must give what it gives unoptimised. A failure prints its seed, the passes
// and the smallest program found.
//
//   WHERRY_GRAPH_FUZZ_COUNT=N   so many programs (default 2000; scripts/run_long_checks: 100,000)
//   WHERRY_GRAPH_FUZZ_SEED=N    from this seed on
//   WHERRY_GRAPH_FUZZ_FILE=F    the program in this .wir file instead, with 50 random ways of optimising it
//   WHERRY_GRAPH_FUZZ_TRACE=1   prints each program before it is tried
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "graph_fuzz/check.h"
#include "graph_fuzz/generators.h"
#include "graph_fuzz/reduce.h"
#include "ir/text.h"
#include "without_plugins.h"

namespace wherry::graph_fuzz {
namespace {

constexpr size_t kMostFailures = 20;

uint64_t Number(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string Kind(const std::string& problem) { return problem.substr(0, problem.find(':')); }

// Another problem of the same kind is the same failure; else reduction wanders off, or a pass's error becomes
// another's.
std::string CheckProgram(const Program& program, const Setup& setup) {
  try {
    const std::optional<Subject> subject = MakeSubject(program.Clone());
    return subject ? Check(*subject, setup) : "";
  } catch (const std::exception& error) {
    return StrCat("plain: ", error.what());
  }
}

std::string Report(const Program& program, Setup setup, const std::string& problem) {
  const auto fails = [&](const Program& candidate) { return Kind(CheckProgram(candidate, setup)) == Kind(problem); };
  setup.passes = ReduceList(setup.passes, [&](const std::vector<std::string>& passes) {
    Setup fewer = setup;
    fewer.passes = passes;
    return Kind(CheckProgram(program, fewer)) == Kind(problem);
  });
  const Program smallest = ReduceProgram(program.Clone(), fails);
  return StrCat(problem, "\nwith ", setup.DebugString(), "\nsmallest: ", CheckProgram(smallest, setup), "\n",
                PrintProgram(smallest));
}

// The number of failures.
size_t Try(const Program& program, uint64_t seed, Random* random, size_t ways, uint64_t* runs) {
  std::vector<Setup> setups = {DefaultSetup()};
  for (size_t i = 0; i < ways; ++i) setups.push_back(RandomSetup(random));
  std::optional<Subject> subject;
  try {
    subject = MakeSubject(program.Clone());
  } catch (const std::exception& error) {
    ADD_FAILURE() << "seed " << seed << ": " << Report(program, Setup(), StrCat("plain: ", error.what()));
    return 1;
  }
  if (!subject) return 0;
  ++*runs;
  for (const Setup& setup : setups) {
    const std::string problem = Check(*subject, setup);
    if (problem.empty()) continue;
    ADD_FAILURE() << "seed " << seed << ": " << Report(program, setup, problem);
    return 1;
  }
  return 0;
}

TEST(GraphFuzzTest, OptimisedEqualsUnoptimised) {
  Random random(Number("WHERRY_GRAPH_FUZZ_SEED", 1));
  if (const char* file = std::getenv("WHERRY_GRAPH_FUZZ_FILE")) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    uint64_t runs = 0;
    Try(ParseProgram(text.str()), 0, &random, 50, &runs);
    return;
  }
  const uint64_t first = Number("WHERRY_GRAPH_FUZZ_SEED", 1);
  const uint64_t count = Number("WHERRY_GRAPH_FUZZ_COUNT", 2000);
  const bool trace = std::getenv("WHERRY_GRAPH_FUZZ_TRACE") != nullptr;
  size_t failures = 0;
  uint64_t runs = 0;
  uint64_t ops = 0;
  for (uint64_t seed = first; seed < first + count && failures < kMostFailures; ++seed) {
    const Program program = MakeProgram(seed);
    if (trace)
      std::fprintf(stderr, "seed %llu\n%s\n", static_cast<unsigned long long>(seed), PrintProgram(program).c_str());
    ops += program.main().ops.size();
    Random ways(seed);
    failures += Try(program, seed, &ways, 2, &runs);
  }
  std::printf("%llu programs with %.1f ops each, %llu of which run\n", static_cast<unsigned long long>(count),
              static_cast<double>(ops) / static_cast<double>(count), static_cast<unsigned long long>(runs));
  if (failures == 0) {
    EXPECT_GT(runs, count * 3 / 4) << "too many programs that do not run";
  }
}

}  // namespace
}  // namespace wherry::graph_fuzz
