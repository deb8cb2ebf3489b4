// Runs on whatever OpenCL device the machine has; skipped, with the reason, where it has none.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "kernel/invoke.h"
#include "kernel/operator.h"
#include "kernel/provider.h"
#include "kernels/opencl/broadcast.h"
#include "kernels/opencl/context.h"
#include "kernels/opencl/source.h"
#include "op/schema_registry.h"
#include "wherry/error.h"

namespace wherry {
namespace {

class OpenCLTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (opencl::Device::Find(&why) == nullptr) GTEST_SKIP() << why;
  }
};

DenseTensor Random(const Shape& shape, unsigned seed) {
  TensorMeta meta;
  meta.dtype = DataType::kFloat;
  meta.shape = shape;
  DenseTensor tensor(HostAllocator(), meta);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> values(-2.0F, 2.0F);
  for (int64_t i = 0; i < tensor.numel(); ++i) tensor.mutable_data<float>()[i] = values(generator);
  return tensor;
}

std::vector<float> Values(const DenseTensor& tensor, DeviceContext* context) {
  DenseTensor host(HostAllocator(), tensor.meta());
  context->Copy(tensor, &host);
  return {host.data<float>(), host.data<float>() + host.numel()};
}

// The op on the OpenCL device and on the host, whose kernels are tested by themselves.
void ExpectAsOnTheHost(const char* op, const std::vector<CallArg>& args, float tolerance) {
  const OpSchema& schema = SchemaRegistry::Global().Get(op);
  OpenCLContext device;
  CpuContext host;
  const DenseTensor got = InvokeOp(schema, args, &device)[0][0];
  EXPECT_EQ(got.target(), Target::kOpenCL);
  const DenseTensor wanted = InvokeOp(schema, args, &host)[0][0];
  ASSERT_EQ(got.meta(), wanted.meta());
  const std::vector<float> got_values = Values(got, &device);
  const std::vector<float> wanted_values = Values(wanted, &host);
  for (size_t i = 0; i < got_values.size(); ++i) {
    ASSERT_NEAR(got_values[i], wanted_values[i], tolerance * std::max(1.0F, std::abs(wanted_values[i])))
        << op << " element " << i << " of " << wanted.meta().DebugString();
  }
}

TEST_F(OpenCLTest, CopiesAndConvertsLayoutOnTheHostSide) {
  OpenCLContext device;
  const DenseTensor x = Random(Shape{2, 3, 2, 2}, 1);
  TensorMeta nhwc = x.meta();
  nhwc.layout = DataLayout::kNHWC;
  DenseTensor there(device.allocator(), nhwc);
  device.Copy(x, &there);
  DenseTensor twin(device.allocator(), nhwc);
  device.Copy(there, &twin);
  DenseTensor back(HostAllocator(), x.meta());
  device.Copy(twin, &back);
  for (int64_t i = 0; i < x.numel(); ++i) EXPECT_EQ(back.data<float>()[i], x.data<float>()[i]);
  EXPECT_THROW(static_cast<void>(there.data<float>()), Error);
  DenseTensor other(device.allocator(), x.meta());
  EXPECT_THROW(device.Copy(there, &other), Error);  // converting on the device
}

TEST_F(OpenCLTest, EmptyTensorsAreFine) {
  OpenCLContext device;
  const DenseTensor x = Random(Shape{0, 3}, 1);
  const DenseTensor out = InvokeOp(SchemaRegistry::Global().Get("cos"), {{{&x}, {}}}, &device)[0][0];
  EXPECT_EQ(out.shape(), (Shape{0, 3}));
  EXPECT_TRUE(Values(out, &device).empty());
}

TEST_F(OpenCLTest, Cos) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{67}, Shape{2, 3, 5}, Shape{100000}}) {
    const DenseTensor x = Random(shape, 2);
    ExpectAsOnTheHost("cos", {{{&x}, {}}}, 1e-6F);
  }
}

