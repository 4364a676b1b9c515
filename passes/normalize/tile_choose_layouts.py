"""tile-choose-layouts: values get the order of axes in which fewest copies transpose them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from typing_extensions import TypeIs
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.analysis.over_rows import is_over_rows
from tiledialect.analysis.part_copies import is_part_copy
from tiledialect.dialects.tile.attributes import AccessAttr
from tiledialect.dialects.tile.base import Shape, make_type, size_of, tensor_type
from tiledialect.dialects.tile.canonicalization import DropReshape
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp, IndexOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp, before_reshapes
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.dialects.tile.unit_axes import ComputeUnitAxes
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import keep_name, take_name, with_type
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.normalize.rewrites.reshape_sinking import sink_reshapes
from tiledialect.passes.normalize.rewrites.reshaped_reads import read_before_reshapes

Item = TypeVar("Item")
Order = tuple[int, ...]
"""For each axis of a value in a new order, the axis that it was before."""


def inverse(order: Order) -> Order:
    """The order that undoes one."""
    return tuple(order.index(k) for k in range(len(order)))


def is_view(sizes: Sequence[int], order: Order) -> bool:
    """Whether elements stay in their places in memory: only axes of size 1 move."""
    long = [k for k in order if sizes[k] != 1]
    return long == sorted(long)


def _is_whole_copy(op: ContractionOp) -> bool:
    """Whether a contraction copies all elements of its operand."""
    return is_part_copy(op) and size_of(op.inputs[0]) == size_of(op.result)


def _read(op: ContractionOp) -> list[IndexExpr]:
    """Places at which a contraction reads its first operand, of indices with several values."""
    single = {n: r.lower for n, r in ranges_of(op).items() if r.extent == 1}
    return [e.substitute(single) for e in op.accesses.data[0].data]


def _moves_nothing(op: ContractionOp) -> bool:
    """Whether a copy leaves all elements in their places in memory."""
    if not _is_whole_copy(op):
        return False
    pairs = (_read(op), shape(op.inputs[0])), (op.output.data, shape(op.result))
    before, after = ([e for e, n in zip(*pair, strict=True) if n != 1] for pair in pairs)
    return before == after


def transposition(op: ContractionOp) -> Order | None:
    """Order that a copy gives the axes of its operand; None for another contraction."""
    if not _is_whole_copy(op) or len(shape(op.inputs[0])) != len(shape(op.result)):
        return None
    sizes = shape(op.inputs[0])
    at = {e: k for k, e in enumerate(_read(op)) if sizes[k] != 1}
    units = [k for k, n in enumerate(sizes) if n == 1]
    if len(at) + len(units) != len(sizes):
        return None
    found: list[int | None] = []
    for e, n in zip(op.output.data, shape(op.result), strict=True):
        found.append(at.get(e) if n != 1 else units.pop(0) if units else None)
    order = tuple(k for k in found if k is not None)
    return order if len(order) == len(sizes) else None


def _permuted(items: Sequence[Item], order: Order) -> tuple[Item, ...]:
    return tuple(items[k] for k in order)


def _can_change(op: Operation) -> TypeIs[ContractionOp]:
    """Whether the axes of a contraction's values may change their order."""
    if not isinstance(op, ContractionOp) or op.domain is None or op.symbols or op.sizes:
        return False
    return op.default is None or shape(op.default) in ((), shape(op.result))


def _is_pointwise(op: Operation) -> bool:
    return isinstance(op, ElementwiseOp) and not isinstance(op, IndexOp | ConstantOp)


