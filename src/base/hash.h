// Hashes that are the same in every run and on every machine, so they may be stored (fingerprints, caches). Not for
// defence against chosen input.
#pragma once

#include <cstdint>
#include <string_view>

namespace wherry {

// Spreads every bit of `x` over all bits; a bijection. (The finaliser of SplitMix64; Steele, Lea, Flood, OOPSLA 2014.)
constexpr uint64_t HashMix(uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The hash of a sequence: fold its items into `seed` in order. Order matters.
constexpr uint64_t HashCombine(uint64_t seed, uint64_t value) noexcept { return HashMix(seed ^ HashMix(value)); }

// Of text: FNV-1a, then mixed.
constexpr uint64_t HashString(std::string_view text) noexcept {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return HashMix(hash);
}

}  // namespace wherry