TEST_F(OpenCLTest, AddBroadcasts) {
  const std::pair<Shape, Shape> shapes[] = {
      {Shape{}, Shape{}},         {Shape{5}, Shape{}},           {Shape{2, 3}, Shape{2, 3}},
      {Shape{2, 3}, Shape{3}},    {Shape{2, 1, 4}, Shape{3, 1}}, {Shape{1, 3, 1, 5}, Shape{2, 1, 4, 1}},
      {Shape{4, 1}, Shape{1, 7}}, {Shape{0, 3}, Shape{3}},
  };
  for (const auto& [x_shape, y_shape] : shapes) {
    const DenseTensor x = Random(x_shape, 3);
    const DenseTensor y = Random(y_shape, 4);
    ExpectAsOnTheHost("add", {{{&x}, {}}, {{&y}, {}}}, 0.0F);
  }
}

TEST_F(OpenCLTest, Matmul) {
  struct Case {
    Shape x;
    Shape y;
    bool transpose_x;
    bool transpose_y;
  };
  const Case cases[] = {
      {Shape{3, 4}, Shape{4, 5}, false, false},          {Shape{33, 17}, Shape{33, 65}, true, false},
      {Shape{17, 33}, Shape{65, 33}, false, true},       {Shape{33, 17}, Shape{65, 33}, true, true},
      {Shape{2, 1, 5, 4}, Shape{3, 4, 6}, false, false}, {Shape{4}, Shape{4}, false, false},
      {Shape{4}, Shape{2, 4, 3}, false, false},          {Shape{2, 3, 4}, Shape{4}, false, false},
      {Shape{3, 0}, Shape{0, 5}, false, false},          {Shape{0, 4}, Shape{4, 5}, false, false},
  };
  for (const Case& c : cases) {
    const DenseTensor x = Random(c.x, 5);
    const DenseTensor y = Random(c.y, 6);
    ExpectAsOnTheHost("matmul", {{{&x}, {}}, {{&y}, {}}, {{}, c.transpose_x}, {{}, c.transpose_y}}, 2e-5F);
  }
}

TEST_F(OpenCLTest, OpsFollowEachOtherWithoutLeavingTheDevice) {
  OpenCLContext first;
  OpenCLContext second;
  const DenseTensor x = Random(Shape{1000}, 7);
  const OpSchema& cos = SchemaRegistry::Global().Get("cos");
  DenseTensor y = InvokeOp(cos, {{{&x}, {}}}, &first)[0][0];
  for (int i = 0; i < 20; ++i) y = InvokeOp(cos, {{{&y}, {}}}, i % 2 == 0 ? &second : &first)[0][0];
  // cos has one fixed point, 0.739085..., and 21 steps bring it to 0.74 +- 0.001.
  for (float value : Values(y, GetDeviceContextByBackend(Target::kOpenCL))) EXPECT_NEAR(value, 0.739085F, 2e-3F);
}

TEST(OpenCLBroadcast, MergesWhatBothWalkAlike) {
  const opencl::Broadcast same = opencl::MakeBroadcast(Shape{2, 3, 4}, Shape{2, 3, 4}, Shape{2, 3, 4});
  EXPECT_EQ(same.rank, 1);
  EXPECT_EQ(same.dims[0], 24);
  const opencl::Broadcast bias = opencl::MakeBroadcast(Shape{2, 3, 4}, Shape{3, 1}, Shape{2, 3, 4});
  ASSERT_EQ(bias.rank, 3);
  EXPECT_EQ(bias.y_steps[0], 0);
  EXPECT_EQ(bias.y_steps[1], 1);
  EXPECT_EQ(bias.y_steps[2], 0);
  EXPECT_EQ(bias.x_steps[2], 12);
}

TEST(OpenCLSources, AreEmbedded) {
  EXPECT_NE(opencl::SourceNamed("matmul").text.find("kernel void matmul_f32"), std::string_view::npos);
  EXPECT_THROW(opencl::SourceNamed("nothing"), Error);
}

