"""eager/ops.gen.cc: the bodies of the API functions.

One file: 100 operators compile in under 3 s, most of it for the headers.
"""

from emit_api import inplace_arg, parameters, return_type
from model import Op
from output import Target, wrap


def _arguments(op: Op) -> str:
    lines = []
    for arg in op.args:
        if op.is_pass_only(arg):
            lines.append("  call.EmplaceBackDefault();\n")
        elif arg.is_tensor:
            lines.append(f"  call.EmplaceBackInput({arg.name});\n")
        else:
            lines.append(f"  call.EmplaceBackAttr({arg.name});\n")
    return "".join(lines)


def _results(op: Op) -> str:
    results = []
    for output in op.api_outputs:
        get = "OutputList" if output.is_list else "Output"
        results.append(f"call.{get}({op.outputs.index(output)})")
    return results[0] if len(results) == 1 else "{" + ", ".join(results) + "}"


def _function(op: Op) -> str:
    # The braces of a tuple's elements are evaluated left to right, and each output is taken once.
    return (
        wrap(f"{return_type(op)} {op.name}(", parameters(op, False), ") {")
        + f"\n  eager::OpCall call(wherry_op_{op.name});\n{_arguments(op)}  call.Run();\n  return {_results(op)};\n}}\n"
    )


def _inplace_function(op: Op) -> str:
    target = op.api_args[inplace_arg(op)].name
    return (
        wrap(f"Tensor& {op.name}_(", parameters(op, False, inplace=True), ") {")
        + f"\n  eager::OpCall call(wherry_op_{op.name});\n{_arguments(op)}"
        + f"  call.RunInplace(&{target});\n  return {target};\n}}\n"
    )


def emit_functions(ops: list[Op]) -> str:
    texts = []
    for op in ops:
        if op.has_api:
            texts.append(_function(op))
            texts += [_inplace_function(op)] if inplace_arg(op) is not None else []
    return "\n".join(texts)


def emit_eager(ops: list[Op], target: Target) -> str:
    lines = [target.banner, "\n#include <tuple>\n#include <vector>\n\n"]
    lines += ['#include "eager/op_call.h"\n', '#include "op/op_schema.h"\n', '#include "wherry/ops.h"\n']
    lines.append("\nnamespace wherry {\n")
    declarations = [f"extern const OpDescriptor wherry_op_{op.name};\n" for op in ops if op.has_api]
    if declarations:
        lines += ['\nextern "C" {\n', *declarations, "}\n"]
    return "".join([*lines, "\n", emit_functions(ops), "\n}  // namespace wherry\n"])
