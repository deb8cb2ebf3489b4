#!/usr/bin/env python3
"""Builds and runs the programs in the README as its reader would, against an installed Wherry.

    readme_test.py --source CHECKOUT --prefix PREFIX --work DIR --model MODEL --compiler CXX
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys


def run(*command: object) -> str:
    ran = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 0, f"{command} ended with {ran.returncode}:\n{ran.stdout}"
    return ran.stdout


def main() -> None:
    parser = argparse.ArgumentParser()
    for option in ("--source", "--prefix", "--work", "--model", "--compiler"):
        parser.add_argument(option, required=True, type=pathlib.Path)
    arguments = parser.parse_args()

    sys.path.insert(0, str(arguments.source / "scripts"))
    from document_files import files_in, write_files

    files = files_in(arguments.source / "README.md")
    assert set(files) == {"CMakeLists.txt", "main.cc", "ops.cc"}, set(files)
    assert files == files_in(arguments.source / "README.zh.md"), "the two READMEs show different programs"
    shutil.rmtree(arguments.work, ignore_errors=True)
    write_files(files, arguments.work)
    with (arguments.work / "CMakeLists.txt").open("a") as cmake:
        cmake.write("add_executable(ops ops.cc)\ntarget_link_libraries(ops PRIVATE wherry::wherry)\n")

    build = arguments.work / "build"
    run("cmake", "-S", arguments.work, "-B", build, f"-DCMAKE_PREFIX_PATH={arguments.prefix}",
        f"-DCMAKE_CXX_COMPILER={arguments.compiler}")  # fmt: skip
    run("cmake", "--build", build)
    promised = re.search(r"// (f32\S+ = .*)", files["ops.cc"]).group(1)
    printed = run(build / "ops").strip()
    assert printed == promised, f"ops.cc prints {printed!r}, and says {promised!r}"
    printed = run("cmake", "-E", "chdir", arguments.work, build / "app", arguments.model)
    assert printed.startswith("f32[1,2] = "), printed
    assert run("cmake", "-E", "chdir", arguments.work, build / "app", "model.wry") == printed


if __name__ == "__main__":
    main()
