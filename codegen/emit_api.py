"""wherry/ops.h: the operators as C++17 functions."""

import textwrap

from model import Arg, Op
from output import Target, wrap
from values import cpp_value

_HEAD = """\
// The operators as functions on tensors: wherry::relu(wherry::matmul(a, b)).
//
// Each picks a kernel by its arguments, moves what lies elsewhere, allocates the results and runs. A tensor that may be
// absent is then passed as Tensor(). Anything wrong is an Error that names the function, the argument, and what was
// expected. Thread-safe as long as no tensor is written meanwhile. A function whose name ends in _ writes its result over
// its first argument.
"""


def _default(arg: Arg, op: Op) -> str:
    """= VALUE, for the declaration."""
    if arg.default is not None:
        value = arg.default.value
        is_empty_shape = value == [] or value is None
        return " = {}" if is_empty_shape else f" = {cpp_value(arg.type, value)}"
    following = op.api_args[op.api_args.index(arg) :]
    if arg.is_optional and all(other.default is not None or other.is_optional for other in following):
        return " = Tensor()"
    return ""


def return_type(op: Op) -> str:
    types = ["std::vector<Tensor>" if output.is_list else "Tensor" for output in op.api_outputs]
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def parameters(op: Op, with_defaults: bool, inplace: bool = False) -> list[str]:
    params = []
    for i, arg in enumerate(op.api_args):
        type_ = "Tensor&" if inplace and i == inplace_arg(op) else arg.type.public
        params.append(f"{type_} {arg.name}" + (_default(arg, op) if with_defaults else ""))
    return params


def inplace_arg(op: Op) -> int | None:
    """The position among the API's arguments of the one that the in-place variant writes to; None: there is none."""
    if len(op.inplace) != 1 or len(op.outputs) != 1:
        return None
    arg = op.args[op.inplace[0][0]]
    return op.api_args.index(arg) if arg in op.api_args and arg.type.name == "Tensor" else None


def _doc(op: Op) -> str:
    text = op.doc or f"The operator {op.name}."
    lines = textwrap.wrap(text, 116, break_long_words=False, break_on_hyphens=False)
    if len(op.api_outputs) > 1:
        lines.append("Returns " + ", ".join(output.name for output in op.api_outputs) + ".")
    optional = [arg.name for arg in op.api_args if arg.is_optional]
    if optional:
        lines.append(", ".join(optional) + " may be absent.")
    return "".join(f"// {line}\n" for line in lines)


def _declaration(op: Op) -> str:
    text = _doc(op) + wrap(f"{return_type(op)} {op.name}(", parameters(op, True), ");") + "\n"
    if inplace_arg(op) is not None:
        text += wrap(f"Tensor& {op.name}_(", parameters(op, True, inplace=True), ");") + "\n"
    return text


def emit_api(ops: list[Op], target: Target) -> str:
    head = target.banner + "//\n" + _HEAD + "#pragma once\n\n"
    head += "#include <cstdint>\n#include <limits>\n#include <string>\n#include <tuple>\n#include <vector>\n\n"
    head += '#include "wherry/scalar.h"\n#include "wherry/tensor.h"\n#include "wherry/types.h"\n\n'
    return (
        head
        + "namespace wherry {\n\n"
        + "\n".join(_declaration(op) for op in ops if op.has_api)
        + "\n}  // namespace wherry\n"
    )
