#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>

#include "base/check.h"
#include "base/strings.h"
#include "base/system_error.h"
#include "wherry/file.h"

namespace wherry {
namespace {

// Small writes are gathered up to this, larger ones go to the system as they are.
constexpr size_t kBufferBytes = 256 << 10;

std::string Doing(const std::string& path) { return "cannot write " + Quote(path, 1000); }

std::string ParentFolder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// The names of the temporaries, because a signal handler can reach nothing else. Whoever exchanges a name for null owns
// it. Files beyond these are not remembered.
std::array<std::atomic<char*>, 64> temporaries{};

std::atomic<char*>* Remember(const std::string& name) {
  char* copy = new char[name.size() + 1];
  std::memcpy(copy, name.c_str(), name.size() + 1);
  for (std::atomic<char*>& slot : temporaries) {
    char* none = nullptr;
    if (slot.compare_exchange_strong(none, copy)) return &slot;
  }
  delete[] copy;
  return nullptr;
}

void Forget(std::atomic<char*>* slot) {
  if (slot != nullptr) delete[] slot->exchange(nullptr);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  WHERRY_ENFORCE(!path.empty() && path.find('\0') == std::string::npos, kInvalidArgument, Doing(path),
                 ": no valid path");
  struct stat status;
  if (stat(path.c_str(), &status) == 0) {
    // Renaming over /dev/null would be a poor joke.
    WHERRY_ENFORCE(S_ISREG(status.st_mode), kInvalidArgument, Doing(path), ": it exists and is no regular file");
    std::error_code error;
    path_ = std::filesystem::canonical(path, error).string();
    if (error) ThrowSystemError(error.value(), Doing(path));
  }
  // Made here, not by mkstemp: its mode 0600 would stay after the rename.
  std::random_device random;
  constexpr int kAttempts = 100;
  for (int attempt = 0;; ++attempt) {
    temporary_ = StrCat(path_, ".", random(), ".tmp");
    remembered_ = Remember(temporary_);
    file_ = FileDescriptor(open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (file_.valid()) return;
    const int error = errno;
    Forget(remembered_);
    if (error != EEXIST || attempt >= kAttempts) ThrowSystemError(error, Doing(path));
  }
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  unlink(temporary_.c_str());
  Forget(remembered_);
}

void AtomicFile::Write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) Flush();
  if (bytes.size() >= kBufferBytes) {
    WriteFully(flushed_, bytes);
    flushed_ += bytes.size();
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void AtomicFile::Write(std::string_view text) { Write(std::as_bytes(std::span(text))); }

void AtomicFile::WriteAt(uint64_t offset, std::span<const std::byte> bytes) {
  WHERRY_ENFORCE(offset <= size() && bytes.size() <= size() - offset, kOutOfRange, Doing(path_), ": ", bytes.size(),
                 " bytes at ", offset, " of ", size());
  Flush();
  WriteFully(offset, bytes);
}

void AtomicFile::Flush() {
  WriteFully(flushed_, buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

void AtomicFile::WriteFully(uint64_t offset, std::span<const std::byte> bytes) {
  WHERRY_CHECK(!committed_, "AtomicFile written after Commit");
  while (!bytes.empty()) {
    const ssize_t wrote = pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) ThrowSystemError(errno, Doing(path_));
    bytes = bytes.subspan(static_cast<size_t>(wrote));
    offset += static_cast<uint64_t>(wrote);
  }
}

void AtomicFile::Commit() {
  Flush();
  if (fsync(file_.get()) != 0) ThrowSystemError(errno, Doing(path_));
  if (rename(temporary_.c_str(), path_.c_str()) != 0) ThrowSystemError(errno, Doing(path_));
  Forget(remembered_);
  committed_ = true;
  file_ = FileDescriptor();
  // The rename itself is safe once the folder is; some file systems cannot sync a folder, and the file is whole either
  // way.
  FileDescriptor folder(open(ParentFolder(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) fsync(folder.get());
}

void WriteFile(const std::string& path, std::string_view content) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
    AtomicFile file(path);
    file.Write(content);
    file.Commit();
    return;
  }
  // Renaming would put a file in the place of a device or a pipe.
  const FileDescriptor device(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!device.valid()) ThrowSystemError(errno, Doing(path));
  while (!content.empty()) {
    const ssize_t wrote = write(device.get(), content.data(), content.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) ThrowSystemError(errno, Doing(path));
    content.remove_prefix(static_cast<size_t>(wrote));
  }
}

void RemoveTemporaryFiles() noexcept {
  for (std::atomic<char*>& slot : temporaries) {
    // Not freed: a signal handler may not, and the process ends.
    const char* name = slot.exchange(nullptr);
    if (name != nullptr) unlink(name);
  }
}

}  // namespace wherry
