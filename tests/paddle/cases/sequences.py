"""Sequences one behind the other, with their lengths (LoD) beside the tensor, as older programs have them."""

import paddle
from corpus_case import case, f32, given, old_op


def sequences(x, name="rows", offsets=(0, 2, 5, 6)):
    """x as sequences that end at these rows."""
    block = paddle.static.default_main_program().current_block()
    rows = block.create_var(name=name, dtype="float32")
    block.append_op(type="lod_reset", inputs={"X": [x]}, outputs={"Out": [rows]}, attrs={"target_lod": list(offsets)})
    return rows


def sequence_op(kind, inputs, outputs, **attrs):
    return lambda x, *rest: old_op(kind, dict(zip(inputs, (sequences(x), *rest))), outputs, attrs)[0]


OUT = {"Out": ["float32"]}
for _type in ("SUM", "AVERAGE", "SQRT", "MAX", "LAST", "FIRST"):
    case(f"sequence_pool_{_type.lower()}", sequence_op("sequence_pool", ["X"], OUT | {"MaxIndex": ["int32"]}, pooltype=_type), x=f32(6, 3), forms=["paddle"])
case("sequence_softmax", sequence_op("sequence_softmax", ["X"], OUT), x=f32(6, 1), forms=["paddle"])
case("sequence_reverse", sequence_op("sequence_reverse", ["X"], {"Y": ["float32"]}), x=f32(6, 2), forms=["paddle"])
for _start, _length in ((-1, 3), (-2, 2)):
    case(f"sequence_conv_{_length}", sequence_op("sequence_conv", ["X", "Filter"], OUT, contextStart=_start, contextLength=_length, contextStride=1), x=f32(6, 2), f=f32(2 * _length, 4), forms=["paddle"])
for _length in (-1, 5):
    case(f"sequence_pad_{_length}", sequence_op("sequence_pad", ["X", "PadValue"], OUT | {"Length": ["int64"]}, padded_length=_length), x=f32(6, 2), p=given([0.5]), forms=["paddle"])
case("sequence_unpad", lambda x, n: old_op("sequence_unpad", {"X": x, "Length": n}, OUT), x=f32(3, 4, 2), n=given([2, 4, 1], "int64"), forms=["paddle"])
for _kind in ("sequence_expand", "sequence_expand_as"):
    case(_kind, lambda x, y, k=_kind: old_op(k, {"X": x, "Y": sequences(y)}, OUT, {"ref_level": -1} if k == "sequence_expand" else {}), x=f32(3, 2), y=f32(6, 1), forms=["paddle"])
case("sequence_concat", lambda x, y: old_op("sequence_concat", {"X": [sequences(x), sequences(y, "others", (0, 1, 3, 4))]}, OUT), x=f32(6, 2), y=f32(4, 2), forms=["paddle"])
case("sequence_of_image", lambda x: old_op("im2sequence", {"X": x}, OUT, {"kernels": [4, 2], "strides": [1, 2], "paddings": [0, 1, 0, 1]}), x=f32(2, 3, 4, 7), forms=["paddle"])
LSTM = {"Hidden": ["float32"], "Cell": ["float32"], "BatchGate": ["float32"], "BatchCellPreAct": ["float32"]}
GRU = {"Hidden": ["float32"], "BatchGate": ["float32"], "BatchResetHiddenPrev": ["float32"], "BatchHidden": ["float32"]}
for _flag in (False, True):
    case(f"sequence_lstm_{_flag}", sequence_op("lstm", ["Input", "Weight", "Bias"], LSTM, use_peepholes=_flag, is_reverse=_flag, is_test=True), x=f32(6, 12), w=f32(3, 12), b=f32(1, 21 if _flag else 12), forms=["paddle"], whole=True)
    case(f"sequence_gru_{_flag}", sequence_op("gru", ["Input", "Weight", "Bias"], GRU, origin_mode=_flag, is_reverse=_flag), x=f32(6, 9), w=f32(3, 9), b=f32(1, 9), forms=["paddle"], whole=True)
