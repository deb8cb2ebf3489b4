# wherry_add_ops(TARGET FILE.yaml... [INFER_META header.h])
#
# Generates the operators that the YAML files describe (the format of Wherry's own ops/) and compiles them into TARGET.
# The header declares their InferMeta functions, in the global namespace or in wherry. Their API is in the header
# <TARGET>_ops.h, which TARGET and what links to it can include. Needs Python 3 with PyYAML and jsonschema.
function(wherry_add_ops target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INFER_META" "")
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/${target}_ops")
  set(inputs "")
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND inputs "${file}")
  endforeach()
  set(opgen "${Python3_EXECUTABLE}" "${wherry_CODEGEN_DIR}/opgen.py" --extension ${target} --out "${out}" --files
            ${inputs})
  if(arg_INFER_META)
    cmake_path(ABSOLUTE_PATH arg_INFER_META BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE header)
    list(APPEND opgen --infer-meta "${header}")
    list(APPEND inputs "${header}")
  endif()
  execute_process(COMMAND ${opgen} --list-outputs OUTPUT_VARIABLE outputs OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" outputs "${outputs}")
  list(TRANSFORM outputs PREPEND "${out}/")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})
  add_custom_command(OUTPUT ${outputs} COMMAND ${opgen} DEPENDS ${inputs} VERBATIM
                     COMMENT "Generating the operators of ${target}")
  target_sources(${target} PRIVATE ${outputs})
  target_include_directories(${target} PUBLIC "${out}")
  target_compile_features(${target} PRIVATE cxx_std_20)
endfunction()
