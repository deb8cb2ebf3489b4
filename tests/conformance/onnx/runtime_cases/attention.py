"""Attention in its forms, and what turns its operands."""

import numpy as np
from runtime_case import Draw, case

F32 = np.float32
I32 = np.int32
I64 = np.int64


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def dot_attention(q, k, v, heads):
    def apart(x):
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3).astype(np.float64)

    q4, k4, v4 = apart(q), apart(k), apart(v)
    y = softmax(q4 @ k4.swapaxes(-1, -2) / np.sqrt(q4.shape[-1])) @ v4
    return y.transpose(0, 2, 1, 3).reshape(*q.shape[:2], -1).astype(F32)


def attention():
    d = Draw("attention")
    x, w, b = d.f(2, 5, 12), d.f(12, 36), d.f(36)
    heads = {"num_heads": 3}
    ends = np.array([5, 3], I32)
    masks = {
        "lengths": ends,
        "ends_and_starts": np.array([5, 4, 1, 0], I32),
        "raw": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], I32),
        "raw_3d": d.i(2, 5, 5, high=2),
        "all_masked": np.zeros((2, 5), I32),
    }
    case("attention_plain", "Attention", [x, w, b], heads, weights=[1, 2])
    case("attention_causal", "Attention", [x, w, b], heads | {"unidirectional": 1, "scale": 0.7})
    for name, mask in masks.items():
        case(f"attention_mask_{name}", "Attention", [x, w, b, mask], heads)
        case(f"attention_mask_{name}_causal", "Attention", [x, w, b, mask], heads | {"unidirectional": 1})
    case("attention_mask_filter", "Attention", [x, w, b, masks["raw"]], heads | {"mask_filter_value": -3.0})
    case("attention_no_bias", "Attention", [x, w], heads)
    case("attention_value_size", "Attention", [x, d.f(12, 30), d.f(30)], heads | {"qkv_hidden_sizes": [12, 12, 6]})
    added = d.f(1, 3, 5, 5)
    case("attention_added", "Attention", [x, w, b, None, None, added], heads)
    case("attention_added_and_mask", "Attention", [x, w, b, masks["raw"], None, added], heads)
    past = d.f(2, 2, 3, 4, 4)
    both = ("y", "present")
    case("attention_present", "Attention", [x, w, b], heads, both)
    case("attention_past", "Attention", [x, w, b, None, past], heads, both, weights=[1, 2])
    case("attention_past_causal", "Attention", [x, w, b, None, past], heads | {"unidirectional": 1}, both)
    case("attention_past_mask", "Attention", [x, w, b, d.i(2, 9, high=2), past], heads | {"unidirectional": 1}, both)
    case("attention_past_mask_3d", "Attention", [x, w, b, d.i(2, 5, 9, high=2), past], heads, both)
    case("attention_past_lengths", "Attention", [x, w, b, np.array([9, 6], I32), past], heads, both)
    case("attention_past_dynamic", "Attention", [x, w, b, d.i(2, 9, high=2), past], heads | {"unidirectional": 1}, both,
         weights=[1, 2], dynamic=True)  # fmt: skip


