#include "kernel/timing_cache.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/file_descriptor.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/strings.h"
#include "base/system_error.h"
#include "core/number_text.h"

namespace wherry {
namespace {

// First line of the file; then a line per time: microseconds, a tab, the key.
constexpr std::string_view kHeader = "wherry kernel times 1\n";
constexpr std::string_view kAnyVersion = "wherry kernel times ";
// Microseconds that a kernel may take: no call ends within a nanosecond, none that is timed lasts hours.
constexpr double kShortest = 1e-3;
constexpr double kLongest = 1e10;
// Others hold the lock for milliseconds.
constexpr auto kTryEvery = std::chrono::milliseconds(5);
constexpr int kSilentTries = 400;

// Held while the file is read and written anew, by one process at a time. A file of its own, since the other is
// replaced.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {  // NOLINT: the system's interface
    if (!file_.valid()) ThrowSystemError(errno, "cannot open " + Quote(path, 1000));
    for (int tries = 0; flock(file_.get(), LOCK_EX | LOCK_NB) != 0; ++tries) {
      if (errno != EWOULDBLOCK && errno != EINTR) ThrowSystemError(errno, "cannot lock " + Quote(path, 1000));
      if (tries == kSilentTries)
        WHERRY_LOG(kWarning) << "waiting for the process that has locked " << Quote(path, 1000);
      std::this_thread::sleep_for(kTryEvery);
    }
  }

 private:
  FileDescriptor file_;  // closing it unlocks
};

}  // namespace

TimingCache::TimingCache(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) times_ = Read(path_);
}

TimingCache::Times TimingCache::Read(const std::string& path) {
  Times times;
  std::vector<std::byte> bytes;
  try {
    bytes = ReadFile(path);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotFound) return times;
    throw;
  }
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  WHERRY_ENFORCE(text.empty() || text.starts_with(kAnyVersion), kInvalidArgument, Quote(path, 1000),
                 " holds no kernel times: it is not replaced by a cache of them");
  if (!text.starts_with(kHeader)) return times;
  text.remove_prefix(kHeader.size());
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    const std::optional<double> time = ParseNumber<double>(line.substr(0, tab));
    if (time && *time >= kShortest && *time <= kLongest)
      times.insert_or_assign(std::string(line.substr(tab + 1)), *time);
  }
  return times;
}

std::optional<double> TimingCache::Find(const std::string& key) const {
  const auto found = times_.find(key);
  if (found == times_.end()) return std::nullopt;
  return found->second;
}

void TimingCache::Add(const std::string& key, double microseconds) {
  WHERRY_CHECK(key.find('\n') == std::string::npos, "a key of two lines: ", key);
  times_.insert_or_assign(key, microseconds);
  added_.insert_or_assign(key, microseconds);
}

void TimingCache::Save() {
  if (path_.empty() || added_.empty()) return;
  const FileLock lock(path_ + ".lock");
  Times times = Read(path_);
  for (const auto& [key, time] : added_) times.insert_or_assign(key, time);
  AtomicFile file(path_);
  file.Write(kHeader);
  for (const auto& [key, time] : times) file.Write(NumberText(time) + "\t" + key + "\n");
  file.Commit();
  added_.clear();
}

}  // namespace wherry
