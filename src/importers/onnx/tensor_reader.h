// The tensors of an ONNX model: in the model's file or in others beside it.
#pragma once

#include <map>
#include <string>

#include "core/dense_tensor.h"
#include "importer/importer.h"
#include "importers/onnx/model_proto.h"

namespace wherry::onnx {

// Not thread-safe. Tensors share the files' memory and keep it alive where TensorOfBytes can; the source must outlive
// the reader.
class TensorReader {
 public:
  explicit TensorReader(const ModelSource& source) : source_(source) {}

  // Error(kCorrupt) that names the tensor when its parts contradict each other; Error(kUnsupported) for an element type
  // that Wherry lacks.
  DenseTensor Read(const TensorProto& proto);

 private:
  DenseTensor ReadExternal(const TensorProto& proto, const TensorMeta& meta);

  const ModelSource& source_;
  std::map<std::string, FileBytes> files_;
};

}  // namespace wherry::onnx
