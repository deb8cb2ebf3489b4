// Extending Wherry from outside its tree: operators, kernels, providers of devices, passes. Needs C++20; the other
// public headers but compat.h need C++17.
//
// In a program or a plug-in (a shared library linked against libwherry.so):
//   REGISTER_KERNEL(op, provider, target, layout, function, element types...)     kernel/kernel_registrar.h
//   REGISTER_KERNEL_VARIANT(op, provider, variant, target, dtype, layout)...      kernel/kernel_registrar.h
//   REGISTER_PROVIDER(name, doc, target, available, create_context)               kernel/provider.h
//   REGISTER_MIR_PASS(name, class)...                                             pass/pass_registry.h
// An operator is a YAML entry that the CMake function wherry_add_ops compiles in; an operator with a C++ class of its
// own is given to OpRegistry::RegisterOp (kernel/operator.h).
//
// A program built by hand or by one's own importer becomes a predictor by CreatePaddlePredictor(Program&&, CxxConfig)
// (predictor/cxx_load.h).
//
// Registering is all: what is linked in or loaded is there on the next use of its registry. A plug-in is loaded by
// LoadPlugin or by the environment variable WHERRY_PLUGINS (kernel/plugin.h). A static library's members that nothing
// refers to are not linked; name what they register with USE_OP, USE_KERNEL, USE_KERNEL_VARIANT, USE_PROVIDER or
// USE_MIR_PASS in the program.
#pragma once

#include "core/device_context.h"
#include "core/scope.h"
#include "ir/fuse_base.h"
#include "ir/text.h"
#include "kernel/invoke.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernel/kernel_registry.h"
#include "kernel/operator.h"
#include "kernel/plugin.h"
#include "kernel/provider.h"
#include "op/infer_meta_context.h"
#include "op/op_schema.h"
#include "op/schema_registry.h"
#include "pass/optimizer.h"
#include "pass/pass_manager.h"
#include "pass/pass_registry.h"
#include "predictor/cxx_load.h"
#include "wherry/error.h"
#include "wherry/log.h"
#include "wherry/scalar.h"
#include "wherry/tensor.h"
#include "wherry/types.h"
