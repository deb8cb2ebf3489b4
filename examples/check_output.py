#!/usr/bin/env python3
"""Runs an example and compares what it prints with what is expected.

    check_output.py EXPECTED PROGRAM [ARGUMENT...]

EXPECTED holds the lines, in order. A line that begins with "re:" is a regular expression. A line "optional:" and the
lines below it that are indented by four spaces are a block that may be absent as a whole. The program must exit with
status 0.
"""

import dataclasses
import pathlib
import re
import subprocess
import sys


@dataclasses.dataclass
class Block:
    optional: bool
    lines: list[str]


def read_expected(path: pathlib.Path) -> list[Block]:
    blocks: list[Block] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line == "optional:":
            blocks.append(Block(True, []))
        elif blocks and blocks[-1].optional and line.startswith("    "):
            blocks[-1].lines.append(line[4:])
        else:
            blocks.append(Block(False, [line]))
    return blocks


def matches(expected: str, line: str) -> bool:
    if expected.startswith("re:"):
        return re.fullmatch(expected[3:], line) is not None
    return expected == line


def compare(blocks: list[Block], printed: list[str]) -> str | None:
    """None if the lines are as expected, else what is wrong."""
    position = 0
    for block in blocks:
        found = printed[position : position + len(block.lines)]
        if len(found) == len(block.lines) and all(map(matches, block.lines, found)):
            position += len(found)
        elif not block.optional:
            return f"line {position + 1}: expected {block.lines[0]!r}, found {found[0] if found else 'the end'!r}"
    return None if position == len(printed) else f"line {position + 1}: expected the end, found {printed[position]!r}"


def main(argv: list[str]) -> int:
    if len(argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    run = subprocess.run(argv[1:], capture_output=True, text=True, timeout=300)
    problem = compare(read_expected(pathlib.Path(argv[0])), run.stdout.splitlines())
    if run.returncode != 0:
        problem = f"exit status {run.returncode}"
    if problem is not None:
        print(f"{problem}\nIt printed:\n{run.stdout}{run.stderr}", file=sys.stderr)
        return 1
    print(run.stdout, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
