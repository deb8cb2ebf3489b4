// OpConverter: converts a model's operators one after the other and goes on after one that is not supported, so that
// all of them are reported at once.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>

#include "importer/convert_context.h"
#include "importer/unsupported_ops.h"

namespace wherry {

// Not thread-safe; one for a whole model.
class OpConverter {
 public:
  // What the file says about a result, by its name there; unknown rank and type if it says nothing.
  using DeclaredMeta = std::function<MetaTensor(const std::string& name)>;

  // By the operator's rule or converter (which gets `converter_context`). Afterwards the context has results. One that
  // is not supported is noted, and its results are placeholders; what cannot be converted only because it uses
  // placeholders, or values whose rank is not known because of them, gives placeholders too, without a note. Other
  // errors are thrown, with the operator as context.
  void Convert(ConvertContext* context, void* converter_context, const DeclaredMeta& declared);
  // The same for an operator that `convert` converts.
  void ConvertWith(ConvertContext* context, const std::function<void()>& convert, const DeclaredMeta& declared);
  // Notes it, and binds placeholders.
  void Reject(ConvertContext* context, const std::string& reason, const DeclaredMeta& declared);

  UnsupportedOps& unsupported() { return unsupported_; }

 private:
  bool UsesPlaceholders(const ForeignOp& op) const;
  void BindPlaceholders(ConvertContext* context, const DeclaredMeta& declared);

  UnsupportedOps unsupported_;
  std::unordered_set<std::string> placeholders_;
};

}  // namespace wherry
