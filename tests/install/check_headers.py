#!/usr/bin/env python3
"""Compiles each installed public header alone (C++17; those for extending Wherry C++20), and the headers below
wherry/detail together, without warnings.

    check_headers.py --prefix PREFIX --compiler g++

Nothing but PREFIX/include is in the include path, so a header that needs one that was not installed fails.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Wnon-virtual-dtor", "-Wpedantic", "-Werror")
# The headers that may need C++20: their users write kernels and passes.
EXTENDING = ("wherry/extend.h", "wherry/compat.h")


def compile_only(compiler: str, include: pathlib.Path, headers: tuple[str, ...]) -> str:
    """What the compiler says about a file that only includes the headers; empty if nothing."""
    is_cxx17 = not any(header in EXTENDING or header.startswith("wherry/detail/") for header in headers)
    standard = "c++17" if is_cxx17 else "c++20"
    command = [compiler, f"-std={standard}", *WARNINGS, f"-I{include}", "-fsyntax-only", "-x", "c++", "-"]
    text = "".join(f"#include <{header}>\n" for header in headers)
    ran = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return ran.stderr if ran.returncode == 0 else ran.stderr or f"status {ran.returncode}"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args(argv)
    include = options.prefix / "include"
    headers = sorted(str(path.relative_to(include)) for path in (include / "wherry").rglob("*.h"))
    stray = [str(p.relative_to(include)) for p in include.iterdir() if p.name != "wherry"]
    if not headers or stray:
        print(f"{include}: expected wherry/ and nothing else, found {headers[:1] + stray}", file=sys.stderr)
        return 1
    details = tuple(header for header in headers if header.startswith("wherry/detail/"))
    units = [(header,) for header in headers if header not in details] + [details]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as executor:
        messages = list(executor.map(lambda unit: compile_only(options.compiler, include, unit), units))
    failed = [(unit, message) for unit, message in zip(units, messages) if message]
    for unit, message in failed:
        print(f"{unit[0]}{' and the other details' if len(unit) > 1 else ''}:\n{message}", file=sys.stderr)
    print(f"{len(units) - 1} public headers alone, {len(details)} others together: {len(failed)} of these failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
