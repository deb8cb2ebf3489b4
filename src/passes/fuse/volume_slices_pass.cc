// Convolutions and pools over volumes become those over images, whose kernels, layouts and fusions are the better ones:
// the slices of a volume are images of a batch. A window of several slices reads them side by side as channels (or, in
// groups of channels, adds up what each gives); a pool goes over the images first and over the depth then. Of a
// transposed convolution every stride-th slice of the result meets the same taps: these are made together, and then put
// between the others.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/fuse_util.h"
#include "op/epilogue.h"
#include "op/infer/window.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"

namespace wherry::mir {
namespace {

// The axes of a volume [N, C, D, H, W] as those of its frames [N, D, H, W, C], and back; likewise of an image. Images
// of kernels that want channels last lie so already.
std::vector<int64_t> ToFrames() { return {0, 2, 3, 4, 1}; }
std::vector<int64_t> ToVolume() { return {0, 4, 1, 2, 3}; }
std::vector<int64_t> ToPixels() { return {0, 2, 3, 1}; }
std::vector<int64_t> ToImages() { return {0, 3, 1, 2}; }
constexpr int64_t kChannelsOfFrames = 4;

// The windows along the depth.
struct Depth {
  int64_t kernel;
  int64_t stride;
  int64_t dilation;
  int64_t pad_begin;
  int64_t pad_end;

  // Padding is made for real, so windows that see nothing else are left to the reference.
  bool IsPaddedByTaps() const {
    const int64_t last = dilation * (kernel - 1);
    return pad_begin >= 0 && pad_begin <= last && pad_end >= 0 && pad_end <= last;
  }
  bool IsTrivial() const { return kernel == 1 && stride == 1 && pad_begin == 0 && pad_end == 0; }
};

using Attributes = std::vector<int64_t>;

// Each tap becomes operators of its own, and a filter that is an input may have any size.
constexpr int64_t kMostTaps = 64;

// Of a filter of rank 5: its sizes are known, none is 0, and its taps along the depth are at most kMostTaps.
bool HasFewTaps(const Node* filter) {
  const std::vector<Dim>& sizes = Dims(filter);
  const bool known =
      std::all_of(sizes.begin(), sizes.end(), [](const Dim& dim) { return dim.known() && dim != Dim(0); });
  return known && sizes[2].value() <= kMostTaps;
}

WindowAttributes WindowOf(const Node::Stmt& stmt) {
  return ParseWindow(3, stmt.GetAttr<Attributes>("strides"), stmt.GetAttr<Attributes>("paddings"),
                     stmt.GetAttr<std::string>("padding_algorithm"), stmt.GetAttr<Attributes>("dilations"));
}

// Without convolutions, whose slices are there anyway, pools have a kernel that takes a sixth of the time that slices
// do; not one over everything or to a given size.
bool HasKernel(const Node::Stmt& pool) {
  return !pool.GetAttr<bool>("global_pooling") && !pool.GetAttr<bool>("adaptive");
}

// Nothing where paddings depend on a depth that is not known.
std::optional<Depth> DepthOf(const WindowAttributes& window, const Dim& size, int64_t kernel, bool ceil_mode) {
  Depth depth{kernel, window.stride[0], window.dilation[0], window.pad_begin[0], window.pad_end[0]};
  if (window.algorithm == PaddingAlgorithm::kValid) depth.pad_begin = depth.pad_end = 0;
  if (window.algorithm == PaddingAlgorithm::kSame || window.algorithm == PaddingAlgorithm::kSameLower) {
    if (!size.known()) return std::nullopt;
    const WindowAxis axis = ResolveWindowAxis(window, 0, size.value(), kernel, ceil_mode);
    depth.pad_begin = axis.pad_begin;
    depth.pad_end = axis.pad_end;
  }
  return depth;
}

// What a window over height and width has of the attributes.
AttributeMap OverImages(const Node::Stmt& stmt, const WindowAttributes& window) {
  AttributeMap attrs;
  attrs["strides"] = Attributes{window.stride[1], window.stride[2]};
  attrs["dilations"] = Attributes{window.dilation[1], window.dilation[2]};
  attrs["paddings"] = Attributes{window.pad_begin[1], window.pad_end[1], window.pad_begin[2], window.pad_end[2]};
  attrs["padding_algorithm"] = stmt.GetAttr<std::string>("padding_algorithm");
  return attrs;
}

class VolumeSlicesPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    graph_ = graph.get();
    images_.clear();
    frames_.clear();
    const NodeList stmts = graph->StmtTopologicalOrder();
    const bool has_convolutions = std::any_of(stmts.begin(), stmts.end(), [](const Node* stmt) {
      const std::string& op = stmt->AsStmt().op_type();
      return op == "conv3d" || op == "conv3d_transpose";
    });
    int lowered = 0;
    for (Node* stmt : stmts) {
      const std::string op = stmt->AsStmt().op_type();
      if (op != "conv3d" && op != "pool3d" && op != "conv3d_transpose") continue;
      if (op == "pool3d" && !has_convolutions && HasKernel(stmt->AsStmt())) continue;
      near_ = stmt;
      const Node* x = stmt->AsStmt().input("x");
      if (!HasRank(x, 5) || x->AsArg().type.dtype != DataType::kFloat || !HasRank(stmt->AsStmt().output(), 5)) continue;
      Node* const frames = op == "conv3d"   ? Convolution(stmt->AsStmt())
                           : op == "pool3d" ? Pool(stmt->AsStmt())
                                            : TransposedConvolution(stmt->AsStmt());
      if (frames == nullptr) continue;
      Node* const volume = Emit("transpose", {{"x", {frames}}}, {{"perm", ToVolume()}});
      frames_[volume] = frames;
      graph->ReplaceUses(stmt->AsStmt().output(), volume);
      graph->EraseStmt(stmt);
      ++lowered;
    }
    if (lowered > 0) Note(std::to_string(lowered) + " convolutions and pools over volumes go over their slices");
  }

