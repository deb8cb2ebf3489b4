#!/usr/bin/env python3
"""Writes small networks with ONNX Runtime's outputs, in the form of dump_corpus.py: com.microsoft's operators, trees.

    make_runtime_corpus.py OUT [NAME...]

OUT is runtime.corpus beside this script, which is committed. Each case is one operator; ONNX Runtime runs it on a CPU
without its optimiser. What it has no CPU kernel for is computed here as ContribOperators.md describes it. NAMEs: only
these cases. Needs onnx, numpy and onnxruntime.
"""

import sys

from runtime_case import write
from runtime_cases import attention, operators, quantised, storage, trees


def main() -> int:
    for group in (attention, operators, quantised, storage, trees):
        group.add()
    write(sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
