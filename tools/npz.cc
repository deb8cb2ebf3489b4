#include "npz.h"

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string_view>

#include "text.h"
#include "wherry/file.h"
#include "wherry/text.h"

namespace wherry::tools {

namespace {

// Deflate expands at most 1032 times (RFC 1951): a larger claim is a lie, and nothing is allocated for it.
constexpr uint64_t kMaxDeflateRatio = 1032;
constexpr size_t kMostShown = 120;  // bytes of a name in a message

struct NpyType {
  const char* descr;
  DataType dtype;
};
constexpr NpyType kTypes[] = {
    {"<f2", DataType::kFP16},      {"<f4", DataType::kFloat},       {"<f8", DataType::kFP64},
    {"<c8", DataType::kComplex64}, {"<c16", DataType::kComplex128}, {"|i1", DataType::kInt8},
    {"<i2", DataType::kInt16},     {"<i4", DataType::kInt32},       {"<i8", DataType::kInt64},
    {"|u1", DataType::kUInt8},     {"<u2", DataType::kUInt16},      {"<u4", DataType::kUInt32},
    {"<u8", DataType::kUInt64},    {"|b1", DataType::kBool},
};

[[noreturn]] void Corrupt(const std::string& name, const std::string& what) {
  throw Error(ErrorCode::kCorrupt, "array " + name + ": " + what);
}

// bf16 as f32: NumPy has no such type.
Tensor AsNumpyHasIt(const Tensor& tensor) {
  if (tensor.dtype() != DataType::kBF16) return tensor;
  Tensor wide;
  wide.Resize(tensor.shape());
  const auto* const values = tensor.data<BFloat16>();
  std::transform(values, values + tensor.numel(), wide.mutable_data<float>(),
                 [](BFloat16 value) { return static_cast<float>(value); });
  return wide;
}

// The text behind 'key': in the header's Python dictionary.
std::string_view Field(const std::string& name, std::string_view header, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const size_t at = header.find(quoted);
  if (at == std::string_view::npos) Corrupt(name, "the .npy header has no " + std::string(key));
  std::string_view rest = header.substr(at + quoted.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

Shape ParseShape(const std::string& name, std::string_view text) {
  if (text.empty() || text[0] != '(') Corrupt(name, "the .npy header has no shape");
  const size_t end = text.find(')');
  if (end == std::string_view::npos) Corrupt(name, "the .npy header's shape does not end");
  Shape shape;
  for (const std::string& item : Split(std::string(text.substr(1, end - 1)), ',')) {
    if (item.empty()) continue;
    const std::optional<int64_t> dim = ParseInt(item);
    if (!dim || *dim < 0) Corrupt(name, "bad dimension '" + item + "'");
    if (shape.rank() == Shape::kMaxRank) Corrupt(name, "more than " + std::to_string(Shape::kMaxRank) + " dimensions");
    shape.push_back(*dim);
  }
  return shape;
}

uint64_t Elements(const std::string& name, const Shape& shape) {
  try {
    return static_cast<uint64_t>(shape.numel());
  } catch (const Error& error) {
    Corrupt(name, error.what());
  }
}

// Elements in column-major order to row-major.
void FromFortran(const char* from, const Shape& shape, size_t element, char* to) {
  const int64_t count = shape.numel();
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t source = 0;
    int64_t stride = 1;
    for (int d = 0; d < shape.rank(); ++d) {
      source += index[static_cast<size_t>(d)] * stride;
      stride *= shape[d];
    }
    std::memcpy(to + static_cast<size_t>(i) * element, from + static_cast<size_t>(source) * element, element);
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (++index[static_cast<size_t>(d)] < shape[d]) break;
      index[static_cast<size_t>(d)] = 0;
    }
  }
}

struct ZipCloser {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct ZipFileCloser {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

std::unique_ptr<zip_t, ZipCloser> OpenZip(const std::string& path, int flags) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), flags, &code);
  if (archive == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw Error(
        code == ZIP_ER_NOENT ? ErrorCode::kNotFound : ErrorCode::kCorrupt,
        "cannot open '" + path + "' as .npz: " + reason + (code == ZIP_ER_NOZIP ? " (numpy.savez writes one)" : ""));
  }
  return std::unique_ptr<zip_t, ZipCloser>(archive);
}

// Whether unpacking an entry of this name could write outside of the folder.
bool LeavesFolder(const std::string& name) {
  const std::filesystem::path path(name);
  return path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end();
}

void CheckNames(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& arrays) {
  constexpr size_t kLongest = 0xffff - 4;  // a zip entry's name has a length of 16 bits; ".npy" is part of it
  std::set<std::string_view> names;
  for (const auto& array : arrays) {
    const std::string& name = array.first;  // not a binding: clang 14 captures none
    const auto refuse = [&path, &name](const std::string& why) {
      throw Error(ErrorCode::kInvalidArgument,
                  "cannot write array '" + Printable(name, kMostShown) + "' to '" + path + "': its name " + why);
    };
    if (name.size() > kLongest) refuse("is longer than " + std::to_string(kLongest) + " bytes");
    if (name.find('\0') != std::string::npos) refuse("has a zero byte");
    if (LeavesFolder(name)) refuse("is a path out of the archive's folder");
    if (!names.insert(name).second) refuse("is there twice");
  }
}

struct ZipSourceCloser {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};

std::string Content(const std::string& path, zip_source_t* file) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  bool good = zip_source_stat(file, &stat) == 0 && zip_source_open(file) == 0;
  std::string content(good ? stat.size : 0, '\0');
  for (size_t done = 0; good && done < content.size();) {
    const zip_int64_t read = zip_source_read(file, content.data() + done, content.size() - done);
    good = read > 0;
    done += good ? static_cast<size_t>(read) : 0;
  }
  if (!good) throw Error(ErrorCode::kUnavailable, "cannot write '" + path + "': the archive could not be made");
  zip_source_close(file);
  return content;
}

