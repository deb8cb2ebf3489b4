"""importer/import_rules.gen.cc: the operators' import rules as one sorted table."""

from model import ImportAttr, ImportRule, Op
from output import Target
from values import attribute_text, quoted


def _text(value: str | None) -> str:
    return "nullptr" if value is None else quoted(value)


def _tensors(pairs: tuple[tuple[str, str | None], ...]) -> list[str]:
    return [f"{{{_text(None if ours == '_' else ours)}, {_text(theirs)}}}" for ours, theirs in pairs]


def _attr(op: Op, attr: ImportAttr) -> str:
    type_ = op.args[op.arg_index(attr.ours)].type
    value = None if attr.value is None else attribute_text(type_, attr.value)
    return f"{{{quoted(attr.ours)}, {_text(attr.theirs)}, AttrType::{type_.attr}, {_text(value)}}}"


class _Arrays:
    """The constant arrays that the rules refer to; equal ones are written once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[tuple[str, tuple[str, ...]], str] = {}

    def name(self, type_: str, items: list[str]) -> str:
        if not items:
            return "{}"
        key = (type_, tuple(items))
        if key not in self._names:
            self._names[key] = f"k{type_}s{len(self._names)}"
            one_line = f"constexpr {type_} {self._names[key]}[] = {{{', '.join(items)}}};\n"
            several = f"constexpr {type_} {self._names[key]}[] = {{\n" + "".join(f"    {i},\n" for i in items) + "};\n"
            self.lines.append(one_line if len(one_line) <= 120 else several)
        return self._names[key]


def emit_rules(ops: list[Op]) -> str:
    """The rules as a sorted constant array kRules with all that it refers to; "" when there are none."""
    rules: list[tuple[ImportRule, Op]] = [(rule, op) for op in ops for rule in op.imports]
    rules.sort(key=lambda pair: (pair[0].format, pair[0].domain, pair[0].type, pair[0].since))
    arrays = _Arrays()
    rows = []
    for rule, op in rules:
        until = "ImportRule::kNoLimit" if rule.until is None else str(rule.until)
        spans = [
            arrays.name("ImportTensor", _tensors(rule.inputs)),
            arrays.name("ImportTensor", _tensors(rule.outputs)),
            arrays.name("ImportAttr", [_attr(op, attr) for attr in rule.attrs]),
        ]
        names = [_text(rule.format), _text(rule.domain), _text(rule.type), str(rule.since), until, _text(op.name)]
        rows.append(f"    {{{', '.join([*names, *spans])}}},\n")
    if not rows:
        return ""
    return "".join([*arrays.lines, "\nconstexpr ImportRule kRules[] = {\n", *rows, "};\n"])


def emit_import(ops: list[Op], target: Target) -> str:
    rules = emit_rules(ops)
    lines = [target.banner, '\n#include "importer/import_rule.h"\n', "\nnamespace wherry {\n"]
    if rules:
        lines += ["namespace {\n\n", rules, "\n}  // namespace\n"]
    lines.append(
        "\nstd::span<const ImportRule> BuiltinImportRules() { return " + ("kRules" if rules else "{}") + "; }\n"
    )
    lines.append("\n}  // namespace wherry\n")
    return "".join(lines)
