"""Orders of axes and reshapes of programs, by the reference semantics before and after the pass."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f64
from xdsl.ir import SSAValue

import tiledialect as td
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import make_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.layout import shape
from tiledialect.passes.convert.function_builder import FunctionBuilder
from tiledialect.passes.normalize.tile_bounds import TileBoundsPass
from tiledialect.passes.normalize.tile_choose_layouts import TileChooseLayoutsPass


def _maxima(b: TensorBuilder, x: SSAValue, axis: int) -> SSAValue:
    """Largest elements along an axis, which has size 1 then."""
    access = layout.indices(len(shape(x)))
    output = [IndexExpr() if k == axis else e for k, e in enumerate(access)]
    sizes = tuple(1 if k == axis else n for k, n in enumerate(shape(x)))
    made = ContractionOp(Aggregation.max, Combination.none, output, [(x, access)], shape=sizes)
    return b.insert(made)


def _moved(draw: st.DrawFn, b: TensorBuilder, x: SSAValue) -> SSAValue:
    """A tensor computed from one, of as many elements."""
    sizes = shape(x)
    axis = draw(st.integers(0, len(sizes) - 1))
    match draw(
        st.sampled_from(("order", "order", "rows", "both", "parts", "split", "join", "sum"))
    ):
        case "order":
            return layout.transpose(b, x, draw(st.permutations(range(len(sizes)))))
        case "rows":
            return b.add(x, _maxima(b, x, axis))
        case "both":
            order = draw(st.permutations(range(len(sizes))))
            other = layout.transpose(b, b.op(ew.NegOp, x), order)
            return b.add(x, layout.reshape(b, other, sizes))
        case "parts" if sizes[axis] > 1:
            k = draw(st.integers(1, sizes[axis] - 1))
            ends = (layout.sliced(b, x, axis, part) for part in (slice(k, None), slice(k)))
            return layout.concatenate(b, [*ends], axis)
        case "split" if len(sizes) < 4:
            n = draw(st.sampled_from([n for n in (1, 2, 3) if sizes[axis] % n == 0]))
            split = (*sizes[:axis], n, sizes[axis] // n, *sizes[axis + 1 :])
            return layout.reshape(b, x, split)
        case "join" if len(sizes) > 1:
            return layout.reshape(b, x, (sizes[0] * sizes[1], *sizes[2:]))
        case _:
            access = layout.indices(len(sizes))
            pair = [(x, access), (x, access)]
            return b.insert(
                ContractionOp(Aggregation.add, Combination.add, access, pair, shape=sizes)
            )


@st.composite
def programs(draw: st.DrawFn) -> ModuleOp:
    """Copies, reshapes, sums over rows and elementwise ops, one after the other."""
    function = FunctionBuilder()
    b = function.b
    x = function.argument("x", make_type((4, 1, 6), f64))
    results = list[tuple[str, SSAValue]]()
    for k in range(draw(st.integers(2, 7))):
        x = _moved(draw, b, x)
        if draw(st.integers(0, 5)) == 0:
            results.append((f"y{k}", x))
    return function.finished("f", [*results, ("y", b.op(ew.NegOp, x))]).module


@settings(max_examples=150, deadline=None)
@given(programs())
def test_chosen_layouts(module: ModuleOp):
    x = np.arange(24.0).reshape(4, 1, 6) - 11.5
    expected = td.compile(module).reference(x)
    changed = module.clone()
    for p in (TileBoundsPass(), TileChooseLayoutsPass()):
        p.apply(Context(), changed)
    changed.verify()
    found = td.compile(changed).reference(x)
    for a, b in zip(*(v if isinstance(v, tuple) else (v,) for v in (found, expected)), strict=True):
        np.testing.assert_array_equal(a, b)
