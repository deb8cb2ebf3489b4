// For bodies that are plain loops: compilers vectorise them for the instruction set, whatever the types.
#pragma once

// Before a loop whose iterations depend on no other, not even where the result lies over an operand.
#if defined(__clang__)
#define WHERRY_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define WHERRY_INDEPENDENT _Pragma("GCC ivdep")
#endif
