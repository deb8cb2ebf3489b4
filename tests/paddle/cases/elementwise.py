"""Operators that work element by element, and comparisons."""

import paddle
import paddle.nn.functional as F
from corpus_case import api, bools, case, f32, f64, given, i32, ints

UNARY = {
    "acos": (-1, 1), "acosh": (1, 4), "asin": (-1, 1), "asinh": (-3, 3), "atan": (-3, 3), "atanh": (-0.9, 0.9), "ceil": (-3, 3), "cos": (-6, 6),
    "cosh": (-3, 3), "digamma": (0.3, 5), "erf": (-2, 2), "erfinv": (-0.9, 0.9), "exp": (-3, 3), "expm1": (-2, 2), "floor": (-3, 3), "frac": (-3, 3),
    "i0": (-3, 3), "i0e": (-3, 3), "i1": (-3, 3), "i1e": (-3, 3), "lgamma": (0.2, 6), "gammaln": (0.2, 6), "log": (0.1, 5), "log10": (0.1, 5), "log1p": (-0.5, 5),
    "log2": (0.1, 5), "neg": (-3, 3), "rad2deg": (-3, 3), "reciprocal": (0.5, 3), "round": (-3, 3), "rsqrt": (0.2, 4), "sgn": (-2, 2), "sign": (-2, 2),
    "sin": (-6, 6), "sinc": (-3, 3), "sinh": (-3, 3), "sqrt": (0, 4), "square": (-3, 3), "stanh": (-3, 3), "tan": (-1.3, 1.3), "tanh": (-3, 3), "trunc": (-3, 3),
    "signbit": (-2, 2), "angle": (-2, 2), "conj": (-2, 2), "isfinite": (-2, 2), "isinf": (-2, 2), "isneginf": (-2, 2), "isposinf": (-2, 2),
}
for _name, (_low, _high) in UNARY.items():
    case(f"unary_{_name}", api(_name), x=f32(3, 5, low=_low, high=_high))
case("unary_exp_f64", api("exp"), x=f64(2, 3))
case("unary_abs_i64", api("abs"), x=ints(2, 5, low=-4))
case("unary_polygamma_1", lambda x: paddle.polygamma(x, 1), x=f32(2, 4, low=0.3, high=4))
case("unary_polygamma_3", lambda x: paddle.polygamma(x, 3), x=f32(2, 4, low=0.5, high=4))
case("unary_multigammaln", lambda x: paddle.multigammaln(x, 2), x=f32(2, 4, low=2, high=5))
case("unary_logit_eps", lambda x: paddle.logit(x, 0.1), x=f32(3, 4, low=0, high=1))
case("unary_nan_to_num", lambda x: paddle.nan_to_num(x, 1.5, 9.0, -7.0), x=given([1, float("nan"), float("inf"), float("-inf")]))
case("unary_scale_before", lambda x: paddle.scale(x, 2.0, 0.5, bias_after_scale=False), x=f32(2, 3))
case("unary_scale_act", lambda x: paddle.scale(x, 2.0, 0.5, act="relu"), x=f32(2, 3))
case("unary_scale_i64", lambda x: paddle.scale(x, 3.0, 2.0), x=ints(2, 3))
case("unary_clip_max", lambda x: paddle.clip(x, max=0.5), x=f32(3, 4))
case("unary_clip_i32", lambda x: paddle.clip(x, 1, 3), x=i32(3, 4))
case("unary_pow_half", lambda x: paddle.pow(x, 0.5), x=f32(3, 4, low=0.1))
case("unary_pow_i64", lambda x: paddle.pow(x, 3), x=ints(3, 4))
case("unary_round_decimals", lambda x: paddle.round(x, 2), x=f32(3, 4))
case("unary_increment", lambda x: paddle.increment(x, 3.0), x=f32(1))
case("unary_logical_not", api("logical_not"), x=bools(2, 5))
case("unary_bitwise_not", api("bitwise_not"), x=i32(2, 5))
case("unary_gammainc", api("gammainc"), x=f32(5, low=0.3, high=4), y=f32(5, low=0.3, high=4))
case("unary_gammaincc", api("gammaincc"), x=f32(5, low=0.3, high=4), y=f32(5, low=0.3, high=4))

