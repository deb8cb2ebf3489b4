"""Attribute values: from YAML, to the text that wherry::ParseAttribute reads, to C++."""

import math
from typing import Any

from model import ArgType, Enumerator

# Wherry's enumerators, with the texts that name them: first the one that wherry::ToString prints.
NAMES = {
    "DataType": {
        "kUndefined": ("undefined",),
        "kAny": ("any",),
        "kBool": ("bool",),
        "kInt8": ("i8", "int8"),
        "kUInt8": ("u8", "uint8"),
        "kInt16": ("i16", "int16"),
        "kUInt16": ("u16", "uint16"),
        "kInt32": ("i32", "int32"),
        "kUInt32": ("u32", "uint32"),
        "kInt64": ("i64", "int64"),
        "kUInt64": ("u64", "uint64"),
        "kFP16": ("f16", "float16", "fp16"),
        "kBF16": ("bf16", "bfloat16"),
        "kFloat": ("f32", "float32", "float", "fp32"),
        "kFP64": ("f64", "float64", "double", "fp64"),
        "kComplex64": ("c64", "complex64"),
        "kComplex128": ("c128", "complex128"),
        "kString": ("string", "pstring"),
        "kInt4": ("i4", "int4"),
        "kUInt4": ("u4", "uint4"),
        "kFP8E4M3FN": ("f8e4m3fn", "float8_e4m3fn"),
        "kFP8E5M2": ("f8e5m2", "float8_e5m2"),
        "kInt2": ("i2", "int2"),
        "kUInt2": ("u2", "uint2"),
        "kFP4E2M1": ("f4e2m1", "float4_e2m1"),
        "kFP8E4M3FNUZ": ("f8e4m3fnuz", "float8_e4m3fnuz"),
        "kFP8E5M2FNUZ": ("f8e5m2fnuz", "float8_e5m2fnuz"),
        "kFP8E8M0": ("f8e8m0", "float8_e8m0"),
    },
    "DataLayout": {
        "kUndefined": ("undefined",),
        "kAny": ("any",),
        "kNCHW": ("nchw",),
        "kNHWC": ("nhwc",),
    },
    "Target": {
        "kUndefined": ("undefined",),
        "kAny": ("any",),
        "kHost": ("host",),
        "kX86": ("x86",),
        "kARM": ("arm",),
        "kOpenCL": ("opencl",),
        "kCUDA": ("cuda",),
        "kCustom": ("custom",),
    },
}


_FLOATS = ("float", "double", "Scalar")
_FLOAT_LISTS = tuple(f"vector<{name}>" for name in _FLOATS)


def _number_word(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf", "nan") else value


def find_enumerator(enum: str, text: str) -> str | None:
    """The enumerator that a text names, in either case: kFloat for f32, float32, phi's FLOAT32 and kFloat."""
    for name, texts in NAMES[enum].items():
        if text == name or text.lower() in texts:
            return name
    return None


def enumerator_names(enum: str) -> list[str]:
    return [texts[0] for texts in NAMES[enum].values()]


def from_yaml(type_: ArgType, value: Any) -> Any:
    """A YAML value as the model's: an Enumerator where the type is one, a float for the words inf and nan."""
    if type_.name in NAMES and isinstance(value, str):
        found = find_enumerator(type_.name, value)
        return value if found is None else Enumerator(type_.name, found)
    if isinstance(value, list):
        return [_number_word(item) if type_.name in _FLOAT_LISTS else item for item in value]
    return _number_word(value) if type_.name in _FLOATS else value


def _number_text(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def attribute_text(type_: ArgType, value: Any) -> str:
    """What ParseAttribute(type, text) reads as `value`."""
    if isinstance(value, list):
        if type_.name in ("Epilogue", "ElementwiseProgram"):
            return ""
        return "[" + ", ".join(_item_text(type_, item) for item in value) + "]"
    if type_.name in ("Epilogue", "ElementwiseProgram"):
        return value
    return _item_text(type_, value)


def _item_text(type_: ArgType, value: Any) -> str:
    if isinstance(value, Enumerator):
        return NAMES[value.enum][value.name][0]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float) or "float" in type_.name or "double" in type_.name:
        return _number_text(value)
    return str(value)


def _cpp_number(element: str, value: Any) -> str:
    suffix = "F" if element == "float" else ""
    if isinstance(value, float) or element in ("float", "double"):
        limits = f"std::numeric_limits<{'float' if suffix else 'double'}>"
        if math.isnan(value):
            return f"{limits}::quiet_NaN()"
        if math.isinf(value):
            return ("" if value > 0 else "-") + f"{limits}::infinity()"
        return repr(float(value)) + suffix
    if not -(2**31) <= value < 2**31:
        return f"INT64_C({value})" if value > -(2**63) else "INT64_MIN"
    return str(value)


def cpp_value(type_: ArgType, value: Any) -> str:
    """The value as a C++ expression that initialises an API parameter of the type."""
    element = type_.name[len("vector<") : -1] if type_.name.startswith("vector<") else type_.name
    if isinstance(value, list):
        return "{" + ", ".join(_cpp_item(element, item) for item in value) + "}"
    return _cpp_item(element, value)


def _cpp_item(element: str, value: Any) -> str:
    if isinstance(value, Enumerator):
        return f"{value.enum}::{value.name}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    return _cpp_number(element, value)
