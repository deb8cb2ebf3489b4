// Second spellings: names and signatures under which the documents that Wherry follows use its classes. Nothing in
// Wherry itself uses them. Needs C++20.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "kernel/call_by_context.h"
#include "kernel/kernel_key.h"
#include "op/infer/infer_meta.h"
#include "wherry/extend.h"
#include "wherry/predictor.h"

namespace wherry {

// A kernel of an operator class that holds its own kernels, by name.
using ComputeFun = std::function<void(OpContext*)>;

using CPUDeviceContext = CpuContext;

// A CUDA device by the class name that the sources give it. Constructing one where there is no CUDA device (or no
// provider for it) is Error(kUnavailable) that says what is missing.
class CUDADeviceContext : public DeviceContext {
 public:
  CUDADeviceContext() : context_(CreateDeviceContext(Target::kCUDA)) {}

  Target target() const override { return context_->target(); }
  DeviceContext& implementation() override { return context_->implementation(); }
  Allocator& allocator() override { return context_->allocator(); }
  void Synchronize() override { context_->Synchronize(); }
  void Copy(const DenseTensor& from, DenseTensor* to) override { context_->Copy(from, to); }

 private:
  std::unique_ptr<DeviceContext> context_;
};

}  // namespace wherry

namespace paddle::framework {

using wherry::ComputeFun;
using wherry::CPUDeviceContext;
using wherry::CUDADeviceContext;
using wherry::DeviceContext;
using wherry::OpContext;
using wherry::OpDesc;
using wherry::OperatorBase;
using wherry::Scope;

struct OpRegistry {
  // The caller owns the operator. Errors are those of wherry::OpRegistry::CreateOp.
  static OperatorBase* CreateOp(const OpDesc& desc) { return wherry::OpRegistry::CreateOp(desc).release(); }
};

}  // namespace paddle::framework

// phi (in its time, PTen): writing by hand what an operator's API function does.

#define PD_DLL_DECL

namespace wherry::internal {

// An enum with enumerators of other names: a class of its own, since an enum cannot be given any.
template <typename Enum>
class EnumValue {
 public:
  constexpr EnumValue(Enum value = Enum::kUndefined) : value_(value) {}  // NOLINT: implicit by design
  constexpr operator Enum() const { return value_; }                     // NOLINT

 private:
  Enum value_;
};

}  // namespace wherry::internal

namespace paddle::experimental {

using namespace wherry;  // NOLINT: all other names are Wherry's

struct Backend : wherry::internal::EnumValue<wherry::Target> {
  using EnumValue::EnumValue;
  static const Backend UNDEFINED, ALL_BACKEND, CPU, GPU;
};
inline constexpr Backend Backend::UNDEFINED{wherry::Target::kUndefined};
inline constexpr Backend Backend::ALL_BACKEND{wherry::Target::kAny};
inline constexpr Backend Backend::CPU{wherry::Target::kNative};
inline constexpr Backend Backend::GPU{wherry::Target::kCUDA};

struct DataLayout : wherry::internal::EnumValue<wherry::DataLayout> {
  using EnumValue::EnumValue;
  static const DataLayout UNDEFINED, ANY, ALL_LAYOUT, NCHW, NHWC;
};
inline constexpr DataLayout DataLayout::UNDEFINED{wherry::DataLayout::kUndefined};
inline constexpr DataLayout DataLayout::ANY{wherry::DataLayout::kAny};
inline constexpr DataLayout DataLayout::ALL_LAYOUT{wherry::DataLayout::kAny};
inline constexpr DataLayout DataLayout::NCHW{wherry::DataLayout::kNCHW};
inline constexpr DataLayout DataLayout::NHWC{wherry::DataLayout::kNHWC};

struct DataType : wherry::internal::EnumValue<wherry::DataType> {
  using EnumValue::EnumValue;
  static const DataType UNDEFINED, BOOL, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT16, BFLOAT16,
      FLOAT32, FLOAT64, COMPLEX64, COMPLEX128;
};
inline constexpr DataType DataType::UNDEFINED{wherry::DataType::kUndefined};
inline constexpr DataType DataType::BOOL{wherry::DataType::kBool};
inline constexpr DataType DataType::INT8{wherry::DataType::kInt8};
inline constexpr DataType DataType::UINT8{wherry::DataType::kUInt8};
inline constexpr DataType DataType::INT16{wherry::DataType::kInt16};
inline constexpr DataType DataType::UINT16{wherry::DataType::kUInt16};
inline constexpr DataType DataType::INT32{wherry::DataType::kInt32};
inline constexpr DataType DataType::UINT32{wherry::DataType::kUInt32};
inline constexpr DataType DataType::INT64{wherry::DataType::kInt64};
inline constexpr DataType DataType::UINT64{wherry::DataType::kUInt64};
inline constexpr DataType DataType::FLOAT16{wherry::DataType::kFP16};
inline constexpr DataType DataType::BFLOAT16{wherry::DataType::kBF16};
inline constexpr DataType DataType::FLOAT32{wherry::DataType::kFloat};
inline constexpr DataType DataType::FLOAT64{wherry::DataType::kFP64};
inline constexpr DataType DataType::COMPLEX64{wherry::DataType::kComplex64};
inline constexpr DataType DataType::COMPLEX128{wherry::DataType::kComplex128};

class KernelKeySet : public wherry::KernelKeySet {
 public:
  KernelKeySet(const wherry::KernelKeySet& set) : wherry::KernelKeySet(set) {}  // NOLINT: implicit by design
  KernelKey GetHigestPriorityKernelKey() const { return GetHighestPriorityKernelKey(); }
};

// Preferred to Wherry's own by overload resolution: its first parameter is a Tensor.
template <typename... Args>
KernelKeySet ParseKernelKeyByInputArgs(const Tensor& first, const Args&... rest) {
  return wherry::ParseKernelKeyByInputArgs(first, rest...);
}

inline DeviceContext* GetDeviceContextByBackend(Backend backend) { return wherry::GetDeviceContextByBackend(backend); }

// Memory of a place, from the calling thread's context for it.
class DefaultAllocator : public Allocator {
 public:
  explicit DefaultAllocator(const Place& place) : target_(place.target()) {}
  wherry::Target target() const override { return wherry::GetDeviceContextByBackend(target_)->target(); }
  std::shared_ptr<Buffer> Allocate(size_t bytes) override {
    return wherry::GetDeviceContextByBackend(target_)->allocator().Allocate(bytes);
  }

