"""Tests of check_sizes.py, check_goldens.py and check_constructors.py."""

import pathlib
import shutil
import tempfile
import unittest

import check_constructors
import check_goldens
import check_sizes


class CheckSizesTest(unittest.TestCase):
    def test_limits(self):
        errors, warnings = check_sizes.check({"a.cc": 400, "b.cc": 401, "c.cc": 800, "d.cc": 801})
        self.assertEqual(errors, ["d.cc: 801 lines, over 800: split it"])
        self.assertEqual([warning.split(",")[0] for warning in warnings], ["b.cc: 401 lines", "c.cc: 800 lines"])


class CheckGoldensTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.phase = self.root / "src" / "passes" / "fuse"
        self.phase.mkdir(parents=True)
        (self.phase / "fc_fuse_pass.cc").write_text("REGISTER_MIR_PASS(fc_fuse_pass, FcFusePass);\n")

    def test_a_pass_needs_its_golden(self):
        self.assertEqual(
            check_goldens.check_tree(self.root),
            ["src/passes/fuse/fc_fuse_pass.cc: has no golden test fc_fuse_pass.wir beside it"],
        )
        (self.phase / "fc_fuse_pass.wir").write_text("")
        self.assertEqual(check_goldens.check_tree(self.root), [])

    def test_a_helper_needs_none(self):
        (self.phase / "fc_fuse_pass.wir").write_text("")
        (self.phase / "epilogue_steps.cc").write_text("int x;\n")
        (self.phase / "fc_fuse_pass_test.cc").write_text("REGISTER_MIR_PASS(a_pass, A);\n")
        self.assertEqual(check_goldens.check_tree(self.root), [])

    def test_a_golden_needs_its_pass(self):
        (self.phase / "fc_fuse_pass.wir").write_text("")
        (self.phase / "fc_fuze_pass.wir").write_text("")
        self.assertEqual(len(check_goldens.check_tree(self.root)), 1)


class CheckConstructorsTest(unittest.TestCase):
    LISTING = """In archive libwherry.a:

a.cc.o:     file format elf64-x86-64

Sections:
Idx Name          Size      VMA               LMA               File off  Algn
  0 .text         00000000  0000000000000000  0000000000000000  00000040  2**0

b.cc.o:     file format elf64-x86-64

Sections:
  5 .init_array   00000008  0000000000000000  0000000000000000  00000070  2**3
  6 .rela.init_array 00000018  0000000000000000  0000000000000000  00000070  2**3
"""

    def test_finds_the_object(self):
        self.assertEqual(check_constructors.objects_with_constructors(self.LISTING), ["b.cc.o"])


if __name__ == "__main__":
    unittest.main()
