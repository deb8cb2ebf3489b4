# One GoogleTest binary a layer folder, test_<folder>, of the *_test.cc beside the sources; then the suites in tests/.

find_package(GTest QUIET)
if(NOT GTest_FOUND)
  # Debian has the sources too, for what it has no library for.
  set(googletest /usr/src/googletest)
  if(NOT EXISTS ${googletest})
    message(FATAL_ERROR "The tests need GoogleTest (Debian: libgtest-dev), or WHERRY_BUILD_TESTS=OFF")
  endif()
  set(INSTALL_GTEST OFF)
  add_subdirectory(${googletest} "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL)
endif()

# A refused allocation is an Error of Wherry's, which tests provoke; the sanitizers would end the process instead.
set(WHERRY_TEST_ENVIRONMENT "")
if(WHERRY_SANITIZE)
  set(WHERRY_TEST_ENVIRONMENT "ASAN_OPTIONS=allocator_may_return_null=1;TSAN_OPTIONS=allocator_may_return_null=1"
                              "UBSAN_OPTIONS=print_stacktrace=1")
endif()

# wherry_add_test(NAME SOURCES... [LIBS ...] [LABELS ...]): a GoogleTest binary and its ctest entry. It sees src/,
# and runs in the source folder: files are named from there.
# Label asan: part of the sanitized run of `make test` (whatever reads foreign bytes, and the passes).
function(wherry_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS;LABELS")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include"
                                             "${WHERRY_GEN_DIR}")
  target_link_libraries(${name} PRIVATE wherry_compile ${arg_LIBS} GTest::gtest_main)
  # On two cores, optimising the tests themselves takes longer than running them.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  wherry_precompile(${name} tests <gtest/gtest.h>)
  add_dependencies(${name} wherry_codegen)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 900 ENVIRONMENT "${WHERRY_TEST_ENVIRONMENT}")
  if("asan" IN_LIST arg_LABELS)
    set_property(GLOBAL APPEND PROPERTY WHERRY_ASAN_TESTS ${name})
  endif()
endfunction()

function(wherry_add_layer_test folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${folder}/*_test.cc")
  get_property(skipped GLOBAL PROPERTY WHERRY_SKIPPED)
  if(NOT sources OR folder IN_LIST skipped)
    return()
  endif()
  file(GLOB_RECURSE helpers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${folder}/*_test_util.cc")
  string(REPLACE "/" "_" name "${folder}")
  set(labels unit)
  if(folder MATCHES "^(core|op|ir|importer|format|predictor|importers/.*|passes/.*)$")
    list(APPEND labels asan)
  endif()
  # base and core are tested without the rest of the library, so that their tests build first and prove it.
  set(libs wherry)
  if(folder STREQUAL "base")
    set(libs wherry_base)
  elseif(folder STREQUAL "core")
    set(libs wherry_core wherry_base)
  endif()
  # A test may call what its layer is made with (OpenCL).
  if(TARGET wherry_${name})
    get_target_property(layer_libs wherry_${name} WHERRY_LIBS)
    if(layer_libs)
      list(APPEND libs ${layer_libs})
    endif()
  endif()
  wherry_add_test(test_${name} SOURCES ${sources} ${helpers} LIBS ${libs} Threads::Threads ${CMAKE_DL_LIBS}
                  LABELS ${labels})
endfunction()

foreach(layer IN ITEMS base core op kernel ir pass importer format runtime builtin eager predictor)
  wherry_add_layer_test(${layer})
endforeach()
foreach(collection IN ITEMS kernels importers passes)
  file(GLOB children CONFIGURE_DEPENDS LIST_DIRECTORIES true "${PROJECT_SOURCE_DIR}/src/${collection}/*")
  foreach(child IN LISTS children)
    if(IS_DIRECTORY "${child}")
      cmake_path(GET child FILENAME stem)
      wherry_add_layer_test("${collection}/${stem}")
    endif()
  endforeach()
endforeach()

if(TARGET wherry_tools AND WHERRY_TOOLS_TESTS)
  wherry_add_test(test_tools SOURCES ${WHERRY_TOOLS_TESTS} LIBS wherry_tools LABELS unit asan)
endif()

# The scripts of the tree are tested beside themselves too.
file(GLOB_RECURSE python_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/codegen/*_test.py"
     "${PROJECT_SOURCE_DIR}/scripts/*_test.py")
foreach(test IN LISTS python_tests)
  cmake_path(GET test STEM LAST_ONLY stem)
  add_test(NAME ${stem} COMMAND ${WHERRY_PYTHON} -B "${test}")
  set_tests_properties(${stem} PROPERTIES LABELS tools TIMEOUT 300)
endforeach()

# What is committed, and what is compiled from src/, keeps to the rules that a script can check.
foreach(rule IN ITEMS layers sizes goldens)
  add_test(NAME check_${rule} COMMAND ${WHERRY_PYTHON} "${PROJECT_SOURCE_DIR}/scripts/check_${rule}.py"
                                      "${PROJECT_SOURCE_DIR}")
  set_tests_properties(check_${rule} PROPERTIES LABELS tools)
endforeach()
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT WHERRY_SANITIZE)
  add_test(NAME check_constructors COMMAND ${WHERRY_PYTHON} "${PROJECT_SOURCE_DIR}/scripts/check_constructors.py"
                                           "$<TARGET_FILE:wherry_static>")
  set_tests_properties(check_constructors PROPERTIES LABELS tools)
endif()

# What the documentation lists is what the command has.
if(TARGET wherry_command)
  add_test(NAME check_reference_tables COMMAND ${WHERRY_PYTHON} -B "${PROJECT_SOURCE_DIR}/scripts/reference_tables.py"
                                               --check --wherry "$<TARGET_FILE:wherry_command>")
  set_tests_properties(check_reference_tables PROPERTIES LABELS tools)
endif()

file(GLOB suites CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*/CMakeLists.txt")
foreach(suite IN LISTS suites)
  cmake_path(GET suite PARENT_PATH folder)
  add_subdirectory("${folder}")
endforeach()
wherry_add_subdirectory_if_present(fuzz)

# What the test preset asan_quick runs, for a build of just that.
get_property(asan_tests GLOBAL PROPERTY WHERRY_ASAN_TESTS)
add_custom_target(wherry_asan_tests)
if(asan_tests)
  add_dependencies(wherry_asan_tests ${asan_tests})
endif()