def multi_head_attention():
    d = Draw("mha")
    op = "MultiHeadAttention"
    q, k, v, b = d.f(2, 4, 12), d.f(2, 6, 12), d.f(2, 6, 12), d.f(36)
    heads = {"num_heads": 3}
    case("mha_plain", op, [q, k, v], heads)
    case("mha_bias", op, [q, k, v, b], heads, weights=[3])
    case("mha_scale", op, [q, k, v, b], heads | {"scale": 0.3})
    case("mha_value_size", op, [q, k, d.f(2, 6, 6), d.f(30)], heads)
    case("mha_mask_2d", op, [q, k, v, b, d.i(2, 6, high=2)], heads)
    case("mha_mask_lengths", op, [q, k, v, b, np.array([6, 2], I32)], heads)
    case("mha_mask_3d", op, [q, k, v, b, d.i(2, 4, 6, high=2)], heads | {"mask_filter_value": -20.0})
    case("mha_added", op, [q, k, v, None, None, d.f(2, 3, 4, 6)], heads)
    case("mha_added_broadcast", op, [q, k, v, None, d.i(2, 6, high=2), d.f(1, 1, 4, 6)], heads)
    case("mha_cross", op, [q, d.f(2, 3, 6, 4), d.f(2, 3, 6, 4), d.f(36)], heads)
    case("mha_causal", op, [q, d.f(2, 4, 12), d.f(2, 4, 12)], heads | {"unidirectional": 1})
    all3 = ("y", "keys", "values")
    pk, pv = d.f(2, 3, 5, 4), d.f(2, 3, 5, 4)
    n = d.f(2, 4, 12), d.f(2, 4, 12)
    case("mha_present", op, [q, *n, b], heads, all3)
    case("mha_past", op, [q, *n, b, None, None, pk, pv], heads, all3)
    case("mha_past_mask", op, [q, *n, b, d.i(2, 9, high=2), None, pk, pv], heads, all3)
    case("mha_past_causal", op, [q, *n, None, None, None, pk, pv], heads | {"unidirectional": 1}, all3)
    case("mha_past_added", op, [q, *n, None, None, d.f(1, 3, 4, 9), pk, pv], heads, all3)
    case("mha_past_dynamic", op, [q, *n, b, None, None, pk, pv], heads, all3, weights=[3])
    case("mha_scores", op, [q, k, v], heads, ("y", "", "", "qk"))
    qkv = d.f(2, 4, 3, 3, 4)
    parts = [np.ascontiguousarray(qkv[:, :, :, i]).reshape(2, 4, 12) for i in range(3)]
    case("mha_packed", op, [qkv], heads, expected=[dot_attention(*parts, 3)])
    kv = d.f(2, 6, 3, 2, 4)
    parts = [np.ascontiguousarray(kv[:, :, :, i]).reshape(2, 6, 12) for i in range(2)]
    case("mha_packed_keys", op, [q, kv], heads, expected=[dot_attention(q, *parts, 3)])


def decoder_attention():
    d = Draw("decoder")
    op = "DecoderMaskedMultiHeadAttention"
    heads = {"num_heads": 3}
    all3 = ("y", "keys", "values")
    q, k, v = d.f(2, 1, 12), d.f(2, 1, 12), d.f(2, 1, 12)
    pk, pv = d.f(2, 3, 5, 4), d.f(2, 3, 5, 4)
    keys, values = (np.concatenate([past, x.reshape(2, 3, 1, 4)], 2) for past, x in ((pk, k), (pv, v)))
    flat_keys, flat_values = (x.transpose(0, 2, 1, 3).reshape(2, 6, 12) for x in (keys, values))
    case("decoder_past", op, [q, k, v, None, None, pk, pv], heads, all3,
         expected=[dot_attention(q, flat_keys, flat_values, 3), keys, values])  # fmt: skip
    case("decoder_cross", op, [q, pk, pv], heads)
    shared = heads | {"past_present_share_buffer": 1}
    buffer = d.f(2, 3, 9, 4), d.f(2, 3, 9, 4)
    length = np.array([4], I32)
    case("decoder_buffer", op, [q, k, v, None, None, *buffer, length], shared, all3)
    case("decoder_buffer_mask", op, [q, k, v, d.i(2, 5, high=2), None, *buffer, length], shared, all3)
    bias = [None, None, d.f(36)]
    case("decoder_buffer_bias", op, [q, k, v, None, d.f(1, 3, 1, 5), *buffer, length, *bias], shared, all3)


