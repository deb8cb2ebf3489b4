// The default pipeline: the order in which a program is optimised, each step with the reason for its place. Adding a
// pass to it is one line here.
#include "pass/optimizer.h"

namespace wherry {

const std::vector<std::string>& DefaultPipeline() {
  static const std::vector<std::string> pipeline = {
      // canonicalize: say the same thing in one way only, so that the fusions have few patterns to know.
      "infer_shapes_pass",          // types first: everything below asks for them
      "quantized_map_fuse_pass",    // functions of bytes, before products of two bytes are taken
      "quantize_fuse_pass",         // while weights are still integers: folding would make floats of them
      "weight_only_fuse_pass",      // likewise
      "fold_constants_pass",        // shape arithmetic becomes numbers, branches that are always taken are taken
      "widen_half_pass",            // once constants are weights, before patterns ask for f32
      "common_subexpression_pass",  // one of each, before patterns ask whether a value has one reader
      "sink_views_pass",            // so that views meet, and operators what they may be fused into
      "shorten_chains_pass",        // views of views, casts of casts, transposes of transposes
      "cancel_transposes_pass",     // across elementwise operators, once those chains are one each
      "eliminate_identity_pass",    // dropout, scale by 1, casts to the same type, reshapes to the same shape
      "algebra_pass",               // constants in one form and place, once what stood between them is gone
      "eliminate_dead_pass",        // what folding and identities left behind
      // fuse: larger patterns before the smaller ones they contain.
      "pad_conv_fuse_pass",         // zeros around an image, which stand between a squeeze and its unsqueeze too
      "squeeze_sink_pass",          // convolutions along one axis: brings what follows to where it can be fused
      "conv_bn_fuse_pass",          // into weights and bias, before the bias becomes an epilogue
      "batch_norm_split_pass",      // what is left of them: steps for an epilogue or an elementwise group
      "fc_fuse_pass",               // mul or matmul + bias -> fc, before the bias is taken as an elementwise op
      "flatten_fc_fuse_pass",       // fc flattens by itself
      "recurrent_fuse_pass",        // cells, before epilogues and elementwise groups take their pieces
      "shuffle_channel_fuse_pass",  // reshape, transpose, reshape: the axes would fix the layout
      "interpolate_fuse_pass",      // sizes computed from shapes, repeated pixels
      "norm_fuse_pass",             // before the gain or the bias is taken for a step of something else
      "group_norm_fuse_pass",       // likewise
      "attention_fuse_pass",        // while its scale and mask stand apart from the products
      "causal_mask_fuse_pass",      // masks that compare positions, which shapes above have made symbols of
      "qkv_merge_pass",             // the products in front of an attention, which reads each by its columns
      "activation_fuse_pass",       // activations before their pieces are taken into an epilogue one by one
      "matmul_operand_fuse_pass",   // numbers that the operands of a product are multiplied by, and transposes
      "epilogue_fuse_pass",         // bias, residual and activation into conv, fc and matmul
      "affine_fold_pass",           // the scales and biases that came together there
      "volume_slices_pass",         // conv3d with its epilogue, whose weights are then folded
      "cancel_transposes_pass",     // between its frames
      "fold_constants_pass",        // weights the fusions computed
      "eliminate_dead_pass",
      "conv_chain_fuse_pass",   // convolutions with all that they have taken
      "elementwise_fuse_pass",  // what no epilogue took
      // place: decide where and how each op runs.
      "weight_precision_pass",          // where the valid places ask for it, once it is known what reads weights
      "infer_shapes_pass",              // fused ops' results
      "static_kernel_pick_pass",        // a kernel for every op
      "legalize_pass",                  // split what the picked kernel refuses
      "variable_place_inference_pass",  // what each value is, given the kernels
      "type_target_cast_pass",          // copies between memory spaces
      "type_precision_cast_pass",       // casts between element types
      "type_layout_cast_pass",          // NCHW <-> NHWC
      "fold_constants_pass",            // conversions of weights, done once
      "eliminate_dead_pass",
      "join_moves_pass",       // casts of layouts with what moved elements beside them
      "device_subgraph_pass",  // what runs on one device side by side, once the copies are known
      // memory: nothing may change the structure after this.
      "inplace_pass",          // results that may overwrite an argument, and views
      "memory_optimize_pass",  // arena offsets from lifetimes and sizes
      "argument_type_display_pass",
  };
  return pipeline;
}

}  // namespace wherry
