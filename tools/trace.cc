#include "trace.h"

#include <nlohmann/json.hpp>

namespace wherry::tools {

std::string ChromeTrace(const std::vector<ProfileEvent>& events) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  list.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", "wherry"}}}});
  for (const ProfileEvent& event : events) {
    Json args{{"result", event.name}, {"kernel", event.kernel}, {"shapes", event.shapes}};
    if (event.flops > 0 && event.duration_us > 0) args["GFLOP/s"] = event.flops / event.duration_us / 1e3;
    if (event.bytes > 0 && event.duration_us > 0) args["GB/s"] = event.bytes / event.duration_us / 1e3;
    list.push_back({{"name", event.op},
                    {"cat", "op"},
                    {"ph", "X"},
                    {"ts", event.start_us},
                    {"dur", event.duration_us},
                    {"pid", 1},
                    {"tid", 1},
                    {"args", std::move(args)}});
  }
  return Json{{"traceEvents", std::move(list)}, {"displayTimeUnit", "ms"}}.dump(1, ' ', false,
                                                                                Json::error_handler_t::replace) +
         "\n";
}

}  // namespace wherry::tools
