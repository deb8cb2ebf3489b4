#include "op/attribute.h"

#include <bit>
#include <string>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace wherry {
namespace {

// In the order of AttrType.
constexpr const char* kTypeNames[] = {"none",
                                      "bool",
                                      "int",
                                      "float",
                                      "string",
                                      "bools",
                                      "ints",
                                      "floats",
                                      "strings",
                                      "Scalar",
                                      "Scalars",
                                      "IntArray",
                                      "DataType",
                                      "DataLayout",
                                      "Target",
                                      "Epilogue",
                                      "ElementwiseProgram"};
static_assert(std::size(kTypeNames) == std::variant_size_v<Attribute>);

// Calls `visit` with every number, as bits, and every text that make up a value.
template <typename Visit>
struct Walk {
  Visit visit;

  void operator()(std::monostate /*none*/) {}
  void operator()(bool value) { visit(uint64_t{value}); }
  void operator()(int64_t value) { visit(static_cast<uint64_t>(value)); }
  void operator()(int value) { visit(static_cast<uint64_t>(value)); }
  void operator()(double value) { visit(std::bit_cast<uint64_t>(value)); }
  void operator()(float value) { visit(uint64_t{std::bit_cast<uint32_t>(value)}); }
  void operator()(const std::string& value) { visit(HashString(value)); }
  void operator()(const Scalar& value) {
    (*this)(value.dtype());
    if (value.is_floating()) {
      (*this)(value.to<double>());
    } else {
      (*this)(value.to<int64_t>());
    }
  }
  void operator()(const IntArray& value) { (*this)(value.values()); }
  template <typename T>
  requires std::is_enum_v<T>
  void operator()(T value) { visit(static_cast<uint64_t>(value)); }
  template <typename T>
  void operator()(const std::vector<T>& values) {
    visit(values.size());
    for (const auto& value : values) (*this)(static_cast<const T&>(value));
  }
  void operator()(const EpilogueStep& step) {
    (*this)(step.kind);
    (*this)(step.act);
    (*this)(step.a);
    (*this)(step.b);
    (*this)(step.operand);
  }
  void operator()(const Epilogue& epilogue) { (*this)(epilogue.steps); }
  void operator()(const ElementwiseInstruction& instruction) {
    (*this)(instruction.op);
    (*this)(instruction.act);
    (*this)(instruction.a);
    (*this)(instruction.b);
    (*this)(instruction.lhs);
    (*this)(instruction.rhs);
  }
  void operator()(const ElementwiseProgram& program) {
    (*this)(program.inputs);
    (*this)(program.instructions);
  }
};

template <typename Visit>
void WalkAttribute(const Attribute& attribute, Visit visit) {
  Walk<Visit> walk{std::move(visit)};
  std::visit(walk, attribute);
}

std::vector<uint64_t> Bits(const Attribute& attribute) {
  std::vector<uint64_t> bits;
  WalkAttribute(attribute, [&](uint64_t value) { bits.push_back(value); });
  return bits;
}

}  // namespace

const char* ToString(AttrType type) noexcept {
  return static_cast<size_t>(type) < std::size(kTypeNames) ? kTypeNames[static_cast<size_t>(type)] : "invalid";
}

bool SameAttribute(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  // Texts are told apart as such, not by their hashes; nothing that holds a text holds a float too.
  if (std::holds_alternative<std::string>(a) || std::holds_alternative<std::vector<std::string>>(a)) return a == b;
  return Bits(a) == Bits(b);
}

size_t HashAttribute(const Attribute& attribute) {
  uint64_t hash = attribute.index();
  WalkAttribute(attribute, [&](uint64_t value) { hash = HashCombine(hash, value); });
  return hash;
}

}  // namespace wherry
