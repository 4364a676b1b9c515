"""A function of the kernel level while its nest is lowered: blocks, values and what is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import gpu
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure

from tiledialect.dialects.nest.instruction import FragmentOp
from tiledialect.dialects.nest.ops import BufferOp, IndexedOp, LoadOp, StoreOp
from tiledialect.errors import TileError
from tiledialect.index.integer import Condition, Expr
from tiledialect.lowering.nest.index_values import IndexValues
from tiledialect.lowering.nest.registers import Chunk, Registers
from tiledialect.lowering.nest.scope import facts_of, flat_strides

Lowering = Callable[["GpuKernel", Operation], None]
"""How an op of a nest is lowered."""


class GpuKernel:
    """A function of the kernel level while its nest is lowered: what its values have become."""

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
        """How each op is lowered; the others stay as they are."""
        self.asynchronous = asynchronous
        """Whether the device copies to local memory by itself."""
        self.global_alignment = global_alignment
        """On how many bytes the arguments' memory is aligned."""
        old = function.body.block
        self.block = Block(arg_types=old.arg_types)
        self.indices = IndexValues(self.block)
        self.values: dict[SSAValue, SSAValue] = {}
        self.exprs: dict[SSAValue, Expr] = {}
        self.registers: dict[SSAValue, Registers] = {}
        self.versions: dict[SSAValue, int] = {}
        """How often each memory has been written so far; those not here never are."""
        self.copies: dict[StoreOp, Sequence[Operation]] = {}
        """What is loaded only to be stored in an asynchronous buffer: lowered with the store."""
        self.later: set[Operation] = set()
        self.open_groups: dict[str, Expr] = {}
        """The number of the work-group along each axis that has any number of groups."""
        self.known: list[dict[tuple[object, ...], SSAValue]] = [{}]
        """The loads and pure ops that were emitted in each of the blocks being built."""
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
        """Lower the ops of a block to the end of the one being built."""
        for op in block.ops:
            if op not in self.later:
                self.lower(op)
        # What a step of a loop keeps is gone after it, also where the loop stands once more.
        for op in block.ops:
            if isinstance(op, BufferOp):
                self.registers.pop(op.result, None)

    def lower(self, op: Operation) -> None:
        """Lower an op."""
        self.lowerings.get(type(op), GpuKernel.keep)(self, op)

    def keep(self, op: Operation) -> None:
        """An op on values stays as it is."""
        if op.regions:
            raise TileError.at(op, f"{op.name} cannot stand in a nest")
        key = None
        if op.has_trait(Pure) and len(op.results) == 1:
            operands = (self.values.get(v, v) for v in op.operands)
            what = (*op.properties.items(), *op.attributes.items(), op.results[0].type)
            key = (type(op), *operands, *what)
            if (found := self.found(key)) is not None:
                self.values[op.results[0]] = found
                return
        new = op.clone(self.values)
        self.indices.here.block.add_op(new)
        for a, b in zip(op.results, new.results, strict=True):
            b.name_hint = a.name_hint
        if key is not None:
            self.known[-1][key] = new.results[0]

    def enter(self, block: Block) -> None:
        """Build a block inside."""
        self.indices.enter(block)
        self.known.append({})

    def leave(self) -> None:
        """Go on with the block outside."""
        self.indices.leave()
        self.known.pop()

    # -- indices ---------------------------------------------------------------------------

    def expr_of(self, value: SSAValue) -> Expr:
        """What an index operand is."""
        if value not in self.exprs:
            # In a loop that is written out, the same op gives another value in each step.
            hint, value = value.name_hint or "index", self.values[value]
            if value not in self.exprs:
                self.exprs[value] = self.indices.variable(value, hint)
        return self.exprs[value]

    def numbered(self, op: IndexedOp) -> dict[SSAValue, Expr]:
        """What the index operands of an op are."""
        return {v: self.expr_of(v) for v in op.indices}

    # -- what is known ---------------------------------------------------------------------

    def found(self, key: tuple[object, ...]) -> SSAValue | None:
        """The value of what was emitted already, here or in a block outside."""
        return next((known[key] for known in self.known if key in known), None)

    def read(self, places: Sequence[tuple[SSAValue, Chunk]]) -> list[SSAValue]:
        """What is in registers."""
        return [self.registers[b].read(c.place, c.lanes, self.emit) for b, c in places]

    def write(self, places: Sequence[tuple[SSAValue, Chunk]], values: Sequence[SSAValue]) -> None:
        """Put values into registers."""
        for (buffer, chunk), value in zip(places, values, strict=True):
            value.name_hint = buffer.name_hint
            self.registers[buffer].write(chunk.place, value)

    def forget(self, block: Block) -> None:
        """Loads before a loop that writes their memory say nothing inside it or after it."""
        for memory in stored_in(block) & self.versions.keys():
            self.versions[memory] += 1

    def forget_all(self) -> None:
        """Loads before other work-items write say nothing after it."""
        for memory in self.versions:
            self.versions[memory] += 1

    # -- accesses --------------------------------------------------------------------------

    def address(self, op: LoadOp | StoreOp | FragmentOp) -> Expr:
        """Where in its array an access is."""
        t = op.memory.type
        assert isinstance(t, MemRefType)
        exprs = op.exprs_of(self.numbered(op), op.access)
        total = Expr()
        for expr, stride in zip(exprs, flat_strides(t), strict=True):
            total += expr * stride
        return self.indices.simplify(total)

    def condition(self, op: LoadOp | StoreOp) -> Condition:
        """When an access happens."""
        return self.indices.simplify_condition(op.condition_of(self.numbered(op), op.condition))


def stored_in(block: Block) -> set[SSAValue]:
    """The buffers that something in a block stores to."""
    return {op.memory for op in block.walk() if isinstance(op, StoreOp)}