 private:
  Node* Emit(const std::string& op, const Binding& inputs, const AttributeMap& attrs = {}) {
    Node* const out = graph_->NewArg(near_->AsStmt().output()->AsArg().name);
    InferStmt(graph_, graph_->NewStmt(op, inputs, {{"out", {out}}}, attrs, near_));
    return out;
  }

  // --- volumes as frames [N, D, H, W, C] and as images [N * D, C, H, W]
  Node* Frames(Node* volume) {
    Node*& frames = frames_[volume];
    if (frames == nullptr) frames = Emit("transpose", {{"x", {volume}}}, {{"perm", ToFrames()}});
    return frames;
  }
  Node* Images(Node* frames) {
    Node*& images = images_[frames];
    if (images == nullptr) {
      Node* const pixels = Emit("flatten", {{"x", {frames}}}, {{"start_axis", int64_t{0}}, {"stop_axis", int64_t{1}}});
      images = Emit("transpose", {{"x", {pixels}}}, {{"perm", ToImages()}});
    }
    return images;
  }
  static bool CanBeFrames(const Dim& batch, const Dim& depth, const Dim& height, const Dim& width) {
    const int unknown = !batch.known() + !depth.known() + !height.known() + !width.known();
    return unknown <= 1 || batch == Dim(1);
  }
  Node* FramesOf(Node* images, const Dim& batch, const Dim& depth) {
    Node* const pixels = Emit("transpose", {{"x", {images}}}, {{"perm", ToPixels()}});
    std::vector<Dim> dims = Dims(pixels);
    dims.erase(dims.begin());
    dims.insert(dims.begin(), {batch, depth});
    Node* const frames =
        batch == Dim(1) ? Emit("unsqueeze", {{"x", {pixels}}}, {{"axis", IntArray({0})}}) : Reshaped(pixels, dims);
    images_[frames] = images;
    return frames;
  }
  // At most one of the dimensions is unknown.
  Node* Reshaped(Node* x, const std::vector<Dim>& dims) {
    Attributes shape;
    for (const Dim& dim : dims) shape.push_back(dim.known() ? dim.value() : -1);
    return Emit("reshape", {{"x", {x}}}, {{"shape", IntArray(shape)}, {"allow_zero", true}});
  }

