// The vocabulary of the engine: where a kernel runs (Target), what an element is (DataType), how a tensor lies in
// memory (DataLayout), the three together (Place), and the concrete shape of a tensor (Shape).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace wherry {

// kUndefined means "decide for me", kAny "fits everything". kHost, kX86 and kARM share one memory space.
enum class Target : uint8_t {
  kUndefined,
  kAny,
  kHost,
  kX86,
  kARM,
  kOpenCL,
  kCUDA,
  kCustom,
// The machine's own processor is kX86 or kARM ("Backend::CPU" of the sources).
#if defined(__aarch64__) || defined(__arm__)
  kNative = kARM,
#else
  kNative = kX86,
#endif
};

// Sub-byte and 8-bit float types are storage only: kernels convert. A kSequence is one value that is a list of tensors.
enum class DataType : uint8_t {
  kUndefined,
  kAny,
  kBool,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kFP16,
  kBF16,
  kFloat,
  kFP64,
  kComplex64,
  kComplex128,
  kString,
  kInt4,
  kUInt4,
  kFP8E4M3FN,
  kFP8E5M2,
  kSequence,
  kInt2,
  kUInt2,
  kFP4E2M1,
  kFP8E4M3FNUZ,
  kFP8E5M2FNUZ,
  kFP8E8M0,
};

// kNCHW is the plain row-major order of the logical dimensions, whatever their number; kNHWC stores axis 1 (channels)
// last.
enum class DataLayout : uint8_t { kUndefined, kAny, kNCHW, kNHWC };

// Lower-case names: "x86", "f32", "nchw". Parse also takes the long forms ("float32", "float", "int64", "bfloat16") and
// "cpu" for the machine's own target; anything else is an Error(kInvalidArgument) that lists the names.
const char* ToString(Target target) noexcept;
const char* ToString(DataType dtype) noexcept;
const char* ToString(DataLayout layout) noexcept;
Target ParseTarget(std::string_view name);
DataType ParseDataType(std::string_view name);
DataLayout ParseDataLayout(std::string_view name);

// Bytes of one element; 0 for kUndefined, kAny, kString, kSequence and the types of 2 and 4 bits.
size_t SizeOf(DataType dtype) noexcept;
int SubByteBits(DataType dtype) noexcept;  // of one element: 2 or 4; 0 for types of whole bytes
bool IsFloating(DataType dtype) noexcept;  // fp4 to fp64
bool IsInteger(DataType dtype) noexcept;   // signed and unsigned, not bool
bool IsHostMemory(Target target) noexcept;

// The DataType of a C++ element type: DataTypeOf<float>() == DataType::kFloat.
template <typename T>
constexpr DataType DataTypeOf();

// A kernel's key, and what a user allows: target, element type and layout. KernelKey is another name for the same type,
// and its order {target, layout, dtype} works too.
class Place {
 public:
  constexpr Place() = default;
  constexpr Place(Target target, DataType precision = DataType::kFloat,  // NOLINT: implicit by design
                  DataLayout layout = DataLayout::kNCHW)
      : target_(target), precision_(precision), layout_(layout) {}
  constexpr Place(Target target, DataLayout layout, DataType precision)
      : target_(target), precision_(precision), layout_(layout) {}

  constexpr Target target() const { return target_; }
  constexpr DataType precision() const { return precision_; }
  constexpr DataLayout layout() const { return layout_; }
  // phi's names for the same parts.
  constexpr Target backend() const { return target_; }
  constexpr DataType dtype() const { return precision_; }

  std::string DebugString() const;  // "x86/f32/nchw"

  friend constexpr bool operator==(const Place& a, const Place& b) {
    return a.target_ == b.target_ && a.precision_ == b.precision_ && a.layout_ == b.layout_;
  }
  friend constexpr bool operator!=(const Place& a, const Place& b) { return !(a == b); }
  friend constexpr bool operator<(const Place& a, const Place& b) {
    if (a.target_ != b.target_) return a.target_ < b.target_;
    if (a.precision_ != b.precision_) return a.precision_ < b.precision_;
    return a.layout_ < b.layout_;
  }

 private:
  Target target_ = Target::kUndefined;
  DataType precision_ = DataType::kUndefined;
  DataLayout layout_ = DataLayout::kUndefined;
};
using KernelKey = Place;

// Parses "x86:float:nchw" or any prefix of it, also with slashes; "x86" means {x86, f32, nchw}. Throws
// Error(kInvalidArgument).
Place ParsePlace(std::string_view text);

// Dimensions of a tensor in logical order (NCHW for images), all known and >= 0. Rank 0 is a scalar. Never allocates:
// more than kMaxRank dimensions is an Error(kUnsupported). Value type.
class Shape {
 public:
  static constexpr int kMaxRank = 12;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);
  explicit Shape(const std::vector<int64_t>& dims);
  Shape(const int64_t* dims, size_t rank);

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  int64_t operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  int64_t& operator[](int axis) { return dims_[static_cast<size_t>(axis)]; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  int64_t back() const { return dims_[static_cast<size_t>(rank_ - 1)]; }
  void push_back(int64_t dim);
  std::vector<int64_t> vector() const { return std::vector<int64_t>(begin(), end()); }

  // Product of the dimensions (1 for a scalar, 0 if any is 0). Throws Error(kOutOfRange) when it does not fit 63 bits
  // or a dimension is negative.
  int64_t numel() const;
  // Product of dimensions [first, last); 0 <= first <= last <= rank.
  int64_t numel(int first, int last) const;
  std::string DebugString() const;  // "[1,3,48,192]"

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

// 16-bit floats as storage with conversions (round to nearest even).
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value);
  explicit operator float() const;
};
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
};

namespace internal {
template <typename T>
struct DataTypeOfImpl;
#define WHERRY_DATA_TYPE_OF(type, value)                \
  template <>                                           \
  struct DataTypeOfImpl<type> {                         \
    static constexpr DataType kValue = DataType::value; \
  };
WHERRY_DATA_TYPE_OF(bool, kBool)
WHERRY_DATA_TYPE_OF(int8_t, kInt8)
WHERRY_DATA_TYPE_OF(uint8_t, kUInt8)
WHERRY_DATA_TYPE_OF(int16_t, kInt16)
WHERRY_DATA_TYPE_OF(uint16_t, kUInt16)
WHERRY_DATA_TYPE_OF(int32_t, kInt32)
WHERRY_DATA_TYPE_OF(uint32_t, kUInt32)
WHERRY_DATA_TYPE_OF(int64_t, kInt64)
WHERRY_DATA_TYPE_OF(uint64_t, kUInt64)
WHERRY_DATA_TYPE_OF(Float16, kFP16)
WHERRY_DATA_TYPE_OF(BFloat16, kBF16)
WHERRY_DATA_TYPE_OF(float, kFloat)
WHERRY_DATA_TYPE_OF(double, kFP64)
WHERRY_DATA_TYPE_OF(std::string, kString)
#undef WHERRY_DATA_TYPE_OF
}  // namespace internal

template <typename T>
constexpr DataType DataTypeOf() {
  return internal::DataTypeOfImpl<T>::kValue;
}

}  // namespace wherry

// The spelling used throughout: TARGET(kX86), PRECISION(kFloat), DATALAYOUT(kNCHW).
#define TARGET(item) ::wherry::Target::item
#define PRECISION(item) ::wherry::DataType::item
#define DATALAYOUT(item) ::wherry::DataLayout::item
