#!/usr/bin/env python3
"""Makes model.onnx of a BERT's config.json and model.safetensors (Hugging Face's names), beside them.

    make_model.py FOLDER

Inputs: input_ids and attention_mask, i64[batch, sequence]; output: last_hidden_state, f32[batch, sequence, width]. Every
token is of the first type. Needs numpy and onnx. Does nothing when the file is there.
"""

import json
import os
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def read_safetensors(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], np.float32).reshape(entry["shape"])
    return tensors


class Builder:
    """Adds nodes that have one result each, and the weights and constants that they take."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.initializers = {}

    def constant(self, value):
        array = np.asarray(value)
        name = f"constant_{array.dtype}_{'_'.join(map(str, array.shape))}_{'_'.join(map(str, array.ravel()))}"
        self.initializers[name] = numpy_helper.from_array(array, name)
        return name

    def weight(self, name, transposed=False):
        array = self.weights[name].T if transposed else self.weights[name]
        self.initializers[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def node(self, kind, *inputs, output=None, **attributes):
        output = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def linear(self, x, name):
        product = self.node("MatMul", x, self.weight(f"{name}.weight", transposed=True))
        return self.node("Add", product, self.weight(f"{name}.bias"))

    def norm(self, x, name, epsilon, output=None):
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.node("LayerNormalization", x, scale, bias, output=output, axis=-1, epsilon=epsilon)


def build(config, weights):
    b = Builder(weights)
    width, heads, epsilon = config["hidden_size"], config["num_attention_heads"], config["layer_norm_eps"]
    i64 = lambda *values: b.constant(np.array(values, np.int64))  # noqa: E731
    f32 = lambda value: b.constant(np.float32(value))  # noqa: E731

    length = b.node("Shape", "input_ids", start=1, end=2)
    places = b.node("Slice", b.weight("embeddings.position_embeddings.weight"), i64(0), length, i64(0))
    x = b.node("Gather", b.weight("embeddings.word_embeddings.weight"), "input_ids")
    token_type = b.node("Gather", b.weight("embeddings.token_type_embeddings.weight"), i64(0))
    x = b.node("Add", b.node("Add", x, token_type), places)
    x = b.norm(x, "embeddings.LayerNorm", epsilon)

    # 0 where a token may be looked at, a large negative number elsewhere.
    mask = b.node("Unsqueeze", b.node("Cast", "attention_mask", to=TensorProto.FLOAT), i64(1, 2))
    mask = b.node("Mul", b.node("Sub", f32(1), mask), f32(-1e4))

    def split(t, perm):
        return b.node("Transpose", b.node("Reshape", t, i64(0, 0, heads, width // heads)), perm=perm)

    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        q = split(b.linear(x, f"{layer}.attention.self.query"), [0, 2, 1, 3])
        k = split(b.linear(x, f"{layer}.attention.self.key"), [0, 2, 3, 1])
        v = split(b.linear(x, f"{layer}.attention.self.value"), [0, 2, 1, 3])
        scores = b.node("Mul", b.node("MatMul", q, k), f32((width // heads) ** -0.5))
        scores = b.node("Softmax", b.node("Add", scores, mask), axis=-1)
        seen = b.node("Transpose", b.node("MatMul", scores, v), perm=[0, 2, 1, 3])
        seen = b.linear(b.node("Reshape", seen, i64(0, 0, width)), f"{layer}.attention.output.dense")
        x = b.norm(b.node("Add", x, seen), f"{layer}.attention.output.LayerNorm", epsilon)
        h = b.linear(x, f"{layer}.intermediate.dense")
        h = b.node("Mul", h, b.node("Add", b.node("Erf", b.node("Mul", h, f32(0.5**0.5))), f32(1)))
        h = b.linear(b.node("Mul", h, f32(0.5)), f"{layer}.output.dense")
        last = i + 1 == config["num_hidden_layers"]
        x = b.norm(b.node("Add", x, h), f"{layer}.output.LayerNorm", epsilon, "last_hidden_state" if last else None)

    ids = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
           for name in ("input_ids", "attention_mask")]  # fmt: skip
    out = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", width])
    graph = helper.make_graph(b.nodes, "bert", ids, [out], list(b.initializers.values()))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main(folder):
    target = folder / "model.onnx"
    if target.is_file():
        return
    model = build(json.loads((folder / "config.json").read_text()), read_safetensors(folder / "model.safetensors"))
    onnx.checker.check_model(model)
    unfinished = folder / f"model.onnx.{os.getpid()}"
    onnx.save(model, unfinished)
    os.replace(unfinished, target)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
