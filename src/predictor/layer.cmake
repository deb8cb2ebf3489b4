set_source_files_properties("${dir}/light_predictor.cc" PROPERTIES COMPILE_DEFINITIONS WHERRY_VERSION="${PROJECT_VERSION}")
