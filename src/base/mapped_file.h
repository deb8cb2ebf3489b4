// Files read as a whole: mapped into memory, or copied.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace wherry {

// A regular file's bytes, mapped read-only; a page is read from disk when it is first touched. Shared: whoever keeps a
// pointer into the bytes keeps the shared_ptr. Immutable and thread-safe.
//
// Another program that shortens the file while it is mapped makes touching the lost pages a SIGBUS. Files are replaced
// by renaming (AtomicFile does), which leaves a mapping whole.
class MappedFile {
 public:
  // Throws when `path` cannot be opened (kNotFound when there is none), is a folder, or is no regular file; the message
  // has the path and the system's reason. An empty file is fine.
  static std::shared_ptr<const MappedFile> Open(const std::string& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Page-aligned; nullptr when the file is empty.
  const std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  const std::string& path() const noexcept { return path_; }

  // Gives the memory of the pages that lie wholly within [offset, offset + size) back to the system; touched again,
  // they are read again. For source weights after packing. Throws kOutOfRange when the range leaves the file.
  void Drop(size_t offset, size_t size) const;

 private:
  MappedFile(std::string path, const std::byte* data, size_t size);

  const std::string path_;
  const std::byte* const data_;
  const size_t size_;
};

// All bytes of a regular file, with the errors of MappedFile::Open; kResourceExhausted when they do not fit memory.
std::vector<std::byte> ReadFile(const std::string& path);

}  // namespace wherry
