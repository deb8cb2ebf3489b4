// CRC-32C (Castagnoli), the checksum of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wherry {

// The CRC-32C of the bytes that `crc` is of, followed by `bytes`; start with 0. Finds damage, not tampering.
// Uses the SSE4.2 instruction where there is one.
uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t crc = 0) noexcept;

// The same without special instructions; for tests.
uint32_t Crc32cPortable(std::span<const std::byte> bytes, uint32_t crc = 0) noexcept;

}  // namespace wherry