ACTIVATIONS = {
    "celu_2": lambda x: F.celu(x, 2.0), "elu_2": lambda x: F.elu(x, 2.0), "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate=True),
    "glu_axis0": lambda x: F.glu(x, 0), "hardshrink": lambda x: F.hardshrink(x, 0.8), "hardsigmoid": F.hardsigmoid, "hardswish": F.hardswish,
    "hardtanh": F.hardtanh, "leaky_relu": lambda x: F.leaky_relu(x, 0.3), "log_sigmoid": F.log_sigmoid, "log_softmax": F.log_softmax,
    "maxout_2": lambda x: F.maxout(x, 2, axis=1), "mish": F.mish, "relu": F.relu, "relu6": F.relu6, "rrelu": lambda x: F.rrelu(x, 0.1, 0.4, training=False),
    "selu": F.selu, "selu_own": lambda x: F.selu(x, 1.3, 1.1), "sigmoid": F.sigmoid, "silu": F.silu, "softmax_1": lambda x: F.softmax(x, 1),
    "softplus": lambda x: F.softplus(x, 2.0, 3.0), "softshrink": lambda x: F.softshrink(x, 0.3), "softsign": F.softsign, "swish": F.swish,
    "tanhshrink": F.tanhshrink, "thresholded_relu": lambda x: F.thresholded_relu(x, 0.4), "thresholded_relu_value": lambda x: F.thresholded_relu(x, 0.4, -1.0),
    "swiglu": api("incubate.nn.functional.swiglu"), "stanh": lambda x: paddle.stanh(x, 0.5, 1.2),
    "dropout_up": lambda x: F.dropout(x, 0.3, training=False), "dropout_down": lambda x: F.dropout(x, 0.3, training=False, mode="downscale_in_infer"),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.3, training=False), "dropout2d": lambda x: F.dropout2d(x, 0.3, training=False),
}
for _name, _function in ACTIVATIONS.items():
    case(f"act_{_name}", _function, x=f32(2, 4, 3, 2))
case("act_swiglu_two", lambda x, y: paddle.incubate.nn.functional.swiglu(x, y), x=f32(2, 4), y=f32(2, 4))
case("act_prelu", lambda x: paddle.static.nn.prelu(x, "channel"), x=f32(2, 4, 3, 2), forms=["paddle"])
case("act_prelu_element", lambda x: paddle.static.nn.prelu(x, "element"), x=f32(2, 4, 3), forms=["paddle"])
case("act_prelu_given", F.prelu, x=f32(2, 4, 3, 2), weight=f32(4))
case("act_maxout_last", lambda x: F.maxout(x, 2, axis=-1), x=f32(2, 3, 2, 4))
case("act_softmax_f64", lambda x: F.softmax(x, dtype="float64"), x=f32(2, 5))
case("act_log_softmax_0", lambda x: F.log_softmax(x, 0), x=f32(2, 5))

BINARY = {
    "add": api("add"), "atan2": api("atan2"), "copysign": api("copysign"), "divide": api("divide"), "floor_divide": api("floor_divide"), "fmax": api("fmax"),
    "fmin": api("fmin"), "heaviside": api("heaviside"), "hypot": api("hypot"), "logaddexp": api("logaddexp"), "maximum": api("maximum"), "minimum": api("minimum"),
    "mod": api("mod"), "multiply": api("multiply"), "subtract": api("subtract"), "equal": api("equal"), "not_equal": api("not_equal"),
    "less_than": api("less_than"), "less_equal": api("less_equal"), "greater_than": api("greater_than"), "greater_equal": api("greater_equal"),
    "ldexp_like": lambda x, y: paddle.ldexp(x, paddle.round(y)), "isclose": lambda x, y: paddle.isclose(x, y + x * 0, 0.2, 0.3),
    "allclose": lambda x, y: paddle.allclose(x, y + x * 0, 0.2, 0.3), "dist": lambda x, y: paddle.dist(x, y, 2), "dist_0": lambda x, y: paddle.dist(x, y, 0),
    "dist_inf": lambda x, y: paddle.dist(x, y, float("inf")), "dist_3": lambda x, y: paddle.dist(x, y, 3),
}
for _name, _function in BINARY.items():
    case(f"binary_{_name}", _function, x=f32(2, 3, 4), y=f32(3, 1))
