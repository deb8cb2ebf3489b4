// What the subcommands that load a model have in common on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wherry/config.h"
#include "wherry/error.h"
#include "wherry/predictor.h"
#include "wherry/tensor.h"

namespace wherry::tools {

struct ModelOptions {
  std::string model;
  std::string params;
  std::string inputs;
  std::vector<std::string> shapes;
  std::string places;
  std::string passes;
  int threads = 0;
  bool verify = false;
  bool fix_shapes = false;

  void AddModel(CLI::App* app);
  void AddInputs(CLI::App* app);  // and whether their shapes are fixed
  void AddRun(CLI::App* app);     // threads, places, passes

  // Error(kInvalidArgument) on text that cannot be read.
  CxxConfig Config() const;
  std::map<std::string, Shape> Shapes() const;
  // Of --shape or of the arrays in --inputs.
  std::map<std::string, Shape> GivenShapes() const;
  // The .npz file's arrays, by input name; names that are no input of the model are an Error. Random data where an
  // input is missing and no file was given; with a file, a missing one is an Error.
  std::map<std::string, Tensor> Inputs(const PaddlePredictor& predictor) const;
};

// For check(): a number from `least` to `most`, which NaN is not.
CLI::Validator Number(double least, double most);
// Error(kInvalidArgument) if an option was given an empty text, which would read as not given.
void RefuseEmpty(const CLI::App& command);
// Gives a predictor its inputs without a copy.
void SetInputs(PaddlePredictor* predictor, const std::map<std::string, Tensor>& inputs);
// Runs it for the first time. If that fails on inputs that were made up, the Error tells what they were.
void FirstRun(PaddlePredictor* predictor, const ModelOptions& options, const std::map<std::string, Tensor>& inputs);
// "x f32[1,3,64,64], y i64[1,8]"; of many the first eight.
std::string Describe(const std::map<std::string, Tensor>& inputs);

}  // namespace wherry::tools
