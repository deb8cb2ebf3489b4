#!/usr/bin/env python3
"""Runs the commands of docs/explain.md and looks at what they write.

usage: explain_test.py WHERRY DOCUMENT PROGRAM

PROGRAM is the document's C++.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import small_model

WHERRY = ""
DOCUMENT = pathlib.Path()
PROGRAM = ""


class ExplainTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "model.onnx").write_bytes(small_model.chain(["x", "m", "n", "y"]))

    def run_wherry(self, *arguments, code=0):
        ran = subprocess.run([WHERRY, *arguments], capture_output=True, cwd=self.folder, timeout=120, check=False)
        self.assertEqual(ran.returncode, code, (arguments, ran.stderr))
        return ran.stdout.decode("utf-8", "replace")

    def page_data(self, name="report.html"):
        page = (self.folder / name).read_text(encoding="utf-8")
        found = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
        self.assertEqual(len(found), 1)
        return json.loads(found[0])

    def test_the_document(self):
        commands = re.findall(r"^```sh\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        lines = [line for block in commands for line in block.splitlines()]
        self.assertGreater(len(lines), 15)
        for line in lines:
            words, _, target = line.partition(" > ")
            self.assertEqual(words.split()[0], "wherry")
            out = self.run_wherry(*words.split()[1:])
            if target:
                (self.folder / target).write_text(out, encoding="utf-8")
        xml.etree.ElementTree.parse(self.folder / "graph.svg")
        self.assertIn("digraph", (self.folder / "graph.dot").read_text())
        json.loads((self.folder / "graph.json").read_text())

    def test_the_documents_program(self):
        ran = subprocess.run([PROGRAM], capture_output=True, text=True, cwd=self.folder, timeout=120, check=True)
        self.assertIn(": ref:", ran.stdout)  # what a kernel of another type says

    def test_report(self):
        self.run_wherry("opt", "model.onnx", "--report", "report.html", "--shape", "x:3x4", "--measure")
        self.run_wherry("opt", "model.onnx", "--report", "report.json", "--shape", "x:3x4")
        data = self.page_data()
        plain = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(set(data), set(plain))
        self.assertEqual(data["memory"]["inputs"], {"x": "f32[3,4]"})
        self.assertGreater(data["measured_us"], 0)
        self.assertEqual(plain["measured_us"], -1)
        self.assertTrue(all(len(block["nodes"]) for block in data["before"] + data["after"]))
        ran = [each for each in data["passes"] if each["ran"]]
        self.assertTrue(ran and any(each["changes"] for each in ran))

    def test_opt_says_in_short_what_it_did(self):
        lines = self.run_wherry("opt", "model.onnx", "-o", "model.wry").splitlines()
        self.assertRegex(lines[1], r"^\d+ -> \d+ ops in \d+\.\d ms; \d+ of \d+ passes changed something")
        self.assertIn("--report", lines[-1])
        self.assertEqual(len(lines), 4)
        self.assertEqual(self.run_wherry("opt", "model.wry", "-o", "again.wry").splitlines()[1:], ["no pass ran", "wrote again.wry"])
        self.assertIn("wrote passes.txt", self.run_wherry("opt", "model.onnx", "--report", "passes.txt"))
        report = (self.folder / "passes.txt").read_text()
        self.assertIn("static_kernel_pick_pass", report)
        self.assertEqual(report.splitlines()[-1].split(" in ")[0], lines[1].split(" in ")[0])

    def test_hostile_names(self):
        names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "__proto__", "a\"'&\u2028]]>\x01", "12"]
        (self.folder / "model.onnx").write_bytes(small_model.chain(names))
        self.run_wherry("opt", "model.onnx", "--report", "report.html")
        data = self.page_data()
        self.assertEqual(data["before"][0]["inputs"], names[:1])
        self.assertEqual(data["before"][0]["outputs"], names[-1:])
        text = xml.etree.ElementTree.fromstring(self.run_wherry("show", "model.onnx", "--format", "svg")).itertext()
        self.assertTrue(any(name.startswith("</script>") for name in text))

    def test_inputs_come_before_weights(self):
        text = self.run_wherry("show", "model.onnx")
        self.assertLess(text.index("block main(%x"), text.index("weight %w"))

    def test_profile(self):
        self.run_wherry("run", "model.onnx", "--profile", "trace.json", "--shape", "x:3x4")
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        names = {event["name"] for event in events if event["ph"] == "X" and event["tid"] == 1}
        self.assertTrue({"import", "optimize", "bind kernels", "infer_shapes_pass"} <= names, names)
        run = sorted((event for event in events if event["ph"] == "X" and event["tid"] == 2), key=lambda e: e["ts"])
        shown = json.loads(self.run_wherry("show", "model.onnx", "--optimized", "--format", "json"))
        self.assertEqual([e["name"] for e in run if e["cat"] == "op"], [op["type"] for op in shown["blocks"][0]["ops"]])
        self.assertEqual([e["name"] for e in run if e["cat"] == "runtime"],
                         ["check inputs", "plan", "pack weights", "bind memory", "collect outputs"])  # fmt: skip

    def test_bench_keeps_what_worked(self):
        out = self.run_wherry("bench", "nothing.onnx", "model.onnx", "--seconds", "0.05", "--json", "--ops", code=1)
        results = json.loads(out)
        self.assertIn("nothing.onnx", results[0]["error"])
        self.assertGreater(results[1]["p50_ms"], 0)
        self.assertAlmostEqual(sum(op["share"] for op in results[1]["ops"] if op["depth"] == 0), 1, places=2)

    def test_options_that_make_no_sense(self):
        self.run_wherry("opt", "model.onnx", code=2)
        self.run_wherry("opt", "model.onnx", "-o", "m.wry", "--measure", code=2)
        self.run_wherry("opt", "model.onnx", "--report", "model.onnx", code=1)
        self.run_wherry("show", "model.onnx", "--explain", "nothing_like_it", code=1)


if __name__ == "__main__":
    WHERRY = sys.argv[1]
    DOCUMENT = pathlib.Path(sys.argv[2])
    PROGRAM = sys.argv[3]
    unittest.main(argv=sys.argv[:1])
