// Compiled OpenCL programs: in memory, and on disk so that the next process need not compile.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "kernels/opencl/api.h"

namespace wherry::opencl {

// $XDG_CACHE_HOME/wherry, or $HOME/.cache/wherry; "" when neither variable names an absolute path.
std::string DefaultCacheFolder();

// Thread-safe. A file holds the binary of one program under a key of device, driver, source and options; one that is
// damaged, or that belongs to another key, is replaced. That the folder cannot be read or written is no error: the
// program is compiled.
class ProgramCache {
 public:
  // An empty folder: nothing on disk.
  ProgramCache(cl_context context, cl_device_id device, std::string folder);

  // The built program of a source text. Error(kInternal) with the compiler's log when it does not compile. Valid as
  // long as the cache.
  cl_program Get(std::string_view source, const std::string& options);

  // How many programs were compiled from source, and how many taken from disk, since the cache was made.
  int compiled() const { return compiled_; }
  int loaded() const { return loaded_; }
  // The file of that program.
  std::string FileOf(std::string_view source, const std::string& options) const;

 private:
  std::string KeyOf(std::string_view source, const std::string& options) const;
  Owned<cl_program> Load(const std::string& file, const std::string& key, const std::string& options);
  Owned<cl_program> Compile(std::string_view source, const std::string& options);
  void Store(cl_program program, const std::string& file, const std::string& key);

  cl_context context_;
  cl_device_id device_;
  std::string folder_;
  std::string device_key_;
  std::mutex mutex_;
  std::map<std::string, Owned<cl_program>> programs_;
  int compiled_ = 0;
  int loaded_ = 0;
};

}  // namespace wherry::opencl
