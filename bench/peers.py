"""What each engine of bench/compare is: how it loads a network and runs it, in a process of its own.

    peers.py ENGINE MODEL INPUTS OUTPUTS THREADS SECONDS

prints "turn: " and JSON: load_ms (model file to ready), first_ms (the first run), p50_ms and min_ms (the run call alone),
cpu_p50_ms and cpu_min_ms (the same by the time that all threads ran, not by the clock),
rise_mb (the most memory minus what there was once the library was loaded); and stores the results in OUTPUTS (.npz).
Wherry is not here: `wherry bench --json` prints the same.
"""

import json
import pathlib
import re
import statistics
import sys
import time

import numpy as np


def memory_mb(key: str) -> float:
    return int(re.search(rf"{key}:\s*(\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024


class OnnxRuntime:
    """Inputs and outputs are bound, so that Python costs little."""

    def __init__(self):
        import onnxruntime

        self.library = onnxruntime

    def load(self, model: str, inputs: dict, threads: int):
        options = self.library.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        session = self.library.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, array in inputs.items():
            binding.bind_cpu_input(name, array)
        self.names = [output.name for output in session.get_outputs()]
        for name in self.names:
            binding.bind_output(name)
        self.binding = binding
        return lambda: session.run_with_iobinding(binding)

    def outputs(self) -> dict:
        return dict(zip(self.names, self.binding.copy_outputs_to_cpu(), strict=True))


class OpenVino:
    """With the hint for f32: its default is bf16 where the processor has it."""

    static = False
    precision = "f32"

    def __init__(self):
        import openvino

        self.library = openvino

    def load(self, model: str, inputs: dict, threads: int):
        core = self.library.Core()
        settings = {
            "INFERENCE_PRECISION_HINT": self.precision,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads,
        }
        program = core.read_model(model)
        if self.static:
            program.reshape({port: inputs[self.name_of(port, inputs)].shape for port in program.inputs})
        compiled = core.compile_model(program, "CPU", settings)
        self.request = compiled.create_infer_request()
        self.compiled = compiled
        for port in compiled.inputs:
            array = inputs[self.name_of(port, inputs)]
            self.request.set_tensor(port, self.library.Tensor(array, shared_memory=array.ndim > 0))
        return self.request.infer

    @staticmethod
    def name_of(port, inputs: dict) -> str:
        return next(name for name in port.names if name in inputs)

    def outputs(self) -> dict:
        return {
            min(port.names, default=f"out{i}"): self.request.get_tensor(port).data
            for i, port in enumerate(self.compiled.outputs)
        }


class OpenVinoStatic(OpenVino):
    """After a reshape to the shapes of the inputs."""

    static = True


class OpenVinoBf16(OpenVino):
    precision = "bf16"


class Mnn:
    """On a file that bench/networks.py converted. 64-bit integers become 32-bit ones, as MNN wants them."""

    def __init__(self):
        import MNN

        self.library = MNN

    def load(self, model: str, inputs: dict, threads: int):
        expr = self.library.expr
        settings = {"precision": "high", "backend": "CPU", "numThread": threads}
        # Both must outlive the runs.
        self.manager = self.library.nn.create_runtime_manager((settings,))
        self.network = self.library.nn.load_module_from_file(model, [], [], runtime_manager=self.manager)
        information = self.network.get_info()
        self.names = information["outputNames"]
        variables = []
        for name in information["inputNames"]:
            array = inputs[name].astype(np.int32) if inputs[name].dtype == np.int64 else inputs[name]
            kind = expr.float if array.dtype == np.float32 else expr.int
            variables.append(expr.const(array, list(array.shape), expr.NCHW, kind))
        self.results = []

        def run():
            self.results = self.network.forward(variables)

        return run

    def outputs(self) -> dict:
        expr = self.library.expr
        arrays = [np.array(expr.convert(result, expr.NCHW).read()) for result in self.results]
        return dict(zip(self.names, arrays, strict=True))


class Ncnn:
    """On the folder that bench/networks.py had pnnx make, for the shapes of the inputs. In f32."""

    def __init__(self):
        import ncnn

        self.library = ncnn

    def load(self, model: str, inputs: dict, threads: int):
        folder = pathlib.Path(model)
        net = self.library.Net()
        net.opt.num_threads = threads
        for option in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage"):
            setattr(net.opt, option, False)
        if net.load_param(str(folder / "net.ncnn.param")) or net.load_model(str(folder / "net.ncnn.bin")):
            raise RuntimeError("ncnn cannot load it")
        # pnnx's example says where each value's batch is.
        example = (folder / "net_ncnn.py").read_text()
        fed = re.findall(r'ex\.input\("(\w+)", ncnn\.Mat\(\w+\.numpy\(\)(?:, batch_index=(\d+))?\)', example)
        self.names = re.findall(r'ex\.extract\("(\w+)"\)', example)
        self.batches = re.findall(r"from_numpy\(\w+\.numpy\((?:batch_index=(\d+))?\)\)", example)
        mats = {
            name: self.library.Mat(array, **self.batch_of(index)).clone()
            for (name, index), array in zip(fed, inputs.values(), strict=True)
        }
        self.net = net

        def run():
            extractor = net.create_extractor()
            for name, mat in mats.items():
                extractor.input(name, mat)
            self.results = [extractor.extract(name) for name in self.names]
            if any(status for status, _ in self.results):
                raise RuntimeError("ncnn cannot run it")

        return run

    def outputs(self) -> dict:
        arrays = [
            np.array(mat.numpy(**self.batch_of(index)))
            for (_, mat), index in zip(self.results, self.batches, strict=True)
        ]
        return dict(zip(self.names, arrays, strict=True))

    @staticmethod
    def batch_of(index: str) -> dict:
        return {"batch_index": int(index)} if index else {}


class Paddle:
    """Paddle Inference with oneDNN, on the model's own files."""

    def __init__(self):
        from paddle import inference

        self.library = inference

    def load(self, model: str, inputs: dict, threads: int):
        folder = pathlib.Path(model)
        program = next(f for f in (folder / "inference.pdmodel", folder / "inference.json") if f.exists())
        config = self.library.Config(str(program), str(folder / "inference.pdiparams"))
        config.disable_gpu()
        config.disable_glog_info()
        config.enable_memory_optim()
        config.enable_mkldnn()
        config.set_cpu_math_library_num_threads(threads)
        self.predictor = self.library.create_predictor(config)
        for name in self.predictor.get_input_names():
            self.predictor.get_input_handle(name).copy_from_cpu(inputs[name])
        return self.predictor.run

    def outputs(self) -> dict:
        names = self.predictor.get_output_names()
        return {name: self.predictor.get_output_handle(name).copy_to_cpu() for name in names}


ENGINES = {
    "onnxruntime": OnnxRuntime,
    "openvino": OpenVino,
    "openvino-static": OpenVinoStatic,
    "openvino-bf16": OpenVinoBf16,
    "mnn": Mnn,
    "ncnn": Ncnn,
    "paddle": Paddle,
}


def main() -> None:
    engine_name, model, inputs_path, outputs_path, threads, seconds = sys.argv[1:]
    with np.load(inputs_path) as arrays:
        inputs = {name: arrays[name] for name in arrays.files}
    engine = ENGINES[engine_name]()
    before_mb = memory_mb("VmRSS")
    times = [time.perf_counter()]
    run = engine.load(model, inputs, int(threads))
    times.append(time.perf_counter())
    run()
    times.append(time.perf_counter())
    np.savez(outputs_path, **engine.outputs())
    run()
    runs, processor_times = [], []
    end = time.perf_counter() + float(seconds)
    while len(runs) < 3 or time.perf_counter() < end:
        processor_start = time.process_time()
        start = time.perf_counter()
        run()
        runs.append(time.perf_counter() - start)
        processor_times.append(time.process_time() - processor_start)
    turn = {
        "load_ms": (times[1] - times[0]) * 1e3,
        "first_ms": (times[2] - times[1]) * 1e3,
        "p50_ms": statistics.median(runs) * 1e3,
        "min_ms": min(runs) * 1e3,
        "cpu_p50_ms": statistics.median(processor_times) * 1e3,
        "cpu_min_ms": min(processor_times) * 1e3,
        "rise_mb": memory_mb("VmHWM") - before_mb,
    }
    print("\nturn: " + json.dumps(turn))


if __name__ == "__main__":
    main()
