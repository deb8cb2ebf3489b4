// Programs as a .wry file may hold them, changed at random: whatever the parser accepts loads, is optimised and runs,
// or ends in an Error. Checksums protect a file against accidents, not against its author, so the text is changed
// itself. Seeds are fixed; WHERRY_ROBUSTNESS_TRACE=1 prints each program before it is tried, WHERRY_ROBUSTNESS_CALLS
// says how many are tried.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/check.h"
#include "ir/text.h"
#include "pass/optimizer.h"
#include "robustness/random.h"
#include "runtime/session.h"

namespace wherry {
namespace {

constexpr const char* kPrograms[] = {
    R"(
weight %f : f32[4,3,3,3] = {f}
weight %b : f32[4] = [1, 2, 3, 4]
weight %d : f32[4,1,3,3] = {d}
weight %w : f32[4,5] = {w}
weight %v : f32[5] = [1, 0, -1, 2, 0.5]
weight %shape : i64[2] = [-1, 4]
block main(%x : f32[N,3,8,8]) -> (%y, %s) {
  %a = conv2d(x: %x, filter: %f) {paddings = [1, 1]}
  %c = reshape(x: %b) {shape = [1, 4, 1, 1]}
  %e = add(x: %a, y: %c)
  %g = relu(x: %e)
  %h = conv2d(x: %g, filter: %d) {groups = 4, strides = [2, 2]}
  %i = pool2d(x: %h) {kernel_size = [2, 2], strides = [1, 1], pooling_type = "avg"}
  %j = hardswish(x: %i)
  %k = mean(x: %j) {axis = [2, 3]}
  %l = reshape(x: %k, shape: %shape)
  %m = matmul(x: %l, y: %w)
  %n = add(x: %m, y: %v)
  %y = softmax(x: %n)
  %s = shape(x: %j)
}
)",
    R"(
weight %w : f32[6,6] = {w6}
weight %one : f32[6] = [1, 1, 1, 1, 1, 1]
weight %index : i64[3] = [0, 2, 1]
block main(%x : f32[B,4,6], %ids : i64[2]) -> (%z, %e) {
  (out: [%p, %q]) = split(x: %x) {sections = [1, 3], axis = 1}
  %r = concat(x: [%q, %p]) {axis = 1}
  %t = transpose(x: %r) {perm = [0, 2, 1]}
  %u = matmul(x: %r, y: %t)
  %v = softmax(x: %u)
  %m = matmul(x: %v, y: %r)
  %n = layer_norm(x: %m, scale: %one, bias: %one) {begin_norm_axis = 2}
  %g = gather(x: %n, index: %index) {axis = 1}
  %h = slice(x: %g) {axes = [1], starts = [1], ends = [3]}
  %k = matmul(x: %h, y: %w)
  %a = multiply(x: %k, y: %h)
  %b = sigmoid(x: %a)
  %c = subtract(x: %b, y: %one)
  %z = pad(x: %c) {paddings = [0, 0, 0, 0, 1, 1], value = 0.5}
  %e = embedding(x: %ids, weight: %w)
}
)",
    R"(
weight %ten : f32[1] = [10]
block main(%c : bool[], %x : f32[N]) -> (%z) {
  %a = exp(x: %x)
  %y = if(cond: %c, captures: [%a]) blocks(then, else)
  %z = add(x: %y, y: %ten)
}
block then(%p : f32[N]) -> (%p) {
}
block else(%q : f32[N]) -> (%r) {
  %s = neg(x: %q)
  %r = assign(x: %s)
}
)"};

// "{name}" stands for as many small numbers as the weight has elements.
std::string WithWeights(std::string text) {
  const std::pair<const char*, int> lists[] = {{"{f}", 108}, {"{d}", 36}, {"{w}", 20}, {"{w6}", 36}};
  for (const auto& [name, count] : lists) {
    const size_t at = text.find(name);
    if (at == std::string::npos) continue;
    std::string list = "[";
    for (int i = 0; i < count; ++i) list += StrCat(i == 0 ? "" : ", ", (i * 7 % 11 - 5) / 4.0);
    text.replace(at, std::string(name).size(), list + "]");
  }
  return text;
}

