# What nearly every file reads first is parsed once for each set of compiler options: a fifth to a third of a file's time.
# A file still includes what it uses: the presets minimal, clang and tidy build without this (CMake's own switch,
# CMAKE_DISABLE_PRECOMPILE_HEADERS).
# Our own by the names that files include them by: with absolute ones no two checkouts would share a compiler cache.
set(WHERRY_PRECOMPILED <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map> <memory>
                       <optional> <set> <span> <sstream> <string> <string_view> <unordered_map> <utility> <variant>
                       <vector> [["base/check.h"]] [["base/strings.h"]] [["core/dense_tensor.h"]]
                       [["op/schema_registry.h"]])

# wherry_precompile(TARGET GROUP [HEADERS...]): targets of one GROUP have the same compiler options and macros and share one
# precompiled header, which the first of them makes, with HEADERS beside the usual ones.
function(wherry_precompile target group)
  # The slim library is compiled for size, object by object.
  if(WHERRY_SLIM OR CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  get_property(first GLOBAL PROPERTY WHERRY_PRECOMPILED_${group})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${WHERRY_PRECOMPILED} ${ARGN})
    set_property(GLOBAL PROPERTY WHERRY_PRECOMPILED_${group} ${target})
  endif()
endfunction()
