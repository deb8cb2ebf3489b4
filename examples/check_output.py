#!/usr/bin/env python3
"""Runs an example and compares what it prints with what is expected.

    check_output.py [--tolerance T] EXPECTED PROGRAM [ARGUMENT...]

EXPECTED holds the lines, in order. A line that begins with "re:" is a regular expression. A line "optional:" and the
lines below it that are indented by four spaces are a block that may be absent as a whole. With --tolerance, numbers with
a point may differ by T. The program must exit with status 0.
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


NUMBER = re.compile(r"-?\d+\.\d+")


def matches(expected: str, line: str, tolerance: float) -> bool:
    if expected.startswith("re:"):
        return re.fullmatch(expected[3:], line) is not None
    if NUMBER.sub("#", expected) != NUMBER.sub("#", line):
        return False
    numbers = zip(NUMBER.findall(expected), NUMBER.findall(line))
    return all(a == b or abs(float(a) - float(b)) <= tolerance for a, b in numbers)


def compare(blocks: list[Block], printed: list[str], tolerance: float) -> str | None:
    """None if the lines are as expected, else what is wrong."""
    position = 0
    for block in blocks:
        found = printed[position : position + len(block.lines)]
        if len(found) == len(block.lines) and all(
            matches(*pair, tolerance) for pair in zip(block.lines, found)
        ):
            position += len(found)
        elif not block.optional:
            return f"line {position + 1}: expected {block.lines[0]!r}, found {found[0] if found else 'the end'!r}"
    return None if position == len(printed) else f"line {position + 1}: expected the end, found {printed[position]!r}"


def main(argv: list[str]) -> int:
    tolerance = 0.0
    if len(argv) > 1 and argv[0] == "--tolerance":
        tolerance = float(argv[1])
        argv = argv[2:]
    if len(argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    run = subprocess.run(argv[1:], capture_output=True, text=True, timeout=300)
    problem = compare(read_expected(pathlib.Path(argv[0])), run.stdout.splitlines(), tolerance)
    if run.returncode != 0:
        problem = f"exit status {run.returncode}"
    if problem is not None:
        print(f"{problem}\nIt printed:\n{run.stdout}{run.stderr}", file=sys.stderr)
        return 1
    print(run.stdout, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
