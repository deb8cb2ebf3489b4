#!/usr/bin/env python3
"""Checks that every pass (a file src/passes/<phase>/x.cc that registers one) has its golden test x.wir beside it.

    check_goldens.py [CHECKOUT]
"""

import pathlib
import re
import sys

_REGISTERS = re.compile(r"^REGISTER_MIR_PASS\s*\(", re.MULTILINE)


def check_tree(root: pathlib.Path) -> list[str]:
    errors = []
    passes = root / "src" / "passes"
    for path in sorted(passes.rglob("*.cc")):
        if not path.stem.endswith("_test") and _REGISTERS.search(path.read_text(encoding="utf-8")):
            if not path.with_suffix(".wir").is_file():
                errors.append(f"{path.relative_to(root)}: has no golden test {path.stem}.wir beside it")
    for path in sorted(passes.rglob("*.wir")):
        if not path.with_suffix(".cc").is_file():
            errors.append(f"{path.relative_to(root)}: there is no pass {path.stem}.cc beside it")
    return errors


def main(argv: list[str]) -> int:
    root = pathlib.Path(argv[0]) if argv else pathlib.Path(__file__).resolve().parent.parent
    errors = check_tree(root)
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
