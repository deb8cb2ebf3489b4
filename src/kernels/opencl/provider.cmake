# Kernels for OpenCL devices. The .cl files beside the .cc files are embedded in the library.
wherry_require_package(WHERRY_OPENCL OpenCL)
set(LAYER_LIBS OpenCL::OpenCL)
set(LAYER_PACKAGES OpenCL)
if(NOT LAYER_SKIP)
  file(GLOB opencl_sources CONFIGURE_DEPENDS "${dir}/*.cl")
  set(LAYER_SOURCES "${WHERRY_GEN_DIR}/kernels/opencl/sources.gen.cc")
  add_custom_command(
    OUTPUT ${LAYER_SOURCES} VERBATIM COMMENT "Embedding the OpenCL sources"
    COMMAND ${WHERRY_PYTHON} "${dir}/embed_sources.py" --out ${LAYER_SOURCES} ${opencl_sources}
    DEPENDS "${dir}/embed_sources.py" ${opencl_sources})
endif()
