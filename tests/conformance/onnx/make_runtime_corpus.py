#!/usr/bin/env python3
"""Writes small networks of com.microsoft's operators with ONNX Runtime's outputs, in the form of dump_corpus.py.

    make_runtime_corpus.py OUT [NAME...]

OUT is runtime.corpus beside this script, which is committed. Each case is one operator; ONNX Runtime runs it on a CPU
without its optimiser. What it has no CPU kernel for is computed here as ContribOperators.md describes it. NAMEs: only
these cases. Needs onnx, numpy and onnxruntime.
"""

import math
import sys

import numpy as np
from onnx import TensorProto, helper
from runtime_case import Draw, case, write

F32 = np.float32
U8 = np.uint8
I32 = np.int32
I64 = np.int64


def scalar(value, dtype=F32):
    return np.array(value, dtype)


def attention():
    d = Draw("attention")
    x, w, b = d.f(2, 5, 12), d.f(12, 36), d.f(36)
    heads = {"num_heads": 3}
    ends = np.array([5, 3], I32)
    masks = {
        "lengths": ends,
        "ends_and_starts": np.array([5, 4, 1, 0], I32),
        "raw": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], I32),
        "raw_3d": d.i(2, 5, 5, high=2),
        "all_masked": np.zeros((2, 5), I32),
    }
    case("attention_plain", "Attention", [x, w, b], heads, weights=[1, 2])
    case("attention_causal", "Attention", [x, w, b], heads | {"unidirectional": 1, "scale": 0.7})
    for name, mask in masks.items():
        case(f"attention_mask_{name}", "Attention", [x, w, b, mask], heads)
        case(f"attention_mask_{name}_causal", "Attention", [x, w, b, mask], heads | {"unidirectional": 1})
    case("attention_mask_filter", "Attention", [x, w, b, masks["raw"]], heads | {"mask_filter_value": -3.0})
    case("attention_no_bias", "Attention", [x, w], heads)
    case("attention_value_size", "Attention", [x, d.f(12, 30), d.f(30)], heads | {"qkv_hidden_sizes": [12, 12, 6]})
    added = d.f(1, 3, 5, 5)
    case("attention_added", "Attention", [x, w, b, None, None, added], heads)
    case("attention_added_and_mask", "Attention", [x, w, b, masks["raw"], None, added], heads)
    past = d.f(2, 2, 3, 4, 4)
    both = ("y", "present")
    case("attention_present", "Attention", [x, w, b], heads, both)
    case("attention_past", "Attention", [x, w, b, None, past], heads, both, weights=[1, 2])
    case("attention_past_causal", "Attention", [x, w, b, None, past], heads | {"unidirectional": 1}, both)
    case("attention_past_mask", "Attention", [x, w, b, d.i(2, 9, high=2), past], heads | {"unidirectional": 1}, both)
    case("attention_past_mask_3d", "Attention", [x, w, b, d.i(2, 5, 9, high=2), past], heads, both)
    case("attention_past_lengths", "Attention", [x, w, b, np.array([9, 6], I32), past], heads, both)
    case("attention_past_dynamic", "Attention", [x, w, b, d.i(2, 9, high=2), past], heads | {"unidirectional": 1}, both,
         weights=[1, 2], dynamic=True)  # fmt: skip


