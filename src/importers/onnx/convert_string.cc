// Strings, and what is looked up by them or by numbers.
#include "importers/onnx/convert_string.h"

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

void StringConcat(OnnxContext& c) { c.EmitResult("string_concat", {{"x", {c.Input(0)}}, {"y", {c.Input(1)}}}); }

void StringSplit(OnnxContext& c) {
  // Of an empty tensor there is nothing to tell how many pieces there would be.
  const auto results = c.EmitMany(
      "string_split", {{"x", {c.Input(0)}}},
      {{"delimiter", c.Attr<std::string>("delimiter", "")}, {"max_splits", c.Attr<int64_t>("maxsplit", -1)}}, 2);
  c.Bind(0, results[0]);
  c.Bind(1, results[1]);
}

void StringNormalizer(OnnxContext& c) {
  std::string letter_case = c.Attr<std::string>("case_change_action", "NONE");
  for (char& letter : letter_case) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  c.EmitResult("string_normalize", {{"x", {c.Input(0)}}},
               {{"letter_case", letter_case},
                {"case_sensitive", c.Attr<bool>("is_case_sensitive", false)},
                {"stop_words", c.Attr<std::vector<std::string>>("stopwords", {})}});
}

void RegexFullMatch(OnnxContext& c) {
  c.EmitResult("regex_full_match", {{"x", {c.Input(0)}}}, {{"pattern", c.Attr<std::string>("pattern")}});
}

DenseTensor FloatsTensor(const std::vector<double>& values) {
  return TensorOfScalars(Shape{static_cast<int64_t>(values.size())}, {values.begin(), values.end()}, DataType::kFloat);
}

void TfIdfVectorizer(OnnxContext& c) {
  const std::string x = c.Input(0);
  std::string pool;
  if (c.HasAttr("pool_strings")) {
    pool = c.Constant(StringsTensor(c.Attr<std::vector<std::string>>("pool_strings")));
  } else {
    pool = c.Cast(c.ConvertContext::ConstantInts(c.Attr<std::vector<int64_t>>("pool_int64s")), c.TypeOf(x));
  }
  c.EmitResult("tf_idf", {{"x", {x}}, {"pool", {pool}}},
               {{"counts", c.Attr<std::vector<int64_t>>("ngram_counts")},
                {"indexes", c.Attr<std::vector<int64_t>>("ngram_indexes")},
                {"shortest", c.Attr<int64_t>("min_gram_length")},
                {"longest", c.Attr<int64_t>("max_gram_length")},
                {"max_skips", c.Attr<int64_t>("max_skip_count")},
                {"mode", c.Attr<std::string>("mode")},
                {"weights", c.Attr<std::vector<double>>("weights", {})}});
}

// keys_* or values_*: a list of the type that the name says, or a tensor.
DenseTensor ListOf(OnnxContext& c, const std::string& stem) {
  if (c.HasAttr(stem + "_strings")) return StringsTensor(c.Attr<std::vector<std::string>>(stem + "_strings"));
  if (c.HasAttr(stem + "_int64s")) return IntsTensor(c.Attr<std::vector<int64_t>>(stem + "_int64s"));
  if (c.HasAttr(stem + "_floats")) return FloatsTensor(c.Attr<std::vector<double>>(stem + "_floats"));
  DenseTensor tensor = c.Tensor(stem + "_tensor");
  TensorMeta meta = tensor.meta();
  meta.shape = Shape{tensor.numel()};
  tensor.set_meta(meta);
  return tensor;
}

// What is given to elements that are no key.
DenseTensor FallbackOf(OnnxContext& c, DataType dtype) {
  if (c.HasTensor("default_tensor")) return c.Tensor("default_tensor");
  if (dtype == DataType::kString) return StringsTensor({c.Attr<std::string>("default_string", "_Unused")});
  const Scalar value =
      IsFloating(dtype) ? Scalar(c.Attr<double>("default_float", -0.0)) : Scalar(c.Attr<int64_t>("default_int64", -1));
  return FilledTensor(Shape{1}, value, dtype);
}

void LabelEncoder(OnnxContext& c) {
  DenseTensor keys;
  DenseTensor values;
  if (c.HasAttr("classes_strings")) {  // opset 1: a list and its positions, either way
    const auto classes = c.Attr<std::vector<std::string>>("classes_strings");
    std::vector<int64_t> positions;
    for (size_t i = 0; i < classes.size(); ++i) positions.push_back(static_cast<int64_t>(i));
    keys = StringsTensor(classes);
    values = IntsTensor(positions);
    if (c.TypeOf(c.Input(0)) != DataType::kString) std::swap(keys, values);
  } else {
    keys = ListOf(c, "keys");
    values = ListOf(c, "values");
  }
  const DataType dtype = values.dtype();
  c.EmitResult("map_values", {{"x", {c.Input(0)}},
                              {"keys", {c.Constant(std::move(keys))}},
                              {"values", {c.Constant(std::move(values))}},
                              {"fallback", {c.Constant(FallbackOf(c, dtype))}}});
}

}  // namespace

DenseTensor StringsTensor(const std::vector<std::string>& values) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kString, Shape{static_cast<int64_t>(values.size())}});
  std::copy(values.begin(), values.end(), tensor.mutable_data<std::string>());
  return tensor;
}

REGISTER_CONVERTER(onnx, StringConcat, &Convert<StringConcat>);
REGISTER_CONVERTER(onnx, StringSplit, &Convert<StringSplit>);
REGISTER_CONVERTER(onnx, StringNormalizer, &Convert<StringNormalizer>);
REGISTER_CONVERTER(onnx, RegexFullMatch, &Convert<RegexFullMatch>);
REGISTER_CONVERTER(onnx, TfIdfVectorizer, &Convert<TfIdfVectorizer>);
REGISTER_CONVERTER(onnx, ai_onnx_ml_LabelEncoder, &Convert<LabelEncoder>);

}  // namespace wherry::onnx
