"""Dialects in which tensor programs may come, and the passes that convert them."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, UnrankedTensorType
from xdsl.passes import PassPipeline

from tiledialect.dialects.lift.base import LiftOp
from tiledialect.ir.verification import verify
from tiledialect.universe import full_universe

SOURCES: Mapping[str, str] = {
    "stablehlo": "convert-stablehlo-to-tile",
    "chlo": "convert-stablehlo-to-tile",
    "linalg": "convert-linalg-to-tile",
    "tensor": "convert-linalg-to-tile",
    "arith": "convert-linalg-to-tile",
    "math": "convert-linalg-to-tile",
    "scf": "convert-linalg-to-tile",
    "func": "convert-linalg-to-tile",
}
"""Pass for each dialect, in the order in which the passes run."""


def source_passes(module: ModuleOp) -> tuple[str, ...]:
    """Passes that convert the tensor programs of a module, by the dialects of ops on tensors.

    Programs of patterns make their results with ops of these dialects, too.
    """
    if any(isinstance(op, LiftOp) for op in module.walk()):
        return ()
    held = {
        op.name.partition(".")[0]
        for op in module.walk()
        if any(isinstance(t, TensorType | UnrankedTensorType) for t in op.result_types)
    }
    return tuple(dict.fromkeys(name for dialect, name in SOURCES.items() if dialect in held))


def convert_sources(module: ModuleOp) -> None:
    """Convert the tensor programs of a module to the tile dialect, where it holds others."""
    if names := source_passes(module):
        passes = full_universe().all_passes
        PassPipeline(tuple(passes[name]()() for name in names)).apply(Context(), module)
        verify(module)
