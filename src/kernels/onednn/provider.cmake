# A plug-in: libwherry never needs oneDNN, and loads this module where it is present. What is linked to oneDNN is another
# module, which this one opens when it is needed.
wherry_require_package(WHERRY_ONEDNN dnnl)
set(LAYER_PLUGIN ON)
set(LAYER_LIBS ${CMAKE_DL_LIBS})
