#!/usr/bin/env python3
"""Which plug-ins a process loads by itself: default_plugins_test.py LIST_KERNELS LIBWHERRY SAMPLE_PLUGIN PASS_PLUGIN [--onednn]"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LIBRARY, SAMPLE, PASS = map(pathlib.Path, sys.argv[1:5])
HAS_ONEDNN = "--onednn" in sys.argv[5:]


def run(plugins: str | None = None, library_folder: pathlib.Path | None = None) -> subprocess.CompletedProcess:
    env = {k: v for k, v in os.environ.items() if k != "WHERRY_PLUGINS"}
    if plugins is not None:
        env["WHERRY_PLUGINS"] = plugins
    if library_folder is not None:
        env["LD_LIBRARY_PATH"] = str(library_folder)
    return subprocess.run([PROGRAM], env=env, capture_output=True, text=True, timeout=120)


class DefaultPluginsTest(unittest.TestCase):
    def test_the_known_ones_beside_the_library(self):
        result = run()
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual("kernel onednn:conv2d:direct" in result.stdout, HAS_ONEDNN)
        self.assertEqual("provider onednn" in result.stdout, HAS_ONEDNN)
        self.assertNotIn("provider sample", result.stdout)

    def test_none(self):
        result = run("none")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertNotIn("onednn", result.stdout)
        self.assertIn("kernel ref:cos", result.stdout)

    def test_a_list(self):
        result = run(f":{SAMPLE}:")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("kernel sample:cos", result.stdout)
        self.assertIn("provider sample", result.stdout)
        self.assertNotIn("onednn", result.stdout)

    def test_passes_are_there_before_a_kernel_is_used(self):
        self.assertIn("pass wrong_tanh_pass", run(str(PASS)).stdout)
        self.assertNotIn("pass wrong_tanh_pass", run("none").stdout)

    def test_a_list_with_a_missing_one(self):
        result = run(f"{SAMPLE}:/nowhere/libx.so")
        self.assertEqual(result.returncode, 1)
        self.assertIn("plug-in '/nowhere/libx.so' does not exist", result.stdout)
        self.assertIn("while loading the plug-ins that WHERRY_PLUGINS names", result.stdout)

    def test_a_broken_known_one_is_a_warning(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            soname = LIBRARY.name.split(".so")[0] + ".so." + LIBRARY.name.split(".so.")[1].split(".")[0]
            shutil.copy(LIBRARY, folder / soname)
            result = run(library_folder=folder)
            self.assertEqual(result.returncode, 0, result.stdout)
            self.assertEqual(result.stderr, "")
            self.assertNotIn("onednn", result.stdout)  # the copy's folder has none

            (folder / "libwherry_onednn.so").write_text("no library")
            result = run(library_folder=folder)
            self.assertEqual(result.returncode, 0, result.stdout)
            self.assertIn("libwherry_onednn.so' cannot be loaded", result.stderr)
            self.assertIn("kernel ref:cos", result.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
