// Every operator with arguments that make no sense: each call gives a result or an Error, and nothing else. Calls start
// from the cases of ops/*.yaml, whose shapes and attributes are then changed at random; without a case they are random
// altogether. Seeds are fixed, so a failure repeats: WHERRY_ROBUSTNESS_TRACE=1 prints each call before it runs,
// WHERRY_ROBUSTNESS_CALLS makes more of them than the default.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <limits>
#include <map>

#include "base/check.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "conformance/case.h"
#include "conformance/make_tensor.h"
#include "core/device_context.h"
#include "kernel/invoke.h"
#include "kernel/kernel_registry.h"
#include "op/schema_registry.h"
#include "robustness/random.h"

namespace wherry {
namespace {

using conformance::CaseArg;
using conformance::CaseTensor;
using conformance::OpCases;

// Memory that one call's results may take. A shape that needs more is refused as by a full machine.
constexpr size_t kMostBytes = 8 << 20;
constexpr int64_t kMostInputElements = 1 << 12;
// Far more than any call on tensors of that size should take, even on a busy machine with sanitizers.
constexpr double kMostSeconds = 20;

class SmallAllocator : public Allocator {
 public:
  std::shared_ptr<Buffer> Allocate(size_t bytes) override {
    WHERRY_ENFORCE(bytes <= kMostBytes, kResourceExhausted, "cannot allocate ", bytes, " bytes");
    return conformance::GuardedBuffer(bytes, 1);
  }
  Target target() const override { return Target::kHost; }
};

class SmallContext : public CpuContext {
 public:
  using CpuContext::CpuContext;
  Allocator& allocator() override { return allocator_; }

 private:
  SmallAllocator allocator_;
};

struct TensorSpec {
  DataType dtype = DataType::kFloat;
  std::vector<int64_t> shape;
  std::vector<double> values;

  int64_t Elements() const {  // at most kMostInputElements + 1
    int64_t count = 1;
    for (const int64_t dim : shape) {
      if (dim == 0) return 0;
    }
    for (const int64_t dim : shape)
      count = std::min(dim, kMostInputElements + 1) * count > kMostInputElements ? kMostInputElements + 1 : count * dim;
    return count;
  }
};

struct ArgSpec {
  std::vector<TensorSpec> tensors;
  Attribute attribute;
};

std::string Describe(const OpSchema& op, const std::vector<ArgSpec>& args) {
  std::string text = std::string(op.name) + "(";
  for (size_t i = 0; i < args.size(); ++i) {
    text += StrCat(i == 0 ? "" : ", ", op.args[i].name, ": ");
    if (args[i].tensors.empty()) {
      text += TypeOf(args[i].attribute) == AttrType::kNone ? "-" : ToString(args[i].attribute);
      continue;
    }
    for (const TensorSpec& tensor : args[i].tensors) {
      text += StrCat(ToString(tensor.dtype), "[", Join(tensor.shape, ","), "]");
      if (!tensor.values.empty()) text += StrCat("{", Join(tensor.values, ","), "}");
      text += " ";
    }
  }
  return text + ")";
}

class Fuzzer {
 public:
  Fuzzer(const OpSchema& op, const OpCases* cases, uint64_t seed) : op_(op), cases_(cases), random_(seed) {}

  std::vector<ArgSpec> Make() {
    std::vector<ArgSpec> args(op_.args.size());
    const bool from_case = cases_ != nullptr && !cases_->cases.empty() && !random_.OneIn(6);
    if (from_case) {
      const auto& chosen = cases_->cases[random_.Below(cases_->cases.size())];
      for (const CaseArg& given : chosen.args) CopyArg(given, &args[static_cast<size_t>(given.arg)]);
      const int changes = static_cast<int>(random_.Below(4));
      for (int i = 0; i < changes; ++i) Change(random_.Below(args.size()), &args);
    } else {
      for (size_t i = 0; i < args.size(); ++i) Replace(op_.args[i], &args[i]);
    }
    return args;
  }

  Random& random() { return random_; }

 private:
  void CopyArg(const CaseArg& given, ArgSpec* arg) {
    if (given.attribute != nullptr) {
      arg->attribute = ParseAttribute(op_.args[static_cast<size_t>(given.arg)].type, given.attribute);
    }
    for (const CaseTensor& spec : given.tensors) {
      TensorSpec& tensor = arg->tensors.emplace_back();
      tensor.dtype = spec.dtype;
      tensor.shape.assign(spec.shape.begin(), spec.shape.end());
      tensor.values.assign(spec.values.begin(), spec.values.end());
    }
  }

