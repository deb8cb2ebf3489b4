#!/usr/bin/env python3
"""A .wry that was stored on another CPU: with its packed weights it runs on every instruction set, with the same results.

usage: other_cpu_test.py WHERRY
"""

import array
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

WHERRY = ""
SETS = ("sse4", "avx2", "avx512")

# Products, convolutions of each kind, and what runs between them.
NETWORK = """
weight %w : f32[32,16,3,3] = [{w}]
weight %d : f32[32,1,3,3] = [{d}]
weight %p : f32[32,10] = [{p}]
block main(%x : f32[2,16,12,12]) -> (%y) {{
  %a = conv2d(x: %x, filter: %w) {{paddings = [1, 1, 1, 1]}}
  %b = relu(x: %a)
  %c = conv2d(x: %b, filter: %d) {{paddings = [1, 1, 1, 1], groups = 32, strides = [2, 2]}}
  %e = gelu(x: %c)
  %f = mean(x: %e) {{axis = [2, 3]}}
  %g = matmul(x: %f, y: %p)
  %y = softmax(x: %g)
}}
"""


def numbers(count):
    return ", ".join(str(((i * 7919) % 201 - 100) / 500) for i in range(count))


class OtherCpuTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "model.wir").write_text(NETWORK.format(w=numbers(32 * 16 * 9), d=numbers(32 * 9), p=numbers(320)))

    def wherry(self, isa, *arguments):
        environment = dict(os.environ, WHERRY_ISA=isa)
        ran = subprocess.run([WHERRY, *arguments], capture_output=True, text=True, cwd=self.folder, env=environment,
                             timeout=120, check=False)  # fmt: skip
        self.assertEqual(ran.returncode, 0, (isa, arguments, ran.stderr))
        return ran.stdout

    def result(self, isa, model):
        self.wherry(isa, "run", model, "--outputs", "out.npz")
        with zipfile.ZipFile(self.folder / "out.npz") as file:
            data = file.read(file.namelist()[0])
        values = array.array("f", data[10 + int.from_bytes(data[8:10], "little") :])
        self.assertEqual(len(values), 20)
        return values

    def test_every_set_runs_what_every_other_stored(self):
        expected = self.result(SETS[0], "model.wir")
        self.assertGreater(max(expected), 0.1)
        for stored in SETS:
            for pack in ((), ("--pack",)):
                self.wherry(stored, "opt", "model.wir", "-o", "model.wry", *pack)
                for isa in SETS:
                    for x, y in zip(self.result(isa, "model.wry"), expected):
                        self.assertAlmostEqual(x, y, delta=1e-6)

    def test_a_kernel_that_is_not_there_is_picked_again(self):
        self.wherry(SETS[0], "opt", "model.wir", "--dump", "dump", "-o", "model.wry")
        last = sorted((self.folder / "dump").glob("*.wir"))[-1]
        text = last.read_text()
        changed = re.sub(r"#cpu:auto/", "#cpu:faster/", text)
        self.assertNotEqual(text, changed)
        last.write_text(changed)
        shown = self.wherry(SETS[0], "show", str(last), "--passes", "none")
        self.assertIn("cpu:faster", shown)
        for x, y in zip(self.result(SETS[1], str(last)), self.result(SETS[1], "model.wir")):
            self.assertAlmostEqual(x, y, delta=1e-6)


if __name__ == "__main__":
    WHERRY = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
