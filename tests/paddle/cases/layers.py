"""Layers: convolution, pooling, normalisation, interpolation, padding, recurrence, attention, losses."""

import paddle
import paddle.nn.functional as F
from corpus_case import bools, case, f32, f64, given, i32, in_pir, ints, old_op

nn = paddle.nn


def evaluated(layer):
    layer.eval()
    return layer


CONVOLUTIONS = {
    "same": dict(padding="SAME", stride=2), "valid": dict(padding="VALID"), "groups": dict(groups=2, padding=1), "depthwise": dict(groups=4, padding=1),
    "dilated": dict(dilation=2, padding=2), "asymmetric": dict(padding=[1, 0, 2, 1], stride=[2, 1]), "pairs": dict(padding=[[0, 0], [0, 0], [1, 2], [0, 1]]),
}
for _name, _options in CONVOLUTIONS.items():
    case(f"conv2d_{_name}", lambda x, o=_options: nn.Conv2D(4, 8, 3, **o)(x), x=f32(1, 4, 9, 8))
for _name, _options in {"same": dict(padding="SAME", stride=2), "groups": dict(groups=2, padding=1, stride=2), "output_size": dict(stride=2), "dilated": dict(dilation=2, output_padding=1, stride=2)}.items():
    if _name == "output_size":
        case("conv2d_transpose_output_size", lambda x: nn.Conv2DTranspose(4, 6, 3, stride=2)(x, output_size=[10, 8]), x=f32(1, 4, 4, 3))
    else:
        case(f"conv2d_transpose_{_name}", lambda x, o=_options: nn.Conv2DTranspose(4, 6, 3, **o)(x), x=f32(1, 4, 4, 3))
case("conv2d_transpose_size_tensor", lambda x, w, n: F.conv2d_transpose(x, w, None, 2, output_size=n), x=f32(1, 2, 4, 3), w=f32(2, 3, 3, 3), n=given([10, 8], "int32"))
case("conv2d_transpose_valid", lambda x: nn.Conv2DTranspose(4, 6, 3, padding="VALID", stride=2, dilation=2, groups=2, data_format="NHWC")(x), x=f32(1, 4, 3, 4))
case("conv2d_last", lambda x: nn.Conv2D(4, 6, 3, padding=1, data_format="NHWC")(x), x=f32(1, 5, 6, 4))
case("conv2d_transpose_last", lambda x: nn.Conv2DTranspose(4, 6, 3, stride=2, data_format="NHWC")(x), x=f32(1, 3, 4, 4))
case("conv2d_dynamic", lambda x: nn.Conv2D(3, 4, 3, stride=2, padding=1)(x), x=f32(2, 3, 7, 9), dims={"x": [-1, 3, -1, -1]})
case("conv2d_weight_input", lambda x, w, b: F.conv2d(x, w, b, padding=1), x=f32(1, 2, 5, 5), w=f32(3, 2, 3, 3), b=f32(3))
case("conv1d", lambda x: nn.Conv1D(4, 6, 3, stride=2, padding=1, groups=2)(x), x=f32(2, 4, 9))
case("conv1d_last", lambda x: nn.Conv1D(4, 6, 3, padding="SAME", data_format="NLC")(x), x=f32(2, 9, 4))
case("conv1d_transpose", lambda x: nn.Conv1DTranspose(4, 6, 3, stride=2, padding=1, output_padding=1)(x), x=f32(2, 4, 5))
case("conv3d", lambda x: nn.Conv3D(2, 4, 3, padding=1, stride=[1, 2, 1])(x), x=f32(1, 2, 4, 5, 4))
case("conv3d_last", lambda x: nn.Conv3D(2, 4, 2, groups=2, data_format="NDHWC")(x), x=f32(1, 4, 5, 4, 2))
case("conv3d_transpose", lambda x: nn.Conv3DTranspose(2, 4, 2, stride=2, padding=1)(x), x=f32(1, 2, 3, 3, 3))
case("conv_reflect", lambda x: nn.Conv2D(2, 3, 3, padding=1, padding_mode="reflect")(x), x=f32(1, 2, 5, 5))
case("linear", lambda x: nn.Linear(4, 3)(x), x=f32(2, 5, 4))
case("linear_no_bias", lambda x: nn.Linear(4, 3, bias_attr=False)(x), x=f32(2, 4))

