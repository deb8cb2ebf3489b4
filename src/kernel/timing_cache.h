// Measured times of kernels, kept in a file from one process to the next.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace wherry {

// One thread at a time; any number of processes may have the same file.
class TimingCache {
 public:
  // Without a path times are kept in memory only. A file of ours that is damaged, or of another version, has no times
  // where it cannot be read: it is a cache. A file that is something else is Error(kInvalidArgument): Save would
  // replace it.
  explicit TimingCache(std::string path = "");

  std::optional<double> Find(const std::string& key) const;
  // key: any text of one line. An older time of the same key goes.
  void Add(const std::string& key, double microseconds);
  // Writes what was added since to the file, which keeps what others wrote meanwhile; nothing to write: nothing.
  // Throws when the system refuses; the file is then as it was.
  void Save();

 private:
  using Times = std::map<std::string, double, std::less<>>;
  static Times Read(const std::string& path);

  std::string path_;
  Times times_;
  Times added_;
};

}  // namespace wherry
