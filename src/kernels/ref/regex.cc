// After Thompson (1968): the expression becomes a machine whose states are all followed at once.
#include "kernels/ref/regex.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/strings.h"

namespace wherry::ref {

namespace {

constexpr int32_t kEnd = -1;  // in place of a code point: there is none
constexpr int32_t kMostCodePoint = 0x10FFFF;

int32_t TakeCodePoint(std::string_view* text) {
  const auto byte = [&](size_t i) { return i < text->size() ? static_cast<unsigned char>((*text)[i]) : 0; };
  const int lead = byte(0);
  const size_t length = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 1;
  int32_t code = length == 1 ? lead : lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      text->remove_prefix(1);
      return lead;
    }
    code = code << 6 | (byte(i) & 0x3F);
  }
  text->remove_prefix(length);
  return code;
}

bool IsDigit(int32_t c) { return c >= '0' && c <= '9'; }
bool IsLetter(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsWord(int32_t c) { return IsLetter(c) || IsDigit(c) || c == '_'; }

}  // namespace

// Recursive descent; each part appends its instructions and says where it begins and which ends are open.
class RegexParser {
 public:
  RegexParser(std::string_view pattern, Regex* regex) : pattern_(pattern), rest_(pattern), regex_(*regex) {}

  void Run() {
    const Part all = Alternatives();
    if (!rest_.empty()) Fail("an unexpected )");
    const int32_t match = Add({Regex::Kind::kMatch});
    Close(all, match);
    regex_.start_ = all.start;
  }

 private:
  using Kind = Regex::Kind;
  using Range = Regex::Range;
  using Ranges = std::vector<Range>;

  // `open`: instructions whose next (or other: second) is to be set.
  struct Part {
    int32_t start;
    std::vector<std::pair<int32_t, bool>> open;
  };
  struct Flags {
    bool any_case = false;
    bool multi_line = false;
    bool dot_all = false;
  };

  [[noreturn]] void Fail(const char* what) const {
    Throw(ErrorCode::kInvalidArgument, "regular expression ", Quote(std::string(pattern_)), " has ", what, " at byte ",
          pattern_.size() - rest_.size());
  }

  int32_t Add(const Regex::Instruction& instruction) {
    WHERRY_ENFORCE(regex_.program_.size() < Regex::kMostInstructions, kUnsupported, "regular expression ",
                   Quote(std::string(pattern_)), " comes to more than ", Regex::kMostInstructions, " instructions");
    regex_.program_.push_back(instruction);
    return static_cast<int32_t>(regex_.program_.size()) - 1;
  }
  void Close(const Part& part, int32_t target) {
    for (const auto& [at, second] : part.open) {
      Regex::Instruction& instruction = regex_.program_[static_cast<size_t>(at)];
      (second ? instruction.other : instruction.next) = target;
    }
  }
  Part Single(Kind kind) {
    const int32_t at = Add({kind});
    return {at, {{at, false}}};
  }
  Part Joined(Part first, const Part& second) {
    Close(first, second.start);
    return {first.start, second.open};
  }
  Part Set(Ranges ranges, bool negated) {
    if (flags_.any_case) {
      for (size_t i = 0, n = ranges.size(); i < n; ++i) {
        const Range range = ranges[i];
        const auto add = [&](int32_t first, int32_t last, int32_t by) {
          const Range both = {std::max(range.first, first), std::min(range.last, last)};
          if (both.first <= both.last) ranges.push_back({both.first + by, both.last + by});
        };
        add('a', 'z', -32);
        add('A', 'Z', 32);
      }
    }
    regex_.sets_.push_back(std::move(ranges));
    const int32_t at = Add({Kind::kSet, negated, static_cast<int32_t>(regex_.sets_.size()) - 1});
    return {at, {{at, false}}};
  }
  Part Literal(int32_t code) { return Set({{code, code}}, false); }

  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  Part Alternatives() {
    constexpr int kDeepest = 200;
    if (++depth_ > kDeepest) Fail("groups within groups, too many of them,");
    Part all = Sequence();
    while (Take("|")) {
      const Part other = Sequence();
      const int32_t fork = Add({Kind::kFork, false, -1, all.start, other.start});
      all.start = fork;
      all.open.insert(all.open.end(), other.open.begin(), other.open.end());
    }
    --depth_;
    return all;
  }