// Everything else than spaces: names with their %, numbers, words, strings, single signs.
std::vector<std::string> Tokens(const std::string& text) {
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '%';
  };
  std::vector<std::string> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (in_word(text[at]) || (text[at] == '-' && end < text.size() && std::isdigit(text[end]) != 0)) {
      while (end < text.size() && in_word(text[end])) ++end;
    }
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

bool IsName(const std::string& token) { return token.size() > 1 && token[0] == '%'; }
bool IsNumber(const std::string& token) {
  return std::isdigit(static_cast<unsigned char>(token[token[0] == '-' && token.size() > 1 ? 1 : 0])) != 0;
}
bool IsWord(const std::string& token) { return std::isalpha(static_cast<unsigned char>(token[0])) != 0; }

std::string Number(Random* random) {
  static constexpr const char* kNumbers[] = {"0",     "1",       "-1",         "2",          "3",
                                             "4",     "7",       "1000000007", "2147483648", "9223372036854775807",
                                             "65536", "0.00001", "-2",         "1e300",      "-9223372036854775808"};
  return random->Pick(kNumbers);
}

void ChangeLine(std::string* text, Random* random) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text->size();) {
    const size_t end = std::min(text->find('\n', begin), text->size() - 1);
    lines.push_back(text->substr(begin, end - begin + 1));
    begin = end + 1;
  }
  const size_t one = random->Below(lines.size());
  const size_t other = random->Below(lines.size());
  switch (random->Below(3)) {
    case 0: lines.erase(lines.begin() + static_cast<int64_t>(one)); break;
    case 1: std::swap(lines[one], lines[other]); break;
    default: lines.insert(lines.begin() + static_cast<int64_t>(one), std::string(lines[other])); break;
  }
  text->clear();
  for (const std::string& line : lines) *text += line;
}

void ChangeToken(std::string* text, Random* random) {
  std::vector<std::string> tokens = Tokens(*text);
  const auto pick = [&](bool (*fits)(const std::string&)) -> std::string* {
    std::vector<size_t> found;
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (fits(tokens[i])) found.push_back(i);
    }
    return found.empty() ? nullptr : &tokens[random->PickFrom(found)];
  };
  bool (*const kinds[])(const std::string&) = {IsName, IsNumber, IsWord};
  bool (*const kind)(const std::string&) = random->Pick(kinds);
  std::string* one = pick(kind);
  std::string* other = pick(kind);
  if (one == nullptr) return;
  *one = kind == IsNumber && random->OneIn(2) ? Number(random) : std::string(*other);
  text->clear();
  for (const std::string& token : tokens) *text += token;
}

void ChangeByte(std::string* text, Random* random) {
  const size_t at = random->Below(text->size());
  if (random->OneIn(3)) {
    text->erase(at, 1 + random->Below(8));
  } else {
    (*text)[at] = static_cast<char>(random->Below(256));
  }
}

// An input of the declared type, every unknown dimension small.
DenseTensor MakeInput(const MetaTensor& type, Random* random) {
  constexpr int64_t kMostElements = 1 << 16;
  TensorMeta meta;
  meta.dtype = type.dtype == DataType::kUndefined ? DataType::kFloat : type.dtype;
  int64_t count = 1;
  if (type.rank_known) {
    for (const Dim& dim : type.dims) {
      meta.shape.push_back(dim.known() ? dim.value() : static_cast<int64_t>(random->Below(4)));
      WHERRY_ENFORCE(meta.shape[meta.shape.rank() - 1] <= kMostElements, kUnsupported, "large");
      count *= meta.shape[meta.shape.rank() - 1];
      WHERRY_ENFORCE(count <= kMostElements, kUnsupported, "large");
    }
  }
  WHERRY_ENFORCE(SizeOf(meta.dtype) != 0, kUnsupported, "no bytes");
  DenseTensor tensor(HostAllocator(), meta);
  // Zero or one in every integer type; a small number in a float's.
  std::fill_n(static_cast<uint8_t*>(tensor.mutable_raw_data()), tensor.nbytes(), static_cast<uint8_t>(0));
  if (meta.dtype == DataType::kFloat) std::fill_n(tensor.mutable_data<float>(), tensor.numel(), 0.25F);
  return tensor;
}

