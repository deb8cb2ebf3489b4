// Elementwise ops, their chains and the pieces that activations are made of; casts, comparisons, selections.
#include "graph_fuzz/generators.h"
#include "op/schema_registry.h"

namespace wherry::graph_fuzz {

namespace {

std::vector<std::string> NamesWith(OpTrait trait) {
  std::vector<std::string> names;
  for (const OpSchema* schema : SchemaRegistry::Global().List()) {
    if (schema->Has(trait)) names.emplace_back(schema->name);
  }
  return names;
}

// The ones that networks are made of, more often than the rest.
const char* CommonUnary(Random* random) {
  static constexpr const char* kNames[] = {"relu", "relu6", "sigmoid", "tanh",      "exp",         "sqrt",
                                           "abs",  "neg",   "erf",     "hardswish", "hardsigmoid", "gelu",
                                           "silu", "clip",  "scale",   "assign",    "dropout",     "square"};
  return random->Pick(kNames);
}

void AddUnary(ProgramWriter* writer) {
  static const std::vector<std::string> all = NamesWith(kTraitUnary);
  Random& random = writer->random();
  const std::string x = writer->Any(random.OneIn(8) ? writer->AnyType() : DataType::kFloat);
  const std::string name = random.OneIn(3) ? random.PickFrom(all) : CommonUnary(&random);
  Attributes attributes;
  const auto number = [&] { return Scalar(static_cast<double>(random.Below(9)) / 2 - 2); };
  if (name == "clip" && !random.OneIn(4)) attributes = {{"min", Scalar(-0.5)}, {"max", number()}};
  if (name == "clip" && random.OneIn(3)) attributes = {{"min", Scalar(0.0)}, {"max", Scalar(6.0)}};
  if (name == "scale" && !random.OneIn(6)) {
    attributes = {{"scale", number()}, {"bias", number()}, {"bias_after_scale", random.OneIn(2)}};
  }
  if (name == "leaky_relu") attributes = {{"negative_slope", 0.25}};
  if (name == "cast") attributes = {{"dtype", writer->AnyType()}};
  writer->Add(name, {{"x", {x}}}, attributes);
}

void AddBinary(ProgramWriter* writer) {
  static const std::vector<std::string> all = NamesWith(kTraitBinary);
  static constexpr const char* kCommon[] = {"add",    "add",     "subtract", "multiply",
                                            "divide", "maximum", "minimum",  "elementwise_pow"};
  Random& random = writer->random();
  const DataType dtype = random.OneIn(4) ? writer->AnyType() : DataType::kFloat;
  const std::string x = writer->Any(dtype);
  const std::string y = random.OneIn(8) ? x : writer->Broadcasts(dtype, writer->DimsOf(x));
  const std::string name = random.OneIn(3) ? random.PickFrom(all) : random.Pick(kCommon);
  if (random.OneIn(2)) {
    writer->Add(name, {{"x", {x}}, {"y", {y}}});
  } else {
    writer->Add(name, {{"x", {y}}, {"y", {x}}});
  }
}

// Numbers that fusions and algebra look for, and near misses, of one element or broadcast.
void AddConstant(ProgramWriter* writer) {
  static constexpr double kNumbers[] = {0, 1, -1, 0.5, 2, 3, 6, 0.70710677, 1.4142135, 1.702, 0.044715, 0.25, 1e-5};
  static constexpr const char* kOps[] = {"add",     "multiply", "divide",         "subtract",
                                         "maximum", "minimum",  "elementwise_pow"};
  Random& random = writer->random();
  const std::string x = writer->Any(DataType::kFloat);
  Dims dims = writer->DimsOf(x);
  if (random.OneIn(2)) {
    dims.clear();
  } else {
    for (int64_t& dim : dims) dim = random.OneIn(3) ? dim : 1;
  }
  const std::string y = writer->Add(
      "full", {}, {{"shape", IntArray(dims)}, {"value", Scalar(random.Pick(kNumbers))}, {"dtype", DataType::kFloat}});
  if (random.OneIn(2)) {
    writer->Add(random.Pick(kOps), {{"x", {x}}, {"y", {y}}});
  } else {
    writer->Add(random.Pick(kOps), {{"x", {y}}, {"y", {x}}});
  }
}

void AddActivationFromPieces(ProgramWriter* writer) {
  Random& random = writer->random();
  const std::string x = writer->Any(DataType::kFloat, 1);
  const auto number = [&](double value) {
    DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kFloat, Shape(), DataLayout::kNCHW, 0});
    tensor.mutable_data<float>()[0] = static_cast<float>(random.OneIn(12) ? value * 1.01 : value);
    return writer->NewWeight(std::move(tensor));
  };
  const auto binary = [&](const char* name, const std::string& a, const std::string& b) {
    return random.OneIn(2) ? writer->Add(name, {{"x", {a}}, {"y", {b}}}) : writer->Add(name, {{"x", {b}}, {"y", {a}}});
  };
  const auto unary = [&](const char* name, const std::string& a) { return writer->Add(name, {{"x", {a}}}); };
  switch (random.Below(4)) {
    case 0: binary("multiply", x, unary("sigmoid", x)); break;
    case 1: binary("multiply", x, unary("hardsigmoid", x)); break;
    case 2: {
      const std::string shifted = binary("add", x, number(3));
      const std::string clipped =
          random.OneIn(2) ? unary("relu6", shifted)
                          : writer->Add("clip", {{"x", {shifted}}}, {{"min", Scalar(0.0)}, {"max", Scalar(6.0)}});
      binary("multiply", x, writer->Add("divide", {{"x", {clipped}}, {"y", {number(6)}}}));
      break;
    }
    default: {
      const std::string scaled = binary("multiply", x, number(0.70710677));
      const std::string half = binary("multiply", x, number(0.5));
      binary("multiply", half, binary("add", unary("erf", scaled), number(1)));
      break;
    }
  }
}

