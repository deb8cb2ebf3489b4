// The importer of ONNX models.
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "importer/importer.h"
#include "importers/onnx/graph_importer.h"
#include "importers/onnx/model_proto.h"

namespace wherry::onnx {

namespace {

constexpr int64_t kNewestIrVersion = 14;

// "w, b": the inputs that the file has a value for. Files of IR version 3 and before list every weight as an input.
std::string OptionalInputs(const ModelProto& model) {
  constexpr int64_t kFirstWithoutWeights = 4;
  if (model.ir_version < kFirstWithoutWeights) return "";
  std::set<std::string> initialized;
  for (const TensorProto& initializer : model.graph->initializers) initialized.insert(initializer.name);
  std::vector<std::string> names;
  for (const ValueInfoProto& input : model.graph->inputs) {
    if (initialized.count(input.name) != 0) names.push_back(input.name);
  }
  return Join(names, ", ");
}

class OnnxImporter : public Importer {
 public:
  const char* name() const override { return "onnx"; }

  int Sniff(std::span<const std::byte> data, const std::string& file_name) const override {
    if (LooksLikeModel(data)) return 90;
    // Fields may come in another order; the name then decides.
    return file_name.ends_with(".onnx") && !data.empty() ? 60 : 0;
  }

  Program Import(const ModelSource& source) const override {
    const ModelProto model = ParseModel(source.model);
    const std::string name = Quote(source.model.name, 1000) + " (an ONNX model)";
    WHERRY_ENFORCE(model.graph.has_value(), kCorrupt, name, " has no graph");
    WHERRY_ENFORCE(model.ir_version <= kNewestIrVersion, kUnsupported, name, " has IR version ", model.ir_version,
                   ", the newest that Wherry reads is ", kNewestIrVersion);
    ModelState state{model,
                     name,
                     TensorReader(source),
                     {},
                     {},
                     0,
                     {source.overridden_inputs.begin(), source.overridden_inputs.end()}};
    GraphImporter main(&state, *model.graph, &state.builder.main());
    main.AddInputs();
    main.ImportNodes();
    state.converter.unsupported().Report(name, source.unsupported);
    std::vector<std::string> names;
    for (const ValueInfoProto& output : model.graph->outputs) names.push_back(output.name);
    WHERRY_ENFORCE(!names.empty(), kCorrupt, name, " has no output");
    state.builder.main().SetOutputs(main.Outputs(), std::move(names));
    auto& metadata = state.builder.metadata();
    if (!model.producer_name.empty()) metadata["producer"] = model.producer_name;
    if (!model.producer_version.empty()) metadata["producer_version"] = model.producer_version;
    if (const auto opset = model.opsets.find(""); opset != model.opsets.end())
      metadata["opset"] = StrCat(opset->second);
    if (const std::string optional = OptionalInputs(model); !optional.empty()) metadata["optional_inputs"] = optional;
    for (const auto& [key, value] : model.properties) metadata[StrCat("model.", key)] = value;
    return state.builder.Finish();
  }
};

}  // namespace

}  // namespace wherry::onnx

REGISTER_IMPORTER(onnx, wherry::onnx::OnnxImporter);
