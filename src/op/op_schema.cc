#include "op/op_schema.h"

#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "op/infer_meta_context.h"
#include "op/unknown_dim.h"

namespace wherry {
namespace {

template <typename Def>
int FindByName(std::span<const Def> defs, std::string_view name) {
  for (size_t i = 0; i < defs.size(); ++i) {
    if (defs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// The results of the InferMeta function, by output.
std::vector<std::vector<MetaTensor>> SplitResults(const OpSchema& schema, std::vector<MetaTensor> results,
                                                  std::span<const size_t> counts) {
  size_t lists = 0;
  size_t fixed = 0;  // values of outputs that are no lists, and of the lists but the last
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    if (!schema.outputs[i].is_list || ++lists > 1) ++fixed;
  }
  WHERRY_CHECK(lists <= 1 || !counts.empty(), "op ", schema.name, ": several lists need their lengths");
  std::vector<std::vector<MetaTensor>> by_output(schema.outputs.size());
  size_t at = 0;
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    size_t length = 1;
    if (schema.outputs[i].is_list) length = lists == 1 && results.size() >= fixed ? results.size() - fixed : counts[i];
    const size_t wanted = counts.empty() ? length : counts[i];
    WHERRY_CHECK(at + length <= results.size(), "op ", schema.name, ": InferMeta returned ", results.size(), " values");
    WHERRY_ENFORCE(wanted == length || (wanted == 0 && schema.outputs[i].optional), kInvalidArgument, "output ",
                   schema.outputs[i].name, " has ", wanted, " values bound, but there are ", length);
    if (wanted != 0) {
      by_output[i].assign(std::make_move_iterator(results.begin() + static_cast<ptrdiff_t>(at)),
                          std::make_move_iterator(results.begin() + static_cast<ptrdiff_t>(at + length)));
    }
    at += length;
  }
  WHERRY_CHECK(at == results.size(), "op ", schema.name, ": InferMeta returned ", results.size(), " values for ", at);
  return by_output;
}

void CheckDims(const char* output, const MetaTensor& meta) {
  for (const Dim& dim : meta.dims) {
    WHERRY_ENFORCE(!dim.known() || dim.value() >= 0 || dim == kUnknownDim, kInvalidArgument, "output ", output,
                   " would have shape ", meta.DebugString());
  }
}

}  // namespace

int OpDescriptor::FindArg(std::string_view param) const { return FindByName(args, param); }
int OpDescriptor::FindOutput(std::string_view param) const { return FindByName(outputs, param); }

std::vector<std::vector<MetaTensor>> InferMeta(const OpSchema& schema, const std::vector<BoundArg>& args,
                                               std::span<const size_t> output_counts) {
  WHERRY_CHECK(schema.infer_meta != nullptr, "op ", schema.name, " has no InferMeta function");
  WHERRY_CHECK(args.size() == schema.args.size(), "op ", schema.name, ": ", args.size(), " arguments bound");
  WHERRY_CHECK(output_counts.empty() || output_counts.size() == schema.outputs.size(), "op ", schema.name, ": ",
               output_counts.size(), " output counts");
  try {
    InferMetaContext context(schema, args, output_counts);
    schema.infer_meta(context);
    std::vector<std::vector<MetaTensor>> by_output = SplitResults(schema, std::move(context.results), output_counts);
    for (size_t i = 0; i < by_output.size(); ++i) {
      for (const MetaTensor& meta : by_output[i]) CheckDims(schema.outputs[i].name, meta);
    }
    return by_output;
  } catch (Error& error) {
    error.AddContext(StrCat("inferring the shapes of op ", schema.name));
    throw;
  }
}

}  // namespace wherry
