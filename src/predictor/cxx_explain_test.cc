#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file_test_util.h"
#include "format/wry.h"
#include "ir/fc_program_test_util.h"
#include "ir/text.h"
#include "wherry/explain.h"
#include "wherry/program.h"

namespace wherry {
namespace {

class ExplainTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / ("wherry_explain_test_" + std::to_string(::getpid()) + ".wry"))
                .string();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  CxxConfig Config(const std::string& text) {
    SaveWry(ParseProgram(text), path_);
    CxxConfig config;
    config.set_model_dir(path_);
    config.set_threads(1);
    return config;
  }

 private:
  std::string path_;
};

const PassExplanation& Pass(const ModelExplanation& model, const std::string& name) {
  return *std::find_if(model.passes.begin(), model.passes.end(),
                       [&name](const auto& pass) { return pass.name == name; });
}

TEST_F(ExplainTest, SaysWhatPassesDidAndWhichKernelRuns) {
  const ModelExplanation model = ExplainModel(Config(kFcProgram));
  ASSERT_EQ(model.before.size(), 1U);
  EXPECT_EQ(model.after[0].ops.size(), 1U);
  EXPECT_EQ(model.after[0].ops[0].type, "fc");
  const PassExplanation& fuse = Pass(model, "fc_fuse_pass");
  EXPECT_TRUE(fuse.ran);
  EXPECT_EQ(fuse.matches, 1);
  EXPECT_EQ(fuse.ops_before - fuse.ops_after, 1);
  // mul is gone, and what was an addition is an fc now.
  ASSERT_EQ(fuse.changes.size(), 2U);
  EXPECT_EQ(std::count_if(fuse.changes.begin(), fuse.changes.end(), [](const auto& c) { return c.after.empty(); }), 1);
  ASSERT_EQ(model.ops.size(), 1U);
  const auto picked = std::find_if(model.ops[0].candidates.begin(), model.ops[0].candidates.end(),
                                   [](const auto& candidate) { return candidate.picked; });
  ASSERT_NE(picked, model.ops[0].candidates.end());
  EXPECT_EQ(picked->kernel, model.after[0].ops[0].kernel);
  EXPECT_TRUE(std::any_of(model.ops[0].candidates.begin(), model.ops[0].candidates.end(),
                          [](const auto& candidate) { return !candidate.refusal.empty(); }));
  EXPECT_GT(model.estimated_us, 0);
  EXPECT_EQ(model.measured_us, -1);
}

TEST_F(ExplainTest, TheNextBestCanRun) {
  // Some kernels cost as little, but refuse a stride or a group of all channels.
  const std::string text = ExplainOp(Config(R"(
block main(%x : f32[1,16,32,32], %w : f32[16,16,3,3]) -> (%y) {
  %y = conv2d(x: %x, filter: %w) {strides = [2, 2], paddings = [1, 1]}
}
)"),
                                     "conv2d");
  const std::string before = "; next ";
  const size_t at = text.find(before);
  ASSERT_NE(at, std::string::npos) << text;
  const size_t begin = at + before.size();
  const std::string name = text.substr(begin, text.find(' ', begin) - begin);
  const size_t line = text.find("     " + name + " (");
  ASSERT_NE(line, std::string::npos) << text;
  EXPECT_LT(text.find("): cost", line), text.find('\n', line)) << text;
}

TEST_F(ExplainTest, PlansMemoryForGivenShapesAndMeasures) {
  ExplainOptions options;
  options.shapes = {{"x", Shape{16, 8}}};
  options.measure = true;
  const ModelExplanation model = ExplainModel(Config(R"(
block main(%x : f32[N,8]) -> (%y) {
  %a = exp(x: %x) : f32[N,8]
  %b = cumsum(x: %a) {axis = 0} : f32[N,8]
  %c = cumsum(x: %b) {axis = 0} : f32[N,8]
  %y = softmax(x: %c) : f32[N,8]
}
)"),
                                              options);
  const MemoryExplanation& memory = model.memory;
  ASSERT_EQ(memory.unavailable, "");
  EXPECT_EQ(memory.inputs.at("x"), "f32[16,8]");
  EXPECT_EQ(memory.output_bytes, 16 * 8 * 4);
  EXPECT_GE(memory.arena_bytes, memory.least_bytes);
  EXPECT_EQ(memory.statements.size(), model.after[0].ops.size());
  for (const MemoryValue& value : memory.values) {
    EXPECT_LE(value.offset + value.bytes, memory.arena_bytes) << value.name;
    EXPECT_LE(value.first, value.last) << value.name;
  }
  EXPECT_GT(model.measured_us, 0);
  for (const OpExplanation& op : model.ops) {
    EXPECT_GE(op.measured_us, 0) << op.name;
    for (const CandidateExplanation& candidate : op.candidates)
      EXPECT_EQ(candidate.measured_us >= 0, candidate.refusal.empty()) << op.name << ": " << candidate.kernel;
  }
}

