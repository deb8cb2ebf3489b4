// Running one product whose right-hand side is in panels.
#pragma once

#include "base/thread_pool.h"
#include "kernels/cpu/gemm/gemm_call.h"
#include "kernels/cpu/simd/isa.h"

namespace wherry::cpu {

void RunGemm(const GemmCall& call, ThreadPool* pool);

// For use inside a chunk: `isa` is what the thread that started the job chose.
void RunGemmOnCaller(const GemmCall& call, Isa isa);
void RunGemmPanel(const GemmCall& call, int64_t panel, Isa isa);  // one panel of it; call.k > 0

}  // namespace wherry::cpu
