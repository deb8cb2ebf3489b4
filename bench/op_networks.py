#!/usr/bin/env python3
"""Networks of one ONNX operator at a usual size, to find the operators that are slow.

    bench/op_networks.py FOLDER [NAME...]
    bench/compare --zoo FOLDER --engines wherry,onnxruntime

Writes FOLDER/NAME/model.onnx and inputs.npz. What shapes depend on (sizes, weights) is constant.
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(0)


def floats(*shape):
    return random.standard_normal(shape, np.float32)


def integers(below, *shape, dtype=np.int64):
    return random.integers(0, below, shape).astype(dtype)


def booleans(*shape):
    return random.random(shape) > 0.5


def numbers(*values):
    return np.array(values, np.int64)


def scales(*values):
    return np.array(values, np.float32)


def boxes_of(*shape):
    corners = np.abs(floats(*shape, 2)) * 100
    return np.concatenate([corners, corners + np.abs(floats(*shape, 2)) * 50], -1)


IMAGE = (1, 64, 112, 112)
SQUARE = (1, 512, 512)


def operators():
    """NAME: (inputs, constants, results, attributes); the operator is the name up to its first dot."""
    ops = {}

    def op(name, inputs, constants=(), results=1, **attributes):
        ops[name] = (inputs, constants, results, attributes)

    for name in ("Celu", "Floor", "HardSigmoid", "IsNaN", "Mish", "Selu", "Softsign", "ThresholdedRelu"):
        op(name, [floats(*IMAGE)])
    for name in ("Asinh", "Atan", "Cos", "Cosh", "Sign", "Sin", "Sinh"):
        op(name, [floats(*SQUARE)])
    op("Acosh", [np.abs(floats(*SQUARE)) + 1])
    op("Atanh", [np.tanh(floats(*SQUARE))])
    op("Gelu", [floats(1, 197, 768)])
    op("PRelu", [floats(*IMAGE)], [floats(64, 1, 1)])
    op("BatchNormalization", [floats(*IMAGE)], [floats(64), floats(64), floats(64), np.abs(floats(64))])
    op("Pow.3", [floats(*IMAGE)], [np.float32(3)])
    op("Mod", [floats(*IMAGE), floats(1)], fmod=1)
    op("Greater", [floats(*IMAGE), floats(1)])
    op("Where", [booleans(1, 12, 197, 197), floats(1, 12, 197, 197), floats(1)])
    op("And", [booleans(*SQUARE), booleans(*SQUARE)])
    op("Not", [booleans(*SQUARE)])
    op("Equal", [integers(10, *SQUARE), integers(10, *SQUARE)])
    op("Add.i64", [integers(10, *SQUARE), integers(10, *SQUARE)])
    op("Mul.i32", [integers(10, *SQUARE, dtype=np.int32), integers(10, *SQUARE, dtype=np.int32)])
    op("Div.i64", [integers(1000, *SQUARE), integers(10, *SQUARE) + 1])
    op("Div.i64_number", [integers(1000, *SQUARE)], [np.int64(7)])
    op("Div.i32", [integers(1000, *SQUARE, dtype=np.int32), integers(10, *SQUARE, dtype=np.int32) + np.int32(1)])
    op("Mod.i64", [integers(1000, *SQUARE)], [np.int64(7)])
    op("Max.i64", [integers(10, *SQUARE), integers(10, *SQUARE)])
    op("Abs.i64", [integers(10, *SQUARE) - 5])
    op("Neg.i64", [integers(10, *SQUARE)])
    op("Sign.i64", [integers(10, *SQUARE) - 5])
    op("BitwiseAnd", [integers(256, *SQUARE), integers(256, *SQUARE)])
    op("BitwiseNot", [integers(256, *SQUARE)])
    op("BitShift", [integers(256, *SQUARE, dtype=np.uint64), integers(8, *SQUARE, dtype=np.uint64)], direction="LEFT")
    op("Cast.i64", [integers(1000, *SQUARE)], to=TensorProto.FLOAT)
    op("Cast.u8", [integers(256, 1, 3, 640, 640, dtype=np.uint8)], to=TensorProto.FLOAT)
    op("Cast.i32", [integers(1000, *SQUARE, dtype=np.int32)], to=TensorProto.FLOAT)
    op("Cast.bool", [booleans(*SQUARE)], to=TensorProto.FLOAT)
    op("Cast.f32_i64", [floats(*SQUARE) * 99], to=TensorProto.INT64)
    op("Cast.f32_i32", [floats(*SQUARE) * 99], to=TensorProto.INT32)
    op("Cast.f32_u8", [np.abs(floats(*SQUARE)) * 20], to=TensorProto.UINT8)
    op("Cast.f32_bool", [floats(*SQUARE)], to=TensorProto.BOOL)
    op("Cast.f32_f16", [floats(*SQUARE)], to=TensorProto.FLOAT16)
    op("Cast.f16", [floats(*SQUARE).astype(np.float16)], to=TensorProto.FLOAT)
    op("Cast.f64", [floats(*SQUARE).astype(np.float64)], to=TensorProto.FLOAT)
    op("Cast.f32_f64", [floats(*SQUARE)], to=TensorProto.DOUBLE)
    op("Cast.i64_i32", [integers(1000, *SQUARE)], to=TensorProto.INT32)
    op("Cast.i32_i64", [integers(1000, *SQUARE, dtype=np.int32)], to=TensorProto.INT64)
    op("Cast.bool_i64", [booleans(*SQUARE)], to=TensorProto.INT64)
    op("QuantizeLinear", [floats(*IMAGE)], [np.float32(0.02), np.uint8(128)])
    op("QuantizeLinear.axis", [floats(*IMAGE)], [np.full(64, 0.02, np.float32), np.zeros(64, np.int8)], axis=1)
    image = integers(256, *IMAGE, dtype=np.uint8)
    op("DequantizeLinear", [image], [np.float32(0.02), np.uint8(128)])
    op("DequantizeLinear.axis", [image], [np.full(64, 0.02, np.float32), np.full(64, 128, np.uint8)], axis=1)

    op("ArgMax.channels", [floats(1, 21, 256, 256)], axis=1, keepdims=0)
    op("ArgMax.last", [floats(1000, 1000)], axis=-1)
    op("TopK", [floats(1, 80, 8400)], [numbers(300)], results=2)
    op("TopK.long", [floats(1, 672000)], [numbers(300)], results=2)
    op("TopK.unsorted", [floats(1, 80, 8400)], [numbers(300)], results=2, sorted=0)
    op("TopK.all", [floats(64, 10000)], [numbers(10000)], results=2)
    op("TopK.all_i64", [integers(100000, 64, 10000)], [numbers(10000)], results=2)
    op("Hardmax", [floats(512, 768)])
    op("Unique", [integers(1000, 20000)])
    op("NonMaxSuppression", [boxes_of(1, 1000), np.abs(floats(1, 4, 1000))], [numbers(100), scales(0.5), scales(0.1)])
    op("CumSum", [floats(*SQUARE)], [np.int64(2)])
    op("CumSum.first", [floats(512, 512)], [np.int64(0)])
    op("ReduceMean.pixels", [floats(1, 256, 56, 56)], [numbers(2, 3)])
    op("ReduceMean.channels", [floats(1, 256, 56, 56)], [numbers(1)])
    op("ReduceLogSumExp", [floats(512, 768)], [numbers(1)])
    op("Softmax.channels", [floats(1, 21, 256, 256)], axis=1)
    op("LogSoftmax", [floats(512, 1000)])
    op("LpNormalization", [floats(512, 768)], axis=1)
    op("InstanceNormalization", [floats(1, 64, 128, 128)], [floats(64), floats(64)])
    op("LRN", [floats(1, 96, 54, 54)], size=5)

    op("Gather.rows", [floats(30000, 256)], [integers(30000, 512)])
    op("Gather.last", [floats(512, 1024)], [integers(1024, 512)], axis=1)
    op("GatherElements", [floats(1, 8400, 80), integers(8400, 1, 300, 80)], axis=1)
    op("GatherND", [floats(8, 1000, 64), integers(8, 5000, 2)])
    rows = np.stack([np.zeros(5000, np.int64), np.arange(5000)], 1)
    op("ScatterND", [floats(1, 10000, 64), rows, floats(5000, 64)])
    elements = [floats(512, 768), integers(512, 256, 768), floats(256, 768)]
    op("ScatterElements", elements)
    op("ScatterElements.add", elements, reduction="add")
    op("ScatterElements.max", elements, reduction="max")
    op("ScatterND.add", [floats(1, 10000, 64), rows, floats(5000, 64)], reduction="add")
    op("ScatterND.mul", [floats(1, 10000, 64), rows, floats(5000, 64)], reduction="mul")
    op("NonZero", [booleans(1, 640, 640)])
    op("NonZero.sparse", [(floats(1, 640, 640) > 2).astype(np.float32)])
    op("OneHot", [integers(1000, 512)], [np.int64(1000), scales(0, 1)])
    op("EyeLike", [floats(1000, 1000)])
    op("Range", [np.int64(0), np.int64(100000), np.int64(1)])
    op("Range.f32", [np.float32(0), np.float32(100000), np.float32(1)])
    op("ReverseSequence", [floats(100, 16, 256), integers(100, 16) + 1])
    op("Compress", [floats(10000, 64), booleans(10000)], axis=0)
    op("Tile", [floats(1, 64, 64, 64)], [numbers(1, 1, 2, 2)])
    op("Expand", [floats(1, 64, 1, 64)], [numbers(4, 64, 64, 64)])
    op("Trilu", [floats(12, 512, 512)])
    op("Transpose.0231", [floats(1, 64, 128, 128)], perm=[0, 2, 3, 1])
    op("Transpose.210", [floats(64, 128, 128)], perm=[2, 1, 0])
    op("DepthToSpace", [floats(1, 64, 128, 128)], blocksize=2, mode="CRD")
    op("SpaceToDepth", [floats(1, 16, 256, 256)], blocksize=2)
    op("Pad.reflect", [floats(1, 32, 256, 256)], [numbers(0, 0, 4, 4, 0, 0, 4, 4)], mode="reflect")
    op("Resize.linear", [floats(1, 64, 64, 64)], [scales(), scales(1, 1, 2, 2)], mode="linear")
    op("Resize.cubic", [floats(1, 16, 64, 64)], [scales(), scales(1, 1, 2, 2)], mode="cubic")
    op("GridSample", [floats(1, 64, 64, 64), np.clip(floats(1, 100, 100, 2), -1, 1)])
    op("GridSample.3d", [floats(1, 16, 16, 32, 32), np.clip(floats(1, 16, 32, 32, 3), -1, 1)])
    boxes = np.abs(floats(300, 4)) * 100 + scales(0, 0, 100, 100)
    op("RoiAlign", [floats(1, 256, 50, 68), boxes], [np.zeros(300, np.int64)], output_height=7, output_width=7,
       sampling_ratio=2, spatial_scale=0.25)
    op("RoiAlign.max", [floats(1, 256, 50, 68), boxes], [np.zeros(300, np.int64)], output_height=7, output_width=7,
       sampling_ratio=2, spatial_scale=0.25, mode="max")

    op("Conv.1d", [floats(1, 128, 4000)], [floats(128, 128, 3)], pads=[1, 1])
    op("Conv.1d_depthwise", [floats(1, 128, 4000)], [floats(128, 1, 31)], pads=[15, 15], group=128)
    op("Conv.groups_of_4", [floats(1, 128, 56, 56)], [floats(128, 4, 3, 3)], pads=[1, 1, 1, 1], group=32)
    op("Conv.groups_of_8", [floats(1, 256, 28, 28)], [floats(256, 8, 3, 3)], pads=[1, 1, 1, 1], group=32)
    op("Conv.7x7_depthwise", [floats(1, 96, 56, 56)], [floats(96, 1, 7, 7)], pads=[3, 3, 3, 3], group=96)
    op("Conv.patches", [floats(1, 3, 224, 224)], [floats(768, 3, 16, 16)], strides=[16, 16])
    op("Conv.5x5_stride_2", [floats(1, 32, 128, 128)], [floats(64, 32, 5, 5)], pads=[2, 2, 2, 2], strides=[2, 2])
    op("Conv.3d", [floats(1, 64, 8, 56, 56)], [floats(64, 64, 3, 3, 3)], pads=[1] * 6)
    op("Conv.3d_depthwise", [floats(1, 96, 8, 28, 28)], [floats(96, 1, 3, 3, 3)], pads=[1] * 6, group=96)
    op("ConvTranspose.4x4", [floats(1, 64, 64, 64)], [floats(64, 32, 4, 4)], strides=[2, 2], pads=[1, 1, 1, 1])
    op("ConvTranspose.3d", [floats(1, 32, 8, 32, 32)], [floats(32, 16, 2, 2, 2)], strides=[2, 2, 2])
    op("MaxPool.1d", [floats(1, 64, 16000)], kernel_shape=[4], strides=[4])
    op("MaxPool.3d", [floats(1, 32, 16, 64, 64)], kernel_shape=[2, 2, 2], strides=[2, 2, 2])
    op("AveragePool.3d", [floats(1, 32, 16, 64, 64)], kernel_shape=[2, 2, 2], strides=[2, 2, 2])
    op("MaxPool.indices", [floats(*IMAGE)], results=2, kernel_shape=[2, 2], strides=[2, 2])
    op("MaxPool.indices_3x3", [floats(*IMAGE)], results=2, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    op("Col2Im", [floats(1, 64 * 9, 56 * 56)], [numbers(56, 56), numbers(3, 3)], pads=[1] * 4)
    op("MatMul.vector", [floats(1, 4096)], [floats(4096, 4096)])
    op("MatMul.batch", [floats(64, 49, 32), floats(64, 32, 49)])
    op("Einsum", [floats(2, 4, 49, 32), floats(49, 49, 32)], equation="bhid,ijd->bhij")
    op("LSTM", [floats(100, 1, 128)], [floats(1, 1024, 128), floats(1, 1024, 256)], results=3, hidden_size=256)
    op("GRU", [floats(100, 1, 128)], [floats(1, 768, 128), floats(1, 768, 256)], results=2, hidden_size=256)
    op("DFT", [floats(1, 512, 512, 2)], [np.int64(512), np.int64(1)])
    op("STFT", [floats(1, 16000, 1)], [np.int64(160), np.hanning(400).astype(np.float32)])
    return ops


def write(folder, name, inputs, constants, results, attributes):
    arrays = {f"x{i}": np.asarray(x) for i, x in enumerate(inputs)}
    weights = [numpy_helper.from_array(np.asarray(c), f"c{i}") for i, c in enumerate(constants)]
    outputs = [f"y{i}" for i in range(results)]
    node = helper.make_node(name.split(".")[0], [*arrays, *(w.name for w in weights)], outputs, **attributes)
    graph = helper.make_graph(
        [node],
        name,
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in arrays.items()],
        [onnx.ValueInfoProto(name=y) for y in outputs],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(onnx.shape_inference.infer_shapes(model), folder / "model.onnx")
    np.savez(folder / "inputs.npz", **arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    ops = operators()
    if unknown := set(arguments.names) - set(ops):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(ops)}")
    for name in arguments.names or ops:
        write(arguments.folder / name, name, *ops[name])


if __name__ == "__main__":
    main()
