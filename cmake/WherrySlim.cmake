# libwherry_light.so with what one network needs (WHERRY_SLIM): a shared library that exports the predictor's interface
# and nothing else, so that the linker drops every function that no kept operator, kernel or exported name leads to.

get_property(objects GLOBAL PROPERTY WHERRY_OBJECTS)
target_compile_options(wherry_compile INTERFACE -ffunction-sections -fdata-sections)
# Time goes into the kernels; the rest is made small.
foreach(object IN LISTS objects)
  get_target_property(folder ${object} WHERRY_FOLDER)
  if(NOT folder MATCHES "^kernels/")
    target_compile_options(${object} PRIVATE -Os)
  endif()
endforeach()
add_library(wherry_light SHARED)
add_library(wherry::light ALIAS wherry_light)
wherry_fill_library(wherry_light ${objects})
set(exports "${CMAKE_CURRENT_LIST_DIR}/light_exports.map")
target_link_options(wherry_light PRIVATE ${WHERRY_NO_UNDEFINED} -Wl,--gc-sections -Wl,-O2
                                         "-Wl,--version-script=${exports}")
set_property(TARGET wherry_light APPEND PROPERTY LINK_DEPENDS "${exports}")
target_link_libraries(wherry_light PRIVATE Threads::Threads ${CMAKE_DL_LIBS} wherry_compile)
target_compile_features(wherry_light INTERFACE cxx_std_17)
target_include_directories(wherry_light INTERFACE "${PROJECT_SOURCE_DIR}/include" "${WHERRY_GEN_DIR}")
