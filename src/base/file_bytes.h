// The bytes of a file, wherever they are: mapped, in memory, or the caller's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace wherry {

// `owner` keeps the bytes alive; null when the caller promised to.
struct FileBytes {
  std::string name;  // for messages
  std::span<const std::byte> data;
  std::shared_ptr<const void> owner;
};

}  // namespace wherry
