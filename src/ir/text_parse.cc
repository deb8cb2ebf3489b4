#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/checked_math.h"
#include "base/strings.h"
#include "core/text_cursor.h"
#include "ir/text.h"
#include "ir/text_format.h"
#include "op/schema_registry.h"

namespace wherry {

namespace {

// Nesting of brackets in one attribute or type; a hostile text cannot recurse deeper.
constexpr int kMaxNesting = 64;

class Parser {
 public:
  Parser(std::string_view text, WeightTable weights)
      : text_(text), cursor_(text, "text form", TextCursor::Form::kFile) {
    given_ = std::move(weights);
  }

  Program Run() {
    program_.blocks.clear();
    while (!cursor_.AtEnd()) {
      const std::string word = Word();
      if (word == "meta") {
        std::string key = cursor_.QuotedText();
        Expect('=');
        if (!AcceptLeftOut()) program_.metadata[key] = cursor_.QuotedText();
      } else if (word == "optimized") {
        program_.optimized = true;
      } else if (word == "weight") {
        ParseWeight();
      } else if (word == "block") {
        ParseBlock();
      } else {
        Fail(StrCat("expected meta, optimized, weight or block, got '", word, "'"));
      }
    }
    for (size_t b = 0; b < program_.blocks.size(); ++b) ResolveBlocks(b);
    // A text that leaves data out names every weight it has; any other has all that are given.
    if (!data_left_out_) program_.weights.merge(given_);
    VerifyProgram(program_);
    return std::move(program_);
  }

 private:
  [[noreturn]] void Fail(const std::string& problem) const { cursor_.FailWith(problem); }

  // What `parse` gives; its Error gets the place.
  template <typename Parse>
  auto At(Parse parse) {
    try {
      return parse();
    } catch (const Error& error) {
      if (error.message().starts_with("text form, ")) throw;
      Fail(error.message());
    }
  }

  bool Accept(char c) { return cursor_.Accept(c); }
  void Expect(char c) { cursor_.Expect(c); }
  std::string Word() { return std::string(cursor_.Word("a word")); }
  std::string Value() {
    Expect('%');
    const std::string_view rest = cursor_.rest();
    if (rest.starts_with('"')) return cursor_.QuotedText();
    const auto end = std::find_if_not(rest.begin(), rest.end(), &text::IsPlainNameCharacter);
    const std::string_view name = rest.substr(0, static_cast<size_t>(end - rest.begin()));
    if (name.empty()) cursor_.Fail("a name after %");
    cursor_.Advance(name.size());
    return std::string(name);
  }
  std::vector<std::string> Values() {  // %a or [%a, %b]
    if (!Accept('[')) return {Value()};
    std::vector<std::string> names;
    if (Accept(']')) return names;
    do {
      names.push_back(Value());
    } while (Accept(','));
    Expect(']');
    return names;
  }
  // Raw text up to one of `ends` outside brackets and strings.
  std::string_view Until(std::string_view ends) {
    cursor_.Peek();  // skips space
    const std::string_view whole = cursor_.rest();
    int depth = 0;
    while (!cursor_.rest().empty()) {
      const char c = cursor_.rest().front();
      if (c == '"') {
        cursor_.QuotedText();
        continue;
      }
      if (depth == 0 && ends.find(c) != std::string_view::npos) break;
      if (c == '[' || c == '(' || c == '{') ++depth;
      if (c == ']' || c == ')' || c == '}') --depth;
      if (depth > kMaxNesting || depth < 0) Fail("brackets do not match");
      cursor_.Advance(1);
    }
    std::string_view raw = whole.substr(0, whole.size() - cursor_.rest().size());
    while (!raw.empty() && std::isspace(static_cast<unsigned char>(raw.back())) != 0) raw.remove_suffix(1);
    return raw;
  }
  std::vector<Dim> Dims() {  // after '[', up to and with ']'
    std::vector<Dim> dims;
    if (Accept(']')) return dims;
    do {
      const std::string_view dim = Until(",]");
      dims.push_back(At([&] { return program_.symbols->Parse(dim); }));
    } while (Accept(','));
    Expect(']');
    return dims;
  }
  MetaTensor Type() {
    if (Accept('?')) return MetaTensor::UnknownRank(DataType::kUndefined);
    MetaTensor type;
    type.dtype = At([&] { return ParseDataType(Word()); });
    Expect('[');
    if (Accept('?')) {
      type.rank_known = false;
      Expect(']');
    } else {
      type.dims = Dims();
    }
    if (cursor_.AcceptWord("nhwc")) type.layout = DataLayout::kNHWC;
    if (Accept('=')) {
      Expect('[');
      type.values = Dims();
    }
    return type;
  }

