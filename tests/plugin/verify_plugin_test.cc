// wherry verify finds a wrong pass that is not Wherry's own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "format/wry.h"
#include "ir/text.h"
#include "kernel/plugin.h"
#include "wherry/program.h"

namespace wherry {
namespace {

TEST(VerifyModel, NamesTheFirstWrongPassAndOp) {
  LoadPlugin(WRONG_PASS_PLUGIN);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("wherry_verify_test_" + std::to_string(::getpid()) + ".wry")).string();
  SaveWry(ParseProgram(R"(
block main(%x : f32[4,8]) -> (%y) {
  %a = exp(x: %x)
  %same = scale(x: %a) {scale = 1}
  %t = tanh(x: %same)
  %b = cumsum(x: %t) {axis = 1}
  %y = sin(x: %b)
}
)"),
          path);
  CxxConfig config;
  config.set_model_dir(path);
  config.set_threads(1);
  EXPECT_TRUE(VerifyModel(config).ok);

  config.set_passes_internal({"infer_shapes_pass", "eliminate_identity_pass", "wrong_tanh_pass",
                              "static_kernel_pick_pass", "memory_optimize_pass"});
  const VerifyResult result = VerifyModel(config);
  std::filesystem::remove(path);
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.first_pass, "wrong_tanh_pass");
  EXPECT_EQ(result.first_op, "t");
  ASSERT_FALSE(result.passes.empty());
  EXPECT_EQ(result.passes.back().name, "wrong_tanh_pass");
  for (size_t i = 0; i + 1 < result.passes.size(); ++i) EXPECT_LE(result.passes[i].max_difference, 1e-6);
  EXPECT_NE(result.report.find("wrong_tanh_pass"), std::string::npos) << result.report;
}

}  // namespace
}  // namespace wherry
