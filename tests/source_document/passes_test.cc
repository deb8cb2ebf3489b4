// The document on passes: its snippets in its order, with the includes replaced. "mended": its text is torn there;
// "filled in": it has dots there, or tells in words what is to stand there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <list>
#include <map>

#include "base/error_test_util.h"
#include "format/wry.h"
#include "ir/fc_program_test_util.h"
#include "source_document/fc_fuser.h"
#include "wherry/compat.h"

USE_LITE_PASS(lite_fc_fuse_pass)
USE_MIR_PASS(example_pass)

// clang-format off
namespace paddle {
namespace lite {
namespace mir {
namespace shown {  // Wherry has a PassManager too

class PassManager {
 public:
  // 内部静态变量PassManager，用来存储使用的Pass和图优化操作
  static PassManager& Global() {
    static PassManager x;
    return x;
  }
 // 执行所有的 Pass 
 void Run(const std::unique_ptr<SSAGraph>& graph) {
    for (auto& pass : passes_) {
      LOG(INFO) << "Running MIR pass " << pass->name();
      pass->Apply(graph);
    }
 }  // mended
 // filled in: "adds a new pass to the manager"
 bool AddNewPass(const std::string& name, Pass* pass) {
    passes_.emplace_back(pass);
    pass->set_name(name);
    return pass_map_.emplace(name, pass).second;
 }
 private:
  std::list<std::unique_ptr<mir::Pass>> passes_;  //存储所有的 Pass     (mended)
  std::map<std::string, mir::Pass*> pass_map_;    //使用map变量存储 PassName::Pass
 };  // mended

}  // namespace shown
}  // namespace mir
}  // namespace lite
}  // namespace paddle

namespace paddle {
namespace lite {
namespace mir {
class ExamplePass : public ProgramPass {
  void Apply(const std::unique_ptr<SSAGraph> &graph) override { applied += graph->stmt_count(); }  // filled in
 public:
  static size_t applied;
};
}  // namespace mir
}  // namespace lite
}  // namespace paddle

namespace paddle {
namespace lite {
namespace mir {  // mended
    size_t ExamplePass::applied = 0;  // filled in
}  // namespace mir
}  // namespace lite
}  // namespace paddle
REGISTER_MIR_PASS(example_pass, paddle::lite::mir::ExamplePass)
    .BindTargets({TARGET(kARM)}); // Pass执行的目标硬件平台
    // .BindKernel("conv2d");     //Pass绑定的 kernel
// What its text says of other platforms.
REGISTER_MIR_PASS(example_x86_pass, paddle::lite::mir::ExamplePass)
    .BindTargets({TARGET(kX86)});