void BuildAndRun(Program program, Random* random) {
  const auto executable = Executable::Build(std::move(program));
  constexpr size_t kMostBytes = 16 << 20;
  Session session(executable, nullptr, kMostBytes);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  for (int run = 0; run < 2; ++run) {
    std::vector<DenseTensor> inputs;
    for (size_t i = 0; i < executable->program().main().inputs.size(); ++i) {
      inputs.push_back(MakeInput(executable->InputType(i), random));
    }
    std::vector<const DenseTensor*> pointers;
    for (const DenseTensor& input : inputs) pointers.push_back(&input);
    session.Run(pointers, &outputs);
  }
}

class ProgramFuzzTest : public ::testing::TestWithParam<size_t> {
 protected:
  // Counts what came out; anything but a result or an Error of the input's making is a failure.
  template <typename Action>
  void Try(const std::string& text, const char* what, const Action& action) {
    const auto start = std::chrono::steady_clock::now();
    try {
      action();
      ++results_;
    } catch (const Error& error) {
      ++errors_;
      EXPECT_NE(error.code(), ErrorCode::kInternal) << what << ": " << error.what() << "\n" << text;
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << ": " << error.what() << "\n" << text;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 20) << what << "\n" << text;  // seconds, on a busy machine with sanitizers
  }

  uint64_t results_ = 0;
  uint64_t errors_ = 0;
};

TEST_P(ProgramFuzzTest, AResultOrAnError) {
  const char* calls_text = std::getenv("WHERRY_ROBUSTNESS_CALLS");
  const uint64_t calls = calls_text == nullptr ? 1000 : std::strtoull(calls_text, nullptr, 10);
  const bool trace = std::getenv("WHERRY_ROBUSTNESS_TRACE") != nullptr;
  const std::string plain = WithWeights(kPrograms[GetParam()]);
  const std::string optimized = PrintProgram(Optimizer().Run(ParseProgram(plain), {}));
  for (uint64_t seed = 0; seed < calls; ++seed) {
    Random random(seed);
    const bool was_optimized = random.OneIn(2);
    std::string text = was_optimized ? optimized : plain;
    for (size_t changes = 1 + random.Below(2); changes > 0; --changes) {
      switch (random.Below(8)) {
        case 0: ChangeLine(&text, &random); break;
        case 1: ChangeByte(&text, &random); break;
        default: ChangeToken(&text, &random); break;
      }
    }
    if (trace) std::fprintf(stderr, "seed %llu\n%s\n", static_cast<unsigned long long>(seed), text.c_str());
    Program program;
    bool parsed = false;
    Try(text, "parsing", [&] {
      program = ParseProgram(text);
      parsed = true;
    });
    if (!parsed) continue;
    Try(text, "running", [&] { BuildAndRun(program.Clone(), &random); });
    if (was_optimized) continue;
    Try(text, "optimising", [&] {
      OptimizerOptions options;
      options.verify = true;
      BuildAndRun(Optimizer(std::move(options)).Run(std::move(program), {}), &random);
    });
  }
  std::printf("%llu results, %llu errors\n", static_cast<unsigned long long>(results_),
              static_cast<unsigned long long>(errors_));
  EXPECT_GT(results_, calls / 10);
  EXPECT_GT(errors_, calls / 10);
}

INSTANTIATE_TEST_SUITE_P(Programs, ProgramFuzzTest, ::testing::Range<size_t>(0, std::size(kPrograms)));

}  // namespace
}  // namespace wherry
