// What the optimiser makes of a model and why, as data: what `wherry opt --report` draws and `wherry show --explain`
// prints. Names are the model's own and may hold any bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "wherry/config.h"
#include "wherry/tensor.h"

namespace wherry {

// A picture's coordinates are in pixels at natural size, y downwards.
struct DiagramPoint {
  double x = 0;
  double y = 0;
};

struct DiagramOp {
  std::string name;      // its label, else its first result
  std::string type;      // "conv2d"
  std::string category;  // "product", "norm", "pool", "elementwise", "shape", "convert", "control" or "other"
  std::map<std::string, std::vector<std::string>> inputs;  // by parameter; weights among them
  std::map<std::string, std::vector<std::string>> outputs;
  std::map<std::string, std::string> attributes;  // as text
  std::string kernel;                             // "cpu:conv2d:winograd4"; empty: not picked
  std::string key;                                // "x86/f32/nhwc"
  std::string reason;                             // why this kernel
  std::vector<int> blocks;                        // of control flow
};
struct DiagramNode {
  char kind = 'o';  // 'o'p, 'i'nput or 'r'esult of the block
  int index = 0;    // in the block's ops, inputs or outputs
  DiagramPoint centre;
  double width = 0;
  double height = 0;
};
struct DiagramEdge {
  int from = 0;  // nodes
  int to = 0;
  std::string value;
  std::vector<DiagramPoint> route;  // its corners, from node to node
};
// One block of a program: what it has, and a layout for drawing it.
struct Diagram {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;  // as users call them
  std::vector<DiagramOp> ops;
  std::map<std::string, std::string> types;    // of every value, "f32[N,64,56,56]"
  std::map<std::string, std::string> weights;  // those that the block uses, and their types
  std::map<std::string, std::string> aliases;  // value -> the value whose memory it shares
  std::vector<DiagramNode> nodes;
  std::vector<DiagramEdge> edges;
  double width = 0;
  double height = 0;
};

// An operator that a pass removed, added or changed, by the name of its first result.
struct OpChange {
  int block = 0;
  std::string name;
  std::string before;  // "conv2d(x: a, filter: w) -> (out: b) {...}"; empty: it is new
  std::string after;   // empty: it is gone
};
struct PassExplanation {
  std::string name;
  bool ran = false;
  std::string skipped_because;
  double milliseconds = 0;
  int matches = -1;  // patterns that it replaced; -1: it looks for none
  int64_t ops_before = 0;
  int64_t ops_after = 0;
  bool changed = false;  // anything, also types and side tables
  std::vector<OpChange> changes;
  std::vector<std::string> notes;  // its own lines
};

struct CandidateExplanation {
  std::string kernel;
  std::string key;
  int priority = 0;
  bool picked = false;
  std::string refusal;       // why it cannot run; empty: it can
  double kernel_us = 0;      // estimated
  double measured_us = -1;   // of the kernel alone, in the shapes of `MemoryExplanation`; -1: not measured
  double conversion_us = 0;  // estimated, of the conversions around it
  int place_rank = 0;        // of the valid place that it meets
};
// An operator at the time when kernels are picked, or (if it came later, as a cast) at the end.
struct OpExplanation {
  int block = 0;
  std::string name;                  // its label, else its first result
  std::vector<std::string> results;  // names of values
  std::string type;
  std::string text;                              // the whole op
  std::string reason;                            // why its kernel was picked, or why there is none
  std::string inserted_by;                       // the pass that put in a cast or copy; else empty
  std::vector<CandidateExplanation> candidates;  // the best first
  int64_t assumed_dim = 0;  // what their estimates count a dynamic dimension as; 0: all dimensions are known
  std::string algorithm;    // what the kernel planned for these shapes, "winograd4 tiles=12"; may be empty
  // Of one run, for the shapes of `MemoryExplanation`; -1: unknown. The estimate is for the shapes that the pick saw
  // where there is no plan.
  double flops = -1;
  double bytes = -1;         // read and written
  std::string family;        // of kernels, which go at one rate; empty: unknown
  double estimated_us = -1;  // without conversions, which are operators of their own
  double measured_us = -1;   // median; -1: not measured
};

struct MemoryValue {
  std::string name;
  std::string type;
  std::string op;      // what makes it
  int64_t offset = 0;  // in the arena
  int64_t bytes = 0;
  int first = 0;  // statements from which and to which it is needed, both included
  int last = 0;
  std::vector<std::string> shared_by;  // values that lie in the same memory
};
// Where values lie for one set of input shapes.
struct MemoryExplanation {
  std::string unavailable;                    // why there is no plan; empty: there is one
  std::map<std::string, std::string> inputs;  // the shapes it is for
  std::vector<std::string> statements;        // names of the ops, in the order in which they run
  std::vector<MemoryValue> values;            // in the arena
  int64_t arena_bytes = 0;
  int64_t least_bytes = 0;       // the most that is alive at once: no plan needs less
  int64_t activation_bytes = 0;  // the sum of all values, if none shared memory
  int64_t output_bytes = 0;      // results have memory of their own
  int64_t scratch_bytes = 0;
};

struct ModelExplanation {
  std::string model;
  std::string version;                          // of Wherry
  std::map<std::string, std::string> metadata;  // what the file says about itself
  std::string places;
  int threads = 1;
  double import_ms = 0;
  double optimize_ms = 0;
  std::vector<Diagram> before;  // by block, as loaded
  std::vector<Diagram> after;
  std::vector<PassExplanation> passes;
  std::vector<OpExplanation> ops;
  MemoryExplanation memory;
  // Of blocks of control flow that ran in measuring with a plan of their own, by block.
  std::map<int, MemoryExplanation> block_memory;
  int64_t weight_bytes_before = 0;
  int64_t weight_bytes = 0;
  int64_t packed_bytes = 0;  // made for the kernels, beside or instead of the weights
  double estimated_us = 0;   // the sum over `ops`
  double measured_us = -1;   // median of whole runs; -1: not measured
};

struct ExplainOptions {
  std::map<std::string, Tensor> inputs;  // for measuring; random where absent
  std::map<std::string, Shape> shapes;   // for inputs of dynamic size
  // Runs the model for about a second, and then every candidate of every op by itself but those that would take long
  // (more than 50 ms by their estimate) and devices'.
  bool measure = false;
};

// Loads and optimises the model, once, and keeps what happened. A memory plan that cannot be made (an input's rank is
// not declared, the shapes do not fit) is no Error unless times are asked for: it says why. For a file that was
// optimised before there are no passes and both diagrams are the same.
ModelExplanation ExplainModel(const CxxConfig& config, const ExplainOptions& options = {});
// Every candidate kernel of an op (by result name or label; or of all ops of a type) with its cost, measured if so
// asked, or its refusal, and the pick; for an op that a pass removed, which; for a type also how many of its ops which
// pass took. Error(kNotFound).
std::string ExplainOp(const CxxConfig& config, const std::string& op, const ExplainOptions& options = {});
// The same as JSON, valid UTF-8 whatever the names are (other bytes become U+FFFD).
std::string ToJson(const ModelExplanation& explanation);

}  // namespace wherry
