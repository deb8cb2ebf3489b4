// A ModelExplanation as JSON: the members' names, lists for maps where order matters, routes as [x, y, x, y, ...].
#include <cmath>
#include <nlohmann/json.hpp>

#include "wherry/explain.h"

namespace wherry {

namespace {

using Json = nlohmann::ordered_json;

double Tenth(double value) { return std::round(value * 10) / 10; }

Json DiagramJson(const Diagram& diagram) {
  Json ops = Json::array();
  for (const DiagramOp& op : diagram.ops) {
    Json json{{"name", op.name},     {"type", op.type},       {"category", op.category},
              {"inputs", op.inputs}, {"outputs", op.outputs}, {"attributes", op.attributes}};
    if (!op.kernel.empty()) {
      json["kernel"] = op.kernel;
      json["key"] = op.key;
      json["reason"] = op.reason;
    }
    if (!op.blocks.empty()) json["blocks"] = op.blocks;
    ops.push_back(std::move(json));
  }
  Json nodes = Json::array();
  for (const DiagramNode& node : diagram.nodes) {
    nodes.push_back({{"kind", std::string(1, node.kind)},
                     {"index", node.index},
                     {"x", Tenth(node.centre.x)},
                     {"y", Tenth(node.centre.y)},
                     {"width", Tenth(node.width)},
                     {"height", Tenth(node.height)}});
  }
  Json edges = Json::array();
  for (const DiagramEdge& edge : diagram.edges) {
    Json route = Json::array();
    for (const DiagramPoint& point : edge.route) {
      route.push_back(Tenth(point.x));
      route.push_back(Tenth(point.y));
    }
    edges.push_back({{"from", edge.from}, {"to", edge.to}, {"value", edge.value}, {"route", std::move(route)}});
  }
  return {{"inputs", diagram.inputs},       {"outputs", diagram.outputs}, {"ops", std::move(ops)},
          {"types", diagram.types},         {"weights", diagram.weights}, {"aliases", diagram.aliases},
          {"nodes", std::move(nodes)},      {"edges", std::move(edges)},  {"width", Tenth(diagram.width)},
          {"height", Tenth(diagram.height)}};
}

Json PassJson(const PassExplanation& pass) {
  Json changes = Json::array();
  for (const OpChange& change : pass.changes) {
    changes.push_back(
        {{"block", change.block}, {"name", change.name}, {"before", change.before}, {"after", change.after}});
  }
  return {{"name", pass.name},
          {"ran", pass.ran},
          {"skipped_because", pass.skipped_because},
          {"milliseconds", pass.milliseconds},
          {"matches", pass.matches},
          {"ops_before", pass.ops_before},
          {"ops_after", pass.ops_after},
          {"changed", pass.changed},
          {"changes", std::move(changes)},
          {"notes", pass.notes}};
}

Json OpJson(const OpExplanation& op) {
  Json candidates = Json::array();
  for (const CandidateExplanation& candidate : op.candidates) {
    candidates.push_back({{"kernel", candidate.kernel},
                          {"key", candidate.key},
                          {"priority", candidate.priority},
                          {"picked", candidate.picked},
                          {"refusal", candidate.refusal},
                          {"kernel_us", candidate.kernel_us},
                          {"conversion_us", candidate.conversion_us},
                          {"measured_us", candidate.measured_us},
                          {"place_rank", candidate.place_rank}});
  }
  return {{"block", op.block},
          {"name", op.name},
          {"results", op.results},
          {"type", op.type},
          {"text", op.text},
          {"reason", op.reason},
          {"inserted_by", op.inserted_by},
          {"assumed_dim", op.assumed_dim},
          {"candidates", std::move(candidates)},
          {"algorithm", op.algorithm},
          {"flops", op.flops},
          {"bytes", op.bytes},
          {"family", op.family},
          {"estimated_us", op.estimated_us},
          {"measured_us", op.measured_us}};
}

Json MemoryJson(const MemoryExplanation& memory) {
  Json values = Json::array();
  for (const MemoryValue& value : memory.values) {
    values.push_back({{"name", value.name},
                      {"type", value.type},
                      {"op", value.op},
                      {"offset", value.offset},
                      {"bytes", value.bytes},
                      {"first", value.first},
                      {"last", value.last},
                      {"shared_by", value.shared_by}});
  }
  return {{"unavailable", memory.unavailable},
          {"inputs", memory.inputs},
          {"statements", memory.statements},
          {"values", std::move(values)},
          {"arena_bytes", memory.arena_bytes},
          {"least_bytes", memory.least_bytes},
          {"activation_bytes", memory.activation_bytes},
          {"output_bytes", memory.output_bytes},
          {"scratch_bytes", memory.scratch_bytes}};
}

template <typename T, typename Function>
Json List(const std::vector<T>& items, Function function) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(function(item));
  return list;
}

}  // namespace

std::string ToJson(const ModelExplanation& explanation) {
  Json block_memory = Json::object();
  for (const auto& [block, memory] : explanation.block_memory) block_memory[std::to_string(block)] = MemoryJson(memory);
  const Json json{{"model", explanation.model},
                  {"version", explanation.version},
                  {"metadata", explanation.metadata},
                  {"places", explanation.places},
                  {"threads", explanation.threads},
                  {"import_ms", explanation.import_ms},
                  {"optimize_ms", explanation.optimize_ms},
                  {"weight_bytes_before", explanation.weight_bytes_before},
                  {"weight_bytes", explanation.weight_bytes},
                  {"packed_bytes", explanation.packed_bytes},
                  {"estimated_us", explanation.estimated_us},
                  {"measured_us", explanation.measured_us},
                  {"before", List(explanation.before, DiagramJson)},
                  {"after", List(explanation.after, DiagramJson)},
                  {"passes", List(explanation.passes, PassJson)},
                  {"ops", List(explanation.ops, OpJson)},
                  {"memory", MemoryJson(explanation.memory)},
                  {"block_memory", std::move(block_memory)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wherry