  Node* Padded(Node* frames, int64_t begin, int64_t end) {
    if (begin == 0 && end == 0) return frames;
    const Attributes zeros = {0, begin, 0, 0, 0, 0, end, 0, 0, 0};
    return Emit("pad", {{"x", {frames}}}, {{"paddings", IntArray(zeros)}});
  }
  Node* Slice(Node* x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1) {
    return Emit("slice", {{"x", {x}}},
                {{"axes", Attributes{axis}},
                 {"starts", IntArray({begin})},
                 {"ends", IntArray({end})},
                 {"steps", Attributes{step}}});
  }
  Node* Joined(const NodeList& parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : Emit("concat", {{"x", parts}}, {{"axis", axis}});
  }

  // Every tap's slices, one for each window.
  NodeList Taps(Node* volume, const Depth& depth) {
    Node* const frames = Padded(volume, depth.pad_begin, depth.pad_end);
    if (depth.kernel == 1 && depth.stride == 1) return {frames};
    const int64_t last = depth.dilation * (depth.kernel - 1);
    NodeList taps;
    for (int64_t at = 0; at <= last; at += depth.dilation) {
      const int64_t end = at == last ? std::numeric_limits<int64_t>::max() : at - last;
      taps.push_back(Slice(frames, 1, at, end, depth.stride));
    }
    return taps;
  }

  // The result's frames; null if the statement stays.
  Node* Convolution(const Node::Stmt& conv) {
    Node* const x = conv.input("x");
    Node* const filter = conv.input("filter");
    if (!HasRank(filter, 5)) return nullptr;
    if (!HasFewTaps(filter)) return nullptr;
    const std::vector<Dim> sizes = Dims(filter);
    // A channel each: a kernel reads the slices of a volume where they lie.
    const bool one_each = sizes[1] == Dim(1) && sizes[0] == Dims(x)[1] && sizes[0] == Dim(conv.GetAttr<int>("groups"));
    if (one_each && sizes[0] != Dim(1)) return nullptr;
    const WindowAttributes window = WindowOf(conv);
    const std::optional<Depth> depth = DepthOf(window, Dims(x)[2], sizes[2].value(), false);
    const std::vector<Dim>& out = Dims(conv.output());
    if (!depth || !depth->IsPaddedByTaps() || !CanBeFrames(out[0], out[2], out[3], out[4])) {
      return nullptr;
    }
    AttributeMap attrs = OverImages(conv, window);
    const int groups = conv.GetAttr<int>("groups");
    attrs["groups"] = int64_t{groups};
    Epilogue epilogue = conv.GetAttr<Epilogue>("epilogue");
    const bool adds_up = groups > 1 && depth->kernel > 1;
    if (adds_up && epilogue.steps.size() == Epilogue::kMaxSteps) return nullptr;
    NodeList operands = conv.input_list("operands");
    for (const EpilogueStep& step : epilogue.steps) {
      if (step.kind != EpilogueStep::Kind::kAdd) continue;
      if (!HasRank(operands[static_cast<size_t>(step.operand)], 5)) return nullptr;
    }
    for (const EpilogueStep& step : epilogue.steps) {
      if (step.kind != EpilogueStep::Kind::kAdd) continue;
      Node*& operand = operands[static_cast<size_t>(step.operand)];
      if (HasRank(operand, 5)) operand = Images(Frames(operand));
    }
    const NodeList taps = Taps(Frames(x), *depth);
    Node* images = nullptr;
    if (!adds_up) {
      Node* const swapped = Emit("transpose", {{"x", {filter}}}, {{"perm", Attributes{0, 2, 1, 3, 4}}});
      Node* const flat = Reshaped(swapped, {sizes[0], sizes[1] * sizes[2], sizes[3], sizes[4]});
      attrs["epilogue"] = epilogue;
      images =
          Emit("conv2d", {{"x", {Images(Joined(taps, kChannelsOfFrames))}}, {"filter", {flat}}, {"operands", operands}},
               attrs);
    } else {
      for (size_t tap = 0; tap < taps.size(); ++tap) {
        const auto at = static_cast<int64_t>(tap);
        Node* const flat = Reshaped(Slice(filter, 2, at, at + 1), {sizes[0], sizes[1], sizes[3], sizes[4]});
        const bool last = tap + 1 == taps.size();
        Epilogue steps = last ? epilogue : Epilogue();
        NodeList all = last ? operands : NodeList();
        if (images != nullptr) {
          EpilogueStep sum;
          sum.kind = EpilogueStep::Kind::kAdd;
          sum.operand = static_cast<int>(all.size());
          steps.steps.insert(steps.steps.begin(), sum);
          all.push_back(images);
        }
        attrs["epilogue"] = steps;
        images = Emit("conv2d", {{"x", {Images(taps[tap])}}, {"filter", {flat}}, {"operands", all}}, attrs);
      }
    }
    return FramesOf(images, out[0], out[2]);
  }

