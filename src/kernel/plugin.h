// Plug-ins: shared libraries that bring operators, kernels, providers, passes or importers. A plug-in is linked against
// libwherry.so and registers with the same macros as everything else; loading it is all there is to do.
#pragma once

#include <string>

namespace wherry {

// Loads a plug-in and merges what it registers. Loading one again has no effect. Plug-ins are never unloaded.
// Thread-safe. Error(kNotFound) when there is no such file, Error(kUnavailable) with the loader's words when it cannot
// be loaded, Error(kUnsupported) in a program with the static library, Error(kAlreadyExists) when the name of an
// operator, provider or kernel is taken (the rest of it stays registered; passes, importers and import rules whose name
// is taken are the Error of the next use of their registry).
void LoadPlugin(const std::string& path);

// Loads, once in a process, the plug-ins that the environment variable WHERRY_PLUGINS asks for:
//   unset      those that Wherry knows (libwherry_onednn.so, ...) and that lie beside libwherry.so. An absent one is no
//              matter; one that cannot be loaded is a warning in the log. A program with the static library has none.
//   none       none
//   path:path  exactly these; one that cannot be loaded is an Error, as in LoadPlugin.
// The registries of kernels, providers and passes call it on first use; those of operators and importers see no kernel,
// so whoever loads a model or lists operators calls it first.
void LoadDefaultPlugins();

}  // namespace wherry
