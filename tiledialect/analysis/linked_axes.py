"""Linked axes: axes of tensors, and indices of contractions, whose sizes change together.

Axes are linked where an index runs through them, from their first place to their last, or where an
op has them in common. An axis is fixed if something depends on its size: an index of it stands
together with others, or in a constraint.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.analysis.reshapes import reshaped_axes
from tiledialect.dialects.tile.base import Shape
from tiledialect.dialects.tile.constants import ConstantOp
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import (
    GatherOp,
    PrngStateOp,
    PrngValueOp,
    ReshapeOp,
    ScatterOp,
)
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import IndexExpr, Range

Axis = tuple[SSAValue, int]
Index = tuple[Operation, str]
"""An index of a contraction, or of a row kernel."""
Place = Axis | Index


@dataclass(eq=False)
class LinkedAxes:
    """The places of a function, in classes of which all or none may have another size."""

    parents: dict[Place, Place] = field(default_factory=dict[Place, Place])
    fixed: set[Place] = field(default_factory=set[Place])
    is_whole: bool = True
    """Whether every op is known."""

    @staticmethod
    def of(function: func.FuncOp) -> LinkedAxes:
        """The linked axes of a function of one block."""
        found = LinkedAxes()
        found._block(function.body.block)
        return found

    def root(self, place: Place) -> Place:
        """The place that stands for all that are linked with a place."""
        parents = self.parents
        found = place
        while (above := parents.get(found)) is not None:
            found = above
        while (above := parents.get(place)) is not None and above != found:
            parents[place], place = found, above
        return found

    def _link(self, a: Place, b: Place) -> None:
        a, b = self.root(a), self.root(b)
        if a != b:
            self.parents[a] = b

    def _link_all(self, a: SSAValue, b: SSAValue) -> None:
        for k in range(len(shape(a))):
            self._link((a, k), (b, k))

    def _block(self, block: Block, scope: KernelOp | None = None) -> None:
        for op in block.ops:
            match op:
                case KernelOp():
                    self._kernel(op)
                case ContractionOp():
                    self._contraction(op, scope)
                case ReshapeOp():
                    self._reshape(op)
                case GatherOp():
                    rank = len(shape(op.indices))
                    for k in range(len(shape(op.result))):
                        own = (op.indices, k) if k < rank else (op.tensor, k - rank + 1)
                        self._link((op.result, k), own)
                case ScatterOp():
                    self._scatter(op)
                case PrngStateOp():
                    self._link_all(op.result, op.state)
                case ElementwiseOp():
                    self._elementwise(op)
                case ConstantOp() | PrngValueOp() | YieldOp() | func.ReturnOp():
                    pass
                case _:
                    self.is_whole = False

    def _kernel(self, op: KernelOp) -> None:
        block = op.block
        for inside, outside in zip(block.args, op.inputs, strict=True):
            self._link_all(inside, outside)
        self._block(block, op if op.axes is not None else None)
        for inside, outside in zip(op.yield_op.operands, op.outputs, strict=True):
            self._link_all(inside, outside)
        if op.axes is None:
            return
        extents = tuple(r.extent for _, r in op.axes.data)
        for value in (r for inner in block.ops for r in inner.results):
            if shape(value) == extents:
                for k, (name, _) in enumerate(op.axes.data):
                    self._link((value, k), (op, name))

    def _contraction(self, op: ContractionOp, scope: KernelOp | None) -> None:
        owner = scope or op
        domain = op.domain if scope is None else scope.axes
        ranges = domain.ranges if domain is not None else {}
        accesses = (op.output, *op.accesses)
        for value, access in zip((op.result, *op.inputs), accesses, strict=True):
            for k, (e, size) in enumerate(zip(access.data, shape(value), strict=True)):
                if (outer := _runs_through(e, size, ranges)) is None:
                    self.fixed.add((value, k))
                    self.fixed.update((owner, name) for name in e.names)
                else:
                    self._link((value, k), (owner, outer))
                    self.fixed.update((owner, name) for name in e.names if name != outer)
        for constraint in op.constraints:
            self.fixed.update((owner, name) for name in constraint.data.expr.names)
        if op.default is not None and shape(op.default):
            self._link_all(op.default, op.result)

    def _reshape(self, op: ReshapeOp) -> None:
        for before, after in reshaped_axes(shape(op.operand), shape(op.result)):
            old = [(op.operand, k) for k in before]
            new = [(op.result, k) for k in after]
            if old and new:
                self._link(old.pop(0), new.pop(0))
            self.fixed.update(old + new)

    def _scatter(self, op: ScatterOp) -> None:
        rank = len(shape(op.indices)) if shape(op.updates) else 0
        axis = op.row_axis
        self.fixed.update((op.result, k) for k in range(axis))
        self._link((op.result, axis), (op.like, 0))
        for k in range(len(shape(op.updates))):
            own = (op.indices, k) if k < rank else (op.result, k - rank + axis + 1)
            self._link((op.updates, k), own)

    def _elementwise(self, op: ElementwiseOp) -> None:
        (result,) = op.results
        sizes = shape(result)
        for value in op.operands:
            own = shape(value)
            shift = len(sizes) - len(own)
            for k, size in enumerate(own):
                if size == sizes[k + shift]:
                    self._link((value, k), (result, k + shift))
                else:
                    self.fixed.add((value, k))


def shape(value: SSAValue) -> Shape:
    """The sizes of a tensor."""
    t = value.type
    return t.get_shape() if isinstance(t, TensorType) else ()


def _runs_through(e: IndexExpr, size: int, ranges: dict[str, Range]) -> str | None:
    """The index whose number of values the size of an axis follows, if each value has its own
    places there, one or several, and these are all."""
    if e.constant or not e.is_affine:
        return None
    steps = {name: e.coefficient(name) for name in e.names}
    if any(name not in ranges or ranges[name].lower != 0 for name in steps):
        return None
    reached = 1
    outer = None
    for name, step in sorted(steps.items(), key=lambda item: (item[1], ranges[item[0]].upper)):
        if step != reached:
            return None
        reached *= ranges[name].upper
        outer = name
    return outer if reached == size and all(ranges[name].upper > 0 for name in steps) else None
