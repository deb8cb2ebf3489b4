// Zeros around the pixels of what a convolution reads become its paddings: pad + conv2d or conv3d, also with the
// unsqueeze of a convolution along one axis in between.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/fuse_util.h"
#include "op/infer/window.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// What `pad` puts around each axis: [before of axis 0, ..., after of axis 0, ...]; nothing unless it is zeros, their
// number is known, none is negative, and batch and channels get none.
std::optional<std::vector<int64_t>> ZerosOf(const Node::Stmt& pad) {
  if (!pad.HasAttr("paddings") || !pad.HasAttr("value") || pad.GetAttr<std::string>("mode") != "constant" ||
      pad.GetAttr<Scalar>("value").to<double>() != 0) {
    return std::nullopt;
  }
  const auto& paddings = pad.GetAttr<IntArray>("paddings");
  std::vector<int64_t> zeros(paddings.begin(), paddings.end());
  const size_t rank = zeros.size() / 2;
  constexpr int64_t kMost = int64_t{1} << 30U;  // sums stay within what a window may have
  const bool fits = rank >= 3 && zeros[0] == 0 && zeros[1] == 0 && zeros[rank] == 0 && zeros[rank + 1] == 0 &&
                    std::all_of(zeros.begin(), zeros.end(), [](int64_t n) { return n >= 0 && n < kMost; });
  if (!fits) return std::nullopt;
  return zeros;
}

class PadConvFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int fused = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      const std::string op = stmt->AsStmt().op_type();
      const int axes = op == "conv2d" ? 2 : op == "conv3d" ? 3 : 0;
      // A pad stands before its convolution and is gone when the walk has come here: nothing below is stale.
      if (axes > 0 && Fuse(graph.get(), stmt, axes)) ++fused;
    }
    if (fused > 0) Note(std::to_string(fused) + " pads became paddings of convolutions");
  }

 private:
  static bool Fuse(SSAGraph* graph, Node* conv, int axes) {
    const std::string algorithm = conv->AsStmt().GetAttr<std::string>("padding_algorithm");
    if (algorithm != "EXPLICIT" && algorithm != "VALID") return false;  // SAME depends on the size
    Node* value = conv->AsStmt().input("x");
    Node* unsqueeze = value->producer();
    int64_t inserted = -1;
    if (unsqueeze != nullptr && unsqueeze->AsStmt().op_type() == "unsqueeze") {
      if (!unsqueeze->AsStmt().HasAttr("axis") || !HasOneUse(*graph, value)) return false;
      const auto& axis = unsqueeze->AsStmt().GetAttr<IntArray>("axis");
      if (axis.size() != 1) return false;
      inserted = axis[0] < 0 ? axis[0] + axes + 2 : axis[0];
      if (inserted < 2) return false;
      value = unsqueeze->AsStmt().input("x");
    }
    Node* pad = value->producer();
    if (pad == nullptr || pad->AsStmt().op_type() != "pad" || !HasOneUse(*graph, value)) return false;
    const auto zeros = ZerosOf(pad->AsStmt());
    const int rank = axes + 2 - (inserted < 0 ? 0 : 1);
    if (!zeros || zeros->size() != 2 * static_cast<size_t>(rank)) return false;
    const WindowAttributes window = ParseWindow(axes, conv->AsStmt().GetAttr<std::vector<int64_t>>("strides"),
                                                conv->AsStmt().GetAttr<std::vector<int64_t>>("paddings"), algorithm,
                                                conv->AsStmt().GetAttr<std::vector<int64_t>>("dilations"));
    std::vector<int64_t> paddings;
    int from = 2;  // the axis of what is padded
    for (int i = 0; i < axes; ++i) {
      const auto at = static_cast<size_t>(i);
      const bool own = algorithm == "EXPLICIT";
      paddings.push_back(own ? window.pad_begin[at] : 0);
      paddings.push_back(own ? window.pad_end[at] : 0);
      if (i + 2 == inserted) continue;
      *(paddings.end() - 2) += (*zeros)[static_cast<size_t>(from)];
      *(paddings.end() - 1) += (*zeros)[static_cast<size_t>(from) + static_cast<size_t>(rank)];
      ++from;
    }
    graph->SetAttr(conv, "padding_algorithm", std::string("EXPLICIT"));
    graph->SetAttr(conv, "paddings", paddings);
    Node* x = pad->AsStmt().input("x");
    if (inserted < 0) {
      graph->SetInput(conv, "x", {x});
    } else {
      graph->SetInput(unsqueeze, "x", {x});
      InferStmt(graph, unsqueeze);
    }
    graph->EraseStmt(pad);
    return true;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(pad_conv_fuse_pass, wherry::mir::PadConvFusePass).BindTargets({TARGET(kAny)});
