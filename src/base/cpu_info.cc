#include "base/cpu_info.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "base/strings.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <fstream>
#endif

namespace wherry {
namespace {

Isa ParseIsa(const char* text) {
  std::string names;
  for (Isa isa : kIsas) {
    if (std::string_view(text) == ToString(isa)) return isa;
    names += (names.empty() ? "" : ", ") + std::string(ToString(isa));
  }
  Throw(ErrorCode::kInvalidArgument, "WHERRY_ISA is ", Quote(text), "; here it may be: ", names);
}

void Limit(Isa isa, CpuInfo* info) {
  info->isa = std::min(info->isa, isa);
#if defined(__x86_64__)
  if (isa < Isa::kAvx512) {
    info->avx512_vnni = info->avx512_bf16 = info->avx512_fp16 = false;
    info->amx_tile = info->amx_int8 = info->amx_bf16 = false;
  }
  if (isa < Isa::kAvx2) info->avx_vnni = false;
#endif
}

#if defined(__x86_64__)

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

// Zeros when the processor does not know the leaf.
Registers Cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

constexpr bool Bit(unsigned value, int bit) { return (value >> bit & 1) != 0; }

// The register sets that the operating system saves (XCR0).
unsigned SavedRegisterSets(const Registers& leaf1) {
  if (!Bit(leaf1.c, 27)) return 0;  // OSXSAVE
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// Linux gives a process the AMX tiles only when it asks. The answer holds for all its threads, also later ones.
bool AskForTiles() {
  constexpr long kArchReqXcompPerm = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kArchReqXcompPerm, kTileData) == 0;
}

void DetectFeatures(CpuInfo* info) {
  const Registers leaf1 = Cpuid(1), leaf7 = Cpuid(7), leaf7_1 = leaf7.a >= 1 ? Cpuid(7, 1) : Registers();
  const unsigned saved = SavedRegisterSets(leaf1);
  constexpr unsigned kYmm = 0x6, kZmm = 0xe6, kTiles = 0x60000;
  const bool ymm = (saved & kYmm) == kYmm;
  const bool zmm = (saved & kZmm) == kZmm;

  const bool sse4 = Bit(leaf1.c, 9) && Bit(leaf1.c, 19) && Bit(leaf1.c, 20) && Bit(leaf1.c, 23);
  const bool avx = sse4 && ymm && Bit(leaf1.c, 28) && Bit(leaf1.c, 12) && Bit(leaf1.c, 29);  // AVX, FMA, F16C
  const bool bmi = Bit(leaf7.b, 3) && Bit(leaf7.b, 8) && Bit(Cpuid(0x80000001).c, 5);        // BMI1, BMI2, LZCNT
  const bool avx2 = avx && bmi && Bit(leaf7.b, 5);
  const bool avx512 = avx2 && zmm && Bit(leaf7.b, 16) && Bit(leaf7.b, 17) && Bit(leaf7.b, 28) && Bit(leaf7.b, 30) &&
                      Bit(leaf7.b, 31);  // F, DQ, CD, BW, VL
  info->isa = avx512 ? Isa::kAvx512 : avx2 ? Isa::kAvx2 : sse4 ? Isa::kSse4 : Isa::kBaseline;

  info->avx_vnni = avx2 && Bit(leaf7_1.a, 4);
  info->avx512_vnni = avx512 && Bit(leaf7.c, 11);
  info->avx512_bf16 = avx512 && Bit(leaf7_1.a, 5);
  info->avx512_fp16 = avx512 && Bit(leaf7.d, 23);
  info->amx_tile = avx512 && (saved & kTiles) == kTiles && Bit(leaf7.d, 24) && AskForTiles();
  info->amx_int8 = info->amx_tile && Bit(leaf7.d, 25);
  info->amx_bf16 = info->amx_tile && Bit(leaf7.d, 22);
}

void DetectCaches(CpuInfo* info) {
  // The same list of caches is leaf 4 on Intel and 0x8000001d on AMD (if its topology extensions are there).
  const bool amd_list = Bit(Cpuid(0x80000001).c, 22);
  for (unsigned i = 0; i < 16; ++i) {
    const Registers cache = Cpuid(amd_list ? 0x8000001d : 4, i);
    constexpr unsigned kNone = 0, kInstructions = 2;
    const unsigned type = cache.a & 31;
    if (type == kNone) return;
    if (type == kInstructions) continue;
    const size_t ways = (cache.b >> 22) + 1, partitions = (cache.b >> 12 & 1023) + 1, line = (cache.b & 4095) + 1;
    const size_t bytes = ways * partitions * line * (size_t{cache.c} + 1);
    const unsigned level = cache.a >> 5 & 7;
    if (level == 1) info->l1d_bytes = bytes;
    if (level == 2) info->l2_bytes = bytes;
    if (level == 3) info->l3_bytes = bytes;
  }
}

void DetectNames(CpuInfo* info) {
  const Registers leaf0 = Cpuid(0);
  const unsigned vendor[3] = {leaf0.b, leaf0.d, leaf0.c};
  info->vendor.assign(reinterpret_cast<const char*>(vendor), sizeof vendor);
  if (Cpuid(0x80000000).a < 0x80000004) return;
  Registers brand[3] = {Cpuid(0x80000002), Cpuid(0x80000003), Cpuid(0x80000004)};
  info->brand.assign(reinterpret_cast<const char*>(brand), sizeof brand);
  info->brand.resize(std::strlen(info->brand.c_str()));
  info->brand.erase(0, info->brand.find_first_not_of(' '));
  info->brand.erase(info->brand.find_last_not_of(' ') + 1);
}

#elif defined(__aarch64__)

// From the system: a program cannot ask an ARM processor.
void DetectCaches(CpuInfo* info) {
  for (int i = 0; i < 16; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    std::string type;
    int level = 0;
    size_t kib = 0;
    if (!(std::ifstream(folder + "type") >> type) || !(std::ifstream(folder + "level") >> level) ||
        !(std::ifstream(folder + "size") >> kib)) {
      return;
    }
    if (type == "Instruction") continue;
    if (level == 1) info->l1d_bytes = kib << 10;
    if (level == 2) info->l2_bytes = kib << 10;
    if (level == 3) info->l3_bytes = kib << 10;
  }
}

#endif

}  // namespace

const char* ToString(Isa isa) noexcept {
  switch (isa) {
    case Isa::kBaseline: return "baseline";
#if defined(__aarch64__)
    case Isa::kNeon: return "neon";
#else
    case Isa::kSse4: return "sse4";
    case Isa::kAvx2: return "avx2";
    case Isa::kAvx512: return "avx512";
#endif
  }
  return "unknown instruction set";
}

CpuInfo CpuInfo::Detect(const char* isa_limit) {
  CpuInfo info;
#if defined(__x86_64__)
  DetectFeatures(&info);
  DetectCaches(&info);
  DetectNames(&info);
#elif defined(__aarch64__)
  info.isa = Isa::kNeon;
  DetectCaches(&info);
#endif
  Limit(kIsas.back(), &info);
  if (isa_limit != nullptr && *isa_limit != '\0') Limit(ParseIsa(isa_limit), &info);
  return info;
}

const CpuInfo& CpuInfo::Get() {
  static const CpuInfo info = Detect(std::getenv("WHERRY_ISA"));
  return info;
}

}  // namespace wherry
