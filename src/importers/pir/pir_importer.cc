// The importer of Paddle 3's programs: .json, with parameters in one file or in one each.
#include <set>

#include "base/check.h"
#include "base/strings.h"
#include "importer/describe_bytes.h"
#include "importer/importer.h"
#include "importers/paddle/load_params.h"
#include "importers/pir/block_importer.h"
#include "importers/pir/pir_program.h"

namespace wherry::pir {

namespace {

void CollectOperands(const Block& block, std::set<int64_t>* ids) {
  for (const Operator& op : block.ops) {
    ids->insert(op.operands.begin(), op.operands.end());
    for (const Block& inner : op.blocks) CollectOperands(inner, ids);
  }
}

void AddParams(const ModelSource& source, const Block& main, ProgramState* state, BlockImporter* importer) {
  std::set<int64_t> operands;
  CollectOperands(main, &operands);
  std::vector<paddle::ParamInfo> params;
  std::map<std::string, int64_t> ids;
  for (const Operator& op : main.ops) {
    if (op.dialect != "builtin" || op.name != "parameter" || !op.persistable) continue;
    const Value& value = op.results[0];
    WHERRY_ENFORCE(ids.emplace(op.parameter, value.id).second, kCorrupt, state->model, " has parameter ",
                   Quote(op.parameter), " twice");
    params.push_back({op.parameter, value.type.dtype, value.type.kind == Type::Kind::kTensor, value.type.dims});
  }
  paddle::LoadParams(
      source, state->model, std::move(params),
      [&](const std::string& name) { return operands.count(ids.at(name)) != 0; },
      [&](const std::string& name, DenseTensor tensor) {
        importer->SetParameter(ids.at(name), state->builder.AddWeight(name, std::move(tensor)));
      });
}

class PirImporter : public Importer {
 public:
  const char* name() const override { return "pir"; }

  int Sniff(std::span<const std::byte> data, const std::string& /*file_name*/) const override {
    return LooksLikePir(data) ? 90 : 0;
  }

  wherry::Program Import(const ModelSource& source) const override {
    const Program program = ParseProgram(source.model);
    ProgramState state{Quote(source.model.name, 1000) + " (a Paddle 3 program)", {}, {}};
    BlockImporter main(&state, program.main, &state.builder.main(), nullptr);
    AddParams(source, program.main, &state, &main);
    main.ImportOps();
    state.converter.unsupported().Report(state.model, source.unsupported);
    main.SetFetches();
    state.builder.metadata()["pir_version"] = StrCat(program.version);
    return state.builder.Finish();
  }
};

}  // namespace

}  // namespace wherry::pir

REGISTER_IMPORTER(pir, wherry::pir::PirImporter);
