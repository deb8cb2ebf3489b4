// What a pass changed: a program's operators before and after it, compared by the names of their results.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "wherry/explain.h"

namespace wherry {

// By block and first result: the operator as text, its kernel included. Long texts are cut.
using OpTexts = std::map<std::pair<int, std::string>, std::string>;

OpTexts TextsOf(const Program& program);
std::vector<OpChange> Differences(const OpTexts& before, const OpTexts& after);

}  // namespace wherry
