#!/usr/bin/env python3
"""Builds and runs what a page of docs/howto shows, against an installed Wherry.

    howto_test.py --source CHECKOUT --document PAGE --prefix PREFIX --work DIR --compiler CXX

Every block of code is a file. NAME.txt is what the program NAME prints. Passes are built as the tree would, too.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys


def run(*command: object, cwd: pathlib.Path | None = None) -> str:
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=cwd)
    assert ran.returncode == 0, f"{command} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def check_in_tree(arguments: argparse.Namespace, files: dict[str, str]) -> None:
    """The passes as files of src/passes: collected, and compiled to a descriptor that the table refers to."""
    tree = arguments.work / "tree"
    headers = '#include "ir/fuse_base.h"\n#include "pass/pass_registry.h"'
    sources = {name: text for name, text in files.items() if re.search(r"_(fuser|fuse_pass)\.", name)}
    for name, text in sources.items():
        text = text.replace('#include "fc_fuser.h"', '#include "passes/fuse/fc_fuser.h"')
        path = tree / "src/passes/fuse" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace('#include "wherry/extend.h"', headers), encoding="utf-8")
    run(sys.executable, arguments.source / "codegen/collect.py", "--src", tree / "src", "--out", tree / "gen",
        "--folders", "passes/fuse")  # fmt: skip
    assert "wherry_pass_lite_fc_fuse_pass" in (tree / "gen/graph.gen.cc").read_text(encoding="utf-8")
    for name in sources:
        if name.endswith(".cc"):
            run(arguments.compiler, "-std=c++20", "-DWHERRY_BUILTIN", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-c",
                f"-I{tree}/src", f"-I{arguments.source}/src", f"-I{arguments.source}/include",
                tree / "src/passes/fuse" / name, "-o", tree / f"{name}.o")  # fmt: skip
    symbols = run("nm", tree / "lite_fc_fuse_pass.cc.o")
    assert " R wherry_pass_lite_fc_fuse_pass" in symbols or " D wherry_pass_lite_fc_fuse_pass" in symbols, symbols


def main() -> None:
    parser = argparse.ArgumentParser()
    for option in ("--source", "--document", "--prefix", "--work", "--compiler"):
        parser.add_argument(option, required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    sys.path[:0] = [str(arguments.source / "scripts"), str(arguments.source / "examples")]
    import check_output
    import document_files

    unnamed = document_files.unnamed_blocks(arguments.document)
    assert not unnamed, f"a block of code that no test sees:\n{unnamed[0]}"
    files = document_files.files_in(arguments.document)
    programs = [name.removesuffix(".txt") for name in files if name.endswith(".txt") and name != "CMakeLists.txt"]
    assert programs, "the page shows no program"

    shutil.rmtree(arguments.work, ignore_errors=True)
    document_files.write_files(files, arguments.work)
    build = arguments.work / "build"
    run("cmake", "-S", arguments.work, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={arguments.prefix}",
        f"-DCMAKE_CXX_COMPILER={arguments.compiler}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")  # fmt: skip
    run("cmake", "--build", build)
    for program in programs:
        printed = run(build / program, cwd=arguments.work)
        expected = check_output.read_expected(arguments.work / f"{program}.txt")
        problem = check_output.compare(expected, printed.splitlines(), 0.0)
        assert problem is None, f"{program}: {problem}\nIt printed:\n{printed}"
    if any(name.endswith("_pass.cc") for name in files):
        check_in_tree(arguments, files)


if __name__ == "__main__":
    main()
