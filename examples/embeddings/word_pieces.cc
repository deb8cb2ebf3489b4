#include "word_pieces.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>

namespace embeddings {
namespace {

// Longer ones are unknown, as in BERT.
constexpr size_t kLongestWord = 100;

bool IsPunctuation(utf8proc_int32_t c, utf8proc_category_t category) {
  if (c < 0x80) return c > ' ' && c < 0x7F && (category < UTF8PROC_CATEGORY_LU || category > UTF8PROC_CATEGORY_NO);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

// Each is a word of its own: Chinese has no spaces.
bool IsIdeograph(utf8proc_int32_t c) {
  return (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x2CEAF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool IsSpace(utf8proc_int32_t c, utf8proc_category_t category) {
  return c == '\t' || c == '\n' || c == '\r' || category == UTF8PROC_CATEGORY_ZS;
}

// A code point at a time, in lower case and without accents; punctuation and ideographs are words of their own.
class WordSplitter {
 public:
  void Add(utf8proc_int32_t c) {
    const utf8proc_category_t category = utf8proc_category(c);
    if (IsSpace(c, category)) {
      EndWord();
    } else if (c == 0 || c == 0xFFFD || category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF) {
      return;
    } else if (IsPunctuation(c, category) || IsIdeograph(c)) {
      EndWord();
      Append(c);
      EndWord();
    } else {
      AddLetter(c);
    }
  }
  std::vector<std::string> Words() {
    EndWord();
    return std::move(words_);
  }

 private:
  void AddLetter(utf8proc_int32_t c) {
    std::array<utf8proc_int32_t, 32> parts{};
    int last_boundary = 0;
    const auto count =
        utf8proc_decompose_char(utf8proc_tolower(c), parts.data(), parts.size(), UTF8PROC_DECOMPOSE, &last_boundary);
    for (utf8proc_ssize_t i = 0; i < std::min<utf8proc_ssize_t>(count, parts.size()); ++i) {
      const utf8proc_int32_t part = parts[static_cast<size_t>(i)];
      if (utf8proc_category(part) != UTF8PROC_CATEGORY_MN) Append(part);
    }
  }
  void Append(utf8proc_int32_t c) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto count = static_cast<size_t>(utf8proc_encode_char(c, bytes.data()));
    word_.append(reinterpret_cast<const char*>(bytes.data()), count);
  }
  void EndWord() {
    if (!word_.empty()) words_.push_back(std::move(word_));
    word_.clear();
  }

  std::vector<std::string> words_;
  std::string word_;
};

std::vector<std::string> SplitIntoWords(const std::string& text) {
  WordSplitter splitter;
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t count = utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &c);
    if (count > 0) splitter.Add(c);
    at += count > 0 ? static_cast<size_t>(count) : 1;
  }
  return splitter.Words();
}

size_t CodePoints(const std::string& word) {
  return static_cast<size_t>(std::count_if(word.begin(), word.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

WordPieces::WordPieces(const std::string& vocabulary) {
  std::ifstream file(vocabulary);
  if (!file) throw std::runtime_error("cannot open the vocabulary '" + vocabulary + "'");
  int64_t number = 0;
  for (std::string line; std::getline(file, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    tokens_.emplace(line, number);
  }
  const auto special = [&](const char* name) {
    const auto found = tokens_.find(name);
    if (found == tokens_.end()) throw std::runtime_error("the vocabulary '" + vocabulary + "' has no " + name);
    return found->second;
  };
  begin_ = special("[CLS]");
  end_ = special("[SEP]");
  unknown_ = special("[UNK]");
}

std::vector<int64_t> WordPieces::Tokenize(const std::string& text, size_t limit) const {
  std::vector<int64_t> tokens = {begin_};
  for (const std::string& word : SplitIntoWords(text)) AddWord(word, &tokens);
  tokens.resize(std::min(tokens.size(), limit - 1));
  tokens.push_back(end_);
  return tokens;
}

void WordPieces::AddWord(const std::string& word, std::vector<int64_t>* tokens) const {
  const size_t before = tokens->size();
  bool known = CodePoints(word) <= kLongestWord;
  for (size_t begin = 0; known && begin < word.size();) {
    size_t end = word.size();
    auto found = tokens_.end();
    for (; end > begin && found == tokens_.end(); --end)
      found = tokens_.find((begin == 0 ? "" : "##") + word.substr(begin, end - begin));
    known = found != tokens_.end();
    if (!known) break;
    tokens->push_back(found->second);
    begin = end + 1;
  }
  if (known) return;
  tokens->resize(before);
  tokens->push_back(unknown_);
}

}  // namespace embeddings
