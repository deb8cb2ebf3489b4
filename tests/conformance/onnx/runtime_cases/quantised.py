"""Operators on integers, and weights of a few bits."""

import numpy as np
from onnx import TensorProto, helper
from runtime_case import I32, I64, U8, Draw, case, scalar


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


def add():
    quantised()
    packed_weights()
