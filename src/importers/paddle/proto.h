// The parts of Paddle's framework.proto that its programs and its parameter files share.
#pragma once

#include <cstdint>
#include <vector>

#include "importer/protobuf.h"

namespace wherry::paddle {

using protobuf::Bytes;
using protobuf::ForEachField;
using protobuf::Is;
using protobuf::kBytes;
using protobuf::kFixed32;
using protobuf::kFixed64;
using protobuf::kVarint;
using protobuf::Reader;
using protobuf::TakeBools;
using protobuf::TakeDoubles;
using protobuf::TakeFloats;
using protobuf::TakeInts;
using protobuf::View;

// VarType.TensorDesc.
struct TensorDesc {
  int64_t data_type = -1;  // absent
  std::vector<int64_t> dims;
};
inline TensorDesc ParseTensorDesc(View message) {
  TensorDesc tensor;
  ForEachField(message, [&](Reader& field) {
    if (Is(field, 1, kVarint)) {
      tensor.data_type = field.get_int32();
      return true;
    }
    return TakeInts(field, 2, &tensor.dims);
  });
  return tensor;
}

}  // namespace wherry::paddle
