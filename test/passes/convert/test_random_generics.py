"""Random `linalg.generic`s against xDSL's interpreter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from generic_cases import generic
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl_calls import xdsl_results

from tiledialect.interpreters.tile import interpret
from tiledialect.ir.mlir_text import all_dialects, parse_mlir
from tiledialect.ir.verification import verify
from tiledialect.lowering.tile_to_linalg.convert_tile_to_linalg import ConvertTileToLinalgPass
from tiledialect.passes.convert.convert_linalg_to_tile import ConvertLinalgToTilePass

LETTERS = "ijk"
OPS = ("addf", "subf", "mulf", "maximumf", "minimumf")


@dataclass(frozen=True)
class Generic:
    """A random op."""

    text: str
    shapes: list[tuple[int, ...]]


@st.composite
def accesses(draw: st.DrawFn, sizes: dict[str, int]) -> tuple[str, tuple[int, ...]]:
    """An access by sums of multiples of loops, and the shape of a tensor that holds it."""
    exprs: list[str] = []
    shape: list[int] = []
    for _ in range(draw(st.integers(0, 2))):
        terms = {name: draw(st.integers(0, 2)) for name in sizes}
        offset = draw(st.integers(0, 2))
        used = {name: factor for name, factor in terms.items() if factor}
        is_loop = list(used.values()) == [1] and not offset
        parts = [f"{factor} * {name}" if factor > 1 else name for name, factor in used.items()]
        exprs.append(" + ".join([*parts, *([str(offset)] if offset or not parts else [])]))
        last = offset + sum(f * (sizes[n] - 1) for n, f in used.items())
        shape.append(last + 1 + (0 if is_loop else draw(st.integers(0, 1))))
    return ", ".join(exprs), tuple(shape)


@st.composite
def generics(draw: st.DrawFn) -> Generic:
    sizes = {name: draw(st.integers(1, 4)) for name in LETTERS[: draw(st.integers(1, 3))]}
    order = draw(st.permutations(list(sizes)))
    inputs = [(", ".join(order), tuple(sizes[n] for n in order))]
    inputs += [draw(accesses(sizes)) for _ in range(draw(st.integers(0, 2)))]
    written = [n for n in draw(st.permutations(list(sizes))) if draw(st.booleans())]
    is_reduction = len(written) < len(sizes)
    lines: list[str] = []
    values = [f"%{'abc'[k]}" for k in range(len(inputs))]
    if not is_reduction:
        values.append("%o")
    for k in range(draw(st.integers(0, 3))):
        op, a, b = (draw(st.sampled_from(choices)) for choices in (OPS, values, values))
        lines.append(f"%v{k} = arith.{op} {a}, {b} : f32")
        values.append(f"%v{k}")
    last = values[-1]
    if is_reduction:
        op = draw(st.sampled_from(OPS))
        lines.append(f"%r = arith.{op} %o, {last} : f32")
        last = "%r"
    lines.append(f"linalg.yield {last} : f32")

    def tensor_text(shape: tuple[int, ...]) -> str:
        return "".join(f"{n}x" for n in shape) + "f32"

    output = tuple(sizes[n] for n in written)
    case = generic(
        "random",
        [(tensor_text(shape), access) for access, shape in inputs],
        (tensor_text(output), ", ".join(written)),
        ", ".join(sizes),
        "".join("p" if n in written else "r" for n in sizes),
        "\n".join(lines),
        lambda *_: np.zeros(0),
    )
    return Generic(case.text, [*(shape for _, shape in inputs), output])


@given(op=generics(), seed=st.integers(0, 9))
@settings(max_examples=10, deadline=None)
def test_random_generics(op: Generic, seed: int):
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(-3, 4, shape).astype("f") for shape in op.shapes]
    (wanted,) = xdsl_results(parse_mlir(op.text, "random.mlir"), "generic_random", arrays)
    module = parse_mlir(op.text, "random.mlir")
    verify(module)
    ConvertLinalgToTilePass().apply(Context(), module)
    verify(module)
    (result,) = interpret(module, "generic_random", arrays)
    # Small integers, which f32 holds, but for products of many.
    np.testing.assert_allclose(result, wanted, rtol=1e-5)
    ConvertTileToLinalgPass().apply(all_dialects(), module)
    ConvertLinalgToTilePass().apply(Context(), module)
    verify(module)
    (again,) = interpret(module, "generic_random", arrays)
    np.testing.assert_allclose(again, wanted, rtol=1e-5)
