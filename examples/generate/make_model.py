#!/usr/bin/env python3
"""Writes a small decoder like GPT-2, with random weights and a cache, for example_generate.

    make_model.py OUT.onnx

4 layers, 4 heads of 32, a vocabulary of 1000, at most 256 tokens. Inputs: input_ids i64[batch, new] and past
f32[8, batch, 4, tokens, 32], keys and values of each layer; outputs: logits f32[batch, new, 1000] and present. Needs
numpy and onnx.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, SIZE, VOCABULARY, TOKENS = 4, 4, 32, 1000, 256
WIDTH = HEADS * SIZE

random = np.random.RandomState(7)
nodes = []
initializers = {}


def tensor(array):
    name = f"tensor_{len(initializers)}"
    initializers[name] = numpy_helper.from_array(array, name)
    return name


def weight(*shape, deviation):
    return tensor((deviation * random.standard_normal(shape)).astype(np.float32))


def f32(value):
    return tensor(np.float32(value))


def i64(*values):
    return tensor(np.array(values, np.int64))


def node(kind, *inputs, outputs=1, names=None, **attributes):
    names = names or [f"{kind}_{len(nodes)}_{i}" for i in range(outputs)]
    nodes.append(helper.make_node(kind, inputs, names, name=names[0], **attributes))
    return names[0] if len(names) == 1 else names


def linear(x, inputs, outputs):
    product = node("MatMul", x, weight(inputs, outputs, deviation=inputs**-0.5))
    return node("Add", product, weight(outputs, deviation=0.1))


def norm(x):
    scale = tensor((1 + 0.1 * random.standard_normal(WIDTH)).astype(np.float32))
    return node("LayerNormalization", x, scale, weight(WIDTH, deviation=0.1), axis=-1, epsilon=1e-5)


def gelu(x):
    cubic = node("Mul", node("Mul", node("Mul", x, x), x), f32(0.044715))
    tanh = node("Tanh", node("Mul", node("Add", x, cubic), f32((2 / np.pi) ** 0.5)))
    return node("Mul", node("Mul", x, node("Add", tanh, f32(1))), f32(0.5))


def heads_of(x):
    return node("Transpose", node("Reshape", x, i64(0, 0, HEADS, SIZE)), perm=[0, 2, 1, 3])


def build():
    before = node("Shape", "past", start=3, end=4)
    total = node("Add", before, node("Shape", "input_ids", start=1, end=2))
    axis0 = i64(0)
    places = node("Range", *(node("Squeeze", x, axis0) for x in (before, total)), tensor(np.int64(1)))
    x = node("Gather", weight(VOCABULARY, WIDTH, deviation=1), "input_ids")
    x = node("Add", x, node("Gather", weight(TOKENS, WIDTH, deviation=1), places))
    # A token sees itself and what was before it.
    all_places = node("Range", tensor(np.int64(0)), node("Squeeze", total, axis0), tensor(np.int64(1)))
    seen = node("LessOrEqual", node("Unsqueeze", all_places, i64(0)), node("Unsqueeze", places, i64(1)))
    mask = node("Where", seen, f32(0), f32(-1e9))

    pasts = node("Split", "past", outputs=2 * LAYERS, axis=0)
    presents = []
    for layer in range(LAYERS):
        q, k, v = map(heads_of, node("Split", linear(norm(x), WIDTH, 3 * WIDTH), outputs=3, axis=2))
        k, v = (
            node("Concat", node("Squeeze", pasts[2 * layer + i], axis0), new, axis=2) for i, new in enumerate((k, v))
        )
        presents += [node("Unsqueeze", part, axis0) for part in (k, v)]
        scores = node("Mul", node("MatMul", q, node("Transpose", k, perm=[0, 1, 3, 2])), f32(SIZE**-0.5))
        values = node("MatMul", node("Softmax", node("Add", scores, mask), axis=-1), v)
        values = node("Reshape", node("Transpose", values, perm=[0, 2, 1, 3]), i64(0, 0, WIDTH))
        x = node("Add", x, linear(values, WIDTH, WIDTH))
        x = node("Add", x, linear(gelu(linear(norm(x), WIDTH, 4 * WIDTH)), 4 * WIDTH, WIDTH))
    # Not the embedding, as in GPT-2: with random weights each token would be the one before.
    node("MatMul", norm(x), weight(WIDTH, VOCABULARY, deviation=1), names=["logits"])
    node("Concat", *presents, names=["present"], axis=0)

    def value(name, kind, *shape):
        return helper.make_tensor_value_info(name, kind, shape)

    graph = helper.make_graph(
        nodes,
        "decoder",
        [
            value("input_ids", TensorProto.INT64, "batch", "new"),
            value("past", TensorProto.FLOAT, 2 * LAYERS, "batch", HEADS, "tokens", SIZE),
        ],
        [
            value("logits", TensorProto.FLOAT, "batch", "new", VOCABULARY),
            value("present", TensorProto.FLOAT, 2 * LAYERS, "batch", HEADS, "total", SIZE),
        ],
        list(initializers.values()),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    model = build()
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[1])
