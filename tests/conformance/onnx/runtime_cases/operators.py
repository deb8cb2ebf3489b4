"""Normalisations, activations, products and recurrent networks."""

import math

import numpy as np
from runtime_case import F32, I32, U8, Draw, case, scalar
from runtime_cases.attention import softmax


def normalisations():
    d = Draw("norms")
    x, skip, g, b, bias = d.f(2, 3, 8), d.f(2, 3, 8), d.f(8), d.f(8), d.f(8)
    all4 = ("y", "", "", "sum")

    def statistics(total, centred, epsilon=1e-3):
        mean = total.mean(-1, keepdims=True)
        rest = total - mean if centred else total
        deviation = 1 / np.sqrt((rest * rest).mean(-1, keepdims=True) + epsilon)
        return [rest * deviation * g, mean, deviation, total]

    all_results = ("y", "mean", "deviation", "sum")
    small = {"epsilon": 1e-3}
    case("skip_layer_norm_statistics", "SkipLayerNormalization", [x, skip, g], small, all_results,
         expected=statistics(x + skip, True))  # fmt: skip
    case("skip_rms_norm_statistics", "SkipSimplifiedLayerNormalization", [x, skip, g], small, all_results,
         expected=statistics(x + skip, False))  # fmt: skip
    case("rms_norm_deviation", "SimplifiedLayerNormalization", [x, g], small, ("y", "deviation"), domain="",
         expected=statistics(x, False)[::2])  # fmt: skip
    case("skip_layer_norm", "SkipLayerNormalization", [x, skip, g, b, bias], {"epsilon": 1e-3}, all4)
    case("skip_layer_norm_row", "SkipLayerNormalization", [x, d.f(3, 8), g, b], {}, all4)
    case("skip_layer_norm_batch", "SkipLayerNormalization", [x, d.f(1, 3, 8), g], {}, all4)
    case("skip_rms_norm", "SkipSimplifiedLayerNormalization", [x, skip, g, bias], {"epsilon": 1e-3}, all4)
    case("skip_rms_norm_2d", "SkipSimplifiedLayerNormalization", [x[0], skip[0], g], {"epsilon": 1e-3}, all4)
    case("rms_norm", "SimplifiedLayerNormalization", [x, g], {"epsilon": 1e-3, "axis": -1}, domain="")
    ids, segments = d.i(2, 4, high=10), d.i(2, 4, high=2)
    words, places, kinds = d.f(10, 8), d.f(6, 8), d.f(2, 8)
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], I32)
    all3 = ("y", "count", "sum")
    op = "EmbedLayerNormalization"
    case("embed_norm", op, [ids, segments, words, places, kinds, g, b], {}, ("y", "count"), weights=[2, 3, 4, 5, 6])
    case("embed_norm_mask", op, [ids, segments, words, places, kinds, g, b, mask], {"epsilon": 1e-4}, all3)
    case("embed_norm_words", op, [ids, None, words, places, None, g, b], {}, ("y", "count"))
    case("embed_norm_places", op, [ids, None, words, places, None, g, b, None, d.i(2, 4, high=6)], {}, ("y", "count"))
    case("embed_norm_one_place", op, [ids, None, words, places, None, g, b, None, d.i(1, 4, high=6)], {}, ("y", "count"))
    quantised = [ids, segments, d.u8(10, 8), d.u8(6, 8), d.u8(2, 8), d.u8(8), d.u8(8), mask]
    quantised += [scalar(s) for s in (0.01, 0.02, 0.03, 0.004, 0.005)] + [scalar(z, U8) for z in (120, 130, 90, 0, 128)]
    case("q_embed_norm", "QEmbedLayerNormalization", quantised, {}, ("y", "count"), weights=[2, 3, 4, 5, 6], rtol=1e-3,
         atol=1e-3)  # fmt: skip
    image, gamma, beta = d.f(2, 3, 4, 8), d.f(8), d.f(8)

    def grouped(x, groups, activation):
        parts = x.astype(np.float64).reshape(2, 12, groups, -1)
        parts = parts - parts.mean((1, 3), keepdims=True)
        y = (parts / np.sqrt((parts**2).mean((1, 3), keepdims=True) + 1e-5)).reshape(x.shape) * gamma + beta
        return (y / (1 + np.exp(-y)) if activation else y).astype(F32)

    case("group_norm_last", "GroupNorm", [image, gamma, beta], {"groups": 4, "activation": 1},
         expected=[grouped(image, 4, 1)])  # fmt: skip
    case("group_norm_first", "GroupNorm", [image.transpose(0, 3, 1, 2), gamma, beta],
         {"groups": 2, "activation": 0, "channels_last": 0},
         expected=[grouped(image, 2, 0).transpose(0, 3, 1, 2)])  # fmt: skip
    skip, channel = d.f(2, 8), d.f(8)
    total = image + skip[:, None, None] + channel
    case("skip_group_norm", "SkipGroupNorm", [image, gamma, beta, skip, channel], {"groups": 4, "activation": 0},
         ("y", "sum"), expected=[grouped(total, 4, 0), total])  # fmt: skip


