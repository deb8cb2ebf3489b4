"""ONNX files of a few bytes, made without the onnx package."""

import struct


def varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def data(field: int, value: str | bytes) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def value_info(name: str, columns: int) -> bytes:
    shape = data(1, data(2, "N")) + data(1, number(1, columns))
    return data(1, name) + data(2, data(1, number(1, 1) + data(2, shape)))


def chain(names: list[str], skip: int = 0) -> bytes:
    """names[0] [N,4] times a matrix w, then Add with a bias and Relu and Sin in turn, to names[-1]; all [N,4].

    With `skip` every fifth operator adds the value that many steps ago instead.
    """
    weights = data(5, number(1, 4) + number(1, 4) + number(2, 1) + data(8, "w") + data(9, struct.pack("<16f", *range(16))))
    weights += data(5, number(1, 4) + number(2, 1) + data(8, "b") + data(9, struct.pack("<4f", 1, 2, 3, 4)))
    nodes = b""
    for i, (before, after) in enumerate(zip(names, names[1:])):
        kind, second = ("MatMul", "w") if i == 0 else ("Add", "b") if i % 3 == 1 else ("Relu" if i % 3 == 2 else "Sin", None)
        if skip and i % 5 == 4 and i >= skip:
            kind, second = "Add", names[i - skip]
        inputs = data(1, before) + (data(1, second) if second else b"")
        nodes += data(1, inputs + data(2, after) + data(3, "node " + after) + data(4, kind))
    graph = nodes + data(2, "g") + weights + data(11, value_info(names[0], 4)) + data(12, value_info(names[-1], 4))
    return number(1, 8) + data(7, graph) + data(8, number(2, 13))
