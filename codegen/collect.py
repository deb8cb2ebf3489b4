#!/usr/bin/env python3
"""Collects the registrations of the built-in collections into tables.

    collect.py --src src --out build/gen/builtin --folders kernels/ref passes/fuse ... [--slim FILE]

Reads the sources of the named folders for registration macros at the start of a line and writes kernels.gen.cc (kernels,
providers) and graph.gen.cc (passes, importers, converters): tables that take every descriptor's address. So a
registration cannot be lost by the linker, and one that is missing or there twice is a link error that names it.
A file is rewritten only when its content changes.
"""

import argparse
import dataclasses
import pathlib
import re
import sys

sys.dont_write_bytecode = True

import slim  # noqa: E402


class CollectError(Exception):
    """A registration that cannot be right; the message begins with file:line."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """A registration macro: what it fills in of its symbol, and the table that its descriptor goes to."""

    macro: str
    symbol: str  # a format over the macro's leading arguments
    num_args: int  # how many leading arguments the symbol needs; more may follow
    table: str


KINDS = {
    kind.macro: kind
    for kind in (
        Kind("REGISTER_KERNEL", "wherry_kernel_{0}_{1}_{2}_{3}", 4, "BuiltinKernels"),
        Kind("REGISTER_KERNEL_VARIANT", "wherry_kernel_{0}_{1}_{2}_{3}_{4}_{5}", 6, "BuiltinKernels"),
        Kind("REGISTER_PROVIDER", "wherry_provider_{0}", 1, "BuiltinProviders"),
        Kind("REGISTER_MIR_PASS", "wherry_pass_{0}", 1, "BuiltinPasses"),
        Kind("REGISTER_IMPORTER", "wherry_importer_{0}", 1, "BuiltinImporters"),
        Kind("REGISTER_CONVERTER", "wherry_converter_{0}_{1}", 2, "BuiltinConverters"),
    )
}


@dataclasses.dataclass(frozen=True)
class Table:
    """A function that returns the descriptors of one kind."""

    function: str
    header: str
    descriptor: str


FILES = {
    "kernels.gen.cc": (
        Table("BuiltinKernels", "kernel/kernel_registry.h", "KernelDescriptor"),
        Table("BuiltinProviders", "kernel/provider.h", "ProviderDescriptor"),
    ),
    "graph.gen.cc": (
        Table("BuiltinPasses", "pass/pass_registry.h", "PassDescriptor"),
        Table("BuiltinImporters", "importer/importer.h", "ImporterDescriptor"),
        Table("BuiltinConverters", "importer/importer.h", "ConverterDescriptor"),
    ),
}


@dataclasses.dataclass(frozen=True)
class Registration:
    macro: str
    args: tuple[str, ...]  # the leading arguments, identifiers
    where: str  # file:line

    @property
    def symbol(self) -> str:
        return KINDS[self.macro].symbol.format(*self.args)

    @property
    def kernel_id(self) -> str | None:
        """A kernel's provider, operator and variant: "cpu:conv2d:auto"."""
        if KINDS[self.macro].table != "BuiltinKernels":
            return None
        op, provider, variant, *_ = self.args
        return f"{provider}:{op}" + (f":{variant}" if self.macro == "REGISTER_KERNEL_VARIANT" else "")


_MACRO = re.compile(r"^(%s)\s*\(" % "|".join(sorted(KINDS, key=len, reverse=True)), re.MULTILINE)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")
# String and character literals are matched so that a comment opener inside one is left alone.
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def blank_comments(text: str) -> str:
    """The text with comments blanked out, lines kept."""

    def blank(match: re.Match) -> str:
        found = match.group()
        return re.sub(r"[^\n]", " ", found) if found.startswith("/") else found

    return _COMMENT.sub(blank, text)