for _kind, _function in {"max": F.max_pool2d, "avg": F.avg_pool2d}.items():
    for _name, _options in {
        "basic": dict(kernel_size=2), "ceil": dict(kernel_size=3, stride=2, ceil_mode=True), "pad": dict(kernel_size=3, stride=2, padding=1),
        "asymmetric": dict(kernel_size=[2, 3], stride=[1, 2], padding=[1, 0, 1, 1]), "same": dict(kernel_size=3, stride=2, padding="SAME"), "last": dict(kernel_size=2, data_format="NHWC"),
        "ceil_pad": dict(kernel_size=3, stride=2, padding=1, ceil_mode=True),
    }.items():
        case(f"pool2d_{_kind}_{_name}", lambda x, f=_function, o=_options: f(x, **o), x=f32(1, 2, 7, 8))
for _kind, _function in {"max": F.max_pool2d, "avg": F.avg_pool2d}.items():
    for _name, _options in {"beyond": dict(kernel_size=2, padding=1, ceil_mode=True), "beyond_last": dict(kernel_size=[2, 3], stride=[2, 3], padding=1, ceil_mode=True, data_format="NHWC")}.items():
        case(f"pool2d_{_kind}_{_name}", lambda x, f=_function, o=_options: f(x, **o), x=f32(1, 8, 7, 3))
for _name, _options in {"same": dict(padding="SAME"), "sides": dict(padding=[1, 0, 0, 1]), "ceil": dict(padding=[1, 0, 1, 1], ceil_mode=True)}.items():
    case(f"pool2d_inclusive_{_name}", lambda x, o=_options: F.avg_pool2d(x, 2, [2, 3], exclusive=False, **o), x=f32(1, 2, 8, 7))
case("pool1d_beyond", lambda x: [*F.max_pool1d(x, 2, 2, 1, True, True), F.avg_pool1d(x, 2, 2, 1, False, True)], x=f32(2, 3, 9), forms=["pir"])
case("pool_lp_infinite", lambda x: F.lp_pool2d(x, float("inf"), 3, 2, 1), x=f32(1, 2, 6, 7), forms=["pir"])
case("pool2d_avg_inclusive", lambda x: F.avg_pool2d(x, 3, 2, 1, exclusive=False), x=f32(1, 2, 7, 8))
case("pool2d_avg_divisor", lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5), x=f32(1, 2, 7, 8))
case("pool2d_max_mask", lambda x: F.max_pool2d(x, 3, 2, 1, return_mask=True), x=f32(1, 2, 7, 8))
case("pool2d_unpool", lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, 2, return_mask=True), kernel_size=2, stride=2), x=f32(1, 2, 6, 8))
case("pool1d_unpool", lambda x: F.max_unpool1d(*F.max_pool1d(x, 2, 2, return_mask=True), kernel_size=2), x=f32(1, 2, 6))
case("pool3d_unpool", lambda x: F.max_unpool3d(*F.max_pool3d(x, 2, 2, return_mask=True), kernel_size=2), x=f32(1, 2, 4, 4, 4))
case("pool1d", lambda x: [F.max_pool1d(x, 3, 2, 1), F.avg_pool1d(x, 3, 2, 1, exclusive=False)], x=f32(2, 3, 9))
case("pool3d", lambda x: [F.max_pool3d(x, 2, 1), F.avg_pool3d(x, 2, 2, ceil_mode=True)], x=f32(1, 2, 5, 4, 5))
case("pool_adaptive", lambda x: [F.adaptive_avg_pool2d(x, [3, 2]), F.adaptive_max_pool2d(x, [3, 2]), F.adaptive_avg_pool2d(x, [None, 1])], x=f32(1, 2, 7, 5))
case("pool_adaptive_1_3", lambda x: [F.adaptive_avg_pool1d(x, 3), F.adaptive_max_pool1d(x, 2)], x=f32(1, 2, 7))
case("pool_adaptive_3d", lambda x: [F.adaptive_avg_pool3d(x, 2), *F.adaptive_max_pool3d(x, [2, 3, 2], return_mask=True)], x=f32(1, 2, 5, 4, 5))
case("pool_adaptive_last", lambda x: F.adaptive_avg_pool2d(x, 2, data_format="NHWC"), x=f32(1, 5, 6, 3))
for _name, _options in {"plain": dict(output_size=[3, 4], random_u=0.3), "kernel": dict(output_size=[3, 3], kernel_size=2, random_u=0.7), "mask": dict(output_size=4, random_u=0.55, return_mask=True)}.items():
    case(f"pool_fractional_2d_{_name}", lambda x, o=_options: F.fractional_max_pool2d(x, **o), x=f32(2, 3, 9, 11))
    case(f"pool_fractional_3d_{_name}", lambda x, o=_options: F.fractional_max_pool3d(x, **(o | dict(output_size=3))), x=f32(1, 2, 7, 8, 9))
