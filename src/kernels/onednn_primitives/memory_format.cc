#include "kernels/onednn_primitives/memory_format.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/check.h"
#include "base/checked_math.h"
#include "base/strings.h"

namespace wherry::onednn {

namespace {

constexpr std::string_view kPrefix = "dnnl:";
// A file names this: more could not be multiplied without care, and no weight has so much.
constexpr int64_t kMaxNumber = int64_t{1} << 40;

template <typename Array>
std::string Numbers(const Array& values, int count, const char* separator) {
  return Join(std::vector<int64_t>(values, values + count), separator);
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), rest_(text) {}

  [[noreturn]] void Fail() const {
    Throw(ErrorCode::kInvalidArgument, "oneDNN: ", Quote(text_), " is no weight format");
  }
  bool Take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void Expect(std::string_view token) {
    if (!Take(token)) Fail();
  }
  int64_t Number() {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0 || value > kMaxNumber) Fail();
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }
  // Numbers between separators.
  std::vector<int64_t> List(std::string_view separator) {
    std::vector<int64_t> values = {Number()};
    while (Take(separator)) {
      values.push_back(Number());
      if (values.size() > DNNL_MAX_NDIMS) Fail();
    }
    return values;
  }
  char Letter() {
    if (rest_.empty()) Fail();
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    return letter;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view text_;
  std::string_view rest_;
};

// The greatest position that the strides reach.
int64_t Extent(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides) {
  int64_t extent = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t reach = CheckedMul(std::max<int64_t>(dims[i] - 1, 0), strides[i], "a weight format");
    extent = CheckedAdd(extent, reach, "a weight format");
  }
  return extent;
}

// The dimension rounded up to its blocks.
int64_t Padded(int64_t dim, int64_t block) { return (dim + block - 1) / block * block; }

}  // namespace

std::optional<std::string> FormatName(const WeightFormat& format) {
  const dnnl_memory_desc_t& given = format.given.data;
  const dnnl_memory_desc_t& wanted = format.wanted.data;
  if (given.format_kind != dnnl_blocked || wanted.format_kind != dnnl_blocked || wanted.extra.flags != 0 ||
      wanted.offset0 != 0) {
    return std::nullopt;
  }
  const dnnl_blocking_desc_t& blocking = wanted.format_desc.blocking;
  std::string blocks;
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    blocks += static_cast<char>('a' + blocking.inner_idxs[i]);
    blocks += std::to_string(blocking.inner_blks[i]);
  }
  std::string name = StrCat(kPrefix, Numbers(given.dims, given.ndims, "x"), ":",
                            Numbers(given.format_desc.blocking.strides, given.ndims, ","), ">",
                            Numbers(blocking.strides, wanted.ndims, ","), ":", blocks);
  // What text leaves out (padding that is more than the blocks ask for) must not be lost.
  if (ParseFormatName(name).wanted != format.wanted) return std::nullopt;
  return name;
}

WeightFormat ParseFormatName(std::string_view name) {
  Reader reader(name);
  reader.Expect(kPrefix);
  const std::vector<int64_t> dims = reader.List("x");
  reader.Expect(":");
  const std::vector<int64_t> given = reader.List(",");
  reader.Expect(">");
  const std::vector<int64_t> wanted = reader.List(",");
  reader.Expect(":");
  if (given.size() != dims.size() || wanted.size() != dims.size()) reader.Fail();

  WeightFormat format;
  format.given = dnnl::memory::desc(dims, dnnl::memory::data_type::f32, given, /*allow_empty=*/true);
  if (!format.given) reader.Fail();
  // Strides between blocks are none that the constructor would take.
  format.wanted = format.given;
  dnnl_memory_desc_t& result = format.wanted.data;
  dnnl_blocking_desc_t& blocking = result.format_desc.blocking;
  std::vector<int64_t> block(dims.size(), 1);
  std::vector<int64_t> blocks(dims.size());
  while (!reader.done()) {
    const auto dim = static_cast<size_t>(reader.Letter() - 'a');
    const int64_t size = reader.Number();
    if (dim >= dims.size() || size < 1 || size > 1024 || blocking.inner_nblks >= DNNL_MAX_NDIMS) reader.Fail();
    blocking.inner_idxs[blocking.inner_nblks] = static_cast<int64_t>(dim);
    blocking.inner_blks[blocking.inner_nblks] = size;
    ++blocking.inner_nblks;
    block[dim] *= size;
    if (block[dim] > kMaxNumber / 1024) reader.Fail();
  }
  int64_t inner = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    result.padded_dims[i] = Padded(dims[i], block[i]);
    blocking.strides[i] = wanted[i];
    blocks[i] = result.padded_dims[i] / block[i];
    inner = CheckedMul(inner, block[i], "a weight format");
  }
  if (Extent(dims, given) > kMaxNumber || Extent(blocks, wanted) > kMaxNumber - inner) reader.Fail();
  return format;
}

}  // namespace wherry::onednn
