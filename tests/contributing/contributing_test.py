#!/usr/bin/env python3
"""The files that CONTRIBUTING.md shows, taken as they stand there: contributing_test.py CHECKOUT COMPILER"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(SOURCE / "scripts"))
import document_files  # noqa: E402


def run(*command: object, text: str = "") -> str:
    """What the command says when it fails."""
    ran = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr if ran.returncode else ""


class ContributingTest(unittest.TestCase):
    def setUp(self):
        self.files = document_files.files_in(SOURCE / "CONTRIBUTING.md")

    def test_there_are_an_operator_a_kernel_and_a_pass(self):
        folders = sorted(str(pathlib.PurePath(name).parent) for name in self.files)
        self.assertEqual(folders, ["ops", "src/kernels/ref", "src/passes/fuse"])

    def test_the_generator_takes_the_operator(self):
        with tempfile.TemporaryDirectory() as folder:
            ops = pathlib.Path(folder) / "ops"
            shutil.copytree(SOURCE / "ops", ops)
            for name, text in self.files.items():
                if name.startswith("ops/"):
                    (ops.parent / name).write_text(text, encoding="utf-8")
            header = SOURCE / "src/op/infer/infer_meta.h"
            failure = run(sys.executable, SOURCE / "codegen/opgen.py", "--ops", ops, "--infer-meta", header, "--out",
                          ops.parent / "gen")
            self.assertEqual(failure, "")

    def test_the_compiler_takes_the_kernel_and_the_pass(self):
        for name, text in self.files.items():
            if name.endswith(".cc"):
                failure = run(COMPILER, "-std=c++20", "-DWHERRY_BUILTIN", "-Wall", "-Wextra", "-Wshadow", "-Werror",
                              f"-I{SOURCE}/src", f"-I{SOURCE}/include", "-fsyntax-only", "-x", "c++", "-", text=text)
                self.assertEqual(failure, "", name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
