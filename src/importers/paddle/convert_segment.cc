// Rows by the segment that they belong to, or along the edges of a graph, and diagonals that are written.
#include <algorithm>
#include <map>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

std::string Where(OpContext& c, const std::string& condition, const std::string& x, const std::string& y) {
  return c.Emit("where", {{"condition", {condition}}, {"x", {x}}, {"y", {y}}});
}

// The rows of x of each of `segments` (i64[1]) that `ids` gives them, reduced to one: SUM, MEAN, MAX or MIN. One
// without rows is 0.
std::string Pooled(OpContext& c, const std::string& x, const std::string& ids, const std::string& segments,
                   const std::string& kind) {
  static const std::map<std::string, std::string> reduces = {
      {"SUM", "add"}, {"MEAN", "mean"}, {"MAX", "max"}, {"MIN", "min"}};
  const auto reduce = reduces.find(kind);
  if (reduce == reduces.end()) c.Corrupt("it reduces by ", Quote(kind));
  const int rank = c.Rank(x);
  if (rank < 1) c.Corrupt("its input has rank 0");
  std::vector<std::string> dims = {segments};
  std::vector<int64_t> rows = {-1};
  for (int i = 1; i < rank; ++i) {
    dims.push_back(c.Dimension(x, i));
    rows.push_back(1);
  }
  return c.Emit("put_along_axis",
                {{"x", {c.Expanded(c.Like(x, 0.0), c.Joined(dims))}},
                 {"index", {c.Expanded(c.Reshaped(ids, rows), c.Unary("shape", x))}},
                 {"value", {x}}},
                {{"axis", int64_t{0}}, {"reduce", reduce->second}, {"include_self", false}});
}

// As many segments as the last one's number and one.
void SegmentPool(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string ids = c.Cast(c.Reshaped(c.Input({"SegmentIds", 1}), {-1}), DataType::kInt64);
  const std::string segments = c.Reshaped(c.Scaled(c.Unary("max", ids), 1.0, 1.0), {1});
  const auto kind = c.Attr<std::string>("pooltype", "SUM");
  c.Result({"Out", 0}, Pooled(c, x, ids, segments, kind));
}

// Rows of x along the edges of a graph, from src_index on.
std::string Sent(OpContext& c, const std::string& x, Param index) {
  return c.Emit("gather", {{"x", {x}}, {"index", {c.Reshaped(c.Input(index), {-1})}}}, {{"axis", int64_t{0}}});
}

// A message of two parts, the one that is shorter spread over the other.
std::string Message(OpContext& c, const std::string& x, const std::string& y) {
  static const std::map<std::string, const char*> types = {
      {"ADD", "add"}, {"SUB", "subtract"}, {"MUL", "multiply"}, {"DIV", "divide"}};
  const auto name = c.Attr<std::string>("message_op", "ADD");
  const auto type = types.find(name);
  if (type == types.end()) c.Corrupt("attribute message_op is ", Quote(name));
  return c.Binary(type->second, x, y);
}

// What arrives along the edges at each node dst_index, reduced; as many nodes as x has, or out_size.
void Receive(OpContext& c, const std::string& x, const std::string& messages, Param index, Param out_size) {
  const std::string ids = c.Cast(c.Reshaped(c.Input(index), {-1}), DataType::kInt64);
  const auto size = c.OptionalInts(out_size, {nullptr}, "out_size");
  if (size && (!size->values || size->values->size() > 1)) c.Unsupported("the number of its nodes is not known");
  const bool given = size && !size->values->empty() && size->values->front() > 0;
  const std::string nodes = given ? c.ConvertContext::ConstantInts(*size->values) : c.Dimension(x, 0);
  c.Result({"Out", 0}, Pooled(c, messages, ids, nodes, c.Attr<std::string>("reduce_op", "SUM")));
}
void SendURecv(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  Receive(c, x, Sent(c, x, {"Src_index", 1}), {"Dst_index", 2}, {"Out_size", 3});
}
void SendUeRecv(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string messages = Message(c, Sent(c, x, {"Src_index", 2}), c.Input({"Y", 1}));
  Receive(c, x, messages, {"Dst_index", 3}, {"Out_size", 4});
}
void SendUv(OpContext& c) {
  const std::string from = Sent(c, c.Input({"x", 0}), {"src_index", 2});
  c.Result({"out", 0}, Message(c, from, Sent(c, c.Input({"y", 1}), {"dst_index", 3})));
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
  constexpr int64_t kMost = int64_t{1} << 20;
  int64_t numbers = 1;
  int64_t step = 0;
  for (int i = rank - 1; i >= 0; --i) {
    step += numbers;
    const int64_t dim = dims[static_cast<size_t>(i)];
    if (numbers != 0 && dim > kMost / numbers) c.Unsupported("it fills a tensor of more than ", kMost, " elements");
    numbers *= dim;
  }
  const int64_t columns = dims.back();
  const auto offset = c.Attr<int64_t>("offset", 0);
  if (offset < -columns || offset > columns) c.Corrupt("attribute offset is ", offset, " for ", columns, " columns");
  const bool wraps = numbers == 0 || c.Attr<bool>("wrap", false);
  const int64_t end = wraps ? numbers : std::min(numbers, columns * columns);
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
REGISTER_CONVERTER(pir, segment_pool, &Convert<SegmentPool, 2, 2>);
REGISTER_CONVERTER(paddle, graph_send_recv, &Convert<SendURecv>);
REGISTER_CONVERTER(pir, send_u_recv, &Convert<SendURecv, 4, 2>);
REGISTER_CONVERTER(paddle, graph_send_ue_recv, &Convert<SendUeRecv>);
REGISTER_CONVERTER(pir, send_ue_recv, &Convert<SendUeRecv, 5, 2>);
REGISTER_CONVERTER(paddle, graph_send_uv, &Convert<SendUv>);
REGISTER_CONVERTER(pir, send_uv, &Convert<SendUv, 4>);
REGISTER_CONVERTER(paddle, shard_index, &Convert<ShardIndex>);
REGISTER_CONVERTER(pir, shard_index, &Convert<ShardIndex, 1>);
REGISTER_CONVERTER(paddle, fill_diagonal_tensor, &Convert<FillDiagonalTensor>);
REGISTER_CONVERTER(pir, fill_diagonal_tensor, &Convert<FillDiagonalTensor, 2>);
REGISTER_CONVERTER(paddle, fill_diagonal, &Convert<FillDiagonal>);
REGISTER_CONVERTER(pir, fill_diagonal, &Convert<FillDiagonal, 1>);

}  // namespace wherry::paddle