  // --- weights
  std::vector<std::byte> Base64() {
    Expect('"');
    std::vector<std::byte> out;
    uint32_t word = 0;
    int bits = 0;
    while (true) {
      if (cursor_.rest().empty()) Fail("the base64 data does not end");
      const char c = cursor_.rest().front();
      cursor_.Advance(1);
      if (c == '"') return out;
      if (c == '=') continue;
      static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      const size_t digit = kAlphabet.find(c);
      if (digit == std::string_view::npos) Fail("not a base64 digit");
      word = word << 6U | static_cast<uint32_t>(digit);
      bits += 6;
      if (bits >= 8) {
        bits -= 8;
        out.push_back(static_cast<std::byte>(word >> static_cast<unsigned>(bits) & 0xffU));
      }
    }
  }

  template <typename T>
  void FillList(DenseTensor* tensor) {
    T* data = tensor->mutable_data<T>();
    Expect('[');
    for (int64_t i = 0; i < tensor->numel(); ++i) {
      if (i != 0) Expect(',');
      const std::string_view item = Until(",]");
      if constexpr (std::is_same_v<T, bool>) {
        data[i] = std::get<bool>(ParseAttribute(AttrType::kBool, item));
      } else if constexpr (std::is_integral_v<T>) {
        data[i] = static_cast<T>(std::get<int64_t>(ParseAttribute(AttrType::kInt, item)));
      } else {
        data[i] = static_cast<T>(std::get<double>(ParseAttribute(AttrType::kFloat, item)));
      }
    }
    Expect(']');
  }

  void ParseWeight() {
    cursor_.Peek();  // skips space
    const TextCursor at = cursor_;
    const std::string name = Value();
    Expect(':');
    const MetaTensor type = Word2Type();
    if (!type.rank_known || !type.known()) at.FailWith(StrCat("weight ", name, " needs a known shape"));
    if (SizeOf(type.dtype) == 0) at.FailWith(StrCat("weight ", name, ": this element type cannot be written as text"));
    if (program_.weights.count(name) != 0) at.FailWith(StrCat("weight ", name, " is defined twice"));
    // Every listed element takes at least two characters and four base64 digits hold three bytes: what the text cannot
    // hold is not allocated.
    const TensorMeta meta = type.tensor_meta();
    Expect('=');
    if (AcceptLeftOut()) {
      data_left_out_ = true;
      const auto given = given_.find(name);
      if (given == given_.end())
        at.FailWith(StrCat("the data of weight ", name, " was left out and is not given either"));
      if (!(given->second.meta() == meta))
        at.FailWith(StrCat("weight ", name, " is given as ", given->second.meta().DebugString()));
      program_.weights.insert(given_.extract(given));
      return;
    }
    if (meta.nbytes() / 16 > text_.size())
      at.FailWith(StrCat("weight ", name, " is larger than the text that should hold it"));
    DenseTensor tensor(HostAllocator(), meta);
    if (cursor_.AcceptWord("base64")) {
      const std::vector<std::byte> bytes = Base64();
      if (bytes.size() != meta.nbytes())
        at.FailWith(StrCat("weight ", name, " has ", bytes.size(), " bytes, expected ", meta.nbytes()));
      std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(tensor.mutable_raw_data()));
    } else {
      switch (meta.dtype) {
        case DataType::kBool: FillList<bool>(&tensor); break;
        case DataType::kInt8: FillList<int8_t>(&tensor); break;
        case DataType::kUInt8: FillList<uint8_t>(&tensor); break;
        case DataType::kInt32: FillList<int32_t>(&tensor); break;
        case DataType::kInt64: FillList<int64_t>(&tensor); break;
        case DataType::kFloat: FillList<float>(&tensor); break;
        default: at.FailWith("elements of this type are written as base64");
      }
    }
    program_.weights[name] = std::move(tensor);
  }
  // "{...}": what was printed for people.
  bool AcceptLeftOut() {
    if (!Accept('{')) return false;
    Until("}");
    Expect('}');
    return true;
  }
  // A weight's type: no values may follow, "=" belongs to the data.
  MetaTensor Word2Type() {
    MetaTensor type;
    type.dtype = At([&] { return ParseDataType(Word()); });
    Expect('[');
    type.dims = Dims();
    if (cursor_.AcceptWord("nhwc")) type.layout = DataLayout::kNHWC;
    return type;
  }

