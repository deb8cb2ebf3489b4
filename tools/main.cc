// wherry: runs, optimises, verifies, measures and shows models.
//
// Exit status: 0 done, 2 usage, 1 anything else with one message on standard error.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "command.h"
#include "wherry/error.h"
#include "wherry/predictor.h"

int main(int argc, char** argv) {
  CLI::App app("Runs trained neural networks: Paddle and ONNX models.", "wherry");
  app.set_version_flag("--version", wherry::PaddlePredictor::GetVersion());
  app.require_subcommand(1);
  app.fallthrough(false);
  wherry::tools::AddRunCommand(&app);
  wherry::tools::AddOptCommand(&app);
  wherry::tools::AddVerifyCommand(&app);
  wherry::tools::AddBenchCommand(&app);
  wherry::tools::AddShowCommand(&app);
  wherry::tools::AddListCommand(&app);
  const auto is_called = [argv](const CLI::App* command) { return command->check_name(argv[1]); };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_called).empty()) {
    std::fprintf(stderr, "There is no subcommand '%s'.\nRun with --help for those there are.\n", argv[1]);
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  } catch (const wherry::Error& error) {
    std::fprintf(stderr, "wherry: %s: %s\n", wherry::ToString(error.code()), error.what());
    return 1;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "wherry: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wherry: unexpected failure: %s\n", error.what());
    return 1;
  }
  return 0;
}
