#!/usr/bin/env python3
"""Installs the headers: the public ones, and below wherry/detail/ the internal ones that wherry/extend.h needs.

    install_headers.py --source CHECKOUT --gen BUILD/gen --dest PREFIX/include

An internal header is included in the tree as "layer/x.h". So that nothing but wherry/ appears in a user's include path,
each such line becomes "wherry/detail/layer/x.h" in what is installed. Fails when a header that is installed includes one
that is not.
"""

import argparse
import pathlib
import re
import sys

LAYERS = ("base", "core", "op", "kernel", "ir", "pass", "importer", "eager")
# What extend.h needs of layers that are not installed otherwise.
SINGLE = ("predictor/cxx_load.h",)
_INCLUDE = re.compile(r'^(\s*#\s*include\s+")([^"]+)(")', re.MULTILINE)


def collect(source: pathlib.Path, gen: pathlib.Path) -> dict[str, pathlib.Path]:
    """Include path as written in the tree -> file."""
    headers = {}
    for root in (source / "include", gen):
        headers |= {str(p.relative_to(root)): p for p in sorted((root / "wherry").rglob("*.h"))}
    for root in (source / "src", gen):
        for layer in LAYERS:
            headers |= {str(p.relative_to(root)): p for p in sorted((root / layer).rglob("*.h"))}
    headers |= {name: source / "src" / name for name in SINGLE}
    return {name: path for name, path in headers.items() if not re.search(r"_test(_util)?\.h$", name)}


def installed_name(name: str) -> str:
    return name if name.startswith("wherry/") else "wherry/detail/" + name


def rewrite(name: str, text: str, headers: dict[str, pathlib.Path]) -> str:
    def replace(match: re.Match) -> str:
        if match.group(2) not in headers:
            raise ValueError(f'{name} is installed, but includes "{match.group(2)}", which is not')
        return match.group(1) + installed_name(match.group(2)) + match.group(3)

    return _INCLUDE.sub(replace, text)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--gen", type=pathlib.Path, required=True)
    parser.add_argument("--dest", type=pathlib.Path, required=True)
    options = parser.parse_args(argv)
    headers = collect(options.source, options.gen)
    try:
        texts = {name: rewrite(name, path.read_text(encoding="utf-8"), headers) for name, path in headers.items()}
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name, text in texts.items():
        target = options.dest / installed_name(name)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    print(f"-- Installed: {len(texts)} headers below {options.dest}/wherry")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
