// InferMeta functions: from what is known about an operator's inputs and its attributes to what is known about its
// outputs. ops/*.yaml names them; codegen checks the entries against the declarations here.
//
// Contracts common to all:
// - Shapes may hold symbols, ranks may be unknown. What follows is computed symbolically where it can be; where it
// cannot (a shape that
//   comes from unknown values), the result has unknown rank. Calling again with known shapes gives the exact result.
// - kUnknownDim is a dimension that what is known does not give, of a result whose rank is known.
// - A contradiction that is certain (known numbers that do not fit) is Error(kInvalidArgument) naming arguments and
// shapes; the caller adds
//   the operator's name. What only symbols could contradict is taken to fit.
// - Integer tensors of up to MetaTensor::kMaxValues elements carry their values through the operators that compute
// shapes: shape, cast,
//   gather, concat, stack, slice, split, arithmetic, comparison, where, squeeze, unsqueeze, reshape, flatten, expand,
//   full, arange. Values that the tensor's type cannot hold (they would wrap) are forgotten.
// - Values that are dimensions are taken not to be negative: a symbolic one never equals a negative number, and
// dividing truncates
//   and floors alike.
// Thread-safe: no state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "op/epilogue.h"
#include "op/meta_tensor.h"

namespace wherry {

// One tensor in, one of the same shape out: of the same type, or bool.
MetaTensor UnaryInferMeta(const MetaTensor& x);
MetaTensor PredicateInferMeta(const MetaTensor& x);
MetaTensor LogicalNotInferMeta(const MetaTensor& x);
MetaTensor AssignInferMeta(const MetaTensor& x);
MetaTensor ScaleInferMeta(const MetaTensor& x, const SymScalar& scale, const SymScalar& bias, bool bias_after_scale);
MetaTensor CastInferMeta(const MetaTensor& x, DataType dtype);
MetaTensor BitcastInferMeta(const MetaTensor& x, DataType dtype);
MetaTensor DropoutInferMeta(const MetaTensor& x, float p, const std::string& mode);
MetaTensor LayoutInferMeta(const MetaTensor& x, DataLayout layout, const std::vector<int64_t>& perm);

// Broadcasting. Binary: the result has the promoted type; the others compute values too.
MetaTensor BinaryInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor AddInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor SubtractInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor MultiplyInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor DivideInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor FloorDivideInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor RemainderInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor MaximumInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor MinimumInferMeta(const MetaTensor& x, const MetaTensor& y);
// Broadcasting, bool result.
MetaTensor EqualInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor NotEqualInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor LessThanInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor LessEqualInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor GreaterThanInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor GreaterEqualInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor LogicalAndInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor LogicalOrInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor LogicalXorInferMeta(const MetaTensor& x, const MetaTensor& y);
MetaTensor WhereInferMeta(const MetaTensor& condition, const MetaTensor& x, const MetaTensor& y);
MetaTensor FusedElementwiseInferMeta(const std::vector<const MetaTensor*>& inputs, const ElementwiseProgram& program);

// Matrix products.
MetaTensor MatmulInferMeta(const MetaTensor& x, const MetaTensor& y, bool transpose_x, bool transpose_y);
MetaTensor FusedMatmulInferMeta(const MetaTensor& x, const MetaTensor& y,
                                const std::vector<const MetaTensor*>& operands, bool transpose_x, bool transpose_y,
                                float alpha, const Epilogue& epilogue);
MetaTensor MulInferMeta(const MetaTensor& x, const MetaTensor& y, int x_num_col_dims, int y_num_col_dims);
MetaTensor FcInferMeta(const MetaTensor& input, const MetaTensor& w, const std::vector<const MetaTensor*>& operands,
                       int in_num_col_dims, const Epilogue& epilogue);

// Windows.
MetaTensor Conv2dInferMeta(const MetaTensor& x, const MetaTensor& filter,
                           const std::vector<const MetaTensor*>& operands, const std::vector<int64_t>& strides,
                           const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
                           const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue);
MetaTensor Conv2dChainInferMeta(const MetaTensor& x, const MetaTensor& filter1, const MetaTensor& filter2,
                                const MetaTensor* filter3, const std::vector<const MetaTensor*>& operands,
                                const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                                const std::vector<int64_t>& dilations, const std::vector<int64_t>& groups,
                                const Epilogue& epilogue1, const Epilogue& epilogue2, const Epilogue& epilogue3);
MetaTensor Conv3dInferMeta(const MetaTensor& x, const MetaTensor& filter,
                           const std::vector<const MetaTensor*>& operands, const std::vector<int64_t>& strides,
                           const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
                           const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue);
// `output_size` not known: the result's size is not known either.
MetaTensor Conv2dTransposeInferMeta(const MetaTensor& x, const MetaTensor& filter,
                                    const std::vector<const MetaTensor*>& operands, const SymIntArray& output_size,
                                    const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                                    const std::vector<int64_t>& output_padding, const std::string& padding_algorithm,
                                    const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue);
MetaTensor Conv3dTransposeInferMeta(const MetaTensor& x, const MetaTensor& filter,
                                    const std::vector<const MetaTensor*>& operands, const SymIntArray& output_size,
                                    const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                                    const std::vector<int64_t>& output_padding, const std::string& padding_algorithm,
                                    const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue);
MetaTensor Pool2dInferMeta(const MetaTensor& x, const SymIntArray& kernel_size, const std::vector<int64_t>& strides,
                           const std::vector<int64_t>& paddings, bool ceil_mode, bool exclusive,
                           const std::string& pooling_type, bool global_pooling, bool adaptive,
                           const std::string& padding_algorithm, const std::vector<int64_t>& dilations);
MetaTensor Pool3dInferMeta(const MetaTensor& x, const SymIntArray& kernel_size, const std::vector<int64_t>& strides,
                           const std::vector<int64_t>& paddings, bool ceil_mode, bool exclusive,
                           const std::string& pooling_type, bool global_pooling, bool adaptive,
                           const std::string& padding_algorithm, const std::vector<int64_t>& dilations);
MetaTensor DeformableConvInferMeta(const MetaTensor& x, const MetaTensor& offset, const MetaTensor& filter,
                                   const MetaTensor* mask, const std::vector<int64_t>& strides,
                                   const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
                                   const std::vector<int64_t>& dilations, int groups, int deformable_groups);
// The result, and where each of its elements comes from.
std::vector<MetaTensor> MaxPoolWithIndexInferMeta(const MetaTensor& x, const SymIntArray& kernel_size,
                                                  const std::vector<int64_t>& strides,
                                                  const std::vector<int64_t>& paddings, bool ceil_mode,
                                                  bool global_pooling, bool adaptive,
                                                  const std::string& padding_algorithm,
                                                  const std::vector<int64_t>& dilations, const std::string& index,
                                                  DataType dtype);
MetaTensor UnpoolInferMeta(const MetaTensor& x, const MetaTensor& indices, const SymIntArray& output_size,
                           const std::string& index);

// Integers with scales. QuantizeLinear serves both ways.
MetaTensor QuantizeLinearInferMeta(const MetaTensor& x, const MetaTensor& scale, const MetaTensor* zero_point, int axis,
                                   int64_t block_size, DataType dtype);
std::vector<MetaTensor> DynamicQuantizeInferMeta(const MetaTensor& x);
MetaTensor QuantizedConv2dInferMeta(const MetaTensor& x, const MetaTensor& filter, const MetaTensor* scale,
                                    const MetaTensor* bias, const MetaTensor* x_zero, const MetaTensor* filter_zero,
                                    const MetaTensor* out_zero, const std::vector<int64_t>& strides,
                                    const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
                                    const std::vector<int64_t>& dilations, int groups, DataType dtype);
MetaTensor QuantizedMatmulInferMeta(const MetaTensor& x, const MetaTensor& y, const MetaTensor* scale,
                                    const MetaTensor* bias, const MetaTensor* x_zero, const MetaTensor* y_zero,
                                    const MetaTensor* out_zero, bool transpose_y, DataType dtype);
MetaTensor QuantizedBinaryInferMeta(const MetaTensor& x, const MetaTensor& y, int x_zero, int y_zero, int out_zero);
MetaTensor QuantizedMapInferMeta(const MetaTensor& x, const MetaTensor& table);
MetaTensor WeightOnlyLinearInferMeta(const MetaTensor& x, const MetaTensor& weight, const MetaTensor* weight_scale,
                                     const MetaTensor* zero_point, const std::vector<const MetaTensor*>& operands,
                                     int bits, int64_t group_size, const Epilogue& epilogue, DataType out_dtype);

// Resampling.
MetaTensor InterpolateInferMeta(const MetaTensor& x, const MetaTensor* roi, const MetaTensor* scale_tensor,
                                const SymIntArray& size, const std::vector<int64_t>& axes,
                                const std::vector<double>& scale, const std::string& mode,
                                const std::string& coordinates, const std::string& nearest_mode,
                                const std::string& keep_aspect_ratio, bool recompute_scale, float cubic_coefficient,
                                bool exclude_outside, bool antialias, float extrapolation_value);
MetaTensor GridSampleInferMeta(const MetaTensor& x, const MetaTensor& grid, const std::string& mode,
                               const std::string& padding_mode, bool align_corners);
MetaTensor AffineGridInferMeta(const MetaTensor& theta, const SymIntArray& size, bool align_corners);
MetaTensor RoiAlignInferMeta(const MetaTensor& x, const MetaTensor& rois, const MetaTensor* batch_index,
                             const MetaTensor* rois_num, int64_t pooled_height, int64_t pooled_width,
                             float spatial_scale, int64_t sampling_ratio, bool aligned, const std::string& mode);
MetaTensor UnfoldInferMeta(const MetaTensor& x, const std::vector<int64_t>& kernel_sizes,
                           const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                           const std::vector<int64_t>& dilations);
MetaTensor FoldInferMeta(const MetaTensor& x, const SymIntArray& output_sizes, const SymIntArray& kernel_sizes,
                         const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                         const std::vector<int64_t>& dilations);
MetaTensor RollInferMeta(const MetaTensor& x, const SymIntArray& shifts, const std::vector<int64_t>& axis);

// Normalisations and softmax: the shape of x; parameters are checked against it.
MetaTensor SoftmaxInferMeta(const MetaTensor& x, int axis);
MetaTensor BatchNormInferMeta(const MetaTensor& x, const MetaTensor& mean, const MetaTensor& variance,
                              const MetaTensor* scale, const MetaTensor* bias, float epsilon);
MetaTensor LayerNormInferMeta(const MetaTensor& x, const MetaTensor* scale, const MetaTensor* bias, float epsilon,
                              int begin_norm_axis);
MetaTensor GroupNormInferMeta(const MetaTensor& x, const MetaTensor* scale, const MetaTensor* bias, float epsilon,
                              int groups);
MetaTensor InstanceNormInferMeta(const MetaTensor& x, const MetaTensor* scale, const MetaTensor* bias, float epsilon);

MetaTensor AttentionInferMeta(const MetaTensor& query, const MetaTensor& key, const MetaTensor& value,
                              const MetaTensor* mask, int heads, int key_heads, int size,
                              const std::vector<int64_t>& columns, bool merged);

// Recurrent layers: y, last_h, last_c.
std::vector<MetaTensor> RnnInferMeta(const MetaTensor& x, const MetaTensor& w, const MetaTensor& r,
                                     const MetaTensor* bias, const MetaTensor* sequence_lens,
                                     const MetaTensor* initial_h, const MetaTensor* initial_c,
                                     const MetaTensor* peephole, const std::string& cell, const std::string& direction,
                                     const std::vector<std::string>& activations, const std::vector<double>& alphas,
                                     const std::vector<double>& betas, float clip, bool linear_before_reset,
                                     bool input_forget);

// Reductions. Sum and Prod give i64 for bool.
MetaTensor ReduceInferMeta(const MetaTensor& x, const SymIntArray& axis, bool keepdim);
MetaTensor SumInferMeta(const MetaTensor& x, const SymIntArray& axis, bool keepdim);
MetaTensor ProdInferMeta(const MetaTensor& x, const SymIntArray& axis, bool keepdim);
MetaTensor ArgMinMaxInferMeta(const MetaTensor& x, int64_t axis, bool keepdims, bool flatten, DataType dtype,
                              bool select_last);

// Order, rank, and what gathers up along an axis. Positions are i64, or `dtype` (i32 or i64).
std::vector<MetaTensor> TopkInferMeta(const MetaTensor& x, const SymScalar& k, int axis);
std::vector<MetaTensor> ArgsortInferMeta(const MetaTensor& x, int axis);
std::vector<MetaTensor> ModeInferMeta(const MetaTensor& x, int axis, bool keepdim);
std::vector<MetaTensor> UniqueInferMeta(const MetaTensor& x, const std::vector<int64_t>& axis, DataType dtype);
MetaTensor SearchSortedInferMeta(const MetaTensor& sequence, const MetaTensor& values, DataType dtype);
MetaTensor CumulateInferMeta(const MetaTensor& x, const SymScalar& axis, bool flatten);
std::vector<MetaTensor> CumulativeExtremeInferMeta(const MetaTensor& x, int axis, DataType dtype);

// Elements picked out or put in by their positions.
MetaTensor GatherNdInferMeta(const MetaTensor& x, const MetaTensor& index, int batch_dims);
MetaTensor ScatterNdInferMeta(const MetaTensor& x, const MetaTensor& index, const MetaTensor& updates,
                              const std::string& reduce);
MetaTensor TakeAlongAxisInferMeta(const MetaTensor& x, const MetaTensor& index, int axis);
MetaTensor PutAlongAxisInferMeta(const MetaTensor& x, const MetaTensor& index, const MetaTensor& value, int axis,
                                 const std::string& reduce);
MetaTensor GatherTreeInferMeta(const MetaTensor& ids, const MetaTensor& parents);
MetaTensor SetValueInferMeta(const MetaTensor& x, const MetaTensor& value, const std::vector<int64_t>& axes,
                             const SymIntArray& starts, const SymIntArray& ends, const SymIntArray& steps);

// The same elements under another shape.
MetaTensor ReshapeInferMeta(const MetaTensor& x, const SymIntArray& shape, bool allow_zero);
MetaTensor SqueezeInferMeta(const MetaTensor& x, const SymIntArray& axis);
MetaTensor UnsqueezeInferMeta(const MetaTensor& x, const SymIntArray& axis);
MetaTensor FlattenInferMeta(const MetaTensor& x, int start_axis, int stop_axis);
MetaTensor ShuffleChannelInferMeta(const MetaTensor& x, int groups);
MetaTensor TransposeInferMeta(const MetaTensor& x, const std::vector<int64_t>& perm);

// Parts, joins and repetitions.
MetaTensor ConcatInferMeta(const std::vector<const MetaTensor*>& x, int axis);
MetaTensor StackInferMeta(const std::vector<const MetaTensor*>& x, int axis);
std::vector<MetaTensor> SplitInferMeta(const MetaTensor& x, const SymIntArray& sections, int axis);
MetaTensor SliceInferMeta(const MetaTensor& x, const std::vector<int64_t>& axes, const SymIntArray& starts,
                          const SymIntArray& ends, const std::vector<int64_t>& steps);
MetaTensor GatherInferMeta(const MetaTensor& x, const MetaTensor& index, int axis);
MetaTensor EmbeddingInferMeta(const MetaTensor& x, const MetaTensor& weight, int64_t padding_idx);
MetaTensor ExpandInferMeta(const MetaTensor& x, const SymIntArray& shape);
MetaTensor TileInferMeta(const MetaTensor& x, const SymIntArray& repeats);
MetaTensor PadInferMeta(const MetaTensor& x, const SymIntArray& paddings, const std::string& mode);
MetaTensor NonzeroInferMeta(const MetaTensor& x);

// Strings, and what is looked up.
MetaTensor StringConcatInferMeta(const MetaTensor& x, const MetaTensor& y);
std::vector<MetaTensor> StringSplitInferMeta(const MetaTensor& x);
MetaTensor StringNormalizeInferMeta(const MetaTensor& x, const std::string& letter_case);
MetaTensor TfIdfInferMeta(const MetaTensor& x, const MetaTensor& pool, const std::vector<int64_t>& counts,
                          const std::vector<int64_t>& indexes, int64_t shortest, int64_t longest, int64_t max_skips,
                          const std::string& mode, const std::vector<double>& weights);
MetaTensor MapValuesInferMeta(const MetaTensor& x, const MetaTensor& keys, const MetaTensor& values,
                              const MetaTensor& fallback);

// Trees.
MetaTensor TreeEnsembleInferMeta(const MetaTensor& x, const MetaTensor& splits, const MetaTensor& nodes,
                                 const MetaTensor& roots, const MetaTensor& leaves, const MetaTensor& targets,
                                 const MetaTensor& weights, const MetaTensor* members, int64_t target_count,
                                 const std::string& aggregate);

// Sequences. One that gives a sequence looks at nothing; what comes out of one has a shape that is not known.
MetaTensor SequenceConstructInferMeta(const std::vector<const MetaTensor*>& x);
MetaTensor SequenceInferMeta(const MetaTensor& x);
MetaTensor SequenceAtInferMeta(const MetaTensor& sequence, DataType dtype);
MetaTensor SequenceLengthInferMeta(const MetaTensor& sequence);
MetaTensor SequenceSizesInferMeta(const MetaTensor& sequence);

// New tensors.
MetaTensor ShapeInferMeta(const MetaTensor& x, DataType dtype);
MetaTensor FullInferMeta(const SymIntArray& shape, const SymScalar& value, DataType dtype);
MetaTensor FullLikeInferMeta(const MetaTensor& x, DataType dtype, DataLayout layout);
MetaTensor ArangeInferMeta(const SymScalar& start, const SymScalar& end, const SymScalar& step, DataType dtype);

MetaTensor LinspaceInferMeta(const SymScalar& num, DataType dtype);

// Diagonals.
MetaTensor DiagonalInferMeta(const MetaTensor& x, int64_t offset, int axis1, int axis2);
MetaTensor DiagEmbedInferMeta(const MetaTensor& x, int64_t offset, int dim1, int dim2);
MetaTensor TrilTriuInferMeta(const MetaTensor& x);

// Transforms and factors of matrices.
MetaTensor DftInferMeta(const MetaTensor& x, const SymScalar& length, const SymScalar& axis, bool inverse,
                        bool onesided);
MetaTensor ToRealInferMeta(const MetaTensor& x);
MetaTensor ToComplexInferMeta(const MetaTensor& x);
MetaTensor MatrixInferMeta(const MetaTensor& x);
MetaTensor DetInferMeta(const MetaTensor& x);
std::vector<MetaTensor> SlogdetInferMeta(const MetaTensor& x);
MetaTensor EigenvaluesInferMeta(const MetaTensor& x);
MetaTensor SolveInferMeta(const MetaTensor& x, const MetaTensor& y);
std::vector<MetaTensor> EighInferMeta(const MetaTensor& x);
std::vector<MetaTensor> QrInferMeta(const MetaTensor& x, const std::string& mode);
std::vector<MetaTensor> SvdInferMeta(const MetaTensor& x, bool full_matrices);
std::vector<MetaTensor> LuInferMeta(const MetaTensor& x);
MetaTensor LuPermutationInferMeta(const MetaTensor& lu, const MetaTensor& pivots);

// What decoders make of sequences of labels.
std::vector<MetaTensor> CtcAlignInferMeta(const MetaTensor& x, const MetaTensor* lengths);
std::vector<MetaTensor> EditDistanceInferMeta(const MetaTensor& hyps, const MetaTensor& refs,
                                              const MetaTensor* hyps_length, const MetaTensor* refs_length);
std::vector<MetaTensor> ViterbiDecodeInferMeta(const MetaTensor& potentials, const MetaTensor& transitions,
                                               const MetaTensor& lengths);

// Boxes that detectors start from and find.
MetaTensor NmsInferMeta(const MetaTensor& boxes, const MetaTensor& scores);
std::vector<MetaTensor> MulticlassNmsInferMeta(const MetaTensor& boxes, const MetaTensor& scores,
                                               const MetaTensor* rois_num);
std::vector<MetaTensor> MatrixNmsInferMeta(const MetaTensor& boxes, const MetaTensor& scores);
std::vector<MetaTensor> YoloBoxInferMeta(const MetaTensor& x, const MetaTensor& img_size,
                                         const std::vector<int64_t>& anchors, int class_num, bool iou_aware);
std::vector<MetaTensor> PriorBoxInferMeta(const MetaTensor& input, const MetaTensor& image,
                                          const std::vector<double>& min_sizes, const std::vector<double>& max_sizes,
                                          const std::vector<double>& aspect_ratios,
                                          const std::vector<double>& variances, bool flip);
std::vector<MetaTensor> GenerateProposalsInferMeta(const MetaTensor& scores, const MetaTensor& bbox_deltas,
                                                   const MetaTensor& im_shape, const MetaTensor& anchors,
                                                   const MetaTensor& variances);
std::vector<MetaTensor> BipartiteMatchInferMeta(const MetaTensor& distance, const std::string& match_type);
MetaTensor LocalityAwareNmsInferMeta(const MetaTensor& boxes, const MetaTensor& scores);
std::vector<MetaTensor> RoiPoolInferMeta(const MetaTensor& x, const MetaTensor& rois, const MetaTensor* rois_num,
                                         int64_t pooled_height, int64_t pooled_width);
MetaTensor PsroiPoolInferMeta(const MetaTensor& x, const MetaTensor& rois, const MetaTensor* rois_num,
                              int64_t pooled_height, int64_t pooled_width, int64_t output_channels);

// Windows of unequal sizes.
std::vector<MetaTensor> FractionalMaxPoolInferMeta(const MetaTensor& x, const std::vector<int64_t>& output_size,
                                                   const std::vector<int64_t>& kernel_size, float u);

}  // namespace wherry
