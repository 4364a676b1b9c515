"""Maxima that need not carry NaN, and exponentials of differences to them, on every device."""

from __future__ import annotations

import numpy as np
import pytest
from test_online_sums import check, rows
from xdsl.dialects.builtin import TensorType, f32

import tiledialect as td
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.row_axes import Rows
from tiledialect.ir.ops_in import ops_of
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.tile_to_nest.rows.nan_propagation import may_ignore_nan

MAXIMUM = "M[r, 0: R, 1] = >(X[r, c]);"
SUM = "S[r, 0: R, 1] = +(E[r, c]);"
LOSING = {
    "softmax": "function (X[R, C]) -> (Y) { Y = softmax(X, 1); }",
    "logarithm": f"function (X[R, C]) -> (L) {{ {MAXIMUM} E = exp(X - M); {SUM} L = log(S) + M; }}",
    "least": "function (X[R, C]) -> (Y) { M[r, 0: R, 1] = <(X[r, c]); D = X - M;"
    " S[r, 0: R, 1] = +(D[r, c]); Y = D / S; }",
    "product": "function (X[R, C], W[R, C]) -> (Y) { M[r, 0: R, 1] = >(X[r, c]); D = X - M;"
    " S[r, 0: R, 1] = +(D[r, c] * W[r, c]); Y = W * S; }",
}
CARRYING = {
    "alone": f"function (X[R, C]) -> (Y) {{ {MAXIMUM} Y = X - M; }}",
    "given": f"function (X[R, C]) -> (M, Y) {{ {MAXIMUM} E = exp(X - M); {SUM} Y = E / S; }}",
    "chosen": f"function (X[R, C]) -> (Y) {{ {MAXIMUM} E = exp(X - M); {SUM} Y = S > 3 ? M : E; }}",
    "other": "function (X[R, C], W[R, C]) -> (Y) { M[r, 0: R, 1] = >(X[r, c]);"
    " S[r, 0: R, 1] = +(W[r, c]); Y = (X - M) / S; }",
    "compared": f"function (X[R, C]) -> (Y) {{ {MAXIMUM} E = X == M ? 1.0 : 0.0;"
    " S[r, 0: R, 1] = +(E[r, c]); Y = E / S; }",
}


def lost(source: str) -> list[bool]:
    """Of each maximum or minimum of a program's row kernels, whether it may leave out NaN."""
    types = [TensorType(f32, [8, 101])] * inputs(source)
    module = compile_module(load(source), None, types, after="tile-fuse")
    found: list[bool] = []
    for kernel in ops_of(module, KernelOp):
        if kernel.axes is not None:
            of = Rows.of(kernel.block.ops, kernel.axes.ranges)
            ops = [*kernel.block.ops][:-1]
            found += [
                may_ignore_nan(op, ops, kernel.yield_op.values, of)
                for op in ops
                if isinstance(op, ContractionOp) and str(op.aggregation.data) in ("max", "min")
            ]
    return found


def inputs(source: str) -> int:
    """Number of inputs of a program."""
    return source[: source.index("->")].count("[")


@pytest.mark.parametrize("source", LOSING.values(), ids=LOSING)
def test_may_leave_out_nan(source: str) -> None:
    """A sum of what is NaN there makes all results NaN."""
    assert lost(source) == [True]


@pytest.mark.parametrize("source", CARRYING.values(), ids=CARRYING)
def test_carries_nan(source: str) -> None:
    """Something needs the maximum that is not NaN by itself."""
    assert not any(lost(source))


@pytest.mark.parametrize("device", td.devices(), ids=str)
@pytest.mark.parametrize("source", [*LOSING.values(), *CARRYING.values()], ids=[*LOSING, *CARRYING])
def test_results(source: str, device: td.Device) -> None:
    """Infinities, huge numbers and what is none are where the reference has them."""
    x = rows(np.float32)
    arrays = [x, np.ones_like(x)][: inputs(source)]
    check(td.compile(source, device=device), *arrays, rtol=2e-6)


@pytest.mark.parametrize("device", td.devices(), ids=str)
def test_gradient(device: td.Device) -> None:
    """So it is in gradients, up to the roundings of the terms that may cancel there."""
    x = rows(np.float32)
    dy = np.cos(np.arange(x.size, dtype=np.float32)).reshape(x.shape)
    forward = td.compile(LOSING["softmax"], device=device)
    gradient = forward.gradient()
    with np.errstate(all="ignore"):
        y, expected = forward.reference(x), gradient.reference(x, dy)
    # y (dy - sum of y dy): the difference may be a hundredth of both, whose roundings remain.
    terms = y * (np.abs(dy) + np.sum(y * np.abs(dy), 1, keepdims=True))
    found = gradient(x, dy)
    is_number = np.isfinite(expected)
    assert np.array_equal(is_number, np.isfinite(found))
    off = np.abs(found.astype(np.float64) - expected)[is_number]
    assert np.all(off <= 2e-6 * terms[is_number] + np.finfo(np.float32).tiny)


@pytest.mark.parametrize("device", td.devices(), ids=str)
def test_exponentials(device: td.Device) -> None:
    """Exponentials of differences to a maximum are as near as others; 0 below normal numbers."""
    source = f"function (X[R, C]) -> (E, S) {{ {MAXIMUM} E = exp(X - M); {SUM} }}"
    x = -np.linspace(0, 110, 8 * 4096, dtype=np.float32).reshape(8, 4096)
    found, _ = td.compile(source, device=device)(x)
    exact = np.exp((x - x.max(1, keepdims=True)).astype(np.float64))
    is_normal = exact >= np.finfo(np.float32).tiny
    assert np.abs(found / exact - 1)[is_normal].max() < 2 * 2.0**-23
    assert np.all(found[~is_normal] <= np.finfo(np.float32).tiny)
