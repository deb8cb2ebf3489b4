// The importer of ProgramDesc models: .pdmodel or __model__, with parameters in one file or in one each.
#include <set>

#include "base/check.h"
#include "base/strings.h"
#include "importer/describe_bytes.h"
#include "importer/importer.h"
#include "importers/paddle/block_importer.h"
#include "importers/paddle/load_params.h"
#include "importers/paddle/program_desc.h"

namespace wherry::paddle {

namespace {

// Variables that operators read, in any block.
std::set<std::string> UsedVariables(const ProgramDesc& program) {
  std::set<std::string> used;
  for (const BlockDesc& block : program.blocks) {
    for (const OperatorDesc& desc : block.ops) {
      for (const ForeignOp::Slot& slot : desc.op.inputs) used.insert(slot.values.begin(), slot.values.end());
    }
  }
  return used;
}

ParamInfo InfoOf(const VarDesc& var) {
  return ParamInfo{var.name, var.dtype.value_or(DataType::kUndefined), var.dtype.has_value(), var.dims};
}

void AddParams(const ModelSource& source, ProgramState* state) {
  std::vector<ParamInfo> params;
  for (const auto& [name, var] : state->program.blocks[0].vars) {
    if (var.IsParameter()) params.push_back(InfoOf(var));
  }
  const std::set<std::string> used = UsedVariables(state->program);
  LoadParams(
      source, state->model, std::move(params), [&used](const std::string& name) { return used.count(name) != 0; },
      [state](const std::string& name, DenseTensor tensor) {
        state->params[name] = state->builder.AddWeight(name, std::move(tensor));
      });
}

// 2006002 is 2.6.2.
std::string VersionText(int64_t version) {
  constexpr int64_t kBase = 1000;
  return StrCat(version / (kBase * kBase), ".", version / kBase % kBase, ".", version % kBase);
}

class PaddleImporter : public Importer {
 public:
  const char* name() const override { return "paddle"; }

  int Sniff(std::span<const std::byte> data, const std::string& file_name) const override {
    if (LooksLikePaddleProgram(data)) return 90;
    // proto2 lets the block come after other fields; the name then decides.
    const bool named = file_name.ends_with(".pdmodel") || file_name.ends_with("__model__");
    const bool protobuf =
        !data.empty() && (data[0] == std::byte{0x0a} || data[0] == std::byte{0x22} || data[0] == std::byte{0x2a});
    return named && protobuf ? 50 : 0;
  }

  Program Import(const ModelSource& source) const override {
    const ProgramDesc program = ParseProgramDesc(source.model);
    ProgramState state{program, Quote(source.model.name, 1000) + " (a Paddle program)", {}, {}, {}, {}, {}};
    state.block_used.assign(program.blocks.size(), false);
    if (program.version > 0) state.builder.metadata()["paddle_version"] = VersionText(program.version);
    AddParams(source, &state);
    BlockImporter main(&state, 0, &state.builder.main(), nullptr);
    main.AddFeeds();
    main.ImportOps();
    state.converter.unsupported().Report(state.model, source.unsupported);
    main.SetFetches();
    return state.builder.Finish();
  }
};

}  // namespace

}  // namespace wherry::paddle

REGISTER_IMPORTER(paddle, wherry::paddle::PaddleImporter);
