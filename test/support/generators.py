"""Random contractions and programs as IR, with data for them (hypothesis strategies).

The data is such that nothing is rounded: small integers, also as reals, whose sums and products
fit every element type. Results then have one right value, whatever the order of the additions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt
from building import function_module
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, SSAValue

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.combinations import ARITY
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import Access, Constraint, IndexExpr

Array = npt.NDArray[Any]
Box = dict[str, range]

FLOATS = ("float32", "float64", "float16", "bfloat16")
SIGNED = ("int32", "int64", "int16", "int8")
DTYPES = (*FLOATS, *SIGNED, "uint8", "uint16", "uint32", "uint64", "bool")


@dataclass(frozen=True)
class Operand:
    """A tensor to be made: its type, and how it is filled."""

    dtype: str
    shape: tuple[int, ...]
    low: int
    high: int
    """The values are integers in ``low .. high``; in -1 .. 1 there is no 0."""
    seed: int

    def type(self) -> TensorType[Attribute]:
        return TensorType(ELEMENT_TYPES[np.dtype(self.dtype)], self.shape)

    def array(self) -> Array:
        random = np.random.default_rng(self.seed)
        values = random.integers(self.low, self.high, self.shape, endpoint=True)
        if (self.low, self.high) == (-1, 1):
            values = np.where(values == 0, 1, values)
        return np.asarray(values).astype(self.dtype)


@dataclass(frozen=True)
class Contraction:
    """A contraction to be made, with its data."""

    aggregation: Aggregation
    combination: Combination
    output: Access
    shape: tuple[int, ...]
    inputs: tuple[tuple[Operand, Access], ...]
    constraints: tuple[Constraint, ...]
    default: Operand | None

    def operands(self) -> list[Operand]:
        return [operand for operand, _ in self.inputs] + ([self.default] if self.default else [])

    def space(self) -> IndexSpace:
        return IndexSpace(
            self.output,
            self.shape,
            tuple(access for _, access in self.inputs),
            tuple(operand.shape for operand, _ in self.inputs),
            self.constraints,
        )

    def build(self, values: Sequence[SSAValue]) -> ContractionOp:
        """The op on ``values``, one for each of ``operands``."""
        accesses = [access for _, access in self.inputs]
        return ContractionOp(
            self.aggregation,
            self.combination,
            self.output,
            list(zip(values, accesses, strict=False)),
            self.constraints,
            shape=self.shape,
            default=values[-1] if self.default else None,
        )


# -- contractions ------------------------------------------------------------------------------

NAMES = ("i", "j", "k", "l")


@dataclass(frozen=True)
class Style:
    """Features of the index expressions of a contraction."""

    coefficients: tuple[int | Fraction, ...] = (1, 1, 1, 1, 1, -1, 2, 3)
    shifts: tuple[int | Fraction, ...] = (0,)
    """By how much more than 0 the least value of an expression is."""
    spares: tuple[int, ...] = (0, 0, 0, 0, 1, 2)
    """By how much an axis is longer than its expression needs."""


PLAIN = Style()
CUT = Style((1, 1, 1, -1, 2, -3), (0, 0, 0, 1, -1, -2), (0, 0, 0, -1, -3, 2))
RATIONAL = Style((1, 1, 1, -1, Fraction(1, 2), Fraction(-1, 2), Fraction(2, 3)), (0, 0, 1))
FRACTIONAL = Style((1, Fraction(1, 2)), (0, Fraction(1, 2), Fraction(1, 3)))
STYLES = st.sampled_from([PLAIN] * 5 + [CUT] * 4 + [RATIONAL] * 2 + [FRACTIONAL])
EXTENTS = st.sampled_from([1, 2, 3, 3, 4, 4, 5, 5, 6, 7, 9])


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    """Indices, one to four, and where their values are to be."""
    names = NAMES[: draw(st.sampled_from([1, 2, 2, 3, 3, 3, 4, 4]))]
    lows = [draw(st.sampled_from([0, 0, 0, -2, 1])) for _ in names]
    return {n: range(low, low + draw(EXTENTS)) for n, low in zip(names, lows, strict=True)}


def span(expr: IndexExpr, box: Box) -> tuple[Fraction, Fraction]:
    """The least and the greatest value of ``expr`` in ``box``."""
    ends = [
        sorted((expr.coefficient(n) * box[n][0], expr.coefficient(n) * box[n][-1]))
        for n in expr.names
    ]
    return (
        expr.constant + sum((low for low, _ in ends), Fraction(0)),
        expr.constant + sum((high for _, high in ends), Fraction(0)),
    )


@st.composite
def axes(draw: st.DrawFn, expr: IndexExpr, box: Box, style: Style) -> tuple[IndexExpr, int]:
    """``expr`` moved to begin near 0, and a size near what it takes."""
    low, high = span(expr, box)
    shift = draw(st.sampled_from(style.shifts)) if expr.names else 0
    size = floor(high - low + shift) + 1 + draw(st.sampled_from(style.spares))
    # Where values are fractions, the least one need not be one.
    return expr + (shift - floor(low)), max(draw(st.sampled_from([0, 1, 1, 1, 1, 1])), size)


@st.composite
def affine(draw: st.DrawFn, box: Box, style: Style, most: int = 3) -> IndexExpr:
    """A sum of up to ``most`` indices times coefficients."""
    count = draw(st.sampled_from([0, *[1] * 6, *[2] * 4, *[3] * 2]))
    names = draw(st.permutations(list(box)))[: min(count, most)]
    return IndexExpr.linear({n: draw(st.sampled_from(style.coefficients)) for n in names})


@st.composite
def tensors(draw: st.DrawFn, box: Box, style: Style) -> tuple[Access, tuple[int, ...]]:
    """Index expressions and the shape of a tensor that they fit in, more or less."""
    rank = draw(st.sampled_from([0, 1, 1, 2, 2, 2, 3, 3, 4]))
    pairs = [draw(axes(draw(affine(box, style)), box, style)) for _ in range(rank)]
    return tuple(e for e, _ in pairs), tuple(size for _, size in pairs)


@st.composite
def outputs(
    draw: st.DrawFn, box: Box, style: Style, general: bool
) -> tuple[Access, tuple[int, ...]]:
    """The output's axes: single indices, times an integer, plus a constant; or anything."""
    if general:
        return draw(tensors(box, style))
    names = draw(st.permutations(list(box)))[: draw(st.integers(0, 3))]
    whole = [c for c in style.coefficients if Fraction(c).denominator == 1]
    exprs = [draw(st.sampled_from(whole)) * IndexExpr.of(name) for name in names]
    shifts = tuple(shift for shift in style.shifts if Fraction(shift).denominator == 1)
    pairs = [draw(axes(expr, box, replace(style, shifts=shifts))) for expr in exprs]
    return tuple(e for e, _ in pairs), tuple(size for _, size in pairs)


