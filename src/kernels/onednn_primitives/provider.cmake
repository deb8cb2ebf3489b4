# Opened by the plug-in in kernels/onednn.
wherry_require_package(WHERRY_ONEDNN dnnl)
set(LAYER_PLUGIN ON)
set(LAYER_LIBS DNNL::dnnl)
