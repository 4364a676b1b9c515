"""Axis splitting for disjoint windows: the place `2*x + k` along an axis, 0 <= k < 2, becomes `[x,
k]`.

Tensors that are read or written in windows, blocks or patches then have an axis for their elements,
and one for each of their numbers. Reshapes around a kernel, which cost nothing, give them these
shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.analysis.collapsed_axes import accesses_of
from tiledialect.dialects.tile.attributes import AccessAttr, ConstraintAttr, DomainAttr
from tiledialect.dialects.tile.base import Shape, make_type, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.elementwise.special import IndexOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import Constraint, IndexExpr, Range
from tiledialect.index.sets import interval
from tiledialect.ir.names import with_type
from tiledialect.ir.ops_in import values_in

Digits = tuple[str, ...]
"""Indices whose mixed radix number is an expression, the most significant first."""
AxisSplits = tuple[Shape, ...]
"""Axes that each axis of a value is split into."""
ValueSplits = Mapping[SSAValue, AxisSplits]
"""Splits of values: a kernel's arguments, and the results of its ops."""


@dataclass(frozen=True)
class WindowAxes:
    """Axes of a contraction's kernel that split, and the splits of its values."""

    ranges: Mapping[str, Range]
    single: Mapping[str, int]
    """Indices that have one value each, which replaces them."""
    numbers: Mapping[str, Digits]
    """Digits of the number that an index is a digit of."""
    parts: ValueSplits
    constraints: Sequence[ConstraintAttr] = ()
    """Constraints that stay: of other indices."""

    def access(self, value: SSAValue, access: AccessAttr) -> AccessAttr:
        """Access of a contraction to a value after the split."""
        exprs = (e.substitute(self.single) for e in access.data)
        # A constant has no axes.
        axes = zip(exprs, self.parts.get(value, ()), strict=True)
        return AccessAttr([e for expr, sizes in axes for e in self._digits(expr, sizes)])

    def _digits(self, expr: IndexExpr, sizes: Shape) -> Iterable[IndexExpr]:
        own = expr.names
        if not own or own[0] not in self.numbers:
            return (expr,)
        number = self.numbers[own[0]]
        return (IndexExpr.of(n if n in own else 0) for n, _ in zip(number, sizes, strict=True))


def divisible_contraction(kernel: KernelOp) -> ContractionOp | None:
    """The contraction of a kernel whose axes may be split; None for kernels with other ops."""
    op = kernel.contraction
    allowed = ContractionOp | ElementwiseOp | ConstantOp | YieldOp
    if op is None or op.domain is None or op.default is not None or op.symbols:
        return None
    return op if all(isinstance(x, allowed) for x in kernel.block.ops) else None


def window_axes(kernel: KernelOp) -> WindowAxes | None:
    """Axes that a kernel's contraction reads or writes window by window, if there are any."""
    op = divisible_contraction(kernel)
    if op is None or op.domain is None:
        return None
    ranges = op.domain.ranges
    single = {n: r.lower for n, r in ranges.items() if r.extent == 1}
    constraints = (c.data.substitute(single) for c in op.constraints)
    if not all(_holds(c, ranges) for c in constraints) or _cuts_points(op, single):
        return None
    along = list(accesses_of(kernel, op, single))
    axes = (axis for value, access in along for axis in zip(access, shape(value), strict=True))
    if not (numbers := _numbers(axes, ranges)):
        return None
    parts: dict[SSAValue, AxisSplits] = {}
    for value, access in along:
        found = _parts(value, access, ranges, numbers)
        if found is None or parts.setdefault(value, found) != found:
            return None
    return WindowAxes(ranges, single, numbers, parts)


def _holds(constraint: Constraint, ranges: Mapping[str, Range]) -> bool:
    """Whether a constraint holds in all of the loops."""
    low, high = interval(constraint.expr, ranges)
    return low >= 0 and constraint.bound.is_constant and high < constraint.bound.constant


def _cuts_points(op: ContractionOp, single: Mapping[str, int]) -> bool:
    """Whether a tensor's axis of one element excludes most of the points: `X[8*b + k] * A[b -
    k]`.
    """
    tensors = zip((*op.inputs, op.result), (*op.accesses, op.output), strict=True)
    axes = (axis for v, access in tensors for axis in zip(access.data, shape(v), strict=True))
    return any(size == 1 and not e.substitute(single).is_constant for e, size in axes)


