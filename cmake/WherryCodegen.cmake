# What is generated in the build, below ${WHERRY_GEN_DIR} (an include root), and by what:
#   codegen/opgen.py    ops/*.yaml -> wherry/ops.h, op/*.cc, eager/*.cc, ...; it names its own outputs
#   codegen/collect.py  registration macros in the collections -> builtin/kernels.gen.cc, builtin/graph.gen.cc
# The target wherry_codegen runs what produces headers; every library waits for it.

set(WHERRY_GEN_DIR "${PROJECT_BINARY_DIR}/gen")
file(MAKE_DIRECTORY "${WHERRY_GEN_DIR}/wherry")

# A slim build's list goes to both.
set(slim "")
set(slim_script "${PROJECT_SOURCE_DIR}/codegen/slim.py")
if(WHERRY_SLIM)
  cmake_path(ABSOLUTE_PATH WHERRY_SLIM BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" NORMALIZE)
  set(slim --slim "${WHERRY_SLIM}")
endif()

# The distribution's own Python: the generators use its yaml and jsonschema packages.
find_program(WHERRY_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(WHERRY_PYTHON NAMES python3 REQUIRED)

add_custom_target(wherry_codegen)

# Includes point downwards (LAYERS): checked whenever a source has changed, before anything is compiled.
file(GLOB_RECURSE layered_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.h" "${PROJECT_SOURCE_DIR}/src/*.cc"
     "${PROJECT_SOURCE_DIR}/include/*.h" "${PROJECT_SOURCE_DIR}/tools/*.h" "${PROJECT_SOURCE_DIR}/tools/*.cc")
add_custom_command(
  OUTPUT "${WHERRY_GEN_DIR}/layers.stamp" VERBATIM COMMENT "Checking that includes point downwards"
  COMMAND ${WHERRY_PYTHON} "${PROJECT_SOURCE_DIR}/scripts/check_layers.py" "${PROJECT_SOURCE_DIR}"
  COMMAND ${CMAKE_COMMAND} -E touch "${WHERRY_GEN_DIR}/layers.stamp"
  DEPENDS ${layered_files} "${PROJECT_SOURCE_DIR}/scripts/check_layers.py" "${PROJECT_SOURCE_DIR}/LAYERS")
add_custom_target(wherry_check_layers DEPENDS "${WHERRY_GEN_DIR}/layers.stamp")
add_dependencies(wherry_codegen wherry_check_layers)

# Sets WHERRY_GEN_SOURCES to the .cc files that opgen.py will write, absolute.
set(WHERRY_GEN_SOURCES "")
if(EXISTS "${PROJECT_SOURCE_DIR}/codegen/opgen.py")
  file(GLOB_RECURSE opgen_inputs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/codegen/*.py"
       "${PROJECT_SOURCE_DIR}/codegen/*.j2" "${PROJECT_SOURCE_DIR}/ops/*.yaml" "${PROJECT_SOURCE_DIR}/ops/*.json")
  list(FILTER opgen_inputs EXCLUDE REGEX "_test\\.py$|/tests/|/collect\\.py$")
  # The entries are checked against the InferMeta functions that it declares.
  list(APPEND opgen_inputs "${PROJECT_SOURCE_DIR}/src/op/infer/infer_meta.h" ${WHERRY_SLIM})
  set(opgen ${WHERRY_PYTHON} "${PROJECT_SOURCE_DIR}/codegen/opgen.py" --ops "${PROJECT_SOURCE_DIR}/ops"
            --out "${WHERRY_GEN_DIR}" ${slim})
  execute_process(COMMAND ${opgen} --list-outputs OUTPUT_VARIABLE opgen_outputs OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE opgen_status)
  if(NOT opgen_status EQUAL 0)
    message(FATAL_ERROR "codegen/opgen.py --list-outputs failed (see above)")
  endif()
  string(REPLACE "\n" ";" opgen_outputs "${opgen_outputs}")
  set(opgen_paths "")
  foreach(output IN LISTS opgen_outputs)
    cmake_path(ABSOLUTE_PATH output BASE_DIRECTORY "${WHERRY_GEN_DIR}" NORMALIZE OUTPUT_VARIABLE path)
    list(APPEND opgen_paths "${path}")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${opgen_inputs})
  add_custom_command(OUTPUT ${opgen_paths} COMMAND ${opgen} DEPENDS ${opgen_inputs} VERBATIM
                     COMMENT "Generating the operators from ops/*.yaml")
  add_custom_target(wherry_opgen DEPENDS ${opgen_paths})
  add_dependencies(wherry_codegen wherry_opgen)
  # The operators' reference pages, on request.
  add_custom_target(docs COMMAND ${opgen} --docs "${PROJECT_BINARY_DIR}/docs/reference/ops" VERBATIM
                    COMMENT "Writing docs/reference/ops")
  set(WHERRY_GEN_SOURCES ${opgen_paths})
  list(FILTER WHERRY_GEN_SOURCES INCLUDE REGEX "\\.cc$")
endif()

# Writes builtin/*.gen.cc, the tables of what the built-in collections register, and adds them to WHERRY_GEN_SOURCES.
# To be called when every collection has been added.
function(wherry_collect_registrations)
  get_property(objects GLOBAL PROPERTY WHERRY_OBJECTS)
  set(folders "")
  set(inputs "")
  foreach(object IN LISTS objects)
    get_target_property(folder ${object} WHERRY_FOLDER)
    if(folder MATCHES "^(kernels|passes|importers)/")
      list(APPEND folders "${folder}")
      get_target_property(sources ${object} SOURCES)
      list(APPEND inputs ${sources})
    endif()
  endforeach()
  set(outputs "${WHERRY_GEN_DIR}/builtin/kernels.gen.cc" "${WHERRY_GEN_DIR}/builtin/graph.gen.cc")
  set(collect "${PROJECT_SOURCE_DIR}/codegen/collect.py")
  # A file that is gone makes nothing newer than the tables; the list of files, written when it differs, does.
  set(list "${WHERRY_GEN_DIR}/builtin/sources.txt")
  list(JOIN inputs "\n" lines)
  file(CONFIGURE OUTPUT "${list}" CONTENT "${lines}\n" @ONLY)
  add_custom_command(
    OUTPUT ${outputs} VERBATIM COMMENT "Collecting registrations"
    COMMAND ${WHERRY_PYTHON} "${collect}" --src "${PROJECT_SOURCE_DIR}/src" --out "${WHERRY_GEN_DIR}/builtin" --folders
            ${folders} ${slim}
    DEPENDS "${collect}" "${list}" ${slim_script} ${WHERRY_SLIM} ${inputs})
  set(WHERRY_GEN_SOURCES ${WHERRY_GEN_SOURCES} ${outputs} PARENT_SCOPE)
endfunction()