case("pool_lp", lambda x: [F.lp_pool2d(x, 2.0, 2), F.lp_pool2d(x, 3.0, 3, 2, 1)], x=f32(1, 2, 6, 7, low=0.1))
case("pool_lp_1d", lambda x: F.lp_pool1d(x, 2.0, 2), x=f32(1, 2, 6))

case("norm_batch", lambda x: evaluated(nn.BatchNorm2D(3))(x), x=f32(2, 3, 4, 5))
case("norm_batch_last", lambda x: evaluated(nn.BatchNorm2D(3, epsilon=1e-4, data_format="NHWC"))(x), x=f32(2, 4, 5, 3))
case("norm_batch_given", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, training=False, epsilon=1e-3), x=f32(2, 3, 4), m=f32(3), v=f32(3, low=0.3), w=f32(3), b=f32(3))
case("norm_batch_rank2", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, training=False), x=f32(4, 3), m=f32(3), v=f32(3, low=0.3), w=f32(3), b=f32(3))
case("norm_batch_own", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, training=False, use_global_stats=False, data_format="NHWC"), x=f32(2, 3, 2, 4), m=f32(4), v=f32(4, low=0.3), w=f32(4), b=f32(4))
case("norm_layer", lambda x, w, b: F.layer_norm(x, [3, 4], w, b), x=f32(2, 3, 4), w=f32(12), b=f32(12))
case("norm_layer_plain", lambda x: F.layer_norm(x, 4), x=f32(2, 3, 4))
case("norm_group", lambda x: nn.GroupNorm(2, 4)(x), x=f32(2, 4, 3, 3))
case("norm_group_last", lambda x: nn.GroupNorm(2, 4, data_format="NHWC")(x), x=f32(2, 3, 3, 4))
case("norm_group_rank3", lambda x: nn.GroupNorm(2, 4)(x), x=f32(2, 4, 5))
case("norm_instance", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), x=f32(2, 3, 4, 4), w=f32(3), b=f32(3))
case("norm_instance_3d", lambda x: F.instance_norm(x), x=f32(2, 3, 4, 4, 2))
case("norm_rms", lambda x, w: paddle.incubate.nn.functional.fused_rms_norm(x, w, None, 1e-6, 2)[0], x=f32(2, 3, 4), w=f32(4))
case("norm_rms_new", lambda x, w: paddle.incubate.nn.functional.fused_rms_norm(x, w, None, 1e-6, 2, bias=x * 0)[0], x=f32(2, 3, 4), w=f32(4))
case("norm_response", lambda x: F.local_response_norm(x, 3, 1e-2, 0.6, 1.5), x=f32(2, 5, 3, 3))
case("norm_response_last", lambda x: F.local_response_norm(x, 3, data_format="NHWC"), x=f32(2, 3, 3, 5))
case("norm_spectral", lambda x: nn.SpectralNorm([4, 3], dim=0, power_iters=2)(x), x=f32(4, 3))

