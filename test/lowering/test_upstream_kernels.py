"""IR of every level in upstream's `mlir-opt`: kernels verify, ops of our own come back the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mlir_oracle import generic, kernel_texts, refused, texts_of
from upstream import SEPARATOR, mlir_opt
from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Region
from xdsl.parser import Parser
from xdsl.passes import PassPipeline

import tiledialect as td
from tiledialect.api.loading import load
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.target_spec import SPEC
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.tile_to_linalg.convert_tile_to_linalg import ConvertTileToLinalgPass
from tiledialect.lowering.tile_to_nest.tile_to_nest import TileToNestPass
from tiledialect.universe import full_universe

ROOT = Path(__file__).parents[2]
TENSOR = ("tile-bounds", "tile-defract", "tile-loop-tiling")
"""Passes after which there are ops of `tile`."""
CONV, WINDOWS = ("1x9x9x4xf32", "2x2x4x8xf32"), ("1x4x8x8xf32", "8x4x3x3xf32")
FORWARD: dict[str, tuple[str, ...]] = {
    "adam": ("10x64xf32", "10x64xf32", "10x64xf32", "10x64xf32", "f32"),
    "bilinear": ("12x20xf32", "20x24xf32", "9x24xf32"),
    "closing": ("8x70xf32",),
    "conv": CONV,
    "edges": ("12x16x3xui8", "3xf32", "3x3xf32"),
    "histogram": ("99xf32", "99xi32", "40xf32"),
    "norm": ("1000xf32",),
    "pool": ("100xf32",),
    "repeat": ("100xf32",),
    "softmax": ("10x300xf32",),
    "totals": ("4x300xf32",),
    "windows": WINDOWS,
}
"""Examples, and the types of their inputs."""
BACKWARD: dict[str, tuple[str, ...]] = {
    "conv": (*CONV, "1x3x3x8xf32"),
    "softmax": ("10x300xf32", "10x300xf32"),
    "totals": ("4x300xf32", "4x300xf32"),
    "windows": (*WINDOWS, "1x8x8x8xf32"),
}
"""Examples to differentiate, and the types of the gradients' inputs."""
PROGRAMS = (
    *("avx512:rows/softmax dX", "avx512:derivation/stencil_2d", "avx2:examples/adam"),
    *("pocl:elementwise/GELU", "h100:product/bf16", "h100:by hand/row_sums", "amd:scan/rows"),
)
"""Programs of the benchmark that are looked at after each pass."""


def modules(device: str, after: str | None) -> Iterator[ModuleOp]:
    """Examples and gradients after a pass, or at the level of kernels."""
    target = load(ROOT / "bench" / "devices" / f"{device}.mlir").module.attributes[SPEC]
    for table in (FORWARD, BACKWARD):
        for name, types in table.items():
            f = td.compile(ROOT / "examples" / f"{name}.tile")
            f = f if table is FORWARD else f.gradient()
            program = f._program
            given = program.module, program.name, f.types(types, {}), target
            yield compile_module(*given, program.transforms, after)


def nests(module: ModuleOp) -> ModuleOp:
    """A scheduled module with its kernels as nests."""
    PassPipeline((TileToNestPass(),)).apply(Context(), module)
    return module


def parsed(text: str) -> ModuleOp:
    """The module, with all dialects."""
    context = Context()
    for name, dialect in full_universe().all_dialects.items():
        context.register_dialect(name, dialect)
    return Parser(context, text).parse_module()


def through_upstream(texts: list[str]) -> list[str]:
    """The generic form that mlir-opt prints of each module."""
    options = "--allow-unregistered-dialect", "--mlir-print-op-generic", "--split-input-file"
    return mlir_opt(SEPARATOR.join(texts), *options).split(SEPARATOR)


def parts(module: ModuleOp) -> list[Region]:
    """The bodies of kernels, whose attributes differ in upstream's dialect, or of the module."""
    return [f.body for f in ops_of(module, gpu.FuncOp)] or [module.body]


@pytest.mark.parametrize("device", ["avx512", "h100"])
def test_kernels_verify(device: str):
    found = through_upstream([generic(m) for m in modules(device, None)])
    assert len(found) == len(FORWARD) + len(BACKWARD)


@pytest.mark.covering(1)
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_pass_makes_what_verifies(program: str):
    _, found = next(kernel_texts.matching(program))
    texts = list(texts_of(found))
    assert texts[-1].after != ConvertTileToLinalgPass.name
    assert list(refused(texts)) == []


@pytest.mark.parametrize("level", [*TENSOR, "nest"])
def test_our_ops_come_back_the_same(level: str):
    after = "tile-loop-tiling" if level == "nest" else level
    made = [nests(m) if level == "nest" else m for m in modules("avx512", after)]
    once = through_upstream([generic(m) for m in made])
    for module, text in zip(made, once, strict=True):
        back = parsed(text)
        back.verify()
        for old, new in zip(parts(module), parts(back), strict=True):
            assert old.is_structurally_equivalent(new)
