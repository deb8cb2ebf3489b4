// Whole models: what the importer takes, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file_test_util.h"
#include "importer/importer.h"
#include "importers/paddle/model_test_util.h"

namespace wherry::paddle {
namespace {

// relu(x @ w + b): two parameters, whose file order is not that of the program.
TestModel Linear() {
  TestModel model;
  model.AddInput("x", {-1, 3});
  model.AddParam("w", {3, 2});
  model.AddParam("b", {2});
  model.AddVar("xw", {-1, 2});
  model.AddVar("sum", {-1, 2});
  model.AddVar("y", {-1, 2});
  model.AddOp({"matmul_v2",
               {{"X", {"x"}}, {"Y", {"w"}}},
               {{"Out", {"xw"}}},
               {{"trans_x", false}, {"trans_y", false}, {"op_role", 0}}});
  model.AddOp({"elementwise_add", {{"X", {"xw"}}, {"Y", {"b"}}}, {{"Out", {"sum"}}}, {{"axis", -1}}});
  model.AddOp({"relu", {{"X", {"sum"}}}, {{"Out", {"y"}}}, {{"op_callstack", std::vector<std::string>{"a", "b"}}}});
  model.AddOutput("y");
  return model;
}
std::string LinearParams() {
  return ParamRecord({2}, FloatBytes({0.5F, -0.5F})) + ParamRecord({3, 2}, FloatBytes({1, 2, 3, 4, 5, 6}));
}

void ExpectLinear(const Program& program) {
  EXPECT_EQ(program.main().inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(program.main().values.at("x").dims.size(), 2U);
  EXPECT_FALSE(program.main().values.at("x").dims[0].known());
  EXPECT_EQ(program.main().values.at("x").dims[1], Dim(3));
  ASSERT_EQ(program.main().ops.size(), 3U);
  EXPECT_EQ(program.main().ops[0].Type(), "matmul");
  EXPECT_EQ(program.main().ops[1].Type(), "add");
  EXPECT_EQ(program.main().ops[2].Type(), "relu");
  EXPECT_EQ(program.main().outputs, std::vector<std::string>{"y"});
  ASSERT_EQ(program.weights.size(), 2U);
  EXPECT_EQ(program.weights.at("b").shape(), Shape({2}));
  EXPECT_EQ(program.weights.at("w").data<float>()[5], 6.0F);
  EXPECT_EQ(program.metadata.at("format"), "paddle");
}

class PaddleImporterTest : public FileTest {
 protected:
  void Write(const std::string& name, const std::string& bytes) { WriteText(Path(name), bytes); }
};

TEST_F(PaddleImporterTest, FromMemory) { ExpectLinear(ImportBytes(Linear().Bytes(), LinearParams())); }

TEST_F(PaddleImporterTest, WhateverProto2Allows) {
  for (const bool packed : {false, true}) {
    for (const bool shuffled : {false, true}) {
      TestModel model = Linear();
      model.packed = packed;
      model.shuffled = shuffled;
      // A program that does not begin with a block is recognised by the file's name.
      ExpectLinear(ImportModel(InMemory("a.pdmodel", model.Bytes()), InMemory("a.pdiparams", LinearParams())));
    }
  }
}

TEST_F(PaddleImporterTest, FoldersInEveryForm) {
  const std::vector<std::pair<std::string, std::string>> forms = {{"model.pdmodel", "model.pdiparams"},
                                                                  {"inference.pdmodel", "inference.pdiparams"},
                                                                  {"__model__", "__params__"},
                                                                  {"__model__", "params"},
                                                                  {"model", "params"},
                                                                  {"model", "weights"},
                                                                  {"other.pdmodel", "other.pdiparams"}};
  for (const auto& [model, params] : forms) {
    SCOPED_TRACE(model + " and " + params);
    std::filesystem::remove_all(Path("m"));
    std::filesystem::create_directory(Path("m"));
    Write("m/" + model, Linear().Bytes());
    Write("m/" + params, LinearParams());
    ExpectLinear(ImportModel(Path("m")));
    ExpectLinear(ImportModel(Path("m/" + model)));
  }
  // Parameters elsewhere.
  std::filesystem::remove_all(Path("m"));
  Write("a", Linear().Bytes());
  Write("b", LinearParams());
  ExpectLinear(ImportModel(Path("a"), Path("b")));
}

TEST_F(PaddleImporterTest, OneFilePerParameter) {
  TestModel model = Linear();
  for (TestVar& var : model.blocks[0].vars) {
    if (var.name == "w") var.name = "fc/w@0";
  }
  model.blocks[0].ops[1].inputs[1].second = {"fc/w@0"};
  std::filesystem::create_directory(Path("fc"));
  Write("__model__", model.Bytes());
  Write("b", ParamRecord({2}, FloatBytes({0.5F, -0.5F})));
  const Error missing = ErrorOf([&] { ImportModel(folder()); });
  EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
  EXPECT_NE(std::string(missing.what()).find("fc/w@0"), std::string::npos) << missing.what();
  Write("fc/w@0", ParamRecord({3, 2}, FloatBytes({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(ImportModel(folder()).weights.at("fc/w@0").data<float>()[5], 6.0F);
}

TEST_F(PaddleImporterTest, ParametersDoNotLeadOutOfTheFolder) {
  for (const char* name : {"../secret", "/etc/passwd", "a/../../secret"}) {
    TestModel model = Linear();
    for (TestVar& var : model.blocks[0].vars) {
      if (var.name == "w") var.name = name;
    }
    model.blocks[0].ops[1].inputs[1].second = {name};
    Write("__model__", model.Bytes());
    Write("b", ParamRecord({2}, FloatBytes({0.5F, -0.5F})));
    const Error error = ErrorOf([&] { ImportModel(folder()); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
  }
}

TEST_F(PaddleImporterTest, MissingParametersSayWhatWasLookedFor) {
  Write("inference.pdmodel", Linear().Bytes());
  const Error error = ErrorOf([&] { ImportModel(folder()); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_NE(error.message().find("inference.pdiparams"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("'b'"), std::string::npos) << error.message();
}

TEST_F(PaddleImporterTest, SwappedFilesAreTold) {
  const Error error = ErrorOf([&] { ImportBytes(LinearParams(), Linear().Bytes()); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
  const Error twice = ErrorOf([&] { ImportBytes(Linear().Bytes(), Linear().Bytes()); });
  EXPECT_EQ(twice.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(twice.message().find("swapped"), std::string::npos) << twice.message();
}

TEST_F(PaddleImporterTest, ParametersOfAnotherModelAreTold) {
  const auto error_of = [](const std::string& params) {
    return ErrorOf([&] { ImportBytes(Linear().Bytes(), params); });
  };
  const std::string b = ParamRecord({2}, FloatBytes({0.5F, -0.5F}));
  const std::string w = ParamRecord({3, 2}, FloatBytes({1, 2, 3, 4, 5, 6}));
  const Error order = error_of(w + b);
  EXPECT_EQ(order.code(), ErrorCode::kCorrupt);
  EXPECT_NE(order.message().find("parameter 'b'"), std::string::npos) << order.message();
  EXPECT_NE(order.message().find("expected shape [2], found [3,2]"), std::string::npos) << order.message();
  const Error type = error_of(ParamRecord({2}, std::string(4, '\0'), 4) + w);
  EXPECT_NE(type.message().find("expected type f32, found f16"), std::string::npos) << type.message();
  EXPECT_NE(error_of(b + w + b).message().find("bytes more"), std::string::npos);
  EXPECT_NE(error_of(b).message().find("parameter 'w'"), std::string::npos);
}

TEST_F(PaddleImporterTest, WeightsShareTheFileWhereTheyCan) {
  TestModel model = Linear();
  const std::string params = LinearParams();
  const FileBytes file = InMemory("params", params);
  const Program program = ImportModel(InMemory("model", model.Bytes()), file);
  for (const auto& [name, weight] : program.weights) {
    const auto* data = static_cast<const std::byte*>(weight.raw_data());
    const bool shared = data >= file.data.data() && data < file.data.data() + file.data.size();
    const size_t in_file = params.find(std::string(static_cast<const char*>(weight.raw_data()), weight.nbytes()));
    EXPECT_EQ(shared, (reinterpret_cast<uintptr_t>(file.data.data()) + in_file) % sizeof(float) == 0) << name;
  }
}

TEST_F(PaddleImporterTest, InputsAndOutputsGoByColumn) {
  TestModel model;
  for (const char* name : {"a", "b", "s", "p"}) model.AddVar(name, {2});
  model.AddOp({"feed", {{"X", {"feed"}}}, {{"Out", {"b"}}}, {{"col", 1}}});
  model.AddOp({"feed", {{"X", {"feed"}}}, {{"Out", {"a"}}}, {{"col", 0}}});
  model.AddOp({"elementwise_add", {{"X", {"a"}}, {"Y", {"b"}}}, {{"Out", {"s"}}}, {}});
  model.AddOp({"elementwise_mul", {{"X", {"a"}}, {"Y", {"b"}}}, {{"Out", {"p"}}}, {}});
  model.AddOp({"fetch", {{"X", {"s"}}}, {{"Out", {"fetch"}}}, {{"col", 1}}});
  model.AddOp({"fetch", {{"X", {"p"}}}, {{"Out", {"fetch"}}}, {{"col", 0}}});
  const Program program = ImportBytes(model.Bytes());
  EXPECT_EQ(program.main().inputs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(program.main().outputs, (std::vector<std::string>{"p", "s"}));
}

// Paddle writes this where a network gives one of its values twice.
TEST_F(PaddleImporterTest, AnOutputThatIsThereTwiceHasTwoNames) {
  TestModel model;
  model.AddInput("x", {2});
  for (const char* name : {"x", "x.1", "x"}) model.AddOutput(name);
  model.AddVar("x.1", {2});
  model.blocks[0].ops.insert(model.blocks[0].ops.begin() + 1, {"relu", {{"X", {"x"}}}, {{"Out", {"x.1"}}}, {}});
  EXPECT_EQ(ImportBytes(model.Bytes()).main().output_names, (std::vector<std::string>{"x", "x.1", "x.2"}));
}

// What is there twice: one of both would silently be the only one.
TEST_F(PaddleImporterTest, WhatMayBeThereOnceOnly) {
  const auto error_of = [](const TestModel& model) {
    const Error error = ErrorOf([&] { ImportBytes(model.Bytes(), LinearParams()); });
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    return std::string(error.what());
  };
  const auto with = [](const std::function<void(TestModel*)>& change) {
    TestModel model = Linear();
    change(&model);
    return model;
  };
  EXPECT_NE(error_of(with([](TestModel* m) {
              auto& inputs = m->blocks[0].ops[1].inputs;
              inputs.push_back(inputs[0]);
            })).find("block 0, operator 1 ('matmul_v2') has input 'X' twice"),
            std::string::npos);
  EXPECT_NE(error_of(with([](TestModel* m) {
              auto& attrs = m->blocks[0].ops[1].attrs;
              attrs.push_back(attrs[0]);
            })).find("twice"),
            std::string::npos);
  EXPECT_NE(error_of(with([](TestModel* m) { m->AddVar("x", {1}); })).find("block 0 has variable 'x' twice"),
            std::string::npos);
  EXPECT_NE(error_of(with([](TestModel* m) {
              m->AddOp({"fetch", {{"X", {"x"}}}, {{"Out", {"fetch"}}}, {{"col", 0}}});
            })).find("is for column 0, as "),
            std::string::npos);
  EXPECT_NE(error_of(with([](TestModel* m) {
              m->AddOp({"fetch", {{"X", {"x"}}}, {{"Out", {"fetch"}}}, {{"col", 1.0F}}});
            })).find("col is not an integer"),
            std::string::npos);
}

TEST_F(PaddleImporterTest, VariablesMayBeAssignedTwice) {
  TestModel model;
  model.AddInput("x", {2});
  model.AddVar("y", {2});
  model.AddOp({"relu", {{"X", {"x"}}}, {{"Out", {"y"}}}, {}});
  model.AddOp({"exp", {{"X", {"y"}}}, {{"Out", {"y"}}}, {}});
  model.AddOp({"tanh", {{"X", {"y"}}}, {{"Out", {"x"}}}, {}});
  model.AddOutput("x");
  const Program program = ImportBytes(model.Bytes());
  ASSERT_EQ(program.main().ops.size(), 3U);
  EXPECT_EQ(FindOp(program, "exp").Input("x"), FindOp(program, "relu").Output("out"));
  EXPECT_EQ(FindOp(program, "tanh").Input("x"), FindOp(program, "exp").Output("out"));
  EXPECT_EQ(program.main().outputs, FindOp(program, "tanh").Output("out"));
  EXPECT_EQ(program.main().output_names, std::vector<std::string>{"x"});
}

TEST_F(PaddleImporterTest, EveryUnsupportedOperatorIsReported) {
  TestModel model = Linear();
  model.AddOp({"no_such_op", {{"X", {"y"}}}, {{"Out", {"z"}}}, {}});
  model.AddOp({"relu", {{"X", {"z"}}}, {{"Out", {"z2"}}}, {}});
  model.AddOp({"nor_this", {{"X", {"z2"}}}, {{"Out", {"z3"}}}, {}});
  model.AddOp({"no_such_op", {{"X", {"z3"}}}, {{"Out", {"z4"}}}, {}});
  model.AddOp({"some_loop", {{"Condition", {"z4"}}}, {}, {{"sub_block", TestBlockRef{1}}}});
  model.AddOp({"inner_op", {}, {}, {}}, 1);
  const Error error = ErrorOf([&] { ImportBytes(model.Bytes(), LinearParams()); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  for (const char* part :
       {"'no_such_op' (2 places", "'nor_this' (1 place", "'some_loop'", "'inner_op' (1 place: block 1, number 0"}) {
    EXPECT_NE(error.message().find(part), std::string::npos) << part << " in " << error.message();
  }
}

TEST_F(PaddleImporterTest, AContradictionNamesTheOperator) {
  TestModel model = Linear();
  model.blocks[0].ops[1].attrs[1].second = true;  // transposes y
  const Error error = ErrorOf([&] { ImportBytes(model.Bytes(), LinearParams()); });
  EXPECT_NE(std::string(error.what()).find("operator 'matmul_v2' named 'xw' (block 0, number 1)"), std::string::npos)
      << error.what();
  model = Linear();
  model.blocks[0].ops[2].inputs[0].second = {"nowhere"};
  const Error unset = ErrorOf([&] { ImportBytes(model.Bytes(), LinearParams()); });
  EXPECT_EQ(unset.code(), ErrorCode::kCorrupt);
  EXPECT_NE(unset.message().find("'nowhere'"), std::string::npos) << unset.message();
}

TEST_F(PaddleImporterTest, AnAbsentElementOfAListIsAnError) {
  // By a rule (or a converter), and one that is absent as a whole.
  for (const char* type : {"sum", "multi_dot", "concat", "stack"}) {
    const auto error_of = [&](const std::vector<std::string>& values) {
      TestModel model;
      model.AddInput("x", {2, 2});
      model.AddOp({type, {{"X", values}}, {{"Out", {"y"}}, {"Y", {"y"}}}, {{"axis", 0}}});
      model.AddOutput("y");
      EXPECT_THROW(ImportBytes(model.Bytes()), Error) << type;
      return ErrorOf([&] { ImportBytes(model.Bytes()); }).message();
    };
    const std::string hole = error_of({"x", "@EMPTY@", "x"});
    EXPECT_NE(hole.find("element 1 of the 3 in input 'X' is missing"), std::string::npos) << hole;
    error_of({"@EMPTY@"});
    error_of({});
  }
}

TEST_F(PaddleImporterTest, TruncatedAndChangedBytesAreErrors) {
  const std::string model = Linear().Bytes();
  const std::string params = LinearParams();
  size_t errors = 0;
  const auto import = [&](const std::string& m, const std::string& p) {
    try {
      ImportModel(InMemory("a.pdmodel", m), InMemory("a.pdiparams", p));
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
      ++errors;
    }
  };
  for (size_t i = 0; i < model.size(); ++i) import(model.substr(0, i), params);
  EXPECT_GE(errors, model.size() - 8);  // the version at the end may be missing
  errors = 0;
  for (size_t i = 0; i < params.size(); ++i) import(model, params.substr(0, i));
  EXPECT_EQ(errors, params.size());
  for (size_t i = 0; i < model.size() * 8; ++i) {
    std::string changed = model;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << (i % 8)));
    import(changed, params);
  }
  for (size_t i = 0; i < params.size() * 8; ++i) {
    std::string changed = params;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << (i % 8)));
    import(model, changed);
  }
}

TEST_F(PaddleImporterTest, HugeCountsAreErrors) {
  const auto code_of = [](const std::string& params) {
    return ErrorOf([&] { ImportBytes(Linear().Bytes(), params); }).code();
  };
  std::string lod = LinearParams();
  lod.replace(4, 8, "\xff\xff\xff\xff\xff\xff\xff\x7f");
  EXPECT_EQ(code_of(lod), ErrorCode::kCorrupt);
  std::string desc = LinearParams();
  desc.replace(16, 4, "\xff\xff\xff\x7f");
  EXPECT_EQ(code_of(desc), ErrorCode::kCorrupt);
  TestModel model;
  constexpr int64_t kHuge = int64_t{1} << 62;
  model.AddInput("x", {2});
  model.AddParam("w", {kHuge, kHuge});
  model.AddVar("y", {2});
  model.AddOp({"elementwise_add", {{"X", {"x"}}, {"Y", {"w"}}}, {{"Out", {"y"}}}, {}});
  model.AddOutput("y");
  EXPECT_EQ(ErrorOf([&] { ImportBytes(model.Bytes(), ParamRecord({kHuge, kHuge}, "")); }).code(), ErrorCode::kCorrupt);
  EXPECT_EQ(ErrorOf([&] {
              ImportBytes(model.Bytes(), ParamRecord({kHuge, kHuge}, "", 33));
            }).code(),
            ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace wherry::paddle