std::vector<char> ReadEntry(zip_t* archive, uint64_t index, const std::string& name) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0) Corrupt(name, zip_strerror(archive));
  const bool lie = stat.comp_size == 0 ? stat.size != 0 : stat.size / stat.comp_size > kMaxDeflateRatio;
  if (lie)
    Corrupt(name, "it claims to hold " + std::to_string(stat.size) + " bytes in " + std::to_string(stat.comp_size));
  const std::unique_ptr<zip_file_t, ZipFileCloser> file(zip_fopen_index(archive, index, 0));
  if (file == nullptr) Corrupt(name, zip_strerror(archive));
  std::vector<char> bytes(stat.size);
  size_t done = 0;
  while (done < bytes.size()) {
    const zip_int64_t read = zip_fread(file.get(), bytes.data() + done, bytes.size() - done);
    if (read <= 0)
      Corrupt(name, "it ends after " + std::to_string(done) + " of " + std::to_string(bytes.size()) + " bytes");
    done += static_cast<size_t>(read);
  }
  // The checksum is verified when the end is reached.
  char more = 0;
  if (zip_fread(file.get(), &more, 1) < 0) Corrupt(name, "its checksum does not match");
  return bytes;
}

// Of the entries, without .npy.
std::vector<std::string> NamesIn(zip_t* archive) {
  std::vector<std::string> names;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* raw = zip_get_name(archive, static_cast<zip_uint64_t>(i), 0);
    names.emplace_back(raw == nullptr ? "" : raw);
    std::string& name = names.back();
    if (name.size() > 4 && name.compare(name.size() - 4, 4, ".npy") == 0) name.resize(name.size() - 4);
  }
  return names;
}

}  // namespace

Tensor ParseNpy(const std::string& name, const std::vector<char>& bytes) {
  static constexpr std::string_view kMagic = "\x93NUMPY";
  if (bytes.size() < 10 || std::string_view(bytes.data(), kMagic.size()) != kMagic) Corrupt(name, "not in .npy format");
  const bool wide = bytes[6] >= 2;  // version 2 and 3: a 4-byte header length
  if (wide && bytes.size() < 12) Corrupt(name, "the .npy header is cut off");
  const auto byte = [&bytes](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(bytes[i])); };
  const size_t length = wide ? byte(8) | byte(9) << 8U | byte(10) << 16U | byte(11) << 24U : byte(8) | byte(9) << 8U;
  const size_t start = wide ? 12 : 10;
  if (length > bytes.size() - start) Corrupt(name, "the .npy header is cut off");
  const std::string_view header(bytes.data() + start, length);
  const std::string_view descr = Field(name, header, "descr");
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes), [&descr](const NpyType& each) {
    return descr.size() > 4 && descr.substr(1, 3) == each.descr && descr[4] == descr[0];
  });
  if (type == std::end(kTypes)) {
    throw Error(ErrorCode::kUnsupported, "array " + name + ": element type " +
                                             std::string(descr.substr(0, descr.find(','))) +
                                             " is not supported (little-endian numbers and bool are)");
  }
  const Shape shape = ParseShape(name, Field(name, header, "shape"));
  const size_t element = SizeOf(type->dtype);
  const size_t have = bytes.size() - start - length;
  const uint64_t count = Elements(name, shape);
  if (count > have / element || count * element != have) {
    Corrupt(name, std::to_string(have) + " bytes of data, shape " + shape.DebugString() + " of " +
                      ToString(type->dtype) + " needs " + std::to_string(count) + " elements");
  }
  Tensor tensor;
  tensor.Resize(shape);
  auto* data = static_cast<char*>(tensor.mutable_raw_data(type->dtype));
  const char* from = bytes.data() + start + length;
  if (Field(name, header, "fortran_order").substr(0, 4) == "True" && shape.rank() > 1) {
    FromFortran(from, shape, element, data);
  } else if (have != 0) {
    std::memcpy(data, from, have);
  }
  return tensor;
}

