"""Operators that sum products: products of tensors, convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import TileError
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.tensor_builder import Access, TensorBuilder
from tiledialect.operators.layout import (
    cast,
    element_type,
    shape,
)


def sum_of_products(
    b: TensorBuilder,
    x: tuple[SSAValue, Access],
    y: tuple[SSAValue, Access],
    output: Access,
    sizes: Sequence[int],
    t: Attribute,
    constraints: Sequence[Constraint] = (),
) -> SSAValue:
    """Sum of products of elements of two tensors, in an element type."""
    (left, left_access), (right, right_access) = x, y
    wide = i32 if t == i1 else t
    own = et.as_number(et.promote(element_type(left), element_type(right)))
    is_wide = wide == et.CONCRETE["f32"] and own in et.SHORT_FLOATS
    if own != wide and not is_wide:
        left, right = cast(b, left, wide), cast(b, right, wide)
    made = ContractionOp(
        Aggregation.add,
        Combination.mul,
        output,
        [(left, left_access), (right, right_access)],
        constraints,
        shape=tuple(sizes),
        is_wide=is_wide,
    )
    return cast(b, b.insert(made), t)


def dot_general(
    b: TensorBuilder,
    x: SSAValue,
    y: SSAValue,
    batch: tuple[Sequence[int], Sequence[int]],
    contracted: tuple[Sequence[int], Sequence[int]],
    t: Attribute,
) -> SSAValue:
    """Product of two tensors over ``contracted`` axes, for each place along the ``batch`` axes.

    The result has the batch axes, the rest of ``x``'s, the rest of ``y``'s.
    """
    left = {axis: f"m{axis}" for axis in range(len(shape(x)))}
    right = {axis: f"n{axis}" for axis in range(len(shape(y)))}
    for name, pairs in (("b", batch), ("k", contracted)):
        for k, (a, c) in enumerate(zip(*pairs, strict=True)):
            left[a] = right[c] = f"{name}{k}"
    skipped = {*batch[0], *contracted[0]}, {*batch[1], *contracted[1]}
    free = [axis for axis in left if axis not in skipped[0]]
    own = [axis for axis in right if axis not in skipped[1]]
    names = [left[a] for a in (*batch[0], *free)] + [right[a] for a in own]
    sizes = [shape(x)[a] for a in (*batch[0], *free)] + [shape(y)[a] for a in own]
    return sum_of_products(
        b,
        (x, [IndexExpr.of(left[a]) for a in left]),
        (y, [IndexExpr.of(right[a]) for a in right]),
        [IndexExpr.of(name) for name in names],
        sizes,
        t,
    )


def matmul(b: TensorBuilder, x: SSAValue, y: SSAValue, t: Attribute) -> SSAValue:
    """Product of matrices along the last two axes, broadcast along the others, as NumPy's.

    A tensor of one axis is a row on the left, a column on the right.
    """
    left, right = len(shape(x)), len(shape(y))
    batch = [f"b{k}" for k in range(max(left, right) - 2)]
    m = ["m"] if left > 1 else []
    n = ["n"] if right > 1 else []
    terms = (
        [*batch[len(batch) - max(0, left - 2) :], *m, "k"],
        [*batch[len(batch) - max(0, right - 2) :], "k", *n],
    )
    return einsum(b, [x, y], terms, [*batch, *m, *n], t)


def einsum(
    b: TensorBuilder,
    operands: Sequence[SSAValue],
    terms: Sequence[Sequence[str]],
    output: Sequence[str],
    t: Attribute,
) -> SSAValue:
    """Sum of products by names of axes; an axis of one element is broadcast.

    More than two tensors are multiplied from left to right. Raises a TileError for axes of one name
    and two sizes.
    """
    sizes: dict[str, int] = {}
    for operand, term in zip(operands, terms, strict=True):
        for name, n in zip(term, shape(operand), strict=True):
            known = sizes.setdefault(name, n)
            if known != n and 1 not in (known, n):
                raise TileError(f"axes of one name, {name}, have {known} and {n} elements")
            sizes[name] = n if known == 1 else known
    accesses = [
        [
            IndexExpr.of(name) if n == sizes[name] else IndexExpr()
            for name, n in zip(term, shape(operand), strict=True)
        ]
        for operand, term in zip(operands, terms, strict=True)
    ]
    if len(operands) == 1:
        return _summed(b, operands[0], accesses[0], output, sizes, t)
    result, access = operands[0], accesses[0]
    names = list(dict.fromkeys(terms[0]))
    for k in range(1, len(operands)):
        is_last = k == len(operands) - 1
        names = list(dict.fromkeys([*names, *terms[k]]))
        rest = {*output, *(name for term in terms[k + 1 :] for name in term)}
        kept = [*output] if is_last else [name for name in names if name in rest]
        places = [IndexExpr.of(name) for name in kept]
        lengths = [sizes[name] for name in kept]
        result = sum_of_products(
            b, (result, access), (operands[k], accesses[k]), places, lengths, t
        )
        access, names = places, kept
    return result


def _summed(
    b: TensorBuilder,
    x: SSAValue,
    access: Access,
    output: Sequence[str],
    sizes: dict[str, int],
    t: Attribute,
) -> SSAValue:
    """Sum of a tensor over the axes that are not in the output."""
    places = [IndexExpr.of(name) for name in output]
    made = ContractionOp(
        Aggregation.add,
        Combination.none,
        places,
        [(x, access)],
        shape=tuple(sizes[name] for name in output),
    )
    return cast(b, b.insert(made), t)


@dataclass(frozen=True)
class Window:
    """Window along one spatial axis."""

    size: int
    stride: int = 1
    low: int = 0
    """Padding before the first element; padding after the last one follows from the result."""
    base_dilation: int = 1
    dilation: int = 1
    is_reversed: bool = False

    def place(self, output: IndexExpr, offset: IndexExpr) -> IndexExpr:
        """Index of the element at an offset in an output's window; a fraction between elements."""
        offset = self.size - 1 - offset if self.is_reversed else offset
        return (self.stride * output + self.dilation * offset - self.low) / self.base_dilation