def scan(path: pathlib.Path, name: str) -> list[Registration]:
    """The registrations in one source file; `name` is how messages call it."""
    text = blank_comments(path.read_text(encoding="utf-8"))
    found = []
    for match in _MACRO.finditer(text):
        kind = KINDS[match.group(1)]
        where = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
        args = []
        position = match.end()
        for _ in range(kind.num_args):
            argument = re.compile(r"\s*([^,()]*?)\s*([,)])").match(text, position)
            if argument is None or not _IDENTIFIER.match(argument.group(1)):
                raise CollectError(
                    f"{where}: argument {len(args) + 1} of {kind.macro} must be an identifier (it names the symbol)"
                )
            args.append(argument.group(1))
            position = argument.end()
            if argument.group(2) == ")":
                break
        if len(args) < kind.num_args:
            raise CollectError(f"{where}: {kind.macro} takes at least {kind.num_args} arguments, found {len(args)}")
        found.append(Registration(kind.macro, tuple(args), where))
    return found


def check(registrations: list[Registration]) -> None:
    """Raises for a name that is taken, and for a pass whose file is not called like it."""
    taken: dict[str, Registration] = {}
    for registration in registrations:
        other = taken.setdefault(registration.symbol, registration)
        if other is not registration:
            raise CollectError(f"{registration.where}: {registration.symbol} is registered at {other.where} already")
        if registration.macro == "REGISTER_MIR_PASS":
            stem = pathlib.PurePath(registration.where.rsplit(":", 1)[0]).stem
            if stem != registration.args[0]:
                raise CollectError(
                    f"{registration.where}: pass {registration.args[0]} must be in a file of its name, "
                    f"{registration.args[0]}.cc (it is in {stem}.cc)"
                )


def emit(tables: tuple[Table, ...], registrations: list[Registration]) -> str:
    """The text of one generated file."""
    lines = ["// Generated by codegen/collect.py from the registrations in the sources. Do not edit.", ""]
    lines += ["#include <span>", ""]
    lines += [f'#include "{header}"' for header in sorted({table.header for table in tables})]
    symbols = {
        table: sorted(r.symbol for r in registrations if KINDS[r.macro].table == table.function) for table in tables
    }
    if any(symbols.values()):
        lines += ["", 'extern "C" {']
        for table in tables:
            lines += [f"extern const ::wherry::{table.descriptor} {symbol};" for symbol in symbols[table]]
        lines += ["}"]
    lines += ["", "namespace wherry {"]
    for table in tables:
        lines += ["", f"std::span<const {table.descriptor}* const> {table.function}() {{"]
        if symbols[table]:
            lines += [f"  static constexpr const {table.descriptor}* kTable[] = {{"]
            lines += [f"      &{symbol}," for symbol in symbols[table]]
            lines += ["  };", "  return kTable;"]
        else:
            lines += ["  return {};"]
        lines += ["}"]
    lines += ["", "}  // namespace wherry", ""]
    return "\n".join(lines)


def write_if_changed(path: pathlib.Path, text: str) -> None:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def sources_of(folder: pathlib.Path) -> list[pathlib.Path]:
    """The sources that the build compiles into the library (unit tests, benchmarks and test helpers are not)."""
    return sorted(p for p in folder.rglob("*.cc") if not re.search(r"_(test|bench|test_util)$", p.stem))


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--src", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--folders", nargs="*", default=[], help="below --src")
    parser.add_argument("--slim", type=pathlib.Path, help="keep only the kernels that this file names (slim.py)")
    options = parser.parse_args(argv)
    try:
        registrations = []
        for folder in options.folders:
            for path in sources_of(options.src / folder):
                registrations += scan(path, str(path.relative_to(options.src)))
        check(registrations)
        if options.slim:
            kernels = [r for r in registrations if r.kernel_id is not None]
            kept = slim.keep(slim.read(options.slim).kernels, kernels, lambda r: r.kernel_id, "kernel")
            registrations = [r for r in registrations if r.kernel_id is None] + kept
    except (CollectError, slim.SlimError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name, tables in FILES.items():
        write_if_changed(options.out / name, emit(tables, registrations))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
