#!/usr/bin/env python3
"""Compiles each installed header alone: the public ones as C++17, those for extending Wherry as C++20, without warnings.

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


def standard_of(header: str) -> str:
    return "c++20" if header in EXTENDING or header.startswith("wherry/detail/") else "c++17"


def compile_alone(compiler: str, include: pathlib.Path, header: str) -> str:
    """What the compiler says about a file that only includes the header; empty if nothing."""
    command = [compiler, f"-std={standard_of(header)}", *WARNINGS, f"-I{include}", "-fsyntax-only", "-x", "c++", "-"]
    ran = subprocess.run(command, input=f"#include <{header}>\n", capture_output=True, text=True, check=False)
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
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as executor:
        messages = list(executor.map(lambda header: compile_alone(options.compiler, include, header), headers))
    failed = [(header, message) for header, message in zip(headers, messages) if message]
    for header, message in failed:
        print(f"{header} does not compile alone as {standard_of(header)}:\n{message}", file=sys.stderr)
    print(f"{len(headers) - len(failed)} of {len(headers)} headers compile alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