for _mode, _rank in {"nearest": 2, "bilinear": 2, "bicubic": 2, "linear": 1, "trilinear": 3, "area": 2}.items():
    _size = [1, 2, 5, 6, 4][: _rank + 2]
    _to = [7, 4, 6][:_rank]
    case(f"interp_{_mode}_size", lambda x, m=_mode, s=_to: F.interpolate(x, s, mode=m, data_format={1: "NCW", 2: "NCHW", 3: "NCDHW"}[len(s)]), x=f32(*_size))
    if _mode not in ("area", "nearest"):
        case(f"interp_{_mode}_corners", lambda x, m=_mode, s=_to: F.interpolate(x, s, mode=m, align_corners=True, data_format={1: "NCW", 2: "NCHW", 3: "NCDHW"}[len(s)]), x=f32(*_size))
    if _mode != "area":
        case(f"interp_{_mode}_scale", lambda x, m=_mode, r=_rank: F.interpolate(x, scale_factor=[1.5, 2, 0.7][:r], mode=m, data_format={1: "NCW", 2: "NCHW", 3: "NCDHW"}[r]), x=f32(*_size))
case("interp_bilinear_mode1", lambda x: F.interpolate(x, [3, 9], mode="bilinear", align_mode=1), x=f32(1, 2, 5, 6))
case("interp_nearest_corners", lambda x: F.interpolate(x, [7, 4], align_mode=1), x=f32(1, 2, 5, 6))
case("interp_last", lambda x: [F.interpolate(x, [7, 4], mode="bilinear", data_format="NHWC"), F.interpolate(x, scale_factor=2, data_format="NHWC")], x=f32(1, 5, 6, 2))
case("interp_size_tensor", lambda x, s: F.interpolate(x, s, mode="bilinear"), x=f32(1, 2, 5, 6), s=given([7, 4], "int32"))
case("interp_size_mixed", lambda x, s: F.interpolate(x, [s, 4], mode="nearest"), x=f32(1, 2, 5, 6), s=given([7], "int32"))
case("interp_scale_tensor", lambda x, s: F.interpolate(x, scale_factor=s, mode="bilinear"), x=f32(1, 2, 5, 6), s=given([2.0]))
case("interp_like", lambda x, y: F.interpolate(x, paddle.shape(y)[2:], mode="bilinear", align_corners=True), x=f32(1, 2, 5, 6), y=f32(1, 1, 8, 9), dims={"x": [-1, 2, -1, -1], "y": [-1, 1, -1, -1]})
case("interp_upsample", lambda x: nn.Upsample(scale_factor=2, mode="bicubic", align_corners=True)(x), x=f32(1, 2, 3, 4))

for _mode in ("constant", "reflect", "replicate", "circular"):
    case(f"pad_2d_{_mode}", lambda x, m=_mode: F.pad(x, [1, 2, 0, 1], m, 0.5), x=f32(1, 2, 4, 5))
    case(f"pad_1d_{_mode}", lambda x, m=_mode: F.pad(x, [1, 2], m, 0.5, "NCL"), x=f32(1, 2, 4))
    case(f"pad_3d_{_mode}", lambda x, m=_mode: F.pad(x, [1, 2, 0, 1, 1, 0], m, 0.5, "NCDHW"), x=f32(1, 2, 4, 3, 3))
case("pad_last", lambda x: F.pad(x, [1, 2, 0, 1], "reflect", data_format="NHWC"), x=f32(1, 4, 5, 2))
case("pad_all", lambda x: F.pad(x, [1, 0, 0, 2, 1, 1], value=-1.0), x=f32(2, 3, 4))
case("pad_tensor", lambda x, p: F.pad(x, p), x=f32(1, 2, 4, 5), p=given([1, 0, 2, 1], "int32"))
case("pad_negative", lambda x: F.pad(x, [-1, 1, 0, -1]), x=f32(1, 2, 4, 5))
case("pad_zero", lambda x: F.zeropad2d(x, [1, 0, 2, 1]), x=f32(1, 2, 4, 5))

