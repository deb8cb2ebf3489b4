#!/usr/bin/env python3
"""Generates everything that follows from the operators' YAML files.

    opgen.py --ops ops --out build/gen                   Wherry's own: descriptors, API, import tables, test cases
    opgen.py --files a.yaml b.yaml --extension NAME --out DIR [--infer-meta HEADER]
                                                         the operators of a program or plug-in: descriptors that
                                                         register themselves, and their API in NAME_ops.h
    opgen.py --ops ops --docs DIR                        the reference pages, one per operator

    --list-outputs    prints what would be written, one path relative to --out a line, and writes nothing

An entry that cannot be right ends it with FILE:LINE: MESSAGE on standard error. A file is rewritten only when its
content changes.
"""

import argparse
import pathlib
import sys
from typing import Callable

sys.dont_write_bytecode = True

import slim  # noqa: E402
from emit_api import emit_api  # noqa: E402
from emit_cases import emit_cases  # noqa: E402
from emit_docs import emit_index, emit_page  # noqa: E402
from emit_eager import emit_eager  # noqa: E402
from emit_extension import emit_extension  # noqa: E402
from emit_import import emit_import  # noqa: E402
from emit_schema import emit_schema  # noqa: E402
from errors import Place, SpecError  # noqa: E402
from infer_header import InferFunctions  # noqa: E402
from load import load_files  # noqa: E402
from model import Op  # noqa: E402
from output import Target, write_if_changed  # noqa: E402

Emitter = Callable[[list[Op], Target], str]
_ROOT = pathlib.Path(__file__).resolve().parent.parent


def products(target: Target) -> dict[str, Emitter]:
    """Output path -> what makes its text."""
    if target.extension:
        return {f"{target.extension}_ops.h": emit_api, f"{target.extension}_ops.cc": emit_extension}
    return {
        "wherry/ops.h": emit_api,
        "op/ops.gen.cc": emit_schema,
        "eager/ops.gen.cc": emit_eager,
        "importer/import_rules.gen.cc": emit_import,
        "conformance/cases.gen.cc": emit_cases,
    }


def read_ops(options: argparse.Namespace) -> tuple[list[Op], list[SpecError]]:
    if options.ops is not None:
        root = options.ops.resolve().parent
        paths = sorted(options.ops.resolve().rglob("*.yaml"))
        names = {path: str(path.relative_to(root)) for path in paths}
        header = options.infer_meta or root / "src" / "op" / "infer" / "infer_meta.h"
        header_name = "src/op/infer/infer_meta.h"
    else:
        paths = list(options.files)
        names = {path: str(path) for path in paths}
        header = options.infer_meta
        header_name = str(header)
    for path in paths:
        if not path.is_file():
            return [], [SpecError(Place(names[path], 1), "there is no such file")]
    if paths and header is not None and not header.is_file():
        return [], [SpecError(Place(header_name, 1), "the header of the InferMeta functions does not exist")]
    return load_files(paths, InferFunctions(header if paths else None, header_name), names)


def target_of(options: argparse.Namespace) -> Target:
    if options.extension:
        include = str(options.infer_meta.resolve()) if options.infer_meta else None
        return Target("the target's YAML files", options.extension, include)
    return Target("ops/*.yaml", slim=slim.read(options.slim) if options.slim else None)


def parse_options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sources = parser.add_mutually_exclusive_group(required=True)
    sources.add_argument("--ops", type=pathlib.Path, metavar="DIR", help="Wherry's own ops/")
    sources.add_argument("--files", type=pathlib.Path, nargs="+", metavar="FILE", help="YAML files of an extension")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--extension", metavar="NAME")
    parser.add_argument("--infer-meta", type=pathlib.Path, metavar="HEADER", help="declares the InferMeta functions")
    parser.add_argument("--slim", type=pathlib.Path, metavar="FILE", help="keep only the ops that it names (slim.py)")
    parser.add_argument("--docs", type=pathlib.Path, metavar="DIR", help="write the reference pages there")
    parser.add_argument("--list-outputs", action="store_true")
    options = parser.parse_args(argv)
    if (options.files is None) != (options.extension is None):
        parser.error("--files and --extension go together")
    if options.out is None and (options.docs is None or options.list_outputs):
        parser.error("--out is needed")
    return options


def main(argv: list[str]) -> int:
    try:
        return generate(parse_options(argv))
    except slim.SlimError as error:
        print(error, file=sys.stderr)
        return 1


def generate(options: argparse.Namespace) -> int:
    target = target_of(options)
    outputs = products(target)
    if options.list_outputs:
        print("\n".join(outputs))
        return 0
    ops, errors = read_ops(options)
    for error in errors:
        print(error, file=sys.stderr)
    if errors:
        return 1
    if options.out is not None:
        for path, emit in outputs.items():
            write_if_changed(options.out / path, emit(ops, target))
    if options.docs is not None:
        write_if_changed(options.docs / "index.md", emit_index(ops))
        for op in ops:
            write_if_changed(options.docs / f"{op.name}.md", emit_page(op))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