  DataType AnyType() {
    static constexpr DataType kTypes[] = {DataType::kFloat, DataType::kFloat, DataType::kFloat,  DataType::kFP16,
                                          DataType::kBF16,  DataType::kFP64,  DataType::kInt64,  DataType::kInt32,
                                          DataType::kInt8,  DataType::kUInt8, DataType::kUInt64, DataType::kBool};
    return random_.Pick(kTypes);
  }

  int64_t Number() {
    static constexpr int64_t kExtremes[] = {std::numeric_limits<int64_t>::min(),
                                            std::numeric_limits<int64_t>::max(),
                                            std::numeric_limits<int32_t>::min(),
                                            std::numeric_limits<int32_t>::max(),
                                            int64_t{1} << 32,
                                            -(int64_t{1} << 32),
                                            int64_t{1} << 62,
                                            1000,
                                            -1000};
    return random_.OneIn(10) ? random_.Pick(kExtremes) : static_cast<int64_t>(random_.Below(10)) - 3;
  }

  double Real() {
    static constexpr double kExtremes[] = {std::numeric_limits<double>::quiet_NaN(),
                                           std::numeric_limits<double>::infinity(),
                                           -std::numeric_limits<double>::infinity(),
                                           1e308,
                                           -1e308,
                                           1e-308,
                                           -0.0};
    return random_.OneIn(5) ? random_.Pick(kExtremes) : static_cast<double>(Number()) / 2;
  }

  TensorSpec AnyTensor() {
    TensorSpec tensor;
    tensor.dtype = AnyType();
    const size_t rank = random_.Below(random_.OneIn(10) ? 9 : 5);
    for (size_t i = 0; i < rank; ++i) tensor.shape.push_back(static_cast<int64_t>(random_.Below(6)));
    return tensor;
  }

  // The value of an attribute, as a tensor.
  TensorSpec NumberTensor(bool list) {
    TensorSpec tensor;
    tensor.dtype = random_.OneIn(4) ? AnyType() : random_.OneIn(2) ? DataType::kInt32 : DataType::kInt64;
    const size_t count = list ? random_.Below(6) : 1;
    if (list || random_.OneIn(2)) tensor.shape = {static_cast<int64_t>(count)};
    // Small enough for every type.
    for (size_t i = 0; i < count; ++i) tensor.values.push_back(static_cast<double>(random_.Below(8)));
    return tensor;
  }

  EpilogueStep AnyStep() {
    EpilogueStep step;
    step.kind = static_cast<EpilogueStep::Kind>(random_.Below(4));
    step.act = static_cast<ActKind>(random_.Below(kActKinds));
    step.a = static_cast<float>(random_.Below(7));
    step.b = static_cast<float>(random_.Below(7));
    const bool sensible = !random_.OneIn(8);
    const bool act = step.kind == EpilogueStep::Kind::kAct;
    step.operand = sensible ? (act ? -1 : static_cast<int>(random_.Below(3))) : static_cast<int>(Number());
    return step;
  }

  ElementwiseProgram AnyProgram() {
    using Op = ElementwiseInstruction::Op;
    ElementwiseProgram program;
    program.inputs = static_cast<int>(random_.Below(random_.OneIn(10) ? 12 : 4));
    const size_t count = random_.Below(random_.OneIn(10) ? 20 : 6);
    for (size_t i = 0; i < count; ++i) {
      ElementwiseInstruction& instruction = program.instructions.emplace_back();
      instruction.op = static_cast<Op>(random_.Below(static_cast<size_t>(Op::kConstant) + 1));
      instruction.act = static_cast<ActKind>(random_.Below(kActKinds));
      instruction.a = static_cast<float>(random_.Below(5));
      instruction.b = static_cast<float>(random_.Below(5));
      const auto any_register = [&] {
        return random_.OneIn(20) ? static_cast<int>(Number())
                                 : static_cast<int>(random_.Below(static_cast<size_t>(program.inputs) + i + 1)) - 1;
      };
      const bool reads = instruction.op != Op::kConstant;
      instruction.lhs = reads ? any_register() : -1;
      instruction.rhs = reads && instruction.op != Op::kAct ? any_register() : -1;
    }
    return program;
  }

  std::string Word() {
    static const std::string kWords[] = {"",         "EXPLICIT", "SAME", "SAME_LOWER", "VALID",
                                         "constant", "reflect",  "edge", "wrap",       "max",
                                         "avg",      "none",     "tanh", "nearest",    std::string("a\0b", 3)};
    return random_.Pick(kWords);
  }

