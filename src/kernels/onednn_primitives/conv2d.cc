// conv2d over NHWC images in f32, by oneDNN's direct convolutions.
#include "base/check.h"
#include "kernel/conv_window.h"
#include "kernels/onednn_primitives/engine.h"
#include "kernels/onednn_primitives/functions.h"
#include "kernels/onednn_primitives/plan.h"
#include "op/infer/window.h"

namespace wherry::onednn {

namespace {

using dnnl::memory;

struct Image {
  memory::dims dims;
  memory::dims strides;
  memory::desc desc() const { return {dims, memory::data_type::f32, strides}; }
};

Image NhwcImage(const MetaTensor& meta) {
  const Shape shape = meta.shape();
  return {shape.vector(), {shape[2] * shape[3] * shape[1], 1, shape[3] * shape[1], shape[1]}};
}

// [groups,] outputs, inputs, height, width; plain.
memory::desc FilterDesc(const Shape& filter, int64_t groups, bool any) {
  memory::dims dims = filter.vector();
  if (groups > 1) {
    dims[0] /= groups;
    dims.insert(dims.begin(), groups);
  }
  using Tag = memory::format_tag;
  return {dims, memory::data_type::f32, any ? Tag::any : groups > 1 ? Tag::abcde : Tag::abcd};
}

// "" or why oneDNN cannot or should not do this. Shapes are known.
std::string Cook(const KernelProblem& problem, bool make_primitive, Recipe* recipe) {
  const Image x = NhwcImage(*problem.Input("x"));
  const Image out = NhwcImage(problem.Output());
  const Shape filter = problem.Input("filter")->shape();
  const int64_t groups = problem.Attr<int64_t>("groups");
  const WindowAttributes window = ConvWindow(problem);
  const WindowAxis rows = ResolveWindowAxis(window, 0, x.dims[2], filter[2], false);
  const WindowAxis columns = ResolveWindowAxis(window, 1, x.dims[3], filter[3], false);
  if (rows.pad_begin < 0 || rows.pad_end < 0 || columns.pad_begin < 0 || columns.pad_end < 0) {
    return "oneDNN has no negative padding";
  }

  PostOps post_ops;
  memory::desc bias;
  std::string why = TranslateEpilogue(problem, {out.dims, out.strides, 1}, true, &post_ops, &bias);
  if (!why.empty()) return why;
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post_ops.ops);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);

  recipe->operands = std::move(post_ops.operands);
  recipe->weights_given = FilterDesc(filter, groups, false);
  const ThreadScope threads(problem.threads(), nullptr);
  try {
    const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                                               x.desc(), FilterDesc(filter, groups, true), bias, out.desc(),
                                               {window.stride[0], window.stride[1]},
                                               {window.dilation[0] - 1, window.dilation[1] - 1},
                                               {rows.pad_begin, columns.pad_begin}, {rows.pad_end, columns.pad_end});
    const dnnl::convolution_forward::primitive_desc primitive_desc(desc, attributes, Engine());
    Fill(primitive_desc, make_primitive, static_cast<dnnl::convolution_forward*>(nullptr), recipe);
  } catch (const dnnl::error& error) {
    return StrCat("oneDNN: ", error.message);
  }
  return RefusalOf(*recipe);
}

Support Conv2dSupports(const KernelProblem& problem) {
  std::string why;
  if (KnownAndNotEmpty(problem, "x", "filter", &why)) {
    Recipe recipe;
    why = Cook(problem, false, &recipe);
  }
  return why.empty() ? Support::Yes() : Support::No(why);
}

std::shared_ptr<const KernelPlan> Conv2dPlan(const KernelProblem& problem) {
  Recipe recipe;
  const std::string why = Cook(problem, true, &recipe);
  WHERRY_ENFORCE(why.empty(), kUnsupported, "onednn:conv2d: ", why);
  return MakePlan(problem, "filter", std::move(recipe));
}

}  // namespace

KernelFunctions Conv2dFunctions() { return {&Conv2dSupports, &Conv2dPlan, &PackedBytes, &Pack, &Run}; }

}  // namespace wherry::onednn
