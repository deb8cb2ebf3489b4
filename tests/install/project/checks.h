// What every form of the project must show.
#pragma once

#include <functional>
#include <string>

#include "wherry/error.h"

// Prints the result; Failures() counts those that are false.
void Check(bool ok, const std::string& what);
int Failures();

// That the action ends in an Error with this code.
void CheckError(wherry::ErrorCode code, const std::string& what, const std::function<void()>& action);

// The kernel `gain` is found, and beside it the operator runs by its schema.
void CheckKernel();
// The pass runs by its name and makes one operator of two.
void CheckPass();
// gain.json runs with the own kernel, with the pass and without; writes it to `optimized` with the pass.
void CheckPredictor(const std::string& model, const std::string& optimized);
