// interpolate from the pieces that exporters write:
//   a size computed from the shape of x, twice the height and so on, becomes a scale, and axes that stay as they are
//   go; reshape [N, C, H, 1, W, 1], expand or tile to [N, C, H, s, W, t], reshape [N, C, s H, t W] repeats pixels.
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "ir/fuse_base.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class UpsampleFuser : public FuseBase {
 public:
  explicit UpsampleFuser(std::string repeat) : repeat_(std::move(repeat)) {}

 protected:
  void BuildPattern() override {
    PMNode* x = VarNode("x")->AsInput();
    PMNode* split = OpNode("split")->assert_is_op_any({"reshape", "unsqueeze"});
    PMNode* apart = VarNode("apart")->AsIntermediate();
    PMNode* repeat = OpNode("repeat", repeat_);
    PMNode* repeated = VarNode("repeated")->AsIntermediate();
    PMNode* join = OpNode("join", "reshape");
    PMNode* out = VarNode("out")->AsOutput();
    *x >> *split >> *apart >> *repeat >> *repeated >> *join >> *out;
    x->AsParam(split, "x");
    apart->AsParam(repeat, "x");
    repeated->AsParam(join, "x");
  }

  bool Check(SSAGraph* /*graph*/, const key2nodes_t& matched) override {
    const auto dims = [&matched](const char* key) -> const std::vector<Dim>& {
      static const std::vector<Dim> none;
      const MetaTensor& type = matched.at(key)->AsArg().type;
      return type.rank_known ? type.dims : none;
    };
    const std::vector<Dim>& x = dims("x");
    const std::vector<Dim>& repeated = dims("repeated");
    if (x.size() != 4 || repeated.size() != 6 || !repeated[3].known() || !repeated[5].known()) return false;
    const std::vector<Dim> apart = {x[0], x[1], x[2], Dim(1), x[3], Dim(1)};
    const std::vector<Dim> wanted = {x[0], x[1], x[2] * repeated[3], x[3] * repeated[5]};
    const auto same_but_for_repeats = [&] {
      for (const size_t axis : {0, 1, 2, 4}) {
        if (repeated[axis] != apart[axis]) return false;
      }
      return true;
    };
    return dims("apart") == apart && same_but_for_repeats() && dims("out") == wanted && repeated[3].value() > 0 &&
           repeated[5].value() > 0;
  }

  void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) override {
    graph->NewStmt(GenOpDesc(matched), matched.at("join"));
  }

  OpDesc GenOpDesc(const key2nodes_t& matched) override {
    const std::vector<Dim>& repeated = matched.at("repeated")->AsArg().type.dims;
    OpDesc desc("interpolate");
    desc.SetInput("x", {matched.at("x")->AsArg().name});
    desc.SetOutput("out", {matched.at("out")->AsArg().name});
    desc.SetAttr("axes", std::vector<int64_t>{2, 3});
    desc.SetAttr("scale", std::vector<double>{static_cast<double>(repeated[3].value()),
                                              static_cast<double>(repeated[5].value())});
    desc.SetAttr("mode", std::string("nearest"));
    desc.SetAttr("coordinates", std::string("asymmetric"));
    desc.SetAttr("nearest_mode", std::string("floor"));
    desc.SetLabel(matched.at("join")->AsStmt().label());
    return desc;
  }

 private:
  const std::string repeat_;
};

class InterpolateFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int fused = 0;
    for (const char* repeat : {"expand", "tile"}) {
      UpsampleFuser fuser(repeat);
      fused += fuser(graph.get());
    }
    int simpler = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      if (stmt->AsStmt().op_type() == "interpolate" && Simplify(graph.get(), stmt)) ++simpler;
    }
    if (fused > 0) Note(StrCat(fused, " interpolations put together"));
    if (simpler > 0) Note(StrCat(simpler, " interpolations with scales instead of sizes, or fewer axes"));
  }

 private:
  // The wanted extents, as far as they are known; empty when scales say it.
  static std::optional<std::vector<Dim>> Sizes(const Node::Stmt& stmt) {
    if (stmt.HasAttr("size")) {
      const auto& size = stmt.GetAttr<IntArray>("size");
      return std::vector<Dim>(size.begin(), size.end());
    }
    const Node* size = stmt.input("size");
    if (size == nullptr || !size->AsArg().type.values) return std::nullopt;
    return *size->AsArg().type.values;
  }

  static bool Simplify(SSAGraph* graph, Node* node) {
    const Node::Stmt& stmt = node->AsStmt();
    const MetaTensor& x = stmt.input("x")->AsArg().type;
    const std::string coordinates = stmt.GetAttr<std::string>("coordinates");
    // Those of these two do not follow the extents alone, or move what keeps its extent.
    if (coordinates == "tf_crop_and_resize" || coordinates == "tf_half_pixel_for_nn") return false;
    if (!x.rank_known || stmt.input("roi") != nullptr || stmt.input("scale_tensor") != nullptr ||
        stmt.GetAttr<std::string>("keep_aspect_ratio") != "stretch") {
      return false;
    }
    auto axes = stmt.GetAttr<std::vector<int64_t>>("axes");
    if (axes.empty()) {
      axes.resize(x.dims.size());
      std::iota(axes.begin(), axes.end(), int64_t{0});
    }
    const std::optional<std::vector<Dim>> sizes = Sizes(stmt);
    const auto scales = stmt.GetAttr<std::vector<double>>("scale");
    if (!sizes || (sizes->empty() ? scales.size() : sizes->size()) != axes.size()) return false;
    if (!sizes->empty() && !scales.empty()) return false;
    std::vector<int64_t> left;
    std::vector<double> left_scales;
    std::vector<int64_t> left_sizes;
    const bool computed = stmt.input("size") != nullptr;
    for (size_t i = 0; i < axes.size(); ++i) {
      const Dim& extent = x.dims.at(static_cast<size_t>(axes[i] < 0 ? axes[i] + x.rank() : axes[i]));
      if (sizes->empty() ? scales[i] == 1 : (*sizes)[i] == extent) continue;
      left.push_back(axes[i]);
      if (sizes->empty()) {
        left_scales.push_back(scales[i]);
      } else if (!computed) {
        left_sizes.push_back((*sizes)[i].value());
      } else {
        const bool empty = extent.known() && extent.value() == 0;
        const std::optional<Dim> times = empty ? std::nullopt : ExactDiv((*sizes)[i], extent);
        if (!times || !times->known() || times->value() < 1) return false;
        left_scales.push_back(static_cast<double>(times->value()));
      }
    }
    if (!computed && left.size() == axes.size()) return false;
    if (left.empty()) {
      graph->ReplaceUses(stmt.output(), stmt.input("x"));
      graph->EraseStmt(node);
      return true;
    }
    if (computed) graph->SetInput(node, "size", {});
    graph->SetAttr(node, "axes", left);
    graph->SetAttr(node, "scale", left_scales);
    graph->SetAttr(node, "size", IntArray(left_sizes));
    return true;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(interpolate_fuse_pass, wherry::mir::InterpolateFusePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("interpolate");