CELLS = {"lstm": nn.LSTM, "gru": nn.GRU}
for _name, _cell in CELLS.items():
    case(f"rnn_{_name}_two_ways", lambda x, c=_cell: c(4, 5, num_layers=2, direction="bidirect")(x)[0], x=f32(2, 6, 4))
    case(f"rnn_{_name}_lengths", lambda x, n, c=_cell: c(4, 5)(x, sequence_length=n)[0], x=f32(3, 6, 4), n=given([6, 2, 4], "int32"))
    case(f"rnn_{_name}_time_major", lambda x, c=_cell: c(4, 5, time_major=True)(x)[0], x=f32(6, 2, 4))
    case(f"rnn_{_name}_no_bias", lambda x, c=_cell: c(4, 5, bias_ih_attr=False, bias_hh_attr=False)(x)[0], x=f32(2, 6, 4))
case("rnn_lstm_states", lambda x, h, c: (lambda out, states: [out, *states])(*nn.LSTM(4, 5)(x, (h, c))), x=f32(2, 6, 4), h=f32(1, 2, 5), c=f32(1, 2, 5))
case("rnn_lstm_projected", lambda x: nn.LSTM(4, 6, proj_size=3)(x)[0], x=f32(2, 6, 4))
case("rnn_gru_states", lambda x, h: nn.GRU(4, 5)(x, h), x=f32(2, 6, 4), h=f32(1, 2, 5))
case("rnn_simple_tanh", lambda x: nn.SimpleRNN(4, 5, direction="bidirect")(x), x=f32(2, 6, 4))
case("rnn_simple_relu", lambda x: nn.SimpleRNN(4, 5, activation="relu", num_layers=2)(x), x=f32(2, 6, 4))
case("rnn_lstm_dynamic", lambda x: nn.LSTM(4, 5, direction="bidirect")(x)[0], x=f32(2, 6, 4), dims={"x": [-1, -1, 4]})
case("rnn_cells", lambda x, h: [nn.GRUCell(4, 5)(x, h)[0], nn.LSTMCell(4, 5)(x)[0], nn.SimpleRNNCell(4, 5)(x, h)[0]], x=f32(2, 4), h=f32(2, 5))

case("attention_multihead", lambda x: nn.MultiHeadAttention(8, 2)(x), x=f32(2, 5, 8))
case("attention_mask", lambda x, m: nn.MultiHeadAttention(8, 2)(x, attn_mask=m), x=f32(2, 5, 8), m=f32(2, 1, 5, 5))
case("attention_cross", lambda x, y: nn.MultiHeadAttention(8, 2, kdim=6, vdim=6)(x, y, y), x=f32(2, 5, 8), y=f32(2, 4, 6))
case("attention_scaled", lambda q, k, v: F.scaled_dot_product_attention(q, k, v), q=f32(2, 5, 2, 4), k=f32(2, 5, 2, 4), v=f32(2, 5, 2, 4))
case("attention_scaled_mask", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m), q=f32(2, 5, 2, 4), k=f32(2, 5, 2, 4), v=f32(2, 5, 2, 4), m=f32(2, 1, 5, 5))
case("attention_encoder_layer", lambda x: nn.TransformerEncoderLayer(8, 2, 16, 0.0)(x), x=f32(2, 5, 8))
case("attention_encoder_first", lambda x: nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation="gelu", normalize_before=True)(x), x=f32(2, 5, 8))
case("attention_softmax_mask", lambda x, m: paddle.incubate.softmax_mask_fuse(x, m), x=f32(2, 2, 4, 4), m=f32(2, 1, 4, 4))
case("attention_softmax_triangle", lambda x: paddle.incubate.softmax_mask_fuse_upper_triangle(x), x=f32(2, 2, 4, 4))

