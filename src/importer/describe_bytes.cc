#include "importer/describe_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace wherry {

namespace {

template <typename T>
std::optional<T> ReadAt(std::span<const std::byte> data, size_t offset) {
  T value;
  if (data.size() < sizeof(T) || offset > data.size() - sizeof(T)) return std::nullopt;
  std::memcpy(&value, data.data() + offset, sizeof(T));
  return value;
}

std::string_view AsText(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

bool IsPrintable(char c) { return c >= 0x20 && c < 0x7f; }

struct Signature {
  std::string_view bytes;
  const char* what;
};
constexpr Signature kSignatures[] = {
    {std::string_view("PK\x03\x04", 4), "a zip archive (unpack it first)"},
    {std::string_view("\x1f\x8b", 2), "a gzip archive (unpack it first)"},
    {std::string_view("\x7f"
                      "ELF",
                      4),
     "a program or shared library"},
    {std::string_view("\x89PNG", 4), "a PNG image"},
    {std::string_view("\xff\xd8\xff", 3), "a JPEG image"},
    {std::string_view("\x93NUMPY", 6), "a NumPy array"},
    {std::string_view("\x89HDF", 4), "an HDF5 file"},
    {std::string_view("\x80\x02", 2), "a Python pickle"},
    {std::string_view("\x80\x03", 2), "a Python pickle"},
    {std::string_view("\x80\x04", 2), "a Python pickle"},
    {std::string_view("version https://git-lfs", 23), "a Git LFS pointer, not the file itself (run `git lfs pull`)"},
};

}  // namespace

bool LooksLikePaddleParams(std::span<const std::byte> data) {
  const auto version = ReadAt<uint32_t>(data, 0);
  const auto lod_level = ReadAt<uint64_t>(data, 4);
  if (version != 0U || !lod_level || *lod_level > 16) return false;
  if (*lod_level > 0) return true;
  const auto tensor_version = ReadAt<uint32_t>(data, 12);
  const auto desc_size = ReadAt<int32_t>(data, 16);
  return tensor_version == 0U && desc_size && *desc_size >= 2 && *desc_size < 4096;
}

bool LooksLikePaddleProgram(std::span<const std::byte> data) {
  // Field 1 (a block), its length, and in it field 1 (the block's index) as a varint.
  if (data.size() < 3 || data[0] != std::byte{0x0a}) return false;
  size_t position = 1;
  while (position < std::min<size_t>(data.size(), 11) && (data[position] & std::byte{0x80}) != std::byte{0}) ++position;
  return position + 1 < data.size() && data[position + 1] == std::byte{0x08};
}

bool LooksLikePir(std::span<const std::byte> data) {
  const std::string_view text = AsText(data.first(std::min<size_t>(data.size(), 4096)));
  const size_t begin = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  // The writer's key order is alphabetical, but a reader may not depend on it: "program" is enough.
  return begin != std::string_view::npos && text[begin] == '{' &&
         (text.find("\"base_code\"") != std::string_view::npos || text.find("\"program\"") != std::string_view::npos);
}

bool LooksLikeNaiveBuffer(std::span<const std::byte> data) {
  const auto version = ReadAt<uint16_t>(data, 0);
  if (!version || *version > 2 || data.size() < 26) return false;
  const std::string_view opt_version = AsText(data.subspan(2, 4));
  return std::all_of(opt_version.begin(), opt_version.end(), IsPrintable);
}

std::string DescribeBytes(std::span<const std::byte> data) {
  if (data.empty()) return "empty";
  if (LooksLikePir(data)) return "a Paddle 3 program (PIR JSON)";
  if (LooksLikePaddleProgram(data)) return "a Paddle program (ProgramDesc)";
  if (LooksLikeNaiveBuffer(data)) return "an optimised model of Paddle-Lite (.nb)";
  if (LooksLikePaddleParams(data)) return "a Paddle parameter file";
  const std::string_view text = AsText(data);
  for (const Signature& signature : kSignatures) {
    if (text.substr(0, signature.bytes.size()) == signature.bytes) return signature.what;
  }
  if (data[0] == std::byte{'{'}) return "JSON, but not of Paddle";
  // In any encoding that extends ASCII: 64 bytes of something else have a control character.
  const std::string_view head = text.substr(0, 64);
  if (std::all_of(head.begin(), head.end(), [](char c) {
        return IsPrintable(c) || c == '\n' || c == '\r' || c == '\t' || static_cast<unsigned char>(c) >= 0x80;
      }))
    return "text";
  static constexpr char kHex[] = "0123456789abcdef";
  std::string bytes;
  for (size_t i = 0; i < std::min<size_t>(data.size(), 4); ++i) {
    const auto byte = std::to_integer<unsigned>(data[i]);
    bytes += ' ';
    bytes += kHex[byte >> 4U];
    bytes += kHex[byte & 15U];
  }
  return "binary data of no known kind (it begins with" + bytes + ")";
}

}  // namespace wherry
