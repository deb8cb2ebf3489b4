set_source_files_properties("${dir}/kernel_timer.cc" PROPERTIES COMPILE_DEFINITIONS WHERRY_VERSION="${PROJECT_VERSION}")
