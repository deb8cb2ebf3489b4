// RotaryEmbedding: pairs of elements turned by angles that depend on the position.
#include "importers/onnx/convert_rotary.h"

#include "base/strings.h"

namespace wherry::onnx {

namespace {

std::string Part(OnnxContext& c, const std::string& x, int64_t axis, int64_t start, int64_t end, int64_t step = 1) {
  return c.Emit("slice", {{"x", {x}}},
                {{"axes", std::vector<int64_t>{axis}},
                 {"starts", IntArray({start})},
                 {"ends", IntArray({end})},
                 {"steps", std::vector<int64_t>{step}}});
}

std::string Angles(OnnxContext& c, const std::string& rows, int64_t turned, int64_t heads_axis) {
  return c.Unsqueezed(Part(c, rows, -1, 0, turned / 2), {heads_axis});
}

int64_t SizeOfHead(OnnxContext& c, const std::string& x) {
  if (c.Rank(x) != 4) c.Corrupt("heads are ", c.Meta(x).DebugString());
  const Dim size = c.Meta(x).dims[3];
  if (!size.known()) c.Unsupported("the size of a head is not known");
  return size.value();
}

int64_t Turned(OnnxContext& c, int64_t turned, int64_t size) {
  if (turned == 0) turned = size;
  if (turned < 0 || turned > size || turned % 2 != 0) c.Corrupt(turned, " of ", size, " elements turn");
  return turned;
}

// The operator's input of `rank` dimensions, 3 or 4, as [batch, sequence, head, size] or
// [batch, head, sequence, size].
std::string HeadsOf(OnnxContext& c, int rank, int64_t heads) {
  const std::string input = c.Input(0);
  if (rank != 3 && rank != 4) c.Corrupt("the input has ", rank, " dimensions, expected 3 or 4");
  if (rank == 4) return input;
  if (heads < 1) c.Corrupt("attribute num_heads is ", heads);
  return c.Reshaped(input, {0, 0, heads, -1});
}

void BindHeads(OnnxContext& c, const std::string& y, int rank) {
  if (rank == 4) return c.Bind(0, y);
  c.EmitResult("flatten", {{"x", {y}}}, {{"start_axis", int64_t{2}}, {"stop_axis", int64_t{3}}});
}

void RotaryEmbedding(OnnxContext& c) {
  const int rank = c.Rank(c.Input(0));
  const std::string x = HeadsOf(c, rank, c.Attr<int64_t>("num_heads", 0));
  const int64_t turned = Turned(c, c.Attr<int64_t>("rotary_embedding_dim", 0), SizeOfHead(c, x));
  const int64_t heads_axis = rank == 3 ? 2 : 1;
  const auto angles = [&](size_t position) {
    if (c.HasInput(3)) return AnglesAt(c, c.Input(position), c.Input(3), turned, heads_axis);
    return Angles(c, c.Input(position), turned, heads_axis);
  };
  BindHeads(c, Rotated(c, x, angles(1), angles(2), turned, c.Attr<bool>("interleaved", false)), rank);
}

// With the positions as input 1: [batch, sequence], or [1], that of the first.
void ContribRotaryEmbedding(OnnxContext& c) {
  if (c.Attr<bool>("is_packed_batching", false)) c.Unsupported("attribute is_packed_batching is 1");
  if (c.Attr<double>("scale", 1.0) != 1.0) c.Unsupported("attribute scale is ", c.Attr<double>("scale"));
  const int rank = c.Rank(c.Input(0));
  const MetaTensor& cache = c.Meta(c.Input(2));
  const auto part = c.Attr<int64_t>("rotary_embedding_dim", 0);
  auto heads = c.Attr<int64_t>("num_heads", 0);
  if (rank == 3 && (part == 0 || heads == 0)) {
    // A head is as large as the cache is for.
    const MetaTensor& x = c.Meta(c.Input(0));
    if (!x.dims[2].known() || c.Rank(c.Input(2)) != 2 || !cache.dims[1].known() || cache.dims[1] == Dim(0))
      c.Unsupported("the number of heads is not known");
    heads = x.dims[2].value() / (2 * cache.dims[1].value());
  }
  const std::string x = HeadsOf(c, rank, heads);
  const int64_t turned = Turned(c, part, SizeOfHead(c, x));
  const int64_t heads_axis = rank == 3 ? 2 : 1;
  std::string positions = c.Input(1);
  if (c.Rank(positions) < 2) {
    positions = c.Unsqueezed(c.Binary("add", c.PositionsAlong(x, rank == 3 ? 1 : 2, 0), positions), {0});
  }
  const std::string cos = AnglesAt(c, c.Input(2), positions, turned, heads_axis);
  const std::string sin = AnglesAt(c, c.Input(3), positions, turned, heads_axis);
  BindHeads(c, Rotated(c, x, cos, sin, turned, c.Attr<bool>("interleaved", false)), rank);
}

}  // namespace

std::string Rotated(OnnxContext& c, const std::string& x, const std::string& cos, const std::string& sin,
                    int64_t turned, bool interleaved) {
  const int64_t size = SizeOfHead(c, x);
  const std::string first = interleaved ? Part(c, x, 3, 0, turned, 2) : Part(c, x, 3, 0, turned / 2);
  const std::string second = interleaved ? Part(c, x, 3, 1, turned, 2) : Part(c, x, 3, turned / 2, turned);
  const std::string real = c.Binary("subtract", c.Binary("multiply", cos, first), c.Binary("multiply", sin, second));
  const std::string imaginary = c.Binary("add", c.Binary("multiply", sin, first), c.Binary("multiply", cos, second));
  std::vector<std::string> parts = {real, imaginary};
  if (interleaved) {
    const std::string pairs = c.Emit("stack", {{"x", parts}}, {{"axis", int64_t{4}}});
    parts = {c.Emit("flatten", {{"x", {pairs}}}, {{"start_axis", int64_t{3}}, {"stop_axis", int64_t{4}}})};
  }
  if (turned < size) parts.push_back(Part(c, x, 3, turned, size));
  return parts.size() == 1 ? parts[0] : c.Emit("concat", {{"x", parts}}, {{"axis", int64_t{3}}});
}

std::string AnglesAt(OnnxContext& c, const std::string& cache, const std::string& positions, int64_t turned,
                     int64_t heads_axis) {
  return Angles(c, c.Emit("gather", {{"x", {cache}}, {"index", {positions}}}), turned, heads_axis);
}

REGISTER_CONVERTER(onnx, RotaryEmbedding, &Convert<RotaryEmbedding>);
REGISTER_CONVERTER(onnx, com_microsoft_RotaryEmbedding, &Convert<ContribRotaryEmbedding>);

}  // namespace wherry::onnx