  Scalar AnyScalar() {
    switch (random_.Below(4)) {
      case 0: return Scalar(random_.OneIn(2));
      case 1: return Scalar(static_cast<int>(Number()));
      case 2: return Scalar(Number());
      default: return Scalar(Real());
    }
  }

  Attribute AnyAttribute(AttrType type) {
    const size_t count = random_.Below(6);
    switch (type) {
      case AttrType::kBool: return random_.OneIn(2);
      case AttrType::kInt: return Number();
      case AttrType::kFloat: return Real();
      case AttrType::kString: return Word();
      case AttrType::kBools: return std::vector<bool>(count, random_.OneIn(2));
      case AttrType::kInts: return Fill<int64_t>(count, [this] { return Number(); });
      case AttrType::kFloats: return Fill<double>(count, [this] { return Real(); });
      case AttrType::kStrings: return Fill<std::string>(count, [this] { return Word(); });
      case AttrType::kScalar: return AnyScalar();
      case AttrType::kScalars: return Fill<Scalar>(count, [this] { return AnyScalar(); });
      case AttrType::kIntArray: return IntArray(Fill<int64_t>(count, [this] { return Number(); }));
      case AttrType::kDataType: return random_.OneIn(4) ? static_cast<DataType>(random_.Below(20)) : AnyType();
      case AttrType::kDataLayout: return static_cast<DataLayout>(random_.Below(4));
      case AttrType::kTarget: return random_.OneIn(2) ? Target::kHost : static_cast<Target>(random_.Below(5));
      case AttrType::kEpilogue: {
        Epilogue epilogue;
        epilogue.steps = Fill<EpilogueStep>(random_.Below(random_.OneIn(10) ? 9 : 4), [this] { return AnyStep(); });
        return epilogue;
      }
      case AttrType::kElementwiseProgram: return AnyProgram();
      case AttrType::kNone: break;
    }
    return {};
  }

  template <typename T, typename Make>
  static std::vector<T> Fill(size_t count, const Make& make) {
    std::vector<T> values;
    for (size_t i = 0; i < count; ++i) values.push_back(make());
    return values;
  }

  // Another value for the whole argument.
  void Replace(const ArgDef& def, ArgSpec* arg) {
    *arg = ArgSpec();
    if (def.is_tensor()) {
      const size_t count = def.kind == ArgKind::kTensorList       ? random_.Below(4)
                           : def.kind == ArgKind::kOptionalTensor ? random_.Below(2)
                                                                  : 1;
      for (size_t i = 0; i < count; ++i) arg->tensors.push_back(AnyTensor());
    } else if (def.may_be_tensor() && random_.OneIn(4)) {
      arg->tensors.push_back(NumberTensor(def.type == AttrType::kIntArray));
    } else if (!random_.OneIn(4)) {
      arg->attribute = AnyAttribute(def.type);
    }
  }

  void Change(size_t index, std::vector<ArgSpec>* args) {
    ArgSpec& arg = (*args)[index];
    if (arg.tensors.empty() && ChangeList(&arg.attribute)) return;
    if (arg.tensors.empty() || random_.OneIn(10)) {
      Replace(op_.args[index], &arg);
      return;
    }
    TensorSpec& tensor = random_.PickFrom(arg.tensors);
    const size_t rank = tensor.shape.size();
    switch (random_.Below(6)) {
      case 0:
        if (rank > 0) random_.PickFrom(tensor.shape) = static_cast<int64_t>(random_.Below(9));
        break;
      case 1:
        if (rank > 0) tensor.shape.erase(tensor.shape.begin() + static_cast<int64_t>(random_.Below(rank)));
        break;
      case 2:
        tensor.shape.insert(tensor.shape.begin() + static_cast<int64_t>(random_.Below(rank + 1)),
                            static_cast<int64_t>(random_.Below(4)));
        break;
      case 3: tensor.dtype = AnyType(); break;
      case 4:  // no element at all, in a shape that claims many
        if (rank > 1) {
          tensor.shape[random_.Below(rank)] = int64_t{1} << (20 + random_.Below(43));
          tensor.shape[random_.Below(rank)] = 0;
        }
        break;
      default: {  // as another argument's tensor
        const ArgSpec& other = random_.PickFrom(*args);
        if (!other.tensors.empty()) tensor = TensorSpec(other.tensors[0]);
        break;
      }
    }
    if (tensor.Elements() != static_cast<int64_t>(tensor.values.size())) tensor.values.clear();
  }

