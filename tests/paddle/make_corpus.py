#!/usr/bin/env python3
"""Makes corpus.zip: small networks written by Paddle in both its forms, with Paddle Inference's own outputs.

    make_corpus.py --paddle2 PYTHON [--only SUBSTRING] [--keep FOLDER] [OUTPUT]

Needs paddlepaddle 3.3.1 from PyPI, and for the older form a Python with 2.6.2; the test that reads the corpus needs
neither. cases/*.py say what the networks are. Each is saved as a ProgramDesc by 2.6.2 and as a PIR program by 3.3.1, and
both are run by Paddle Inference 3.3.1 on the CPU with its own optimisations off; operators that it no longer has, by
2.6.2. What a form cannot express, or Paddle cannot run, is left out of the corpus and told. An entry is CASE/inputs/NAME.npy, CASE/FORM/model,
CASE/FORM/params (if it has any) and CASE/FORM/outputs/N.npy; FORM is paddle or pir.
"""

import argparse
import importlib.util
import io
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile

FOLDER = pathlib.Path(__file__).resolve().parent
FORMS = {"paddle": "0", "pir": "1"}
EPOCH = (1980, 1, 1, 0, 0, 0)


def load_cases(only):
    sys.path.insert(0, str(FOLDER))
    import corpus_case

    for path in sorted((FOLDER / "cases").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"cases_{path.stem}", path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return [case for case in corpus_case.CASES if only in case.name]


def save_network(case, prefix):
    """Builds the network of a case and saves it."""
    import paddle
    from paddle.utils import unique_name

    main, startup = paddle.static.Program(), paddle.static.Program()
    paddle.seed(1)
    with paddle.static.program_guard(main, startup), unique_name.guard():
        feeds = {
            name: paddle.static.data(name, case.dims.get(name, list(value.shape)), str(value.dtype))
            for name, value in case.inputs.items()
        }
        outputs = case.network(*feeds.values())
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        executor = paddle.static.Executor(paddle.CPUPlace())
        executor.run(startup)
        paddle.static.save_inference_model(prefix, list(feeds.values()), outputs, executor, program=main, skip_prune_program=case.whole)


def run_network(case, model, params):
    import paddle.inference

    config = paddle.inference.Config(model, params if os.path.exists(params) else "")
    config.disable_gpu()
    config.disable_mkldnn()
    config.switch_ir_optim(False)
    config.disable_glog_info()
    predictor = paddle.inference.create_predictor(config)
    for name in predictor.get_input_names():
        handle = predictor.get_input_handle(name)
        handle.reshape(case.inputs[name].shape)
        handle.copy_from_cpu(case.inputs[name])
    predictor.run()
    return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


def in_child(work, *arguments):
    """Calls it in a process of its own, since Paddle may crash. Returns what it printed in the end, or None when it worked."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # it may hang, too
        try:
            work(*arguments)
            status = 0
        except Exception as error:  # whatever Paddle throws
            text = [line.strip() for line in str(error).splitlines() if line.strip()] or [repr(error)]
            os.write(writer, next((line for line in text if "Error" in line), text[-1]).encode()[:200])
            status = 1
        os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        told = stream.read().decode(errors="replace")
    status = os.waitpid(child, 0)[1]
    return None if status == 0 else told or f"ended with status {status}"


def model_files(target, form):
    prefix = str(target / "saved")
    return prefix, prefix + (".json" if form == "pir" else ".pdmodel"), prefix + ".pdiparams"


def save_form(form, folder, only):
    """Writes folder/CASE/FORM/saved.* for every case."""
    import paddle

    paddle.enable_static()
    for case in load_cases(only):
        if form not in case.forms:
            continue
        target = folder / case.name / form
        target.mkdir(parents=True)
        told = in_child(save_network, case, model_files(target, form)[0])
        if told is not None:
            print(f"{case.name}: {form}: not saved: {told}", file=sys.stderr)
            shutil.rmtree(target)


def write_outputs(case, form, target):
    import numpy

    _, model, params = model_files(target, form)
    outputs = run_network(case, model, params)
    (target / "outputs").mkdir()
    for i, output in enumerate(outputs):
        numpy.save(target / "outputs" / f"{i}.npy", output)
    os.rename(model, target / "model")
    if os.path.exists(params):
        os.rename(params, target / "params")


def run_older(case, folder, python):
    """The same by the Paddle that wrote the older form. Returns what it said, or None when it worked."""
    command = [python, __file__, "--run", "--keep", str(folder), "--only", case.name]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "FLAGS_enable_pir_api": "0", "GLOG_minloglevel": "3"})
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1:]


def run_forms(cases, folder, paddle2):
    """Adds the outputs of what was saved."""
    import paddle.inference  # once for all children

    made = dict.fromkeys(FORMS, 0)
    for case in cases:
        for form in FORMS:
            target = folder / case.name / form
            if not target.is_dir():
                continue
            told = in_child(write_outputs, case, form, target)
            if told is not None and form == "paddle" and run_older(case, folder, paddle2) is None:
                told = None
            if told is not None:
                print(f"{case.name}: {form}: not run: {told}", file=sys.stderr)
                shutil.rmtree(target)
            else:
                made[form] += 1
    print(made, file=sys.stderr)


def pack(cases, folder, output):
    """All entries in the order of their names, with one date, so that the same corpus is the same file."""
    import numpy

    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def add(name, data):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)

        for case in sorted(cases, key=lambda case: case.name):
            files = sorted(path for path in (folder / case.name).rglob("*") if path.is_file()) if (folder / case.name).is_dir() else []
            files = [path for path in files if path.name in ("model", "params") or path.suffix == ".npy"]
            if not files:
                continue
            for name, value in sorted(case.inputs.items()):
                data = io.BytesIO()
                numpy.save(data, value)
                add(f"{case.name}/inputs/{name}.npy", data.getvalue())
            for path in files:
                add(path.relative_to(folder).as_posix(), path.read_bytes())


def main():
    parser = argparse.ArgumentParser(description="Makes the corpus of Paddle's networks and outputs.")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--keep", type=pathlib.Path, help="where the files go, too: an empty folder")
    parser.add_argument("--paddle2", default=sys.executable, help="the Python whose Paddle writes the ProgramDesc form")
    parser.add_argument("--form", choices=FORMS, help=argparse.SUPPRESS)
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("output", type=pathlib.Path, nargs="?", default=FOLDER / "corpus.zip")
    arguments = parser.parse_args()
    if arguments.run:
        case = next(case for case in load_cases("") if case.name == arguments.only)
        return write_outputs(case, "paddle", arguments.keep / case.name / "paddle")
    if arguments.form:
        return save_form(arguments.form, arguments.keep, arguments.only)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        for form, flag in FORMS.items():
            python = sys.executable if form == "pir" else arguments.paddle2
            command = [python, __file__, "--form", form, "--keep", str(folder), "--only", arguments.only]
            subprocess.run(command, check=True, env={**os.environ, "FLAGS_enable_pir_api": flag, "GLOG_minloglevel": "3", "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"})
        cases = load_cases(arguments.only)
        run_forms(cases, folder, arguments.paddle2)
        pack(cases, folder, arguments.output)


if __name__ == "__main__":
    sys.exit(main())
