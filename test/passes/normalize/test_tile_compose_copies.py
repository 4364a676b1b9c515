"""Contractions of copies, by the reference semantics before and after the pass."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f64
from xdsl.ir import Operation, SSAValue

import tiledialect as td
from tiledialect.analysis.part_copies import is_part_copy
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import make_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.layout import shape
from tiledialect.operators.normalization import softmax
from tiledialect.passes.convert.function_builder import FunctionBuilder
from tiledialect.passes.normalize.tile_bounds import TileBoundsPass
from tiledialect.passes.normalize.tile_choose_layouts import TileChooseLayoutsPass
from tiledialect.passes.normalize.tile_compose_copies import TileComposeCopiesPass


def _copied(draw: st.DrawFn, b: TensorBuilder, x: SSAValue) -> SSAValue:
    """A copy of parts of a tensor, or a reshape."""
    sizes = shape(x)
    axis = draw(st.integers(0, len(sizes) - 1))
    match draw(st.sampled_from(("order", "part", "turn", "repeat", "split", "join"))):
        case "order":
            return layout.transpose(b, x, draw(st.permutations(range(len(sizes)))))
        case "part":
            start = draw(st.integers(0, sizes[axis] - 1))
            step = draw(st.integers(1, 2))
            return layout.sliced(b, x, axis, slice(start, None, step))
        case "turn":
            return layout.reverse(b, x, [axis])
        case "repeat" if len(sizes) < 4:
            return layout.spread(b, x, (2, *sizes))
        case "split":
            factors = [n for n in (1, 2, 3) if sizes[axis] % n == 0]
            n = draw(st.sampled_from(factors))
            split = (*sizes[:axis], n, sizes[axis] // n, *sizes[axis + 1 :])
            return layout.reshape(b, x, split if len(split) < 5 else sizes)
        case _:
            joined = (sizes[0] * sizes[1], *sizes[2:]) if len(sizes) > 1 else sizes
            return layout.reshape(b, x, joined)


@st.composite
def programs(draw: st.DrawFn) -> ModuleOp:
    """A sum of a copy of copies, along axes of it, maybe over windows that reach outside."""
    function = FunctionBuilder()
    b = function.b
    x = function.argument("x", make_type((4, 6), f64))
    for _ in range(draw(st.integers(1, 4))):
        x = _copied(draw, b, x)
    access: list[IndexExpr] = list(layout.indices(len(shape(x))))
    output, sizes, constraints = list(access), list(shape(x)), list[Constraint]()
    reduced = draw(st.integers(0, len(access) - 1))
    if draw(st.booleans()):
        access[reduced] = access[reduced] + IndexExpr.of("w") - draw(st.integers(0, 1))
        constraints.append(Constraint(IndexExpr.of("w"), IndexExpr.of(2)))
    else:
        del output[reduced], sizes[reduced]
    kinds = st.sampled_from((Aggregation.add, Aggregation.max))
    total = ContractionOp(
        *(draw(kinds), Combination.none, output, [(x, access)], constraints), shape=tuple(sizes)
    )
    return function.finished("f", [("y", b.insert(total))]).module


@settings(max_examples=60, deadline=None)
@given(programs())
def test_composed_copies(module: ModuleOp):
    x = np.arange(24.0).reshape(4, 6) - 11.5
    expected = td.compile(module).reference(x)
    composed = module.clone()
    for p in (TileBoundsPass(), TileComposeCopiesPass(), TileChooseLayoutsPass()):
        p.apply(Context(), composed)
    composed.verify()
    np.testing.assert_array_equal(td.compile(composed).reference(x), expected)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 3), st.integers(2, 3), st.integers(1, 3), st.booleans())
def test_shared_heads(groups: int, repeats: int, size: int, is_last: bool):
    """Attention whose queries share keys and values: their repetitions are not made."""
    function, heads = FunctionBuilder(), groups * repeats
    b = function.b
    q = function.argument("q", make_type((heads, 3, size), f64))
    k, v = (function.argument(name, make_type((groups, 4, size), f64)) for name in "kv")
    sizes = (repeats, groups, 4, size) if is_last else (groups, repeats, 4, size)
    shared = (k, v) if is_last else (layout.reshape(b, x, (groups, 1, 4, size)) for x in (k, v))
    keys, values = (layout.reshape(b, layout.spread(b, x, sizes), (heads, 4, size)) for x in shared)
    h, i, j, e = map(IndexExpr.of, "hije")
    product = Aggregation.add, Combination.mul
    scores = ContractionOp(
        *product, [h, i, j], [(q, [h, i, e]), (keys, [h, j, e])], shape=(heads, 3, 4)
    )
    shares = softmax(b, b.mul(b.insert(scores), b.number(0.5)), 2)
    sums = ContractionOp(
        *product, [h, i, e], [(shares, [h, i, j]), (values, [h, j, e])], shape=(heads, 3, size)
    )
    module = function.finished("f", [("o", layout.transpose(b, b.insert(sums), (1, 0, 2)))]).module
    random = np.random.default_rng(0)
    given = [random.normal(size=s) for s in ((heads, 3, size), *[(groups, 4, size)] * 2)]
    expected = td.compile(module).reference(*given)
    composed = module.clone()
    for p in (TileBoundsPass(), TileComposeCopiesPass()):
        p.apply(Context(), composed)
    composed.verify()
    np.testing.assert_allclose(td.compile(composed).reference(*given), expected, rtol=1e-12)
    made = [op for op in composed.walk() if isinstance(op, ContractionOp) and is_part_copy(op)]
    assert all(isinstance(op.inputs[0].owner, Operation) for op in made)
