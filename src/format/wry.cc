#include "format/wry.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

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
// Packed forms follow the tensors in the table. Files without any do not say so, and are read by those who know none.
constexpr uint32_t kPackedWeights = 1;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t features;  // kPackedWeights or 0
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

// What is stored of a tensor or a packed form: where it will lie is known before it is written.
struct Stored {
  const DenseTensor* tensor;  // or
  const PackedWeight* packed;
  std::string head;  // of its entry in the table
  uint32_t crc = 0;
  size_t size() const { return tensor != nullptr ? tensor->nbytes() : packed->buffer->size(); }
};

// Calls fn with the bytes. Deferred ones (Buffer::Deferred) are made in `room`, one after the other, not all for good.
template <typename Fn>
void WithBytes(const Stored& stored, std::vector<std::byte>* room, Fn fn) {
  if (stored.size() == 0) return fn(std::span<const std::byte>());
  if (stored.packed != nullptr) return fn(Bytes(stored.packed->buffer->data(), stored.size()));
  if (!stored.tensor->buffer()->is_deferred()) return fn(Bytes(stored.tensor->raw_data(), stored.size()));
  room->resize(stored.size());
  stored.tensor->CopyBytesTo(room->data());
  fn(std::span<const std::byte>(*room));
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
  WHERRY_ENFORCE(header.version != __builtin_bswap32(kWryVersion), kUnsupported, file.name,
                 ": its numbers are big-endian; this library reads little-endian files");
  WHERRY_ENFORCE(header.version == kWryVersion, kUnsupported, file.name, ": .wry version ", header.version,
                 "; this library reads version ", kWryVersion);
  WHERRY_ENFORCE((header.features & ~kPackedWeights) == 0, kUnsupported, file.name, ": needs features ",
                 header.features, " that this library does not know");
  WHERRY_ENFORCE(header.header_crc == Crc32c(file.data.first(offsetof(Header, header_crc))), kCorrupt, file.name,
                 ": the header's checksum does not match");
  WHERRY_ENFORCE(std::all_of(std::begin(header.reserved), std::end(header.reserved), [](char c) { return c == 0; }),
                 kCorrupt, file.name, ": the header's reserved bytes are not zero");
  WHERRY_ENFORCE(header.file_size == file.data.size(), kCorrupt, file.name, ": ", file.data.size(),
                 " bytes, the header says ", header.file_size);
  return header;
}

// A weight, or a packed form of one, by what errors call it: made into text only for them.
struct WeightName {
  std::string name;
  std::string format;  // empty: as it is

  friend std::ostream& operator<<(std::ostream& out, const WeightName& weight) {
    out << "weight " << Quote(weight.name);
    return weight.format.empty() ? out : out << " packed as " << weight.format;
  }
};

template <typename What>
void CheckBytes(std::span<const std::byte> bytes, uint32_t crc, const std::string& file, const What& what) {
  WHERRY_ENFORCE(Crc32c(bytes) == crc, kCorrupt, file, ": the checksum of ", what, " does not match");
}

template <typename What>
std::span<const std::byte> Part(const FileBytes& file, uint64_t offset, uint64_t size, const What& what) {
  WHERRY_ENFORCE(offset <= file.data.size() && size <= file.data.size() - offset, kCorrupt, file.name, ": ", what,
                 " lies outside the file");
  return file.data.subspan(offset, size);
}

std::span<const std::byte> Section(const FileBytes& file, uint64_t offset, uint64_t size, uint32_t crc,
                                   std::string_view what) {
  const auto bytes = Part(file, offset, size, what);
  CheckBytes(bytes, crc, file.name, what);
  return bytes;
}

// A table entry's end: offset, size and checksum of the bytes. They are checked when they are first read: checking them
// here would read the whole file, and most of a model whose weights are stored packed is never read.
std::shared_ptr<Buffer> ReadBytes(Reader* reader, const FileBytes& file, const WeightName& what) {
  const auto offset = reader->Number<uint64_t>();
  const auto size = reader->Number<uint64_t>();
  const auto crc = reader->Number<uint32_t>();
  WHERRY_ENFORCE(offset % kAlignment == 0, kCorrupt, file.name, ": ", what, " is not aligned");
  const auto bytes = Part(file, offset, size, what);
  auto check = [bytes, crc, what, name = file.name] { CheckBytes(bytes, crc, name, what); };
  // A mapped file begins at a page, a user's memory anywhere.
  return Buffer::OfFile(file, bytes, kAlignment, std::move(check));
}

WeightTable ReadWeights(Reader* reader, const FileBytes& file, uint32_t count) {
  WeightTable weights;
  for (uint32_t i = 0; i < count; ++i) {
    const WeightName what{reader->Text(), ""};
    TensorMeta meta;
    try {
      meta.dtype = ParseDataType(reader->Text());
      meta.layout = ParseDataLayout(reader->Text());
    } catch (const Error& error) {
      Throw(ErrorCode::kCorrupt, file.name, ": ", what, ": ", error.message());
    }
    const auto rank = reader->Number<uint32_t>();
    WHERRY_ENFORCE(rank <= static_cast<uint32_t>(Shape::kMaxRank), kCorrupt, file.name, ": ", what, " has rank ", rank);
    for (uint32_t d = 0; d < rank; ++d) {
      const auto dim = reader->Number<int64_t>();
      WHERRY_ENFORCE(dim >= 0, kCorrupt, file.name, ": ", what, " has a dimension ", dim);
      meta.shape.push_back(dim);
    }
    std::shared_ptr<Buffer> bytes = ReadBytes(reader, file, what);
    WHERRY_ENFORCE(meta.nbytes() == bytes->size(), kCorrupt, file.name, ": ", what, " has ", bytes->size(),
                   " bytes, its shape needs ", meta.nbytes());
    WHERRY_ENFORCE(weights.emplace(what.name, DenseTensor(meta, std::move(bytes))).second, kCorrupt, file.name, ": ",
                   what, " is there twice");
  }
  return weights;
}

