// Loading the parameters of a Paddle model in whichever form they are.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "importer/importer.h"
#include "importers/paddle/param_stream.h"

namespace wherry::paddle {

// Calls `add` with each parameter's tensor: of the one file that has all of them; or, where there is none, of one file
// for each that is `used`. Errors: kNotFound when there are no such files and a parameter is used (it says what was
// looked for); those of ParamStream. `model` is how messages call the model.
void LoadParams(const ModelSource& source, const std::string& model, std::vector<ParamInfo> params,
                const std::function<bool(const std::string& name)>& used,
                const std::function<void(const std::string& name, DenseTensor tensor)>& add);

}  // namespace wherry::paddle