case("loss_mse", lambda x, y: [F.mse_loss(x, y), F.mse_loss(x, y, "none"), F.square_error_cost(x, y)], x=f32(3, 4), y=f32(3, 4))
case("loss_l1", lambda x, y: [F.l1_loss(x, y), F.smooth_l1_loss(x, y), F.smooth_l1_loss(x, y, "sum", 0.5)], x=f32(3, 4), y=f32(3, 4))
case("loss_cross_entropy", lambda x, y: [F.cross_entropy(x, y), F.cross_entropy(x, y, reduction="none")], x=f32(3, 4), y=ints(3, high=4))
case("loss_cross_entropy_soft", lambda x, y: F.cross_entropy(x, F.softmax(y), soft_label=True), x=f32(3, 4), y=f32(3, 4))
case("loss_cross_entropy_ignore", lambda x, y: F.softmax_with_cross_entropy(x, y, ignore_index=2, return_softmax=True), x=f32(5, 4), y=ints(5, 1, high=4))
case("loss_cross_entropy_axis", lambda x, y: F.cross_entropy(x, y, axis=1, reduction="none"), x=f32(2, 4, 3), y=ints(2, 1, 3, high=4))
case("loss_nll", lambda x, y: [F.nll_loss(x, y), F.nll_loss(x, y, reduction="none"), F.nll_loss(x, y, ignore_index=1, reduction="sum")], x=f32(5, 4), y=ints(5, high=4))
case("loss_nll_weight", lambda x, y, w: F.nll_loss(x, y, w), x=f32(2, 4, 3, 3), y=ints(2, 3, 3, high=4), w=f32(4, low=0.2))
case("loss_bce", lambda x, y: [F.binary_cross_entropy(x, y), F.binary_cross_entropy_with_logits(x, y)], x=f32(3, 4, low=0.1, high=0.9), y=f32(3, 4, low=0, high=1))
case("loss_kl", lambda x, y: [F.kl_div(x, y), F.kl_div(x, y, "sum"), F.kl_div(x, y, "batchmean")], x=f32(3, 4), y=f32(3, 4, low=0.1, high=1))
for _name, _options in {"weights": dict(weight=True), "positive": dict(positive=True), "both": dict(weight=True, positive=True)}.items():
    case(f"loss_bce_{_name}", lambda x, y, w, p, o=_options: F.binary_cross_entropy_with_logits(x + 0 * w + 0 * p, y, w if o.get("weight") else None, pos_weight=p if o.get("positive") else None), x=f32(3, 4), y=f32(3, 4, low=0, high=1), w=f32(3, 4, low=0.1), p=f32(4, low=0.5))


def sigmoid_loss(x, y):
    if in_pir():
        return paddle._C_ops.sigmoid_cross_entropy_with_logits(x, y, None, True, 1)
    return old_op("sigmoid_cross_entropy_with_logits", {"X": x, "Label": y}, {"Out": ["float32"]}, {"normalize": True, "ignore_index": 1})


case("loss_sigmoid_normalized", sigmoid_loss, x=f32(3, 4), y=ints(3, 4, high=2, dtype="float32"))
case("loss_log", lambda x, y: F.log_loss(x, y), x=f32(3, 1, low=0.1, high=0.9), y=f32(3, 1, low=0, high=1))
case("loss_hinge", lambda x, y: F.hinge_embedding_loss(x, y), x=f32(3, 4), y=given([[1, -1, 1, -1]] * 3))
case("loss_margin", lambda x, y, z: F.margin_ranking_loss(x, y, z, 0.2), x=f32(3), y=f32(3), z=given([1, -1, 1]))
case("loss_label_smooth", lambda x: F.label_smooth(x, epsilon=0.2), x=f32(3, 4, low=0, high=1))
case("loss_sigmoid_focal", lambda x, y: F.sigmoid_focal_loss(x, y), x=f32(3, 4), y=given([[1, 0, 1, 0]] * 3))
case("loss_dice", lambda x, y: F.dice_loss(F.softmax(x), y), x=f32(3, 4), y=ints(3, 1, high=4))
case("loss_huber", lambda x, y: F.smooth_l1_loss(x, y, delta=0.7), x=f32(3, 4), y=f32(3, 4))
case("loss_npair", lambda x, y, z: F.npair_loss(x, y, z), x=f32(3, 4), y=f32(3, 4), z=f32(3, low=0, high=3))
case("loss_gaussian", lambda x, y, v: F.gaussian_nll_loss(x, y, v), x=f32(3, 4), y=f32(3, 4), v=f32(3, 4, low=0.2))
case("loss_poisson", lambda x, y: F.poisson_nll_loss(x, y), x=f32(3, 4), y=f32(3, 4, low=0))
case("loss_triplet", lambda x, y, z: F.triplet_margin_loss(x, y, z), x=f32(3, 4), y=f32(3, 4), z=f32(3, 4))
case("loss_soft_margin", lambda x, y: F.soft_margin_loss(x, y), x=f32(3, 4), y=given([[1, -1, 1, -1]] * 3))


