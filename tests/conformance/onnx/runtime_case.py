"""How make_runtime_corpus.py describes its cases: one operator each, with ONNX Runtime's outputs."""

import struct
import sys
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from dump_corpus import blob, tensor

TESTS: dict[str, bytes] = {}
ONLY = set(sys.argv[2:])  # names, or all
F32 = np.float32
U8 = np.uint8
I32 = np.int32
I64 = np.int64


def scalar(value, dtype=F32):
    return np.array(value, dtype)


def rand(name: str):
    return np.random.default_rng(zlib.crc32(name.encode()))


class Draw:
    """Arrays drawn for one case."""

    def __init__(self, name: str):
        self.random = rand(name)

    def f(self, *shape, low=-1.0, high=1.0, dtype=F32):
        return self.random.uniform(low, high, shape).astype(dtype)

    def i(self, *shape, low=0, high=10, dtype=np.int32):
        return self.random.integers(low, high, shape, dtype=np.int64).astype(dtype)

    def u8(self, *shape, low=0, high=256):
        return self.i(*shape, low=low, high=high, dtype=np.uint8)

    def i8(self, *shape, low=-128, high=128):
        return self.i(*shape, low=low, high=high, dtype=np.int8)


def case(name, op, inputs, attrs=None, outputs=("y",), *, domain="com.microsoft", weights=(), opset=17, rtol=1e-5,
         atol=1e-5, expected=None, compared=None, dynamic=False, versions=None, ir_version=10):  # fmt: skip
    """One operator. inputs: arrays, TensorProtos or None; those at `weights` are initializers. dynamic: no dimension is
    declared. expected: the outputs, else ONNX Runtime's. compared: how many of them, from the first (all)."""
    if ONLY and name not in ONLY:
        return
    assert name not in TESTS, name
    protos = [None if x is None else x if isinstance(x, TensorProto) else numpy_helper.from_array(np.asarray(x))
              for x in inputs]  # fmt: skip
    names = ["" if x is None else f"x{i}" for i, x in enumerate(protos)]
    for proto, label in zip(protos, names):
        if proto is not None:
            proto.name = label
    fed = [i for i, x in enumerate(protos) if x is not None and i not in weights]
    while names and not names[-1]:
        names.pop()
    node = helper.make_node(op, names, list(outputs), domain=domain, **(attrs or {}))
    given = [o for o in outputs if o]

    def infos():
        return [
            helper.make_tensor_value_info(
                names[i], protos[i].data_type,
                [f"d{i}_{k}" for k in range(len(protos[i].dims))] if dynamic else list(protos[i].dims))
            for i in fed
        ]  # fmt: skip

    def output(result):
        # The type of scores follows from nothing else.
        return helper.make_tensor_value_info("qk", 1, None) if result == "qk" else onnx.ValueInfoProto(name=result)

    graph = helper.make_graph([node], name, infos(), [output(o) for o in given],
                              [protos[i] for i in weights if protos[i] is not None])  # fmt: skip
    versions = {"": opset, "com.microsoft": 1, "ai.onnx.ml": 5} | (versions or {})
    imports = [helper.make_opsetid(name, version) for name, version in versions.items()]
    model = helper.make_model(graph, opset_imports=imports, ir_version=ir_version, producer_name="")
    data = model.SerializeToString()
    if expected is None:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        feeds = {names[i]: onnxruntime.OrtValue.ortvalue_from_numpy(numpy_helper.to_array(protos[i])) for i in fed}
        expected = [value.numpy() for value in session.run_with_ort_values(given, feeds)]
    part = blob(name.encode()) + blob(b"node") + struct.pack("<dd", rtol, atol) + blob(data) + struct.pack("<I", 1)
    part += struct.pack("<I", len(fed)) + b"".join(blob(names[i].encode()) + tensor(protos[i]) for i in fed)
    results = [blob(o.encode()) + tensor(y if isinstance(y, TensorProto) else numpy_helper.from_array(np.ascontiguousarray(y))) for o, y in zip(given, expected[:compared])]
    part += struct.pack("<I", len(results)) + b"".join(results)
    TESTS[name] = part


def write(path: str) -> None:
    header = f"wherry onnx corpus runtime {onnxruntime.__version__}\n".encode()
    with open(path, "wb") as file:
        file.write(header + b"".join(TESTS[name] for name in sorted(TESTS)))
    print(f"{path}: {len(TESTS)} cases")
