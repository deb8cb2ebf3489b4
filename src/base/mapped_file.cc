#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/file_descriptor.h"
#include "base/strings.h"
#include "base/system_error.h"

namespace wherry {
namespace {

struct OpenedFile {
  FileDescriptor descriptor;
  size_t size;
};

OpenedFile OpenRegularFile(const std::string& path) {
  const std::string doing = "cannot open " + Quote(path, 1000);
  WHERRY_ENFORCE(path.find('\0') == std::string::npos, kInvalidArgument, doing, ": the path has a zero byte");
  // O_NONBLOCK: opening a pipe that nobody writes would wait for ever; regular files do not know it.
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) ThrowSystemError(errno, doing);
  struct stat status;
  if (fstat(file.get(), &status) != 0) ThrowSystemError(errno, doing);
  WHERRY_ENFORCE(!S_ISDIR(status.st_mode), kInvalidArgument, doing, ": it is a folder, not a file");
  WHERRY_ENFORCE(S_ISREG(status.st_mode), kInvalidArgument, doing, ": it is a device or a pipe, not a regular file");
  return {std::move(file), static_cast<size_t>(status.st_size)};
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::Open(const std::string& path) {
  const OpenedFile file = OpenRegularFile(path);
  const std::byte* data = nullptr;
  if (file.size > 0) {  // mmap refuses 0
    void* mapped = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.descriptor.get(), 0);
    if (mapped == MAP_FAILED) ThrowSystemError(errno, "cannot map " + Quote(path, 1000));
    data = static_cast<const std::byte*>(mapped);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, data, file.size));
}

MappedFile::MappedFile(std::string path, const std::byte* data, size_t size)
    : path_(std::move(path)), data_(data), size_(size) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::Drop(size_t offset, size_t size) const {
  WHERRY_ENFORCE(offset <= size_ && size <= size_ - offset, kOutOfRange, "dropping ", size, " bytes at ", offset,
                 " of ", Quote(path_, 1000), ", which has ", size_);
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t begin = (offset + page - 1) / page * page;
  // The last page of the file is whole when the range reaches the file's end.
  const size_t end = offset + size == size_ ? size_ : (offset + size) / page * page;
  if (begin >= end) return;
  // Only advice: a failure costs memory, nothing else.
  madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

std::vector<std::byte> ReadFile(const std::string& path) {
  const OpenedFile file = OpenRegularFile(path);
  std::vector<std::byte> bytes;
  try {
    // One byte more, so that the end is seen without growing. The size is a hint: files in /proc say 0, others may
    // grow.
    constexpr size_t kLeastRoom = 4096;
    bytes.resize(std::max(file.size + 1, kLeastRoom));
    size_t used = 0;
    while (true) {
      const ssize_t got = read(file.descriptor.get(), bytes.data() + used, bytes.size() - used);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) ThrowSystemError(errno, "cannot read " + Quote(path, 1000));
      if (got == 0) break;
      used += static_cast<size_t>(got);
      if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    }
    bytes.resize(used);
  } catch (const std::bad_alloc&) {
    Throw(ErrorCode::kResourceExhausted, "cannot read ", Quote(path, 1000), ": no memory for its ", file.size,
          " bytes");
  }
  return bytes;
}

}  // namespace wherry
