// wherry bench: latency percentiles, load time, memory; per op on request.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "command.h"
#include "machine_peak.h"
#include "model_options.h"
#include "wherry/text.h"

namespace wherry::tools {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct BenchOptions : ModelOptions {
  std::vector<std::string> models;
  double seconds = 2;
  bool ops = false;
  bool json = false;
};

double Milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

double ProcessorMilliseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double Percentile(const std::vector<double>& sorted, double fraction) {
  return sorted[std::min(static_cast<size_t>(fraction * static_cast<double>(sorted.size())), sorted.size() - 1)];
}

// VmRSS: now; VmHWM: at most, rather than getrusage's figure, which is not below the size of the process that started
// this one.
double Megabytes(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key, 0) == 0) return std::stod(line.substr(key.size() + 1)) / 1024.0;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

struct OpTime {
  ProfileEvent event;
  std::vector<double> microseconds;
};

// Median time of each step over the runs of about a quarter of the time.
std::vector<OpTime> MeasureOps(PaddlePredictor* predictor, double seconds) {
  std::vector<OpTime> ops;
  predictor->SetProfiling(true);
  const auto start = Clock::now();
  do {
    predictor->Run();
    const std::vector<ProfileEvent>& events = predictor->Profile();
    ops.resize(events.size());
    for (size_t i = 0; i < events.size(); ++i) {
      ops[i].event = events[i];
      ops[i].microseconds.push_back(events[i].duration_us);
    }
  } while (Milliseconds(start, Clock::now()) < seconds * 250);
  predictor->SetProfiling(false);
  for (OpTime& op : ops) {
    std::sort(op.microseconds.begin(), op.microseconds.end());
    op.event.duration_us = Percentile(op.microseconds, 0.5);
  }
  return ops;
}

// What runs within another op is part of that one's time.
double TotalMicroseconds(const std::vector<OpTime>& ops) {
  double total = 1e-3;
  for (const OpTime& op : ops) total += op.event.depth == 0 ? op.event.duration_us : 0;
  return total;
}

// Of the threads that a run uses.
MachinePeak PeakOf(const BenchOptions& options) {
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return MeasureMachinePeak(options.threads > 0 ? std::min(options.threads, all) : all);
}

void PrintOps(std::vector<OpTime> ops, const MachinePeak& peak) {
  std::printf("  this machine at most: %.1f GFLOP/s, %.1f GB/s from memory (caches are faster)\n", peak.gflops,
              peak.gbytes);
  const double total = TotalMicroseconds(ops);
  std::stable_sort(ops.begin(), ops.end(),
                   [](const OpTime& a, const OpTime& b) { return a.event.duration_us > b.event.duration_us; });
  std::printf("  %9s %6s %9s %9s %7s %6s  %-18s %-28s %s\n", "us", "%", "estimated", "GFLOP/s", "GB/s", "% peak", "op",
              "kernel", "result, shapes");
  for (const OpTime& op : ops) {
    const ProfileEvent& event = op.event;
    const double us = std::max(event.duration_us, 1e-3);
    std::printf("  %9.1f %6.1f %9.1f %9.1f %7.1f %6.1f  %-18s %-28s %s %s\n", event.duration_us,
                100 * event.duration_us / total, event.estimated_us, event.flops / us / 1e3, event.bytes / us / 1e3,
                100 * event.flops / us / 1e3 / peak.gflops, event.op.c_str(), event.kernel.c_str(),
                Printable(event.name).c_str(), event.shapes.c_str());
  }
}

// The rates that kernel/cost.cc has constants for: medians over the operators of a family that are long enough to time.
void PrintFamilies(const std::vector<OpTime>& ops) {
  struct Family {
    double us = 0;
    double estimated_us = 0;
    size_t ops = 0;
    std::vector<double> gflops;
    std::vector<double> gbytes;
  };
  constexpr double kLeastMicroseconds = 20;
  std::map<std::string, Family> families;
  for (const OpTime& op : ops) {
    const ProfileEvent& event = op.event;
    if (event.family.empty()) continue;
    Family& family = families[event.family];
    family.us += event.duration_us;
    family.estimated_us += event.estimated_us;
    ++family.ops;
    if (event.duration_us < kLeastMicroseconds) continue;
    family.gflops.push_back(event.flops / event.duration_us / 1e3);
    family.gbytes.push_back(event.bytes / event.duration_us / 1e3);
  }
  const auto median = [](std::vector<double>* values) {
    std::sort(values->begin(), values->end());
    return values->empty() ? 0 : Percentile(*values, 0.5);
  };
  std::printf("  by family; rates are the medians of the ops that take %.0f us and more\n", kLeastMicroseconds);
  std::printf("  %9s %9s %9s %7s %5s  %s\n", "us", "estimated", "GFLOP/s", "GB/s", "ops", "family");
  for (auto& [name, family] : families) {
    std::printf("  %9.1f %9.1f %9.1f %7.1f %5zu  %s\n", family.us, family.estimated_us, median(&family.gflops),
                median(&family.gbytes), family.ops, name.c_str());
  }
}