class ProgramCacheTest : public OpenCLTest {
 protected:
  void SetUp() override {
    OpenCLTest::SetUp();
    std::string pattern = (std::filesystem::temp_directory_path() / "wherry_opencl_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  // A cache as a new process has it.
  static opencl::ProgramCache Fresh(const std::string& folder) {
    cl_device_id id = nullptr;
    opencl::Device& device = opencl::Device::Get();
    opencl::Check(clGetContextInfo(device.context(), CL_CONTEXT_DEVICES, sizeof(id), &id, nullptr), "clGetContextInfo");
    return opencl::ProgramCache(device.context(), id, folder);
  }

  std::string folder_;
  static constexpr std::string_view kSource = "kernel void nothing(global float* x) { x[0] = 1.0f; }";
};

TEST_F(ProgramCacheTest, CompilesOnceAndForAll) {
  opencl::ProgramCache first = Fresh(folder_ + "/made/when/needed");
  EXPECT_EQ(first.Get(kSource, ""), first.Get(kSource, ""));
  EXPECT_EQ(first.compiled(), 1);
  opencl::ProgramCache second = Fresh(folder_ + "/made/when/needed");
  second.Get(kSource, "");
  EXPECT_EQ(second.compiled(), 0);
  EXPECT_EQ(second.loaded(), 1);
  second.Get(kSource, "-DOTHER");
  EXPECT_EQ(second.compiled(), 1);
}

TEST_F(ProgramCacheTest, DamagedFilesAreReplaced) {
  Fresh(folder_).Get(kSource, "");
  const std::string file = Fresh(folder_).FileOf(kSource, "");
  const auto size = std::filesystem::file_size(file);
  const auto damage = [&](auto change) {
    change();
    opencl::ProgramCache cache = Fresh(folder_);
    cache.Get(kSource, "");
    EXPECT_EQ(cache.compiled(), 1);
    opencl::ProgramCache after = Fresh(folder_);
    after.Get(kSource, "");
    EXPECT_EQ(after.loaded(), 1);
  };
  damage([&] { std::filesystem::resize_file(file, size / 2); });
  damage([&] { std::filesystem::resize_file(file, 0); });
  damage([&] {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(size) - 5);
    stream.put('\x55');
    stream.seekp(static_cast<std::streamoff>(size) - 4);
    stream.put('\x2a');
  });
  damage([&] { std::ofstream(file, std::ios::binary) << std::string(size, 'x'); });
}

TEST_F(ProgramCacheTest, WorksWithoutAFolder) {
  opencl::ProgramCache none = Fresh("");
  none.Get(kSource, "");
  EXPECT_EQ(none.compiled(), 1);
  std::ofstream(folder_ + "/file") << "in the way";
  opencl::ProgramCache blocked = Fresh(folder_ + "/file");
  blocked.Get(kSource, "");
  EXPECT_EQ(blocked.compiled(), 1);
}

TEST_F(ProgramCacheTest, ASourceThatDoesNotCompileIsAnErrorWithTheLog) {
  opencl::ProgramCache cache = Fresh("");
  try {
    cache.Get("kernel void broken( {", "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
    EXPECT_NE(std::string(error.what()).find("does not compile"), std::string::npos);
  }
}

TEST(DefaultCacheFolder, FollowsXdg) {
  const auto with = [](const char* xdg, const char* home) {
    const char* old_xdg = std::getenv("XDG_CACHE_HOME");
    const char* old_home = std::getenv("HOME");
    const std::string kept_xdg = old_xdg != nullptr ? old_xdg : "";
    const std::string kept_home = old_home != nullptr ? old_home : "";
    setenv("XDG_CACHE_HOME", xdg, 1);
    setenv("HOME", home, 1);
    std::string folder = opencl::DefaultCacheFolder();
    old_xdg != nullptr ? setenv("XDG_CACHE_HOME", kept_xdg.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
    old_home != nullptr ? setenv("HOME", kept_home.c_str(), 1) : unsetenv("HOME");
    return folder;
  };
  EXPECT_EQ(with("/x", "/h"), "/x/wherry");
  EXPECT_EQ(with("relative", "/h"), "/h/.cache/wherry");
  EXPECT_EQ(with("", "/h"), "/h/.cache/wherry");
  EXPECT_EQ(with("", ""), "");
}

}  // namespace
}  // namespace wherry
