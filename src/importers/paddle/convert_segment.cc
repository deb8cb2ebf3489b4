// Rows by the segment that they belong to, and diagonals that are written.
#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

std::string Where(OpContext& c, const std::string& condition, const std::string& x, const std::string& y) {
  return c.Emit("where", {{"condition", {condition}}, {"x", {x}}, {"y", {y}}});
}

std::string ScatterRows(OpContext& c, const std::string& to, const std::string& rows, const std::string& from,
                        const char* reduce) {
  return c.Emit("scatter_nd", {{"x", {to}}, {"index", {c.Unsqueezed(rows, {1})}}, {"updates", {from}}},
                {{"reduce", std::string(reduce)}});
}

// What becomes of the rows of each segment, of which there are as many as the last one's number and one. One without
// rows is 0.
void SegmentPool(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string ids = c.Cast(c.Reshaped(c.Input({"SegmentIds", 1}), {-1}), DataType::kInt64);
  const auto kind = c.Attr<std::string>("pooltype", "SUM");
  const std::string segments = c.Reshaped(c.Scaled(c.Unary("max", ids), 1.0, 1.0), {1});
  const int rank = c.Rank(x);
  if (rank < 1) c.Corrupt("its input has rank 0");
  std::vector<std::string> dims = {segments};
  for (int i = 1; i < rank; ++i) dims.push_back(c.Dimension(x, i));
  const auto filled = [&](double value) { return c.Expanded(c.Like(x, value), c.Joined(dims)); };
  const std::string ones = c.Emit("full_like", {{"x", {ids}}}, {{"value", Scalar(1)}});
  const std::string zeros = c.Expanded(c.Like(ids, 0.0), segments);
  std::string counts = c.Cast(ScatterRows(c, zeros, ids, ones, "add"), c.TypeOf(x));
  for (int i = 1; i < rank; ++i) counts = c.Unsqueezed(counts, {-1});
  if (kind == "SUM" || kind == "MEAN") {
    const std::string sum = ScatterRows(c, filled(0.0), ids, x, "add");
    if (kind == "SUM") return c.Result({"Out", 0}, sum);
    return c.Result({"Out", 0}, c.Binary("divide", sum, c.Binary("maximum", counts, c.Like(x, 1.0))));
  }
  if (kind != "MAX" && kind != "MIN") c.Corrupt("attribute pooltype is ", Quote(kind));
  const bool largest = kind == "MAX";
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string found = ScatterRows(c, filled(largest ? -kInfinity : kInfinity), ids, x, largest ? "max" : "min");
  c.Result({"Out", 0}, Where(c, c.Binary("greater_than", counts, c.Like(x, 0.0)), found, c.Like(x, 0.0)));
}

// The number of an index in its own shard; ignore_value for one of another.
void ShardIndex(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const auto numbers = c.Attr<int64_t>("index_num");
  const auto shards = c.Attr<int64_t>("nshards");
  if (numbers < 1 || shards < 1) c.Corrupt("it has ", numbers, " numbers in ", shards, " shards");
  const int64_t size = (numbers - 1) / shards + 1;
  const std::string each = c.Like(x, static_cast<double>(size));
  const std::string own =
      c.Binary("equal", c.Binary("floor_divide", x, each), c.Like(x, static_cast<double>(c.Attr<int64_t>("shard_id"))));
  c.Result({"Out", 0}, Where(c, own, c.Binary("remainder", x, each),
                             c.Like(x, static_cast<double>(c.Attr<int64_t>("ignore_value", -1)))));
}

// x with numbers in place of those on its diagonal.
void FillDiagonalTensor(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string numbers = c.CountTo(c.Reshaped(c.Unary("prod", c.Unary("shape", x)), {1}));
  const std::string shape = c.Unary("shape", x);
  const std::string places = c.Emit("reshape", {{"x", {numbers}}, {"shape", {shape}}});
  const std::string diagonal = c.Emit("diagonal", {{"x", {places}}},
                                      {{"offset", c.Attr<int64_t>("offset", 0)},
                                       {"axis1", c.Attr<int64_t>("dim1", 0)},
                                       {"axis2", c.Attr<int64_t>("dim2", 1)}});
  const std::string flat = c.Emit("put_along_axis",
                                  {{"x", {c.Reshaped(x, {-1})}},
                                   {"index", {c.Reshaped(diagonal, {-1})}},
                                   {"value", {c.Reshaped(c.Input({"Y", 1}), {-1})}}},
                                  {{"axis", int64_t{0}}});
  c.Result({"Out", 0}, c.Emit("reshape", {{"x", {flat}}, {"shape", {shape}}}));
}

// The element behind `offset` others of each place whose indices are all the same; with `wrap` it starts anew below.
void FillDiagonal(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const int rank = c.Rank(x);
  if (rank < 2) c.Corrupt("its input has rank ", rank);
  std::vector<int64_t> dims;
  for (const Dim& dim : c.Meta(x).dims) {
    if (!dim.known()) c.Unsupported("the size of the input is not known");
    dims.push_back(dim.value());
  }
  int64_t numbers = 1;
  int64_t step = 0;
  for (int i = rank - 1; i >= 0; --i) {
    step += numbers;
    numbers *= dims[static_cast<size_t>(i)];
  }
  constexpr int64_t kMost = int64_t{1} << 20;
  if (numbers > kMost) c.Unsupported("it fills a tensor of ", numbers, " elements");
  const int64_t columns = dims.back();
  const auto offset = c.Attr<int64_t>("offset", 0);
  if (std::abs(offset) > columns) c.Corrupt("attribute offset is ", offset, " for ", columns, " columns");
  const int64_t end = c.Attr<bool>("wrap", false) ? numbers : std::min(numbers, columns * columns);
  std::vector<Scalar> mask(static_cast<size_t>(numbers), Scalar(false));
  for (int64_t i = 0; i < end; i += step) {
    const int64_t column = i % columns + offset;
    if (column >= 0 && column < columns && i + offset < numbers) mask[static_cast<size_t>(i + offset)] = Scalar(true);
  }
  const std::string filled = c.Constant(TensorOfScalars(Shape(dims), mask, DataType::kBool), c.Stem());
  c.Result({"Out", 0}, Where(c, filled, c.Like(x, c.Attr<double>("value", 0.0)), x));
}

}  // namespace

REGISTER_CONVERTER(paddle, segment_pool, &Convert<SegmentPool>);
REGISTER_CONVERTER(pir, segment_pool, &Convert<SegmentPool>);
REGISTER_CONVERTER(paddle, shard_index, &Convert<ShardIndex>);
REGISTER_CONVERTER(pir, shard_index, &Convert<ShardIndex>);
REGISTER_CONVERTER(paddle, fill_diagonal_tensor, &Convert<FillDiagonalTensor>);
REGISTER_CONVERTER(pir, fill_diagonal_tensor, &Convert<FillDiagonalTensor>);
REGISTER_CONVERTER(paddle, fill_diagonal, &Convert<FillDiagonal>);
REGISTER_CONVERTER(pir, fill_diagonal, &Convert<FillDiagonal>);

}  // namespace wherry::paddle
