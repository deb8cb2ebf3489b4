#include "predictor/cxx_input_shapes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/strings.h"

namespace wherry {

namespace {

[[noreturn]] void Refuse(const std::string& name, const Shape& shape, const MetaTensor& type, const std::string& why) {
  Throw(ErrorCode::kInvalidArgument, "input ", Quote(name), " is ", type.DebugString(), " and cannot have the shape ",
        shape.DebugString(), ": ", why);
}

// The numbers of the symbols that stand alone as a dimension of an input with a given shape.
SymbolValues NumbersOf(const std::map<std::string, Shape>& shapes, const Program& program) {
  SymbolValues numbers;
  for (const auto& [name, shape] : shapes) {
    const MetaTensor& type = program.main().values.at(name);
    if (!type.rank_known) continue;
    if (type.rank() != shape.rank()) Refuse(name, shape, type, "its rank is another");
    for (int i = 0; i < shape.rank(); ++i) {
      const Dim& dim = type.dims[static_cast<size_t>(i)];
      const std::vector<std::string> symbols = SymbolsOf(dim);
      if (symbols.size() != 1 || dim != program.symbols->Symbol(symbols[0])) continue;
      const auto [known, is_new] = numbers.emplace(symbols[0], shape[i]);
      if (!is_new && known->second != shape[i])
        Refuse(name, shape, type, StrCat(dim.DebugString(), " is ", known->second, " elsewhere"));
    }
  }
  return numbers;
}

void SetShape(const std::string& name, const Shape& shape, const SymbolValues& numbers, MetaTensor* type) {
  std::vector<Dim> dims;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] < 0) Refuse(name, shape, *type, "a dimension is negative");
    if (type->rank_known) {
      const Dim& dim = type->dims[static_cast<size_t>(i)];
      const std::optional<int64_t> fixed = Evaluate(dim, numbers);
      if (fixed && *fixed != shape[i]) Refuse(name, shape, *type, StrCat(dim.DebugString(), " is not ", shape[i]));
    }
    dims.emplace_back(shape[i]);
  }
  type->rank_known = true;
  type->dims = std::move(dims);
}

}  // namespace

void CheckInputNames(const Program& program, const std::map<std::string, Shape>& shapes) {
  const std::vector<std::string>& inputs = program.main().inputs;
  for (const auto& [name, shape] : shapes) {
    if (std::find(inputs.begin(), inputs.end(), name) != inputs.end()) continue;
    Throw(ErrorCode::kNotFound, "a shape is given for ", Quote(name), ", which is no input of the model",
          DidYouMean(name, inputs));
  }
}

void FixInputShapes(const std::map<std::string, Shape>& shapes, Program* program) {
  CheckInputNames(*program, shapes);
  const SymbolValues numbers = NumbersOf(shapes, *program);
  Block& block = program->main();
  for (const auto& [name, shape] : shapes) SetShape(name, shape, numbers, &block.values.at(name));
  for (const std::string& name : block.inputs) {
    for (Dim& dim : block.values.at(name).dims) {
      if (const std::optional<int64_t> number = Evaluate(dim, numbers)) dim = *number;
    }
  }
}

}  // namespace wherry