  // Tap t of slice i of the input meets slice i * stride - pad + t * dilation of the result.
  Node* TransposedConvolution(const Node::Stmt& conv) {
    Node* const x = conv.input("x");
    Node* const filter = conv.input("filter");
    const std::vector<Dim>& in = Dims(x);
    const std::vector<Dim>& out = Dims(conv.output());
    if (!HasRank(filter, 5) || !in[2].known() || !out[2].known() || conv.GetAttr<int>("groups") != 1) return nullptr;
    const std::vector<Dim> sizes = Dims(filter);
    if (!HasFewTaps(filter) || !CanBeFrames(in[0], in[2], out[3], out[4]) || in[2] == Dim(0) || out[2] == Dim(0) ||
        !conv.HasAttr("output_size")) {
      return nullptr;
    }
    const Epilogue& epilogue = conv.GetAttr<Epilogue>("epilogue");
    if (std::any_of(epilogue.steps.begin(), epilogue.steps.end(),
                    [](const EpilogueStep& step) { return step.kind == EpilogueStep::Kind::kAdd; })) {
      return nullptr;
    }
    const WindowAttributes window = WindowOf(conv);
    const int64_t kernel = sizes[2].value();
    const int64_t stride = window.stride[0];
    const auto& extra = conv.GetAttr<Attributes>("output_padding");
    const int64_t pad =
        ResolveTransposedAxis(window, 0, in[2].value(), kernel, extra.empty() ? 0 : extra[0], out[2].value()).pad_begin;
    AttributeMap attrs = OverImages(conv, window);
    if (!extra.empty()) attrs["output_padding"] = Attributes{extra[1], extra[2]};
    if (const auto& size = conv.GetAttr<IntArray>("output_size"); !size.empty()) {
      attrs["output_size"] = IntArray({size[1], size[2]});
    }
    attrs["epilogue"] = epilogue;
    const NodeList& operands = conv.input_list("operands");

    if (stride > kMostTaps) return nullptr;
    // By the place of a result's slice among `stride`: its taps, and how far from its number their input's lies.
    using Class = std::vector<std::pair<int64_t, int64_t>>;
    std::vector<Class> classes(static_cast<size_t>(std::min(stride, out[2].value())));
    int64_t before = 0;
    int64_t after = 0;
    const int64_t count = (out[2].value() + stride - 1) / stride;  // slices of a class, the last ones too many
    for (size_t place = 0; place < classes.size(); ++place) {
      for (int64_t tap = 0; tap < kernel; ++tap) {
        const int64_t distance = static_cast<int64_t>(place) + pad - tap * window.dilation[0];
        if (distance % stride != 0) continue;
        const int64_t offset = distance / stride;
        classes[place].emplace_back(tap, offset);
        before = std::max(before, -offset);
        after = std::max(after, offset + count - in[2].value());
      }
      if (classes[place].empty()) return nullptr;
    }
    constexpr int64_t kMostZeros = 64;  // padding far over a kernel's size is not worth the memory
    if (before > kMostZeros || after > in[2].value() + kMostZeros) return nullptr;

    Node* const padded = Padded(Frames(x), before, after);
    Node* const swapped = Emit("transpose", {{"x", {filter}}}, {{"perm", Attributes{2, 0, 1, 3, 4}}});
    NodeList parts;
    for (const Class& each : classes) {
      NodeList frames;
      NodeList filters;
      for (const auto& [tap, offset] : each) {
        frames.push_back(Slice(padded, 1, before + offset, before + offset + count));
        filters.push_back(Slice(swapped, 0, tap, tap + 1));
      }
      const Dim channels = sizes[0] * Dim(static_cast<int64_t>(filters.size()));
      Node* const flat = Reshaped(Joined(filters, 0), {channels, sizes[1], sizes[3], sizes[4]});
      Node* const images =
          Emit("conv2d_transpose",
               {{"x", {Images(Joined(frames, kChannelsOfFrames))}}, {"filter", {flat}}, {"operands", operands}}, attrs);
      parts.push_back(FramesOf(images, in[0], Dim(count)));
    }
    if (parts.size() == 1) return parts[0];
    for (Node*& part : parts) part = Emit("unsqueeze", {{"x", {part}}}, {{"axis", IntArray({2})}});
    const auto places = static_cast<int64_t>(parts.size());
    Node* const all =
        Emit("flatten", {{"x", {Joined(parts, 2)}}}, {{"start_axis", int64_t{1}}, {"stop_axis", int64_t{2}}});
    return count * places == out[2].value() ? all : Slice(all, 1, 0, out[2].value());
  }

