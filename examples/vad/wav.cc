#include "wav.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace vad {
namespace {

uint32_t Little(const std::string& bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error("'" + path + "' " + why);
}

}  // namespace

Sound ReadWav(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) Refuse(path, "cannot be opened");
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  constexpr size_t kHead = 12;
  if (bytes.size() < kHead || bytes.compare(0, 4, "RIFF") != 0 || bytes.compare(8, 4, "WAVE") != 0)
    Refuse(path, "is no WAV file");
  Sound sound;
  size_t channels = 0;
  for (size_t at = kHead; bytes.size() - at >= 8;) {
    const std::string name = bytes.substr(at, 4);
    at += 8;
    // A stream that was recorded without an end has a length beyond it.
    const size_t size = std::min<size_t>(Little(bytes, at - 4, 4), bytes.size() - at);
    if (name == "fmt ") {
      constexpr uint32_t kPcm = 1, kExtensible = 0xFFFE;
      if (size < 16) Refuse(path, "is cut off");
      const uint32_t format = Little(bytes, at, 2);
      if ((format != kPcm && format != kExtensible) || Little(bytes, at + 14, 2) != 16)
        Refuse(path, "has no 16-bit samples");
      channels = Little(bytes, at + 2, 2);
      sound.rate = static_cast<int>(std::min<uint32_t>(Little(bytes, at + 4, 4), 1 << 24));
      if (channels == 0 || sound.rate == 0) Refuse(path, "has no channel or no sample rate");
    } else if (name == "data") {
      if (channels == 0) Refuse(path, "has samples before its format");
      const size_t count = size / 2 / channels;
      sound.samples.reserve(count);
      for (size_t i = 0; i < count; ++i) {
        float sum = 0;
        for (size_t c = 0; c < channels; ++c)
          sum += static_cast<float>(static_cast<int16_t>(Little(bytes, at + 2 * (i * channels + c), 2)));
        sound.samples.push_back(sum / static_cast<float>(channels) / 32768.0F);
      }
      return sound;
    }
    at += std::min(size + size % 2, bytes.size() - at);
  }
  Refuse(path, "has no samples");
}

}  // namespace vad
