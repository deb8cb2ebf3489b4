#!/usr/bin/env python3
"""Checks that every pass (a file src/passes/<phase>/x.cc that registers one) has its golden test x.wir beside it.

    check_goldens.py [CHECKOUT]
"""

import pathlib
import re
import sys

from check_report import report

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


if __name__ == "__main__":
    sys.exit(report(check_tree))