 private:
  Target target_;
};

}  // namespace paddle::experimental

namespace pten {

using namespace wherry;  // NOLINT: all other names are Wherry's

inline Place TransToFluidPlace(paddle::experimental::Backend backend) {
  return Place(backend, wherry::DataType::kUndefined, wherry::DataLayout::kUndefined);
}

// The kernels of a name and key: which of them runs is decided when it is called, by what is in the context.
class Kernel {
 public:
  Kernel(std::string name, const KernelKey& key) : name_(std::move(name)), key_(key) {}
  void operator()(KernelContext* context) const { CallByContext(name_, key_, context); }

 private:
  std::string name_;
  KernelKey key_;
};

class KernelFactory {
 public:
  static KernelFactory& Instance() {
    static KernelFactory factory;
    return factory;
  }
  // Error as wherry::KernelFactory::SelectKernelOrThrowError.
  Kernel SelectKernelOrThrowError(const std::string& name, const KernelKey& key) const {
    wherry::KernelFactory::Instance().SelectKernelOrThrowError(name, key);
    return Kernel(name, key);
  }
};

}  // namespace pten

// Paddle-Lite: passes, and the predictor that they belong to.

#define USE_LITE_PASS(name) USE_MIR_PASS(name)

#ifndef LOG  // a program may have another logging library's
#define LOG(severity) WHERRY_LOG(WHERRY_COMPAT_##severity)
#define WHERRY_COMPAT_INFO kInfo
#define WHERRY_COMPAT_WARNING kWarning
#define WHERRY_COMPAT_ERROR kError
#endif

namespace paddle::lite_api {

using namespace wherry;  // NOLINT: all other names are Wherry's

using TargetType = Target;
using PrecisionType = DataType;
using DataLayoutType = wherry::DataLayout;

// CxxConfig or MobileConfig.
template <typename ConfigT>
std::shared_ptr<PaddlePredictor> CreatePaddlePredictor(const ConfigT& config) {
  return wherry::CreatePaddlePredictor(config);
}

}  // namespace paddle::lite_api

namespace paddle::lite {

using namespace wherry;  // NOLINT: all other names are Wherry's

using lite_api::CreatePaddlePredictor;
using lite_api::DataLayoutType;
using lite_api::PrecisionType;
using lite_api::TargetType;

namespace core {
using wherry::KernelPickFactor;
}

namespace cpp {
using wherry::OpDesc;
}

namespace mir {
using namespace wherry;       // NOLINT
using namespace wherry::mir;  // NOLINT
}  // namespace mir

// A program with its weights in a scope.
class Program : public wherry::Program {
 public:
  Program() = default;
  Program(wherry::Program&& program) : wherry::Program(std::move(program)) {}  // NOLINT: implicit by design

  // The weights as variables, which share their memory: those that the program has at the first call. The scope lives
  // as long as the program.
  Scope* exec_scope() {
    if (exec_scope_ == nullptr) {
      exec_scope_ = std::make_shared<Scope>();
      for (const auto& [name, tensor] : weights) *exec_scope_->Tensor(name) = tensor;
    }
    return exec_scope_.get();
  }

 private:
  std::shared_ptr<Scope> exec_scope_;
};

// What CreatePaddlePredictor does for a CxxConfig, in its steps. Errors are the same.
class CxxPredictor {
 public:
  // LoadModel, then optimizer_.Run, and what runs the result.
  void Build(const CxxConfig& config) {
    LoadModel(config);
    Program optimized = program_.optimized ? std::move(program_)
                                           : optimizer_.Run(std::move(program_), config.valid_places(),
                                                            core::KernelPickFactor(), PassesOf(config));
    predictor_ = wherry::CreatePaddlePredictor(std::move(optimized), config);
  }
  // Reads the model into a program and does nothing else with it.
  void LoadModel(const CxxConfig& config) { program_ = ImportFromConfig(config); }

  // What LoadModel read; empty after Build.
  Program& program() { return program_; }
  // Build first.
  PaddlePredictor* operator->() const {
    if (predictor_ == nullptr) throw Error(ErrorCode::kInvalidArgument, "this predictor was not built");
    return predictor_.get();
  }

  Optimizer optimizer_;

 private:
  Program program_;
  std::shared_ptr<PaddlePredictor> predictor_;
};
using Predictor = CxxPredictor;

// A predictor that is built.
inline std::shared_ptr<CxxPredictor> CreatePredictor(const CxxConfig& config) {
  auto predictor = std::make_shared<CxxPredictor>();
  predictor->Build(config);
  return predictor;
}

}  // namespace paddle::lite
