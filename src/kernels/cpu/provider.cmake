# Own SIMD kernels. Highway is used as headers only (simd/isa.h says why), so no library carries or requires it.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|aarch64|arm64)$")
  find_path(WHERRY_HIGHWAY_INCLUDE_DIR hwy/highway.h REQUIRED)
  if(NOT WHERRY_HIGHWAY_INCLUDE_DIR STREQUAL "/usr/include")
    add_library(wherry_highway INTERFACE IMPORTED GLOBAL)
    target_include_directories(wherry_highway SYSTEM INTERFACE "${WHERRY_HIGHWAY_INCLUDE_DIR}")
    list(APPEND LAYER_LIBS wherry_highway)
  endif()
  # Integers, and which boxes stay, must not depend on whether the compiler joins a product and a sum into one rounding.
  set_source_files_properties("${dir}/quantized/byte_elementwise.cc" "${dir}/nms.cc" PROPERTIES
                              COMPILE_OPTIONS -ffp-contract=off SKIP_PRECOMPILE_HEADERS ON)
else()
  set(LAYER_SKIP ON)
endif()
