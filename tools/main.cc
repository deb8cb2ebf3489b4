// wherry: runs, optimises, verifies, measures and shows models.
//
// Exit status: 0 done, 2 usage, 1 anything else with one message on standard error.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "command.h"
#include "wherry/error.h"
#include "wherry/file.h"
#include "wherry/predictor.h"

namespace {

// A file that is opened must not become the standard output of a command that was started without one.
void OpenStandardStreams() {
  for (int stream = 0; stream <= 2; ++stream) {
    // The wrong way round, so that using it stays an error.
    if (fcntl(stream, F_GETFD) == -1) open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

void EndBySignal(int signal) {
  wherry::RemoveTemporaryFiles();
  raise(signal);  // by default again, as SA_RESETHAND says
}

void HandleSignals() {
  // Writing beyond a limit of file sizes is then an error of the write.
  signal(SIGXFSZ, SIG_IGN);
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    // What is ignored (nohup) stays ignored.
    if (sigaction(ending, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = &EndBySignal;
    action.sa_flags = SA_RESETHAND;
    sigaction(ending, &action, nullptr);
  }
}

// What is wrong; for what a command does not know, what it does know.
std::string UsageMessage(const CLI::App* app, const CLI::Error& error) {
  std::string text = std::string(error.what()) + "\n";
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !app->get_subcommands().empty()) {
    const CLI::App* command = app->get_subcommands().front();
    text += "wherry " + command->get_name() + " has";
    for (const CLI::Option* option : command->get_options()) text += " " + option->get_name();
    text += "\n";
  }
  return text + "Run with --help for more information.\n";
}

int Run(int argc, char** argv) {
  CLI::App app("Runs trained neural networks: Paddle and ONNX models.", "wherry");
  app.set_version_flag("--version", wherry::PaddlePredictor::GetVersion());
  app.require_subcommand(1);
  app.fallthrough(false);
  app.failure_message(&UsageMessage);
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

// What was printed may still fail to be written. A reader that went away knows that it did.
bool PrintedAll() {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (failed && errno != EPIPE)
    std::fprintf(stderr, "wherry: cannot write to standard output: %s\n", std::strerror(errno == 0 ? EIO : errno));
  return !failed;
}

}  // namespace

int main(int argc, char** argv) {
  OpenStandardStreams();
  HandleSignals();
  const int status = Run(argc, argv);
  return PrintedAll() ? status : std::max(status, 1);
}
