// What this machine's processor can do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace wherry {

// How many of the x86 sets below are compiled, from the least on: the CMake option WHERRY_MAX_ISA.
#ifndef WHERRY_X86_ISAS
#define WHERRY_X86_ISAS 3
#endif

// The instruction set levels that kernels are compiled for, each including those before it. A build has those of its
// processor family.
enum class Isa : uint8_t {
  kBaseline,  // what the compiler may always use (x86-64: SSE2)
#if defined(__aarch64__)
  kNeon,  // every 64-bit ARM processor has it
#else
  kSse4,    // SSE4.1, SSE4.2, SSSE3, POPCNT
  kAvx2,    // AVX2, FMA, F16C, BMI1, BMI2, LZCNT
  kAvx512,  // AVX-512 F, BW, CD, DQ, VL
#endif
};

// All above kBaseline that this build has, the least first.
#if defined(__aarch64__)
inline constexpr std::array kIsas = {Isa::kNeon};
#elif WHERRY_X86_ISAS == 1
inline constexpr std::array kIsas = {Isa::kSse4};
#elif WHERRY_X86_ISAS == 2
inline constexpr std::array kIsas = {Isa::kSse4, Isa::kAvx2};
#else
inline constexpr std::array kIsas = {Isa::kSse4, Isa::kAvx2, Isa::kAvx512};
#endif

// "baseline", "sse4", "avx2", "avx512", "neon".
const char* ToString(Isa isa) noexcept;

// A value. A feature is there only if the processor has it, the operating system saves its registers, and this build
// has kernels of its level.
struct CpuInfo {
  Isa isa = Isa::kBaseline;

  bool avx_vnni = false;     // int8 dot products on AVX2 registers
  bool avx512_vnni = false;  // int8 dot products
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool amx_tile = false;  // and this process may use the tiles
  bool amx_int8 = false;
  bool amx_bf16 = false;

  // Bytes of one core's data caches, and of the last level that cores share; 0 when there is none. Guesses where the
  // processor does not say: 32 KiB, 256 KiB, 0.
  size_t l1d_bytes = 32 << 10;
  size_t l2_bytes = 256 << 10;
  size_t l3_bytes = 0;

  std::string vendor;  // "GenuineIntel", "AuthenticAMD", or "" when unknown
  std::string brand;   // "AMD EPYC 9B45", or "" when unknown

  bool Has(Isa least) const noexcept { return isa >= least; }

  // This machine's, found once; thread-safe. The environment variable WHERRY_ISA (the name of one of kIsas), read then,
  // lowers it: what is above that level is reported as missing (to reproduce a result of, or to test for, a lesser
  // machine). It never raises it. Throws kInvalidArgument when WHERRY_ISA is something else.
  static const CpuInfo& Get();

  // Found anew. `isa_limit` stands for the environment variable; nullptr and "" are none.
  static CpuInfo Detect(const char* isa_limit);
};

}  // namespace wherry
