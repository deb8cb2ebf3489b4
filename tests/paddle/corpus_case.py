"""How cases/*.py describe the networks of the corpus."""

import dataclasses
import operator
import os
import zlib
from collections.abc import Callable

import numpy
import paddle

CASES = []


@dataclasses.dataclass
class Case:
    name: str
    network: Callable
    inputs: dict[str, numpy.ndarray]
    dims: dict[str, list[int]]  # as declared, where not those of the array
    forms: tuple[str, ...]
    whole: bool  # with variables that nobody reads, without which some operators do not run


def case(name, network, *, dims=None, forms=("paddle", "pir"), whole=False, **inputs):
    """A network: a function of its inputs, which are arrays or functions that draw one from a random generator."""
    assert all(known.name != name for known in CASES), name
    random = numpy.random.default_rng(zlib.crc32(name.encode()))
    drawn = {key: value(random) if callable(value) else numpy.asarray(value) for key, value in inputs.items()}
    CASES.append(Case(name, network, drawn, dims or {}, tuple(forms), whole))


def f32(*shape, low=-2.0, high=2.0, dtype="float32"):
    return lambda random: random.uniform(low, high, shape).astype(dtype)


def f64(*shape, low=-2.0, high=2.0):
    return f32(*shape, low=low, high=high, dtype="float64")


def ints(*shape, low=0, high=5, dtype="int64"):
    return lambda random: random.integers(low, high, shape).astype(dtype)


def i32(*shape, low=0, high=5):
    return ints(*shape, low=low, high=high, dtype="int32")


def bools(*shape):
    return lambda random: random.integers(0, 2, shape).astype(bool)


def given(values, dtype="float32"):
    return numpy.array(values, dtype)


def old_op(kind, inputs, outputs, attrs=None):
    """Appends an operator as older exporters wrote it. `outputs`: parameter -> types, each one for a result."""
    block = paddle.static.default_main_program().current_block()
    made = {
        name: [block.create_var(name=f"{kind}_{name}_{i}".lower(), dtype=dtype) for i, dtype in enumerate(types)]
        for name, types in outputs.items()
    }
    inputs = {name: value if isinstance(value, (list, tuple)) else [value] for name, value in inputs.items()}
    block.append_op(type=kind, inputs=inputs, outputs=made, attrs=attrs or {})
    return [value for values in made.values() for value in values]


def in_pir():
    """Whether the form that is being written is PIR."""
    return os.environ.get("FLAGS_enable_pir_api") == "1"


def api(name):
    """A function of Paddle's by name, looked up when it is called: versions differ in what they have."""
    return lambda *arguments, **options: operator.attrgetter(name)(paddle)(*arguments, **options)
