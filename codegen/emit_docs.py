"""docs/reference/ops: one Markdown page per operator, and an index."""

import re

from emit_api import inplace_arg, parameters, return_type
from model import Arg, ImportRule, Op
from output import wrap
from values import attribute_text, cpp_value

_FORMATS = {"paddle": "Paddle", "pir": "Paddle PIR", "onnx": "ONNX"}


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _table(head: list[str], rows: list[list[str]]) -> str:
    return _row(*head) + "|" + "---|" * len(head) + "\n" + "".join(_row(*row) for row in rows)


def _default(op: Op, arg: Arg) -> str:
    if op.is_pass_only(arg):
        return "set by passes only"
    if arg.default is None:
        return "absent" if arg.is_optional else ""
    if arg.is_tensor:
        return "empty"
    return f"`{cpp_value(arg.type, arg.default.value)}`"


def _signature(op: Op) -> str:
    lines = [wrap(f"{return_type(op)} {op.name}(", parameters(op, True), ");")]
    if inplace_arg(op) is not None:
        lines.append(wrap(f"Tensor& {op.name}_(", parameters(op, True, inplace=True), ");"))
    return "```cpp\n" + "\n".join(lines) + "\n```\n\n"


def _facts(op: Op) -> list[str]:
    def names(indices) -> str:
        return ", ".join(f"`{op.args[i].name}`" for i in indices)

    facts = []
    if op.aliases:
        facts.append("Also called " + ", ".join(f"`{alias}`" for alias in op.aliases) + ".")
    if op.kernel:
        facts.append(f"Its kernels are registered as `{op.kernel}`.")
    for part, rule in (("type", op.data_type_rule), ("target", op.backend_rule), ("layout", op.layout_rule)):
        if rule:
            facts.append(f"The kernel's {part} is that of " + ", else of ".join(names([i]) for i in rule) + ".")
    if op.promote:
        facts.append("The inputs' types are promoted to a common one, as NumPy does.")
    if op.support_trans_dtype:
        facts.append(f"Converted to the kernel's type where need be: {names(op.support_trans_dtype)}.")
    for arg, output in op.inplace:
        facts.append(f"`{op.outputs[output].name}` may be written over `{op.args[arg].name}`.")
    if op.view:
        facts.append("The output may be a view of the input's memory.")
    if "dynamic_output" in op.traits:
        facts.append("The output's shape is known only when the operator has run.")
    if "control_flow" in op.traits:
        facts.append(f"Control flow with {op.blocks} blocks: part of a model, not of the API.")
    return facts


def _import(op: Op, rule: ImportRule) -> list[str]:
    name = rule.type if not rule.domain else f"{rule.domain}.{rule.type}"
    opsets = ""
    if rule.format == "onnx":
        opsets = f"{rule.since} and later" if rule.until is None else f"{rule.since} to {rule.until}"
    attrs = []
    for attr in rule.attrs:
        type_ = op.args[op.arg_index(attr.ours)].type
        value = None if attr.value is None else attribute_text(type_, attr.value)
        if attr.theirs is None:
            attrs.append(f"`{attr.ours}` = {value}")
        else:
            attrs.append(f"`{attr.ours}` from `{attr.theirs}`" + (f", else {value}" if value is not None else ""))
    return [_FORMATS[rule.format], f"`{name}`", opsets, "; ".join(attrs)]


def emit_page(op: Op) -> str:
    parts = [f"# {op.name}\n\n{op.doc}\n\n"]
    if op.has_api:
        parts.append(_signature(op))
    rows = [[f"`{arg.name}`", f"`{arg.type.name}`", _default(op, arg)] for arg in op.args]
    parts.append(_table(["argument", "type", "default"], rows) + "\n")
    outputs = []
    for output in op.outputs:
        notes = ["may be left out"] * output.optional + ["not returned by the function"] * output.intermediate
        outputs.append([f"`{output.name}`", "`vector<Tensor>`" if output.is_list else "`Tensor`", ", ".join(notes)])
    parts.append(_table(["output", "type", ""], outputs) + "\n")
    parts += [f"- {fact}\n" for fact in _facts(op)]
    if op.imports:
        parts.append("\n## Read from\n\n")
        parts.append(_table(["format", "operator", "opset", "attributes"], [_import(op, rule) for rule in op.imports]))
    return "".join(parts)


def emit_index(ops: list[Op]) -> str:
    # A sentence ends where the next begins with a capital letter: "start, start + step, ... up to" is one.
    rows = [[f"[{op.name}]({op.name}.md)", re.split(r"(?<=\.) (?=[A-Z])", op.doc)[0]] for op in ops]
    return f"# Operators\n\n{len(ops)} operators, each from its entry in `ops/`.\n\n" + _table(["operator", ""], rows)
