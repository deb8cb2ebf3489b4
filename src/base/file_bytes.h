// The bytes of a file, wherever they are: mapped, in memory, or the caller's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/mapped_file.h"

namespace wherry {

// `owner` keeps the bytes alive; null when the caller promised to. `mapped` is not null where they lie in a mapped
// file.
struct FileBytes {
  FileBytes() = default;
  FileBytes(std::string file_name, std::span<const std::byte> bytes, std::shared_ptr<const void> bytes_owner)
      : name(std::move(file_name)), data(bytes), owner(std::move(bytes_owner)) {}
  FileBytes(std::string file_name, std::shared_ptr<const MappedFile> file)
      : name(std::move(file_name)), data(file->bytes()), owner(file), mapped(std::move(file)) {}

  // Gives back the memory of `part`, which lies in `data`, where that is a mapped file.
  void Discard(std::span<const std::byte> part) const {
    if (mapped != nullptr) mapped->Drop(static_cast<size_t>(part.data() - data.data()), part.size());
  }

  std::string name;  // for messages
  std::span<const std::byte> data;
  std::shared_ptr<const void> owner;
  std::shared_ptr<const MappedFile> mapped;
};

}  // namespace wherry