  Part Sequence() {
    Part all = Single(Kind::kGo);
    while (!rest_.empty() && rest_[0] != '|' && rest_[0] != ')') all = Joined(std::move(all), Repeated());
    return all;
  }

  // A number without a sign; -1: there is none. RE2 allows up to 1000.
  int Count() {
    int count = -1;
    while (!rest_.empty() && IsDigit(rest_[0])) {
      count = std::max(count, 0) * 10 + (rest_[0] - '0');
      constexpr int kMost = 1000;
      if (count > kMost) Fail("a count above 1000");
      rest_.remove_prefix(1);
    }
    return count;
  }

  // {n}, {n,} or {n,m}; anything else is text.
  bool TakeCounts(int* least, int* most) {
    const std::string_view before = rest_;
    if (Take("{")) {
      *least = Count();
      *most = *least;
      if (*least >= 0 && Take(",")) *most = Count();
      if (*least >= 0 && Take("}")) {
        if (*most >= 0 && *most < *least) Fail("counts in the wrong order");
        return true;
      }
    }
    rest_ = before;
    return false;
  }

  Part Repeated() {
    const std::string_view begin = rest_;
    const Flags flags = flags_;
    Part part = Atom();
    for (bool first = true;; first = false) {
      int least = 0;
      int most = -1;
      if (Take("*")) {
      } else if (Take("+")) {
        least = 1;
      } else if (Take("?")) {
        most = 1;
      } else if (!TakeCounts(&least, &most)) {
        return part;
      }
      if (!first) Fail("a repetition of a repetition");
      Take("?");  // whether more or less is tried first makes no difference for the whole text
      const std::string_view end = rest_;
      part = Copies(begin, flags, std::move(part), least, most);
      rest_ = end;
    }
  }

  // The atom at `begin`, whose first copy is there, least to most times (-1: any number).
  Part Copies(std::string_view begin, const Flags& flags, Part first, int least, int most) {
    const Flags now = flags_;
    bool used = false;
    const auto copy = [&]() {
      if (!used) {
        used = true;
        return std::move(first);
      }
      rest_ = begin;
      flags_ = flags;
      return Atom();
    };
    Part all = Single(Kind::kGo);
    for (int i = 0; i < least; ++i) all = Joined(std::move(all), copy());
    if (most < 0) {
      const Part body = copy();
      const int32_t fork = Add({Kind::kFork, false, -1, body.start, -1});
      Close(body, fork);
      all = Joined(std::move(all), {fork, {{fork, true}}});
    }
    for (int i = least; i < most; ++i) {
      Part body = copy();
      const int32_t fork = Add({Kind::kFork, false, -1, body.start, -1});
      body.open.emplace_back(fork, true);
      all = Joined(std::move(all), {fork, body.open});
    }
    flags_ = now;
    return all;
  }

  Part Atom() {
    if (Take("(")) return Group();
    if (Take("[")) return Class();
    if (Take(".")) return Set(flags_.dot_all ? Ranges() : Ranges{{'\n', '\n'}}, true);
    if (Take("^")) return Single(flags_.multi_line ? Kind::kLineBegin : Kind::kTextBegin);
    if (Take("$")) return Single(flags_.multi_line ? Kind::kLineEnd : Kind::kTextEnd);
    if (Take("\\")) return Escape();
    if (rest_[0] == '*' || rest_[0] == '+' || rest_[0] == '?') Fail("nothing to repeat");
    return Literal(TakeCodePoint(&rest_));
  }

  Part Group() {
    const Flags outer = flags_;
    if (Take("?")) {
      if (Take("P<") || Take("<")) {
        const size_t end = rest_.find('>');
        if (end == std::string_view::npos || end == 0) Fail("a group without a name");
        rest_.remove_prefix(end + 1);
      } else {
        bool value = true;
        for (;; rest_.remove_prefix(1)) {
          if (rest_.empty()) Fail("an open group");
          if (rest_[0] == ':' || rest_[0] == ')') break;
          switch (rest_[0]) {
            case '-': value = false; break;
            case 'i': flags_.any_case = value; break;
            case 'm': flags_.multi_line = value; break;
            case 's': flags_.dot_all = value; break;
            case 'U': break;
            default: Fail("an unknown flag");
          }
        }
        // Without a colon: for what follows in the group around it.
        if (Take(")")) return Single(Kind::kGo);
        Take(":");
      }
    }
    Part part = Alternatives();
    if (!Take(")")) Fail("an open group");
    flags_ = outer;
    return part;
  }