PackedTable ReadPacked(Reader* reader, const FileBytes& file, const WeightTable& weights) {
  PackedTable packed;
  const auto count = reader->Number<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = reader->Text();
    const std::string format = reader->Text();
    WHERRY_ENFORCE(weights.count(name) != 0, kCorrupt, file.name, ": there is a packed form of ", Quote(name),
                   ", which is no weight");
    packed[name].push_back({format, ReadBytes(reader, file, WeightName{name, format})});
  }
  return packed;
}

// Where everything is to lie, and the table that says so.
class Layout {
 public:
  // `room`: see WithBytes.
  Layout(const Program& program, std::vector<std::byte>* room) {
    for (const auto& [name, tensor] : program.weights) {
      WHERRY_ENFORCE(SizeOf(tensor.dtype()) != 0 || tensor.numel() == 0, kUnsupported, "weight ", Quote(name),
                     " of type ", ToString(tensor.dtype()), " cannot be stored");
      std::string head;
      AppendText(&head, name);
      AppendText(&head, ToString(tensor.dtype()));
      AppendText(&head, ToString(tensor.layout()));
      Append(&head, static_cast<uint32_t>(tensor.shape().rank()));
      for (int64_t dim : tensor.shape()) Append(&head, dim);
      Add({&tensor, nullptr, std::move(head)}, room);
    }
    uint32_t count = 0;
    for (const auto& [name, forms] : program.packed) count += static_cast<uint32_t>(forms.size());
    has_packed_ = count > 0;
    for (const auto& [name, forms] : program.packed) {
      for (const PackedWeight& packed : forms) {
        std::string head;
        if (count > 0) Append(&head, std::exchange(count, 0));  // before the first
        AppendText(&head, name);
        AppendText(&head, packed.format);
        Add({nullptr, &packed, std::move(head)}, room);
      }
    }
  }

  bool has_packed() const { return has_packed_; }
  size_t table_size() const { return table_size_; }
  const std::vector<Stored>& stored() const { return stored_; }
  // The table when the first tensor lies at `offset`, and where the file ends then.
  std::string Table(size_t offset, size_t* file_size) const {
    std::string table;
    for (const Stored& stored : stored_) {
      table += stored.head;
      Append(&table, static_cast<uint64_t>(offset));
      Append(&table, static_cast<uint64_t>(stored.size()));
      Append(&table, stored.crc);
      offset = Aligned(offset + stored.size());
    }
    *file_size = offset;
    return table;
  }

 private:
  void Add(Stored stored, std::vector<std::byte>* room) {
    WithBytes(stored, room, [&stored](std::span<const std::byte> bytes) { stored.crc = Crc32c(bytes); });
    table_size_ += stored.head.size() + 2 * sizeof(uint64_t) + sizeof(uint32_t);
    stored_.push_back(std::move(stored));
  }

  std::vector<Stored> stored_;
  size_t table_size_ = 0;
  bool has_packed_ = false;
};

}  // namespace

bool IsWry(std::span<const std::byte> head) {
  return head.size() >= sizeof(kMagic) && std::memcmp(head.data(), kMagic, sizeof(kMagic)) == 0;
}

void SaveWry(const Program& program, const std::string& path) {
  PrintOptions options;
  options.weights = false;
  const std::string text = PrintProgram(program, options);
  std::vector<std::byte> room;
  const Layout layout(program, &room);
  Header header{};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  header.version = kWryVersion;
  header.features = layout.has_packed() ? kPackedWeights : 0;
  header.program_offset = sizeof(Header);
  header.program_size = text.size();
  header.program_crc = Crc32c(Bytes(text.data(), text.size()));
  header.table_offset = Aligned(header.program_offset + header.program_size);
  header.table_size = layout.table_size();
  header.tensor_count = static_cast<uint32_t>(program.weights.size());
  const size_t first_offset = Aligned(header.table_offset + header.table_size);
  size_t file_size = 0;
  const std::string table = layout.Table(first_offset, &file_size);
  header.file_size = file_size;
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
  for (const Stored& stored : layout.stored()) {
    WithBytes(stored, &room, [&file](std::span<const std::byte> bytes) { file.Write(bytes); });
    pad(Aligned(file.size()));
  }
  file.Commit();
}

Program LoadWry(const FileBytes& file) {
  const Header header = ReadHeader(file);
  const auto text = Section(file, header.program_offset, header.program_size, header.program_crc, "the program");
  const auto table = Section(file, header.table_offset, header.table_size, header.table_crc, "the tensor table");
  Reader reader(table, file.name);
  WeightTable weights = ReadWeights(&reader, file, header.tensor_count);
  PackedTable packed;
  if (header.features & kPackedWeights) packed = ReadPacked(&reader, file, weights);
  WHERRY_ENFORCE(reader.done(), kCorrupt, file.name, ": the tensor table is longer than its entries");
  try {
    Program program = ParseProgram({reinterpret_cast<const char*>(text.data()), text.size()}, std::move(weights));
    program.packed = std::move(packed);
    return program;
  } catch (Error& error) {
    error.AddContext(StrCat("reading the program of ", file.name));
    throw;
  }
}

}  // namespace wherry
