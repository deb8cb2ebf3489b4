#!/usr/bin/env python3
"""Writes docs/reference/onnx.md: every operator of ONNX with its opsets and its tests, what is missing, and why.

    onnx_reference.py [--wherry PATH] [--check]

From the operators that the onnx wheel describes, `wherry list imports`, and the tests that
tests/conformance/onnx/expected.txt says do not pass (onnx_conformance sees to it that it says the truth). --check writes
nothing, and exits with 1 if the page is not as it would be written. Runs with .venv's Python.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")

import onnx  # noqa: E402
from onnx.backend.test.loader import load_model_tests  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "onnx.md"
EXPECTED = ROOT / "tests" / "conformance" / "onnx" / "expected.txt"
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")
# Those that own graphs have neither a rule nor a converter.
CONTROL_FLOW = {("", "If"), ("", "Loop"), ("", "Scan"), ("", "SequenceMap"), ("ai.onnx.preview", "FlexAttention")}
# Why an operator is not there.
MISSING = {
    "ImageDecoder": "images are decoded outside of networks",
    "Bernoulli": "random",
    "Multinomial": "random",
    "RandomNormal": "random",
    "RandomNormalLike": "random",
    "RandomUniform": "random",
    "RandomUniformLike": "random",
    "MaxRoiPool": "replaced by RoiAlign in models; not done",
}
MISSING_DOMAINS = {"ai.onnx.preview.training": "training", "ai.onnx.ml": "classical learning other than trees; not done"}


def expected() -> list[tuple[str, str, list[str]]]:
    """(outcome, reason, tests) as the file groups them."""
    groups: list[tuple[str, str, list[str]]] = []
    for line in EXPECTED.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            outcome, _, reason = line[2:].partition(": ")
            groups.append((outcome, reason, []))
        elif line and not line.startswith("//"):
            groups[-1][2].append(line)
    return groups


def imported(wherry: pathlib.Path) -> set[tuple[str, str]]:
    ran = subprocess.run([str(wherry), "list", "imports", "--json"], check=True, capture_output=True, text=True)
    names = {entry["type"] for entry in json.loads(ran.stdout) if entry["format"] == "onnx"}
    known = set(CONTROL_FLOW)
    for domain in DOMAINS:
        prefix = domain.replace(".", "_") + "_" if domain else ""
        known |= {(domain, name[len(prefix) :]) for name in names if name.startswith(prefix)}
    return known


def tested_operator(test) -> tuple[str, str] | None:
    """Of a node test that is no expanded function: the operator of its only node."""
    if test.model is None or test.name.endswith("_expanded") or len(test.model.graph.node) != 1:
        return None
    node = test.model.graph.node[0]
    return ("" if node.domain == "ai.onnx" else node.domain, node.op_type)


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes docs/reference/onnx.md.")
    parser.add_argument("--wherry", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "wherry")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    groups = expected()
    failing = {name for _, _, names in groups for name in names}
    known = imported(arguments.wherry)
    kinds: dict[str, list[str]] = {}
    per_op: dict[tuple[str, str], list[str]] = collections.defaultdict(list)
    for kind in KINDS:
        tests = load_model_tests(kind=kind)
        kinds[kind] = [test.name for test in tests]
        for test in tests:
            if (operator := tested_operator(test)) is not None:
                per_op[operator].append(test.name)

    text = f"""# ONNX

Written by `scripts/onnx_reference.py`. Opsets 6 to 28 and IR versions up to 14 are read, operators of `com.microsoft` too
([operators.md](operators.md) lists them). A function without kernels of its own is built of other operators.

## ONNX's own tests

The tests of `onnx.backend.test` (onnx {onnx.__version__}), each with the optimised network and without any pass.

| kind | tests | pass |
|---|---|---|
"""
    for kind, names in kinds.items():
        text += f"| {kind} | {len(names)} | {sum(name not in failing for name in names)} |\n"
    everything = [name for names in kinds.values() for name in names]
    text += f"| **all** | **{len(everything)}** | **{sum(name not in failing for name in everything)}** |\n"
    text += "\n## Tests that do not pass\n\n"
    for outcome, reason, names in groups:
        verb = {"skip": "not run", "error": "refused with an error", "wrong": "other numbers"}[outcome]
        text += f"- {reason} ({verb}, {len(names)}): {', '.join(f'`{name}`' for name in names)}\n"
    text += "\n## Operators\n\nVersions are the opsets in which the operator changed; tests are those of the operator alone that pass.\n"
    for domain in DOMAINS:
        versions: dict[str, list[int]] = collections.defaultdict(list)
        for schema in onnx.defs.get_all_schemas_with_history():
            if schema.domain == domain:
                versions[schema.name].append(schema.since_version)
        text += f"\n### {domain or 'ai.onnx'}\n\n| operator | versions | tests | |\n|---|---|---|---|\n"
        for name, since in sorted(versions.items()):
            tests = per_op[domain, name]
            passed = f"{sum(test not in failing for test in tests)} of {len(tests)}" if tests else ""
            why = "" if (domain, name) in known else "missing: " + MISSING.get(name, MISSING_DOMAINS.get(domain, "not done"))
            text += f"| {name} | {', '.join(str(v) for v in sorted(set(since)))} | {passed} | {why} |\n"
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    if arguments.check:
        print(f"{PAGE.relative_to(ROOT)} is not up to date: run scripts/onnx_reference.py", file=sys.stderr)
        return 1
    PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