REGISTER_MIR_PASS(example_conv2d_pass, paddle::lite::mir::ExamplePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("conv2d");
REGISTER_MIR_PASS(example_no_kernel_pass, paddle::lite::mir::ExamplePass)
    .BindKernel("conv17d");

namespace paddle {
namespace lite {

class Optimizer {
 public:
  void Run(Program&& program,
           const std::vector<Place>& valid_places,
           core::KernelPickFactor kernel_pick_factor,
           const std::vector<std::string>& passes = {}) {
    // filled in
    graph_ = mir::SSAGraph::FromProgram(program.Clone(), valid_places);
    context_.pick_factor = kernel_pick_factor;
    if (passes.empty()) {
      RunPasses(std::vector<std::string>{
          {"lite_fc_fuse_pass",                // the newly registered pass
           "example_pass",                     // filled in
           "argument_type_display_pass"}});
    } else {
      RunPasses(passes);
    }
    exec_scope_ = program.exec_scope();
  }  // mended

  // filled in
  void RunPasses(const std::vector<std::string>& passes) {
    for (const std::string& name : passes) {
      const std::unique_ptr<mir::Pass> pass = mir::PassManager::Global().Create(name);
      if (!SkipReason(*pass, graph_->valid_places()).empty()) continue;
      pass->set_context(&context_);
      pass->Apply(graph_);
    }
  }
  wherry::Program Result() { return mir::SSAGraph::ToProgram(std::move(graph_)); }
  Scope* exec_scope() { return exec_scope_; }

 private:
  PassContext context_;
  std::unique_ptr<mir::SSAGraph> graph_;
  Scope* exec_scope_ = nullptr;
};

}  // namespace lite
}  // namespace paddle

using namespace paddle::lite_api;  // NOLINT
static std::string FLAGS_model_dir;
static std::shared_ptr<PaddlePredictor> made;  // filled in
static void RunModel();

void RunModel() {
  // 1. 创建 CxxConfig
  CxxConfig config;
  config.set_model_dir(FLAGS_model_dir);
  config.set_valid_places(Place{TARGET(kARM), PRECISION(kFloat)});
  // 2. 创建CxxPredictor,该过程包括加载模型和用Pass优化模型
  std::shared_ptr<PaddlePredictor> predictor =        // mended
      CreatePaddlePredictor<CxxConfig>(config);       // mended
  made = predictor;  // filled in
}
// clang-format on

namespace {

using wherry::kFcProgram;
using wherry::ParseProgram;

const std::vector<Place> kX86 = {Place{TARGET(kX86), PRECISION(kFloat)}};

std::vector<std::string> Types(const wherry::Program& program) {
  std::vector<std::string> types;
  for (const OpDesc& op : program.main().ops) types.push_back(op.Type());
  return types;
}

const std::vector<std::string> kFused = {"fc", "relu"};

TEST(PassesDocument, ExamplePassIsSkippedOnX86WithTheReason) {
  using paddle::lite::mir::ExamplePass;
  ExamplePass::applied = 0;
  wherry::Optimizer optimizer;
  optimizer.Run(ParseProgram(kFcProgram), kX86, {},
                {"example_pass", "example_x86_pass", "example_conv2d_pass", "example_no_kernel_pass"});
  const auto& passes = optimizer.report().passes;
  ASSERT_EQ(passes.size(), 4U);
  EXPECT_FALSE(passes[0].ran);
  EXPECT_EQ(passes[0].skipped_because, "its targets {arm} do not meet the valid places {x86/f32/nchw}");
  EXPECT_TRUE(passes[1].ran) << passes[1].skipped_because;
  EXPECT_TRUE(passes[2].ran) << passes[2].skipped_because;
  EXPECT_EQ(passes[3].skipped_because, "the kernel 'conv17d' it is bound to is not registered");
  EXPECT_EQ(ExamplePass::applied, 6U);  // two passes saw three operators
  optimizer.Run(ParseProgram(kFcProgram), {Place{TARGET(kARM), PRECISION(kFloat)}}, {}, {"example_pass"});
  EXPECT_TRUE(optimizer.report().passes[0].ran);
}

TEST(PassesDocument, FcFusePassMakesFcOfMulAndElementwiseAdd) {
  wherry::Optimizer optimizer;
  EXPECT_EQ(Types(optimizer.Run(ParseProgram(kFcProgram), kX86, {}, {"lite_fc_fuse_pass"})), kFused);
  EXPECT_TRUE(optimizer.report().passes[0].changed);
  // By hand.
  auto graph = paddle::lite::mir::SSAGraph::FromProgram(ParseProgram(kFcProgram), kX86);
  paddle::lite::mir::fusion::FcFuser fuser;
  EXPECT_EQ(fuser(graph.get()), 1);
  EXPECT_EQ(fuser(graph.get()), 0);
  graph->Verify();
}

TEST(PassesDocument, TheOptimizerAsItIsShown) {
  for (const bool given : {false, true}) {
    paddle::lite::Program program(ParseProgram(kFcProgram));
    paddle::lite::Optimizer optimizer;
    paddle::lite::core::KernelPickFactor factor;
    factor.ConsiderTarget().ConsiderPrecision();
    optimizer.Run(std::move(program), kX86, factor,
                  given ? std::vector<std::string>{"argument_type_display_pass"} : std::vector<std::string>());
    EXPECT_EQ(Types(optimizer.Result()), given ? (std::vector<std::string>{"mul", "add", "relu"}) : kFused);
    ASSERT_NE(optimizer.exec_scope(), nullptr);
    EXPECT_EQ(optimizer.exec_scope()->Tensor("w")->shape(), wherry::Shape({2, 2}));
  }
}

TEST(PassesDocument, WherrysOptimizerTakesTheDefaultOrTheGivenList) {
  wherry::Optimizer optimizer;
  const auto names = [&optimizer] {
    std::vector<std::string> ran;
    for (const auto& pass : optimizer.report().passes) ran.push_back(pass.name);
    return ran;
  };
  optimizer.Run(ParseProgram(kFcProgram), kX86);
  EXPECT_EQ(names(), wherry::DefaultPipeline());
  EXPECT_EQ(names().back(), "argument_type_display_pass");
  const std::vector<std::string> given = {"argument_type_display_pass", "lite_fc_fuse_pass"};
  optimizer.Run(ParseProgram(kFcProgram), kX86, {}, given);
  EXPECT_EQ(names(), given);
}

// bound_targets_, bound_kernels_, kind_ and name_ are a pass's own.
class LookingPass : public paddle::lite::mir::DebugPass {
 public:
  void Apply(const std::unique_ptr<paddle::lite::mir::SSAGraph>& /*graph*/) override {
    const std::set<TargetType>& targets = bound_targets_;
    seen = name_ + (kind_ == Kind::kDebug ? " debug" : "") + (targets.count(TARGET(kX86)) != 0 ? " x86" : "");
    for (const auto& [kernel, places] : bound_kernels_) seen += " " + kernel;
  }
  static std::string seen;
};
std::string LookingPass::seen;

TEST(PassesDocument, PassesAddedAsObjects) {
  auto& manager = paddle::lite::mir::PassManager::Global();
  auto* looking = new LookingPass;
  looking->BindTargets({TARGET(kX86)});
  looking->BindKernels({{"fc", {Place()}}});
  EXPECT_TRUE(manager.AddNewPass("looking_pass", looking));
  EXPECT_TRUE(manager.AddNewPass("one_more_fc_fuse_pass", new paddle::lite::mir::FcFusePass));
  EXPECT_FALSE(manager.AddNewPass("one_more_fc_fuse_pass", new paddle::lite::mir::FcFusePass)) << "taken";
  auto graph = paddle::lite::mir::SSAGraph::FromProgram(ParseProgram(kFcProgram), kX86);
  manager.Run(graph);
  EXPECT_EQ(LookingPass::seen, "looking_pass debug x86 fc");
  EXPECT_EQ(Types(paddle::lite::mir::SSAGraph::ToProgram(std::move(graph))), kFused);
  // And by their names.
  EXPECT_EQ(Types(wherry::Optimizer().Run(ParseProgram(kFcProgram), kX86, {}, {"one_more_fc_fuse_pass"})), kFused);
}

TEST(PassesDocument, ThePassManagerAsItIsShown) {
  auto& manager = paddle::lite::mir::shown::PassManager::Global();
  EXPECT_TRUE(manager.AddNewPass("lite_fc_fuse_pass", new paddle::lite::mir::FcFusePass));
  auto graph = paddle::lite::mir::SSAGraph::FromProgram(ParseProgram(kFcProgram), kX86);
  manager.Run(graph);
  EXPECT_EQ(Types(paddle::lite::mir::SSAGraph::ToProgram(std::move(graph))), kFused);
}

class PredictorDocument : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / ("wherry_document_" + std::to_string(getpid()))).string();
    wherry::SaveWry(ParseProgram(kFcProgram), path_ + ".wry");  // not optimised
  }
  void TearDown() override {
    std::filesystem::remove(path_ + ".wry");
    std::filesystem::remove(path_ + "_optimised.wry");
  }
  template <typename Predictor>
  static void Check(Predictor&& predictor) {
    const auto input = predictor->GetInput(0);
    input->Resize({1, 2});
    std::fill_n(input->template mutable_data<float>(), 2, 1.0F);
    predictor->Run();
    const auto output = predictor->GetOutput(0);
    EXPECT_EQ(output->template data<float>()[0], 14);
    EXPECT_EQ(output->template data<float>()[1], 26);
  }

  std::string path_;
};

