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
  explicit TensorReader(const ModelSource& source) : source_(source), file_bytes_(source.model.data.size()) {}

  // Error(kCorrupt) that names the tensor when its parts contradict each other; Error(kUnsupported) for an element type
  // that Wherry lacks.
  DenseTensor Read(const TensorProto& proto);
  // Of the model's file and those that have been read beside it.
  size_t file_bytes() const { return file_bytes_; }

 private:
  DenseTensor ReadExternal(const TensorProto& proto, const TensorMeta& meta);

  const ModelSource& source_;
  std::map<std::string, FileBytes> files_;
  size_t file_bytes_;
};

}  // namespace wherry::onnx
