"""Copies of whole pieces of memory, which are not needed where source and result share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.analysis.part_copies import is_part_copy
from tiledialect.dialects.tile.base import Shape, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp, before_reshapes
from tiledialect.dialects.tile.structure.parts import all_parts
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.ir.target_spec import buffer_alignment

Access = Sequence[IndexExpr]


def needless_copies(function: func.FuncOp) -> dict[KernelOp, Sequence[int]]:
    """Kernels that copy results of others side by side, or a piece of one, with the place of each
    one's first element beside that of the copy.

    A result may lie in the copy from the start, or the copy in it: no other kernel writes over
    them, each lies in one other alone, and begins where a part of an allocation may begin. What is
    returned has memory of its own.
    """
    module = function.get_toplevel_object()
    alignment = buffer_alignment(module) if isinstance(module, ModuleOp) else 0
    last = function.body.block.last_op
    taken = {before_reshapes(v) for v in last.operands} if last is not None else set[SSAValue]()
    """Returned values, and those that lie in others."""
    found: dict[KernelOp, Sequence[int]] = {}
    for op in function.body.block.ops if alignment else ():
        if not isinstance(op, KernelOp) or not (places := copied_places(op)):
            continue
        (result,) = op.outputs
        sources = [before_reshapes(v) for v in op.inputs]
        size = element_bytes(tensor_type(result).element_type)
        fits = all(k * size % alignment == 0 for k in places) and len({*sources}) == len(sources)
        are_own = all(isinstance(v.owner, KernelOp) for v in sources)
        is_free = taken.isdisjoint((result, *sources)) and _is_only_read(result)
        if fits and are_own and is_free:
            found[op] = places
            taken.update(sources if len(sources) > 1 else (result,))
    return found


def copied_places(kernel: KernelOp) -> Sequence[int]:
    """Place of each input's first element beside that of the result of a kernel that copies all of
    them into it, each in one piece, or a piece of one; empty if it does anything else."""
    ops = kernel.block.ops
    is_copy = kernel.axes is None and all(isinstance(op, ContractionOp | YieldOp) for op in ops)
    if not is_copy or len(kernel.outputs) != 1:
        return ()
    (value,) = kernel.yield_op.values
    copies = [(p.value, p.ranges, p.places, _elements(p.value)) for p in all_parts(value)]
    op = kernel.contraction
    if op is not None and is_part_copy(op):
        copies = [(op.inputs[0], ranges_of(op), op.output.data, op.accesses.data[0].data)]
    found = {v: _apart(r, (to, shape(value)), (at, shape(v))) for v, r, to, at in copies}
    places = [k for v in kernel.block.args if (k := found.get(v)) is not None]
    return places if len(places) == len(copies) == len(kernel.inputs) else ()


def _elements(value: SSAValue) -> Access:
    return [IndexExpr.of(f"d{k}") for k in range(len(shape(value)))]


def _apart(
    ranges: Mapping[str, Range], to: tuple[Access, Shape], at: tuple[Access, Shape]
) -> int | None:
    """Number of elements from where a copy reads to where it writes; None unless it is constant."""
    still = {name: IndexExpr() for name, r in ranges.items() if r == Range(0, 1)}
    apart = (_address(*to) - _address(*at)).substitute(still)
    return None if apart.names or apart.denominator != 1 else int(apart.constant)


def _address(access: Access, sizes: Shape) -> IndexExpr:
    """Place of an element in memory."""
    steps = (prod(sizes[k + 1 :]) for k in range(len(sizes)))
    return sum((e * step for e, step in zip(access, steps, strict=True)), IndexExpr())


def _is_only_read(value: SSAValue) -> bool:
    """Whether kernels only read a value: none writes over it."""
    values = [value]
    for found in values:
        for use in found.uses:
            op = use.operation
            if isinstance(op, ReshapeOp):
                values.append(op.result)
            elif not isinstance(op, KernelOp) or _is_default(op, use.index):
                return False
    return True


def _is_default(kernel: KernelOp, number: int) -> bool:
    argument = kernel.block.args[number]
    return any(op.default is argument for op in kernel.contractions)
