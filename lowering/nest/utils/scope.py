"""Scope of a nest: names, ranges and facts of its indices at an op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import gpu
from xdsl.dialects.builtin import DenseArrayBase, IndexType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiledialect.dialects.discardable import FACTS, SHARED_ARGUMENTS
from tiledialect.dialects.nest.attributes import ConditionAttr
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import ALWAYS, IndexedOp, IndexOp
from tiledialect.dialects.nest.instruction import FragmentOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.index.integer.expressions import Condition, Expr, map_expressions, negate
from tiledialect.index.integer.ranges import Env
from tiledialect.rounding import ceil_div


def flat_strides(t: MemRefType) -> tuple[int, ...]:
    """Number of elements between neighbours along each axis."""
    strides = t.get_strides()
    assert strides is not None and None not in strides
    return tuple(s for s in strides if s is not None)


def extent_of(t: MemRefType[Attribute]) -> int:
    """Number of elements from a buffer's first to its last."""
    return 1 + sum((n - 1) * s for n, s in zip(t.get_shape(), flat_strides(t), strict=True))


def element_bytes(t: MemRefType[Attribute]) -> int:
    """Size of an element in memory, where a truth value takes a byte."""
    return ceil_div(getattr(t.element_type, "bitwidth", 64), 8)


def bytes_of(t: MemRefType[Attribute]) -> int:
    """Size of a memory in bytes."""
    return extent_of(t) * element_bytes(t)


def shared_arguments(function: gpu.FuncOp) -> frozenset[SSAValue]:
    """Arguments whose writes the work-items of a group share."""
    numbers = function.attributes.get(SHARED_ARGUMENTS)
    if not isinstance(numbers, DenseArrayBase):
        return frozenset()
    return frozenset(function.body.block.args[int(k)] for k in numbers.get_values())


def facts_of(function: gpu.FuncOp, sizes: Sequence[Expr]) -> Condition:
    """Facts about the size arguments of a kernel."""
    facts = function.attributes.get(FACTS)
    if not isinstance(facts, ConditionAttr):
        return ALWAYS
    numbered = {f"d{k}": size for k, size in enumerate(sizes)}
    return map_expressions(facts.data, lambda e: e.substitute(numbered))


@dataclass
class NestScope:
    """Names of the indices of a nest, with their ranges; every index value has one name."""

    names: dict[SSAValue, Expr] = field(default_factory=dict[SSAValue, Expr])
    values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    env: Env = field(default_factory=Env)

    def name(self, value: SSAValue) -> Expr:
        """Name of an index value; a loop's index has the loop's range."""
        if (known := self.names.get(value)) is not None:
            return known
        if isinstance(value.owner, IndexOp):
            op = value.owner
            (self.names[value],) = op.exprs_of(self.operands(op), op.expr)
        if (number := constant_integer(value)) is not None:
            self.names[value] = Expr.const(number)
        if value not in self.names:
            base = value.name_hint or "index"
            name, count = base, 0
            while name in self.values:
                count += 1
                name = f"{base}_{count}"
            self.names[value] = Expr.var(name)
            self.values[name] = value
            function = value.owner.parent_op() if isinstance(value.owner, Block) else None
            if isinstance(function, gpu.FuncOp) and FACTS in function.attributes:
                self._arguments(function)
            if isinstance(value.owner, gpu.GridDimOp):
                self.env = self.env.with_range(name, 1, None)
            loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
            if isinstance(loop, ForOp):
                lower, upper, step = loop.exprs_of(self.operands(loop), loop.bounds)
                self.env = self.env.with_range(name, lower, upper, step)
        return self.names[value]

    def _arguments(self, function: gpu.FuncOp) -> None:
        """Assume the facts about a kernel's size arguments."""
        sizes = [a for a in function.body.block.args if isinstance(a.type, IndexType)]
        if all(size in self.names for size in sizes):
            return
        self.env = self.env.assume(facts_of(function, [self.name(size) for size in sizes]))

    def operands(self, op: IndexedOp) -> dict[SSAValue, Expr]:
        """Names of an op's index operands."""
        return {v: self.name(v) for v in op.indices}

    def numbered(self, op: IndexedOp) -> dict[str, Expr]:
        """Names of the operands ``d0``, ``d1``, … of an op's expressions."""
        return {f"d{k}": self.name(v) for k, v in enumerate(op.indices)}

    def address(self, op: LoadOp | StoreOp | FragmentOp) -> Expr:
        """Linear address of an access in its memory."""
        t = op.memory.type
        assert isinstance(t, MemRefType)
        strides = flat_strides(t)
        return sum((e * s for e, s in zip(self.access(op), strides, strict=True)), Expr())

    def access(self, op: LoadOp | StoreOp | FragmentOp) -> tuple[Expr, ...]:
        """Coordinates of an access."""
        here = self.numbered(op)
        return tuple(e.substitute(here) for e in op.access.data)

    def condition(self, op: IfOp | LoadOp | StoreOp) -> Condition:
        """Condition of an op."""
        condition = op.properties.get("condition")
        if not isinstance(condition, ConditionAttr):
            return ALWAYS
        here = self.numbered(op)
        return map_expressions(condition.data, lambda e: e.substitute(here))

    def learn_from_branches(self, op: Operation) -> None:
        """Assume the conditions of the branches around an op."""
        block = op.parent
        parent = op.parent_op()
        if parent is None or isinstance(parent, gpu.FuncOp):
            return
        self.learn_from_branches(parent)
        if isinstance(parent, IfOp):
            condition = self.condition(parent)
            self.env = self.env.assume(
                condition if block is parent.then.block else negate(condition)
            )
