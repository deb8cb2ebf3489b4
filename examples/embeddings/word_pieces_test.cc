#include "word_pieces.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace embeddings {
namespace {

using Tokens = std::vector<int64_t>;

class WordPiecesTest : public testing::Test {
 protected:
  WordPiecesTest() {
    std::ofstream file(path_);
    // 0 to 13.
    for (const char* piece :
         {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "play", "##ing", "##er", "cafe", "!", "'", "s", "天", "##s", "$"}) {
      file << piece << '\n';
    }
  }

  const std::string path_ = testing::TempDir() + "word_pieces_vocab.txt";
};

TEST_F(WordPiecesTest, TakesTheLongestPieces) {
  const WordPieces pieces(path_);
  EXPECT_EQ(pieces.Tokenize("playing players play", 32), (Tokens{2, 4, 5, 4, 6, 12, 4, 3}));
}

TEST_F(WordPiecesTest, LowerCaseWithoutAccents) {
  const WordPieces pieces(path_);
  EXPECT_EQ(pieces.Tokenize("PLAY Café Cafe\u0301", 32), (Tokens{2, 4, 7, 7, 3}));
}

TEST_F(WordPiecesTest, PunctuationAndIdeographsAreWords) {
  const WordPieces pieces(path_);
  EXPECT_EQ(pieces.Tokenize("play's!! 天天$", 32), (Tokens{2, 4, 9, 10, 8, 8, 11, 11, 13, 3}));
}

TEST_F(WordPiecesTest, AWordThatDoesNotComeOutIsUnknownAsAWhole) {
  const WordPieces pieces(path_);
  EXPECT_EQ(pieces.Tokenize("playx play " + std::string(101, 's'), 32), (Tokens{2, 1, 4, 1, 3}));
}

TEST_F(WordPiecesTest, CutsLongTextsAndLeavesOutWhatIsNoText) {
  const WordPieces pieces(path_);
  EXPECT_EQ(pieces.Tokenize("play play play", 4), (Tokens{2, 4, 4, 3}));
  EXPECT_EQ(pieces.Tokenize("pl\xFF"
                            "ay\x01 \xE5\xA4",
                            8),
            (Tokens{2, 4, 3}));
  EXPECT_EQ(pieces.Tokenize("", 8), (Tokens{2, 3}));
}

TEST_F(WordPiecesTest, AVocabularyMustHaveTheSpecialTokens) {
  std::ofstream(path_) << "a\n[CLS]\n[SEP]\n";
  EXPECT_THROW(WordPieces{path_}, std::runtime_error);
  EXPECT_THROW(WordPieces{path_ + ".missing"}, std::runtime_error);
}

}  // namespace
}  // namespace embeddings