  // --- blocks
  void ParseBlock() {
    block_names_.push_back(Word());
    Block block;
    Expect('(');
    if (!Accept(')')) {
      do {
        const std::string name = Value();
        block.inputs.push_back(name);
        Expect(':');
        block.values[name] = Type();
      } while (Accept(','));
      Expect(')');
    }
    if (!(Accept('-') && Accept('>'))) Fail("expected '->'");
    Expect('(');
    bool named = false;
    if (!Accept(')')) {
      do {
        block.outputs.push_back(Value());
        const bool as = cursor_.AcceptWord("as");
        named = named || as;
        block.output_names.push_back(as ? cursor_.QuotedText() : block.outputs.back());
      } while (Accept(','));
      Expect(')');
    }
    if (!named) block.output_names.clear();
    Expect('{');
    bool picked = false;
    while (!Accept('}')) {
      ParseOp(&block);
      picked = picked || block.picks.back().picked();
    }
    if (!picked) block.picks.clear();
    program_.blocks.push_back(std::move(block));
  }

  void ParseOp(Block* block) {
    OpDesc op;
    std::vector<std::pair<std::string, std::vector<std::string>>> results;  // parameter ("" = the only one) and names
    if (Accept('(')) {
      do {
        std::string param = Word();
        Expect(':');
        results.emplace_back(std::move(param), Values());
      } while (Accept(','));
      Expect(')');
    } else {
      results.emplace_back("", std::vector<std::string>{Value()});
    }
    Expect('=');
    cursor_.Peek();  // skips space
    const TextCursor at_type = cursor_;
    op.SetType(Word());
    const OpSchema* schema = SchemaRegistry::Global().Find(op.Type());
    if (schema == nullptr) at_type.FailWith(StrCat("unknown operator '", op.Type(), "'"));
    op.SetType(schema->name);
    Expect('(');
    if (!Accept(')')) {
      do {
        const std::string param = Word();
        Expect(':');
        op.SetInput(param, Values());
      } while (Accept(','));
      Expect(')');
    }
    if (Accept('{')) ParseAttributes(*schema, &op);
    std::vector<std::string> all;
    for (auto& [param, names] : results) {
      if (param.empty()) param = schema->outputs[0].name;
      op.SetOutput(param, names);
    }
    for (const OutputDef& output : schema->outputs) {
      const std::vector<std::string>& names = op.Output(output.name);
      all.insert(all.end(), names.begin(), names.end());
    }
    ParseTail(block, &op, all);
    try {
      ValidateOpDesc(*schema, &op);
    } catch (const Error& error) {
      at_type.FailWith(error.message());
    }
    block->ops.push_back(std::move(op));
  }

