// Einstein sums, "bij,bjk->bik", as transpositions, products and sums.
#pragma once

#include <string>
#include <vector>

#include "importer/convert_context.h"

namespace wherry {

// Adds the operators for `equation` over `operands` and returns the result. The equation has terms of letters and at
// most one ellipsis each, and perhaps blanks; without "->" the result has the ellipsis and the letters that occur once,
// in alphabetical order. Operands are contracted from the left to the right. Error(kCorrupt) for an equation that is
// none or does not fit the operands' ranks, which must be known.
std::string LowerEinsum(ConvertContext* context, const std::string& equation, const std::vector<std::string>& operands);

}  // namespace wherry
