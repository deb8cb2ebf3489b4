# wherry_require_package(OPTION PACKAGE), for provider.cmake: the folder is built if the option (AUTO, ON or OFF) and the
# machine allow it.
macro(wherry_require_package option package)
  if(${option} STREQUAL "AUTO" OR ${option})
    find_package(${package} QUIET)
  endif()
  if(NOT ${package}_FOUND OR NOT (${option} STREQUAL "AUTO" OR ${option}))
    set(LAYER_SKIP ON)
    if(NOT ${option} STREQUAL "AUTO" AND ${option})
      message(FATAL_ERROR "${option} is ON, but ${package} was not found")
    endif()
  endif()
endmacro()

# wherry_add_layer(FOLDER [KEEP regex] [DROP regex] [SUFFIX s])
#
# Makes the OBJECT library wherry_<folder>[_s] of src/FOLDER and of what the generators write to gen/FOLDER, if there is
# any source. Unit tests (*_test.cc), benchmarks (*_bench.cc) and test helpers (*_test_util.cc) are left out.
# The folder may hold layer.cmake (provider.cmake in a provider), which is included first and may set
#   LAYER_LIBS      libraries that the objects need (compile and link)
#   LAYER_PACKAGES  CMake packages that a user of the static library must find for them (find_dependency)
#   LAYER_SOURCES   further sources, e.g. generated ones
#   LAYER_INCLUDES  further include folders
#   LAYER_SKIP      ON: build nothing
#   LAYER_PLUGIN    ON: a loadable module libwherry_<last part of FOLDER>.so instead of a part of the library
# Adds the target to the global property WHERRY_OBJECTS or WHERRY_PLUGINS, or the folder to WHERRY_SKIPPED.
function(wherry_add_layer folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KEEP;DROP;SUFFIX" "")
  string(REPLACE "/" "_" name "${folder}${arg_SUFFIX}")
  set(dir "${PROJECT_SOURCE_DIR}/src/${folder}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${dir}/*.cc")
  list(FILTER sources EXCLUDE REGEX "_(test|bench|test_util)\\.cc$")
  foreach(source IN LISTS WHERRY_GEN_SOURCES)
    cmake_path(IS_PREFIX WHERRY_GEN_DIR "${source}" is_generated)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${WHERRY_GEN_DIR}" OUTPUT_VARIABLE relative)
    if(is_generated AND relative MATCHES "^${folder}/")
      list(APPEND sources "${source}")
    endif()
  endforeach()
  if(arg_KEEP)
    list(FILTER sources INCLUDE REGEX "${arg_KEEP}")
  endif()
  if(arg_DROP)
    list(FILTER sources EXCLUDE REGEX "${arg_DROP}")
  endif()

  set(LAYER_LIBS "")
  set(LAYER_PACKAGES "")
  set(LAYER_SOURCES "")
  set(LAYER_INCLUDES "")
  set(LAYER_SKIP OFF)
  set(LAYER_PLUGIN OFF)
  include("${dir}/layer.cmake" OPTIONAL)
  include("${dir}/provider.cmake" OPTIONAL)
  list(APPEND sources ${LAYER_SOURCES})
  if(LAYER_SKIP AND sources)
    message(STATUS "src/${folder} is left out")
    set_property(GLOBAL APPEND PROPERTY WHERRY_SKIPPED ${folder})
  endif()
  if(LAYER_SKIP OR NOT sources)
    return()
  endif()

  if(LAYER_PLUGIN)
    set(target wherry_plugin_${name})
    add_library(${target} MODULE ${sources})
    cmake_path(GET folder FILENAME stem)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME wherry_${stem} BUILD_RPATH_USE_ORIGIN ON
                                               INSTALL_RPATH "$ORIGIN")
    target_link_libraries(${target} PRIVATE wherry)
    target_link_options(${target} PRIVATE ${WHERRY_NO_UNDEFINED})
    set_property(GLOBAL APPEND PROPERTY WHERRY_PLUGINS ${target})
  else()
    set(target wherry_${name})
    add_library(${target} OBJECT ${sources})
    # In the tree a registration is a constant that the generated tables name, not a constructor.
    target_compile_definitions(${target} PRIVATE WHERRY_BUILTIN)
    set_property(GLOBAL APPEND PROPERTY WHERRY_OBJECTS ${target})
    set_property(GLOBAL APPEND PROPERTY WHERRY_PACKAGES ${LAYER_PACKAGES})
  endif()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include"
                                               "${WHERRY_GEN_DIR}" ${LAYER_INCLUDES})
  target_link_libraries(${target} PRIVATE wherry_compile ${LAYER_LIBS})
  # Every 64-bit ARM processor has fused multiply-adds, and GCC would make them of what is written as two operations.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$" AND NOT folder STREQUAL "kernels/cpu")
    target_compile_options(${target} PRIVATE -ffp-contract=off)
  endif()
  add_dependencies(${target} wherry_codegen)
  set_property(TARGET ${target} PROPERTY WHERRY_LIBS ${LAYER_LIBS})
  set_property(TARGET ${target} PROPERTY WHERRY_FOLDER ${folder})
endfunction()

# wherry_add_collection(FOLDER): every folder in src/FOLDER is a layer.
function(wherry_add_collection folder)
  file(GLOB children CONFIGURE_DEPENDS LIST_DIRECTORIES true "${PROJECT_SOURCE_DIR}/src/${folder}/*")
  foreach(child IN LISTS children)
    if(IS_DIRECTORY "${child}")
      cmake_path(GET child FILENAME stem)
      wherry_add_layer("${folder}/${stem}")
    endif()
  endforeach()
endfunction()

# wherry_fill_library(TARGET OBJECTS...): the objects, and privately what they link to.
function(wherry_fill_library target)
  foreach(object IN LISTS ARGN)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
    get_target_property(libs ${object} WHERRY_LIBS)
    if(libs)
      target_link_libraries(${target} PRIVATE ${libs})
    endif()
  endforeach()
endfunction()

function(wherry_add_subdirectory_if_present folder)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    add_subdirectory("${folder}")
  endif()
endfunction()
