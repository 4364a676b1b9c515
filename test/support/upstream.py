"""Tools of upstream's MLIR, where they are installed."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[Any]

SEPARATOR = "// -----\n"
"""Line between the modules of a text."""

VERSIONS = ("", "-22", "-23", "-21", "-20")
TO_LLVM = (
    "-one-shot-bufferize=bufferize-function-boundaries",
    "-convert-linalg-to-loops",
    "-expand-strided-metadata",
    "-lower-affine",
    "-convert-scf-to-cf",
    "-convert-math-to-libm",
    "-convert-math-to-llvm",
    "-convert-arith-to-llvm",
    "-convert-cf-to-llvm",
    "-finalize-memref-to-llvm",
    "-convert-func-to-llvm",
    "-reconcile-unrealized-casts",
)
"""Passes from tensors to the LLVM dialect."""


@cache
def tool(name: str) -> str | None:
    """Path of a tool, of any version."""
    return next((path for v in VERSIONS if (path := which(f"{name}{v}"))), None)


def needed(name: str) -> str:
    """Path of a tool; the test is skipped without it."""
    path = tool(name)
    if path is None:
        pytest.skip(f"{name} is not installed (Debian: mlir-22-tools)")
    return path


def mlir_opt(text: str, *options: str) -> str:
    """The output of `mlir-opt`, which must take the text."""
    ran = subprocess.run([needed("mlir-opt"), *options], input=text, text=True, capture_output=True)
    assert ran.returncode == 0, f"{ran.stderr}\n{text}"
    return ran.stdout


def errors_of(texts: Sequence[str]) -> str:
    """Messages of `mlir-opt` about modules that it refuses; empty if it takes all."""
    options = "--allow-unregistered-dialect", "--split-input-file"
    ran = subprocess.run(
        [needed("mlir-opt"), *options],
        input=SEPARATOR.join(texts),
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    lines = ran.stderr.splitlines()
    found = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return "; ".join(dict.fromkeys(found)) if ran.returncode else ""


def _dense(array: Array, t: str) -> str:
    """A constant of these elements."""
    numbers = ", ".join(repr(x) for x in array.reshape(-1).tolist())
    shape = "x".join(map(str, array.shape))
    flat = f"tensor<{array.size}x{t}>"
    whole = f"tensor<{shape}x{t}>"
    axes = ", ".join(map(str, range(array.ndim)))
    return f"dense<[{numbers}]> : {flat}|{flat}|{whole}|[[{axes}]]|[{shape.replace('x', ', ')}]"


def run_f32(text: str, name: str, inputs: Sequence[Array], outputs: Sequence[Sequence[int]]):
    """The results, arrays of f32 of these shapes, of a function on inputs of f32 and i32."""
    runner = needed("mlir-runner")
    lines, arguments, types = list[str](), list[str](), list[str]()
    for k, array in enumerate(inputs):
        t = {"f": "f32", "i": "i32"}[array.dtype.kind]
        dense, flat, whole, axes, shape = _dense(array, t).split("|")
        lines.append(f"%flat{k} = arith.constant {dense}")
        if array.ndim == 1:
            arguments.append(f"%flat{k}")
        else:
            lines.append(
                f"%in{k} = tensor.expand_shape %flat{k} {axes} output_shape {shape} : {flat} into {whole}"
            )
            arguments.append(f"%in{k}")
        types.append(whole)
    results = [f"tensor<{''.join(f'{n}x' for n in shape)}f32>" for shape in outputs]
    lines.append(
        f"%r:{len(results)} = func.call @{name}({', '.join(arguments)}) : "
        f"({', '.join(types)}) -> ({', '.join(results)})"
    )
    for k, t in enumerate(results):
        m = t.replace("tensor", "memref")
        lines += [
            f"%m{k} = bufferization.to_buffer %r#{k} : {t} to {m}",
            f"%u{k} = memref.cast %m{k} : {m} to memref<*xf32>",
            f"func.call @printMemrefF32(%u{k}) : (memref<*xf32>) -> ()",
        ]
    body = "\n    ".join(lines)
    inner = text.strip().removeprefix("builtin.module {").removesuffix("}")
    program = (
        f"module {{\n{inner}\n  func.func @main() {{\n    {body}\n    func.return\n  }}\n"
        "  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}\n}"
    )
    lowered = mlir_opt(program, *TO_LLVM)
    folder = Path(runner).resolve().parent.parent / "lib"
    libraries = [
        next(folder.glob(f"lib{n}.so*")) for n in ("mlir_runner_utils", "mlir_c_runner_utils")
    ]
    ran = subprocess.run(
        [
            *(runner, "-e", "main", "-entry-point-result=void"),
            *(f"-shared-libs={library}" for library in libraries),
        ],
        input=lowered,
        text=True,
        capture_output=True,
    )
    assert ran.returncode == 0, ran.stderr
    return _printed(ran.stdout, outputs)


def _printed(text: str, shapes: Sequence[Sequence[int]]) -> list[Array]:
    """The arrays that were printed."""
    parts = [part.partition("data =")[2] for part in text.split("Unranked Memref")[1:]]
    numbers = [part.replace("[", " ").replace("]", " ").replace(",", " ").split() for part in parts]
    return [
        np.array([float(x) for x in found], "f").reshape(shape)
        for found, shape in zip(numbers, shapes, strict=True)
    ]
