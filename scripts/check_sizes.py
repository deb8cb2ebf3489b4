#!/usr/bin/env python3
"""Checks that files stay small: none over 800 lines (an error), most under 400 (a warning).

    check_sizes.py [CHECKOUT]
"""

import pathlib
import subprocess
import sys

from check_report import report

SOFT_LIMIT = 400
HARD_LIMIT = 800
_SUFFIXES = {".h", ".cc", ".cu", ".cl", ".inc", ".py", ".cmake"}


def check(files: dict[str, int]) -> tuple[list[str], list[str]]:
    """Errors and warnings for files with their numbers of lines."""
    errors = [f"{name}: {lines} lines, over {HARD_LIMIT}: split it" for name, lines in files.items() if lines > HARD_LIMIT]
    warnings = [f"{name}: {lines} lines, over {SOFT_LIMIT}: think of splitting it" for name, lines in files.items() if SOFT_LIMIT < lines <= HARD_LIMIT]
    return errors, warnings


def source_files(root: pathlib.Path) -> dict[str, int]:
    """Tracked and new source files with their numbers of lines."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True,
    ).stdout.split("\0")
    files = {}
    for name in sorted(set(listed)):
        path = root / name
        if path.suffix in _SUFFIXES and path.is_file():
            files[name] = len(path.read_bytes().splitlines())
    return files


def check_tree(root: pathlib.Path) -> list[str]:
    """The errors; prints the warnings."""
    errors, warnings = check(source_files(root))
    for warning in warnings:
        print(f"warning: {warning}")
    return errors


if __name__ == "__main__":
    sys.exit(report(check_tree))
