"""Builder of nests: loops, loads and stores at expressions of named indices, and scalar ops."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tiledialect import caches
from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import ALWAYS, IndexOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.dialects.tile.element_types import storage_type
from tiledialect.index.expr import Range
from tiledialect.index.integer.expressions import Condition, Expr, Truth, negate, select
from tiledialect.index.integer.simplify import Env, simplify, simplify_condition
from tiledialect.lowering.nest.utils.scalars import Scalars

GLOBAL, LOCAL, PRIVATE = (IntegerAttr(number, i32) for number in (1, 3, 5))
"""Memory spaces of the kernel level."""


def is_local(memory: SSAValue) -> bool:
    """Whether a value is memory that the work-items of a group share."""
    return isinstance(memory.type, MemRefType) and memory.type.memory_space == LOCAL


def memory_type(
    element_type: Attribute, shape: Sequence[int], space: IntegerAttr
) -> MemRefType[Attribute]:
    """Memref of a tile element type."""
    return _memory_type(storage_type(element_type), tuple(shape), space)


@caches.MEMORY_TYPES
def _memory_type(
    element_type: Attribute, shape: tuple[int, ...], space: IntegerAttr
) -> MemRefType[Attribute]:
    return MemRefType(element_type, shape, NoneAttr(), space)


class NestBuilder:
    """Emits a nest at the end of a block, or inside the loop or branch being built."""

    def __init__(self, block: Block):
        self.builder = Builder(InsertPoint.at_end(block))
        self.scalars = Scalars(self.builder)
        self.names: dict[str, SSAValue] = {}
        self.env = Env({})

    def emit(self, op: Operation) -> SSAValue:
        """Insert an op with one result."""
        return self.builder.insert(op).results[0]

    # -- indices ---------------------------------------------------------------------------

    def named(self, value: SSAValue, hint: str, values: Range | None = None) -> Expr:
        """Name an index value and return its expression, with its range."""
        name, count = hint, 0
        while name in self.names:
            count += 1
            name = f"{hint}_{count}"
        self.names[name] = value
        value.name_hint = hint
        if values is not None:
            self.env = self.env.with_range(name, values.lower, values.upper)
        return Expr.var(name)

    def index(self, expr: Expr) -> SSAValue:
        """Emit the value of an index expression."""
        expr = simplify(expr, self.env)
        if expr.value is not None:
            return self.emit(arith.ConstantOp(IntegerAttr(expr.value, IndexType())))
        return self.emit(IndexOp(self.names, expr))

    def less(self, expr: Expr, bound: int) -> SSAValue:
        """Emit the value of ``expr < bound``."""
        return self.emit(arith.CmpiOp(self.index(expr), self.index(Expr.const(bound)), "slt"))

    def truth(self, condition: Condition) -> SSAValue:
        """Emit the value of a condition."""
        number = self.index(select(condition, 1, 0))
        return self.emit(arith.CmpiOp(number, self.index(Expr.const(1)), "eq"))

    # -- control flow ----------------------------------------------------------------------

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Emit at the end of ``block`` for a while."""
        outer = self.builder.insertion_point
        self.builder.insertion_point = InsertPoint.at_end(block)
        yield
        self.builder.insertion_point = outer

    @contextmanager
    def loop(
        self, role: LoopRole, extent: int, hint: str, *, always: bool = False
    ) -> Generator[Expr]:
        """Build a loop from 0 to ``extent``; yield its index. One step needs ``always``."""
        if extent == 1 and not always:
            yield Expr()
            return
        op = ForOp(self.names, role, extent)
        self.builder.insert(op)
        index = self.named(op.index, hint, Range(0, extent))
        with self.inside(op.block):
            yield index

    @contextmanager
    def when(self, condition: Condition) -> Generator[None]:
        """Build a branch; nothing where the condition is known to hold."""
        condition = simplify_condition(condition, self.env)
        if condition == ALWAYS:
            yield
            return
        op = IfOp(self.names, condition, Block())
        self.builder.insert(op)
        outer = self.env
        self.env = outer.assume(condition)
        with self.inside(op.then.block):
            yield
        self.env = outer

    def either(
        self, condition: Condition, then: Callable[[], object], otherwise: Callable[[], object]
    ) -> None:
        """Build a branch of two arms; one of them alone where the condition is decided."""
        condition = simplify_condition(condition, self.env)
        if isinstance(condition, Truth):
            (then if condition.value else otherwise)()
            return
        op = IfOp(self.names, condition, Block(), Block())
        assert op.otherwise is not None
        self.builder.insert(op)
        outer = self.env
        for emit, block, fact in (
            (then, op.then.block, condition),
            (otherwise, op.otherwise.block, negate(condition)),
        ):
            self.env = outer.assume(fact)
            with self.inside(block):
                emit()
        self.env = outer

    @contextmanager
    def where(self, condition: SSAValue) -> Generator[None]:
        """Build a branch on a value."""
        block = Block()
        with self.inside(block):
            yield
        block.add_op(scf.YieldOp())
        self.builder.insert(scf.IfOp(condition, [], [block]))

    # -- memory ----------------------------------------------------------------------------

    def buffer(
        self,
        element_type: Attribute,
        shape: Sequence[int],
        space: IntegerAttr,
        hint: str,
        copies: int = 1,
        pad: int = 0,
        asynchronous: bool = False,
    ) -> SSAValue:
        """Allocate memory for the time of the loop's step being built.

        Its rows are ``pad`` elements longer than ``shape`` says.
        """
        t = memory_type(element_type, shape, space)
        if pad and len(shape) > 1:
            row = shape[-1] + pad
            strides = [row * prod(shape[k + 1 : -1]) for k in range(len(shape) - 1)]
            t = MemRefType(t.element_type, shape, StridedLayoutAttr([*strides, 1]), space)
        buffer = self.emit(BufferOp(t, copies, asynchronous=asynchronous))
        buffer.name_hint = hint
        return buffer

    def load(
        self,
        memory: SSAValue,
        access: Sequence[Expr],
        condition: Condition = ALWAYS,
        default: SSAValue | None = None,
        *,
        lanes: int = 1,
    ) -> SSAValue:
        """Load an element of a buffer where the condition holds, else ``default`` or 0.

        With several ``lanes`` it is the vector of its neighbours.
        """
        condition = simplify_condition(condition, self.env)
        exprs = [simplify(e, self.env) for e in access]
        if condition == ALWAYS:
            default = None
        return self.emit(LoadOp(self.names, memory, exprs, condition, default, lanes=lanes))

    def store(
        self,
        value: SSAValue,
        memory: SSAValue,
        access: Sequence[Expr],
        condition: Condition = ALWAYS,
    ) -> None:
        """Store an element of a buffer where the condition holds."""
        condition = simplify_condition(condition, self.env)
        if condition != Truth(False):
            exprs = [simplify(e, self.env) for e in access]
            self.builder.insert(StoreOp(self.names, value, memory, exprs, condition))