@st.composite
def constraints(draw: st.DrawFn, box: Box, style: Style) -> Constraint:
    """A constraint that cuts a part of the box away."""
    expr, size = draw(axes(draw(affine(box, style, 2)), box, style))
    return Constraint(expr, IndexExpr.of(size))


def bounds(box: Box, exprs: Sequence[IndexExpr]) -> tuple[Constraint, ...]:
    """Constraints for the indices that stand nowhere by themselves."""
    alone = {expr.names[0] for expr in exprs if len(expr.names) == 1}
    used = {name for expr in exprs for name in expr.names}
    return tuple(
        Constraint(IndexExpr.of(name) - box[name][0], IndexExpr.of(len(box[name])))
        for name in box
        if name in used - alone
    )


def value_range(
    aggregation: Aggregation, combination: Combination, dtype: str, with_reals: bool
) -> st.SearchStrategy[tuple[int, int]]:
    """From where to where the values may go so that reals are not rounded."""
    low = 0 if dtype.startswith("u") else -1
    if dtype == "bool":
        return st.just((0, 1))
    if not with_reals:
        limits = np.iinfo(dtype)
        whole = (int(limits.min), min(int(limits.max), 2**63 - 1))
        return st.sampled_from([(4 * low, 4), whole, (0, 1)])
    if aggregation == Aggregation.mul:
        # Many factors: units, so that the product stays one.
        return st.just((1, 1) if low == 0 or combination == Combination.add else (-1, 1))
    return st.sampled_from([(low, 1), (0, 1)])


@st.composite
def contractions(draw: st.DrawFn, general: bool = False) -> Contraction:
    """Any contraction with a bounded domain; ``general``: also with any output expressions."""
    box, style = draw(boxes()), draw(STYLES)
    aggregation = draw(st.sampled_from(list(Aggregation)))
    combination = draw(st.sampled_from(list(Combination)))
    arity = draw(st.sampled_from(ARITY[combination]))
    dtypes = draw(st.lists(st.sampled_from(DTYPES), min_size=arity + 1, max_size=arity + 1))
    with_reals = any(dtype in FLOATS for dtype in dtypes)

    def operand(dtype: str, shape: tuple[int, ...]) -> Operand:
        low, high = draw(value_range(aggregation, combination, dtype, with_reals))
        return Operand(dtype, shape, low, high, draw(st.integers(0, 999)))

    output, shape = draw(outputs(box, style, general))
    inputs: list[tuple[Operand, Access]] = []
    for dtype in dtypes[1:]:
        access, input_shape = draw(tensors(box, style))
        inputs.append((operand(dtype, input_shape), access))
    extra = tuple(draw(st.lists(constraints(box, style), max_size=2)))
    exprs = [*output, *(e for _, access in inputs for e in access), *(c.expr for c in extra)]
    default = operand(dtypes[0], shape) if draw(st.booleans()) else None
    rest = (combination, output, shape, tuple(inputs), extra + bounds(box, exprs), default)
    made = Contraction(aggregation, *rest)
    if aggregation == Aggregation.assign and sets.collision(made.space()) is not None:
        return Contraction(Aggregation.add, *rest)
    return made


def contraction_module(batch: Sequence[Contraction]) -> tuple[ModuleOp, list[Array]]:
    """Function that does all contractions of a batch, and its inputs."""
    groups = [made.operands() for made in batch]

    operands = [operand for group in groups for operand in group]
    block = Block(arg_types=[operand.type() for operand in operands])
    rest = iter(block.args)
    for made, group in zip(batch, groups, strict=True):
        block.add_op(made.build([next(rest) for _ in group]))
    results = [op.results[0] for op in block.ops]
    return function_module(block, results), [operand.array() for operand in operands]
