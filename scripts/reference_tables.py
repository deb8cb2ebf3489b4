#!/usr/bin/env python3
"""Writes what the built command says is supported into docs/reference/operators.md and paddle.md and, as counts, into the READMEs.

    reference_tables.py [--wherry PATH] [--check]

Needs PyYAML, as the build does: run it with the system's Python (Debian's python3-yaml), not with .venv's.
--check writes nothing, and exits with 1 if a file is not as it would be written: `make test` runs it. In the READMEs the
text between <!-- counts --> and <!-- /counts --> is replaced.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import paddle_reference

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORMATS = {"onnx": "ONNX", "paddle": "ProgramDesc", "pir": "PIR"}
BUILT = "(*)"


def listed(wherry: pathlib.Path, what: str) -> list[dict]:
    ran = subprocess.run([str(wherry), "list", what, "--json"], check=True, capture_output=True, text=True)
    return json.loads(ran.stdout)


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def opsets(entry: dict) -> str:
    if entry["until"] < 0:
        return "all" if entry["since"] <= 1 else f"{entry['since']} and later"
    return f"{entry['since']} to {entry['until']}"


def first_sentence(doc: str) -> str:
    return re.split(r"(?<=\.) (?=[A-Z])", doc)[0]


def count(imports: list[dict]) -> dict[str, int]:
    return {key: len({entry["type"] for entry in imports if entry["format"] == key}) for key in FORMATS}


def reference(ops: list[dict], imports: list[dict]) -> str:
    counts = count(imports)
    text = f"""# Supported formats and operators

Written by `scripts/reference_tables.py` from `wherry list`; `wherry show MODEL --check` says whether a certain model runs.

| format | files | operators |
|---|---|---|
| ONNX | `.onnx`, external data; opsets 6 to 28 | {counts["onnx"]} |
| Paddle ProgramDesc | `.pdmodel` + `.pdiparams`, `__model__` and its parameter files | {counts["paddle"]} |
| Paddle 3 PIR | `.json` + `.pdiparams` | {counts["pir"]} |
| Wherry | `.wry`, written by `wherry opt` | {len(ops)} |

Control flow (ONNX's `If`, `Loop` and `Scan`; Paddle's conditional blocks, `if` and `while`) is read beside these.
{BUILT}: becomes one or several of Wherry's, as its inputs and attributes ask.

## ONNX

"""
    rows = [[f"`{e['type']}`", opsets(e), f"`{e['op']}`" if e["op"] else BUILT] for e in imports if e["format"] == "onnx"]
    text += table(["operator", "opsets", "becomes"], rows)
    text += "\n## Paddle\n\n"
    paddle: dict[str, dict[str, str]] = {}
    for entry in imports:
        if entry["format"] != "onnx":
            paddle.setdefault(entry["type"], {})[entry["format"]] = f"`{entry['op']}`" if entry["op"] else BUILT
    rows = [[f"`{name}`", row.get("paddle", ""), row.get("pir", "")] for name, row in sorted(paddle.items())]
    text += table(["operator", "in a ProgramDesc becomes", "in PIR becomes"], rows)
    text += "\n## Wherry's own\n\n"
    return text + table(["operator", ""], [[f"`{op['name']}`", first_sentence(op["doc"])] for op in ops])


def with_counts(readme: str, ops: list[dict], imports: list[dict]) -> str:
    counts = count(imports)
    chinese = "中文" not in readme.split("\n", 3)[2]
    sentence = (
        f"{len(ops)} 个算子；可读取 {counts['onnx']} 个 ONNX 算子、{counts['paddle']} 个 Paddle ProgramDesc 算子和 {counts['pir']} 个 Paddle 3 PIR 算子"
        if chinese
        else f"{len(ops)} operators; {counts['onnx']} of ONNX, {counts['paddle']} of Paddle's ProgramDesc and {counts['pir']} of Paddle 3's PIR are read"
    )
    return re.sub(r"(<!-- counts -->).*?(<!-- /counts -->)", rf"\g<1>{sentence}\2", readme, flags=re.DOTALL)


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes docs/reference/*.md and the READMEs' counts.")
    parser.add_argument("--wherry", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "wherry")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    ops = listed(arguments.wherry, "ops")
    imports = listed(arguments.wherry, "imports")
    files = {
        ROOT / "docs" / "reference" / "operators.md": reference(ops, imports),
        ROOT / "docs" / "reference" / "paddle.md": paddle_reference.page(ops, imports, listed(arguments.wherry, "kernels")),
    }
    for readme in (ROOT / "README.md", ROOT / "README.zh.md"):
        files[readme] = with_counts(readme.read_text(encoding="utf-8"), ops, imports)
    stale = [path for path, text in files.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if arguments.check:
            print(f"{path.relative_to(ROOT)} is not up to date: run {sys.executable} scripts/reference_tables.py", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if stale and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