TEST_F(ExplainTest, MeasuresEveryCandidateOfAnOp) {
  ExplainOptions options;
  options.measure = true;
  const CxxConfig config = Config(kFcProgram);
  EXPECT_NE(ExplainOp(config, "fc", options).find(", kernel measured "), std::string::npos);
  EXPECT_EQ(ExplainOp(config, "fc").find("measured"), std::string::npos);
}

TEST_F(ExplainTest, AllThatCannotRunIsListed) {
  const std::vector<std::string> problems = CheckModel(Config(R"(
block main(%x : i64[2]) -> (%z) {
  %y = sin(x: %x)
  %z = cos(x: %y)
}
)"));
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].find("y: "), 0U) << problems[0];
  EXPECT_EQ(problems[1].find("z: "), 0U) << problems[1];
}

TEST_F(ExplainTest, WithoutAPlanItSaysWhy) {
  ExplainOptions options;
  options.shapes = {{"x", Shape{3, 3}}};
  const ModelExplanation model = ExplainModel(Config(kFcProgram), options);
  EXPECT_NE(model.memory.unavailable, "");
  EXPECT_EQ(model.ops.size(), 1U);
}

TEST_F(ExplainTest, NamesMayBeAnything) {
  const std::string json = ToJson(ExplainModel(Config(R"(
block main(%"\xff</script>" : f32[2]) -> (%"__proto__") {
  %"__proto__" = exp(x: %"\xff</script>") : f32[2]
}
)")));
  EXPECT_NE(json.find("\xef\xbf\xbd</script>"), std::string::npos) << json;  // U+FFFD; the page escapes the rest
  EXPECT_EQ(json.find('\xff'), std::string::npos);
}

TEST_F(ExplainTest, SvgEscapesNames) {
  const std::string svg = ShowModel(Config(R"(
block main(%"<b>&\"\x01\xff" : f32[2]) -> (%y) {
  %y = exp(x: %"<b>&\"\x01\xff") : f32[2]
}
)"),
                                    "svg");
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_NE(svg.find("&lt;b&gt;&amp;&quot;"), std::string::npos) << svg;
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
}

TEST_F(ExplainTest, ExplainOpKnowsTypesAndWhatIsGone) {
  const CxxConfig config = Config(kFcProgram);
  EXPECT_NE(ExplainOp(config, "fc").find("  -> "), std::string::npos);
  EXPECT_NE(ExplainOp(config, "m").find("removed by fc_fuse_pass"), std::string::npos);
  EXPECT_EQ(ExplainOp(config, "mul"), "  1 mul taken by fc_fuse_pass\n");
  EXPECT_EQ(ExplainOp(config, "add"), "  1 add taken by fc_fuse_pass, which put fc in their place\n");
  EXPECT_EQ(ExplainOp(config, "fc").find("taken by"), std::string::npos);
}

TEST_F(ExplainTest, WhatIsSuggestedIsTaken) {
  const CxxConfig config = Config(R"(
block main(%x : f32[2,4]) -> (%logits, %upper) {
  %lower = exp(x: %x)
  (out: %upper, indices: %indices) = topk(x: %lower) {k = 2}
  %middle = relu(x: %lower)
  %logits = assign(x: %middle)
}
)");
  const auto suggests = [&config](const std::string& asked, const std::string& expected) {
    const std::string text = ErrorOf([&] { ExplainOp(config, asked); }).what();
    EXPECT_NE(text.find("did you mean '" + expected + "'?"), std::string::npos) << text;
    EXPECT_NE(ExplainOp(config, expected), "");
  };
  suggests("lowr", "lower");
  suggests("indizes", "indices");  // not the first result
  suggests("midle", "middle");     // of an op that is gone
  suggests("top_k", "topk");
  suggests("asign", "assign");  // a type of which none is left
}

TEST_F(ExplainTest, SaysWhatADynamicDimensionCountsAs) {
  const auto explained = [this](const std::string& rows) {
    return ExplainOp(Config("block main(%x : f32[" + rows + ",4]) -> (%y) {\n  %y = cumsum(x: %x)\n}\n"), "y");
  };
  EXPECT_NE(explained("N").find("count a dynamic dimension as 32\n"), std::string::npos) << explained("N");
  EXPECT_EQ(explained("2").find("dynamic"), std::string::npos) << explained("2");
}

}  // namespace
}  // namespace wherry
