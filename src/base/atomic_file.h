// Writing a file so that it appears whole or not at all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"

namespace wherry {

// Writes to a temporary file in the folder of `path`; Commit() puts it in the place of `path`. Without a Commit, `path`
// stays as it was and the temporary is removed; RemoveTemporaryFiles() of wherry/file.h removes it when a signal ends
// the process. Not thread-safe.
class AtomicFile {
 public:
  // A symbolic link at `path` stays a link: the file that it points to is replaced. Throws when the temporary cannot be
  // made, and when `path` is something that must not be replaced (a folder, a device). Messages have the path and the
  // system's reason.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Appends. Throws when the system refuses (a full disk may show only at a later Write, or at Commit).
  void Write(std::span<const std::byte> bytes);
  void Write(std::string_view text);
  // Overwrites bytes that were appended before, for headers that are known last. Throws kOutOfRange beyond size().
  void WriteAt(uint64_t offset, std::span<const std::byte> bytes);
  // Bytes appended so far.
  uint64_t size() const noexcept { return flushed_ + buffer_.size(); }

  // Brings all to the disk, then renames: after a crash at any time `path` is the old file or the new one. Call it
  // once, last.
  void Commit();

 private:
  void Flush();
  void WriteFully(uint64_t offset, std::span<const std::byte> bytes);

  std::string path_;  // links resolved
  std::string temporary_;
  std::atomic<char*>* remembered_ = nullptr;  // where a signal handler finds its name
  FileDescriptor file_;
  std::vector<std::byte> buffer_;  // appended, not yet given to the system
  uint64_t flushed_ = 0;
  bool committed_ = false;
};

}  // namespace wherry
