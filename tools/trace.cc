#include "trace.h"

#include <nlohmann/json.hpp>

namespace wherry::tools {

namespace {

using Json = nlohmann::ordered_json;

// An event lies within another of its track if its time does, so control flow and the optimiser show what is in them.
void AddEvents(const std::vector<ProfileEvent>& events, int track, const char* name, double start_us, Json* list) {
  list->push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", track}, {"args", {{"name", name}}}});
  for (const ProfileEvent& event : events) {
    Json args = Json::object();
    if (event.category == "op") args = {{"result", event.name}, {"kernel", event.kernel}, {"shapes", event.shapes}};
    if (event.flops > 0 && event.duration_us > 0) args["GFLOP/s"] = event.flops / event.duration_us / 1e3;
    if (event.bytes > 0 && event.duration_us > 0) args["GB/s"] = event.bytes / event.duration_us / 1e3;
    list->push_back({{"name", event.op},
                     {"cat", event.category},
                     {"ph", "X"},
                     {"ts", start_us + event.start_us},
                     {"dur", event.duration_us},
                     {"pid", 1},
                     {"tid", track},
                     {"args", std::move(args)}});
  }
}

}  // namespace

std::string ChromeTrace(const std::vector<ProfileEvent>& load, const std::vector<ProfileEvent>& run,
                        double run_start_us) {
  Json list = Json::array();
  list.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", "wherry"}}}});
  AddEvents(load, 1, "load", 0, &list);
  AddEvents(run, 2, "run", run_start_us, &list);
  return Json{{"traceEvents", std::move(list)}, {"displayTimeUnit", "ms"}}.dump(1, ' ', false,
                                                                                Json::error_handler_t::replace) +
         "\n";
}

}  // namespace wherry::tools