def _numbers(
    axes: Iterable[tuple[IndexExpr, int]], ranges: Mapping[str, Range]
) -> Mapping[str, Digits] | None:
    """Digits of the numbers that indices are digits of; None if none is clear."""
    found = {(e, size) for e, size in axes if len(e.names) > 1 and size > 1}
    read = [digits(e, size, ranges) for e, size in found]
    if not all(read):
        return None
    longest = [d for d in read if d and not any(set(d) < set(e) for e in read if e)]
    numbers = {name: number for number in longest for name in number}
    # An index is a digit of one number, and numbers of fewer digits have them in the same order.
    is_clear = all(_within(d, numbers[d[0]]) for d in read if d)
    return numbers if is_clear else None


def _within(part: Digits, number: Digits) -> bool:
    return tuple(name for name in number if name in part) == part


def digits(expr: IndexExpr, size: int, ranges: Mapping[str, Range]) -> Digits | None:
    """Digits of an expression that is a mixed radix number below a size."""
    names = sorted(expr.names, key=expr.coefficient, reverse=True)
    weight = size
    for name in names:
        r = ranges[name]
        if r.lower != 0 or expr.coefficient(name) * r.extent != weight:
            return None
        weight = expr.coefficient(name)
    return tuple(names) if weight == 1 and expr.constant == 0 and expr.is_affine else None


def _parts(
    value: SSAValue,
    access: Sequence[IndexExpr],
    ranges: Mapping[str, Range],
    numbers: Mapping[str, Digits],
) -> AxisSplits | None:
    """Split of each axis of a value; None where it is read at other digits."""
    found: list[Shape] = []
    for e, size in zip(access, shape(value), strict=True):
        number = next((numbers[n] for n in e.names if n in numbers), None)
        if number is None:
            found.append((size,))
            continue
        is_broadcast = size == 1
        if not is_broadcast and not _within(digits(e, size, ranges) or ("",), number):
            return None
        own = () if is_broadcast else e.names
        found.append(tuple(ranges[n].extent if n in own else 1 for n in number))
    return tuple(found)


def splits_like(kernel: KernelOp, value: SSAValue, parts: AxisSplits) -> ValueSplits | None:
    """Splits of the values of an elementwise kernel, given the split of one of them."""
    if shape(value) != shape(kernel.outputs[0]):
        return None
    found: dict[SSAValue, AxisSplits] = {}
    for v in values_in(kernel.block):
        if not isinstance(v.owner, ConstantOp):
            sizes = shape(v)
            aligned = zip(sizes, parts[len(parts) - len(sizes) :], strict=True)
            found[v] = tuple((1,) * len(p) if size == 1 else p for size, p in aligned)
    return found


def split_axes(
    kernel: KernelOp,
    parts: ValueSplits,
    axes: WindowAxes | None,
    view: Callable[[SSAValue, Shape], SSAValue],
) -> KernelOp | None:
    """The kernel over the split axes, not in the block yet; None if that is invalid.

    ``view`` gives its operands: the kernel's, in another shape.
    """
    body = kernel.body.clone()
    for old, new in zip(values_in(kernel.block), values_in(body.block), strict=True):
        if old in parts:
            t = make_type(split_shape(parts[old]), tensor_type(old).element_type)
            if t != new.type:
                with_type(new, t)
    for old, new in zip(kernel.block.ops, body.block.ops, strict=True):
        if axes and isinstance(old, ContractionOp) and isinstance(new, ContractionOp):
            _split(old, new, axes)
        if isinstance(old, IndexOp) and isinstance(new, IndexOp) and old.operand in parts:
            if (axis := _index_axis(parts[old.operand], old.axis.value.data)) is None:
                return None
            new.axis = IntegerAttr(axis, IndexType())
    pairs = zip(kernel.inputs, body.block.args, strict=True)
    inputs = [view(v, shape(argument)) for v, argument in pairs]
    new = KernelOp(inputs, body, like=kernel)
    try:
        new.verify()
    except VerifyException:
        new.erase()
        return None
    return new


def _index_axis(parts: AxisSplits, axis: int) -> int | None:
    """Axis along which elements lie as along one that is split; None if there are several."""
    own = [k for k, size in enumerate(parts[axis]) if size > 1] or [0]
    return len(split_shape(parts[:axis])) + own[0] if len(own) == 1 else None


def split_shape(parts: AxisSplits) -> Shape:
    """Shape of a value after a split."""
    return tuple(size for part in parts for size in part)


def _split(old: ContractionOp, new: ContractionOp, axes: WindowAxes) -> None:
    reads = zip(old.inputs, old.accesses, strict=True)
    new.accesses = ArrayAttr([axes.access(v, a) for v, a in reads])
    new.output = axes.access(old.result, old.output)
    new.constraints = ArrayAttr[ConstraintAttr](axes.constraints)
    new.domain = DomainAttr(tuple((n, axes.ranges[n]) for n in new.index_names))
