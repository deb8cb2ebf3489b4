"""The driver: what it lists is what it writes, what is wrong ends it, and what does not change is not touched."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CODEGEN = pathlib.Path(__file__).resolve().parent.parent
GOOD = """\
- api : gain
  args : (const Tensor& x, float factor = 2)
  output : Tensor
  infer_meta :
    func : GainInferMeta
  kernel :
    func : gain
"""


class OpgenTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.out = self.root / "out"

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def opgen(self, *args):
        ran = subprocess.run(
            [sys.executable, "-B", str(CODEGEN / "opgen.py"), *map(str, args)],
            capture_output=True,
            text=True,
            check=False,
        )
        return ran.returncode, ran.stdout, ran.stderr

    def files(self):
        return sorted(str(path.relative_to(self.out)) for path in self.out.rglob("*") if path.is_file())

    def test_it_writes_what_it_lists(self):
        self.write("ops/gain.yaml", GOOD)
        self.write("src/op/infer/infer_meta.h", "MetaTensor GainInferMeta(const MetaTensor& x, float factor);\n")
        status, listed, errors = self.opgen("--ops", self.root / "ops", "--out", self.out, "--list-outputs")
        self.assertEqual((status, errors), (0, ""))
        self.assertFalse(self.out.exists())
        self.assertEqual(self.opgen("--ops", self.root / "ops", "--out", self.out), (0, "", ""))
        self.assertEqual(self.files(), sorted(listed.split()))
        before = {name: (self.out / name).stat().st_mtime_ns for name in self.files()}
        self.assertEqual(self.opgen("--ops", self.root / "ops", "--out", self.out), (0, "", ""))
        self.assertEqual({name: (self.out / name).stat().st_mtime_ns for name in self.files()}, before)

    def test_no_operators_at_all(self):
        (self.root / "ops").mkdir()
        self.assertEqual(self.opgen("--ops", self.root / "ops", "--out", self.out), (0, "", ""))
        self.assertIn("return {};", (self.out / "op/ops.gen.cc").read_text())

    def test_what_is_wrong_is_said_and_nothing_is_written(self):
        self.write("ops/gain.yaml", GOOD.replace("Tensor& x", "Tensr& x"))
        self.write("src/op/infer/infer_meta.h", "")
        status, _, errors = self.opgen("--ops", self.root / "ops", "--out", self.out)
        self.assertEqual(status, 1)
        self.assertEqual(errors, "ops/gain.yaml:2:11: args: unknown type 'Tensr'; did you mean 'Tensor'?\n")
        self.assertFalse(self.out.exists())

    def test_the_header_of_the_infer_meta_functions_is_needed(self):
        self.write("ops/gain.yaml", GOOD)
        status, _, errors = self.opgen("--ops", self.root / "ops", "--out", self.out)
        self.assertEqual(status, 1)
        self.assertIn("src/op/infer/infer_meta.h:1: the header of the InferMeta functions does not exist", errors)

    def test_an_extension(self):
        entry = self.write("gain.yaml", GOOD)
        header = self.write(
            "gain_infer.h", "wherry::MetaTensor GainInferMeta(const wherry::MetaTensor& x, float factor);\n"
        )
        args = ["--extension", "mine", "--files", entry, "--infer-meta", header, "--out", self.out]
        status, listed, _ = self.opgen(*args, "--list-outputs")
        self.assertEqual((status, listed.split()), (0, ["mine_ops.h", "mine_ops.cc"]))
        self.assertEqual(self.opgen(*args), (0, "", ""))
        self.assertEqual(self.files(), ["mine_ops.cc", "mine_ops.h"])
        self.assertIn(f'#include "{header}"', (self.out / "mine_ops.cc").read_text())
        self.assertIn("Tensor gain(const Tensor& x, float factor = 2.0F);", (self.out / "mine_ops.h").read_text())

    def test_an_extension_file_that_is_not_there(self):
        status, _, errors = self.opgen("--extension", "mine", "--files", self.root / "no.yaml", "--out", self.out)
        self.assertEqual((status, errors), (1, f"{self.root}/no.yaml:1: there is no such file\n"))

    def test_pages(self):
        self.write("ops/gain.yaml", GOOD + "  doc : x times `factor`.\n")
        self.write("src/op/infer/infer_meta.h", "MetaTensor GainInferMeta(const MetaTensor& x, float factor);\n")
        self.assertEqual(self.opgen("--ops", self.root / "ops", "--docs", self.out), (0, "", ""))
        self.assertEqual(self.files(), ["gain.md", "index.md"])
        self.assertIn("| [gain](gain.md) | x times `factor`. |", (self.out / "index.md").read_text())


if __name__ == "__main__":
    unittest.main()
