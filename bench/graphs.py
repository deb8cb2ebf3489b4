#!/usr/bin/env python3
"""Large graphs of small operators, as ONNX files: what optimising costs as graphs grow. `docs/performance.md` has results.

    bench/graphs.py SHAPE NODES OUT.onnx

SHAPE is one of
  chain    relu, add, sigmoid, multiply, ... one behind another
  fanout   one value with NODES readers, summed up two by two
  ladder   residuals: x = x + tanh(x), with a sum of every tenth at the end
  shapes   shape -> gather -> concat -> reshape, again and again
  same     NODES identical subexpressions, summed up two by two
  convs    convolution, bias, activation: what fuses
"""

import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    def __init__(self):
        self.nodes = []
        self.weights = []

    def op(self, kind, *inputs, **attrs):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attrs))
        return name

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def total(self, values):
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2])
            rest = values[-1:] if len(values) % 2 else []
            values = [self.op("Add", a, b) for a, b in pairs] + rest
        return values[0]


def chain(graph, x, count):
    c = graph.weight("c", np.full(8, 1.01, np.float32))
    for i in range(count):
        kind = ("Relu", "Add", "Sigmoid", "Mul")[i % 4]
        x = graph.op(kind, x, c) if kind in ("Add", "Mul") else graph.op(kind, x)
    return x


def fanout(graph, x, count):
    base = graph.op("Exp", x)
    scales = [graph.weight(f"s{i}", np.full(8, 1 + i / count, np.float32)) for i in range(count // 2)]
    return graph.total([graph.op("Mul", base, s) for s in scales])


def ladder(graph, x, count):
    kept = []
    for i in range(count // 2):
        x = graph.op("Add", x, graph.op("Tanh", x))
        if i % 10 == 0:
            kept.append(x)
    return graph.total(kept)


def shapes(graph, x, count):
    zero = graph.weight("zero", np.array([0], np.int64))
    eight = graph.weight("eight", np.array([8], np.int64))
    for _ in range(count // 5):
        batch = graph.op("Gather", graph.op("Shape", x), zero)
        shape = graph.op("Concat", batch, eight, axis=0)
        x = graph.op("Relu", graph.op("Reshape", x, shape))
    return x


def same(graph, x, count):
    return graph.total([graph.op("Tanh", graph.op("Exp", x)) for _ in range(count // 3)])


def convs(graph, x, count):
    x = graph.op("Reshape", x, graph.weight("image", np.array([0, 8, 1, 1], np.int64)))
    for i in range(count // 3):
        w = graph.weight(f"w{i}", np.full((8, 8, 1, 1), 0.1, np.float32))
        b = graph.weight(f"b{i}", np.full((8, 1, 1), 0.1, np.float32))
        x = graph.op("Relu", graph.op("Add", graph.op("Conv", x, w), b))
    return x


SHAPES = {f.__name__: f for f in (chain, fanout, ladder, shapes, same, convs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=sorted(SHAPES))
    parser.add_argument("nodes", type=int)
    parser.add_argument("out")
    args = parser.parse_args()
    graph = Graph()
    result = SHAPES[args.shape](graph, "x", args.nodes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 8])
    y = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
    model = helper.make_model(
        helper.make_graph(graph.nodes, args.shape, [x], [y], graph.weights),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    onnx.save(model, args.out)


if __name__ == "__main__":
    main()