@dataclass
class Linked:
    """Values that lie along the same axes, as elementwise ops, sums over rows and defaults link
    them.
    """

    order: Order
    """New order of their axes."""
    values: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])

    @staticmethod
    def with_value(value: SSAValue, order: Order) -> Linked | None:
        """The values that get a new order together with one; None if that needs copies."""
        found = Linked(order)
        pending = [value]
        while pending:
            v = pending.pop()
            if v in found.values:
                continue
            linked = found._links(v)
            if linked is None:
                return None
            found.values[v] = None
            pending += linked
        return found

    def _links(self, value: SSAValue) -> list[SSAValue] | None:
        """Values linked to one directly; None if its order cannot change."""
        made = value.owner
        if len(shape(value)) != len(self.order) or not isinstance(made, Operation):
            return None
        found: list[SSAValue] = []
        if _is_pointwise(made):
            for operand in made.operands:
                if not is_view(self._whole(operand), self.order):
                    found.append(operand)
        elif not _can_change(made):
            return None
        else:
            found += [made.inputs[0]] if is_over_rows(made) else []
            found += [made.default] if made.default is not None and shape(made.default) else []
        for use in value.uses:
            op = use.operation
            if _is_pointwise(op):
                found.append(op.results[0])
            elif isinstance(op, ReshapeOp) and is_view(shape(value), self.order):
                continue
            elif not _can_change(op):
                return None
            elif use.index >= len(op.inputs) or is_over_rows(op):
                found.append(op.result)
        return found

    def _whole(self, value: SSAValue) -> Shape:
        """Shape of an operand of an elementwise op, with all axes."""
        own = shape(value)
        return (*(1,) * (len(self.order) - len(own)), *own)

    def after(self, op: ContractionOp, order: Order) -> Order:
        """Order that a transposition gives the axes, once values have theirs."""
        if op.result in self.values:
            order = _permuted(order, self.order)
        if op.inputs[0] in self.values:
            order = tuple(self.order.index(k) for k in order)
        return order

    @property
    def contractions(self) -> list[ContractionOp]:
        """Contractions that make or read the values, each once."""
        near = (op for v in self.values for op in (v.owner, *(use.operation for use in v.uses)))
        return [*dict.fromkeys(op for op in near if isinstance(op, ContractionOp))]

    def saved(self) -> int:
        """Bytes of the copies that are not made then, less those that are."""
        total = 0
        for op in self.contractions:
            before = _order_of_copy(op)
            if before is None:
                continue
            sizes = shape(op.inputs[0])
            own = _permuted(sizes, self.order) if op.inputs[0] in self.values else sizes
            change = is_view(own, self.after(op, before)) - is_view(sizes, before)
            t = tensor_type(op.result).element_type
            total += change * size_of(op.result) * element_bytes(t)
        return total

    def put(self) -> None:
        """Give the values their new order, in place."""
        for value in self.values:
            for use in value.uses:
                op = use.operation
                if isinstance(op, ContractionOp) and use.index < len(op.inputs):
                    accesses = list(op.accesses)
                    own = _permuted(accesses[use.index].data, self.order)
                    accesses[use.index] = AccessAttr(own)
                    op.accesses = ArrayAttr(accesses)
        for value in self.values:
            op = value.owner
            if isinstance(op, ContractionOp):
                op.output = AccessAttr(_permuted(op.output.data, self.order))
            elif isinstance(op, ElementwiseOp):
                self._reshape_operands(op)
        for value in self.values:
            sizes = _permuted(shape(value), self.order)
            with_type(value, make_type(sizes, tensor_type(value).element_type))

    def _reshape_operands(self, op: ElementwiseOp) -> None:
        """Give an elementwise op the operands that have no new order as views."""
        for k, operand in enumerate(op.operands):
            sizes = _permuted(self._whole(operand), self.order)
            if operand in self.values or not shape(operand) or sizes == self._whole(operand):
                continue
            view = ReshapeOp.of(operand, sizes)
            keep_name(view.result, operand)
            Rewriter.insert_op(view, InsertPoint.before(op))
            op.operands[k] = view.result


def _drop_views(contractions: Iterable[ContractionOp]) -> None:
    """Replace copies that leave the elements in their places by reshapes."""
    for op in contractions:
        if _moves_nothing(op):
            view = ReshapeOp.of(op.inputs[0], shape(op.result))
            take_name(view.result, op.result)
            Rewriter.replace_op(op, view)


def _changeable(function: func.FuncOp) -> list[ContractionOp]:
    found = ops_of(function, ContractionOp)
    return [op for op in found if not isinstance(op.parent_op(), KernelOp) and _can_change(op)]


def _order_of_copy(op: ContractionOp) -> Order | None:
    """Order that a copy gives the axes of its operand; None for another contraction, and for copies
    of arguments, which may be made once."""
    order = transposition(op)
    is_of_argument = order is not None and isinstance(before_reshapes(op.inputs[0]), BlockArgument)
    return None if is_of_argument else order


def _better(op: ContractionOp) -> Linked | None:
    """A change of an order that makes a copy superfluous; None if there is none."""
    if (order := _order_of_copy(op)) is None:
        return None
    pairs = (op.inputs[0], order), (op.result, inverse(order))
    found = (Linked.with_value(value, wanted) for value, wanted in pairs)
    return next((x for x in found if x is not None and x.saved() > 0), None)


def _save_copies(function: func.FuncOp) -> bool:
    """Change the orders of axes that copies change; whether that saved any."""
    is_changed = False
    for op in _changeable(function):
        # A change before may have made it a view.
        better = _better(op) if op.parent is not None else None
        if better is not None:
            contractions = better.contractions
            better.put()
            _drop_views(contractions)
            is_changed = True
    return is_changed


class TileChooseLayoutsPass(ModulePass):
    """Computes values in the order of axes in which fewest copies transpose them.

    Values that elementwise ops, sums over rows and defaults link lie along the same axes.
    Contractions read and write them in any order. Where another order of their axes makes copies
    between such values superfluous, they get it: a convolution between layer normalizations over
    the channels writes the channels last. Arguments, results, and values that are reshaped keep
    their order, unless only axes of size 1 move; a copy that moves only these is a reshape. A copy
    that stays reads reshaped elements where they were before, as the windows of a picture: what
    makes them can be in its kernel.
    """

    name = "tile-choose-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change orders in all functions, as long as that saves copies."""
        for function in ops_of(op, func.FuncOp):
            if function.is_declaration:
                continue
            _drop_views(_changeable(function))
            while _save_copies(function):
                pass
            sink_reshapes(function)
            for copy in filter(is_part_copy, _changeable(function)):
                read_before_reshapes(copy)
        patterns = GreedyRewritePatternApplier([DropReshape(), ComputeUnitAxes()])
        PatternRewriteWalker(patterns).rewrite_module(op)
        for region in op.regions:
            region_dce(region)
