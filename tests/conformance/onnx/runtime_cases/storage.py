"""Operators that only move elements, on types that exist only as storage: no runtime has all of these."""

import numpy as np
from onnx import TensorProto
from runtime_case import Draw, case

BITS = {
    TensorProto.FLOAT8E4M3FN: 8, TensorProto.FLOAT8E4M3FNUZ: 8, TensorProto.FLOAT8E5M2: 8,
    TensorProto.FLOAT8E5M2FNUZ: 8, TensorProto.FLOAT8E8M0: 8, TensorProto.FLOAT4E2M1: 4, TensorProto.INT4: 4,
    TensorProto.UINT4: 4, TensorProto.INT2: 2, TensorProto.UINT2: 2,
}  # fmt: skip


def stored(codes, kind):
    """The tensor whose elements have these codes."""
    bits = BITS[kind]
    flat = codes.ravel() & ((1 << bits) - 1)
    count = 8 // bits
    flat = np.pad(flat, (0, -len(flat) % count)).reshape(-1, count)
    data = sum(flat[:, i] << (bits * i) for i in range(count)).astype(np.uint8).tobytes()
    return TensorProto(data_type=kind, dims=codes.shape, raw_data=data)


def add():
    ints = np.array
    for kind in BITS:
        d = Draw("storage")
        # Without NaN, whose codes differ where numbers are compared.
        x, b = d.i(3, 5, high=100), d.i(2, 5, high=100)
        mask = ints([[True], [False], [True]])
        row = ints([[0]])

        def moved(name, inputs, attrs, *results, weights=(1,), kind=kind):
            protos = [stored(y, kind) if i not in weights else y for i, y in enumerate(inputs)]
            case(f"store_{name.lower()}_{TensorProto.DataType.Name(kind).lower()}", name, protos, attrs,
                 [f"y{i}" for i in range(len(results))], domain="", opset=25, ir_version=13, weights=weights, rtol=0,
                 atol=0, expected=[stored(y, kind) for y in results])  # fmt: skip

        moved("Identity", [x], {}, x, weights=())
        moved("Reshape", [x, ints([5, 3])], {}, x.reshape(5, 3))
        moved("Transpose", [x], {}, x.T, weights=())
        moved("Concat", [x, b], {"axis": 0}, np.concatenate([x, b]), weights=())
        moved("Slice", [x, ints([4]), ints([0]), ints([1]), ints([-2])], {}, x[:, 4:0:-2], weights=(1, 2, 3, 4))
        moved("Gather", [x, ints([3, -1])], {"axis": 1}, x[:, [3, -1]])
        moved("GatherElements", [x, np.zeros((1, 5), np.int64)], {}, x[:1])
        moved("GatherND", [x, ints([[2], [0]])], {}, x[[2, 0]])
        moved("ScatterND", [x, row, b[:1]], {}, np.concatenate([b[:1], x[1:]]))
        moved("Squeeze", [x[None], ints([0])], {}, x)
        moved("Unsqueeze", [x, ints([1])], {}, x[:, None])
        moved("Flatten", [x], {}, x, weights=())
        moved("Split", [x, ints([2, 3])], {"axis": 1}, x[:, :2], x[:, 2:])
        moved("Expand", [x, ints([2, 3, 5])], {}, np.broadcast_to(x, (2, 3, 5)))
        moved("Tile", [x, ints([2, 1])], {}, np.tile(x, (2, 1)))
        moved("Pad", [x, ints([1, 0, 0, 1])], {"mode": "edge"}, np.pad(x, ((1, 0), (0, 1)), "edge"))
        moved("Where", [mask, x, x[::-1]], {}, np.where(mask, x, x[::-1]), weights=(0,))
        moved("Trilu", [x], {}, np.triu(x), weights=())
