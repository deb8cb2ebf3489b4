// wherry list: operators, imports, kernels, passes, places.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "command.h"
#include "wherry/program.h"

namespace wherry::tools {

namespace {

using Json = nlohmann::ordered_json;

std::string Join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

void ListOpsTo(bool json) {
  Json list = Json::array();
  for (const OpInfo& op : ListOps()) {
    if (json) {
      list.push_back({{"name", op.name},
                      {"signature", op.signature},
                      {"aliases", op.aliases},
                      {"formats", op.formats},
                      {"doc", op.doc}});
    } else {
      std::printf("%-20s %s%s\n", op.name.c_str(), op.signature.c_str(),
                  op.formats.empty() ? "" : ("  [" + Join(op.formats) + "]").c_str());
    }
  }
  if (json) std::printf("%s\n", list.dump(2).c_str());
}

void ListImportsTo(bool json) {
  Json list = Json::array();
  for (const ImportInfo& import : ListImports()) {
    if (json) {
      list.push_back({{"format", import.format},
                      {"type", import.type},
                      {"op", import.op},
                      {"since", import.since},
                      {"until", import.until}});
    } else {
      std::string opsets;
      if (import.until >= 0) {
        opsets = "  (opset " + std::to_string(import.since) + " to " + std::to_string(import.until) + ")";
      } else if (import.since > 1) {
        opsets = "  (opset " + std::to_string(import.since) + " and later)";
      }
      const std::string op = import.op.empty() ? "one or several operators" : import.op;
      std::printf("%-8s %-32s %s%s\n", import.format.c_str(), import.type.c_str(), op.c_str(), opsets.c_str());
    }
  }
  if (json) std::printf("%s\n", list.dump(2).c_str());
}

void ListKernelsTo(bool json) {
  Json list = Json::array();
  for (const KernelInfo& kernel : ListKernels()) {
    const std::string id = kernel.provider + ":" + kernel.op + (kernel.variant.empty() ? "" : ":" + kernel.variant);
    if (json) {
      list.push_back({{"id", id},
                      {"op", kernel.op},
                      {"provider", kernel.provider},
                      {"variant", kernel.variant},
                      {"key", kernel.key},
                      {"priority", kernel.priority}});
    } else {
      std::printf("%-32s %-18s priority %d\n", id.c_str(), kernel.key.c_str(), kernel.priority);
    }
  }
  if (json) std::printf("%s\n", list.dump(2).c_str());
}

void ListPassesTo(bool json) {
  Json list = Json::array();
  for (const PassInfo& pass : ListPasses()) {
    if (json) {
      list.push_back({{"name", pass.name},
                      {"kind", pass.kind},
                      {"targets", pass.targets},
                      {"kernels", pass.kernels},
                      {"position", pass.position}});
    } else {
      std::printf("%-36s %-8s targets: %s%s%s\n", pass.name.c_str(), pass.kind.c_str(),
                  pass.targets.empty() ? "any" : Join(pass.targets).c_str(),
                  pass.kernels.empty() ? "" : (", kernels: " + Join(pass.kernels)).c_str(),
                  pass.position < 0 ? " (not in the default pipeline)" : "");
    }
  }
  if (json) std::printf("%s\n", list.dump(2).c_str());
}

void ListPlacesTo(bool json) {
  Json list = Json::array();
  for (const PlaceInfo& place : ListPlaces()) {
    if (json) {
      list.push_back(
          {{"provider", place.provider}, {"target", place.target}, {"available", place.available}, {"why", place.why}});
    } else {
      // The target first: it is what --places takes.
      std::printf("%-8s provider %-10s %s\n", place.target.c_str(), place.provider.c_str(),
                  place.available ? "available" : ("not available: " + place.why).c_str());
    }
  }
  if (json) {
    std::printf("%s\n", list.dump(2).c_str());
  } else {
    std::printf(
        "--places takes TARGET[:TYPE[:LAYOUT]] with commas; fp16, bf16 or int8 as TYPE: products' weights are\n"
        "stored so, as in x86,x86:bf16\n");
  }
}

}  // namespace

void AddListCommand(CLI::App* app) {
  struct Options {
    std::string what;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app->add_subcommand("list", "Lists what this build has.");
  command
      ->add_option("WHAT", options->what, "ops, imports (what of each model format is read), kernels, passes or places")
      ->required()
      ->check(CLI::IsMember({"ops", "imports", "kernels", "passes", "places"}));
  command->add_flag("--json", options->json, "prints JSON");
  command->callback([options] {
    if (options->what == "ops") ListOpsTo(options->json);
    if (options->what == "imports") ListImportsTo(options->json);
    if (options->what == "kernels") ListKernelsTo(options->json);
    if (options->what == "passes") ListPassesTo(options->json);
    if (options->what == "places") ListPlacesTo(options->json);
  });
}

}  // namespace wherry::tools
