// A plain main for fuzz targets: runs every file of the given folders, and changed copies of them.
//
//   x_fuzz [--changes N] FOLDER...
//
// The changes are the same in every run (a fixed seed), so a failure repeats. What libFuzzer finds beyond them becomes
// a file of the corpus.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

void RunOne(const Bytes& bytes) {
  // A copy of exactly this size, so that the address sanitizer sees a read past the end.
  const Bytes exact(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

// One to four edits of the kinds that break readers: flipped bits, extreme bytes, cuts, repeats, another file's middle.
Bytes Change(Bytes bytes, const Bytes& other, std::mt19937_64& random) {
  const auto below = [&random](std::size_t limit) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(limit, 1));
  };
  static constexpr std::uint8_t kExtremes[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
    if (bytes.empty()) bytes.push_back(0);
    const std::size_t at = below(bytes.size());
    const std::size_t length = std::min(bytes.size() - at, 1 + below(16));
    switch (below(6)) {
      case 0: bytes[at] ^= static_cast<std::uint8_t>(1u << below(8)); break;
      case 1: std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), length, kExtremes[below(5)]); break;
      case 2: bytes.resize(at); break;
      case 3:
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
        break;
      case 4: {
        const Bytes repeated(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                             bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), repeated.begin(), repeated.end());
        break;
      }
      default: {
        const std::size_t from = below(other.size());
        const std::size_t taken = std::min(other.size() - std::min(from, other.size()), length);
        std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(from), taken,
                    bytes.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      }
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t changes = 0;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--changes" && i + 1 < argc) {
      changes = std::strtoull(argv[++i], nullptr, 10);
    } else {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    }
  }
  if (files.empty()) {
    std::fprintf(stderr, "usage: %s [--changes N] FOLDER...   (no file found)\n", argv[0]);
    return 1;
  }
  std::sort(files.begin(), files.end());
  std::vector<Bytes> corpus;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    RunOne(corpus.back());
  }
  std::mt19937_64 random(20240229);
  for (std::size_t i = 0; i < changes; ++i) {
    RunOne(Change(corpus[i % corpus.size()], corpus[random() % corpus.size()], random));
  }
  std::printf("%zu files and %zu changed copies\n", corpus.size(), changes);
  return 0;
}
