#include "op/infer/attention_shape.h"

#include "base/check.h"

namespace wherry {
namespace {

struct Heads {
  AttentionOperand place;
  int64_t sequence;
  int64_t size;
};

Heads HeadsOf(const Shape& shape, int64_t heads, int64_t size, int64_t first) {
  if (shape.rank() == 4) {
    return {{0, shape.numel(1, 4), shape.numel(2, 4), shape[3]}, shape[2], shape[3]};
  }
  WHERRY_CHECK(shape.rank() == 3 && heads > 0, "an operand of ", shape.DebugString(), " and ", heads, " heads");
  const int64_t own = size > 0 ? size : shape[2] / heads;
  return {{first, shape.numel(1, 3), own, shape[2]}, shape[1], own};
}

}  // namespace

AttentionShape MakeAttentionShape(const Shape& query, const Shape& key, const Shape& value, const Shape* mask,
                                  int heads, int key_heads, int size, const std::vector<int64_t>& columns,
                                  bool merged) {
  const auto column = [&](size_t i) { return columns.empty() ? int64_t{0} : columns[i]; };
  AttentionShape shape;
  shape.batch = query[0];
  shape.heads = heads;
  shape.key_heads = key_heads == 0 ? heads : key_heads;
  const Heads q = HeadsOf(query, shape.heads, size, column(0));
  const Heads k = HeadsOf(key, shape.key_heads, size, column(1));
  const Heads v = HeadsOf(value, shape.key_heads, size, column(2));
  shape.queries = q.sequence;
  shape.keys = k.sequence;
  shape.size = q.size;
  shape.value_size = v.size;
  shape.query = q.place;
  shape.key = k.place;
  shape.value = v.place;
  const int64_t matrix = shape.queries * shape.value_size;
  shape.out = merged ? AttentionOperand{0, matrix * shape.heads, shape.value_size, shape.value_size * shape.heads}
                     : AttentionOperand{0, matrix * shape.heads, matrix, shape.value_size};
  if (mask != nullptr) {
    int64_t stride = 1;
    for (int axis = mask->rank() - 1; axis >= 0; --axis) {
      const int64_t extent = (*mask)[axis];
      if (extent != 1) shape.mask[static_cast<size_t>(axis + 4 - mask->rank())] = stride;
      stride *= extent;
    }
  }
  return shape;
}

}  // namespace wherry
