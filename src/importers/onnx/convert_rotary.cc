// RotaryEmbedding: pairs of elements turned by angles that depend on the position.
#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

std::string Part(OnnxContext& c, const std::string& x, int64_t axis, int64_t start, int64_t end, int64_t step = 1) {
  return c.Emit("slice", {{"x", {x}}},
                {{"axes", std::vector<int64_t>{axis}},
                 {"starts", IntArray({start})},
                 {"ends", IntArray({end})},
                 {"steps", std::vector<int64_t>{step}}});
}

void RotaryEmbedding(OnnxContext& c) {
  const std::string input = c.Input(0);
  const int rank = c.Rank(input);
  const auto heads = c.Attr<int64_t>("num_heads", 0);
  if (rank != 3 && rank != 4) c.Corrupt("the input has ", rank, " dimensions, expected 3 or 4");
  if (rank == 3 && heads < 1) c.Corrupt("attribute num_heads is ", heads);
  const std::vector<int64_t> swap = {0, 2, 1, 3};
  // [batch, sequence, head, size]
  const std::string x =
      rank == 3 ? c.Reshaped(input, {0, 0, heads, -1}) : c.Emit("transpose", {{"x", {input}}}, {{"perm", swap}});
  const Dim size = c.Meta(x).dims[3];
  if (!size.known()) c.Unsupported("the size of a head is not known");
  auto turned = c.Attr<int64_t>("rotary_embedding_dim", 0);
  if (turned == 0) turned = size.value();
  if (turned < 0 || turned > size.value() || turned % 2 != 0) c.Corrupt(turned, " of ", size.value(), " elements turn");

  const auto angles = [&](size_t position) {
    std::string cache = c.Input(position);
    if (c.HasInput(3)) cache = c.Emit("gather", {{"x", {cache}}, {"index", {c.Input(3)}}});
    return c.Unsqueezed(Part(c, cache, 2, 0, turned / 2), {2});
  };
  const std::string cos = angles(1);
  const std::string sin = angles(2);
  const bool interleaved = c.Attr<bool>("interleaved", false);
  const std::string first = interleaved ? Part(c, x, 3, 0, turned, 2) : Part(c, x, 3, 0, turned / 2);
  const std::string second = interleaved ? Part(c, x, 3, 1, turned, 2) : Part(c, x, 3, turned / 2, turned);
  const std::string real = c.Binary("subtract", c.Binary("multiply", cos, first), c.Binary("multiply", sin, second));
  const std::string imaginary = c.Binary("add", c.Binary("multiply", sin, first), c.Binary("multiply", cos, second));
  std::vector<std::string> parts = {real, imaginary};
  if (interleaved) {
    const std::string pairs = c.Emit("stack", {{"x", parts}}, {{"axis", int64_t{4}}});
    parts = {c.Emit("flatten", {{"x", {pairs}}}, {{"start_axis", int64_t{3}}, {"stop_axis", int64_t{4}}})};
  }
  if (turned < size.value()) parts.push_back(Part(c, x, 3, turned, size.value()));
  const std::string y = parts.size() == 1 ? parts[0] : c.Emit("concat", {{"x", parts}}, {{"axis", int64_t{3}}});
  if (rank == 4) return c.EmitResult("transpose", {{"x", {y}}}, {{"perm", swap}});
  c.EmitResult("flatten", {{"x", {y}}}, {{"start_axis", int64_t{2}}, {"stop_axis", int64_t{3}}});
}

}  // namespace

REGISTER_CONVERTER(onnx, RotaryEmbedding, &Convert<RotaryEmbedding>);

}  // namespace wherry::onnx
