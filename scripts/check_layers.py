#!/usr/bin/env python3
"""Checks that includes point downwards, as the file LAYERS says.

    check_layers.py [CHECKOUT]

Prints file:line, what is included and what may be, for each include that is not allowed; exits with 1 if there is any.
"""

import fnmatch
import pathlib
import re
import sys

from check_report import report

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
_FREE = re.compile(r"_(test|bench|test_util)\.(cc|h)$")
_SUFFIXES = {".h", ".cc", ".cu", ".inc"}


def parse_layers(text: str) -> tuple[dict[str, set[str]], dict[str, str]]:
    """The layers with what each sees, and the layer of each public header."""
    layers: dict[str, set[str]] = {}
    headers: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#", 1)[0].strip()
        if ":" in line:
            name, seen = line.split(":")
            layers[name.strip()] = set(seen.split())
        elif "=" in line:
            header, layer = line.split("=")
            headers[header.strip()] = layer.strip()
        elif line:
            raise ValueError(f"LAYERS:{number}: expected 'LAYER : LAYERS' or 'HEADER = LAYER', found '{line}'")
    for name, seen in layers.items():
        for other in seen - {"public"}:
            if other not in layers:
                raise ValueError(f"LAYERS: {name} sees {other}, which is not a layer")
    return layers, headers


def layer_of(path: str, layers: dict[str, set[str]], headers: dict[str, str]) -> str | None:
    """The layer of "core/shape.h", "kernels/cpu/x.h" or "wherry/types.h"; None if it is in none."""
    if path.startswith("wherry/"):
        return headers.get(path)
    parts = path.split("/")
    if len(parts) > 1 and parts[0] in layers:
        return parts[0]
    if parts[0] == "builtin":
        return "builtin/graph" if parts[-1].startswith("graph") else "builtin/kernels"
    if len(parts) > 2 and parts[0] + "/*" in layers:
        return f"{parts[0]}/{parts[1]}"
    return None


def sees(layer: str, layers: dict[str, set[str]]) -> set[str]:
    """What the layer may include, as patterns."""
    if layer in layers:
        return layers[layer]
    return layers[layer.split("/")[0] + "/*"]


def check_include(name: str, layer: str, target: str, layers: dict[str, set[str]], headers: dict[str, str]) -> str | None:
    """Why a file of the layer may not include the target; None if it may. `name` is the file, as in CHECKOUT."""
    allowed = sees(layer, layers)
    if "public" in allowed:
        folder = name.split("/")[0]
        local = "/" not in target or target.startswith(folder + "/") or layer_of(target, layers, headers) is None
        if target.startswith("wherry/") or local:
            return None
        return f"{folder}/ sees the public headers only (wherry/*.h)"
    other = layer_of(target, layers, headers)
    if other is None and target.startswith("wherry/"):
        return "this public header has no layer: add a line for it to LAYERS"
    if other is None:
        return None if "/" in target else 'write the path from src/, as in "core/shape.h"'  # other projects' have a "/"
    if other == layer or any(fnmatch.fnmatchcase(other, pattern) for pattern in allowed):
        return None
    return f"{layer} sees: {' '.join(sorted(allowed)) or 'nothing but itself'}"


def check_file(root: pathlib.Path, path: pathlib.Path, layers: dict[str, set[str]], headers: dict[str, str]) -> list[str]:
    name = str(path.relative_to(root))
    if _FREE.search(name):
        return []
    first, _, rest = name.partition("/")
    layer = first if first not in ("src", "include") else layer_of(rest, layers, headers)
    if layer is None:
        return [f"{name}: belongs to no layer; see LAYERS"]
    errors = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = _INCLUDE.match(line)
        reason = match and check_include(name, layer, match.group(1), layers, headers)
        if reason:
            errors.append(f'{name}:{number}: "{match.group(1)}" may not be included here: {reason}')
    return errors


def check_tree(root: pathlib.Path) -> list[str]:
    layers, headers = parse_layers((root / "LAYERS").read_text(encoding="utf-8"))
    errors = []
    for folder in ("src", "include", "tools", "python", "examples"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file():
                errors += check_file(root, path, layers, headers)
    return errors


if __name__ == "__main__":
    sys.exit(report(check_tree))