def multi_head_attention():
    d = Draw("mha")
    op = "MultiHeadAttention"
    q, k, v, b = d.f(2, 4, 12), d.f(2, 6, 12), d.f(2, 6, 12), d.f(36)
    heads = {"num_heads": 3}
    case("mha_plain", op, [q, k, v], heads)
    case("mha_bias", op, [q, k, v, b], heads, weights=[3])
    case("mha_scale", op, [q, k, v, b], heads | {"scale": 0.3})
    case("mha_value_size", op, [q, k, d.f(2, 6, 6), d.f(30)], heads)
    case("mha_mask_2d", op, [q, k, v, b, d.i(2, 6, high=2)], heads)
    case("mha_mask_lengths", op, [q, k, v, b, np.array([6, 2], I32)], heads)
    case("mha_mask_3d", op, [q, k, v, b, d.i(2, 4, 6, high=2)], heads | {"mask_filter_value": -20.0})
    case("mha_added", op, [q, k, v, None, None, d.f(2, 3, 4, 6)], heads)
    case("mha_added_broadcast", op, [q, k, v, None, d.i(2, 6, high=2), d.f(1, 1, 4, 6)], heads)
    case("mha_cross", op, [q, d.f(2, 3, 6, 4), d.f(2, 3, 6, 4), d.f(36)], heads)
    case("mha_causal", op, [q, d.f(2, 4, 12), d.f(2, 4, 12)], heads | {"unidirectional": 1})
    all3 = ("y", "keys", "values")
    pk, pv = d.f(2, 3, 5, 4), d.f(2, 3, 5, 4)
    n = d.f(2, 4, 12), d.f(2, 4, 12)
    case("mha_present", op, [q, *n, b], heads, all3)
    case("mha_past", op, [q, *n, b, None, None, pk, pv], heads, all3)
    case("mha_past_mask", op, [q, *n, b, d.i(2, 9, high=2), None, pk, pv], heads, all3)
    case("mha_past_causal", op, [q, *n, None, None, None, pk, pv], heads | {"unidirectional": 1}, all3)
    case("mha_past_added", op, [q, *n, None, None, d.f(1, 3, 4, 9), pk, pv], heads, all3)
    case("mha_past_dynamic", op, [q, *n, b, None, None, pk, pv], heads, all3, weights=[3])
    case("mha_scores", op, [q, k, v], heads, ("y", "", "", "qk"))
    qkv = d.f(2, 4, 3, 3, 4)
    parts = [np.ascontiguousarray(qkv[:, :, :, i]).reshape(2, 4, 12) for i in range(3)]
    case("mha_packed", op, [qkv], heads, expected=[dot_attention(*parts, 3)])
    kv = d.f(2, 6, 3, 2, 4)
    parts = [np.ascontiguousarray(kv[:, :, :, i]).reshape(2, 6, 12) for i in range(2)]
    case("mha_packed_keys", op, [q, kv], heads, expected=[dot_attention(q, *parts, 3)])


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def dot_attention(q, k, v, heads):
    def apart(x):
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3).astype(np.float64)

    q4, k4, v4 = apart(q), apart(k), apart(v)
    y = softmax(q4 @ k4.swapaxes(-1, -2) / np.sqrt(q4.shape[-1])) @ v4
    return y.transpose(0, 2, 1, 3).reshape(*q.shape[:2], -1).astype(F32)


def decoder_attention():
    d = Draw("decoder")
    op = "DecoderMaskedMultiHeadAttention"
    heads = {"num_heads": 3}
    all3 = ("y", "keys", "values")
    q, k, v = d.f(2, 1, 12), d.f(2, 1, 12), d.f(2, 1, 12)
    pk, pv = d.f(2, 3, 5, 4), d.f(2, 3, 5, 4)
    keys, values = (np.concatenate([past, x.reshape(2, 3, 1, 4)], 2) for past, x in ((pk, k), (pv, v)))
    flat_keys, flat_values = (x.transpose(0, 2, 1, 3).reshape(2, 6, 12) for x in (keys, values))
    case("decoder_past", op, [q, k, v, None, None, pk, pv], heads, all3,
         expected=[dot_attention(q, flat_keys, flat_values, 3), keys, values])  # fmt: skip
    case("decoder_cross", op, [q, pk, pv], heads)
    shared = heads | {"past_present_share_buffer": 1}
    buffer = d.f(2, 3, 9, 4), d.f(2, 3, 9, 4)
    length = np.array([4], I32)
    case("decoder_buffer", op, [q, k, v, None, None, *buffer, length], shared, all3)
    case("decoder_buffer_mask", op, [q, k, v, d.i(2, 5, high=2), None, *buffer, length], shared, all3)
    bias = [None, None, d.f(36)]
    case("decoder_buffer_bias", op, [q, k, v, None, d.f(1, 3, 1, 5), *buffer, length, *bias], shared, all3)


