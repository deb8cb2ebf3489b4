"""Tests of check_layers.py: the tree keeps the rules, and violations planted in a small tree are found."""

import pathlib
import shutil
import tempfile
import unittest

import check_layers

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copy(CHECKOUT / "LAYERS", self.root)

    def write(self, name, *includes):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#pragma once\n" + "".join(f'#include "{include}"\n' for include in includes), encoding="utf-8")

    def check(self):
        return check_layers.check_tree(self.root)

    def test_downwards_is_allowed(self):
        self.write("src/kernel/registry.cc", "kernel/registry.h", "op/schema.h", "core/tensor.h", "wherry/types.h")
        self.write("src/kernels/cpu/conv/winograd.cc", "kernels/cpu/simd/isa.h", "kernel/key.h", "hwy/highway.h")
        self.write("src/builtin/graph_half.cc", "passes/fuse/x.h", "importers/onnx/y.h")
        self.assertEqual(self.check(), [])

    def test_upwards_is_refused_with_file_line_and_what_is_allowed(self):
        self.write("src/core/tensor.cc", "core/tensor.h", "ir/graph.h")
        self.assertEqual(
            self.check(), ['src/core/tensor.cc:3: "ir/graph.h" may not be included here: core sees: base']
        )

    def test_sideways_is_refused(self):
        self.write("src/kernels/cpu/relu.cc", "kernels/onednn/compat.h")
        self.write("src/passes/fuse/x.cc", "kernels/cpu/relu.h", "importers/onnx/onnx.h")
        self.assertEqual(len(self.check()), 3)

    def test_kernels_never_see_the_graph(self):
        self.write("src/kernels/ref/relu.cc", "ir/graph.h")
        self.write("src/eager/dispatch.cc", "ir/graph.h", "builtin/graph.h", "builtin/kernels.h")
        self.assertEqual(len(self.check()), 3)

    def test_public_headers_have_layers(self):
        self.write("src/core/dtype.cc", "wherry/types.h", "wherry/predictor.h")
        self.write("include/wherry/tensor.h", "wherry/types.h", "ir/graph.h")
        self.write("include/wherry/novelty.h")
        errors = self.check()
        self.assertEqual(len(errors), 3)
        self.assertIn("include/wherry/novelty.h: belongs to no layer", errors[0] + errors[1] + errors[2])

    def test_tools_see_public_headers_only(self):
        self.write("tools/run.cc", "wherry/predictor.h", "npz.h", "tools/npz.h", "nlohmann/json.hpp")
        self.assertEqual(self.check(), [])
        self.write("tools/opt.cc", "pass/manager.h")
        self.assertEqual(len(self.check()), 1)

    def test_unit_tests_see_everything(self):
        self.write("src/base/pool_test.cc", "predictor/cxx_predictor.h")
        self.assertEqual(self.check(), [])

    def test_a_path_without_a_folder_is_refused(self):
        self.write("src/core/shape.cc", "shape.h")
        self.assertEqual(len(self.check()), 1)

    def test_an_unknown_layer_in_the_table_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "core sees bass"):
            check_layers.parse_layers("base :\ncore : bass\n")

    def test_this_checkout(self):
        self.assertEqual(check_layers.check_tree(CHECKOUT), [])


if __name__ == "__main__":
    unittest.main()
