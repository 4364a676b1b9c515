"""Width of the index arithmetic of kernels, so that nothing overflows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from xdsl.dialects.builtin import TensorType

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.small_stencils import index_at
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.expr import Range
from tiledialect.lowering.tile_to_nest.elements import static_shape
from tiledialect.schedule.loops import PARALLEL

WIDTHS = (32, 64)


def index_width(kernels: Iterable[KernelOp]) -> int:
    """Number of bits of the index arithmetic of scheduled kernels.

    Raises a TileError for a kernel whose arithmetic does not fit the widest integers.
    """
    return max(map(_kernel_width, kernels), default=WIDTHS[0])


def _kernel_width(kernel: KernelOp) -> int:
    largest = max(_numbers(kernel), default=0)
    for width in WIDTHS:
        if largest < 2 ** (width - 1):
            return width
    name = name_of(kernel.outputs[0])
    raise TileError.at(
        kernel, f"the index arithmetic of {name} does not fit {WIDTHS[-1]} bits: up to {largest}"
    )


def _numbers(kernel: KernelOp) -> Iterator[int]:
    """Upper bounds of the magnitudes of all index values of a kernel."""
    for op in (kernel, *kernel.block.ops):
        for value in (*op.operands, *op.results):
            if isinstance(value.type, TensorType):
                yield prod(static_shape(value))
    reached = loop_ranges(kernel)
    for r in reached.values():
        yield max(abs(r.lower), abs(r.upper), r.extent)
    if kernel.schedule is not None:
        for role in PARALLEL:
            yield from kernel.schedule.data.extents(role)
    if kernel.contraction is not None:
        yield from _contraction_numbers(kernel.contraction, reached)
    elif kernel.axes is None:
        for op in kernel.contractions:
            yield from _contraction_numbers(op, _stencil_ranges(op, reached))


def _stencil_ranges(op: ContractionOp, reached: dict[str, Range]) -> dict[str, Range]:
    """Ranges of the indices of a small stencil, whose elements are at the kernel's coordinates."""
    found, shape = dict(ranges_of(op)), static_shape(op.result)
    ranges = [Range(0, n) for n in shape]
    if len(shape) == len(reached):
        # Copies of copies are at other places, as far away as the others go past the end.
        pairs = zip(ranges, reached.values(), strict=True)
        ranges = [Range(min(a.lower, b.lower), max(a.upper, b.upper)) for a, b in pairs]
    for e, r in zip(op.output.data, ranges, strict=True):
        for name in e.names:
            # An index may run backwards.
            ends = sorted(index_at(e, place) for place in (r.lower, r.upper - 1))
            found[name] = Range(ends[0], ends[-1] + 1)
    return found


def loop_ranges(kernel: KernelOp) -> dict[str, Range]:
    """Values that the loops of a kernel give its indices, with overshoot."""
    levels = kernel.schedule.data.levels if kernel.schedule is not None else ()
    return {
        index.name: Range(
            index.range.lower,
            index.range.lower + prod(level.extent for level in levels if level.index == index.name),
        )
        for index in kernel.indices
    }


def _contraction_numbers(op: ContractionOp, reached: dict[str, Range]) -> Iterator[int]:
    """Bounds of a contraction: inputs are read at its points only, all else is evaluated before."""
    space = op.space()
    # An index with a single value is a constant.
    fixed = {name: r.lower for name, r in reached.items() if r.extent == 1}
    for guard in sets.guards(space, ranges_of(op)):
        yield max(sets.magnitude(guard.expr.substitute(fixed), reached), abs(guard.bound))
    for expr in space.output:
        yield sets.magnitude(expr.substitute(fixed), reached)
    points = sets.ranges(space)
    for access, shape in zip(space.inputs, space.input_shapes, strict=True):
        # Addresses may be computed for other points too, but wrapped ones are not used.
        strides = (prod(shape[k + 1 :]) for k in range(len(shape)))
        address = sum(
            sets.magnitude(e.substitute(fixed), reached) * s
            for e, s in zip(access, strides, strict=True)
        )
        yield min(address, 2 ** (WIDTHS[-1] - 1) - 1)
        for expr in access:
            yield sets.magnitude(expr.substitute(fixed), points)