std::string NpyHeader(const Tensor& tensor) {
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&tensor](const NpyType& each) { return each.dtype == tensor.dtype(); });
  if (type == std::end(kTypes)) {
    throw Error(ErrorCode::kUnsupported, std::string("NumPy has no element type for ") + ToString(tensor.dtype()));
  }
  const Shape shape = tensor.shape();
  std::string dims;
  for (int64_t dim : shape) dims += std::to_string(dim) + ",";
  if (shape.rank() > 1) dims.pop_back();
  std::string text = std::string("{'descr': '") + type->descr + "', 'fortran_order': False, 'shape': (" + dims + "), }";
  constexpr size_t kPreamble = 10;  // magic, version, header length
  text.append(64 - (kPreamble + text.size() + 1) % 64, ' ');
  text += '\n';
  std::string header = std::string("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xffU);
  header += static_cast<char>(text.size() >> 8U);
  return header + text;
}

std::vector<std::string> NamesInNpz(const std::string& path) { return NamesIn(OpenZip(path, ZIP_RDONLY).get()); }

std::map<std::string, Tensor> ReadNpz(const std::string& path) {
  const auto archive = OpenZip(path, ZIP_RDONLY);
  std::map<std::string, Tensor> arrays;
  const std::vector<std::string> names = NamesIn(archive.get());
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const std::string quoted = "'" + name + "' of '" + path + "'";
    if (arrays.count(name) != 0) Corrupt(quoted, "it is there twice");
    arrays[name] = ParseNpy(quoted, ReadEntry(archive.get(), static_cast<zip_uint64_t>(i), quoted));
  }
  return arrays;
}

void WriteNpz(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& arrays) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw Error(ErrorCode::kInvalidArgument, "cannot write '" + path + "': it exists and is no regular file");
  if (arrays.empty()) throw Error(ErrorCode::kInvalidArgument, "there are no arrays to write to '" + path + "'");
  CheckNames(path, arrays);
  // Made in memory: libzip's own temporary would stay behind when a signal ends the process.
  zip_source_t* file = zip_source_buffer_create(nullptr, 0, 0, nullptr);
  zip_t* opened = file == nullptr ? nullptr : zip_open_from_source(file, ZIP_TRUNCATE, nullptr);
  if (opened == nullptr) {
    zip_source_free(file);
    throw std::bad_alloc();
  }
  std::unique_ptr<zip_t, ZipCloser> archive(opened);
  zip_source_keep(file);  // beyond the archive
  const std::unique_ptr<zip_source_t, ZipSourceCloser> owner(file);
  std::vector<std::string> headers;
  headers.reserve(arrays.size());
  std::vector<Tensor> written;  // until the archive is closed
  written.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    const Tensor& tensor = written.emplace_back(AsNumpyHasIt(array));
    headers.push_back(NpyHeader(tensor));
    const std::string& header = headers.back();
    // The source copies the fragments' places; libzip takes no pointer to const.
    zip_buffer_fragment_t parts[] = {
        {reinterpret_cast<zip_uint8_t*>(const_cast<char*>(header.data())), header.size()},
        {static_cast<zip_uint8_t*>(const_cast<void*>(tensor.nbytes() == 0 ? nullptr : tensor.raw_data())),
         tensor.nbytes()}};
    zip_source_t* source =
        zip_source_buffer_fragment(archive.get(), parts, tensor.nbytes() == 0 ? 1 : std::size(parts), 0);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(archive.get(), (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      throw Error(ErrorCode::kInvalidArgument, "cannot write array '" + Printable(name, kMostShown) + "' to '" + path +
                                                   "': " + zip_strerror(archive.get()) +
                                                   " (names are UTF-8 without control characters)");
    }
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive.get()) != 0)
    throw Error(ErrorCode::kUnavailable, "cannot write '" + path + "': " + zip_strerror(archive.get()));
  (void)archive.release();  // closed
  WriteFile(path, Content(path, file));
}

}  // namespace wherry::tools
