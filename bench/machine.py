"""What bench/compare says about the machine: its processor, and whether two of its processors share a cache."""

import multiprocessing
import multiprocessing.shared_memory
import os
import pathlib
import platform
import time
from importlib import metadata

import numpy as np

# Larger than the second-level cache, smaller than the last-level one.
PROBE_BYTES = 4 << 20


def processor() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("model name", "Model name")):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def read_rate(buffer: np.ndarray) -> float:
    start = time.perf_counter()
    buffer.max()
    return buffer.nbytes / (time.perf_counter() - start) / 1e9


def neighbour(name: str, cpu: int, connection) -> None:
    """Writes the shared buffer whenever asked to, on a processor of its own."""
    os.sched_setaffinity(0, {cpu})
    memory = multiprocessing.shared_memory.SharedMemory(name)
    buffer = np.frombuffer(memory.buf, np.float32)
    while connection.recv():
        buffer += 1
        connection.send(True)
    del buffer
    memory.close()


def shared_cache() -> str:
    """Whether what one processor has just written is as fast to read for the second as what that one wrote itself: so
    it is when they share the last-level cache. A virtual machine's own description may say anything."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        return "one processor"
    memory = multiprocessing.shared_memory.SharedMemory(create=True, size=PROBE_BYTES)
    buffer = np.frombuffer(memory.buf, np.float32)
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=neighbour, args=(memory.name, cpus[1], theirs))
    process.start()
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpus[0]})
    own, other = [], []
    for _ in range(60):
        buffer += 1
        own.append(read_rate(buffer))
        ours.send(True)
        ours.recv()
        other.append(read_rate(buffer))
    ours.send(False)
    process.join()
    os.sched_setaffinity(0, before)
    del buffer
    memory.close()
    memory.unlink()
    # The best of each: other work only ever slows a reading down.
    ratio = max(own) / max(other)
    says = "share their last-level cache" if ratio < 1.6 else "do not share a cache"
    return f"processors {cpus[0]} and {cpus[1]} {says} (own data {max(own):.0f} GB/s, the other's {max(other):.0f})"


def versions() -> str:
    packages = {"ONNX Runtime": "onnxruntime", "OpenVINO": "openvino", "MNN": "MNN", "paddle2onnx": "paddle2onnx",
                "ncnn": "ncnn", "pnnx": "pnnx", "Paddle Inference": "paddlepaddle"}  # fmt: skip
    found = {package.metadata["Name"].lower(): package.version for package in metadata.distributions()}
    return ", ".join(f"{name} {found[key.lower()]}" for name, key in packages.items() if key.lower() in found)