  // The set of \d and the like; false for other letters.
  static bool NamedSet(char letter, Ranges* ranges, bool* negated) {
    *negated = letter >= 'A' && letter <= 'Z';
    switch (*negated ? letter + 32 : letter) {
      case 'd': *ranges = {{'0', '9'}}; return true;
      case 'w': *ranges = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}; return true;
      case 's': *ranges = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}; return true;
      default: return false;
    }
  }

  Part Escape() {
    if (rest_.empty()) Fail("a \\ at its end");
    Ranges ranges;
    bool negated = false;
    if (NamedSet(rest_[0], &ranges, &negated)) {
      rest_.remove_prefix(1);
      return Set(std::move(ranges), negated);
    }
    if (Take("A")) return Single(Kind::kTextBegin);
    if (Take("z")) return Single(Kind::kTextEnd);
    if (Take("b")) return Single(Kind::kWordEdge);
    if (Take("B")) return Single(Kind::kNoWordEdge);
    if (Take("Q")) {
      Part all = Single(Kind::kGo);
      while (!rest_.empty() && !Take("\\E")) all = Joined(std::move(all), Literal(TakeCodePoint(&rest_)));
      return all;
    }
    return Literal(EscapedCode());
  }

  // One code point, behind the \ .
  int32_t EscapedCode() {
    constexpr std::pair<char, char> kNames[] = {{'n', '\n'}, {'t', '\t'}, {'r', '\r'},
                                                {'f', '\f'}, {'v', '\v'}, {'a', '\a'}};
    for (const auto& [name, code] : kNames) {
      if (Take(std::string_view(&name, 1))) return code;
    }
    if (Take("x")) return HexCode();
    if (rest_.starts_with("0")) return OctalCode();
    WHERRY_ENFORCE(rest_.empty() || (rest_[0] != 'p' && rest_[0] != 'P'), kUnsupported, "regular expression ",
                   Quote(std::string(pattern_)), " has a Unicode class");
    if (rest_.empty() || IsWord(static_cast<unsigned char>(rest_[0]))) Fail("an unknown escape");
    return TakeCodePoint(&rest_);
  }
  int32_t HexCode() {
    const bool braces = Take("{");
    int32_t code = 0;
    int digits = 0;
    for (; !rest_.empty() && (braces || digits < 2); ++digits, rest_.remove_prefix(1)) {
      const char c = rest_[0];
      const int digit = IsDigit(c)             ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) break;
      code = code * 16 + digit;
      if (code > kMostCodePoint) Fail("no such code point");
    }
    if (digits == 0 || (!braces && digits < 2) || (braces && !Take("}"))) Fail("a wrong hexadecimal number");
    return code;
  }
  int32_t OctalCode() {
    int32_t code = 0;
    for (int digits = 0; digits < 3 && !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '7'; ++digits) {
      code = code * 8 + (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    return code;
  }

  Part Class() {
    const bool negated = Take("^");
    Ranges ranges;
    for (bool first = true;; first = false) {
      if (rest_.empty()) Fail("an open class");
      if (!first && Take("]")) return Set(std::move(ranges), negated);
      if (rest_.starts_with("[:")) {
        PosixClass(&ranges);
        continue;
      }
      Ranges named;
      bool outside = false;
      if (rest_.size() > 1 && rest_[0] == '\\' && NamedSet(rest_[1], &named, &outside)) {
        rest_.remove_prefix(2);
        AddRanges(std::move(named), outside, &ranges);
        continue;
      }
      const int32_t low = ClassCode();
      int32_t high = low;
      if (rest_.size() > 1 && rest_[0] == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        high = ClassCode();
      }
      if (high < low) Fail("a range in the wrong order");
      ranges.push_back({low, high});
    }
  }
  int32_t ClassCode() {
    if (rest_.empty()) Fail("an open class");
    return Take("\\") ? EscapedCode() : TakeCodePoint(&rest_);
  }
  void PosixClass(Ranges* ranges) {
    static const std::pair<std::string_view, Ranges> kClasses[] = {
        {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
        {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
        {"ascii", {{0, 127}}},
        {"blank", {{'\t', '\t'}, {' ', ' '}}},
        {"cntrl", {{0, 31}, {127, 127}}},
        {"digit", {{'0', '9'}}},
        {"graph", {{'!', '~'}}},
        {"lower", {{'a', 'z'}}},
        {"print", {{' ', '~'}}},
        {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
        {"space", {{'\t', '\r'}, {' ', ' '}}},
        {"upper", {{'A', 'Z'}}},
        {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
        {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
    rest_.remove_prefix(2);
    const bool negated = Take("^");
    for (const auto& [name, members] : kClasses) {
      if (!Take(std::string(name) + ":]")) continue;
      return AddRanges(members, negated, ranges);
    }
    Fail("an unknown class");
  }
  // `added`, sorted and disjoint, or all the rest.
  static void AddRanges(Ranges added, bool negated, Ranges* ranges) {
    if (!negated) return static_cast<void>(ranges->insert(ranges->end(), added.begin(), added.end()));
    int32_t from = 0;
    for (const Range& range : added) {
      if (range.first > from) ranges->push_back({from, range.first - 1});
      from = range.last + 1;
    }
    ranges->push_back({from, kMostCodePoint});
  }

  std::string_view pattern_;
  std::string_view rest_;
  Regex& regex_;
  Flags flags_;
  int depth_ = 0;
};

Regex::Regex(std::string_view pattern) { RegexParser(pattern, this).Run(); }

bool Regex::Holds(const Instruction& at, int32_t before, int32_t after) const {
  switch (at.kind) {
    case Kind::kTextBegin: return before == kEnd;
    case Kind::kTextEnd: return after == kEnd;
    case Kind::kLineBegin: return before == kEnd || before == '\n';
    case Kind::kLineEnd: return after == kEnd || after == '\n';
    case Kind::kWordEdge: return IsWord(before) != IsWord(after);
    case Kind::kNoWordEdge: return IsWord(before) == IsWord(after);
    default: return true;
  }
}

bool Regex::MatchesAll(std::string_view text) const {
  std::vector<int32_t> states;
  std::vector<int32_t> next;
  std::vector<int32_t> stack;
  std::vector<size_t> seen(program_.size(), 0);  // the round in which a state was last reached
  size_t round = 0;
  int32_t before = kEnd;
  next.push_back(start_);
  while (true) {
    std::string_view ahead = text;
    const int32_t after = text.empty() ? kEnd : TakeCodePoint(&ahead);
    ++round;
    states.clear();
    bool matched = false;
    for (stack.swap(next), next.clear(); !stack.empty();) {
      const int32_t at = stack.back();
      stack.pop_back();
      if (seen[static_cast<size_t>(at)] == round) continue;
      seen[static_cast<size_t>(at)] = round;
      const Instruction& instruction = program_[static_cast<size_t>(at)];
      if (instruction.kind == Kind::kMatch) {
        matched = true;
      } else if (instruction.kind == Kind::kSet) {
        states.push_back(at);
      } else if (Holds(instruction, before, after)) {
        stack.push_back(instruction.next);
        if (instruction.kind == Kind::kFork) stack.push_back(instruction.other);
      }
    }
    if (after == kEnd) return matched;
    if (states.empty()) return false;
    for (const int32_t at : states) {
      const Instruction& instruction = program_[static_cast<size_t>(at)];
      const std::vector<Range>& ranges = sets_[static_cast<size_t>(instruction.set)];
      const bool within = std::any_of(ranges.begin(), ranges.end(), [after](const Range& range) {
        return range.first <= after && after <= range.last;
      });
      if (within != instruction.negated) next.push_back(instruction.next);
    }
    before = after;
    text = ahead;
  }
}

}  // namespace wherry::ref