  // One number of a list; false when the attribute is no list with something in it.
  bool ChangeList(Attribute* attribute) {
    std::vector<int64_t> numbers;
    if (const auto* ints = std::get_if<std::vector<int64_t>>(attribute)) numbers = *ints;
    if (const auto* array = std::get_if<IntArray>(attribute)) numbers = array->values();
    if (numbers.empty() || random_.OneIn(4)) return false;
    random_.PickFrom(numbers) = Number();
    if (std::holds_alternative<IntArray>(*attribute)) {
      *attribute = IntArray(numbers);
    } else {
      *attribute = numbers;
    }
    return true;
  }

  const OpSchema& op_;
  const OpCases* cases_;
  Random random_;
};

class OpFuzzTest : public ::testing::Test {
 protected:
  // One call with a kernel chosen at random or by Wherry.
  void Run(const OpSchema& op, const std::vector<ArgSpec>& specs, Random* random) {
    std::deque<DenseTensor> tensors;
    std::vector<CallArg> args(specs.size());
    for (size_t i = 0; i < specs.size(); ++i) {
      args[i].attribute = specs[i].attribute;
      for (const TensorSpec& spec : specs[i].tensors) {
        const CaseTensor made{spec.dtype, spec.shape, 1, 0, spec.values};
        args[i].tensors.push_back(&tensors.emplace_back(conformance::MakeTensor(made, i + 1)));
      }
    }
    InvokeOptions options;
    const std::vector<const Kernel*> kernels = KernelFactory::Instance().Kernels(op.kernel);
    if (!kernels.empty() && random->OneIn(2)) options.kernel = random->PickFrom(kernels);
    if (options.kernel != nullptr && options.kernel->pack != nullptr && random->OneIn(2)) {
      for (size_t i = 1; i < op.args.size(); ++i) {
        if (op.args[i].is_tensor()) options.constants.push_back(static_cast<int8_t>(i));
      }
    }
    if (op.inplace.size() == 1 && random->OneIn(8)) {
      const auto arg = static_cast<size_t>(op.inplace[0].arg);
      if (args[arg].tensors.size() == 1) options.inplace = const_cast<DenseTensor*>(args[arg].tensors[0]);
    }
    InvokeOp(op, args, random->OneIn(3) ? &two_threads_ : &one_thread_, options);
  }

  SmallContext one_thread_;
  SmallContext two_threads_{std::make_shared<ThreadPool>(2)};
};

TEST_F(OpFuzzTest, AResultOrAnError) {
  const char* calls_text = std::getenv("WHERRY_ROBUSTNESS_CALLS");
  const uint64_t calls = calls_text == nullptr ? 60 : std::strtoull(calls_text, nullptr, 10);
  const bool trace = std::getenv("WHERRY_ROBUSTNESS_TRACE") != nullptr;
  std::map<std::string, const OpCases*> cases;
  for (const OpCases& each : conformance::AllCases()) cases[each.op->name] = &each;

  uint64_t results = 0;
  uint64_t errors = 0;
  for (const OpSchema* op : SchemaRegistry::Global().List()) {
    if (op->Has(kTraitControlFlow)) continue;
    const auto found = cases.find(op->name);
    for (uint64_t seed = 0; seed < calls; ++seed) {
      Fuzzer fuzzer(*op, found == cases.end() ? nullptr : found->second, seed);
      const std::vector<ArgSpec> args = fuzzer.Make();
      bool small = true;
      for (const ArgSpec& arg : args) {
        for (const TensorSpec& tensor : arg.tensors) small = small && tensor.Elements() <= kMostInputElements;
      }
      if (!small) continue;
      const auto description = [&] { return StrCat("seed ", seed, ": ", Describe(*op, args)); };
      if (trace) std::fprintf(stderr, "%s\n", description().c_str());
      const auto start = std::chrono::steady_clock::now();
      try {
        Run(*op, args, &fuzzer.random());
        ++results;
      } catch (const Error& error) {
        ++errors;
        EXPECT_NE(error.code(), ErrorCode::kInternal) << description() << "\n" << error.what();
        EXPECT_FALSE(error.message().empty()) << description();
      } catch (const std::exception& error) {
        ADD_FAILURE() << description() << "\n" << error.what();
      }
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      EXPECT_LT(took.count(), kMostSeconds) << description();
    }
  }
  std::printf("%llu results, %llu errors\n", static_cast<unsigned long long>(results),
              static_cast<unsigned long long>(errors));
  // Both must be met, else the fuzzer is too wild or too tame.
  EXPECT_GT(results, calls);
  EXPECT_GT(errors, calls);
}

}  // namespace
}  // namespace wherry
