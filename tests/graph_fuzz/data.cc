#include "graph_fuzz/data.h"

#include <cstdlib>

#include "conformance/make_tensor.h"

namespace wherry::graph_fuzz {

namespace {

constexpr int64_t kSymbolValue = 3;

int64_t ValueOf(const std::string& symbol) {
  const size_t digits = symbol.find_first_of("0123456789");
  return digits == std::string::npos ? kSymbolValue : std::strtoll(symbol.c_str() + digits, nullptr, 10);
}

}  // namespace

DenseTensor RandomTensor(DataType dtype, const std::vector<int64_t>& dims, int low, int high, uint64_t seed) {
  const bool is_bool = dtype == DataType::kBool;
  return conformance::MakeTensor({dtype, dims, is_bool ? 0.0 : low, is_bool ? 1.0 : high, {}}, seed);
}

std::vector<DenseTensor> InputsFor(const Program& program) {
  std::vector<DenseTensor> inputs;
  for (const std::string& name : program.main().inputs) {
    const MetaTensor& type = program.main().values.at(name);
    std::vector<int64_t> dims;
    for (const Dim& dim : type.dims) {
      SymbolValues values;
      for (const std::string& symbol : SymbolsOf(dim)) values[symbol] = ValueOf(symbol);
      dims.push_back(*Evaluate(dim, values));
    }
    int low = IsFloating(type.dtype) ? -2 : 0;
    int high = 2;
    if (const size_t range = name.find(':'); range != std::string::npos) {
      char* end = nullptr;
      low = static_cast<int>(std::strtol(name.c_str() + range + 1, &end, 10));
      high = static_cast<int>(std::strtol(end + 1, nullptr, 10));
    }
    inputs.push_back(RandomTensor(type.dtype, dims, low, high, std::hash<std::string>()(name)));
  }
  return inputs;
}

}  // namespace wherry::graph_fuzz
