"""op/ops.gen.cc: a constant OpDescriptor for every operator, and the table of them."""

import slim
from model import Arg, Op, Output
from output import Target
from values import attribute_text, quoted

_TRAITS = {
    "unary": "kTraitUnary",
    "binary": "kTraitBinary",
    "commutative": "kTraitCommutative",
    "dynamic_output": "kTraitDynamicOutput",
    "control_flow": "kTraitControlFlow",
    "random": "kTraitRandom",
    "sequence": "kTraitSequence",
}


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _arg(arg: Arg) -> str:
    kind = f"ArgKind::{arg.type.kind}"
    if arg.is_tensor:
        return f"{{{quoted(arg.name)}, {kind}}}"
    default = quoted(attribute_text(arg.type, arg.default.value)) if arg.default else "nullptr"
    return f"{{{quoted(arg.name)}, {kind}, AttrType::{arg.type.attr}, {default}}}"


def _output(output: Output) -> str:
    flags = [output.is_list, output.optional, output.intermediate]
    while flags and not flags[-1]:
        flags.pop()
    return "{" + ", ".join([quoted(output.name), *map(_bool, flags)]) + "}"


def _array(type_: str, name: str, items: list[str]) -> str:
    if not items:
        return ""
    line = f"constexpr {type_} {name}[] = {{{', '.join(items)}}};\n"
    if len(line) <= 120:
        return line
    return f"constexpr {type_} {name}[] = {{\n" + "".join(f"    {item},\n" for item in items) + "};\n"


def _descriptor(op: Op) -> tuple[str, str]:
    """The arrays that the descriptor refers to, in a namespace of their own, and the descriptor."""
    arrays: dict[str, str] = {}

    def array(field: str, type_: str, items: list[str]) -> str:
        name = "k" + "".join(part.capitalize() for part in field.split("_"))
        arrays[name] = _array(type_, name, items)
        return f"{op.name}_op::{name}" if items else "{}"

    def indices(field: str, values: tuple[int, ...]) -> str:
        return array(field, "int8_t", [str(value) for value in values])

    traits = [_TRAITS[trait] for trait in op.traits] + (["kTraitView"] if op.view else [])
    infer = f"&InferMetaImpl<&{op.infer_func}>::Call" if op.infer_func else "nullptr"
    fields = {
        "name": quoted(op.name),
        "doc": quoted(op.doc),
        "args": array("args", "ArgDef", [_arg(arg) for arg in op.args]),
        "outputs": array("outputs", "OutputDef", [_output(output) for output in op.outputs]),
        "infer_meta": infer,
        "infer_meta_params": indices("infer_meta_params", op.infer_params),
        "kernel": quoted(op.kernel or op.name),
        "kernel_params": indices("kernel_params", op.kernel_params),
        "data_type_rule": indices("data_type_rule", op.data_type_rule),
        "backend_rule": indices("backend_rule", op.backend_rule),
        "layout_rule": indices("layout_rule", op.layout_rule),
        "traits": " | ".join(traits) or "0",
        "block_count": str(op.blocks),
        "inplace": array("inplace", "ArgOutputPair", [f"{{{arg}, {output}}}" for arg, output in op.inplace]),
        "support_trans_dtype": indices("support_trans_dtype", op.support_trans_dtype),
        "skip_transform": indices("skip_transform", op.skip_transform),
        "promote": _bool(op.promote),
        "aliases": array("aliases", "const char*", [quoted(alias) for alias in op.aliases]),
    }
    constants = f"namespace {op.name}_op {{\n" + "".join(arrays.values()) + f"}}  // namespace {op.name}_op\n"
    body = "".join(f"    .{field} = {value},\n" for field, value in fields.items())
    return constants, "= {\n" + body + "};\n"


def emit_constants(ops: list[Op]) -> str:
    """The arrays that the descriptors refer to, in namespaces of their own."""
    return "".join(_descriptor(op)[0] + "\n" for op in ops)


def emit_descriptors(ops: list[Op], declaration: str) -> str:
    """The descriptors, each declared as `declaration` wherry_op_NAME."""
    return "".join(f"{declaration} wherry_op_{op.name} {_descriptor(op)[1]}\n" for op in ops)


def emit_schema(ops: list[Op], target: Target) -> str:
    """All descriptors, and the table of those that the target keeps: the linker drops what nothing refers to."""
    lines = [target.banner, "\n"]
    if ops:
        lines.append('#include "op/infer/infer_meta.h"\n')
    lines += ['#include "op/infer_meta_context.h"\n', '#include "op/schema_registry.h"\n', "\nnamespace wherry {\n"]
    if ops:
        lines += ["namespace {\n\n", emit_constants(ops), "}  // namespace\n"]
    lines += ["\n", emit_descriptors(ops, 'extern "C" constinit const OpDescriptor')]
    lines.append("std::span<const OpDescriptor* const> BuiltinOps() {\n")
    kept = ops if target.slim is None else slim.keep(target.slim.ops, ops, lambda op: op.name, "op")
    if kept:
        lines.append("  static constexpr const OpDescriptor* kTable[] = {\n")
        lines += [f"      &wherry_op_{op.name},\n" for op in kept]
        lines.append("  };\n  return kTable;\n")
    else:
        lines.append("  return {};\n")
    lines.append("}\n\n}  // namespace wherry\n")
    return "".join(lines)
