# What `cmake --install` writes: the libraries and plug-ins, the public headers with the internal ones that
# wherry/extend.h needs (below wherry/detail/), the op generator for out-of-tree ops, the licence, and the CMake package.

include(CMakePackageConfigHelpers)

get_property(plugins GLOBAL PROPERTY WHERRY_PLUGINS)
get_property(packages GLOBAL PROPERTY WHERRY_PACKAGES)
list(REMOVE_DUPLICATES packages)
install(TARGETS wherry wherry_static wherry_light EXPORT wherry-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(plugins)
  install(TARGETS ${plugins} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

install(CODE "execute_process(COMMAND \"${WHERRY_PYTHON}\" \"${PROJECT_SOURCE_DIR}/scripts/install_headers.py\"
  --source \"${PROJECT_SOURCE_DIR}\" --gen \"${WHERRY_GEN_DIR}\"
  --dest \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\" COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/codegen/" DESTINATION ${CMAKE_INSTALL_DATADIR}/wherry/codegen
        PATTERN "__pycache__" EXCLUDE PATTERN "tests" EXCLUDE PATTERN "*_test.py" EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/ops/" DESTINATION ${CMAKE_INSTALL_DATADIR}/wherry/ops
        FILES_MATCHING PATTERN "*.json")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wherry)
# Not where find_package would take the half of a package for a whole: it looks beside the bin/ of each entry of PATH.
set(package_files "${PROJECT_BINARY_DIR}/package")
list(TRANSFORM packages REPLACE "(.+)" "find_dependency(\\1)" OUTPUT_VARIABLE find_dependencies)
string(JOIN "\n" WHERRY_FIND_DEPENDENCIES ${find_dependencies})
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/wherryConfig.cmake.in"
                              "${package_files}/wherryConfig.cmake" INSTALL_DESTINATION ${package_dir}
                              PATH_VARS CMAKE_INSTALL_DATADIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${package_files}/wherryConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(EXPORT wherry-targets NAMESPACE wherry:: DESTINATION ${package_dir})
install(FILES "${package_files}/wherryConfig.cmake" "${package_files}/wherryConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/WherryAddOps.cmake" "${PROJECT_SOURCE_DIR}/cmake/Findre2.cmake"
        DESTINATION ${package_dir})
