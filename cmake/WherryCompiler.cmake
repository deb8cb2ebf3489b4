# How everything in the tree is compiled: language level, warnings, sanitizers, and the faster tools where they exist.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
endif()

# The cache is shared between checkouts: paths below the source folder are hashed relative to it. The sloppiness is what
# ccache asks for with precompiled headers (no file here depends on __TIME__ or on macros defined before them), and that
# of headers which were written a moment ago, as a fresh clone's are.
find_program(WHERRY_CCACHE ccache)
if(WHERRY_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${WHERRY_CCACHE})
endif()
# A cross compiler looks for its own lld only.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld WHERRY_HAS_LLD)
if(WHERRY_HAS_LLD AND PROJECT_IS_TOP_LEVEL)
  add_link_options(-fuse-ld=lld)
endif()

# Interface target of every object in the tree; never installed.
add_library(wherry_compile INTERFACE)
target_compile_options(wherry_compile INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wmissing-declarations
                                                -Wpedantic $<$<BOOL:${WHERRY_WERROR}>:-Werror>)
# At -O3, GCC 12 sees overlapping copies in every "text" + std::string (GCC bug 105651). It also forgets that a precompiled
# header is the system's, and warns of what it inlines from there. Builds without precompiled headers are no stricter:
# what compiles in one compiles in the other.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(wherry_compile INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                                                  -Wno-stringop-overread)
endif()
# Sets above are neither compiled nor reported by CpuInfo.
set(isas sse4 avx2 avx512)
list(FIND isas "${WHERRY_MAX_ISA}" isa)
if(isa EQUAL -1)
  message(FATAL_ERROR "WHERRY_MAX_ISA is ${WHERRY_MAX_ISA}; it may be sse4, avx2 or avx512")
elseif(NOT WHERRY_MAX_ISA STREQUAL "avx512")
  math(EXPR isa "${isa} + 1")
  target_compile_definitions(wherry_compile INTERFACE WHERRY_X86_ISAS=${isa})
endif()
if(WHERRY_SANITIZE)
  target_compile_options(wherry_compile INTERFACE -fsanitize=${WHERRY_SANITIZE} -fno-sanitize-recover=all
                                                  -fno-omit-frame-pointer)
  target_link_options(wherry_compile INTERFACE -fsanitize=${WHERRY_SANITIZE})
  # With the sanitizers' checks in between, GCC takes the value of an empty std::optional for one that is read.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(wherry_compile INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
# A shared library must find all it needs. Clang's sanitizers and fuzzer leave their runtime to the executable.
set(WHERRY_NO_UNDEFINED -Wl,-z,defs)
if((WHERRY_SANITIZE OR WHERRY_FUZZ) AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(WHERRY_NO_UNDEFINED "")
endif()
if(WHERRY_FUZZ)
  # Coverage feedback from the whole library; only the fuzz targets can be linked in such a build.
  target_compile_options(wherry_compile INTERFACE -fsanitize=fuzzer-no-link)
endif()