def group_query_attention():
    d = Draw("gqa")
    op = "GroupQueryAttention"
    attrs = {"num_heads": 4, "kv_num_heads": 2}
    all3 = ("y", "keys", "values")

    def inputs(batch, count, past, total, last=None, packed=False, buffer=0, rotary=False, positions=None, added=None,
               sinks=None, half=None, size=16):  # fmt: skip
        q, k, v = d.f(batch, count, 4 * size), d.f(batch, count, 2 * size), d.f(batch, count, 2 * size)
        if packed:
            q, k, v = np.concatenate([q, k, v], -1), None, None
        length = buffer or past
        pk = d.f(batch, 2, length, size) if length else None
        pv = d.f(batch, 2, length, size) if length else None
        last = np.array([total - 1] * batch if last is None else last, I32)
        cos = d.f(32, half or size // 2) if rotary else None
        sin = d.f(32, half or size // 2) if rotary else None
        return [q, k, v, pk, pv, last, np.array(total, I32), cos, sin, positions, added, sinks]

    case("gqa_prompt", op, inputs(2, 5, 0, 5), attrs, all3)
    case("gqa_prompt_padded", op, inputs(1, 5, 0, 5, last=[4]), attrs, all3)
    case("gqa_prompt_packed", op, inputs(2, 5, 0, 5, packed=True), attrs, all3)
    case("gqa_prompt_rotary", op, inputs(2, 5, 0, 5, rotary=True), attrs | {"do_rotary": 1}, all3)
    case("gqa_prompt_rotary_interleaved", op, inputs(2, 5, 0, 5, rotary=True),
         attrs | {"do_rotary": 1, "rotary_interleaved": 1}, all3)  # fmt: skip
    case("gqa_prompt_rotary_partial", op, inputs(2, 5, 0, 5, rotary=True, half=8, size=32), attrs | {"do_rotary": 1}, all3)
    case("gqa_prompt_window", op, inputs(2, 7, 0, 7), attrs | {"local_window_size": 3}, all3)
    case("gqa_prompt_cap", op, inputs(2, 5, 0, 5), attrs | {"softcap": 0.5}, all3)
    case("gqa_prompt_smooth", op, inputs(2, 5, 0, 5), attrs | {"smooth_softmax": 1}, all3)
    case("gqa_prompt_sinks", op, inputs(2, 5, 0, 5, sinks=d.f(4)), attrs, all3)
    case("gqa_prompt_added", op, inputs(2, 5, 0, 5, added=d.f(1, 4, 5, 5)), attrs, all3)
    case("gqa_prompt_scores", op, inputs(1, 5, 0, 5), attrs | {"qk_output": 1}, ("y", "keys", "values", "qk"))
    case("gqa_prompt_weights", op, inputs(1, 5, 0, 5), attrs | {"qk_output": 2}, ("y", "keys", "values", "qk"))
    case("gqa_decode", op, inputs(2, 1, 6, 7), attrs, all3)
    case("gqa_decode_scale", op, inputs(2, 1, 6, 7), attrs | {"scale": 0.9}, all3)
    case("gqa_decode_packed_rotary", op, inputs(2, 1, 6, 7, packed=True, rotary=True), attrs | {"do_rotary": 1}, all3)
    case("gqa_decode_ragged", op, inputs(2, 1, 6, 7, last=[6, 3], rotary=True), attrs | {"do_rotary": 1}, all3,
         compared=1)  # fmt: skip
    case("gqa_decode_window", op, inputs(2, 1, 6, 7), attrs | {"local_window_size": 4}, all3)
    case("gqa_decode_added", op, inputs(1, 1, 6, 7, added=d.f(1, 4, 1, 7)), attrs, all3)
    case("gqa_decode_sinks", op, inputs(1, 1, 6, 7, sinks=d.f(4)), attrs | {"softcap": 2.0}, all3)
    case("gqa_decode_positions", op,
         inputs(2, 1, 6, 7, rotary=True, positions=np.array([[6], [2]], I64)), attrs | {"do_rotary": 1}, all3)  # fmt: skip
    case("gqa_decode_dynamic", op, inputs(1, 1, 6, 7, rotary=True), attrs | {"do_rotary": 1}, all3, weights=[7, 8])
    case("gqa_chunk", op, inputs(1, 3, 6, 9, rotary=True), attrs | {"do_rotary": 1}, all3)
    case("gqa_buffer", op, inputs(1, 1, 4, 5, buffer=9), attrs, all3, compared=1)
    case("gqa_buffer_ragged", op, inputs(2, 1, 4, 5, last=[4, 2], buffer=9), attrs, all3, compared=1)
    case("gqa_not_causal", op, inputs(2, 5, 0, 5), attrs | {"causal": 0}, all3)


def rotary_embedding():
    d = Draw("rotary")
    op = "RotaryEmbedding"
    cos, sin = d.f(16, 4), d.f(16, 4)
    ids = d.i(2, 5, high=16, dtype=I64)
    for flag in (0, 1):
        at = {"interleaved": flag}
        case(f"rotary_3d_{flag}", op, [d.f(2, 5, 24), ids, cos, sin], at, weights=[2, 3])
        case(f"rotary_4d_{flag}", op, [d.f(2, 3, 5, 8), ids, cos, sin], at)
        part = at | {"rotary_embedding_dim": 8, "num_heads": 2}
        case(f"rotary_part_{flag}", op, [d.f(2, 5, 24), ids, cos, sin], part)
    case("rotary_offset", op, [d.f(2, 5, 24), np.array([3], I64), cos, sin], {})


def normalisations():
    d = Draw("norms")
    x, skip, g, b, bias = d.f(2, 3, 8), d.f(2, 3, 8), d.f(8), d.f(8), d.f(8)
    all4 = ("y", "", "", "sum")
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


def quantised():
    d = Draw("quantised")
    step = dict(rtol=0, atol=1)
    s = scalar
    for t, name, zero in ((np.uint8, "u8", 120), (np.int8, "i8", -7)):
        draw = d.u8 if t == np.uint8 else d.i8
        z = s(zero, t)
        a, b = draw(2, 3, 5), draw(3, 5)
        ab = [a, s(0.02), z, b, s(0.03), s(zero + 3, t), s(0.05), s(zero - 9, t)]
        case(f"qlinear_add_{name}", "QLinearAdd", ab, **step)
        case(f"qlinear_mul_{name}", "QLinearMul", ab, **step)
        case(f"qlinear_sigmoid_{name}", "QLinearSigmoid", [a, s(0.05), z, s(0.004), s(0, t)], weights=[1, 2, 3, 4], **step)
        case(f"qlinear_leaky_relu_{name}", "QLinearLeakyRelu", [a, s(0.05), z, s(0.04), s(zero, t)], {"alpha": 0.2},
             weights=[1, 2, 3, 4], **step)  # fmt: skip
        out = s(0, t) if t == np.uint8 else s(-128, t)
        case(f"qlinear_softmax_{name}", "QLinearSoftmax", [a, s(0.05), z, s(1 / 256), out], {"opset": 13, "axis": 1},
             weights=[1, 2, 3, 4], **step)  # fmt: skip
        case(f"qlinear_softmax12_{name}", "QLinearSoftmax", [a, s(0.05), z, s(1 / 256), out], {"opset": 12, "axis": 1},
             weights=[1, 2, 3, 4], **step)  # fmt: skip
        case(f"qlinear_concat_{name}", "QLinearConcat",
             [s(0.03), z, a, s(0.02), s(0, t), draw(2, 2, 5), s(0.03), z], {"axis": 1},
             weights=[0, 1, 3, 4, 6, 7], **step)  # fmt: skip
        case(f"qlinear_where_{name}", "QLinearWhere",
             [d.i(2, 3, 1, high=2).astype(bool), a, s(0.02), z, b, s(0.03), s(zero + 3, t), s(0.03), z],
             weights=[2, 3, 5, 6, 7, 8], **step)  # fmt: skip
        image = draw(2, 5, 7, 3)
        first = np.ascontiguousarray(image.transpose(0, 3, 1, 2))
        q = [s(0.05), z, s(0.04), s(zero + 2, t)]
        case(f"qlinear_global_pool_{name}", "QLinearGlobalAveragePool", [first, *q], {"channels_last": 0}, **step)
        case(f"qlinear_global_pool_last_{name}", "QLinearGlobalAveragePool", [image, *q], {"channels_last": 1}, **step)
        pool = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
        case(f"qlinear_pool_{name}", "QLinearAveragePool", [first, *q], pool, weights=[1, 2, 3, 4], **step)
        case(f"qlinear_pool_pads_{name}", "QLinearAveragePool", [first, *q], pool | {"count_include_pad": 1},
             weights=[1, 2, 3, 4], **step)  # fmt: skip
        case(f"qlinear_pool_last_{name}", "QLinearAveragePool", [image, *q], pool | {"channels_last": 1},
             weights=[1, 2, 3, 4], **step)  # fmt: skip
        number = (first.astype(np.float64) - zero) * 0.05
        mean = np.clip(np.rint(number.mean((2, 3), keepdims=True) / 0.04) + zero + 2, np.iinfo(t).min, np.iinfo(t).max)
        case(f"qlinear_reduce_mean_{name}", "QLinearReduceMean", [first, *q], {"axes": [2, 3], "keepdims": 1},
             expected=[mean.astype(t)], **step)  # fmt: skip
        w = draw(4, 3, 3, 3)
        conv = [s(0.02), z, w, d.f(4, low=0.01, high=0.03), s(0, t) if t == np.int8 else np.full(4, 128, t), s(0.6), z,
                d.i(4, low=-50, high=50)]  # fmt: skip
        if t == np.uint8:
            conv[4] = s(128, t)
            conv[3] = s(0.02)
        case(f"qlinear_conv_last_{name}", "QLinearConv", [image, *conv], {"channels_last": 1, "pads": [1, 1, 1, 1]},
             weights=[1, 2, 3, 4, 5, 6, 7, 8], **step)  # fmt: skip
    a, b = d.u8(2, 3, 8), d.i8(8, 5)
    n, z5, s5 = d.f(2, 3, 8), d.i8(5, low=-9, high=9), d.f(5, low=0.01, high=0.03)
    to_float = [a, b, s(0.02), s(0.03), s(120, U8), s(3, np.int8)]
    case("matmul_integer_to_float", "MatMulIntegerToFloat", to_float, weights=[1])
    case("matmul_integer_to_float_channels", "MatMulIntegerToFloat", [a, b, s(0.02), s5, s(120, U8), z5, d.f(5)])
    case("matmul_integer_to_float_bare", "MatMulIntegerToFloat", [d.i8(3, 8), b, s(0.02), s5])
    case("dynamic_matmul", "DynamicQuantizeMatMul", [n, b, s(0.03), s(3, np.int8)], weights=[1, 2, 3])
    case("dynamic_matmul_channels", "DynamicQuantizeMatMul", [n, b, s5, z5, d.f(5)], weights=[1, 2, 3])
    case("dynamic_matmul_unsigned", "DynamicQuantizeMatMul", [n, d.u8(8, 5), s5, None, d.f(5)])
    ga, gb, gc = d.u8(4, 8), d.i8(8, 5), d.i(5, low=-300, high=300)
    case("qgemm", "QGemm", [ga, s(0.02), s(120, U8), gb, s(0.03), s(3, np.int8), gc, s(0.05), s(128, U8)], rtol=0, atol=1)
    case("qgemm_float", "QGemm", [ga, s(0.02), s(120, U8), gb, s5, z5, gc], {"alpha": 0.5})
    case("qgemm_rows", "QGemm", [ga, s(0.02), s(120, U8), gb, s5, z5, d.i(4, 1, low=-300, high=300)])
    case("qgemm_trans", "QGemm", [d.u8(8, 4), s(0.02), s(120, U8), d.i8(5, 8), s5, z5, gc, s(0.05), s(9, U8)],
         {"transA": 1, "transB": 1}, rtol=0, atol=1)  # fmt: skip
    heads = {"num_heads": 3}
    x, w = d.u8(2, 5, 12), d.i8(12, 36)
    q = [x, w, d.f(36), s(0.01), s(0.01), None, s(130, U8), s(2, np.int8)]
    case("q_attention", "QAttention", q, heads, weights=[1])
    case("q_attention_mask", "QAttention", [*q[:5], np.array([5, 2], I32), *q[6:]], heads | {"unidirectional": 1})
    case("q_attention_channels", "QAttention", [*q[:4], d.f(36, low=0.005, high=0.01), None, q[6], d.i8(36, low=-5, high=5)],
         heads)  # fmt: skip
    case("q_attention_past", "QAttention", [*q, d.f(2, 2, 3, 4, 4)], heads | {"unidirectional": 1}, ("y", "present"))
    for t, name in ((np.int16, "i16"), (np.uint16, "u16"), (np.int8, "i8")):
        x = d.f(3, 5, low=-9, high=9)
        case(f"contrib_quantize_{name}", "QuantizeLinear", [x, s(0.001), s(5, t)], rtol=0, atol=0)
        q = d.i(3, 5, low=0, high=100).astype(t)
        case(f"contrib_dequantize_{name}", "DequantizeLinear", [q, d.f(3), d.i(3).astype(t)], {"axis": 0}, rtol=0, atol=0)


def packed_weights():
    d = Draw("packed")
    for bits in (2, 4, 8):
        for k, block in ((64, 32), (80, 32), (40, 16)):
            blocks = -(-k // block)
            attrs = {"K": k, "N": 6, "bits": bits, "block_size": block}
            x, w = d.f(2, 3, k), d.u8(6, blocks, block * bits // 8)
            scales = d.f(6, blocks, low=0.05, high=0.1)
            name = f"matmul_{bits}bits_{k}_{block}"
            zeros = d.u8(6, -(-blocks * bits // 8))
            loose = dict(rtol=1e-4, atol=1e-4)
            case(name, "MatMulNBits", [x, w, scales], attrs, weights=[1, 2], **loose)
            case(f"{name}_zeros", "MatMulNBits", [x, w, scales, zeros], attrs, weights=[1, 2, 3], **loose)
            if bits == 4:
                floats = d.f(6, blocks, low=3, high=9)
                case(f"{name}_float_zeros", "MatMulNBits", [x, w, scales, floats], attrs, weights=[1, 2, 3], **loose)
                groups = d.i(blocks * block, high=blocks)
                # With zero points in bytes, ONNX Runtime takes 8 for them here.
                case(f"{name}_groups", "MatMulNBits", [x, w, scales, None, groups], attrs, weights=[1, 2, 4], **loose)
                case(f"{name}_groups_zeros", "MatMulNBits", [x, w, scales, floats, groups], attrs, weights=[1, 2, 3, 4],
                     **loose)  # fmt: skip
            case(f"{name}_bias", "MatMulNBits", [x, w, scales, None, None, d.f(6)], attrs, weights=[1, 2, 5], **loose)
    ids = d.i(2, 3, high=8, dtype=I64)
    for bits in (4, 8):
        table, scales = d.u8(8, 64 * bits // 8), d.f(8, 4, low=0.05, high=0.1)
        attrs = {"bits": bits, "block_size": 16, "quantize_axis": 1, "gather_axis": 0}
        case(f"gather_{bits}bits", "GatherBlockQuantized", [table, ids, scales], attrs, weights=[0, 2])
        case(f"gather_{bits}bits_zeros", "GatherBlockQuantized", [table, ids, scales, d.u8(8, 4 * bits // 8)], attrs,
             weights=[0, 2, 3])  # fmt: skip
    for kind, low, name in ((TensorProto.INT4, -8, "i4"), (TensorProto.UINT4, 0, "u4")):
        values = d.i(8, 32, low=low, high=low + 16)
        table = helper.make_tensor("t", kind, [8, 32], values.ravel().tolist())
        zeros = helper.make_tensor("z", kind, [8, 2], d.i(16, low=low, high=low + 16).tolist())
        case(f"gather_{name}", "GatherBlockQuantized", [table, ids, d.f(8, 2), zeros], {"block_size": 16}, weights=[0, 2, 3])


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


def trees():
    d = Draw("trees")
    x = np.concatenate([d.f(12, 3, low=-2, high=2), [[np.nan, 0.5, 1.0], [0.0, np.nan, -1.0]]]).astype(F32)
    ml = {"domain": "ai.onnx.ml", "versions": {"ai.onnx.ml": 3}}
    # Two trees: one of three branches, one of one branch; node numbers begin anew in each.
    nodes = {
        "nodes_treeids": [0] * 7 + [1] * 3,
        "nodes_nodeids": [0, 1, 2, 3, 4, 5, 6, 0, 1, 2],
        "nodes_featureids": [0, 1, 2, 0, 0, 0, 0, 1, 0, 0],
        "nodes_modes": ["BRANCH_LEQ"] * 3 + ["LEAF"] * 4 + ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_values": [0.2, -0.3, 0.4, 0, 0, 0, 0, 0.1, 0, 0],
        "nodes_truenodeids": [1, 3, 5, 0, 0, 0, 0, 1, 0, 0],
        "nodes_falsenodeids": [2, 4, 6, 0, 0, 0, 0, 2, 0, 0],
    }
    leaves = {"treeids": [0, 0, 0, 0, 1, 1], "nodeids": [3, 4, 5, 6, 1, 2]}
    weights = [0.3, -0.5, 0.7, 0.1, -0.2, 0.6]
    positive = [abs(weight) / 2 for weight in weights]
    missing = nodes | {"nodes_missing_value_tracks_true": [1, 0, 1, 0, 0, 0, 0, 1, 0, 0]}

    def listed(prefix, ids, values):
        return {f"{prefix}_{key}": value for key, value in leaves.items()} | {
            f"{prefix}_ids": ids, f"{prefix}_weights": values}  # fmt: skip

    op = "TreeEnsembleRegressor"
    one = nodes | listed("target", [0] * 6, weights) | {"n_targets": 1}
    two = missing | listed("target", [0, 1, 0, 1, 1, 0], weights) | {"n_targets": 2}
    case("tree_regressor", op, [x], one, **ml)
    case("tree_regressor_f64", op, [x.astype(np.float64)], one, **ml)
    # Every row has a weight for each target: ONNX Runtime leaves the base out where there is none.
    apart = two | {"target_ids": [0, 0, 0, 0, 1, 1], "base_values": [0.5, -1.5]}
    case("tree_regressor_base", op, [x], apart, **ml)
    for aggregate in ("AVERAGE", "MIN", "MAX"):
        case(f"tree_regressor_{aggregate.lower()}", op, [x], two | {"aggregate_function": aggregate}, **ml)
    for post in ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        case(f"tree_regressor_{post.lower()}", op, [x], two | {"post_transform": post}, **ml)
    for mode in ("LT", "GTE", "GT", "EQ", "NEQ"):
        kinds = [f"BRANCH_{mode}" if kind != "LEAF" else kind for kind in one["nodes_modes"]]
        case(f"tree_regressor_{mode.lower()}", op, [d.i(9, 3, low=-1, high=2).astype(F32)],
             one | {"nodes_modes": kinds, "nodes_values": [0.0, 1.0] + [0.0] * 5 + [1.0, 0.0, 0.0]}, **ml)  # fmt: skip
    op = "TreeEnsembleClassifier"
    both = ("label", "scores")
    # Without negative weights: ONNX Runtime's label is among the classes that a row has a weight for.
    three = nodes | listed("class", [0, 1, 2, 1, 0, 2], positive) | {"classlabels_int64s": [7, 5, 9]}
    case("tree_classifier", op, [x], three, both, **ml)
    case("tree_classifier_i64", op, [d.i(9, 3, low=-2, high=3, dtype=I64)], three, both, **ml)
    for post in ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        case(f"tree_classifier_{post.lower()}", op, [x], three | {"post_transform": post}, both, **ml)
    case("tree_classifier_base", op, [x], three | {"base_values": [0.1, 0.9, -0.4]}, both, **ml)
    named = nodes | listed("class", [0, 1, 2, 1, 0, 2], positive) | {"classlabels_strings": ["no", "yes", "so"]}
    case("tree_classifier_strings", op, [x], named, both, **ml)
    for name, values in (("signed", weights), ("positive", positive)):
        binary = missing | listed("class", [0] * 6, values) | {"classlabels_int64s": [3, 4]}
        for post in ("NONE", "LOGISTIC"):
            case(f"tree_classifier_binary_{name}_{post.lower()}", op, [x], binary | {"post_transform": post}, both, **ml)
        case(f"tree_classifier_binary_{name}_base", op, [x], binary | {"base_values": [0.2]}, both, **ml)


def main() -> int:
    for group in (attention, multi_head_attention, decoder_attention, group_query_attention, rotary_embedding,
                  normalisations, activations, products, quantised, packed_weights, recurrent, trees):  # fmt: skip
        group()
    write(sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
