// Import rules (ops/*.yaml) applied to a foreign operator.
#pragma once

#include "importer/convert_context.h"
#include "importer/import_rule.h"

namespace wherry {

// Adds the rule's op to the context's block and binds its results. Attributes that the rule does not name are ignored,
// except a data format other than NCHW. Error(kUnsupported): an input that the rule has no place for. Error(kCorrupt):
// a missing input or attribute, one of a wrong type.
void ApplyImportRule(const ImportRule& rule, ConvertContext* context);

// Converts by the rule or by the registered converter (which gets `converter_context`, what its importer's converters
// expect). Returns false if there is neither.
bool ConvertOp(ConvertContext* context, void* converter_context);
// Whether there is either.
bool IsConvertible(const ForeignOp& op);

}  // namespace wherry
