# A plug-in: libwherry never needs oneDNN, and loads this module where it is present.
wherry_require_package(WHERRY_ONEDNN dnnl)
set(LAYER_PLUGIN ON)
set(LAYER_LIBS DNNL::dnnl)
