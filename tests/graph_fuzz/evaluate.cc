#include "graph_fuzz/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "base/check.h"
#include "base/thread_pool.h"
#include "conformance/make_tensor.h"
#include "kernel/invoke.h"
#include "op/control_flow.h"
#include "op/schema_registry.h"
#include "robustness/random.h"
#include "runtime/session.h"

namespace wherry::graph_fuzz {

namespace {

// One unit in the last place.
double Precision(DataType dtype) {
  switch (dtype) {
    case DataType::kFP64: return 0x1p-52;
    case DataType::kFP16: return 0x1p-10;
    case DataType::kBF16: return 0x1p-7;
    default: return 0x1p-23;
  }
}

// Not far below the largest number.
double Overflow(DataType dtype) {
  switch (dtype) {
    case DataType::kFP64: return 1e300;
    case DataType::kFP16: return 1e3;
    default: return 1e34;
  }
}

std::vector<const DenseTensor*> Pointers(const std::vector<DenseTensor>& tensors) {
  std::vector<const DenseTensor*> pointers;
  for (const DenseTensor& tensor : tensors) pointers.push_back(&tensor);
  return pointers;
}

DenseTensor Noisy(const DenseTensor& tensor, double units, Random* random) {
  CpuContext context;
  DenseTensor wide = TransformTensor(tensor, DataType::kFP64, DataLayout::kNCHW, &context);
  if (wide.buffer() == tensor.buffer()) wide = PlainHostCopy(tensor);
  auto* data = wide.mutable_data<double>();
  double largest = 0;
  for (int64_t i = 0; i < wide.numel(); ++i)
    largest = std::max(largest, std::isfinite(data[i]) ? std::abs(data[i]) : 0);
  const double unit = units * Precision(tensor.dtype());
  for (int64_t i = 0; i < wide.numel(); ++i) {
    const double sign = random->OneIn(2) ? 1 : -1;
    // Sums that cancel are off by a part of what was added, not of themselves.
    data[i] += sign * unit * (std::abs(data[i]) + 0.25 * largest);
  }
  return TransformTensor(wide, tensor.dtype(), DataLayout::kNCHW, &context);
}

// One run op by op, every floating result multiplied by 1 + noise, |noise| a few units of its type's last place: what
// differs between such runs is not determined by the program. Error(kUnsupported) for ops that the runtime executes,
// but for `if` and `loop`.
class NoisyRun {
 public:
  NoisyRun(const Program& program, uint64_t seed)
      : program_(program), random_(seed), units_(0.5 + static_cast<double>(seed % 4)) {}

  std::vector<DenseTensor> Run(size_t index, const std::vector<DenseTensor>& inputs) {
    const Block& block = program_.blocks[index];
    std::map<std::string, DenseTensor> values;
    // Of the main block and of weights too: sums inside an operator round as if its arguments were a little different.
    for (size_t i = 0; i < inputs.size(); ++i)
      values[block.inputs[i]] = index == 0 ? NoisyIfFloating(inputs[i]) : inputs[i];
    const auto value = [&](const std::string& name) -> const DenseTensor& {
      const auto it = values.find(name);
      return it != values.end() ? it->second : Weight(name);
    };
    for (const OpDesc& op : block.ops) {
      const OpSchema& schema = SchemaRegistry::Global().Get(op.Type());
      std::vector<CallArg> args(schema.args.size());
      for (size_t i = 0; i < args.size(); ++i) {
        for (const std::string& name : op.Input(schema.args[i].name)) args[i].tensors.push_back(&value(name));
        const auto attribute = op.attrs().find(schema.args[i].name);
        if (args[i].tensors.empty() && attribute != op.attrs().end()) args[i].attribute = attribute->second;
      }
      std::vector<std::vector<DenseTensor>> results = Call(schema, op, args);
      overflows_ = overflows_ || Overflows(args, results);
      for (size_t i = 0; i < results.size(); ++i) {
        const std::vector<std::string>& names = op.Output(schema.outputs[i].name);
        for (size_t j = 0; j < names.size(); ++j) {
          values[names[j]] = NoisyIfFloating(results[i][j]);
        }
      }
    }
    std::vector<DenseTensor> outputs;
    for (const std::string& name : block.outputs) outputs.push_back(value(name));
    return outputs;
  }

  // Whether an operator made infinities of large numbers.
  bool overflows() const { return overflows_; }

