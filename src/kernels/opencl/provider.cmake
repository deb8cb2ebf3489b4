wherry_require_package(WHERRY_OPENCL OpenCL)
set(LAYER_LIBS OpenCL::OpenCL)
set(LAYER_PACKAGES OpenCL)