// A chain along which the shape stays: what fused loops and in-place results are made of.
void AddChain(ProgramWriter* writer) {
  Random& random = writer->random();
  std::string x = writer->Any(DataType::kFloat, 1);
  for (size_t i = 2 + random.Below(5); i > 0 && !x.empty(); --i) {
    if (random.OneIn(2)) {
      x = writer->Add(CommonUnary(&random), {{"x", {x}}});
    } else {
      static constexpr const char* kOps[] = {"add", "multiply", "subtract", "maximum"};
      x = writer->Add(random.Pick(kOps),
                      {{"x", {x}}, {"y", {writer->Broadcasts(DataType::kFloat, writer->DimsOf(x))}}});
    }
  }
}

void AddSelection(ProgramWriter* writer) {
  static constexpr const char* kCompare[] = {"equal", "not_equal", "less_than", "less_equal", "greater_than"};
  Random& random = writer->random();
  const DataType dtype = random.OneIn(3) ? DataType::kInt64 : DataType::kFloat;
  const std::string x = writer->Any(dtype);
  const std::string y = writer->Broadcasts(dtype, writer->DimsOf(x));
  const std::string condition = random.OneIn(4) ? writer->Broadcasts(DataType::kBool, writer->DimsOf(x))
                                                : writer->Add(random.Pick(kCompare), {{"x", {x}}, {"y", {y}}});
  if (random.OneIn(4)) {
    writer->Add("cast", {{"x", {condition}}}, {{"dtype", DataType::kFloat}});
  } else {
    writer->Add("where", {{"condition", {condition}}, {"x", {x}}, {"y", {y}}});
  }
}

void AddCasts(ProgramWriter* writer) {
  static constexpr DataType kTypes[] = {DataType::kFloat, DataType::kFP64,  DataType::kFP16, DataType::kInt64,
                                        DataType::kInt32, DataType::kUInt8, DataType::kBool};
  Random& random = writer->random();
  std::string x = writer->Any(writer->AnyType());
  for (size_t i = 1 + random.Below(3); i > 0 && !x.empty(); --i) {
    x = writer->Add("cast", {{"x", {x}}}, {{"dtype", random.Pick(kTypes)}});
  }
}

constexpr Generator kGenerators[] = {{"unary", 20, AddUnary},      {"binary", 20, AddBinary},
                                     {"constant", 8, AddConstant}, {"pieces", 6, AddActivationFromPieces},
                                     {"chain", 8, AddChain},       {"selection", 4, AddSelection},
                                     {"casts", 5, AddCasts}};

}  // namespace

std::span<const Generator> ElementwiseGenerators() { return kGenerators; }

}  // namespace wherry::graph_fuzz
