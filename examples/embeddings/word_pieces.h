// BERT's tokenizer: lower-case words without accents, each cut into the longest pieces that the vocabulary has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace embeddings {

class WordPieces {
 public:
  // `vocabulary`: a file with a piece a line, its number the token; pieces within a word begin with "##". Throws
  // std::runtime_error if it cannot be read or lacks [CLS], [SEP] or [UNK].
  explicit WordPieces(const std::string& vocabulary);

  // [CLS], the text's tokens and [SEP], at most `limit` in all. What is no UTF-8 is left out.
  std::vector<int64_t> Tokenize(const std::string& text, size_t limit) const;

 private:
  void AddWord(const std::string& word, std::vector<int64_t>* tokens) const;

  std::unordered_map<std::string, int64_t> tokens_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  int64_t unknown_ = 0;
};

}  // namespace embeddings
