#include "importers/paddle/param_stream.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/checked_math.h"
#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importer/describe_bytes.h"
#include "importers/paddle/program_desc.h"
#include "importers/paddle/proto.h"

namespace wherry::paddle {

namespace {

std::string ShapeText(const std::vector<int64_t>& dims) { return "[" + Join(dims, ",") + "]"; }

// A [1] was how Paddle before 2.5 wrote a scalar.
bool SameDims(const std::vector<int64_t>& expected, const std::vector<int64_t>& got) {
  if (expected.empty() && got == std::vector<int64_t>{1}) return true;
  if (got.empty() && expected == std::vector<int64_t>{1}) return true;
  return std::equal(expected.begin(), expected.end(), got.begin(), got.end(),
                    [](int64_t e, int64_t g) { return e < 0 || e == g; });
}

}  // namespace

void ParamStream::Fail(const ParamInfo& param, const std::string& message) const {
  Throw(ErrorCode::kCorrupt, "parameter ", Quote(param.name), " (record ", count_, " of ", Quote(file_.name, 1000),
        ", at byte ", position_, " of ", file_.data.size(), "): ", message);
}

std::span<const std::byte> ParamStream::Take(size_t size, const ParamInfo& param, const char* what) {
  const size_t left = file_.data.size() - position_;
  if (size > left) Fail(param, StrCat(what, " has ", size, " bytes, but the file ends after ", left));
  const auto bytes = file_.data.subspan(position_, size);
  position_ += size;
  return bytes;
}

template <typename T>
T ParamStream::Read(const ParamInfo& param, const char* what) {
  T value;
  std::memcpy(&value, Take(sizeof(T), param, what).data(), sizeof(T));
  return value;
}

DenseTensor ParamStream::Next(const ParamInfo& param) {
  const auto version = Read<uint32_t>(param, "the record's version");
  if (version != 0) {
    Fail(param,
         StrCat("the record has version ", version, ", expected 0; the file looks like ", DescribeBytes(file_.data)));
  }
  const auto lod_level = Read<uint64_t>(param, "the LoD level");
  constexpr uint64_t kMostLodLevels = 64;
  if (lod_level > kMostLodLevels)
    Fail(param, StrCat("the LoD level is ", lod_level, ", expected at most ", kMostLodLevels));
  for (uint64_t level = 0; level < lod_level; ++level) {
    const auto size = Read<uint64_t>(param, "the size of a LoD level");
    Take(static_cast<size_t>(size), param, "a LoD level");
  }
  const auto tensor_version = Read<uint32_t>(param, "the tensor's version");
  if (tensor_version != 0) Fail(param, StrCat("the tensor has version ", tensor_version, ", expected 0"));
  const auto desc_size = Read<int32_t>(param, "the size of the tensor's description");
  if (desc_size < 0) Fail(param, StrCat("the tensor's description has ", desc_size, " bytes"));
  const auto desc_bytes = Take(static_cast<size_t>(desc_size), param, "the tensor's description");
  TensorDesc desc;
  try {
    desc = ParseTensorDesc(Bytes(desc_bytes));
  } catch (const protozero::exception& error) {
    Fail(param, StrCat("the tensor's description is damaged: ", protobuf::WhyDamaged(error)));
  }
  const DataType dtype = DataTypeOf(desc.data_type);
  if (SizeOf(dtype) == 0)
    Fail(param, StrCat("the element type has the number ", desc.data_type, ", which stands for none"));
  if (param.dtype != DataType::kUndefined && dtype != param.dtype) {
    Fail(param, StrCat("expected type ", ToString(param.dtype), ", found ", ToString(dtype), ShapeText(desc.dims),
                       "; do these parameters belong to this program?"));
  }
  if (param.shape_known && !SameDims(param.dims, desc.dims)) {
    Fail(param, StrCat("expected shape ", ShapeText(param.dims), ", found ", ShapeText(desc.dims),
                       "; do these parameters belong to this program?"));
  }
  if (desc.dims.size() > static_cast<size_t>(Shape::kMaxRank)) {
    Fail(param, StrCat("it has ", desc.dims.size(), " dimensions, at most ", Shape::kMaxRank, " are possible"));
  }
  for (const int64_t dim : desc.dims) {
    if (dim < 0) Fail(param, StrCat("its shape ", ShapeText(desc.dims), " has a negative dimension"));
  }
  // What the program says about a scalar holds, in whichever form the file has it.
  const bool as_program = param.shape_known && param.dims.size() != desc.dims.size();
  TensorMeta meta{dtype, as_program ? Shape(param.dims) : Shape(desc.dims)};
  size_t bytes = 0;
  try {
    bytes = meta.nbytes();
  } catch (const Error& error) {
    Fail(param, error.message());
  }
  DenseTensor tensor = TensorOfBytes(meta, Take(bytes, param, "its data"), file_);
  ++count_;
  return tensor;
}

void ParamStream::ExpectEnd() const {
  WHERRY_ENFORCE(position_ == file_.data.size(), kCorrupt, Quote(file_.name, 1000), " has ",
                 file_.data.size() - position_, " bytes more than the ", count_,
                 " parameters of the program take; do these parameters belong to this program?");
}

std::vector<DenseTensor> ReadCombinedParams(const FileBytes& file, std::vector<ParamInfo>* params) {
  std::sort(params->begin(), params->end(), [](const ParamInfo& a, const ParamInfo& b) { return a.name < b.name; });
  WHERRY_ENFORCE(!LooksLikePaddleProgram(file.data) && !LooksLikePir(file.data), kInvalidArgument,
                 Quote(file.name, 1000), " was given as the parameters, but is ", DescribeBytes(file.data),
                 "; are the two files swapped?");
  ParamStream stream(file);
  std::vector<DenseTensor> tensors;
  for (const ParamInfo& param : *params) tensors.push_back(stream.Next(param));
  stream.ExpectEnd();
  return tensors;
}

}  // namespace wherry::paddle
