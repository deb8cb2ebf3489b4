// The sizes and strides of an attention's operands.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wherry/types.h"

namespace wherry {

// Element (b, h, i, d) of an operand, h counting its own heads, lies at first + b * batch + h * head + i * row + d.
struct AttentionOperand {
  int64_t first = 0;
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;
};

struct AttentionShape {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t key_heads = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t size = 0;        // of a head of query and key
  int64_t value_size = 0;  // of a head of value and of the result
  AttentionOperand query;
  AttentionOperand key;
  AttentionOperand value;
  AttentionOperand out;
  // Of the mask, by batch, head, query and key: 0 where it is repeated or absent.
  std::array<int64_t, 4> mask{};
};

// Of shapes and attributes that AttentionInferMeta accepts; `mask` null: none.
AttentionShape MakeAttentionShape(const Shape& query, const Shape& key, const Shape& value, const Shape* mask,
                                  int heads, int key_heads, int size, const std::vector<int64_t>& columns, bool merged);

}  // namespace wherry