def edit_distance(x, y, n, m, normalized=False):
    if in_pir():
        return paddle._C_ops.edit_distance(x, y, n, m, normalized)[1]
    return old_op("edit_distance", {"Hyps": x, "Refs": y, "HypsLength": n, "RefsLength": m}, {"SequenceNum": ["int64"], "Out": ["float32"]}, {"normalized": normalized})[1]


def ctc_align(x, n, blank=0, merge=True, padding=-1):
    if in_pir():
        return paddle._C_ops.ctc_align(x, n, blank, merge, padding)
    return old_op("ctc_align", {"Input": x, "InputLength": n}, {"Output": ["int32"], "OutputLength": ["int32"]}, {"blank": blank, "merge_repeated": merge, "padding_value": padding})


case("ctc_align", ctc_align, x=i32(3, 8, high=3), n=given([[8], [5], [3]], "int32"))
case("ctc_align_not_merged", lambda x, n: ctc_align(x, n, 1, False, 0), x=i32(3, 8, high=3), n=given([[8], [5], [3]], "int32"))
case("edit_distance_normalized", lambda x, y, n, m: edit_distance(x, y, n, m, True), x=ints(2, 5), y=ints(2, 4), n=given([5, 3], "int64"), m=given([4, 2], "int64"))
case("viterbi", lambda p, t, n: paddle.text.viterbi_decode(p, t, n, False), p=f32(2, 4, 3), t=f32(3, 3), n=given([4, 3], "int64"))
case("viterbi_tags", lambda p, t, n: paddle.text.viterbi_decode(p, t, n, True), p=f32(2, 4, 5), t=f32(5, 5), n=given([4, 3], "int64"))
case("ctc_greedy_like", lambda x: paddle.argmax(F.softmax(x), -1), x=f32(2, 6, 5))
case("edit_distance", edit_distance, x=ints(2, 5), y=ints(2, 4), n=given([5, 3], "int64"), m=given([4, 4], "int64"))


def gru_step(x, h, w, b, origin=False):
    if in_pir():
        return paddle._C_ops.gru_unit(x, h, w, b, 2, 1, origin)
    outputs = {"Gate": ["float32"], "ResetHiddenPrev": ["float32"], "Hidden": ["float32"]}
    return old_op("gru_unit", {"Input": x, "HiddenPrev": h, "Weight": w, "Bias": b}, outputs, {"activation": 2, "gate_activation": 1, "origin_mode": origin})[2]


for _origin in (False, True):
    case(f"rnn_gru_step_{_origin}", lambda x, h, w, b, o=_origin: gru_step(x, h, w, b, o), x=f32(3, 12), h=f32(3, 4), w=f32(4, 12), b=f32(1, 12), forms=["paddle"])


def quantized(x, scale, kind="linear", axis=-1, round_type=0, back=True):
    """x in steps of 8 bits, and back, by a scale that a graph has in it."""
    attrs = {"quant_axis": axis, "bit_length": 8, "round_type": round_type, "is_test": True, "only_observer": False}
    zero = scale * 0
    if in_pir():
        x = paddle._C_ops.quantize_linear(x, scale, zero, None, None, axis, 8, -128, 127, round_type, True, False)[0]
        return paddle._C_ops.dequantize_linear(x, scale, zero, None, None, axis, 8, -128, 127, round_type, True, False)[0] if back else x
    x = old_op("quantize_linear", {"X": x, "Scale": scale, "ZeroPoint": zero}, {"Y": ["float32"]}, attrs)[0]
    return old_op("dequantize_linear", {"X": x, "Scale": scale, "ZeroPoint": zero}, {"Y": ["float32"]}, attrs)[0] if back else x


case("quantize_linear", lambda x: quantized(x, paddle.full([1], 1.7)), x=f32(3, 4))
case("quantize_linear_steps", lambda x: quantized(x, paddle.full([1], 1.7), back=False), x=f32(3, 4))
case("quantize_linear_given", lambda x, s: quantized(x, s, axis=1, round_type=1), x=f32(2, 3, 4), s=f32(3, low=0.5, high=2))
