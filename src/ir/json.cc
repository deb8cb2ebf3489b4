#include "ir/json.h"

#include <nlohmann/json.hpp>

#include "op/attribute.h"

namespace wherry {

namespace {

using Json = nlohmann::ordered_json;

std::string TypeText(const Block& block, const std::string& name) {
  const auto type = block.values.find(name);
  return type == block.values.end() ? "?" : type->second.DebugString();
}

Json OpJson(const Block& block, size_t index) {
  const OpDesc& op = block.ops[index];
  Json json;
  json["type"] = op.Type();
  if (!op.label().empty()) json["label"] = op.label();
  json["inputs"] = op.inputs();
  json["outputs"] = op.outputs();
  Json attributes = Json::object();
  for (const auto& [name, value] : op.attrs()) attributes[name] = ToString(value);
  json["attributes"] = std::move(attributes);
  if (!op.blocks().empty()) json["blocks"] = op.blocks();
  Json types = Json::object();
  for (const auto& [param, names] : op.outputs()) {
    for (const std::string& name : names) types[name] = TypeText(block, name);
  }
  json["types"] = std::move(types);
  if (index < block.picks.size() && block.picks[index].picked()) {
    const KernelPick& pick = block.picks[index];
    json["kernel"] = {{"provider", pick.provider},
                      {"variant", pick.variant},
                      {"key", pick.key.DebugString()},
                      {"reason", pick.reason}};
  }
  return json;
}

}  // namespace

std::string ToJson(const Program& program) {
  Json json;
  json["metadata"] = program.metadata;
  json["optimized"] = program.optimized;
  json["blocks"] = Json::array();
  for (const Block& block : program.blocks) {
    Json out;
    out["inputs"] = Json::array();
    for (const std::string& name : block.inputs)
      out["inputs"].push_back({{"name", name}, {"type", TypeText(block, name)}});
    out["outputs"] = block.outputs;
    out["output_names"] = block.output_names.empty() ? block.outputs : block.output_names;
    out["ops"] = Json::array();
    for (size_t i = 0; i < block.ops.size(); ++i) out["ops"].push_back(OpJson(block, i));
    out["aliases"] = block.aliases;
    json["blocks"].push_back(std::move(out));
  }
  json["weights"] = Json::array();
  for (const auto& [name, tensor] : program.weights) {
    json["weights"].push_back({{"name", name}, {"type", tensor.meta().DebugString()}, {"bytes", tensor.nbytes()}});
  }
  // Names come from the model and may be no UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wherry