// `peak`: of this machine, measured when it is first needed, behind the first model's figures: measuring takes memory
// too.
Json Bench(const BenchOptions& options, const std::string& path, std::optional<MachinePeak>* peak) {
  ModelOptions model = static_cast<const ModelOptions&>(options);
  model.model = path;
  const CxxConfig config = model.Config();
  const double before_mb = Megabytes("VmRSS");
  const auto load_start = Clock::now();
  const auto predictor = CreatePaddlePredictor(config);
  const double load_ms = Milliseconds(load_start, Clock::now());
  const std::map<std::string, Tensor> inputs = model.Inputs(*predictor);
  SetInputs(predictor.get(), inputs);
  const auto first_start = Clock::now();
  FirstRun(predictor.get(), options, inputs);
  const double first_ms = Milliseconds(first_start, Clock::now());
  std::vector<double> times;
  std::vector<double> processor_times;  // of all threads
  const auto start = Clock::now();
  while (times.size() < 3 || Milliseconds(start, Clock::now()) < options.seconds * 1e3) {
    const double processor_begin = ProcessorMilliseconds();
    const auto begin = Clock::now();
    predictor->Run();
    times.push_back(Milliseconds(begin, Clock::now()));
    processor_times.push_back(ProcessorMilliseconds() - processor_begin);
  }
  std::sort(times.begin(), times.end());
  std::sort(processor_times.begin(), processor_times.end());
  Json result{{"model", path},
              {"inputs", Describe(inputs)},
              {"load_ms", load_ms},
              {"first_run_ms", first_ms},
              {"runs", times.size()},
              {"min_ms", times.front()},
              {"p50_ms", Percentile(times, 0.5)},
              {"p90_ms", Percentile(times, 0.9)},
              {"p99_ms", Percentile(times, 0.99)},
              {"cpu_min_ms", processor_times.front()},
              {"cpu_p50_ms", Percentile(processor_times, 0.5)},
              {"activation_bytes", predictor->ActivationBytes()},
              {"weight_bytes", predictor->WeightBytes()},
              {"peak_rss_mb", Megabytes("VmHWM")},
              {"rise_mb", Megabytes("VmHWM") - before_mb}};
  if (!options.json) {
    std::printf("%s\n  inputs %s\n", Printable(path).c_str(), Describe(inputs).c_str());
    std::printf("  p50 %.3f ms, min %.3f, p90 %.3f, p99 %.3f (%zu runs); load %.1f ms, first run %.2f ms\n",
                Percentile(times, 0.5), times.front(), Percentile(times, 0.9), Percentile(times, 0.99), times.size(),
                load_ms, first_ms);
    std::printf("  activations %.2f MB, weights %.2f MB, process peak %.1f MB\n",
                static_cast<double>(predictor->ActivationBytes()) / 1e6,
                static_cast<double>(predictor->WeightBytes()) / 1e6, Megabytes("VmHWM"));
  }
  if (options.ops) {
    const std::vector<OpTime> ops = MeasureOps(predictor.get(), options.seconds);
    if (!peak->has_value()) *peak = PeakOf(options);
    result["peak_gflops"] = (*peak)->gflops;
    result["peak_gbytes"] = (*peak)->gbytes;
    if (!options.json) {
      PrintOps(ops, **peak);
      PrintFamilies(ops);
    }
    const double total = TotalMicroseconds(ops);
    result["ops"] = Json::array();
    for (const OpTime& op : ops) {
      result["ops"].push_back({{"name", op.event.name},
                               {"op", op.event.op},
                               {"category", op.event.category},
                               {"depth", op.event.depth},
                               {"kernel", op.event.kernel},
                               {"shapes", op.event.shapes},
                               {"us", op.event.duration_us},
                               {"share", op.event.duration_us / total},
                               {"flops", op.event.flops},
                               {"bytes", op.event.bytes},
                               {"family", op.event.family},
                               {"estimated_us", op.event.estimated_us}});
    }
  }
  return result;
}

}  // namespace

void AddBenchCommand(CLI::App* app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app->add_subcommand("bench", "Measures latency, load time and memory of models.");
  command->add_option("MODEL", options->models, "models as for run")->required();
  command->add_option("--params", options->params, "the parameter file, when it does not lie beside the model");
  options->AddInputs(command);
  options->AddRun(command);
  command->add_option("--seconds", options->seconds, "how long each model runs")
      ->check(Number(0, 3600))
      ->capture_default_str();
  command->add_flag("--ops", options->ops, "time, GFLOP/s, share of this machine's peak and GB/s of each op");
  command->add_flag("--json", options->json, "prints JSON");
  command->callback([options, command] {
    RefuseEmpty(*command);
    Json list = Json::array();
    std::vector<std::string> failures;
    std::optional<MachinePeak> peak;
    for (const std::string& model : options->models) {
      try {
        list.push_back(Bench(*options, model, &peak));
      } catch (const Error& error) {
        // What the others gave is not lost with it.
        if (options->models.size() == 1) throw;
        failures.push_back(model);
        list.push_back({{"model", model}, {"error", error.what()}});
        if (!options->json) std::printf("%s\n  failed: %s\n", Printable(model).c_str(), error.what());
      }
    }
    if (options->json) std::printf("%s\n", list.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    if (failures.empty()) return;
    throw Error(ErrorCode::kUnavailable, std::to_string(failures.size()) + " of " +
                                             std::to_string(options->models.size()) + " models failed, the first is '" +
                                             failures[0] + "'");
  });
}

}  // namespace wherry::tools
