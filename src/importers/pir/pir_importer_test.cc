#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file_test_util.h"
#include "importer/importer.h"
#include "importers/paddle/model_test_util.h"
#include "importers/pir/pir_program.h"

namespace wherry::pir {
namespace {

using Json = nlohmann::json;
using paddle::FindOp;
using paddle::FloatBytes;
using paddle::ImportBytes;
using paddle::InMemory;
using paddle::ParamRecord;

Json Tensor(const std::string& dtype, const std::vector<int64_t>& dims) {
  return {{"#", "0.t_dtensor"}, {"D", {{{"#", "0." + dtype}}, dims, "NCHW", Json::array(), 0}}};
}
Json Vector(const std::vector<Json>& types) { return {{"#", "0.t_vec"}, {"D", types}}; }
Json Result(int64_t id, const Json& type) { return {{"%", id}, {"TT", type}}; }
Json Attr(const std::string& name, const std::string& type, const Json& value) {
  return {{"N", name}, {"AT", {{"#", type}, {"D", value}}}};
}
Json Op(const std::string& name, const std::vector<int64_t>& operands, const std::vector<Json>& results,
        const std::vector<Json>& attrs = {}) {
  Json ids = Json::array();
  for (const int64_t id : operands) ids.push_back({{"%", id}});
  return {{"#", name}, {"I", ids}, {"O", results}, {"A", attrs}, {"OA", Json::array()}};
}
Json Data(int64_t id, const std::string& name, const std::vector<int64_t>& dims, const std::string& dtype = "t_f32") {
  return Op("1.data", {}, {Result(id, Tensor(dtype, dims))},
            {Attr("name", "0.a_str", name), Attr("dtype", "1.a_dtype", "float32")});
}
Json Param(int64_t id, const std::string& name, const std::vector<int64_t>& dims) {
  return {{"#", "p"}, {"A", {0, 1, 1, name}}, {"O", Result(id, Tensor("t_f32", dims))}};
}
Json Fetch(int64_t operand, const std::string& name, int64_t col = 0) {
  return Op("1.fetch", {operand}, {Result(1000 + col, Tensor("t_f32", {}))},
            {Attr("name", "0.a_str", name), Attr("col", "0.a_i32", col)});
}
Json Ints(int64_t id, const std::vector<int64_t>& values) {
  Json items = Json::array();
  for (const int64_t value : values) items.push_back({{"#", "0.a_i64"}, {"D", value}});
  return Op("1.full_int_array", {}, {Result(id, Tensor("t_i64", {static_cast<int64_t>(values.size())}))},
            {Attr("value", "0.a_array", items), Attr("dtype", "1.a_dtype", "int64")});
}
Json Full(int64_t id, double value, const std::string& dtype = "float32") {
  return Op("1.full", {}, {Result(id, Tensor("t_f32", {1}))},
            {Attr("shape", "1.a_intarray", {1}), Attr("value", "0.a_f64", value), Attr("dtype", "1.a_dtype", dtype)});
}
Json Region(const std::vector<Json>& ops) {
  return {{"#", "region"}, {"blocks", {{{"#", "block"}, {"args", Json::array()}, {"ops", ops}}}}};
}
Json Root(const std::vector<Json>& ops, int64_t version = 4) {
  return {{"base_code", {{"magic", "pir"}, {"trainable", true}, {"version", version}}},
          {"program", {{"regions", {Region(ops)}}}}};
}
wherry::Program Import(const std::vector<Json>& ops, const std::string& params = "") {
  return ImportBytes(Root(ops).dump(), params);
}

const Json kFloat2 = Tensor("t_f32", {2});
const std::vector<Json> kScaleAttrs = {Attr("bias", "0.a_f32", 2.0), Attr("bias_after_scale", "0.a_bool", true)};

TEST(PirImporter, ALinearLayer) {
  const std::vector<Json> ops = {Param(1, "w", {3, 2}),
                                 Param(2, "b", {2}),
                                 Data(3, "x", {-1, 3}),
                                 Op("1.matmul", {3, 1}, {Result(4, Tensor("t_f32", {-1, 2}))},
                                    {Attr("transpose_x", "0.a_bool", false), Attr("transpose_y", "0.a_bool", false)}),
                                 Op("1.add", {4, 2}, {Result(5, Tensor("t_f32", {-1, 2}))}),
                                 Fetch(5, "out")};
  const std::string params = ParamRecord({2}, FloatBytes({1, 2})) + ParamRecord({3, 2}, FloatBytes({1, 2, 3, 4, 5, 6}));
  for (const int indent : {-1, 2}) {  // pretty-printed too
    const wherry::Program program = ImportBytes(Root(ops).dump(indent), params);
    EXPECT_EQ(program.main().inputs, std::vector<std::string>{"x"});
    EXPECT_EQ(program.main().output_names, std::vector<std::string>{"out"});
    EXPECT_EQ(FindOp(program, "matmul").Input("y"), std::vector<std::string>{"w"});
    EXPECT_EQ(FindOp(program, "add").Input("y"), std::vector<std::string>{"b"});
    EXPECT_EQ(program.weights.at("w").data<float>()[4], 5.0F);
    EXPECT_EQ(program.metadata.at("format"), "pir");
  }
  EXPECT_EQ(ErrorOf([&] { Import(ops); }).code(), ErrorCode::kNotFound);
  EXPECT_EQ(ErrorOf([&] { Import(ops, params + "x"); }).code(), ErrorCode::kCorrupt);
}

// normalized_shape says over how many axes, from the last.
TEST(PirImporter, RootMeanSquaresOfTheLastAxes) {
  const Json type = Tensor("t_f32", {2, 3, 4});
  for (const int64_t axes : {1, 2}) {
    Json shape = Json::array();
    for (int64_t i = 3 - axes; i < 3; ++i) shape.push_back(i + 2);
    const wherry::Program program =
        Import({Data(1, "x", {2, 3, 4}), Data(2, "s", axes == 1 ? std::vector<int64_t>{4} : std::vector<int64_t>{3, 4}),
                Op("1.rms_norm", {1, 2}, {Result(3, type), Result(4, Tensor("t_f32", {2, 3}))},
                   {Attr("normalized_shape", "1.a_intarray", shape), Attr("epsilon", "0.a_f64", 1e-5)}),
                Fetch(3, "out")});
    const OpDesc& norm = FindOp(program, "rms_norm");
    EXPECT_EQ(norm.GetAttr<int>("begin_norm_axis"), -axes);
    EXPECT_EQ(norm.GetAttr<double>("epsilon"), 1e-5);
    EXPECT_EQ(norm.Input("scale"), std::vector<std::string>{"s"});
  }
}

TEST(PirImporter, VersionsUpToTheNewest) {
  const std::vector<Json> ops = {Data(1, "x", {2}), Op("1.relu", {1}, {Result(2, kFloat2)}), Fetch(2, "out")};
  for (int64_t version = 0; version <= kNewestVersion; ++version)
    EXPECT_NO_THROW(ImportBytes(Root(ops, version).dump()));
  const Error error = ErrorOf([&] { ImportBytes(Root(ops, kNewestVersion + 1).dump()); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_NE(error.message().find("version 5"), std::string::npos) << error.message();
}

TEST(PirImporter, ConstantOperandsBecomeAttributes) {
  const wherry::Program program =
      Import({Data(1, "x", {2, 6}), Ints(2, {3, -1}), Op("1.reshape", {1, 2}, {Result(3, Tensor("t_f32", {3, 4}))}),
              Full(4, 0.5), Op("1.scale", {3, 4}, {Result(5, Tensor("t_f32", {3, 4}))}, kScaleAttrs), Fetch(5, "out")});
  EXPECT_EQ(FindOp(program, "reshape").GetAttr<IntArray>("shape"), IntArray({3, -1}));
  EXPECT_EQ(FindOp(program, "scale").GetAttr<Scalar>("scale").to<double>(), 0.5);
  EXPECT_EQ(FindOp(program, "scale").GetAttr<Scalar>("bias").to<double>(), 2.0);
  EXPECT_TRUE(program.weights.empty());
}

TEST(PirImporter, VectorsArePutTogetherAndTakenApart) {
  const wherry::Program program =
      Import({Data(1, "x", {4, 2}), Full(2, 0, "int32"),
              Op("1.split_with_num", {1, 2}, {Result(3, Vector({Tensor("t_f32", {2, 2}), Tensor("t_f32", {2, 2})}))},
                 {Attr("num", "0.a_i32", 2)}),
              Op("0.split", {3}, {Result(4, Tensor("t_f32", {2, 2})), Result(5, Tensor("t_f32", {2, 2}))}),
              Op("0.slice", {3}, {Result(6, Tensor("t_f32", {2, 2}))}, {Attr("index", "0.a_i32", 1)}),
              Op("0.combine", {5, 4, 6}, {Result(7, Vector({}))}),
              Op("1.concat", {7, 2}, {Result(8, Tensor("t_f32", {6, 2}))}), Fetch(8, "out")});
  const auto& parts = FindOp(program, "split").Output("out");
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(FindOp(program, "concat").Input("x"), (std::vector<std::string>{parts[1], parts[0], parts[1]}));
}

TEST(PirImporter, OutputsGoByColumnAndAbsentOperandsAreAbsent) {
  const wherry::Program program = Import({Data(1, "x", {2, 3}),
                                          Op("1.layer_norm", {1, 0, 0},
                                             {Result(2, Tensor("t_f32", {2, 3})),
                                              {{"%", 0}, {"TT", {{"#", "NULL"}}}},
                                              {{"%", 0}, {"TT", {{"#", "NULL"}}}}},
                                             {Attr("epsilon", "0.a_f32", 1e-5), Attr("begin_norm_axis", "0.a_i32", 1)}),
                                          Fetch(2, "second", 1), Fetch(1, "first", 0)});
  EXPECT_EQ(program.main().output_names, (std::vector<std::string>{"first", "second"}));
  EXPECT_FALSE(FindOp(program, "layer_norm").HasInput("scale"));
}

TEST(PirImporter, OperatorsThatWriteTheirOperands) {
  const wherry::Program program =
      Import({Data(1, "x", {2}), Op("1.relu", {1}, {Result(2, kFloat2)}),
              Op("1.increment_", {2}, {Result(3, kFloat2)}, {Attr("value", "0.a_f32", 1.0)}),
              Op("1.exp_", {2}, {Result(4, kFloat2)}), Op("1.tanh", {2}, {Result(5, kFloat2)}), Fetch(5, "out")});
  EXPECT_EQ(FindOp(program, "exp").Input("x"), FindOp(program, "scale").Output("out"));
  EXPECT_EQ(FindOp(program, "tanh").Input("x"), FindOp(program, "exp").Output("out"));
}

TEST(PirImporter, NumbersThatAreNone) {
  const auto value_of = [](const std::string& text) {
    Json op = Full(1, 0.0);
    op["A"][1] = {{"N", "value"}, {"AT", {{"#", "0.a_f64"}, {"VD", text}}}};
    const wherry::Program program = Import({op, Fetch(1, "out")});
    EXPECT_EQ(program.weights.size(), 1U);
    return program.weights.begin()->second.data<float>()[0];
  };
  EXPECT_TRUE(std::isnan(value_of("NaN")));
  EXPECT_TRUE(std::isnan(value_of("NAN")));
  EXPECT_EQ(value_of("INF"), std::numeric_limits<float>::infinity());
  EXPECT_EQ(value_of("-INF"), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(ErrorOf([&] { value_of("none"); }).code(), ErrorCode::kCorrupt);
}

// A value that is there but cannot be read is not as if it were absent, nor is one that must be there.
TEST(PirImporter, AttributesThatAreNone) {
  const auto error_of = [](const Json& op) {
    return ErrorOf([&] { Import({Data(1, "x", {2, 3}), op, Fetch(2, "out")}); }).message();
  };
  const std::vector<Json> result = {Result(2, Tensor("t_f32", {2}))};
  const Json axis = Attr("axis", "0.a_array", {{{"#", "0.a_i64"}, {"D", 1}}});
  const std::string unknown =
      error_of(Op("1.any", {1}, result, {axis, Attr("keepdim", "7.a_of_a_later_paddle", true)}));
  EXPECT_NE(unknown.find("keepdim: expected bool, got a value of a type that Wherry does not read"), std::string::npos)
      << unknown;
  const std::string wide = error_of(Op("1.unstack", {1}, result, {Attr("axis", "0.a_i32", int64_t{1} << 32)}));
  EXPECT_NE(wide.find("4294967296"), std::string::npos) << wide;
  Json full = Full(2, 1.0);
  full["A"].erase(1);
  EXPECT_NE(error_of(full).find("attribute value is missing"), std::string::npos) << error_of(full);
}

Json If(int64_t cond, int64_t result, const std::vector<Json>& yes, const std::vector<Json>& no) {
  Json op = Op("1.if", {cond}, {Result(result, kFloat2)});
  op["regions"] = {Region(yes), Region(no)};
  return op;
}

TEST(PirImporter, BranchesCaptureWhatTheyUse) {
  const wherry::Program program =
      Import({Data(1, "c", {1}, "t_bool"), Data(2, "x", {2}), Data(3, "y", {2}),
              If(1, 9, {Op("1.relu", {2}, {Result(4, kFloat2)}), Op("2.yield", {4}, {})},
                 {If(1, 6, {Op("2.yield", {3}, {})}, {Op("1.exp", {3}, {Result(5, kFloat2)}), Op("2.yield", {5}, {})}),
                  Op("2.yield", {6}, {})}),
              Fetch(9, "out")});
  const OpDesc& op = FindOp(program, "if");
  EXPECT_EQ(op.Input("captures"), (std::vector<std::string>{"x", "c", "y"}));
  EXPECT_EQ(program.blocks.size(), 5U);
  EXPECT_EQ(program.main().outputs, op.Output("out"));
}

// An array that is written inside is carried too.
TEST(PirImporter, LoopsCarryWhatTheirBlockWrites) {
  const Json array = Json::parse(R"({"#": "1.t_dense_tensor_array", "D": [{"#": "0.t_f32"}, [2], "NCHW"]})");
  Json loop = Op("1.while", {1, 2}, {Result(4, kFloat2)});
  loop["regions"] = Json::array({Region({Op("1.array_length", {3}, {Result(5, Tensor("t_i64", {1}))}),
                                         Op("1.array_write_", {3, -1, 5}, {Result(6, array)}),
                                         Op("1.relu", {-1}, {Result(7, kFloat2)}), Op("2.yield", {1, 7}, {})})});
  loop["regions"][0]["blocks"][0]["args"] = Json::array({{{"#", -1}, {"TT", kFloat2}}});
  const wherry::Program program =
      Import({Data(1, "c", {1}, "t_bool"), Data(2, "x", {2}), Op("1.create_array", {}, {Result(3, array)}), loop,
              Op("1.array_to_tensor", {3}, {Result(8, kFloat2), Result(9, Tensor("t_i32", {1}))},
                 {Attr("axis", "0.a_i32", 0), Attr("use_stack", "0.a_bool", false)}),
              Fetch(8, "out")});
  const OpDesc& op = FindOp(program, "loop");
  EXPECT_EQ(op.Input("carried").size(), 2U);
  EXPECT_EQ(op.Input("captures"), (std::vector<std::string>{"c"}));
  EXPECT_EQ(FindOp(program, "sequence_concat").Input("sequence")[0], op.Output("finals")[1]);
}

TEST(PirImporter, EveryUnsupportedOperatorIsReported) {
  Json loop = Op("1.some_loop", {1}, {Result(4, kFloat2)});
  loop["regions"] = Json::array({Region({Op("1.inner_op", {2}, {Result(5, kFloat2)}), Op("2.yield", {5}, {})})});
  const std::vector<Json> ops = {
      Data(1, "c", {1}, "t_bool"),
      Data(2, "x", {2}),
      Op("1.no_such_op", {2}, {Result(3, kFloat2)}),
      Op("1.relu", {3}, {Result(6, kFloat2)}),
      loop,
      Op("onednn_op.thing", {6}, {Result(7, kFloat2)}),
      If(1, 8, {Op("1.and_this", {2}, {Result(9, kFloat2)}), Op("2.yield", {9}, {})}, {Op("2.yield", {2}, {})}),
      Fetch(8, "out")};
  const Error error = ErrorOf([&] { Import(ops); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  for (const char* part : {"'no_such_op'", "'some_loop'", "'inner_op'", "'onednn_op.thing'", "'and_this'"}) {
    EXPECT_NE(error.message().find(part), std::string::npos) << part << " in " << error.message();
  }
  EXPECT_EQ(error.message().find("'relu'"), std::string::npos);
}

TEST(PirImporter, ContradictionsNameTheOperator) {
  const auto error_of = [](const std::vector<Json>& ops) { return ErrorOf([&] { Import(ops); }); };
  const Error unset = error_of({Data(1, "x", {2}), Op("1.relu", {7}, {Result(2, kFloat2)}), Fetch(2, "out")});
  EXPECT_EQ(unset.code(), ErrorCode::kCorrupt);
  EXPECT_NE(std::string(unset.what()).find("operator 'relu' named 'relu_2' (block 0, number 1)"), std::string::npos)
      << unset.what();
  EXPECT_EQ(error_of({Data(1, "x", {2})}).code(), ErrorCode::kCorrupt);
  EXPECT_EQ(error_of({Data(1, "c", {1}, "t_bool"), If(1, 2, {Op("2.yield", {}, {})}, {Op("2.yield", {}, {})}),
                      Fetch(2, "out")})
                .code(),
            ErrorCode::kCorrupt);
  EXPECT_EQ(error_of({Data(1, "x", {2}), Op("0.slice", {1}, {Result(2, kFloat2)}, {Attr("index", "0.a_i32", 3)}),
                      Fetch(2, "out")})
                .code(),
            ErrorCode::kCorrupt);
  EXPECT_EQ(error_of({Data(1, "x", {2}), Op("0.slice", {1}, {Result(2, kFloat2)}, {Attr("index", "0.a_i32", 0)}),
                      Fetch(2, "out")})
                .message(),
            "it takes value 1 apart, which is no vector");
  // A parameter in the form of other operators, and a branch that writes a vector without elements.
  const Error form = error_of({Data(1, "x", {2}), Op("0.parameter", {}, {}), Fetch(1, "out")});
  EXPECT_EQ(form.code(), ErrorCode::kCorrupt);
  EXPECT_NE(form.message().find("operator 1 ('0.parameter')"), std::string::npos) << form.message();
  const Error empty =
      error_of({Data(1, "c", {1}, "t_bool"), Data(2, "x", {2}), Op("0.combine", {}, {Result(4, Vector({}))}),
                If(1, 9, {Op("1.array_write_", {4, 2, 2}, {Result(7, Vector({}))}), Op("2.yield", {2}, {})},
                   {Op("2.yield", {2}, {})}),
                Fetch(9, "out")});
  EXPECT_EQ(empty.code(), ErrorCode::kUnsupported);
  Json twice = Param(1, "w", {2});
  Json other = Param(2, "w", {2});
  EXPECT_EQ(error_of({twice, other, Fetch(1, "out")}).code(), ErrorCode::kCorrupt);
}

// Position alone says what an operand or a result is: where one is missing, the others would take its place.
TEST(PirImporter, TheNumbersOfOperandsAndResultsAreChecked) {
  const auto error_of = [](const std::vector<Json>& ops) {
    const Error error = ErrorOf([&] { Import(ops); });
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt) << error.message();
    return std::string(error.what());
  };
  const Json x = Data(1, "x", {2});
  const Json one = Full(2, 1.0);
  const Json result = Result(3, kFloat2);
  const Json indices = Result(4, Tensor("t_i64", {2}));
  // A converter's operator, a rule's, each with too few and too many of both.
  const std::string scale = error_of({x, one, Op("1.scale", {2}, {result}), Fetch(3, "out")});
  EXPECT_NE(scale.find("it has 1 operands and 1 results, expected 2 and 1"), std::string::npos) << scale;
  EXPECT_NE(scale.find("operator 'scale' named 'scale_3' (block 0, number 2)"), std::string::npos) << scale;
  error_of({x, one, Op("1.scale", {1, 2, 2}, {result}), Fetch(3, "out")});
  error_of({x, one, Op("1.scale", {1, 2}, {result, indices}), Fetch(3, "out")});
  error_of({x, one, Op("1.topk", {2}, {result, indices}), Fetch(3, "out")});
  error_of({x, one, Op("1.topk", {1, 2}, {indices}), Fetch(4, "out")});
  error_of({x, one, Op("1.topk", {1, 2, 0}, {result, indices}), Fetch(3, "out")});
  error_of({x, one, Op("1.exp_", {1, 2}, {result}), Fetch(3, "out")});
  error_of({x, Op("0.split", {1, 1}, {result}), Fetch(3, "out")});
  error_of({x, Op("1.fetch", {1, 1}, {result})});
}

// The format writes all attributes and all operands that stand for attributes; a default would be a guess.
TEST(PirImporter, WhatIsAlwaysThereHasNoDefault) {
  const auto error_of = [](const Json& op) {
    const Error error = ErrorOf([&] { Import({Data(1, "x", {2, 3}), Full(2, 1.0), op, Fetch(3, "out")}); });
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt) << error.message();
    return error.message();
  };
  const std::vector<Json> result = {Result(3, Tensor("t_f32", {2, 3}))};
  const std::vector<Json> keepdim = {Attr("keepdim", "0.a_bool", false)};
  // A rule's attribute and operand, a converter's attribute and operand.
  EXPECT_EQ(error_of(Op("1.softmax", {1}, result)), "attribute axis is missing");
  EXPECT_EQ(error_of(Op("1.topk", {1, 0}, {result[0], Result(4, Tensor("t_i64", {2, 3}))})), "input 1 is missing");
  EXPECT_EQ(error_of(Op("1.amax", {1}, result, keepdim)), "attribute axis is missing");
  EXPECT_EQ(error_of(Op("1.scale", {1, 0}, result, kScaleAttrs)), "input 1 is missing");
  EXPECT_EQ(error_of(Op("1.mean", {1, 0}, result, keepdim)), "input 1 is missing");
  EXPECT_EQ(error_of(Op("1.conv2d", {1, 2}, result)), "attribute data_format is missing");
  // It writes its operand.
  const Json absent = {{"%", 0}, {"TT", {{"#", "NULL"}}}};
  EXPECT_EQ(error_of(Op("1.increment_", {1}, {absent}, {Attr("value", "0.a_f32", 1.0)})),
            "it writes an operand, but has no result");
}

TEST(PirImporter, AttributesOfInputsAndOutputsOfAnotherType) {
  Json output = Fetch(1, "out");
  output["A"][1] = Attr("col", "0.a_str", "first");
  EXPECT_EQ(ErrorOf([&] { Import({Data(1, "x", {2}), output}); }).message(), "attribute col is of another type");
  Json input = Data(1, "x", {2});
  input["A"][0] = Attr("name", "0.a_i32", 1);
  EXPECT_EQ(ErrorOf([&] { Import({input, Fetch(1, "out")}); }).message(), "attribute name is of another type");
  Json flag = Op("1.any", {1}, {Result(2, kFloat2)}, {Attr("keepdim", "0.a_bool", 5)});
  EXPECT_NE(ErrorOf([&] {
              Import({Data(1, "x", {2}), flag, Fetch(2, "out")});
            })
                .message()
                .find("a bool is 5"),
            std::string::npos);
}

TEST(PirImporter, AnAbsentElementOfAVectorIsAnError) {
  for (const char* type : {"1.add_n", "1.multi_dot", "1.stack"}) {
    const Error error = ErrorOf([&] {
      Import({Data(1, "x", {2, 2}), Op("0.combine", {1, 0, 1}, {Result(2, Vector({}))}),
              Op(type, {2}, {Result(3, Tensor("t_f32", {2, 2}))}, {Attr("axis", "0.a_i32", 0)}), Fetch(3, "out")});
    });
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    EXPECT_NE(error.message().find("element 1 of the 3 in input is missing"), std::string::npos) << error.message();
  }
}

TEST(PirImporter, OutputsOfOneName) {
  // Paddle writes this where a network gives one of its values twice.
  const wherry::Program program = Import({Data(1, "x", {2}), Fetch(1, "x", 0), Fetch(1, "x", 1), Fetch(1, "x.1", 2)});
  EXPECT_EQ(program.main().output_names, (std::vector<std::string>{"x", "x.2", "x.1"}));
  const auto error_of = [](int64_t col) {
    Json second = Fetch(2, "y", 1);
    second["A"][1]["AT"]["D"] = col;
    const Error error = ErrorOf([&] {
      Import({Data(1, "x", {2}), Op("1.relu", {1}, {Result(2, kFloat2)}), Fetch(1, "y", 0), second});
    });
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    return error.message();
  };
  EXPECT_NE(error_of(1).find("two outputs of different values have the name 'y'"), std::string::npos) << error_of(1);
  EXPECT_NE(error_of(0).find("an output before it is for column 0 too"), std::string::npos) << error_of(0);
}

// What is there twice: the second would silently be the only one.
TEST(PirImporter, WhatMayBeThereOnceOnly) {
  const auto error_of = [](const std::vector<Json>& ops) {
    const Error error = ErrorOf([&] { Import(ops); });
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    return error.message();
  };
  const Json x = Data(1, "x", {2});
  const Json relu = Op("1.relu", {1}, {Result(2, kFloat2)});
  const std::string value = error_of({x, relu, relu, Fetch(2, "out")});
  EXPECT_NE(value.find("operator 2 ('1.relu'): an operator before it has made value 2"), std::string::npos) << value;
  const std::string input = error_of({x, Data(2, "x", {2}), Fetch(2, "out")});
  EXPECT_NE(input.find("input 'x' is there twice"), std::string::npos) << input;
  Json attr = Full(2, 1.0);
  attr["A"].push_back(attr["A"][1]);
  EXPECT_NE(error_of({attr, Fetch(2, "out")}).find("attribute 'value' is there twice"), std::string::npos);
  // The end of a branch, and an end outside of one.
  const Json cond = Data(1, "c", {1}, "t_bool");
  const Json yield = Op("2.yield", {2}, {});
  const std::vector<Json> twice = {yield, yield};
  EXPECT_NE(error_of({cond, Data(2, "x", {2}), If(1, 9, twice, {yield}), Fetch(9, "out")}).find("end of a branch"),
            std::string::npos);
  EXPECT_NE(error_of({x, Op("2.yield", {1}, {}), Fetch(1, "out")}).find("end of a branch"), std::string::npos);
}

TEST(PirImporter, VectorsThatAreReadVeryOftenAreRefused) {
  std::vector<Json> ops = {Data(1, "x", {2})};
  ops.push_back(Op("0.combine", std::vector<int64_t>(10000, 1), {Result(2, Vector({}))}));
  for (int64_t i = 0; i < 1000; ++i)
    ops.push_back(Op("0.slice", {2}, {Result(2000 + i, kFloat2)}, {Attr("index", "0.a_i32", 0)}));
  ops.push_back(Fetch(2000, "out"));
  EXPECT_EQ(ErrorOf([&] { Import(ops); }).code(), ErrorCode::kResourceExhausted);
}

TEST(PirImporter, DeepNestingIsRefused) {
  std::string deep = "{\"base_code\":{\"magic\":\"pir\"},\"program\":";
  for (int i = 0; i < 100000; ++i) deep += '[';
  EXPECT_EQ(ErrorOf([&] { ImportBytes(deep); }).code(), ErrorCode::kUnsupported);
}

TEST(PirImporter, TruncatedAndChangedBytesAreErrors) {
  const std::string model =
      Root({Data(1, "c", {1}, "t_bool"), Param(2, "w", {2}), Data(3, "x", {2}),
            Op("1.add", {3, 2}, {Result(4, kFloat2)}), Ints(5, {2, 1}),
            Op("1.reshape", {4, 5}, {Result(6, Tensor("t_f32", {2, 1}))}),
            If(1, 9, {Op("1.relu", {4}, {Result(7, kFloat2)}), Op("2.yield", {7}, {})}, {Op("2.yield", {4}, {})}),
            Fetch(9, "out"), Fetch(6, "flat", 1)})
          .dump();
  const std::string params = ParamRecord({2}, FloatBytes({1, 2}));
  ASSERT_NO_THROW(ImportBytes(model, params));
  size_t errors = 0;
  const auto import = [&](const std::string& m) {
    try {
      ImportBytes(m, params);
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
      ++errors;
    }
  };
  for (size_t i = 0; i < model.size(); ++i) import(model.substr(0, i));
  EXPECT_EQ(errors, model.size());
  for (size_t i = 0; i < model.size(); ++i) {
    for (const char byte : {'0', '9', '-', '"', '[', '}', '\xff'}) {
      std::string changed = model;
      changed[i] = byte;
      import(changed);
    }
  }
}

}  // namespace
}  // namespace wherry::pir
