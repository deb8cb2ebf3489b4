#include "importers/paddle/load_params.h"

#include "base/check.h"
#include "base/strings.h"

namespace wherry::paddle {

void LoadParams(const ModelSource& source, const std::string& model, std::vector<ParamInfo> params,
                const std::function<bool(const std::string& name)>& used,
                const std::function<void(const std::string& name, DenseTensor tensor)>& add) {
  if (source.params_given || !source.params.data.empty()) {
    std::vector<DenseTensor> tensors = ReadCombinedParams(source.params, &params);
    for (size_t i = 0; i < params.size(); ++i) add(params[i].name, std::move(tensors[i]));
    return;
  }
  std::erase_if(params, [&](const ParamInfo& param) { return !used(param.name); });
  if (params.empty()) return;
  if (!source.separate_params) {
    Throw(ErrorCode::kNotFound, model, " needs ", params.size(), " parameters (", Quote(params[0].name),
          ", ...), but there is no file with them",
          source.looked_for.empty() ? ""
                                    : ": looked for " + Join(source.looked_for, ", ") +
                                          " beside it; another can be named (--params, set_param_file)");
  }
  for (const ParamInfo& param : params) {
    FileBytes file;
    try {
      file = source.open(param.name);
    } catch (Error& error) {
      error.AddContext(
          StrCat("loading parameter ", Quote(param.name), " from a file of its own",
                 source.looked_for.empty() ? "" : ", as there is none of " + Join(source.looked_for, ", ")));
      throw;
    }
    ParamStream stream(std::move(file));
    add(param.name, stream.Next(param));
    stream.ExpectEnd();
  }
}

}  // namespace wherry::paddle