def group_query_attention():
    d = Draw("gqa")
    op = "GroupQueryAttention"
    attrs = {"num_heads": 4, "kv_num_heads": 2}
    all3 = ("y", "keys", "values")

    def inputs(batch, count, past, total, last=None, packed=False, buffer=0, rotary=False, positions=None, added=None,
               sinks=None, half=None, size=16):  # fmt: skip
        q, k, v = d.f(batch, count, 4 * size), d.f(batch, count, 2 * size), d.f(batch, count, 2 * size)
        if packed:
            q, k, v = np.concatenate([q, k, v], -1), None, None
        length = buffer or past
        pk = d.f(batch, 2, length, size) if length else None
        pv = d.f(batch, 2, length, size) if length else None
        last = np.array([total - 1] * batch if last is None else last, I32)
        cos = d.f(32, half or size // 2) if rotary else None
        sin = d.f(32, half or size // 2) if rotary else None
        return [q, k, v, pk, pv, last, np.array(total, I32), cos, sin, positions, added, sinks]

    case("gqa_prompt", op, inputs(2, 5, 0, 5), attrs, all3)
    case("gqa_prompt_padded", op, inputs(1, 5, 0, 5, last=[4]), attrs, all3)
    case("gqa_prompt_packed", op, inputs(2, 5, 0, 5, packed=True), attrs, all3)
    case("gqa_prompt_rotary", op, inputs(2, 5, 0, 5, rotary=True), attrs | {"do_rotary": 1}, all3)
    case("gqa_prompt_rotary_interleaved", op, inputs(2, 5, 0, 5, rotary=True),
         attrs | {"do_rotary": 1, "rotary_interleaved": 1}, all3)  # fmt: skip
    case("gqa_prompt_rotary_partial", op, inputs(2, 5, 0, 5, rotary=True, half=8, size=32), attrs | {"do_rotary": 1}, all3)
    case("gqa_prompt_window", op, inputs(2, 7, 0, 7), attrs | {"local_window_size": 3}, all3)
    case("gqa_prompt_cap", op, inputs(2, 5, 0, 5), attrs | {"softcap": 0.5}, all3)
    case("gqa_prompt_smooth", op, inputs(2, 5, 0, 5), attrs | {"smooth_softmax": 1}, all3)
    case("gqa_prompt_sinks", op, inputs(2, 5, 0, 5, sinks=d.f(4)), attrs, all3)
    case("gqa_prompt_added", op, inputs(2, 5, 0, 5, added=d.f(1, 4, 5, 5)), attrs, all3)
    case("gqa_prompt_scores", op, inputs(1, 5, 0, 5), attrs | {"qk_output": 1}, ("y", "keys", "values", "qk"))
    case("gqa_prompt_weights", op, inputs(1, 5, 0, 5), attrs | {"qk_output": 2}, ("y", "keys", "values", "qk"))
    case("gqa_decode", op, inputs(2, 1, 6, 7), attrs, all3)
    case("gqa_decode_scale", op, inputs(2, 1, 6, 7), attrs | {"scale": 0.9}, all3)
    case("gqa_decode_packed_rotary", op, inputs(2, 1, 6, 7, packed=True, rotary=True), attrs | {"do_rotary": 1}, all3)
    case("gqa_decode_ragged", op, inputs(2, 1, 6, 7, last=[6, 3], rotary=True), attrs | {"do_rotary": 1}, all3,
         compared=1)  # fmt: skip
    case("gqa_decode_window", op, inputs(2, 1, 6, 7), attrs | {"local_window_size": 4}, all3)
    case("gqa_decode_added", op, inputs(1, 1, 6, 7, added=d.f(1, 4, 1, 7)), attrs, all3)
    case("gqa_decode_sinks", op, inputs(1, 1, 6, 7, sinks=d.f(4)), attrs | {"softcap": 2.0}, all3)
    case("gqa_decode_positions", op,
         inputs(2, 1, 6, 7, rotary=True, positions=np.array([[6], [2]], I64)), attrs | {"do_rotary": 1}, all3)  # fmt: skip
    case("gqa_decode_dynamic", op, inputs(1, 1, 6, 7, rotary=True), attrs | {"do_rotary": 1}, all3, weights=[7, 8])
    case("gqa_chunk", op, inputs(1, 3, 6, 9, rotary=True), attrs | {"do_rotary": 1}, all3)
    case("gqa_buffer", op, inputs(1, 1, 4, 5, buffer=9), attrs, all3, compared=1)
    case("gqa_buffer_ragged", op, inputs(2, 1, 4, 5, last=[4, 2], buffer=9), attrs, all3, compared=1)
    case("gqa_not_causal", op, inputs(2, 5, 0, 5), attrs | {"causal": 0}, all3)


def rotary_embedding():
    d = Draw("rotary")
    op = "RotaryEmbedding"
    cos, sin = d.f(16, 4), d.f(16, 4)
    ids = d.i(2, 5, high=16, dtype=I64)
    for flag in (0, 1):
        at = {"interleaved": flag}
        case(f"rotary_3d_{flag}", op, [d.f(2, 5, 24), ids, cos, sin], at, weights=[2, 3])
        case(f"rotary_4d_{flag}", op, [d.f(2, 3, 5, 8), ids, cos, sin], at)
        part = at | {"rotary_embedding_dim": 8, "num_heads": 2}
        case(f"rotary_part_{flag}", op, [d.f(2, 5, 24), ids, cos, sin], part)
    case("rotary_offset", op, [d.f(2, 5, 24), np.array([3], I64), cos, sin], {})


def add():
    attention()
    multi_head_attention()
    decoder_attention()
    group_query_attention()
    rotary_embedding()