TEST_F(PredictorDocument, RunModel) {
  FLAGS_model_dir = path_ + ".wry";
  RunModel();
  ASSERT_NE(made, nullptr);
  Check(made);
  EXPECT_NE(made->OptimizeReportText().find("fc_fuse_pass"), std::string::npos);
  made = nullptr;
}

TEST_F(PredictorDocument, OnlyACxxPredictorOptimises) {
  CxxConfig config;
  config.set_model_dir(path_ + ".wry");
  config.set_passes_internal({"lite_fc_fuse_pass"});
  const auto cxx = CreatePaddlePredictor<CxxConfig>(config);
  Check(cxx);
  cxx->SaveOptimizedModel(path_ + "_optimised.wry");
  MobileConfig mobile;
  mobile.set_model_from_file(path_ + "_optimised.wry");
  const auto light = CreatePaddlePredictor<MobileConfig>(mobile);
  Check(light);
  EXPECT_EQ(light->OptimizeReportText().find("_pass"), std::string::npos);
  EXPECT_NE(light->ProgramText().find("fc("), std::string::npos);
  mobile.set_model_from_file(path_ + ".wry");
  EXPECT_EQ(CreatePaddlePredictor<MobileConfig>(mobile)->ProgramText().find("fc("), std::string::npos);
}

// CreatePredictor calls Build, which is LoadModel and then optimizer_.Run.
TEST_F(PredictorDocument, BuildIsLoadModelAndOptimizerRun) {
  CxxConfig config;
  config.set_model_dir(path_ + ".wry");
  config.set_passes_internal({"lite_fc_fuse_pass"});
  paddle::lite::CxxPredictor predictor;
  EXPECT_NE(wherry::ErrorText([&] { predictor->Run(); }).find("not built"), std::string::npos);
  predictor.LoadModel(config);
  EXPECT_EQ(Types(predictor.program()), (std::vector<std::string>{"mul", "add", "relu"}));
  EXPECT_EQ(predictor.program().exec_scope()->Tensor("b")->shape(), wherry::Shape({2}));
  predictor.Build(config);
  ASSERT_EQ(predictor.optimizer_.report().passes.size(), 1U);
  EXPECT_TRUE(predictor.optimizer_.report().passes[0].changed);
  Check(predictor);
  Check(*paddle::lite::CreatePredictor(config));
}

}  // namespace