for _name in ("gcd", "lcm", "bitwise_and", "bitwise_or", "bitwise_xor", "floor_divide", "mod", "maximum", "bitwise_left_shift", "bitwise_right_shift", "equal"):
    case(f"binary_{_name}_i32", api(_name), x=i32(2, 5, low=1, high=40), y=i32(2, 5, low=1, high=6))
for _name in ("logical_and", "logical_or", "logical_xor", "equal"):
    case(f"binary_{_name}_bool", api(_name), x=bools(2, 5), y=bools(2, 5))
case("binary_floor_divide_neg", api("floor_divide"), x=ints(4, 5, low=-9, high=9), y=given([-3, 2, 4, -1, 5], "int64"))
case("binary_mod_neg", api("mod"), x=ints(4, 5, low=-9, high=9), y=given([-3, 2, 4, -1, 5], "int64"))
case("binary_nextafter", api("nextafter"), x=f64(2, 3), y=f64(3))
case("binary_pow", api("pow"), x=f32(2, 4, low=0.2), y=f32(4))
case("binary_divide_i64", api("divide"), x=ints(2, 4, low=-9), y=given([2, 3, 1, 5], "int64"))
case("binary_lerp", api("lerp"), x=f32(2, 4), y=f32(2, 4), weight=f32(1))
case("binary_add_n", lambda x, y, z: paddle.add_n([x, y, z]), x=f32(2, 4), y=f32(2, 4), z=f32(2, 4))
case("binary_equal_all", api("equal_all"), x=given([1, 2, 3]), y=given([1, 2, 3]))
case("binary_addcmul_like", lambda x, y, z: x + 0.5 * y * z, x=f32(2, 4), y=f32(2, 1), z=f32(1, 4))
case("binary_rsub", lambda x: 1.0 - x / 2 + 3 // 2, x=f32(2, 3))
case("binary_mixed_types", lambda x, y: x * y, x=f32(2, 3), y=f64(2, 3))
for _type in ("int32", "int64", "float64", "float16", "bool", "uint8", "int8", "int16", "bfloat16"):
    case(f"cast_{_type}", lambda x, t=_type: paddle.cast(paddle.cast(x, t), "float32"), x=f32(2, 6, low=0, high=9))
case("cast_i32_out", lambda x: x.astype("int32"), x=f32(2, 6, low=-9, high=9))
case("cast_bool_out", lambda x: x.astype("bool"), x=given([0, 1, 0.2, -3]))
case("complex_make", lambda x, y: [paddle.real(paddle.complex(x, y)), paddle.imag(paddle.complex(x, y)), paddle.abs(paddle.complex(x, y))], x=f32(2, 3), y=f32(2, 3))
case("complex_as", lambda x: paddle.as_real(paddle.conj(paddle.as_complex(x))), x=f32(2, 3, 2))
case("complex_polar", lambda x, y: paddle.as_real(paddle.polar(x, y)), x=f32(4, low=0), y=f32(4))
case("complex_multiply", lambda x, y: paddle.as_real(paddle.as_complex(x) * paddle.as_complex(y)), x=f32(3, 2), y=f32(3, 2))
case("complex_angle", lambda x: paddle.angle(paddle.as_complex(x)), x=f32(5, 2))
case("fill_like", lambda x: [paddle.full_like(x, 2.5), paddle.zeros_like(x), paddle.ones_like(x, "int32")], x=f32(2, 3))
case("trunc_divide_like", lambda x, y: paddle.trunc(x / y), x=f32(2, 3), y=f32(2, 3, low=0.5))
for _name in ("exp", "log", "expm1", "log2", "floor", "ceil", "isnan", "isfinite"):
    case(f"unary_{_name}_i32", api(_name), x=i32(2, 3, low=1), forms=["pir"] if _name in ("floor", "ceil") else ("paddle", "pir"))
case("binary_atan2_i64", api("atan2"), x=ints(2, 3, low=1), y=ints(2, 3, low=1))