@dataclass(frozen=True)
class ConvolutionAxes:
    """Axes of a convolution: batch, features, and the spatial ones in order."""

    batch: int
    feature: int
    spatial: tuple[int, ...]


@dataclass(frozen=True)
class _ConvolutionAccess:
    """Accesses of a convolution to its three tensors."""

    x: Access
    kernel: Access
    result: Access
    constraints: Sequence[Constraint]


def convolution(
    b: TensorBuilder,
    x: SSAValue,
    kernel: SSAValue,
    windows: Sequence[Window],
    axes: tuple[ConvolutionAxes, ConvolutionAxes, ConvolutionAxes],
    sizes: Sequence[int],
    t: Attribute,
    feature_groups: int = 1,
    batch_groups: int = 1,
) -> SSAValue:
    """Convolution with dilations of both, in groups of features or of the batch.

    ``axes`` are those of ``x``, of the kernel (whose batch axis is that of output features, and
    its feature axis that of input features) and of the result.
    """
    at = _convolution_access(shape(x), shape(kernel), windows, axes, feature_groups, batch_groups)
    return sum_of_products(b, (x, at.x), (kernel, at.kernel), at.result, sizes, t, at.constraints)


def convolution_by_x(
    b: TensorBuilder,
    cotangent: SSAValue,
    kernel: SSAValue,
    windows: Sequence[Window],
    axes: tuple[ConvolutionAxes, ConvolutionAxes, ConvolutionAxes],
    sizes: Sequence[int],
    t: Attribute,
    feature_groups: int,
) -> SSAValue:
    """Gradient of a convolution by ``x``, of given sizes: the transposed convolution."""
    at = _convolution_access(sizes, shape(kernel), windows, axes, feature_groups)
    return sum_of_products(
        b, (cotangent, at.result), (kernel, at.kernel), at.x, sizes, t, at.constraints
    )