  void ParseAttributes(const OpSchema& schema, OpDesc* op) {
    if (Accept('}')) return;
    do {
      const std::string name = Word();
      const int index = schema.FindArg(name);
      if (index < 0 || schema.args[static_cast<size_t>(index)].is_tensor())
        Fail(StrCat(schema.name, " has no attribute '", name, "'"));
      const AttrType type = schema.args[static_cast<size_t>(index)].type;
      Expect('=');
      try {
        if (type == AttrType::kEpilogue || type == AttrType::kElementwiseProgram) {
          op->SetAttribute(name, ParseAttribute(type, cursor_.QuotedText()));
        } else {
          op->SetAttribute(name, ParseAttribute(type, Until(",}")));
        }
      } catch (const Error& error) {
        Fail(StrCat("attribute ", name, ": ", error.message()));
      }
    } while (Accept(','));
    Expect('}');
  }

  void ParseTail(Block* block, OpDesc* op, const std::vector<std::string>& results) {
    KernelPick pick;
    if (cursor_.AcceptWord("blocks")) {
      Expect('(');
      const TextCursor at = cursor_;
      std::vector<std::string> names;
      do {
        names.push_back(Word());
      } while (Accept(','));
      Expect(')');
      op->SetBlocks(std::vector<int>(names.size(), -1));  // until all blocks are known
      pending_blocks_.push_back({program_.blocks.size(), block->ops.size(), std::move(names), at});
    }
    if (Accept('@')) op->SetLabel(cursor_.QuotedText());
    if (Accept('#')) {
      const std::string_view raw = Until(" \n\t\r");
      const size_t slash = raw.find('/');
      const size_t colon = raw.find(':');
      if (slash == std::string_view::npos || colon == std::string_view::npos || colon > slash)
        Fail("expected #provider:variant/key");
      pick.provider = std::string(raw.substr(0, colon));
      pick.variant = std::string(raw.substr(colon + 1, slash - colon - 1));
      std::string key(raw.substr(slash + 1));
      std::replace(key.begin(), key.end(), '/', ':');
      pick.key = At([&] { return ParsePlace(key); });
    }
    block->picks.push_back(pick);
    if (cursor_.AcceptWord("alias")) {
      Expect('(');
      do {
        const std::string name = Value();
        Expect('=');
        block->aliases[name] = Value();
      } while (Accept(','));
      Expect(')');
    }
    if (!Accept(':')) return;
    for (size_t i = 0; i < results.size(); ++i) {
      if (i != 0) Expect(',');
      const bool unknown = cursor_.Peek() == '?';
      MetaTensor type = Type();
      if (!unknown) block->values[results[i]] = std::move(type);
    }
  }

  struct PendingBlocks {
    size_t block;
    size_t op;
    std::vector<std::string> names;
    TextCursor at;
  };

  void ResolveBlocks(size_t index) {
    for (const PendingBlocks& pending : pending_blocks_) {
      if (pending.block != index) continue;
      std::vector<int> blocks;
      for (const std::string& name : pending.names) {
        const auto it = std::find(block_names_.begin(), block_names_.end(), name);
        if (it == block_names_.end()) pending.at.FailWith(StrCat("there is no block '", name, "'"));
        blocks.push_back(static_cast<int>(it - block_names_.begin()));
      }
      program_.blocks[index].ops[pending.op].SetBlocks(std::move(blocks));
    }
  }

  std::string_view text_;
  TextCursor cursor_;
  Program program_;
  WeightTable given_;
  bool data_left_out_ = false;
  std::vector<std::string> block_names_;
  std::vector<PendingBlocks> pending_blocks_;
};

}  // namespace

Program ParseProgram(std::string_view text, WeightTable weights) { return Parser(text, std::move(weights)).Run(); }

}  // namespace wherry
