#!/usr/bin/env python3
"""Writes the tests of onnx.backend.test (node, simple, pytorch-converted, pytorch-operator) into one file.

    dump_corpus.py OUT

The node tests are Python functions that make models and arrays; the others are files of the wheel. What the onnx wheel
holds is pinned in scripts/requirements.txt; an OUT that exists and was made by this script from that version is left.
Needs onnx and numpy.

The file: the text of version(), then tests. Numbers are little-endian; a string or blob is a u64 length and the bytes.

    test:  string name, string kind, f64 rtol, f64 atol, blob model, u32 count of data sets, data sets
    set:   u32 count of inputs, each a string name and a value; outputs likewise
    value: u8 0: nothing | u8 1: string type, u32 rank, i64 dimensions, blob elements | u8 2: u32 count, values

Types have Wherry's names. Elements are as in TensorProto.raw_data (small types packed); strings: each as a string.
"""

import pathlib
import struct
import sys
import zlib

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

# By the numbers of TensorProto.DataType.
TYPES = ["", "f32", "u8", "i8", "u16", "i16", "i32", "i64", "string", "bool", "f16", "f64", "u32", "u64", "c64", "c128", "bf16",
         "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "u4", "i4", "f4e2m1", "f8e8m0", "u2", "i2"]  # fmt: skip
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")


def version() -> bytes:
    return f"wherry onnx corpus {onnx.__version__} {zlib.crc32(pathlib.Path(__file__).read_bytes()):08x}\n".encode()


def blob(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def tensor(proto: onnx.TensorProto) -> bytes:
    if proto.data_type == onnx.TensorProto.STRING:
        elements = b"".join(blob(text) for text in proto.string_data)
    elif proto.HasField("raw_data"):
        elements = proto.raw_data
    else:
        # The helper packs what a file has as typed numbers.
        array = numpy_helper.to_array(proto)
        again = numpy_helper.from_array(array)
        if again.data_type != proto.data_type:
            raise ValueError(f"{proto.name}: {again.data_type} for {proto.data_type}")
        elements = again.raw_data
    dims = struct.pack(f"<I{len(proto.dims)}q", len(proto.dims), *proto.dims)
    return b"\1" + blob(TYPES[proto.data_type].encode()) + dims + blob(elements)


def sequence(values: list[bytes]) -> bytes:
    return struct.pack("<BI", 2, len(values)) + b"".join(values)


def optional(value: bytes | None) -> bytes:
    return sequence([] if value is None else [value])


def of_python(value, kind: onnx.TypeProto) -> bytes:
    """A value as the node tests hold them; an optional one is a list of at most one."""
    which = kind.WhichOneof("value")
    if which == "optional_type":
        return optional(None if value is None else of_python(value, kind.optional_type.elem_type))
    if value is None:
        return b"\0"
    if which == "sequence_type":
        return sequence([of_python(element, kind.sequence_type.elem_type) for element in value])
    if isinstance(value, onnx.TensorProto):
        return tensor(value)
    array = np.asarray(value)
    if kind.tensor_type.elem_type == onnx.TensorProto.STRING:
        array = array.astype(object)
    return tensor(numpy_helper.from_array(array))


def of_file(path: pathlib.Path, kind: onnx.TypeProto) -> bytes:
    data = path.read_bytes()
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        proto = onnx.SequenceProto.FromString(data)
        if proto.elem_type != onnx.SequenceProto.TENSOR and proto.tensor_values:
            raise ValueError(f"{path}: a sequence of {proto.elem_type}")
        return sequence([tensor(value) for value in proto.tensor_values])
    if which == "optional_type":
        proto = onnx.OptionalProto.FromString(data)
        if proto.elem_type == onnx.OptionalProto.UNDEFINED:
            return optional(None)
        if proto.elem_type == onnx.OptionalProto.TENSOR:
            return optional(tensor(proto.tensor_value))
        return optional(sequence([tensor(value) for value in proto.sequence_value.tensor_values]))
    return tensor(onnx.TensorProto.FromString(data))


def named(info: onnx.ValueInfoProto, value: bytes) -> bytes:
    return blob(info.name.encode()) + value


def of_values(values, infos) -> list[bytes]:
    return [named(info, of_python(value, info.type)) for value, info in zip(values, infos)]


def of_files(folder: pathlib.Path, stem: str, infos) -> list[bytes]:
    return [named(info, of_file(folder / f"{stem}_{i}.pb", info.type)) for i, info in enumerate(infos)]


def main() -> int:
    out = pathlib.Path(sys.argv[1])
    if out.is_file():
        with out.open("rb") as file:
            if file.readline() == version():
                return 0
    parts = [version()]
    for kind in KINDS:
        for test in sorted(load_model_tests(kind=kind), key=lambda test: test.name):
            if test.model is not None:
                model = test.model
                graph = model.graph
                sets = [(of_values(ins, graph.input), of_values(outs, graph.output)) for ins, outs in test.data_sets]
                data = model.SerializeToString()
            else:
                folder = pathlib.Path(test.model_dir)
                data = (folder / "model.onnx").read_bytes()
                graph = onnx.ModelProto.FromString(data).graph
                initialized = {initializer.name for initializer in graph.initializer}
                wanted = [value for value in graph.input if value.name not in initialized]
                sets = []
                for data_set in sorted(folder.glob("test_data_set_*")):
                    given = len(list(data_set.glob("input_*.pb")))
                    infos = wanted if given == len(wanted) else list(graph.input)[:given]
                    sets.append((of_files(data_set, "input", infos), of_files(data_set, "output", graph.output)))
            parts.append(blob(test.name.encode()) + blob(kind.encode()) + struct.pack("<dd", test.rtol, test.atol))
            parts.append(blob(data) + struct.pack("<I", len(sets)))
            for inputs, outputs in sets:
                parts.append(struct.pack("<I", len(inputs)) + b"".join(inputs))
                parts.append(struct.pack("<I", len(outputs)) + b"".join(outputs))
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_suffix(".partial")
    partial.write_bytes(b"".join(parts))
    partial.replace(out)
    print(f"{out}: {out.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