def convolution_by_kernel(
    b: TensorBuilder,
    cotangent: SSAValue,
    x: SSAValue,
    windows: Sequence[Window],
    axes: tuple[ConvolutionAxes, ConvolutionAxes, ConvolutionAxes],
    sizes: Sequence[int],
    t: Attribute,
    feature_groups: int,
) -> SSAValue:
    """Gradient of a convolution by its kernel, of given sizes."""
    at = _convolution_access(shape(x), sizes, windows, axes, feature_groups)
    return sum_of_products(
        b, (cotangent, at.result), (x, at.x), at.kernel, sizes, t, at.constraints
    )


def _convolution_access(
    x_sizes: Sequence[int],
    kernel_sizes: Sequence[int],
    windows: Sequence[Window],
    axes: tuple[ConvolutionAxes, ConvolutionAxes, ConvolutionAxes],
    feature_groups: int,
    batch_groups: int = 1,
) -> _ConvolutionAccess:
    source, weights, result = axes
    groups = feature_groups * batch_groups
    out_features = kernel_sizes[weights.batch] // groups
    n, g, c = IndexExpr.of("n"), IndexExpr.of("g"), IndexExpr.of("c")
    constraints: list[Constraint] = []
    feature = _grouped(g, IndexExpr.of("o"), groups, out_features, constraints)
    in_features = kernel_sizes[weights.feature]
    batch = _grouped(g, n, batch_groups, x_sizes[source.batch] // batch_groups, constraints)
    inner = _grouped(g, c, feature_groups, in_features, constraints)
    of_x, of_kernel, of_result = ([IndexExpr()] * len(x_sizes) for _ in range(3))
    of_x[source.batch], of_x[source.feature] = batch, inner
    of_kernel[weights.batch], of_kernel[weights.feature] = (
        feature,
        c if in_features > 1 else IndexExpr(),
    )
    of_result[result.batch], of_result[result.feature] = n, feature
    for k, window in enumerate(windows):
        place, offset = IndexExpr.of(f"x{k}"), IndexExpr.of(f"k{k}")
        of_x[source.spatial[k]] = window.place(place, offset)
        of_kernel[weights.spatial[k]] = offset
        of_result[result.spatial[k]] = place
    return _ConvolutionAccess(of_x, of_kernel, of_result, tuple(dict.fromkeys(constraints)))


def _grouped(
    group: IndexExpr, inner: IndexExpr, groups: int, size: int, constraints: list[Constraint]
) -> IndexExpr:
    """Index of an element of a group among the elements of all groups, each of a size."""
    if groups == 1:
        return inner
    if size == 1:
        return group
    constraints.append(Constraint(inner, IndexExpr.of(size)))
    return group * size + inner


def fold_blocks(
    b: TensorBuilder, x: SSAValue, windows: Sequence[Window], sizes: Sequence[int]
) -> SSAValue:
    """Sum of overlapping blocks at their places: the transpose of taking all windows.

    ``x`` has a batch, features, an axis for each window's elements and one for its places.
    """
    n, c = IndexExpr.of("n"), IndexExpr.of("c")
    offsets = [IndexExpr.of(f"k{k}") for k in range(len(windows))]
    places = [IndexExpr.of(f"x{k}") for k in range(len(windows))]
    output = [w.place(p, o) for w, p, o in zip(windows, places, offsets, strict=True)]
    made = ContractionOp(
        Aggregation.add,
        Combination.none,
        [n, c, *output],
        [(x, [n, c, *offsets, *places])],
        shape=(*shape(x)[:2], *sizes),
    )
    return cast(b, b.insert(made), element_type(x))
