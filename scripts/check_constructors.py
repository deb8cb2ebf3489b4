#!/usr/bin/env python3
"""Checks that an archive runs no code before main: no object in it has a global constructor.

    check_constructors.py libwherry.a

Wherry's registrations are constants (see REGISTER_MIR_PASS), so a constructor is an accident: it costs start-up time in
every program that links the library, and its order is undefined.
"""

import re
import subprocess
import sys


def objects_with_constructors(listing: str) -> list[str]:
    """The objects in the output of `objdump -h ARCHIVE` that have a section of pointers to constructors."""
    found = []
    name = ""
    for line in listing.splitlines():
        if match := re.match(r"(\S+):\s+file format", line):
            name = match.group(1)
        elif re.search(r"\s\.(init_array|ctors)(\.\d+)?\s", line) and name not in found:
            found.append(name)
    return found


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    listing = subprocess.run(["objdump", "-h", argv[0]], check=True, capture_output=True, text=True).stdout
    if "file format" not in listing:
        print(f"{argv[0]}: holds no objects", file=sys.stderr)
        return 1
    found = objects_with_constructors(listing)
    for name in found:
        print(f"{argv[0]}({name}): has a global constructor", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
