// What must hold for every program and every way of optimising it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph_fuzz/evaluate.h"
#include "robustness/random.h"

namespace wherry::graph_fuzz {

// A way of optimising and running.
struct Setup {
  std::vector<std::string> passes;  // in order; none: no pass at all
  std::vector<Place> places;
  int threads = 1;
  bool save = false;   // through a .wry file
  bool twice = false;  // two runs of one session
  std::string DebugString() const;
};

// The default pipeline, each pass twice, so that the second time shows whether it left something to do.
Setup DefaultSetup();
// Some passes of each phase, those that may stand anywhere in any order, for some place.
Setup RandomSetup(Random* random);

// A program, what it is run on and what it gives without passes.
struct Subject {
  Program program;
  std::vector<DenseTensor> inputs;
  Outputs plain;
};
// nullopt when it cannot be run: its numbers do not suit some op. Error(kInternal) passes through.
std::optional<Subject> MakeSubject(Program program);

// "" or what is wrong, "kind: text":
//   text        what is printed and parsed again prints otherwise;
//   idempotence a pass changes what it gave itself;
//   optimise    a pass throws, or breaks an invariant or its promise;
//   run         the optimised program does not run;
//   result      it gives something else.
std::string Check(const Subject& subject, const Setup& setup);

}  // namespace wherry::graph_fuzz
