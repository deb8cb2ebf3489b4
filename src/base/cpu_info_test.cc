#include "base/cpu_info.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "wherry/error.h"

namespace wherry {
namespace {

#if defined(__x86_64__)

// The flags line of /proc/cpuinfo, with a space at both ends; "" where it has none.
std::string KernelFlags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) == 0) return line.substr(line.find(':') + 1) + " ";
  }
  return "";
}

TEST(CpuInfoTest, AgreesWithTheKernel) {
  const std::string flags = KernelFlags();
  if (flags.empty()) GTEST_SKIP() << "/proc/cpuinfo has no flags";
  const auto has = [&flags](const std::string& name) { return flags.find(" " + name + " ") != std::string::npos; };
  const CpuInfo info = CpuInfo::Detect(nullptr);
  const bool avx2 = kIsas.back() >= Isa::kAvx2, avx512 = kIsas.back() >= Isa::kAvx512;
  EXPECT_EQ(info.Has(Isa::kSse4), has("sse4_1") && has("sse4_2") && has("ssse3") && has("popcnt"));
  EXPECT_EQ(info.Has(Isa::kAvx2),
            avx2 && has("avx2") && has("fma") && has("f16c") && has("bmi1") && has("bmi2") && has("abm"));
  EXPECT_EQ(info.Has(Isa::kAvx512),
            avx512 && has("avx512f") && has("avx512bw") && has("avx512cd") && has("avx512dq") && has("avx512vl"));
  EXPECT_EQ(info.avx_vnni, avx2 && has("avx_vnni"));
  EXPECT_EQ(info.avx512_vnni, avx512 && has("avx512_vnni"));
  EXPECT_EQ(info.avx512_bf16, avx512 && has("avx512_bf16"));
  EXPECT_EQ(info.avx512_fp16, avx512 && has("avx512_fp16"));
  if (!has("amx_tile")) {
    EXPECT_FALSE(info.amx_tile || info.amx_int8 || info.amx_bf16);
  }
}

TEST(CpuInfoTest, AgreesWithTheKernelsCacheSizes) {
  const CpuInfo info = CpuInfo::Detect(nullptr);
  int compared = 0;
  for (int i = 0; i < 5; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    std::string type;
    size_t level = 0, kib = 0;
    if (!(std::ifstream(folder + "type") >> type) || !(std::ifstream(folder + "level") >> level) ||
        !(std::ifstream(folder + "size") >> kib) || type == "Instruction") {
      continue;
    }
    ASSERT_LE(level, 4u);
    if (level == 1) {
      EXPECT_EQ(info.l1d_bytes, kib * 1024);
    }
    if (level == 2) {
      EXPECT_EQ(info.l2_bytes, kib * 1024);
    }
    if (level == 3) {
      EXPECT_EQ(info.l3_bytes, kib * 1024);
    }
    ++compared;
  }
  if (compared == 0) GTEST_SKIP() << "the system lists no caches";
}

TEST(CpuInfoTest, NamesArePlainText) {
  const CpuInfo info = CpuInfo::Detect(nullptr);
  EXPECT_EQ(info.vendor.size(), 12u);
  EXPECT_EQ(info.brand.find('\0'), std::string::npos);
}

TEST(CpuInfoTest, TheLimitTakesAwayWhatIsAbove) {
  const CpuInfo full = CpuInfo::Detect(nullptr);
  for (const Isa isa : kIsas) {
    const char* limit = ToString(isa);
    const CpuInfo info = CpuInfo::Detect(limit);
    EXPECT_EQ(info.isa, std::min(full.isa, isa)) << limit;
    EXPECT_EQ(info.avx_vnni, full.avx_vnni && isa >= Isa::kAvx2) << limit;
    EXPECT_EQ(info.avx512_vnni, full.avx512_vnni && isa >= Isa::kAvx512) << limit;
    EXPECT_EQ(info.avx512_bf16, full.avx512_bf16 && isa >= Isa::kAvx512) << limit;
    EXPECT_EQ(info.amx_tile, full.amx_tile && isa >= Isa::kAvx512) << limit;
    EXPECT_EQ(info.l2_bytes, full.l2_bytes);
  }
}

#elif defined(__aarch64__)

TEST(CpuInfoTest, Arm) {
  EXPECT_EQ(CpuInfo::Detect(nullptr).isa, Isa::kNeon);
  EXPECT_EQ(CpuInfo::Detect("neon").isa, Isa::kNeon);
  EXPECT_THROW(CpuInfo::Detect("avx2"), Error);
}

#endif

TEST(CpuInfoTest, AnUnknownLimitIsAnError) {
  for (const char* limit : {"AVX2", "avx", "baseline"}) EXPECT_THROW(CpuInfo::Detect(limit), Error) << limit;
}

TEST(CpuInfoTest, AnEmptyLimitIsNone) { EXPECT_EQ(CpuInfo::Detect("").isa, CpuInfo::Detect(nullptr).isa); }

TEST(CpuInfoTest, GetIsOneObject) { EXPECT_EQ(&CpuInfo::Get(), &CpuInfo::Get()); }

}  // namespace
}  // namespace wherry
