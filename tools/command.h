// The subcommands. Each adds itself to the application; the callback runs it and throws wherry::Error on failure.
#pragma once

#include <CLI/CLI.hpp>

namespace wherry::tools {

void AddRunCommand(CLI::App* app);
void AddOptCommand(CLI::App* app);
void AddVerifyCommand(CLI::App* app);
void AddBenchCommand(CLI::App* app);
void AddShowCommand(CLI::App* app);
void AddListCommand(CLI::App* app);

}  // namespace wherry::tools
