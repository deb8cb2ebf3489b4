// Regular expressions in RE2's syntax, matched in time linear in the text for any pattern.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace wherry::ref {

// Immutable: several threads may match. Works on the code points of UTF-8; a byte that is part of none counts as one.
class Regex {
 public:
  // Error(kInvalidArgument) with the place for what is no expression, Error(kUnsupported) for Unicode classes (\p, \P)
  // and for expressions that come to more than kMostInstructions.
  explicit Regex(std::string_view pattern);

  bool MatchesAll(std::string_view text) const;

  static constexpr size_t kMostInstructions = 100'000;

 private:
  friend class RegexParser;

  struct Range {
    int32_t first;
    int32_t last;
  };
  enum class Kind : uint8_t {
    kSet,        // one code point of sets_[set], or not of it when `negated`
    kFork,       // on at `next` and at `other`
    kGo,         // on at `next`
    kTextBegin,  // what holds between two code points
    kTextEnd,
    kLineBegin,
    kLineEnd,
    kWordEdge,
    kNoWordEdge,
    kMatch,
  };
  struct Instruction {
    Kind kind = Kind::kMatch;
    bool negated = false;
    int32_t set = -1;
    int32_t next = -1;
    int32_t other = -1;
  };

  bool Holds(const Instruction& at, int32_t before, int32_t after) const;

  std::vector<Instruction> program_;
  std::vector<std::vector<Range>> sets_;
  int32_t start_ = 0;
};

}  // namespace wherry::ref
