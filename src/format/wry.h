// The optimised model file, .wry. The layout is described in docs/design/wry.md:
//   header (128 bytes: magic, version, feature flags, sections, checksums) | program text | tensor table | tensors,
//   64-byte aligned
// All numbers are little-endian. Every section and tensor has a CRC-32C; a tensor's is checked when it is first read.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/file_bytes.h"
#include "ir/program.h"

namespace wherry {

inline constexpr uint32_t kWryVersion = 1;

// Whether the bytes begin like a .wry file.
bool IsWry(std::span<const std::byte> head);

// With the program's packed weights. Writes to a temporary file beside `path` and renames it: complete or not at all.
void SaveWry(const Program& program, const std::string& path);

// The program, its weights pointing into `file` (which they keep alive). Error(kCorrupt) on damage, with what and
// where: of a weight only when its data is first asked for. Error(kUnsupported) on a newer version or an unknown
// feature.
Program LoadWry(const FileBytes& file);

}  // namespace wherry
