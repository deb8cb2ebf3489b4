#include "kernel/plugin.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <system_error>

#include "base/check.h"
#include "base/log.h"
#include "base/strings.h"
#include "kernel/kernel_registry.h"
#include "kernel/provider.h"
#include "op/schema_registry.h"

namespace wherry {

namespace {

constexpr const char* kKnownPlugins[] = {"libwherry_onednn.so"};

// The folder of libwherry.so; empty when this code is in something else. From the list of what is loaded: dladdr would
// go through all of the library's symbols for the nearest one.
std::filesystem::path LibraryFolder() {
  std::string name;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        // By something of this file alone: the address of LoadPlugin may be an entry of the executable.
        const auto address = reinterpret_cast<uintptr_t>(kKnownPlugins);
        const bool here = std::any_of(info->dlpi_phdr, info->dlpi_phdr + info->dlpi_phnum, [&](const auto& segment) {
          return segment.p_type == PT_LOAD && address - info->dlpi_addr - segment.p_vaddr < segment.p_memsz;
        });
        if (here) *static_cast<std::string*>(found) = info->dlpi_name;
        return here ? 1 : 0;
      },
      &name);
  const std::filesystem::path file(name);
  if (!file.filename().string().starts_with("libwherry.so")) return {};
  return file.parent_path();
}

// Makes the plug-in's registrations pending.
void Open(const std::string& path) {
  std::error_code ignored;
  WHERRY_ENFORCE(std::filesystem::exists(path, ignored), kNotFound, "plug-in ", Quote(path), " does not exist");
  // A program with the static library would get a second Wherry with registries of its own, because a plug-in is linked
  // against libwherry.so.
  WHERRY_ENFORCE(!LibraryFolder().empty(), kUnsupported, "plug-in ", Quote(path),
                 " needs a program that is linked against libwherry.so; this one has Wherry as a static library");
  // RTLD_LOCAL: plug-ins must not see, or replace, each other's symbols.
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  const char* words = dlerror();
  Throw(ErrorCode::kUnavailable, "plug-in ", Quote(path),
        " cannot be loaded: ", words != nullptr ? words : "unknown reason");
}

void LoadKnownPlugins() {
  const std::filesystem::path folder = LibraryFolder();
  if (folder.empty()) return;
  for (const char* name : kKnownPlugins) {
    const std::filesystem::path path = folder / name;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) continue;
    try {
      Open(path.string());
    } catch (const Error& error) {
      WHERRY_LOG(kWarning) << error.what();
    }
  }
}

void LoadListedPlugins(std::string_view list) {
  while (!list.empty()) {
    const size_t end = list.find(':');
    const std::string path(list.substr(0, end));
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
    if (path.empty()) continue;
    try {
      Open(path);
    } catch (Error& error) {
      error.AddContext("loading the plug-ins that WHERRY_PLUGINS names");
      throw;
    }
  }
}

}  // namespace

void LoadPlugin(const std::string& path) {
  LoadDefaultPlugins();
  try {
    Open(path);
    // Every registry takes in its part, else the next user of one would be told of names that are taken.
    std::exception_ptr error;
    for (void (*merge)() :
         {+[] { SchemaRegistry::Global(); }, +[] { ProviderRegistry::Global(); }, +[] { KernelFactory::Instance(); }}) {
      try {
        merge();
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
  } catch (Error& error) {
    error.AddContext("loading the plug-in " + Quote(path));
    throw;
  }
}

void LoadDefaultPlugins() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* list = std::getenv("WHERRY_PLUGINS");
    if (list == nullptr) {
      LoadKnownPlugins();
    } else if (std::string_view(list) != "none") {
      LoadListedPlugins(list);
    }
  });
}

}  // namespace wherry
