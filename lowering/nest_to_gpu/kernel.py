"""Function of the kernel level under construction: blocks, values and facts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import NamedTuple

from xdsl.dialects import gpu, scf, vector
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import Pure

from tiledialect.dialects.nest.indexed import ALWAYS, IndexedOp
from tiledialect.dialects.nest.memory import StoreOp
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import Condition, Expr, map_expressions
from tiledialect.lowering.nest.utils.index_values import IndexValues
from tiledialect.lowering.nest.utils.registers import Chunk, Registers
from tiledialect.lowering.nest.utils.scope import facts_of
from tiledialect.lowering.nest.utils.unrolled_accesses import (
    AccessOp,
    access_of,
    body_of,
    loop_of,
    stored_in,
)

Lowering = Callable[["GpuKernel", Operation], None]
"""Function that lowers an op of a nest."""
Kinds = dict[tuple[object, ...], int]
"""Numbers of pure ops that are the same but for their operands."""


class Plain(NamedTuple):
    """Op on values without regions."""

    operands: tuple[SSAValue, ...]
    results: tuple[SSAValue, ...]
    types: tuple[Attribute, ...]
    """Types of the results."""
    kind: int | None
    """Number shared by ops that are equal but for operands; None for impure ops."""


class GpuKernel:
    """Function of the kernel level while its nest is lowered, with the values of lowered ops."""

    def __init__(
        self,
        function: gpu.FuncOp,
        lowerings: Mapping[type[Operation], Lowering],
        global_alignment: int = 0,
        *,
        asynchronous: bool = False,
    ):
        self.function = function
        self.lowerings = lowerings
        """Lowerings by type of op; other ops stay as they are."""
        self.asynchronous = asynchronous
        """Whether the device copies to local memory asynchronously."""
        self.global_alignment = global_alignment
        """Alignment of the arguments' memory in bytes."""
        old = function.body.block
        self.block = Block(arg_types=old.arg_types)
        self.indices = IndexValues(self.block)
        self.values: dict[SSAValue, SSAValue] = {}
        self.exprs: dict[SSAValue, Expr] = {}
        self.registers: dict[SSAValue, Registers] = {}
        self.versions: dict[SSAValue, int] = {}
        """Number of writes of each memory so far; 0 for those not here."""
        self.copies: dict[StoreOp, Sequence[Operation]] = {}
        """Loads, with their casts, that feed an asynchronous store alone: lowered with it."""
        self.later: set[Operation] = set()
        self.open_groups: dict[str, Expr] = {}
        """Number of the work-group along each axis whose number of groups is open."""
        self.known: dict[tuple[object, ...], SSAValue] = {}
        """Loads and pure ops that were emitted in the blocks under construction."""
        self.noted: list[list[tuple[object, ...]]] = [[]]
        """Keys of the known ops that were emitted in each of the blocks."""
        # Ops are analysed once for all unrolled steps.
        self.access, self.loop = cache(access_of), cache(loop_of)
        self.body, self.stored_in = cache(body_of), cache(stored_in)
        # A method of this object would keep it, with all ops, for the garbage collector.
        self.plain = cache(partial(_plain, Kinds()))
        self.places: dict[tuple[object, ...], Expr] = {}
        """Addresses without their constants, by the operands without theirs."""
        for a, b in zip(old.args, self.block.args, strict=True):
            b.name_hint = a.name_hint
            self.values[a] = b
        sizes = [self.expr_of(a) for a in old.args if isinstance(a.type, IndexType)]
        self.indices.here.env = self.indices.here.env.assume(facts_of(function, sizes))

    # -- blocks ----------------------------------------------------------------------------

    def emit(self, op: Operation) -> SSAValue:
        """Add an op with one result."""
        self.indices.here.block.add_op(op)
        return op.results[0]

    def walk(self, block: Block) -> None:
        """Lower the ops of a block to the end of the one under construction."""
        body = self.body(block)
        for op in body.ops:
            if op not in self.later:
                self.lower(op)
        # Values of a step of a loop are gone after it, also where the loop stands once more.
        for buffer in body.buffers:
            self.registers.pop(buffer, None)

    def lower(self, op: Operation) -> None:
        """Lower an op."""
        self.lowerings.get(type(op), GpuKernel.keep)(self, op)

    def keep(self, op: Operation) -> None:
        """Keep an op on values as it is."""
        plain = self.plain(op)
        get, key = self.values.get, None
        operands = [get(v, v) for v in plain.operands]
        if plain.kind is not None:
            key = (plain.kind, *operands)
            if (found := self.known.get(key)) is not None:
                self.values[plain.results[0]] = found
                return
        new = type(op).create(
            operands=operands,
            result_types=plain.types,
            properties=op.properties,
            attributes=op.attributes,
            location=op.location,
        )
        self.indices.here.block.add_op(new)
        for a, b in zip(plain.results, new.results, strict=True):
            b.name_hint = a.name_hint
            self.values[a] = b
        if key is not None:
            self.note(key, new.results[0])

    def enter(self, block: Block) -> None:
        """Build a block inside."""
        self.indices.enter(block)
        self.noted.append([])

    def leave(self) -> None:
        """Go on with the block outside."""
        self.indices.leave()
        for key in self.noted.pop():
            del self.known[key]

    @contextmanager
    def where(self, condition: Condition) -> Generator[None]:
        """Build a branch that is taken under a condition."""
        test, block = self.indices.test(condition), Block()
        self.enter(block)
        yield
        block.add_op(scf.YieldOp())
        self.leave()
        self.indices.here.block.add_op(scf.IfOp(test, [], [block]))

    # -- indices ---------------------------------------------------------------------------

    def expr_of(self, value: SSAValue) -> Expr:
        """Expression of an index operand."""
        if value not in self.exprs:
            # In an unrolled loop, the same op gives another value in each step.
            hint, value = value.name_hint or "index", self.values[value]
            if value not in self.exprs:
                self.exprs[value] = self.indices.variable(value, hint)
        return self.exprs[value]

    def numbered(self, op: IndexedOp) -> dict[SSAValue, Expr]:
        """Expressions of the index operands of an op."""
        return {v: self.expr_of(v) for v in op.indices}

    # -- known values ----------------------------------------------------------------------

    def note(self, key: tuple[object, ...], value: SSAValue) -> None:
        """Note the value of an op emitted here: it is known in inner blocks, too."""
        self.known[key] = value
        self.noted[-1].append(key)

    def read(self, places: Sequence[tuple[SSAValue, Chunk]]) -> list[SSAValue]:
        """Read registers."""
        return [self.registers[b].read(c.place, c.lanes, self.emit) for b, c in places]

    def write(self, places: Sequence[tuple[SSAValue, Chunk]], values: Sequence[SSAValue]) -> None:
        """Write registers."""
        for (buffer, chunk), value in zip(places, values, strict=True):
            value.name_hint = buffer.name_hint
            self.registers[buffer].write(chunk.place, value)

    def forget(self, block: Block) -> None:
        """Forget loads of memory that a loop writes, inside it and after it."""
        for memory in self.stored_in(block) & self.versions.keys():
            self.versions[memory] += 1

    def forget_all(self) -> None:
        """Forget all loads, as other work-items write."""
        for memory in self.versions:
            self.versions[memory] += 1

    # -- accesses --------------------------------------------------------------------------

    def here(self, operands: Sequence[SSAValue]) -> dict[str, Expr]:
        """Expressions of the operands ``d0``, ``d1``, … at the loops under construction."""
        return {f"d{k}": self.expr_of(v) for k, v in enumerate(operands)}

    def at(self, operands: Sequence[SSAValue], exprs: Sequence[Expr]) -> list[Expr]:
        """Substitute expressions for the operands ``d0``, ``d1``, …."""
        here = self.here(operands)
        return [e.substitute(here) for e in exprs]

    def address(self, op: AccessOp) -> Expr:
        """Linear address of an access in its array."""
        access = self.access(op)
        if access.factors is None:
            return self.indices.simplify(*self.at(access.operands, [access.place]))
        number = access.place.constant
        for value, factor in access.factors:
            expr = self.exprs[value] if value in self.exprs else self.expr_of(value)
            if (steps := expr.value) is None:
                return self._moving_address(op, access.place.constant, access.factors)
            number += factor * steps
        # So are most: registers.
        return Expr.const(number)

    def _moving_address(
        self, op: AccessOp, number: int, factors: Sequence[tuple[SSAValue, int]]
    ) -> Expr:
        """Address as a constant plus products: unrolled steps differ in the constant alone."""
        moving: list[Expr] = []
        for value, factor in factors:
            expr = self.expr_of(value)
            number += factor * expr.constant
            moving.append(expr.moving)
        key = (op, *moving)
        if key not in self.places:
            # The rest is added up once.
            terms = (e * factor for e, (_, factor) in zip(moving, factors, strict=True))
            self.places[key] = sum(terms, Expr())
        return self.indices.simplify(self.places[key].plus(number))

    def condition(self, op: AccessOp) -> Condition:
        """Condition of an access."""
        access = self.access(op)
        if access.condition is ALWAYS:
            return ALWAYS
        here = self.here(access.operands)
        condition = map_expressions(access.condition, lambda e: e.substitute(here))
        return self.indices.simplify_condition(condition)


def _plain(kinds: Kinds, op: Operation) -> Plain:
    """Parts of an op without regions."""
    if op.regions:
        raise TileError.at(op, f"{op.name} cannot stand in a nest")
    results = tuple(op.results)
    return Plain(tuple(op.operands), results, tuple(r.type for r in results), _kind(kinds, op))


def _kind(kinds: Kinds, op: Operation) -> int | None:
    """Number of a pure op with one result."""
    # In xDSL shuffles have no effects, but are not pure.
    is_pure = op.has_trait(Pure) or isinstance(op, vector.ShuffleOp)
    if not is_pure or len(op.results) != 1:
        return None
    key = (type(op), *op.properties.items(), *op.attributes.items(), op.results[0].type)
    return kinds.setdefault(key, len(kinds))
