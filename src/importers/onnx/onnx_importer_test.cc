// Whole models: what the importer takes, and what it refuses.
#include <gtest/gtest.h>

#include "base/file_test_util.h"
#include "importer/importer.h"
#include "importers/onnx/model_test_util.h"

namespace wherry::onnx {
namespace {

using Names = std::vector<std::string>;

// relu(x @ w + b), with one weight in raw data and one in a list.
TestModel Linear() {
  TestModel model;
  model.graph.inputs = {{"x", {"N", int64_t{3}}}};
  model.graph.initializers = {FloatTensor("w", {3, 2}, {1, 2, 3, 4, 5, 6})};
  TestTensor b;
  b.name = "b";
  b.dims = {2};
  b.floats = {0.5F, -0.5F};
  model.graph.initializers.push_back(b);
  model.graph.nodes = {{"MatMul", {"x", "w"}, {"xw"}, {}, "", "mm"},
                       {"Add", {"xw", "b"}, {"sum"}, {}, "", ""},
                       {"Relu", {"sum"}, {"y"}, {}, "", ""}};
  model.graph.outputs = {{"y", {}}};
  return model;
}

void ExpectLinear(const Program& program) {
  EXPECT_EQ(program.main().inputs, Names{"x"});
  EXPECT_EQ(program.main().values.at("x").DebugString(), "f32[N,3]");
  EXPECT_EQ(Types(program), (Names{"matmul", "add", "relu"}));
  EXPECT_EQ(program.main().outputs, Names{"y"});
  ASSERT_EQ(program.weights.size(), 2U);
  EXPECT_EQ(program.weights.at("b").data<float>()[1], -0.5F);
  EXPECT_EQ(program.weights.at("w").data<float>()[5], 6.0F);
  EXPECT_EQ(program.metadata.at("format"), "onnx");
  EXPECT_EQ(program.metadata.at("opset"), "17");
  EXPECT_EQ(ResultMeta(program), "f32[N,2]");
}

Error ImportError(const TestModel& model) {
  return ErrorOf([&] { ImportBytes(model.Bytes()); });
}
void ExpectMessage(const Error& error, ErrorCode code, const std::vector<std::string>& parts) {
  EXPECT_EQ(error.code(), code) << error.what();
  for (const std::string& part : parts) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in " << error.what();
  }
}

class OnnxImporterTest : public FileTest {
 protected:
  void Write(const std::string& name, const std::string& bytes) { WriteText(Path(name), bytes); }
};

TEST_F(OnnxImporterTest, WhateverProto2Allows) {
  for (const bool packed : {false, true}) {
    for (const bool shuffled : {false, true}) {
      TestModel model = Linear();
      model.packed = packed;
      model.shuffled = shuffled;
      ExpectLinear(ImportBytes(model.Bytes()));
    }
  }
  // Recognised by its bytes alone.
  ExpectLinear(ImportModel(InMemory("memory", Linear().Bytes())));
}

TEST_F(OnnxImporterTest, TheModelsOwnPropertiesGoIntoTheMetadata) {
  TestModel model = Linear();
  model.properties = {{"character", "a\nb\n\xe4\xb8\x80"}, {"format", "theirs"}, {"", "no name"}};
  model.shuffled = true;
  const Program program = ImportBytes(model.Bytes());
  ExpectLinear(program);  // "format" is still ours
  EXPECT_EQ(program.metadata.at("model.character"), "a\nb\n\xe4\xb8\x80");
  EXPECT_EQ(program.metadata.at("model.format"), "theirs");
  EXPECT_EQ(program.metadata.at("model."), "no name");
}

TEST_F(OnnxImporterTest, FromAFileOrItsFolder) {
  Write("net.onnx", Linear().Bytes());
  ExpectLinear(ImportModel(Path("net.onnx")));
  ExpectLinear(ImportModel(folder()));
}

TEST_F(OnnxImporterTest, WeightsShareTheFileWhereTheyCan) {
  const std::string bytes = Linear().Bytes();
  const FileBytes file = InMemory("a.onnx", bytes);
  const Program program = ImportModel(file);
  const auto* w = static_cast<const std::byte*>(program.weights.at("w").raw_data());
  const bool shared = w >= file.data.data() && w < file.data.data() + file.data.size();
  const size_t at = bytes.find(RawFloats({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(shared, (reinterpret_cast<uintptr_t>(file.data.data()) + at) % sizeof(float) == 0);
}

TEST_F(OnnxImporterTest, NodesInAnyOrder) {
  TestModel model = Linear();
  std::swap(model.graph.nodes[0], model.graph.nodes[2]);
  ExpectLinear(ImportBytes(model.Bytes()));
}

TEST_F(OnnxImporterTest, ACycleNamesItsNodes) {
  TestModel model = Linear();
  model.graph.nodes[0].inputs[0] = "y";
  ExpectMessage(ImportError(model), ErrorCode::kCorrupt,
                {"cycle", "'MatMul' named 'mm' (block 0, number 0)", "'Relu'"});
  model = Linear();
  model.graph.nodes[1].inputs[1] = "sum";
  ExpectMessage(ImportError(model), ErrorCode::kCorrupt, {"cycle", "'Add'"});
}

TEST_F(OnnxImporterTest, ANameIsGivenOnce) {
  TestModel model = Linear();
  model.graph.nodes[2].outputs[0] = "xw";
  ExpectMessage(ImportError(model), ErrorCode::kCorrupt, {"'xw' is given twice", "'mm'", "'Relu'"});
  model = Linear();
  model.graph.nodes[2].outputs[0] = "x";
  ExpectMessage(ImportError(model), ErrorCode::kCorrupt, {"'x' is given twice"});
  model = Linear();
  model.graph.initializers.push_back(model.graph.initializers[0]);
  ExpectMessage(ImportError(model), ErrorCode::kCorrupt, {"'w' is given twice"});
}

TEST_F(OnnxImporterTest, AnInitializerThatIsAnInputKeepsItsValue) {
  TestModel model = Linear();
  model.graph.inputs.push_back({"w", {int64_t{3}, int64_t{2}}});
  const Program program = ImportBytes(model.Bytes());
  ExpectLinear(program);
  EXPECT_EQ(program.metadata.at("optional_inputs"), "w");
  model.ir_version = 3;  // where every weight is an input
  EXPECT_EQ(ImportBytes(model.Bytes()).metadata.count("optional_inputs"), 0U);
}

TEST_F(OnnxImporterTest, AnInputThatIsOverriddenHasNoValue) {
  TestModel model = Linear();
  model.graph.inputs.push_back({"w", {int64_t{3}, int64_t{2}}});
  // "b" is no input, "other" nothing at all.
  const Program program = ImportModel(InMemory("a.onnx", model.Bytes()), {}, {"w", "b", "other"});
  EXPECT_EQ(program.main().inputs, (Names{"x", "w"}));
  EXPECT_EQ(program.weights.count("w"), 0U);
  EXPECT_EQ(program.weights.count("b"), 1U);
}

TEST_F(OnnxImporterTest, UnusedInputsStayAndUnusedWeightsGo) {
  TestModel model = Linear();
  model.graph.inputs.insert(model.graph.inputs.begin(), {"unused", {"N"}});
  model.graph.initializers.push_back(FloatTensor("nobody", {1}, {1}));
  const Program program = ImportBytes(model.Bytes());
  EXPECT_EQ(program.main().inputs, (Names{"unused", "x"}));
  EXPECT_EQ(program.weights.count("nobody"), 0U);
}

TEST_F(OnnxImporterTest, NamedDimensionsAreSharedAndOthersAreNot) {
  TestModel model;
  model.graph.inputs = {{"a", {"N", ""}}, {"b", {"N", ""}}, {"c", {"~", int64_t{-1}}}, {"d", {"?", "?"}}};
  model.graph.nodes = {{"Relu", {"a"}, {"y"}, {}, "", ""}};
  model.graph.outputs = {{"y", {}}};
  const Program program = ImportBytes(model.Bytes());
  const auto dims = [&](const char* name) { return program.main().values.at(name).dims; };
  EXPECT_EQ(dims("a")[0], dims("b")[0]);
  EXPECT_NE(dims("a")[1], dims("b")[1]);
  EXPECT_FALSE(dims("a")[1].known());
  EXPECT_FALSE(dims("c")[0].known());
  EXPECT_NE(dims("c")[0].DebugString()[0], '~');  // that would be any integer
  EXPECT_FALSE(dims("c")[1].known());
  EXPECT_NE(dims("d")[0], dims("d")[1]);
}

TEST_F(OnnxImporterTest, OutputsThatAreInputsOrWeightsOrThereTwice) {
  TestModel model = Linear();
  model.graph.outputs = {{"x", {}}, {"w", {}}, {"y", {}}, {"same", {}}};
  model.graph.nodes.push_back({"Identity", {"y"}, {"same"}, {}, "", ""});
  const Program program = ImportBytes(model.Bytes());
  EXPECT_EQ(program.main().output_names, (Names{"x", "w", "y", "same"}));
  EXPECT_EQ(ResultMeta(program, 3), "f32[N,2]");
}

TEST_F(OnnxImporterTest, TensorsInEveryForm) {
  const auto import = [](TestTensor tensor) {
    TestModel model;
    tensor.name = "w";
    model.graph.initializers = {std::move(tensor)};
    model.graph.nodes = {{"Identity", {"w"}, {"y"}, {}, "", ""}};
    model.graph.outputs = {{"y", {}}};
    std::vector<DenseTensor> found;
    for (const bool packed : {false, true}) {
      model.packed = packed;
      const Program program = ImportBytes(model.Bytes());
      found.push_back(program.weights.at("w"));
      EXPECT_EQ(std::string(static_cast<const char*>(found[0].raw_data()), found[0].nbytes()),
                std::string(static_cast<const char*>(found.back().raw_data()), found.back().nbytes()));
    }
    return found[0];
  };
  TestTensor tensor;
  tensor.dims = {3};
  tensor.floats = {1, 2, 3};
  EXPECT_EQ(import(tensor).data<float>()[2], 3.0F);
  tensor.floats = {};
  tensor.int64s = {-1, 2, int64_t{1} << 40};
  tensor.type = kTestInt64;
  EXPECT_EQ(import(tensor).data<int64_t>()[2], int64_t{1} << 40);
  tensor.int64s = {};
  tensor.int32s = {-1, 2, 3};
  tensor.type = kTestInt32;
  EXPECT_EQ(import(tensor).data<int32_t>()[0], -1);
  tensor.type = 3;  // INT8
  EXPECT_EQ(import(tensor).data<int8_t>()[0], -1);
  tensor.int32s = {0x3c00, 0, 0xc000};
  tensor.type = 10;  // FLOAT16
  EXPECT_EQ(static_cast<float>(import(tensor).data<Float16>()[2]), -2.0F);
  tensor.int32s = {0, 7, 1};
  tensor.type = kTestBool;
  EXPECT_EQ(import(tensor).data<bool>()[1], true);
  tensor.int32s = {};
  tensor.raw = std::string("\0\x05\x01", 3);
  EXPECT_EQ(static_cast<const uint8_t*>(import(tensor).raw_data())[1], 1);
  tensor.raw = std::string("\x21\x03", 2);
  tensor.type = 22;  // INT4, two in a byte
  EXPECT_EQ(import(tensor).nbytes(), 2U);
  tensor.raw = "";
  tensor.dims = {0, 4};
  tensor.type = kTestFloat;
  EXPECT_EQ(import(tensor).shape(), Shape({0, 4}));
}

TEST_F(OnnxImporterTest, TensorsThatContradictThemselves) {
  const auto error_of = [](const TestTensor& tensor) {
    TestModel model = Linear();
    model.graph.initializers[0] = tensor;
    return ImportError(model);
  };
  constexpr int64_t kHuge = int64_t{1} << 62;
  const std::string twelve(12, '\0');
  TestTensor w;
  w.name = "w";
  w.dims = {3, 2};
  w.raw = twelve;
  ExpectMessage(error_of(w), ErrorCode::kCorrupt, {"'w'", "f32[3,2]", "12 bytes", "expected 24"});
  w.raw = "";
  w.floats = {1, 2};
  ExpectMessage(error_of(w), ErrorCode::kCorrupt, {"'w'", "2 elements", "expected 6"});
  w.dims = {-3, -2};
  ExpectMessage(error_of(w), ErrorCode::kCorrupt, {"'w'", "negative", "[-3,-2]"});
  w.dims = {kHuge, kHuge};
  ExpectMessage(error_of(w), ErrorCode::kCorrupt, {"'w'"});
  w.dims = {kHuge / 64};
  ExpectMessage(error_of(w), ErrorCode::kCorrupt, {"'w'"});
  w.dims = std::vector<int64_t>(1000, 1);
  ExpectMessage(error_of(w), ErrorCode::kUnsupported, {"'w'", "1000 dimensions"});
  w.dims = {2};
  w.type = 99;
  ExpectMessage(error_of(w), ErrorCode::kUnsupported, {"'w'", "number 99"});
  w.type = 8;
  ExpectMessage(error_of(w), ErrorCode::kCorrupt, {"0 strings, expected 2"});
}

TEST_F(OnnxImporterTest, ExternalData) {
  TestModel model = Linear();
  TestTensor& w = model.graph.initializers[0];
  w.raw = "";
  w.external = {{"location", "data/w.bin"}, {"offset", "8"}, {"length", "24"}};
  std::filesystem::create_directory(Path("data"));
  Write("data/w.bin", "12345678" + RawFloats({1, 2, 3, 4, 5, 6}));
  const auto import = [&] {
    Write("net.onnx", model.Bytes());
    return ImportModel(Path("net.onnx"));
  };
  ExpectLinear(import());
  w.external.pop_back();  // the length
  ExpectLinear(import());
  w.external[1].second = "9";
  ExpectMessage(ErrorOf(import), ErrorCode::kCorrupt, {"'w'", "offset 9", "32 bytes", "w.bin"});
  for (const char* bad : {"18446744073709551615", "-1", "1e3", "", "99999999999999999999999"}) {
    w.external[1].second = bad;
    ExpectMessage(ErrorOf(import), ErrorCode::kCorrupt, {"'w'", "offset"});
  }
  w.external[1] = {"length", "9223372036854775807"};
  ExpectMessage(ErrorOf(import), ErrorCode::kCorrupt, {"'w'", "length"});
  w.external = {{"offset", "0"}};
  ExpectMessage(ErrorOf(import), ErrorCode::kCorrupt, {"'w'", "no location"});
  w.external = {{"location", "data/absent.bin"}};
  ExpectMessage(ErrorOf(import), ErrorCode::kNotFound, {"absent.bin", "'w'"});
}

TEST_F(OnnxImporterTest, ExternalDataStaysInTheFolder) {
  std::filesystem::create_directory(Path("model"));
  Write("secret", RawFloats({1, 2, 3, 4, 5, 6}));
  std::filesystem::create_symlink(Path("secret"), Path("model/link"));
  for (const std::string& location : {std::string("../secret"), Path("secret"), std::string("./../secret"),
                                      std::string("link"), std::string("a/../../secret"), std::string()}) {
    TestModel model = Linear();
    model.graph.initializers[0].raw = "";
    model.graph.initializers[0].external = {{"location", location}};
    Write("model/net.onnx", model.Bytes());
    EXPECT_EQ(ErrorOf([&] { ImportModel(Path("model/net.onnx")); }).code(), ErrorCode::kInvalidArgument) << location;
  }
}

TEST_F(OnnxImporterTest, EveryUnsupportedOperatorIsReported) {
  TestModel model = Linear();
  model.opsets.emplace_back("my.domain", 3);
  const auto body = std::make_shared<TestGraph>();
  body->nodes = {{"Inner", {}, {"inner"}, {}, "", ""}};
  body->outputs = {{"inner", {}}};
  model.graph.nodes.push_back({"Frobnicate", {"y"}, {"v1"}, {}, "", ""});
  model.graph.nodes.push_back({"Relu", {"v1"}, {"v2"}, {}, "", ""});
  model.graph.nodes.push_back({"Frobnicate", {"v2"}, {"v3"}, {}, "", ""});
  model.graph.nodes.push_back({"Relu", {"v3"}, {"v4"}, {}, "my.domain", ""});
  model.graph.nodes.push_back({"SomeLoop", {"v4"}, {"v5"}, {{"body", TestGraphRef{body}}}, "", ""});
  ExpectMessage(ImportError(model), ErrorCode::kUnsupported,
                {"'Frobnicate': opset 17 (2 places", "'my.domain.Relu': opset 3 (1 place", "'SomeLoop'", "'Inner'"});
}

TEST_F(OnnxImporterTest, OpsetsOutsideOfWhatIsKnown) {
  TestModel model = Linear();
  for (const int64_t opset : {int64_t{29}, int64_t{1} << 40, int64_t{-1}}) {
    model.opsets = {{"ai.onnx", opset}};
    ExpectMessage(ImportError(model), ErrorCode::kUnsupported, {"'MatMul'", "'Add'", "'Relu'", "6 to 28"});
  }
  // A rule may be for older ones.
  model.opsets = {{"ai.onnx", 1}};
  const Error old = ImportError(model);
  ExpectMessage(old, ErrorCode::kUnsupported, {"'Add'", "'Relu'", "6 to 28"});
  EXPECT_EQ(old.message().find("'MatMul'"), std::string::npos) << old.message();
  model.opsets = {{"ai.onnx", 28}};
  EXPECT_EQ(Types(ImportBytes(model.Bytes())).size(), 3U);
  model.opsets = {};
  ExpectMessage(ImportError(model), ErrorCode::kUnsupported, {"imports no opset"});
  model = Linear();
  model.ir_version = 15;
  ExpectMessage(ImportError(model), ErrorCode::kUnsupported, {"IR version 15"});
}

TEST_F(OnnxImporterTest, WhatIsReadMustBeGiven) {
  TestModel model = Linear();
  model.graph.nodes[2].inputs[0] = "nowhere";
  ExpectMessage(ImportError(model), ErrorCode::kCorrupt, {"'Relu'", "'nowhere'"});
  model = Linear();
  model.graph.outputs[0].name = "nowhere";
  ExpectMessage(ImportError(model), ErrorCode::kCorrupt, {"output 'nowhere'"});
  model.graph.outputs.clear();
  ExpectMessage(ImportError(model), ErrorCode::kCorrupt, {"no output"});
}

TEST_F(OnnxImporterTest, AContradictionNamesTheOperator) {
  TestModel model = Linear();
  model.graph.initializers[0] = FloatTensor("w", {4, 2}, std::vector<float>(8));
  ExpectMessage(ImportError(model), ErrorCode::kInvalidArgument, {"operator 'MatMul' named 'mm' (block 0, number 0)"});
}

TEST_F(OnnxImporterTest, InputsThatAreNoTensors) {
  TestModel model = Linear();
  model.graph.inputs[0].type = 99;
  ExpectMessage(ImportError(model), ErrorCode::kUnsupported, {"input 'x'", "number 99"});
  std::string bytes = Linear().Bytes();
  // The type of the one input becomes a map.
  const size_t at = bytes.find(std::string("\x0a\x01x\x12", 4));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 5] = 0x2A;
  ExpectMessage(ErrorOf([&] { ImportBytes(bytes); }), ErrorCode::kUnsupported, {"input 'x'", "map"});
}

TEST_F(OnnxImporterTest, TruncatedAndChangedBytesAreErrors) {
  TestModel model = Linear();
  const auto branch = std::make_shared<TestGraph>();
  branch->nodes = {{"Relu", {"y"}, {"r"}, {}, "", ""}};
  branch->outputs = {{"r", {}}};
  model.graph.inputs.push_back({"c", {}, kTestBool});
  model.graph.nodes.push_back(
      {"If", {"c"}, {"z"}, {{"then_branch", TestGraphRef{branch}}, {"else_branch", TestGraphRef{branch}}}, "", ""});
  model.graph.outputs[0].name = "z";
  const std::string bytes = model.Bytes();
  size_t errors = 0;
  const auto import = [&errors](const std::string& changed) {
    try {
      ImportBytes(changed);
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
      ++errors;
    }
  };
  import(bytes);
  EXPECT_EQ(errors, 0U);
  for (size_t i = 0; i < bytes.size(); ++i) import(bytes.substr(0, i));
  EXPECT_EQ(errors, bytes.size());
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string changed = bytes;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << (i % 8)));
    import(changed);
  }
}

}  // namespace
}  // namespace wherry::onnx
