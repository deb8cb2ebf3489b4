#include "format/wry.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/checked_math.h"
#include "base/crc32c.h"
#include "base/strings.h"
#include "ir/text.h"

namespace wherry {

namespace {

static_assert(std::endian::native == std::endian::little, ".wry is little-endian and is mapped, not converted");

constexpr char kMagic[8] = {'\x89', 'W', 'R', 'Y', '\r', '\n', '\x1a', '\n'};
constexpr size_t kAlignment = 64;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t features;  // none defined: all bits must be 0
  uint64_t program_offset;
  uint64_t program_size;
  uint64_t table_offset;
  uint64_t table_size;
  uint64_t file_size;
  uint32_t program_crc;
  uint32_t table_crc;
  uint32_t tensor_count;
  uint32_t header_crc;  // of the bytes before it
  char reserved[56];
};
static_assert(sizeof(Header) == 128);

size_t Aligned(size_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

std::span<const std::byte> Bytes(const void* data, size_t size) { return {static_cast<const std::byte*>(data), size}; }

std::span<const std::byte> DataOf(const DenseTensor& tensor) {
  return tensor.nbytes() == 0 ? std::span<const std::byte>() : Bytes(tensor.raw_data(), tensor.nbytes());
}

template <typename T>
void Append(std::string* out, T value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendText(std::string* out, std::string_view text) {
  Append(out, static_cast<uint32_t>(text.size()));
  out->append(text);
}

// Reads the table; every length is checked against what is left.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  template <typename T>
  T Number() {
    T value;
    std::memcpy(&value, Take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string Text() {
    const auto bytes = Take(Number<uint32_t>());
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  bool done() const { return at_ == bytes_.size(); }

 private:
  std::span<const std::byte> Take(size_t size) {
    WHERRY_ENFORCE(size <= bytes_.size() - at_, kCorrupt, name_, ": the tensor table ends in the middle of an entry");
    const auto taken = bytes_.subspan(at_, size);
    at_ += size;
    return taken;
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  size_t at_ = 0;
};

Header ReadHeader(const FileBytes& file) {
  WHERRY_ENFORCE(IsWry(file.data), kCorrupt, file.name, ": not a .wry file");
  WHERRY_ENFORCE(file.data.size() >= sizeof(Header), kCorrupt, file.name, ": ", file.data.size(),
                 " bytes are too few for a .wry file");
  Header header;
  std::memcpy(&header, file.data.data(), sizeof(header));
  // The version first: a later one may have another header behind it.
  WHERRY_ENFORCE(header.version == kWryVersion, kUnsupported, file.name, ": .wry version ", header.version,
                 "; this library reads version ", kWryVersion);
  WHERRY_ENFORCE(header.features == 0, kUnsupported, file.name, ": needs features ", header.features,
                 " that this library does not know");
  WHERRY_ENFORCE(header.header_crc == Crc32c(file.data.first(offsetof(Header, header_crc))), kCorrupt, file.name,
                 ": the header's checksum does not match");
  WHERRY_ENFORCE(std::all_of(std::begin(header.reserved), std::end(header.reserved), [](char c) { return c == 0; }),
                 kCorrupt, file.name, ": the header's reserved bytes are not zero");
  WHERRY_ENFORCE(header.file_size == file.data.size(), kCorrupt, file.name, ": ", file.data.size(),
                 " bytes, the header says ", header.file_size);
  return header;
}

std::span<const std::byte> Section(const FileBytes& file, uint64_t offset, uint64_t size, uint32_t crc,
                                   const std::string& what) {
  WHERRY_ENFORCE(offset <= file.data.size() && size <= file.data.size() - offset, kCorrupt, file.name, ": ", what,
                 " lies outside the file");
  const auto bytes = file.data.subspan(offset, size);
  WHERRY_ENFORCE(Crc32c(bytes) == crc, kCorrupt, file.name, ": the checksum of ", what, " does not match");
  return bytes;
}

}  // namespace

bool IsWry(std::span<const std::byte> head) {
  return head.size() >= sizeof(kMagic) && std::memcmp(head.data(), kMagic, sizeof(kMagic)) == 0;
}

void SaveWry(const Program& program, const std::string& path) {
  PrintOptions options;
  options.weights = false;
  const std::string text = PrintProgram(program, options);
  Header header{};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  header.version = kWryVersion;
  header.program_offset = sizeof(Header);
  header.program_size = text.size();
  header.program_crc = Crc32c(Bytes(text.data(), text.size()));
  header.table_offset = Aligned(header.program_offset + header.program_size);
  header.tensor_count = static_cast<uint32_t>(program.weights.size());
  // The table's size does not depend on the offsets in it.
  std::string table;
  const auto fill_table = [&](size_t first_offset) {
    table.clear();
    size_t offset = first_offset;
    for (const auto& [name, tensor] : program.weights) {
      WHERRY_ENFORCE(SizeOf(tensor.dtype()) != 0 || tensor.numel() == 0, kUnsupported, "weight ", Quote(name),
                     " of type ", ToString(tensor.dtype()), " cannot be stored");
      AppendText(&table, name);
      AppendText(&table, ToString(tensor.dtype()));
      AppendText(&table, ToString(tensor.layout()));
      Append(&table, static_cast<uint32_t>(tensor.shape().rank()));
      for (int64_t dim : tensor.shape()) Append(&table, dim);
      Append(&table, static_cast<uint64_t>(offset));
      Append(&table, static_cast<uint64_t>(tensor.nbytes()));
      Append(&table, Crc32c(DataOf(tensor)));
      offset = Aligned(offset + tensor.nbytes());
    }
    return offset;
  };
  fill_table(0);
  const size_t first_offset = Aligned(header.table_offset + table.size());
  header.table_size = table.size();
  header.file_size = std::max(fill_table(first_offset), first_offset);
  header.table_crc = Crc32c(Bytes(table.data(), table.size()));
  header.header_crc = Crc32c(Bytes(&header, offsetof(Header, header_crc)));

  AtomicFile file(path);
  const auto pad = [&file](size_t to) {
    static constexpr std::byte kZeros[kAlignment] = {};
    while (file.size() < to) file.Write(std::span(kZeros).first(std::min(to - file.size(), kAlignment)));
  };
  file.Write(Bytes(&header, sizeof(header)));
  file.Write(text);
  pad(header.table_offset);
  file.Write(table);
  pad(first_offset);
  for (const auto& [name, tensor] : program.weights) {
    file.Write(DataOf(tensor));
    pad(Aligned(file.size()));
  }
  file.Commit();
}

Program LoadWry(const FileBytes& file) {
  const Header header = ReadHeader(file);
  const auto text = Section(file, header.program_offset, header.program_size, header.program_crc, "the program");
  const auto table = Section(file, header.table_offset, header.table_size, header.table_crc, "the tensor table");
  WeightTable weights;
  Reader reader(table, file.name);
  for (uint32_t i = 0; i < header.tensor_count; ++i) {
    const std::string name = reader.Text();
    TensorMeta meta;
    try {
      meta.dtype = ParseDataType(reader.Text());
      meta.layout = ParseDataLayout(reader.Text());
    } catch (const Error& error) {
      Throw(ErrorCode::kCorrupt, file.name, ": weight ", Quote(name), ": ", error.message());
    }
    const auto rank = reader.Number<uint32_t>();
    WHERRY_ENFORCE(rank <= static_cast<uint32_t>(Shape::kMaxRank), kCorrupt, file.name, ": weight ", Quote(name),
                   " has rank ", rank);
    for (uint32_t d = 0; d < rank; ++d) {
      const auto dim = reader.Number<int64_t>();
      WHERRY_ENFORCE(dim >= 0, kCorrupt, file.name, ": weight ", Quote(name), " has a dimension ", dim);
      meta.shape.push_back(dim);
    }
    const auto offset = reader.Number<uint64_t>();
    const auto size = reader.Number<uint64_t>();
    const auto crc = reader.Number<uint32_t>();
    WHERRY_ENFORCE(meta.nbytes() == size, kCorrupt, file.name, ": weight ", Quote(name), " has ", size,
                   " bytes, its shape needs ", meta.nbytes());
    WHERRY_ENFORCE(offset % kAlignment == 0, kCorrupt, file.name, ": weight ", Quote(name), " is not aligned");
    const auto data = Section(file, offset, size, crc, StrCat("weight ", Quote(name)));
    WHERRY_ENFORCE(weights.emplace(name, DenseTensor(meta, Buffer::OfFile(file, data))).second, kCorrupt, file.name,
                   ": weight ", Quote(name), " is there twice");
  }
  WHERRY_ENFORCE(reader.done(), kCorrupt, file.name, ": the tensor table is longer than its ", header.tensor_count,
                 " entries");
  try {
    return ParseProgram({reinterpret_cast<const char*>(text.data()), text.size()}, std::move(weights));
  } catch (Error& error) {
    error.AddContext(StrCat("reading the program of ", file.name));
    throw;
  }
}

}  // namespace wherry
