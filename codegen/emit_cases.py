"""conformance/cases.gen.cc: the entries' test cases, for tests/conformance."""

import math

from model import Case, CaseTensor, Op
from output import Target
from values import attribute_text, find_enumerator, quoted

# Greatest relative errors where an entry says nothing: some units in the last place.
_TOLERANCE = {"f64": 1e-12, "f32": 1e-6, "f16": 2e-3, "bf16": 2e-2}


def _double(value: float) -> str:
    if math.isnan(value):
        return "kNan"
    if math.isinf(value):
        return "kInf" if value > 0 else "-kInf"
    return repr(float(value))


def _spell_out(tensor: CaseTensor) -> str:
    return f"{tensor.dtype}[{','.join(map(str, tensor.shape))}]"


def _label(case: Case) -> str:
    """The case's text with the types that were picked from sets."""
    parts = []
    for name, value in case.args.items():
        if isinstance(value, CaseTensor):
            parts.append(f"{name}: {_spell_out(value)}")
        elif isinstance(value, list) and any(isinstance(item, CaseTensor) for item in value):
            parts.append(f"{name}: [{', '.join(map(_spell_out, value))}]")
        else:
            parts.append(f"{name}: {getattr(value, 'name', value)}")
    return ", ".join(parts)


class _Writer:
    """Collects the constant arrays of one operator."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[tuple[str, str], str] = {}

    def array(self, type_: str, items: list[str]) -> str:
        if not items:
            return "{}"
        body = ", ".join(items)
        if (type_, body) not in self._names:
            name = f"k{len(self._names)}"
            self._names[(type_, body)] = name
            self.lines.append(f"constexpr {type_} {name}[] = {{{body}}};\n")
        return self._names[(type_, body)]

    def tensor(self, tensor: CaseTensor) -> str:
        dtype = find_enumerator("DataType", tensor.dtype)
        shape = self.array("int64_t", [str(dim) for dim in tensor.shape])
        low, high = (1.0, 0.0) if tensor.low is None else (tensor.low, tensor.high)
        values = self.array("double", [_double(value) for value in tensor.values or ()])
        return f"{{DataType::{dtype}, {shape}, {_double(low)}, {_double(high)}, {values}}}"

    def case(self, op: Op, case: Case) -> str:
        args = []
        for name, value in case.args.items():
            index = op.arg_index(name)
            tensors = value if isinstance(value, list) else [value]
            is_tensor = op.args[index].is_tensor or isinstance(value, CaseTensor)
            if is_tensor:
                args.append(f"{{{index}, {self.array('CaseTensor', [self.tensor(t) for t in tensors])}}}")
            else:
                args.append(f"{{{index}, {{}}, {quoted(attribute_text(op.args[index].type, value))}}}")
        return f"{{{quoted(_label(case))}, {self.array('CaseArg', args)}}}"


def _op(op: Op) -> tuple[str, str]:
    writer = _Writer()
    cases = [writer.case(op, case) for case in op.cases]
    tolerance = _TOLERANCE | op.tolerance
    text = f"namespace {op.name}_op {{\n" + "".join(writer.lines)
    text += "constexpr Case kCases[] = {\n" + "".join(f"    {case},\n" for case in cases) + "};\n"
    text += f"}}  // namespace {op.name}_op\n"
    bounds = ", ".join(_double(tolerance[key]) for key in _TOLERANCE)
    return text, f"    {{&wherry_op_{op.name}, {op.name}_op::kCases, {{{bounds}}}}},\n"


def emit_cases(ops: list[Op], target: Target) -> str:
    ops = [op for op in ops if op.cases]
    parts = [_op(op) for op in ops]
    lines = [target.banner, "\n#include <limits>\n\n", '#include "conformance/case.h"\n', "\nnamespace wherry {\n"]
    lines.append(
        '\nextern "C" {\n' + "".join(f"extern const OpDescriptor wherry_op_{op.name};\n" for op in ops) + "}\n"
    )
    lines.append("\nnamespace conformance {\nnamespace {\n\n")
    lines.append("[[maybe_unused]] constexpr double kNan = std::numeric_limits<double>::quiet_NaN();\n")
    lines.append("[[maybe_unused]] constexpr double kInf = std::numeric_limits<double>::infinity();\n\n")
    lines += [text + "\n" for text, _ in parts]
    if parts:
        lines.append("const OpCases kAllCases[] = {\n" + "".join(row for _, row in parts) + "};\n\n")
    lines.append(
        "}  // namespace\n\nstd::span<const OpCases> AllCases() { return " + ("kAllCases" if parts else "{}") + "; }\n"
    )
    lines.append("\n}  // namespace conformance\n}  // namespace wherry\n")
    return "".join(lines)
