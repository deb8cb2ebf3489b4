// Inputs for a model when the user gives none.
#include <random>

#include "base/check.h"
#include "base/strings.h"
#include "predictor/cxx_input_shapes.h"
#include "predictor/cxx_load.h"
#include "predictor/random_inputs.h"
#include "wherry/program.h"

namespace wherry {

namespace {

// A dimension that the model leaves open: the batch is 1; an image is large enough for five halvings.
constexpr int64_t kOpenImageDim = 64;
constexpr int64_t kOpenDim = 16;

// Shapes for the inputs of a program; a dimension's name means the same number in all of them.
class InputShapes {
 public:
  InputShapes(const Program& program, const std::map<std::string, Shape>& given) : program_(program), given_(given) {
    for (const auto& [name, shape] : given) {
      const auto type = program.main().values.find(name);
      if (type == program.main().values.end() || !type->second.rank_known || type->second.rank() != shape.rank())
        continue;
      for (int i = 0; i < shape.rank(); ++i) BindSymbol(type->second.dims[static_cast<size_t>(i)], shape[i]);
    }
  }

  Shape Of(const std::string& name) {
    const auto given = given_.find(name);
    if (given != given_.end()) return given->second;
    const MetaTensor& type = program_.main().values.at(name);
    WHERRY_ENFORCE(type.rank_known, kInvalidArgument, "input '", name, "' has no declared rank: give its shape");
    Shape shape;
    for (int i = 0; i < type.rank(); ++i) {
      const Dim& dim = type.dims[static_cast<size_t>(i)];
      const std::optional<int64_t> known = Evaluate(dim, symbols_);
      shape.push_back(known ? *known : i == 0 ? 1 : type.rank() == 4 && i >= 2 ? kOpenImageDim : kOpenDim);
      BindSymbol(dim, shape.back());
    }
    return shape;
  }
  const SymbolValues& symbols() const { return symbols_; }

 private:
  // The first number that a name gets is its number.
  void BindSymbol(const Dim& dim, int64_t number) {
    const std::vector<std::string> names = SymbolsOf(dim);
    if (names.size() == 1 && dim == program_.symbols->Symbol(names[0])) symbols_.emplace(names[0], number);
  }

  const Program& program_;
  const std::map<std::string, Shape>& given_;
  SymbolValues symbols_;
};

template <typename T, typename Draw>
void Fill(Tensor* tensor, Draw draw) {
  T* data = tensor->mutable_data<T>();
  const int64_t count = tensor->numel();
  for (int64_t i = 0; i < count; ++i) data[i] = static_cast<T>(draw());
}

}  // namespace

Tensor RandomTensor(DataType dtype, const Shape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> real(-1.0F, 1.0F);
  const auto draw_real = [&] { return real(random); };
  // Small enough to be an index or a token of any vocabulary.
  const auto draw_integer = [&] { return static_cast<int>(random() % 2); };
  Tensor tensor;
  tensor.Resize(shape);
  switch (dtype) {
    case DataType::kFloat: Fill<float>(&tensor, draw_real); break;
    case DataType::kFP64: Fill<double>(&tensor, draw_real); break;
    case DataType::kFP16: Fill<Float16>(&tensor, draw_real); break;
    case DataType::kBF16: Fill<BFloat16>(&tensor, draw_real); break;
    case DataType::kInt64: Fill<int64_t>(&tensor, draw_integer); break;
    case DataType::kInt32: Fill<int32_t>(&tensor, draw_integer); break;
    case DataType::kInt16: Fill<int16_t>(&tensor, draw_integer); break;
    case DataType::kInt8: Fill<int8_t>(&tensor, draw_integer); break;
    case DataType::kUInt8: Fill<uint8_t>(&tensor, draw_integer); break;
    case DataType::kBool: Fill<bool>(&tensor, draw_integer); break;
    default: Throw(ErrorCode::kUnsupported, "no random data of type ", ToString(dtype), ": give the input");
  }
  return tensor;
}

std::map<std::string, Tensor> RandomInputs(const CxxConfig& config, const std::map<std::string, Shape>& shapes,
                                           uint64_t seed) {
  return RandomInputsFor(ImportFromConfig(config), shapes, seed);
}

std::map<std::string, Tensor> RandomInputsFor(const Program& program, const std::map<std::string, Shape>& shapes,
                                              uint64_t seed) {
  std::map<std::string, Tensor> inputs;
  InputShapes of_inputs(program, shapes);
  for (const std::string& name : program.main().inputs) {
    try {
      inputs[name] = RandomTensor(program.main().values.at(name).dtype, of_inputs.Of(name), seed++);
    } catch (Error& error) {
      error.AddContext(StrCat("making input '", name, "'"));
      throw;
    }
  }
  CheckInputNames(program, shapes);
  return inputs;
}

SymbolValues InputSymbols(const Program& program, const std::map<std::string, Shape>& shapes) {
  CheckInputNames(program, shapes);
  InputShapes of_inputs(program, shapes);
  for (const std::string& name : program.main().inputs) {
    if (shapes.count(name) != 0 || program.main().values.at(name).rank_known) of_inputs.Of(name);
  }
  return of_inputs.symbols();
}

}  // namespace wherry
