# Regular expressions, by the library whose syntax ONNX names.
wherry_require_package(WHERRY_RE2 re2)
set(LAYER_LIBS re2::re2)
set(LAYER_PACKAGES re2)