 private:
  // The root of what overflows: products of such numbers may.
  static bool Overflows(const std::vector<CallArg>& args, const std::vector<std::vector<DenseTensor>>& results) {
    double largest = 0;
    for (const CallArg& arg : args) {
      for (const DenseTensor* tensor : arg.tensors) {
        if (!IsFloating(tensor->dtype())) continue;
        for (const double value : conformance::ToDoubles(*tensor)) {
          if (!std::isfinite(value)) return false;
          largest = std::max(largest, std::abs(value));
        }
      }
    }
    return std::any_of(results.begin(), results.end(), [&](const std::vector<DenseTensor>& group) {
      return std::any_of(group.begin(), group.end(), [&](const DenseTensor& tensor) {
        if (!IsFloating(tensor.dtype()) || largest < std::sqrt(Overflow(tensor.dtype()))) return false;
        const std::vector<double> values = conformance::ToDoubles(tensor);
        return std::any_of(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
      });
    });
  }

  DenseTensor NoisyIfFloating(const DenseTensor& tensor) {
    return IsFloating(tensor.dtype()) ? Noisy(tensor, units_, &random_) : tensor;
  }

  const DenseTensor& Weight(const std::string& name) {
    const auto known = weights_.find(name);
    return known != weights_.end() ? known->second
                                   : weights_.emplace(name, NoisyIfFloating(program_.weights.at(name))).first->second;
  }

  std::vector<std::vector<DenseTensor>> Call(const OpSchema& schema, const OpDesc& op,
                                             const std::vector<CallArg>& args) {
    if (schema.Has(kTraitControlFlow)) return IsLoop(schema) ? Loop(op, args) : If(op, args);
    WHERRY_ENFORCE(!schema.RunByRuntime(), kUnsupported, schema.name, " is not run op by op");
    InvokeOptions options;
    for (const OutputDef& output : schema.outputs) options.output_counts.push_back(op.Output(output.name).size());
    return InvokeOp(schema, args, nullptr, options);
  }

  static std::vector<DenseTensor> Values(const CallArg& arg) {
    std::vector<DenseTensor> values;
    for (const DenseTensor* tensor : arg.tensors) values.push_back(*tensor);
    return values;
  }

  std::vector<std::vector<DenseTensor>> If(const OpDesc& op, const std::vector<CallArg>& args) {
    const bool condition = *args[0].tensors.at(0)->data<bool>();
    return {Run(static_cast<size_t>(op.blocks().at(condition ? 0 : 1)), Values(args[1]))};
  }

  std::vector<std::vector<DenseTensor>> Loop(const OpDesc& op, const std::vector<CallArg>& args) {
    WHERRY_ENFORCE(args[1].tensors.empty() && args[0].tensors.size() == 1, kUnsupported,
                   "a loop of this kind is not run op by op");
    std::vector<DenseTensor> carried = Values(args[2]);
    const size_t count = carried.size();
    std::vector<std::vector<DenseTensor>> slices(op.Output("scans").size());
    DenseTensor iteration(HostAllocator(), TensorMeta{DataType::kInt64, Shape(), DataLayout::kNCHW, 0});
    DenseTensor condition(HostAllocator(), TensorMeta{DataType::kBool, Shape(), DataLayout::kNCHW, 0});
    *condition.mutable_data<bool>() = true;
    const int64_t trips = *args[0].tensors[0]->data<int64_t>();
    for (int64_t i = 0; i < trips && *condition.data<bool>(); ++i) {
      *iteration.mutable_data<int64_t>() = i;
      std::vector<DenseTensor> inputs = {iteration, condition};
      inputs.insert(inputs.end(), carried.begin(), carried.end());
      for (const DenseTensor& capture : Values(args[3])) inputs.push_back(capture);
      std::vector<DenseTensor> outputs = Run(static_cast<size_t>(op.blocks().at(0)), inputs);
      condition = outputs[0];
      carried.assign(outputs.begin() + 1, outputs.begin() + 1 + static_cast<std::ptrdiff_t>(count));
      for (size_t k = 0; k < slices.size(); ++k) slices[k].push_back(outputs[1 + count + k]);
    }
    std::vector<DenseTensor> scans;
    for (const std::vector<DenseTensor>& parts : slices) scans.push_back(Stack(parts));
    return {carried, scans};
  }

  // Along a new first axis. What no turn gave has no shape to go by, and no number that could differ.
  static DenseTensor Stack(const std::vector<DenseTensor>& parts) {
    TensorMeta meta{DataType::kFloat, Shape(), DataLayout::kNCHW, 0};
    if (!parts.empty()) meta = parts[0].meta();
    std::vector<int64_t> dims = meta.shape.vector();
    dims.insert(dims.begin(), static_cast<int64_t>(parts.size()));
    meta.shape = Shape(dims);
    DenseTensor stacked(HostAllocator(), meta);
    auto* to = static_cast<std::byte*>(stacked.mutable_raw_data());
    for (const DenseTensor& part : parts)
      to = std::copy_n(static_cast<const std::byte*>(part.raw_data()), part.nbytes(), to);
    return stacked;
  }

  const Program& program_;
  std::map<std::string, DenseTensor> weights_;  // by name, with their noise
  Random random_;
  double units_;
  bool overflows_ = false;
};

struct Spread {
  // By output and element: how far noise takes it from `plain`; infinite where it is NaN in one run and not in another.
  std::vector<std::vector<double>> distances;
  // Numbers on the way are too large, or may be.
  bool overflows = false;
};

Spread FindSpread(const Program& program, const std::vector<DenseTensor>& inputs,
                  const std::vector<std::vector<double>>& plain) {
  constexpr uint64_t kSamples = 24;  // a value that lies on an edge falls to either side in some of them
  Spread spread;
  for (const std::vector<double>& values : plain) spread.distances.emplace_back(values.size(), 0);
  for (uint64_t sample = 0; sample < kSamples; ++sample) {
    NoisyRun run(program, sample);
    const Outputs outputs = run.Run(0, inputs);
    spread.overflows = spread.overflows || run.overflows();
    for (size_t i = 0; i < plain.size(); ++i) {
      const std::vector<double> values = conformance::ToDoubles(outputs[i]);
      if (values.size() != plain[i].size()) {  // shapes that depend on numbers
        std::fill(spread.distances[i].begin(), spread.distances[i].end(), INFINITY);
        continue;
      }
      for (size_t j = 0; j < values.size(); ++j) {
        if (values[j] == plain[i][j] || (std::isnan(values[j]) && std::isnan(plain[i][j]))) continue;
        const double distance = std::abs(values[j] - plain[i][j]);
        double& most = spread.distances[i][j];
        most = std::max(most, std::isfinite(distance) ? distance : INFINITY);
      }
    }
  }
  return spread;
}

bool Comparable(DataType dtype) { return IsFloating(dtype) || IsInteger(dtype) || dtype == DataType::kBool; }

}  // namespace

Outputs RunProgram(Program program, const std::vector<DenseTensor>& inputs, int threads, bool poison, bool twice) {
  static const auto pool = std::make_shared<ThreadPool>(2);
  const auto executable = Executable::Build(std::move(program));
  Session session(executable, threads > 1 ? pool : nullptr);
  session.set_poison(poison);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  session.Run(Pointers(inputs), &outputs);
  if (twice) {
    const std::vector<std::shared_ptr<DenseTensor>> first = outputs;
    std::vector<DenseTensor> before;
    for (const auto& output : first) before.push_back(PlainHostCopy(*output));
    session.Run(Pointers(inputs), &outputs);
    for (size_t i = 0; i < first.size(); ++i) {
      const bool same = first[i]->dtype() == DataType::kString || first[i]->nbytes() == 0 ||
                        std::memcmp(first[i]->raw_data(), before[i].raw_data(), first[i]->nbytes()) == 0;
      WHERRY_CHECK(same, "output ", i, " of the first run changed in the second");
    }
  }
  Outputs results;
  for (const auto& output : outputs) results.push_back(*output);
  return results;
}

std::string Difference(const Program& program, const std::vector<DenseTensor>& inputs, const Outputs& plain,
                       const Outputs& got) {
  constexpr double kUnits = 64;  // of rounding, relative to the largest magnitude, before noise is asked
  constexpr double kSpreadFactor = 16;
  if (plain.size() != got.size()) return StrCat("there are ", got.size(), " outputs, expected ", plain.size());
  std::vector<std::vector<double>> expected;
  for (size_t i = 0; i < plain.size(); ++i) {
    // What no turn of a loop gave has a type only where it was inferred.
    const bool untyped = plain[i].dtype() == DataType::kUndefined && got[i].numel() == 0;
    if (!untyped && !(plain[i].meta() == got[i].meta())) {
      return StrCat("output ", i, " is ", got[i].meta().DebugString(), ", expected ", plain[i].meta().DebugString());
    }
    expected.push_back(Comparable(plain[i].dtype()) ? conformance::ToDoubles(plain[i]) : std::vector<double>());
  }
  Spread spread;
  for (size_t i = 0; i < plain.size(); ++i) {
    if (expected[i].empty()) continue;
    const std::vector<double> values = conformance::ToDoubles(got[i]);
    double largest = 0;
    for (const double value : expected[i]) largest = std::max(largest, std::isfinite(value) ? std::abs(value) : 0);
    const double unit = IsFloating(plain[i].dtype()) ? Precision(plain[i].dtype()) : 0;
    for (size_t j = 0; j < values.size(); ++j) {
      const double a = expected[i][j];
      const double b = values[j];
      // Products in another order overflow where these just do not, or the other way round.
      if ((std::isinf(b) && std::abs(a) > Overflow(plain[i].dtype())) ||
          (!std::isfinite(a) && largest > Overflow(plain[i].dtype()))) {
        continue;
      }
      if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= kUnits * unit * largest) continue;
      if (spread.distances.empty()) {
        try {
          spread = FindSpread(program, inputs, expected);
        } catch (const Error&) {
          spread.distances.assign(plain.size(), {});
        }
      }
      // Factors that were joined may keep a product from overflowing; what follows from an infinity is not the
      // program's.
      if (spread.overflows && !std::isfinite(a)) continue;
      const double around = spread.distances[i].empty() ? 0 : kSpreadFactor * spread.distances[i][j];
      if (std::abs(a - b) <= around || std::isinf(around)) continue;
      return StrCat("output ", i, " (", plain[i].meta().DebugString(), ") is ", b, " at ", j, ", expected ", a,
                    ", the largest is ", largest, ", noise moves it by ", around / kSpreadFactor);
    }
  }
  return "";
}

}  // namespace wherry::graph_fuzz
