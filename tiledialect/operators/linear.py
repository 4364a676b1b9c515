"""Operators that sum products: products of tensors, convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.tensor_builder import Access, TensorBuilder
from tiledialect.operators.layout import cast, element_type, shape


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
    source, weights, result = axes
    groups = feature_groups * batch_groups
    out_features = shape(kernel)[weights.batch] // groups
    n, g, c = IndexExpr.of("n"), IndexExpr.of("g"), IndexExpr.of("c")
    constraints: list[Constraint] = []
    feature = _grouped(g, IndexExpr.of("o"), groups, out_features, constraints)
    in_features = shape(kernel)[weights.feature]
    batch = _grouped(g, n, batch_groups, shape(x)[source.batch] // batch_groups, constraints)
    inner = _grouped(g, c, feature_groups, in_features, constraints)
    of_x, of_kernel, of_result = (
        [IndexExpr()] * len(sizes),
        [IndexExpr()] * len(sizes),
        [IndexExpr()] * len(sizes),
    )
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
    return sum_of_products(
        b, (x, of_x), (kernel, of_kernel), of_result, sizes, t, tuple(dict.fromkeys(constraints))
    )


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
