"""Accesses, loops and bodies of a nest, analysed once for all unrolled steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.dialects.nest.instruction import FragmentOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.dialects.nest.prefetch import PrefetchOp
from tiledialect.index.integer.expressions import Condition, Expr
from tiledialect.index.integer.polynomial import Variable
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import flat_strides

AccessOp = LoadOp | StoreOp | FragmentOp | PrefetchOp


@dataclass(frozen=True)
class MemoryAccess:
    """Memory access as expressions of its index operands ``d0``, ``d1``, …."""

    memory: SSAValue
    operands: tuple[SSAValue, ...]
    place: Expr
    """Linear address of the access in its array."""
    factors: tuple[tuple[SSAValue, int], ...] | None
    """Operands and factors of the address without its constant, if it is a linear sum."""
    condition: Condition
    value: SSAValue | None
    """Stored value, or value of a load where the condition does not hold."""
    lanes: int


def access_of(op: AccessOp) -> MemoryAccess:
    """Access of an op."""
    memory, operands = op.memory, tuple(op.indices)
    t = memory.type
    assert isinstance(t, MemRefType)
    place = Expr()
    for expr, stride in zip(op.access.data, flat_strides(t), strict=True):
        place += expr * stride
    value, lanes, condition = None, 1, None
    if isinstance(op, LoadOp):
        value, lanes, condition = op.default, lanes_of(op.result), op.condition
    elif isinstance(op, StoreOp):
        value, lanes, condition = op.value, lanes_of(op.value), op.condition
    condition = ALWAYS if condition is None or condition.data == ALWAYS else condition.data
    factors = _factors(place, operands)
    return MemoryAccess(memory, operands, place, factors, condition, value, lanes)


def _factors(place: Expr, operands: Sequence[SSAValue]) -> tuple[tuple[SSAValue, int], ...] | None:
    """Operands and factors of a linear sum."""
    values = {f"d{k}": v for k, v in enumerate(operands)}
    found: list[tuple[SSAValue, int]] = []
    for product, factor in place.moving:
        if len(product) != 1 or not isinstance(product[0], Variable):
            return None
        found.append((values[product[0].name], factor))
    return tuple(found)


@dataclass(frozen=True)
class Loop:
    """Loop whose ends are expressions of its index operands ``d0``, ``d1``, …."""

    operands: tuple[SSAValue, ...]
    bounds: tuple[Expr, ...]
    extent: int | None
    is_unrolled: bool


def loop_of(op: ForOp) -> Loop:
    """Loop of an op."""
    return Loop(tuple(op.indices), op.bounds.data, op.extent, op.is_unrolled)


@dataclass(frozen=True)
class Body:
    """Ops of a block, and the buffers among them."""

    ops: tuple[Operation, ...]
    buffers: tuple[SSAValue, ...]


def body_of(block: Block) -> Body:
    """Body of a block."""
    ops = tuple(block.ops)
    return Body(ops, tuple(op.result for op in ops if isinstance(op, BufferOp)))


def stored_in(block: Block) -> set[SSAValue]:
    """Buffers that a block stores to."""
    return {op.memory for op in ops_of(block, StoreOp)}