  Node* Pool(const Node::Stmt& pool) {
    Node* const x = pool.input("x");
    const std::string type = pool.GetAttr<std::string>("pooling_type");
    if (pool.GetAttr<bool>("global_pooling")) {
      const std::string op = type == "avg" ? "mean" : type;
      return Emit(op, {{"x", {Frames(x)}}}, {{"axis", IntArray({1, 2, 3})}, {"keepdim", true}});
    }
    if (!pool.HasAttr("kernel_size")) return nullptr;
    const auto& kernel = pool.GetAttr<IntArray>("kernel_size");
    const WindowAttributes window = WindowOf(pool);
    const bool adaptive = pool.GetAttr<bool>("adaptive");
    const std::optional<Depth> depth = DepthOf(window, Dims(x)[2], kernel[0], pool.GetAttr<bool>("ceil_mode"));
    const std::vector<Dim>& in = Dims(x);
    const std::vector<Dim>& out = Dims(pool.output());
    // Between the two pools lies [N, D, OH, OW, C]; for the second one it is [N, 1, D, OH * OW * C].
    const bool known = in[1].known() && out[3].known() && out[4].known() && (in[0].known() || out[2].known());
    if (!depth || !known || !CanBeFrames(in[0], in[2], out[3], out[4])) return nullptr;
    AttributeMap attrs = OverImages(pool, window);
    attrs["kernel_size"] = IntArray({kernel[1], kernel[2]});
    for (const char* kept : {"ceil_mode", "exclusive", "adaptive"}) attrs[kept] = pool.GetAttr<bool>(kept);
    attrs["pooling_type"] = type;
    Node* const images = Emit("pool2d", {{"x", {Images(Frames(x))}}}, attrs);
    Node* const frames = FramesOf(images, in[0], in[2]);
    if (adaptive ? in[2] == out[2] : depth->IsTrivial()) return frames;
    const Dim row = out[3] * out[4] * in[1];
    Node* const rows = Reshaped(frames, {in[0], Dim(1), in[2], row});
    attrs["kernel_size"] = IntArray({kernel[0], adaptive ? row.value() : 1});
    attrs["strides"] = Attributes{depth->stride, 1};
    attrs["dilations"] = Attributes{depth->dilation, 1};
    attrs["paddings"] = Attributes{depth->pad_begin, depth->pad_end, 0, 0};
    attrs["padding_algorithm"] = std::string("EXPLICIT");
    Node* const pooled = Emit("pool2d", {{"x", {rows}}}, attrs);
    return Reshaped(pooled, {in[0], out[2], out[3], out[4], in[1]});
  }

  SSAGraph* graph_ = nullptr;
  const Node* near_ = nullptr;                     // the statement that is replaced
  std::unordered_map<const Node*, Node*> frames_;  // by their volume
  std::unordered_map<const Node*, Node*> images_;  // by their frames
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(volume_slices_pass, wherry::mir::VolumeSlicesPass).BindTargets({TARGET(kAny)});
