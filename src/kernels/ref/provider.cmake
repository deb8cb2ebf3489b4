# Integers must not depend on whether the compiler joins a product and a sum into one rounding.
set_source_files_properties("${dir}/quantize.cc" PROPERTIES COMPILE_OPTIONS -ffp-contract=off
                            SKIP_PRECOMPILE_HEADERS ON)