def activations():
    d = Draw("activations")
    x, b, skip = d.f(2, 3, 8, low=-4, high=4), d.f(8), d.f(2, 3, 8)
    case("gelu", "Gelu", [x])
    case("bias_gelu", "BiasGelu", [x, b])
    case("fast_gelu", "FastGelu", [x], atol=1e-4)
    case("fast_gelu_bias", "FastGelu", [x, b], atol=1e-4)
    case("quick_gelu", "QuickGelu", [x])
    case("quick_gelu_alpha", "QuickGelu", [x], {"alpha": -0.5})
    case("bias_add", "BiasAdd", [x, b, skip], expected=[x + b + skip])
    gate = np.vectorize(lambda v: v / 2 * (1 + math.erf(v / 2**0.5)))
    y = (x + b).astype(np.float64)
    case("bias_split_gelu", "BiasSplitGelu", [x, b], expected=[(y[..., :4] * gate(y[..., 4:])).astype(F32)])
    bias = d.f(2, 1, 8)
    case("bias_softmax", "BiasSoftmax", [x, bias], {"axis": 2, "is_inner_broadcast": 1}, expected=[softmax(x + bias)])


def products():
    d = Draw("products")
    a, b = d.f(2, 3, 4), d.f(2, 4, 5)
    case("fused_matmul", "FusedMatMul", [a, b], {"alpha": 0.3})
    case("fused_matmul_trans", "FusedMatMul", [d.f(2, 4, 3), d.f(2, 5, 4)], {"transA": 1, "transB": 1})
    case("fused_matmul_batch", "FusedMatMul", [d.f(3, 2, 4), d.f(4, 2, 5)], {"transBatchA": 1, "transBatchB": 1})
    case("fused_matmul_batch_both", "FusedMatMul", [d.f(4, 2, 3), d.f(2, 5, 4)],
         {"transBatchA": 1, "transA": 1, "transB": 1})  # fmt: skip
    case("transpose_matmul", "TransposeMatMul", [a, d.f(2, 5, 4)], {"transB": 1, "alpha": 2.0})
    c = d.f(5)
    for name, more in {
        "Relu": {}, "LeakyRelu": {"activation_alpha": 0.3}, "Tanh": {}, "Sigmoid": {},
        "HardSigmoid": {"activation_alpha": 0.1, "activation_beta": 0.4}, "Elu": {"activation_alpha": 0.5},
        "Softplus": {}, "Softsign": {}, "ThresholdedRelu": {"activation_alpha": 0.5},
        "Selu": {"activation_alpha": 1.5, "activation_gamma": 1.2}, "ParametricSoftplus": None, "ScaledTanh": None,
    }.items():  # fmt: skip
        if more is not None:
            case(f"fused_gemm_{name.lower()}", "FusedGemm", [a[0], d.f(5, 4), c],
                 {"transB": 1, "alpha": 0.7, "beta": 1.3, "activation": name} | more)  # fmt: skip
    image, filters, bias = d.f(1, 3, 6, 6), d.f(4, 3, 3, 3), d.f(4)
    pads = {"pads": [1, 1, 1, 1]}
    added = d.f(1, 4, 6, 6)
    for name, params in {"Relu": [], "LeakyRelu": [0.2], "Clip": [-0.5, 0.7], "HardSigmoid": [0.3, 0.4], "Tanh": [],
                         "Sigmoid": [], "HardSwish": []}.items():  # fmt: skip
        case(f"fused_conv_{name.lower()}", "FusedConv", [image, filters, bias, added],
             pads | {"activation": name} | ({"activation_params": params} if params else {}), weights=[1, 2])  # fmt: skip
    case("fused_conv_plain", "FusedConv", [image, filters], pads | {"strides": [2, 1]})
    case("nhwc_max_pool", "NhwcMaxPool", [d.u8(1, 6, 6, 3)], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1})
    case("nhwc_max_pool_signed", "NhwcMaxPool", [d.i8(1, 6, 6, 3)], {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1]})


def recurrent():
    d = Draw("recurrent")
    for direction, count in (("forward", 1), ("bidirectional", 2)):
        x = d.f(4, 2, 6)
        w, r = d.i8(count, 6, 20), d.i8(count, 5, 20)
        b = d.f(count, 40)
        by_tensor = [d.f(count, low=0.004, high=0.008), np.zeros(count, np.int8)] * 2
        by_column = [d.f(count, 20, low=0.004, high=0.008), np.zeros((count, 20), np.int8)] * 2
        attrs = {"hidden_size": 5, "direction": direction}
        weights = [1, 2, 3, 8, 9, 10, 11]
        for name, scales in (("tensor", by_tensor), ("columns", by_column)):
            inputs = [x, w, r, b, None, None, None, None, *scales]
            # ONNX Runtime quantises x and the state, too.
            case(f"dynamic_lstm_{direction}_{name}", "DynamicQuantizeLSTM", inputs, attrs, ("y", "h", "c"),
                 weights=weights, rtol=0.02, atol=0.02)  # fmt: skip


def add():
    normalisations()
    activations()
    products()
    recurrent()
