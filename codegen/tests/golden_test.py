"""Golden output: what is generated from golden/sample.yaml, to the letter. WHERRY_UPDATE_GOLDENS=1 rewrites it."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from emit_api import emit_api  # noqa: E402
from emit_cases import emit_cases  # noqa: E402
from emit_docs import emit_page  # noqa: E402
from emit_eager import emit_eager  # noqa: E402
from emit_extension import emit_extension  # noqa: E402
from emit_import import emit_import  # noqa: E402
from emit_schema import emit_schema  # noqa: E402
from infer_header import InferFunctions  # noqa: E402
from load import load_text  # noqa: E402
from output import Target  # noqa: E402

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
EMITTERS = {
    "schema.cc": emit_schema,
    "ops.h": emit_api,
    "eager.cc": emit_eager,
    "import_rules.cc": emit_import,
    "cases.cc": emit_cases,
    "sample.md": lambda ops, target: emit_page(next(op for op in ops if op.name == "sample")),
}


class GoldenTest(unittest.TestCase):
    def check(self, name, emit, target):
        errors = []
        ops = load_text("ops/sample.yaml", (GOLDEN / "sample.yaml").read_text(), InferFunctions(None), errors)
        self.assertEqual(errors, [])
        ops.sort(key=lambda op: op.name)
        text = emit(ops, target)
        if os.environ.get("WHERRY_UPDATE_GOLDENS"):
            (GOLDEN / f"{name}.txt").write_text(text)
        self.maxDiff = None
        self.assertEqual(text, (GOLDEN / f"{name}.txt").read_text(), f"see golden/{name}.txt")

    def test_products(self):
        for name, emit in EMITTERS.items():
            with self.subTest(name):
                self.check(name, emit, Target("ops/*.yaml"))

    def test_extension(self):
        """An out-of-tree target's descriptors register themselves, and its code includes installed headers."""
        target = Target("the target's YAML files", "mine", "mine/infer_meta.h")
        self.check("extension.cc", emit_extension, target)


if __name__ == "__main__":
    unittest.main()
