#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error_test_util.h"
#include "format/wry.h"
#include "ir/fc_program_test_util.h"
#include "ir/text.h"
#include "wherry/explain.h"
#include "wherry/log.h"
#include "wherry/predictor.h"
#include "wherry/program.h"

namespace wherry {
namespace {

class PredictorTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("wherry_predictor_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
    Program program = ParseProgram(kFcProgram);
    program.metadata["model.author"] = "nobody";
    SaveWry(program, Path("model.wry"));
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return (directory_ / name).string(); }
  CxxConfig Config() const {
    CxxConfig config;
    config.set_model_dir(Path("model.wry"));
    config.set_threads(1);
    return config;
  }

  static std::vector<float> RunOnOnes(PaddlePredictor* predictor, int64_t rows = 1) {
    auto input = predictor->GetInput(0);
    input->Resize({rows, 2});
    std::fill_n(input->mutable_data<float>(), 2 * rows, 1.0F);
    predictor->Run();
    const auto output = predictor->GetOutput(0);
    return std::vector<float>(output->data<float>(), output->data<float>() + output->numel());
  }

 private:
  std::filesystem::path directory_;
};

TEST_F(PredictorTest, RunsClonesAndSaves) {
  const auto predictor = CreatePaddlePredictor(Config());
  EXPECT_EQ(predictor->GetInputNames(), std::vector<std::string>{"x"});
  EXPECT_EQ(predictor->GetOutputNames(), std::vector<std::string>{"y"});
  EXPECT_EQ(predictor->Inputs()[0].dims[0].symbol, "N");
  EXPECT_EQ(predictor->Inputs()[0].dims[1].value, 2);
  EXPECT_EQ(RunOnOnes(predictor.get()), (std::vector<float>{14, 26}));
  const auto clone = predictor->Clone();
  EXPECT_EQ(RunOnOnes(clone.get(), 2), (std::vector<float>{14, 26, 14, 26}));
  EXPECT_EQ(RunOnOnes(predictor.get()), (std::vector<float>{14, 26}));
  predictor->SaveOptimizedModel(Path("saved.wry"));
  MobileConfig mobile;
  mobile.set_model_from_file(Path("saved.wry"));
  const auto light = CreatePaddlePredictor(mobile);
  EXPECT_EQ(RunOnOnes(light.get(), 3), RunOnOnes(predictor.get(), 3));
  EXPECT_EQ(light->Metadata().at("model.author"), "nobody");
  EXPECT_NE(ErrorText([&] { light->SaveOptimizedModel(Path("again.wry")); }).find("cannot save"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(Path("again.wry")));
}

TEST_F(PredictorTest, SavesPackedWeights) {
  const auto predictor = CreatePaddlePredictor(Config());
  const std::vector<float> right = RunOnOnes(predictor.get());
  predictor->SaveOptimizedModel(Path("plain.wry"));
  predictor->SaveOptimizedModel(Path("packed.wry"), true);
  EXPECT_GT(std::filesystem::file_size(Path("packed.wry")), std::filesystem::file_size(Path("plain.wry")));
  const auto load = [&] { return LoadWry(FileBytes("a", MappedFile::Open(Path("packed.wry")))); };
  ASSERT_EQ(load().packed.size(), 1U);
  const std::string format = load().packed.begin()->second.at(0).format;
  MobileConfig mobile;
  mobile.set_model_from_file(Path("packed.wry"));
  mobile.set_threads(1);
  EXPECT_EQ(RunOnOnes(CreatePaddlePredictor(mobile).get()), right);
  // It is what runs: another one gives something else. One that is too small, or of a format that no kernel asks for
  // here, as of another machine's kernels, is not taken.
  for (const std::string change : {"content", "size", "format"}) {
    Program program = load();
    PackedWeight& packed = program.packed.begin()->second.at(0);
    const size_t size = packed.buffer->size() / (change == "size" ? 2 : 1);
    packed.buffer = HostAllocator().Allocate(size);
    std::memset(packed.buffer->data(), 0, size);
    if (change == "format") packed.format += "x";
    SaveWry(program, Path("changed.wry"));
    mobile.set_model_from_file(Path("changed.wry"));
    const std::vector<float> result = RunOnOnes(CreatePaddlePredictor(mobile).get());
    EXPECT_EQ(result == right, change != "content") << change;
  }
}

TEST_F(PredictorTest, PicksAgainWhereAKernelIsMissing) {
  CreatePaddlePredictor(Config())->SaveOptimizedModel(Path("saved.wry"));
  Program program = LoadWry(FileBytes("a", MappedFile::Open(Path("saved.wry"))));
  for (KernelPick& pick : program.main().picks) pick.variant = "of_another_machine";
  SaveWry(program, Path("other.wry"));
  MobileConfig mobile;
  mobile.set_model_from_file(Path("other.wry"));
  const auto predictor = CreatePaddlePredictor(mobile);
  EXPECT_EQ(RunOnOnes(predictor.get()), (std::vector<float>{14, 26}));
  EXPECT_NE(predictor->OptimizeReportText().find("is not registered here"), std::string::npos)
      << predictor->OptimizeReportText();
}

TEST_F(PredictorTest, ListsTheKernelsThatItNeeds) {
  const std::string kernels = CreatePaddlePredictor(Config())->RequiredKernels();
  EXPECT_NE(kernels.find("op fc\n"), std::string::npos) << kernels;
  EXPECT_NE(kernels.find("kernel cpu:fc:gemm\n"), std::string::npos) << kernels;
  EXPECT_EQ(kernels.find("conv2d"), std::string::npos) << kernels;
}

TEST_F(PredictorTest, OptimisesAndReports) {
  const auto predictor = CreatePaddlePredictor(Config());
  EXPECT_NE(predictor->ProgramText().find("fc("), std::string::npos) << predictor->ProgramText();
  EXPECT_NE(predictor->OptimizeReportText().find("fc_fuse_pass"), std::string::npos);
  EXPECT_GT(predictor->GetLoadTimes().import_ms, 0);
  EXPECT_GT(predictor->GetLoadTimes().optimize_ms, 0);
  CxxConfig plain = Config();
  plain.set_passes_internal({"none"});
  const auto untouched = CreatePaddlePredictor(plain);
  EXPECT_EQ(untouched->ProgramText().find("fc("), std::string::npos);
  EXPECT_EQ(RunOnOnes(untouched.get()), (std::vector<float>{14, 26}));
  CxxConfig without = Config();
  without.add_discarded_pass("fc_fuse_pass");
  EXPECT_EQ(CreatePaddlePredictor(without)->ProgramText().find("fc("), std::string::npos);
}

TEST_F(PredictorTest, WatchedValuesAreNotFusedAway) {
  const std::vector<float> right = RunOnOnes(CreatePaddlePredictor(Config()).get());
  CxxConfig config = Config();
  config.set_watched_values({"m", "x", "y"});
  const auto predictor = CreatePaddlePredictor(config);
  EXPECT_NE(ErrorText([&] { predictor->GetTensor("m"); }).find("no run has made it"), std::string::npos);
  EXPECT_EQ(RunOnOnes(predictor.get()), right);
  EXPECT_EQ(predictor->GetOutputNames(), std::vector<std::string>{"y"});
  const auto product = predictor->GetTensor("m");
  ASSERT_EQ(product->numel(), 2);
  EXPECT_EQ(predictor->GetTensor("x")->data<float>()[0], 1.0F);
  EXPECT_EQ(predictor->GetTensor("y")->data<float>()[1], right[1]);
  const auto clone = predictor->Clone();
  RunOnOnes(clone.get(), 3);
  EXPECT_EQ(clone->GetTensor("m")->numel(), 6);
  EXPECT_EQ(clone->GetTensor("m")->data<float>()[5], product->data<float>()[1]);
  config.set_watched_values({"mm"});
  const std::string error = ErrorText([&] { CreatePaddlePredictor(config); });
  EXPECT_NE(error.find("no value 'mm' to watch; nearest: m"), std::string::npos) << error;
}

TEST_F(PredictorTest, RandomInputsShareTheNamesOfDimensions) {
  std::ofstream(Path("two.wir")) << "block main(%x : f32[b,s], %p : f32[3,b,(s+1)]) -> (%y) {\n"
                                    "  %y = reshape(x: %x) {shape = [-1]}\n}\n";
  CxxConfig config;
  config.set_model_dir(Path("two.wir"));
  std::map<std::string, Tensor> inputs = RandomInputs(config, {});
  EXPECT_EQ(inputs.at("x").shape(), Shape({1, 16}));
  EXPECT_EQ(inputs.at("p").shape(), Shape({3, 1, 17}));
  inputs = RandomInputs(config, {{"x", Shape({4, 5})}});
  EXPECT_EQ(inputs.at("p").shape(), Shape({3, 4, 6}));
}

TEST_F(PredictorTest, FixedShapesOfInputsHoldForAllThatHaveTheSameNames) {
  std::ofstream(Path("open.wir")) << "block main(%x : f32[b,s], %p : f32[3,b,(s+1)], %q : f32[b,h]) -> (%n, %s) {\n"
                                     "  %n = shape(x: %p)\n"
                                     "  %s = shape(x: %q)\n}\n";
  CxxConfig config;
  config.set_model_dir(Path("open.wir"));
  config.set_input_shapes({{"x", Shape({4, 5})}});
  const auto predictor = CreatePaddlePredictor(config);
  const auto dims = [&](size_t input) {
    std::vector<int64_t> values;
    for (const InputDim& dim : predictor->Inputs()[input].dims) values.push_back(dim.value);
    return values;
  };
  EXPECT_EQ(dims(0), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(dims(1), (std::vector<int64_t>{3, 4, 6}));
  EXPECT_EQ(dims(2), (std::vector<int64_t>{4, -1}));
  // What does not depend on h is folded.
  EXPECT_EQ(predictor->ProgramText().find("x: %p"), std::string::npos) << predictor->ProgramText();
  EXPECT_NE(predictor->ProgramText().find("x: %q"), std::string::npos) << predictor->ProgramText();
  EXPECT_EQ(RandomInputs(config, {}).at("p").shape(), Shape({3, 4, 6}));

  const auto error = [&](const std::map<std::string, Shape>& shapes) {
    config.set_input_shapes(shapes);
    return ErrorText([&] { CreatePaddlePredictor(config); });
  };
  EXPECT_NE(error({{"y", Shape({1})}}).find("'y', which is no input of the model"), std::string::npos);
  EXPECT_NE(error({{"x", Shape({4})}}).find("'x' is f32[b,s] and cannot have the shape [4]"), std::string::npos);
  EXPECT_NE(error({{"p", Shape({2, 1, 6})}}).find("3 is not 2"), std::string::npos);
  EXPECT_NE(error({{"p", Shape({3, 1, 6})}, {"x", Shape({1, 6})}}).find("(s+1) is not 6"), std::string::npos);
  EXPECT_NE(error({{"q", Shape({2, 2})}, {"x", Shape({1, 5})}}).find("b is 2 elsewhere"), std::string::npos);
}

TEST_F(PredictorTest, FixedShapesMayContradictABranchThatIsNotTaken) {
  std::ofstream(Path("open.wir")) << "weight %four : f32[4] = [1, 2, 3, 4]\n"
                                     "block main(%c : bool[], %x : f32[n]) -> (%z) {\n"
                                     "  (out: [%y]) = if(cond: %c, captures: [%x]) blocks(four, any)\n"
                                     "  %z = abs(x: %y)\n}\n"
                                     "block four(%p : f32[n]) -> (%b) {\n"
                                     "  %a = add(x: %p, y: %four)\n"
                                     "  %b = tanh(x: %a)\n}\n"
                                     "block any(%q : f32[n]) -> (%r) {\n  %r = sin(x: %q)\n}\n";
  CxxConfig config;
  config.set_model_dir(Path("open.wir"));
  config.set_input_shapes({{"x", Shape({3})}});
  const auto predictor = CreatePaddlePredictor(config);
  bool condition = false;
  const std::vector<float> x(3, 0.0F);
  predictor->GetInputByName("x")->Resize({3});
  predictor->GetInputByName("x")->CopyFromCpu(x.data());
  const auto run = [&] {
    predictor->GetInputByName("c")->Resize({});
    predictor->GetInputByName("c")->CopyFromCpu(&condition);
    predictor->Run();
  };
  run();
  EXPECT_EQ(predictor->GetOutput(0)->shape(), Shape({3}));
  condition = true;
  const std::string error = ErrorText(run);
  EXPECT_NE(error.find("add"), std::string::npos) << error;
  EXPECT_NE(error.find("x [3] and y [4] do not broadcast"), std::string::npos) << error;
  condition = false;
  run();
}

TEST_F(PredictorTest, ErrorsInATextNameItsFile) {
  std::ofstream(Path("bad.wir")) << "block main(%x : f32[b]) -> (%y) {\n  %y = relu(x: z)\n}\n";
  CxxConfig config;
  config.set_model_dir(Path("bad.wir"));
  EXPECT_NE(ErrorText([&] { CreatePaddlePredictor(config); }).find("(while reading '" + Path("bad.wir") + "')"),
            std::string::npos);
}

struct Messages : LogSink {
  void Write(LogLevel, std::string_view message) override { text += std::string(message) + "\n"; }
  std::string text;
};

TEST_F(PredictorTest, PrecisionsThatChangeNothingAreWarnedOf) {
  Messages messages;
  CxxConfig config = Config();
  LogSink* const before = SetLogSink(&messages);
  config.set_valid_places({Place(Target::kNative), Place(Target::kNative, DataType::kFP16),
                           Place(Target::kHost, DataType::kAny), Place(Target::kOpenCL)});
  CreatePaddlePredictor(config);
  EXPECT_EQ(messages.text, "");
  config.set_valid_places({Place(Target::kHost), Place(Target::kHost, DataType::kInt4)});
  CreatePaddlePredictor(config);
  EXPECT_NE(messages.text.find("host/i4/nchw changes nothing"), std::string::npos) << messages.text;
  messages.text.clear();
  config.set_valid_places({Place(Target::kOpenCL, DataType::kFP16), Place(Target::kHost)});
  CreatePaddlePredictor(config);
  SetLogSink(before);
  EXPECT_NE(messages.text.find("opencl/f16/nchw changes nothing"), std::string::npos) << messages.text;
}

TEST_F(PredictorTest, AnOptimisedModelSaysThatPassesAndPlacesAreFixed) {
  Messages messages;
  CreatePaddlePredictor(Config())->SaveOptimizedModel(Path("saved.wry"));
  CxxConfig config;
  config.set_model_dir(Path("saved.wry"));
  LogSink* const before = SetLogSink(&messages);
  CreatePaddlePredictor(config);
  EXPECT_EQ(messages.text, "");
  config.set_passes_internal({"none"});
  config.set_valid_places(Place(Target::kX86));
  CreatePaddlePredictor(config);
  SetLogSink(before);
  EXPECT_NE(messages.text.find("passes that the config names"), std::string::npos);
  EXPECT_NE(messages.text.find("valid places that the config names"), std::string::npos);
}

TEST_F(PredictorTest, UnknownNamesGetTheNearestOnes) {
  CxxConfig config = Config();
  config.set_passes_internal({"fc_fuze_pass"});
  EXPECT_NE(ErrorText([&] { CreatePaddlePredictor(config); }).find("fc_fuse_pass"), std::string::npos);
  const auto predictor = CreatePaddlePredictor(Config());
  EXPECT_NE(ErrorText([&] { predictor->GetInputByName("z"); }).find("the model has x"), std::string::npos);
  EXPECT_NE(ErrorText([&] { predictor->GetOutput(1); }).find("there is no output 1"), std::string::npos);
}

TEST_F(PredictorTest, ModelsInMemory) {
  std::ifstream file(Path("model.wry"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  CxxConfig config;
  config.set_model_buffer(bytes.data(), bytes.size());
  EXPECT_EQ(RunOnOnes(CreatePaddlePredictor(config).get()), (std::vector<float>{14, 26}));
  MobileConfig mobile;
  mobile.set_model_from_buffer(bytes.data(), bytes.size());
  EXPECT_EQ(RunOnOnes(CreatePaddlePredictor(mobile).get()), (std::vector<float>{14, 26}));
}

// A file cut anywhere or with any byte changed is an Error, never a crash and never another result.
TEST_F(PredictorTest, DamagedFilesAreErrors) {
  std::ifstream file(Path("model.wry"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto load = [](const std::string& damaged) {
    MobileConfig config;
    config.set_model_from_buffer(damaged.data(), damaged.size());
    return CreatePaddlePredictor(config);
  };
  for (size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_NE(ErrorText([&] { load(bytes.substr(0, size)); }), "no error") << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    try {
      EXPECT_EQ(RunOnOnes(load(damaged).get()), (std::vector<float>{14, 26}))
          << "byte " << at;  // padding between the sections
    } catch (const Error&) {
    }
  }
}

TEST_F(PredictorTest, ProfileNamesKernels) {
  const auto predictor = CreatePaddlePredictor(Config());
  predictor->SetProfiling(true);
  RunOnOnes(predictor.get());
  const std::vector<ProfileEvent>& events = predictor->Profile();
  const auto op = std::find_if(events.begin(), events.end(), [](const auto& event) { return event.category == "op"; });
  ASSERT_NE(op, events.end());
  EXPECT_NE(op->kernel.find(":fc"), std::string::npos) << op->kernel;
  EXPECT_EQ(op->flops, 8);
}

// Everything that takes time has a name, in order and without overlap: the first run on a shape plans and packs, the
// second finds the plan.
TEST_F(PredictorTest, ProfileAccountsForARun) {
  const auto predictor = CreatePaddlePredictor(Config());
  predictor->SetProfiling(true);
  const auto events_of_run = [&] {
    RunOnOnes(predictor.get());
    std::vector<std::string> names;
    double end = 0;
    for (const ProfileEvent& event : predictor->Profile()) {
      names.push_back(event.op);
      EXPECT_EQ(event.depth, 0);
      EXPECT_GE(event.start_us + 1e-6, end) << event.op;
      EXPECT_GE(event.duration_us, 0) << event.op;
      end = event.start_us + event.duration_us;
    }
    return names;
  };
  EXPECT_EQ(events_of_run(),
            (std::vector<std::string>{"check inputs", "plan", "pack weights", "bind memory", "fc", "collect outputs"}));
  EXPECT_EQ(events_of_run(),
            (std::vector<std::string>{"check inputs", "find plan", "bind memory", "fc", "collect outputs"}));
}

TEST_F(PredictorTest, ProfileOfTheLoad) {
  std::vector<std::string> outer;
  size_t passes = 0;
  const auto predictor = CreatePaddlePredictor(Config());
  for (const ProfileEvent& event : predictor->LoadProfile()) {
    EXPECT_EQ(event.category, "load");
    if (event.depth == 0) outer.push_back(event.op);
    passes += event.depth == 1 && event.op.find("_pass") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(outer, (std::vector<std::string>{"import", "optimize", "bind kernels"}));  // N is not known: no plan yet
  EXPECT_GT(passes, 5U);
}

TEST_F(PredictorTest, DumpsAreModels) {
  CxxConfig config = Config();
  config.set_dump_dir(Path("dump"));
  CreatePaddlePredictor(config);
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Path("dump"))) {
    if (entry.path().extension() != ".wir") continue;
    ++count;
    CxxConfig dumped;
    dumped.set_model_dir(entry.path().string());
    dumped.set_passes_internal({"none"});
    EXPECT_EQ(RunOnOnes(CreatePaddlePredictor(dumped).get()), (std::vector<float>{14, 26})) << entry.path();
  }
  EXPECT_GT(count, 5U);
  EXPECT_TRUE(std::filesystem::exists(Path("dump") + "/000_loaded.wir"));
}

// What falls to another step of quantisation because it was summed in another order is no fault of a pass.
TEST_F(PredictorTest, VerifyAllowsForStepsOfQuantisation) {
  std::ofstream(Path("bytes.wir")) << "block main(%x : f32[8,40]) -> (%y) {\n"
                                      "  %a = scale(x: %x) {scale = 0.1}\n"
                                      "  %c = scale(x: %a) {scale = 0.7, bias = 0.3}\n"
                                      "  (out: %q, scale: %s, zero_point: %z) = dynamic_quantize(x: %c)\n"
                                      "  %y = dequantize_linear(x: %q, scale: %s, zero_point: %z)\n"
                                      "}\n";
  CxxConfig config;
  config.set_model_dir(Path("bytes.wir"));
  VerifyOptions options;
  options.tolerance = -1;  // so that what rounding makes of the network is found out in any case
  const VerifyResult result = VerifyModel(config, options);
  EXPECT_TRUE(result.ok) << result.report;
  EXPECT_FALSE(result.passes.empty());
}

TEST_F(PredictorTest, VerifyAndInspection) {
  const VerifyResult result = VerifyModel(Config());
  EXPECT_TRUE(result.ok) << result.report;
  EXPECT_NE(ShowModel(Config(), "dot").find("digraph"), std::string::npos);
  EXPECT_NE(ShowModel(Config(), "json").find("\"blocks\""), std::string::npos);
  EXPECT_NE(ExplainOp(Config(), "y").find("ref:fc"), std::string::npos);
  EXPECT_TRUE(CheckModel(Config()).empty());
  CreatePaddlePredictor(Config())->SaveOptimizedModel(Path("saved.wry"));
  CxxConfig saved;
  saved.set_model_dir(Path("saved.wry"));
  EXPECT_NE(ErrorText([&] { VerifyModel(saved); }).find("optimised already"), std::string::npos);
  EXPECT_NE(ErrorText([&] { CheckModel(CxxConfig()); }).find("names no model"), std::string::npos);
  EXPECT_NE(ErrorText([&] { ExplainOp(Config(), "q"); }).find("is 'q'; types are add, fc, mul"), std::string::npos);
}

}  // namespace
}  // namespace wherry
