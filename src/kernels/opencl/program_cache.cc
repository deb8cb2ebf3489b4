#include "kernels/opencl/program_cache.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/strings.h"

namespace wherry::opencl {

namespace {

// A cache file: the magic, then little-endian u32 key size, u32 binary size, u32 CRC-32C of key and binary, the key,
// the binary.
constexpr std::string_view kMagic = "WOCL\x01\n";
constexpr size_t kHeaderSize = kMagic.size() + 3 * sizeof(uint32_t);

void AppendU32(std::string* out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(value >> shift & 0xffU));
}

uint32_t ReadU32(const std::byte* bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8U | static_cast<uint32_t>(bytes[i]);
  return value;
}

std::string Hex(uint64_t value) {
  std::string text(16, '0');
  for (size_t i = 0; i < 16; ++i) text[15 - i] = "0123456789abcdef"[value >> (4 * i) & 0xfU];
  return text;
}

std::string AbsoluteOf(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::filesystem::path(value).is_absolute() ? value : "";
}

// The binary in a cache file for this key; empty when the file is not what it should be.
std::vector<unsigned char> BinaryIn(const std::vector<std::byte>& file, const std::string& key) {
  if (file.size() < kHeaderSize || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) return {};
  const std::byte* header = file.data() + kMagic.size();
  const uint64_t key_size = ReadU32(header);
  const uint64_t binary_size = ReadU32(header + 4);
  if (file.size() != kHeaderSize + key_size + binary_size || key_size != key.size()) return {};
  const std::byte* body = file.data() + kHeaderSize;
  if (std::memcmp(body, key.data(), key.size()) != 0) return {};
  if (Crc32c({body, file.size() - kHeaderSize}) != ReadU32(header + 8)) return {};
  const auto* binary = reinterpret_cast<const unsigned char*>(body + key_size);
  return {binary, binary + binary_size};
}

}  // namespace

std::string DefaultCacheFolder() {
  const std::string cache = AbsoluteOf("XDG_CACHE_HOME");
  if (!cache.empty()) return cache + "/wherry";
  const std::string home = AbsoluteOf("HOME");
  return home.empty() ? "" : home + "/.cache/wherry";
}

ProgramCache::ProgramCache(cl_context context, cl_device_id device, std::string folder)
    : context_(context), device_(device), folder_(std::move(folder)) {
  cl_platform_id platform = nullptr;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): a cl_platform_id is a pointer
  Check(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, nullptr), "clGetDeviceInfo");
  device_key_ = PlatformText(platform, CL_PLATFORM_NAME) + "|" + PlatformText(platform, CL_PLATFORM_VERSION) + "|" +
                DeviceText(device, CL_DEVICE_NAME) + "|" + DeviceText(device, CL_DEVICE_VERSION) + "|" +
                DeviceText(device, CL_DRIVER_VERSION);
}

std::string ProgramCache::KeyOf(std::string_view source, const std::string& options) const {
  return device_key_ + "|" + options + "|" + Hex(HashString(source)) + "|" + std::to_string(source.size());
}

std::string ProgramCache::FileOf(std::string_view source, const std::string& options) const {
  return folder_ + "/opencl-" + Hex(HashString(KeyOf(source, options))) + ".bin";
}

cl_program ProgramCache::Get(std::string_view source, const std::string& options) {
  const std::string key = KeyOf(source, options);
  const std::scoped_lock lock(mutex_);
  const auto found = programs_.find(key);
  if (found != programs_.end()) return found->second.get();
  const std::string file = FileOf(source, options);
  Owned<cl_program> program = folder_.empty() ? nullptr : Load(file, key, options);
  if (program == nullptr) {
    program = Compile(source, options);
    if (!folder_.empty()) Store(program.get(), file, key);
  }
  return programs_.emplace(key, std::move(program)).first->second.get();
}

Owned<cl_program> ProgramCache::Load(const std::string& file, const std::string& key, const std::string& options) {
  std::vector<unsigned char> binary;
  try {
    binary = BinaryIn(ReadFile(file), key);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) WHERRY_LOG(kInfo) << "OpenCL: program cache: " << error.what();
    return nullptr;
  }
  if (binary.empty()) {
    WHERRY_LOG(kInfo) << "OpenCL: program cache: " << Quote(file) << " is damaged or of another device; it is replaced";
    return nullptr;
  }
  const size_t size = binary.size();
  const unsigned char* data = binary.data();
  cl_int status = CL_SUCCESS;
  Owned<cl_program> program(clCreateProgramWithBinary(context_, 1, &device_, &size, &data, nullptr, &status));
  if (status == CL_SUCCESS) status = clBuildProgram(program.get(), 1, &device_, options.c_str(), nullptr, nullptr);
  if (status != CL_SUCCESS) {
    WHERRY_LOG(kInfo) << "OpenCL: program cache: the driver refuses " << Quote(file) << " (" << status
                      << "); it is replaced";
    return nullptr;
  }
  ++loaded_;
  return program;
}

Owned<cl_program> ProgramCache::Compile(std::string_view source, const std::string& options) {
  const char* text = source.data();
  const size_t size = source.size();
  cl_int status = CL_SUCCESS;
  Owned<cl_program> program(clCreateProgramWithSource(context_, 1, &text, &size, &status));
  Check(status, "clCreateProgramWithSource");
  status = clBuildProgram(program.get(), 1, &device_, options.c_str(), nullptr, nullptr);
  if (status != CL_SUCCESS) {
    size_t log_size = 0;
    clGetProgramBuildInfo(program.get(), device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &log_size);
    std::string log(log_size, '\0');
    clGetProgramBuildInfo(program.get(), device_, CL_PROGRAM_BUILD_LOG, log_size, log.data(), nullptr);
    Throw(ErrorCode::kInternal, "OpenCL: a program does not compile (", status, "): ", log.c_str());
  }
  ++compiled_;
  return program;
}

void ProgramCache::Store(cl_program program, const std::string& file, const std::string& key) {
  size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr) != CL_SUCCESS || size == 0)
    return;
  std::string binary(size, '\0');
  auto* data = reinterpret_cast<unsigned char*>(binary.data());
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(data), &data, nullptr) != CL_SUCCESS) return;
  const std::string body = key + binary;
  std::string header(kMagic);
  AppendU32(&header, static_cast<uint32_t>(key.size()));
  AppendU32(&header, static_cast<uint32_t>(binary.size()));
  AppendU32(&header, Crc32c(std::as_bytes(std::span(body))));
  try {
    std::filesystem::create_directories(folder_);
    AtomicFile out(file);
    out.Write(header);
    out.Write(body);
    out.Commit();
  } catch (const std::exception& error) {
    WHERRY_LOG(kInfo) << "OpenCL: program cache: " << error.what();
  }
}

}  // namespace wherry::opencl
