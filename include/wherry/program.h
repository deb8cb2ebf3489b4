// Looking into models and into the engine: what the wherry command shows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "wherry/config.h"
#include "wherry/tensor.h"

namespace wherry {

// The program of a model: as loaded, with the types that can be inferred, when the config's passes are {"none"}, else
// optimised. Formats: "text" (weights summarised), "wir" (exact), "dot" (for Graphviz), "svg" (a picture), "json".
// Error(kInvalidArgument) on another one.
std::string ShowModel(const CxxConfig& config, const std::string& format);
// Whether every operator can run for these places; the list of what cannot, with reasons: operators that are not read,
// and those for which there is no kernel. Empty: all can. Error if the model cannot be read at all.
std::vector<std::string> CheckModel(const CxxConfig& config);

// The files that the model is read from, and those that would be if they were there; empty when it comes from memory or
// a reader. Of a model that cannot be read, those up to that point.
std::vector<std::string> ModelFiles(const CxxConfig& config);

struct OpInfo {
  std::string name;
  std::string doc;
  std::string signature;  // the YAML's args and output
  std::vector<std::string> aliases;
  std::vector<std::string> formats;  // "onnx:Softmax", "paddle:softmax", "pir:softmax"
};
struct KernelInfo {
  std::string op;
  std::string provider;
  std::string variant;
  std::string key;  // "x86/f32/nhwc"
  int priority = 0;
};
struct PassInfo {
  std::string name;
  std::string kind;                  // "program", "stmt", "debug"
  std::vector<std::string> targets;  // empty: any
  std::vector<std::string> kernels;
  int position = -1;  // first place in the default pipeline, -1: not in it
};
// An operator of a model format that is read.
struct ImportInfo {
  std::string format;  // "onnx", "paddle" (ProgramDesc), "pir"
  std::string type;    // as the format spells it; ONNX: with its domain, "com.microsoft.Gelu"
  std::string op;      // what it becomes; empty: built of one or several operators as its attributes ask
  int since = 1;       // the first and the last opset that this is for (ONNX)
  int until = -1;      // -1: the newest that is read
};
struct PlaceInfo {
  std::string provider;
  std::string target;
  bool available = false;
  std::string why;  // when not available
};
std::vector<OpInfo> ListOps();
std::vector<KernelInfo> ListKernels();
std::vector<PassInfo> ListPasses();
std::vector<PlaceInfo> ListPlaces();
// What this library reads itself, without plug-ins; by format, then by type.
std::vector<ImportInfo> ListImports();

// Runs the model without passes, then as it is after every pass that changed it, on the same inputs (by name; random
// where absent), and compares the outputs. Error(kInvalidArgument) for a model that is optimised already.
struct VerifyOptions {
  std::map<std::string, Tensor> inputs;
  std::map<std::string, Shape> shapes;  // for random inputs of dynamic size
  // Of the largest magnitude of each output. Some networks make much of the least differences, those that round to
  // steps (quantize_linear) whole steps: four times what inputs, or scales, that are off by 2^-20 change is allowed, if
  // that is more.
  double tolerance = 1e-4;
};
struct VerifiedPass {
  std::string name;
  double max_difference = 0;  // of the outputs after it
  std::string not_run;        // why the program cannot run at this point; empty: it did
};
struct VerifyResult {
  bool ok = true;
  double max_difference = 0;         // relative to the largest magnitude, over all outputs and passes
  std::string first_pass;            // the first pass whose result differs by more than the tolerance
  std::string first_op;              // and the first op (by result) whose value differs there
  std::string report;                // for people
  std::vector<VerifiedPass> passes;  // those that changed something, up to and with the first that is wrong
};
VerifyResult VerifyModel(const CxxConfig& config, const VerifyOptions& options = {});

// Random inputs for a predictor's inputs: dynamic dimensions from `shapes`, else 1 for the first axis, 64 for an
// image's sides, 16 elsewhere. A dimension's name has one number in all inputs: that of the first shape given, or
// input, with it.
std::map<std::string, Tensor> RandomInputs(const CxxConfig& config, const std::map<std::string, Shape>& shapes,
                                           uint64_t seed = 0);

}  // namespace wherry
