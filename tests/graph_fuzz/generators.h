// Generators: each adds a few ops of one family to a program. A table says how often each is used.
#pragma once

#include <span>

#include "graph_fuzz/program_writer.h"

namespace wherry::graph_fuzz {

struct Generator {
  const char* name;
  int weight;
  void (*add)(ProgramWriter* writer);
};

// By family; see the files of the same names.
std::span<const Generator> ElementwiseGenerators();
std::span<const Generator> NetworkGenerators();
std::span<const Generator> ShapeGenerators();
std::span<const Generator> FlowGenerators();
std::span<const Generator> MotifGenerators();

// One step: a generator chosen by its weight. Control flow is not nested deeper than two blocks.
void AddSomething(ProgramWriter* writer);

// A program of a few to some dozens of ops. Equal seeds give equal programs.
Program MakeProgram(uint64_t seed);

}  // namespace wherry::graph_fuzz
