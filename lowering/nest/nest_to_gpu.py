"""nest-to-gpu: nests to the upstream dialects of the kernel level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, gpu, memref, scf, vector
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from tiledialect.dialects.nest.asynchronous import COPIED_BYTES, CommitOp, CopyOp, WaitOp
from tiledialect.dialects.nest.instruction import FragmentOp
from tiledialect.dialects.nest.ops import (
    BufferOp,
    ForOp,
    IfOp,
    IndexedOp,
    IndexOp,
    LoadOp,
    StoreOp,
)
from tiledialect.errors import TileError
from tiledialect.index.expr import Range
from tiledialect.index.integer import Condition, Expr, Truth, floordiv, mod
from tiledialect.index.simplify import is_multiple
from tiledialect.lowering.nest.builder import GLOBAL, LOCAL, PRIVATE
from tiledialect.lowering.nest.index_values import IndexValues
from tiledialect.lowering.nest.registers import Chunk, Registers, lanes_of, zero
from tiledialect.lowering.nest.scope import facts_of, flat_strides
from tiledialect.schedule.leaves import Role
from tiledialect.target_spec import is_gpu, limit

WRITTEN_OUT = (Role.UNROLL, Role.VECTOR)
"""The roles of loops that are written out, step by step."""


LOCAL_ALIGNMENT = 16
"""On how many bytes arrays in a kernel are aligned, at least."""
GPU_ALIGNMENT = 16
"""On how many bytes buffers on a GPU are aligned; arrays in a CPU's memory need not be."""


ASYNCHRONOUS = 80
"""From which compute capability on NVIDIA's GPUs copy to local memory by themselves."""


def is_written_out(index: SSAValue) -> bool:
    """Whether an index is a number in each copy of its loop's body."""
    loop = index.owner.parent_op() if isinstance(index.owner, Block) else None
    if not isinstance(loop, ForOp):
        return False
    return not loop.is_parallel and (loop.role.data.role in WRITTEN_OUT or loop.extent == 1)


def are_registers(buffer: BufferOp) -> bool:
    """Whether a private buffer is accessed at written out places alone."""
    t = buffer.result.type
    if not isinstance(t, MemRefType) or t.memory_space != PRIVATE:
        return False
    for use in buffer.result.uses:
        op = use.operation
        if not isinstance(op, LoadOp | StoreOp):
            return False
        names = {name for e in op.access.data for name in e.names}
        if not all(is_written_out(v) for k, v in enumerate(op.indices) if f"d{k}" in names):
            return False
    return True


class NestToGpu:
    """Lowers the body of one function."""

    def __init__(
        self, function: gpu.FuncOp, global_alignment: int = 0, *, asynchronous: bool = False
    ):
        self.function = function
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

    def run(self) -> None:
        """Lower the function in place."""
        old = self.function.body.block
        for op in old.walk():
            if isinstance(op, StoreOp):
                self.versions[op.memory] = 0
                if self.asynchronous and (chain := loaded_to_be_stored(op)):
                    self.copies[op] = chain
        self.later = {x for chain in self.copies.values() for x in chain}
        self._flatten_arguments()
        self.walk(old)
        self.function.body.detach_block(old)
        old.erase(safe_erase=False)
        self.function.body.add_block(self.block)

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
        LOWERINGS.get(type(op), NestToGpu.other)(self, op)

    def enter(self, block: Block) -> None:
        """Build a block inside."""
        self.indices.enter(block)
        self.known.append({})

    def leave(self) -> None:
        """Go on with the block outside."""
        self.indices.leave()
        self.known.pop()

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

    def other(self, op: Operation) -> None:
        """An op on values stays as it is."""
        if op.regions:
            raise TileError.at(op, f"{op.name} cannot stand in a nest")
        if isinstance(op, gpu.BarrierOp | WaitOp):
            for memory in self.versions:
                self.versions[memory] += 1
        if isinstance(op, gpu.GridDimOp):
            self._grid_size(op)
            return
        if isinstance(op, arith.ConstantOp) and isinstance(op.result.type, IndexType):
            self.exprs[op.result] = Expr.const(op.value.value.data)  # pyright: ignore
        key = None
        if op.has_trait(Pure) and len(op.results) == 1:
            operands = (self.values.get(v, v) for v in op.operands)
            what = (*op.properties.items(), *op.attributes.items(), op.results[0].type)
            key = (type(op), *operands, *what)
            if (found := self._known(key)) is not None:
                self.values[op.results[0]] = found
                return
        new = op.clone(self.values)
        self.indices.here.block.add_op(new)
        for a, b in zip(op.results, new.results, strict=True):
            b.name_hint = a.name_hint
        if key is not None:
            self.known[-1][key] = new.results[0]

    def _grid_size(self, op: gpu.GridDimOp) -> None:
        """How many work-groups there are: at least one."""
        value = self.values[op.result] = self.emit(op.clone())
        value.name_hint = op.result.name_hint
        expr = self.exprs[op.result] = self.indices.variable(value, value.name_hint or "groups")
        here = self.indices.here
        here.env = here.env.with_range(str(expr), 1, None)

    def _known(self, key: tuple[object, ...]) -> SSAValue | None:
        """The value of what was emitted already, here or in a block outside."""
        return next((known[key] for known in self.known if key in known), None)

    # -- loops -----------------------------------------------------------------------------

    def loop(self, op: Operation) -> None:
        """A loop, by its role."""
        assert isinstance(op, ForOp)
        lower, upper, step = (
            self.indices.simplify(e) for e in op.exprs_of(self.numbered(op), op.bounds)
        )
        role = op.role.data
        if op.is_parallel:
            self.parallel(op)
        elif role.role in WRITTEN_OUT or op.extent == 1:
            for k in range(op.extent or 0):
                self.exprs[op.index] = lower + k * step
                self.walk(op.block)
        else:
            self.serial(op, lower, upper, step)

    def parallel(self, op: ForOp) -> None:
        """The number of the work-group or work-item takes the place of the loop."""
        role, extent = op.role.data, op.extent
        if extent is None:
            self._open_parallel(op)
            return
        inner = [x for x in op.block.walk() if isinstance(x, ForOp) and x.role.data == role]
        outer = parents(op, lambda x: x.role.data == role)
        faster = prod(x.extent or 1 for x in inner)
        total = faster * extent * prod(x.extent or 1 for x in outer)
        name = f"{'group' if role.role is Role.GROUP else 'item'}_{role.axis}"
        if name not in self.indices.variables:
            id_op = gpu.BlockIdOp if role.role is Role.GROUP else gpu.ThreadIdOp
            value = self.emit(id_op(gpu.DimensionAttr(gpu.DimensionEnum(role.axis))))
            value.name_hint = name
            self.indices.variable(value, name, Range(0, total))
        expr = floordiv(Expr.var(name), faster)
        expr = self.indices.simplify(expr if not outer else mod(expr, extent))
        if expr.atom is None or expr != Expr.var(name):
            value = self.indices.value(expr)
            value.name_hint = op.index.name_hint
            expr = self.indices.variable(value, op.index.name_hint or name, Range(0, extent))
        self.exprs[op.index] = expr
        group = self.open_groups.get(role.axis)
        if group is not None and role.role is Role.LOCAL and expr == Expr.var(name):
            number = gpu.GlobalIdOp(gpu.DimensionAttr(gpu.DimensionEnum(role.axis)))
            self.indices.known_sum(group * extent + expr, number, f"global_{role.axis}")
        self.walk(op.block)

    def _open_parallel(self, op: ForOp) -> None:
        """A loop of as many steps as are launched: the only one along its axis."""
        role = op.role.data
        _, upper, _ = op.exprs_of(self.numbered(op), op.bounds)
        id_op = gpu.BlockIdOp if role.role is Role.GROUP else gpu.ThreadIdOp
        value = self.emit(id_op(gpu.DimensionAttr(gpu.DimensionEnum(role.axis))))
        hint = f"{'group' if role.role is Role.GROUP else 'item'}_{role.axis}"
        value.name_hint = hint
        expr = self.exprs[op.index] = self.indices.variable(value, hint)
        if role.role is Role.GROUP:
            self.open_groups[role.axis] = expr
        here = self.indices.here
        here.env = here.env.with_range(str(expr), 0, upper)
        self.walk(op.block)

    def serial(self, op: ForOp, lower: Expr, upper: Expr, step: Expr) -> None:
        """A loop of the kernel, which carries the registers that it changes."""
        self._start_registers(op.block)
        changed = [
            (buffer, chunk)
            for buffer, registers in self.registers.items()
            if buffer in stored_in([op.block])
            for chunk in registers.chunks()
        ]
        start = self._read(changed)
        first, last, by = (self.indices.value(e) for e in (lower, upper, step))
        body = Block(arg_types=[IndexType(), *(v.type for v in start)])
        body.args[0].name_hint = op.index.name_hint
        self._forget(op.block)
        self.enter(body)
        index = self.indices.variable(body.args[0], op.index.name_hint or "i")
        here = self.indices.here
        # What is emitted inside stands where there is a step.
        here.env = here.env.with_range(str(index), lower, upper, step)
        self.exprs[op.index] = index
        self._write(changed, body.args[1:])
        self.walk(op.block)
        body.add_op(scf.YieldOp(*self._read(changed)))
        self.leave()
        loop = scf.ForOp(first, last, by, start, body)
        self.indices.here.block.add_op(loop)
        self._write(changed, loop.results)
        self._forget(op.block)

    def _start_registers(self, block: Block) -> None:
        """What a loop is the first to write holds something before it, and so after it, too."""
        for buffer in self.registers.keys() & stored_in([block]):
            registers, t = self.registers[buffer], buffer.type
            assert isinstance(t, MemRefType)
            missing = [p for p in range(extent_of(t)) if p not in registers.places]
            if missing:
                start = self.emit(zero(t.element_type))
                for place in missing:
                    registers.write(place, start)

    def _read(self, places: Sequence[tuple[SSAValue, Chunk]]) -> list[SSAValue]:
        """What is in registers."""
        return [self.registers[b].read(c.place, c.lanes, self.emit) for b, c in places]

    def _write(self, places: Sequence[tuple[SSAValue, Chunk]], values: Sequence[SSAValue]) -> None:
        """Put values into registers."""
        for (buffer, chunk), value in zip(places, values, strict=True):
            value.name_hint = buffer.name_hint
            self.registers[buffer].write(chunk.place, value)

    def _forget(self, block: Block) -> None:
        """Loads before a loop that writes their memory say nothing inside it or after it."""
        for memory in stored_in([block]):
            if memory in self.versions:
                self.versions[memory] += 1

    # -- branches --------------------------------------------------------------------------

    def branch(self, op: Operation) -> None:
        """A branch, which gives the registers that it changes."""
        assert isinstance(op, IfOp)
        condition = self.indices.simplify_condition(
            op.condition_of(self.numbered(op), op.condition)
        )
        if isinstance(condition, Truth):
            if condition.value:
                self.walk(op.then.block)
            elif op.otherwise is not None:
                self.walk(op.otherwise.block)
            return
        test = self.indices.test(condition)
        otherwise = op.otherwise.block if op.otherwise is not None else Block()
        self._branch(test, condition, op.then.block, otherwise)

    def _branch(self, test: SSAValue, condition: Condition, then: Block, otherwise: Block) -> None:
        before = {b: r.copy() for b, r in self.registers.items()}
        blocks: list[Block] = []
        after: list[dict[SSAValue, Registers]] = []
        for old, fact in ((then, condition), (otherwise, Truth(True))):
            block = Block()
            self.registers = {b: r.copy() for b, r in before.items()}
            self.enter(block)
            self.indices.here.env = self.indices.here.env.assume(fact)
            self.walk(old)
            self.leave()
            blocks.append(block)
            after.append(self.registers)
        self.registers = before
        changed = [
            (buffer, chunk)
            for buffer in before
            for chunk in self._changed(before[buffer], [a[buffer] for a in after])
        ]
        for block, registers in zip(blocks, after, strict=True):
            self.enter(block)
            block.add_op(
                scf.YieldOp(*(registers[b].read(c.place, c.lanes, self.emit) for b, c in changed))
            )
            self.leave()
        self.registers = before
        types = [before[b].type(c.lanes) for b, c in changed]
        has_else = bool(types) or len(blocks[1].ops) > 1
        result = scf.IfOp(test, types, [blocks[0]], [blocks[1]] if has_else else None)
        self.indices.here.block.add_op(result)
        self._write(changed, result.results)
        self._forget(then)
        self._forget(otherwise)

    @staticmethod
    def _changed(before: Registers, after: Sequence[Registers]) -> list[Chunk]:
        """The places that differ after one of the branches, as the first such holds them."""
        found: list[Chunk] = []
        for registers in after:
            places = {p for p, v in registers.places.items() if before.places.get(p) != v}
            places -= {c.place + lane for c in found for lane in range(c.lanes)}
            found += [c for c in registers.chunks() if c.place in places]
        return found

    def where(self, op: Operation) -> None:
        """A branch on a value."""
        assert isinstance(op, scf.IfOp) and not op.results
        otherwise = op.false_region.block if op.false_region.blocks else Block()
        self._branch(self.values[op.cond], Truth(True), op.true_region.block, otherwise)

    # -- memory ----------------------------------------------------------------------------

    def _flatten_arguments(self) -> None:
        """Every array is accessed by one index, so that addresses are computed as expressions."""
        for old, new in zip(self.function.body.block.args, self.block.args, strict=True):
            t = new.type
            if isinstance(t, MemRefType) and len(t.get_shape()) != 1:
                flat = MemRefType(t.element_type, [prod(t.get_shape())], NoneAttr(), t.memory_space)
                cast = memref.ReinterpretCastOp.from_dynamic(
                    new, [0], [prod(t.get_shape())], [1], flat
                )
                self.values[old] = self.emit(cast)
                cast.results[0].name_hint = new.name_hint

    def buffer(self, op: Operation) -> None:
        """Registers, or an array."""
        assert isinstance(op, BufferOp) and isinstance(op.result.type, MemRefType)
        t = op.result.type
        if are_registers(op):
            self.registers[op.result] = Registers(t.element_type)
            return
        if op.result in self.values and t.memory_space == LOCAL:
            # A loop that is written out has one array for all its steps.
            return
        size = extent_of(t)
        array = memref.AllocaOp.get(t.element_type, shape=[size], memory_space=t.memory_space)
        array.memref.name_hint = op.result.name_hint
        self.values[op.result] = array.memref
        # Local memory is declared outside all loops, so that every copy of a body sees it.
        place = self.block if t.memory_space == LOCAL else self.indices.here.block
        place.add_op(array)

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

    def load(self, op: Operation) -> None:
        """A load, unless the value is there already."""
        assert isinstance(op, LoadOp)
        condition, place = self.condition(op), self.address(op)
        lanes, registers = lanes_of(op.result), self.registers.get(op.memory)
        default = None if op.default is None else self.values[op.default]
        key = (op.memory, self.versions.get(op.memory), place, lanes, condition, default)
        found = self._known(key)
        if found is None or registers is not None:
            if registers is not None:
                assert place.value is not None
                found = registers.read(place.value, lanes, self.emit)
                if condition != Truth(True):
                    found = self.choose(condition, found, self._default(op, default))
            elif condition == Truth(True):
                found = self._load(op, place)
            else:
                found = self._load_if(op, place, condition, self._default(op, default))
            if found.name_hint is None:
                found.name_hint = op.result.name_hint
            self.known[-1][key] = found
        self.values[op.result] = found

    def _default(self, op: LoadOp, default: SSAValue | None) -> SSAValue:
        return default if default is not None else self.emit(zero(op.result.type))

    def _load(self, op: LoadOp, place: Expr) -> SSAValue:
        memory, index = self.values[op.memory], self.indices.value(place)
        if lanes_of(op.result) == 1:
            return self.emit(memref.LoadOp.get(memory, [index]))
        load = vector.LoadOp(memory, [index], op.result.type)  # pyright: ignore
        self._align(load, op.memory, place, lanes_of(op.result))
        return self.emit(load)

    def _align(self, op: Operation, memory: SSAValue, place: Expr, lanes: int) -> None:
        """Note that an access to a vector is aligned, if that can be proved."""
        t = memory.type
        assert isinstance(t, MemRefType)
        size = lanes * getattr(t.element_type, "bitwidth") // 8  # noqa: B009
        known = self.global_alignment if t.memory_space == GLOBAL else LOCAL_ALIGNMENT
        if size <= known and is_multiple(place, lanes, self.indices.here.env):
            op.attributes["alignment"] = IntegerAttr(size, i64)

    def _load_if(
        self, op: LoadOp, place: Expr, condition: Condition, default: SSAValue
    ) -> SSAValue:
        if condition == Truth(False):
            return default
        test = self.indices.test(condition)
        then, otherwise = Block(), Block([scf.YieldOp(default)])
        self.enter(then)
        then.add_op(scf.YieldOp(self._load(op, place)))
        self.leave()
        return self.emit(scf.IfOp(test, [op.result.type], [then], [otherwise]))

    def choose(self, condition: Condition, yes: SSAValue, no: SSAValue) -> SSAValue:
        """One of two values."""
        if isinstance(condition, Truth):
            return yes if condition.value else no
        return self.emit(arith.SelectOp(self.indices.test(condition), yes, no))

    def store(self, op: Operation) -> None:
        """A store."""
        assert isinstance(op, StoreOp)
        if op in self.copies:
            if self._copy(self.copies[op][0], op):
                return
            for x in self.copies[op]:
                self.lower(x)
        condition, place, value = self.condition(op), self.address(op), self.values[op.value]
        if (registers := self.registers.get(op.memory)) is not None:
            assert place.value is not None
            if condition != Truth(True):
                old = registers.read(place.value, lanes_of(value), self.emit)
                value = self.choose(condition, value, old)
            value.name_hint = op.memory.name_hint
            registers.write(place.value, value)
            return
        self.versions[op.memory] += 1
        if condition == Truth(False):
            return
        if condition == Truth(True):
            self._store(op, value, place)
            return
        test = self.indices.test(condition)
        then = Block()
        self.enter(then)
        self._store(op, value, place)
        then.add_op(scf.YieldOp())
        self.leave()
        self.indices.here.block.add_op(scf.IfOp(test, [], [then]))

    def _store(self, op: StoreOp, value: SSAValue, place: Expr) -> None:
        memory, index = self.values[op.memory], self.indices.value(place)
        if lanes_of(value) == 1:
            new = memref.StoreOp.get(value, memory, [index])
        else:
            new = vector.StoreOp(value, memory, [index])
            self._align(new, op.memory, place, lanes_of(value))
        self.indices.here.block.add_op(new)

    def _copy(self, load: Operation, store: StoreOp) -> bool:
        """Start to copy what is loaded only to be stored, if the device can move it at once."""
        assert isinstance(load, LoadOp)
        source, target, lanes = self.address(load), self.address(store), lanes_of(load.result)
        inside, env = self.condition(load), self.indices.here.env
        t = store.memory.type
        assert isinstance(t, MemRefType)
        width: int = getattr(t.element_type, "bitwidth") // 8  # noqa: B009
        most = COPIED_BYTES[-1] // width
        at_once = most if lanes % most == 0 else lanes
        aligned = all(is_multiple(place, at_once, env) for place in (source, target))
        copied = at_once * width in COPIED_BYTES and self.condition(store) == Truth(True)
        if not aligned or not copied:
            return False
        self.versions[store.memory] += 1

        def copy() -> None:
            for lane in range(0, lanes, at_once):
                places = [
                    part
                    for op, place in ((load, source), (store, target))
                    for part in (self.values[op.memory], self.indices.value(place + lane))
                ]
                self.indices.here.block.add_op(CopyOp(at_once, *places))

        def fill() -> None:
            value = None if load.default is None else self.values[load.default]
            value = self._default(load, value)
            if value.type != store.value.type:
                value = self.emit(arith.BitcastOp(value, store.value.type))
            self._store(store, value, target)

        if inside == Truth(True):
            copy()
        elif inside == Truth(False):
            fill()
        else:
            test, blocks = self.indices.test(inside), (Block(), Block())
            for block, act in zip(blocks, (copy, fill), strict=True):
                self.enter(block)
                act()
                block.add_op(scf.YieldOp())
                self.leave()
            self.indices.here.block.add_op(scf.IfOp(test, [], [blocks[0]], [blocks[1]]))
        return True

    def fragment(self, op: Operation) -> None:
        """The registers of an instruction's operand, unless they are there already."""
        assert isinstance(op, FragmentOp)
        place = self.address(op)
        what = (op.entry.name, op.number, op.memory, self.versions.get(op.memory), place)
        keys = [(FragmentOp, *what, k) for k in range(len(op.registers))]
        found = [self._known(key) for key in keys]
        if None in found:
            memory, index = self.values[op.memory], self.indices.value(place)
            name = {"index": index}
            new = FragmentOp(name, op.entry.name, op.number, memory, [Expr.var("index")])
            self.indices.here.block.add_op(new)
            found = list(new.registers)
            self.known[-1].update(zip(keys, new.registers, strict=True))
        for old, value in zip(op.registers, found, strict=True):
            assert value is not None
            self.values[old] = value

    def asynchronous_only(self, op: Operation) -> None:
        """What only devices need that copy to local memory by themselves."""
        if self.asynchronous:
            self.other(op)

    def index(self, op: Operation) -> None:
        """The value of an expression."""
        assert isinstance(op, IndexOp)
        (expr,) = op.exprs_of(self.numbered(op), op.expr)
        self.exprs[op.result] = expr = self.indices.simplify(expr)
        self.values[op.result] = self.indices.value(expr)


def parents(op: Operation, wanted: Callable[[ForOp], bool]) -> list[ForOp]:
    """The loops around an op that are wanted."""
    found: list[ForOp] = []
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp) and wanted(parent):
            found.append(parent)
        parent = parent.parent_op()
    return found


def extent_of(t: MemRefType[Attribute]) -> int:
    """How many elements there are from a buffer's first to its last."""
    return 1 + sum((n - 1) * s for n, s in zip(t.get_shape(), flat_strides(t), strict=True))


def stored_in(blocks: Iterable[Block]) -> set[SSAValue]:
    """The buffers that something in blocks stores to."""
    return {op.memory for block in blocks for op in block.walk() if isinstance(op, StoreOp)}


def loaded_to_be_stored(op: StoreOp) -> list[Operation]:
    """A load from global memory for this store to an asynchronous buffer alone, and its casts."""
    buffer = op.memory.owner
    # Nobody waits for what nest-pipeline has left with its copies.
    if not isinstance(buffer, BufferOp) or buffer.asynchronous is None or buffer.copies is not None:
        return []
    chain: list[Operation] = []
    value = op.value
    while value.has_one_use() and isinstance(value.owner, arith.BitcastOp | LoadOp):
        chain.insert(0, value.owner)
        if isinstance(value.owner, LoadOp):
            t = value.owner.memory.type
            is_global = isinstance(t, MemRefType) and t.memory_space == GLOBAL
            return chain if is_global and value.owner.parent is op.parent else []
        value = value.owner.input
    return []


LOWERINGS: dict[type[Operation], Callable[[NestToGpu, Operation], None]] = {
    ForOp: NestToGpu.loop,
    IfOp: NestToGpu.branch,
    scf.IfOp: NestToGpu.where,
    BufferOp: NestToGpu.buffer,
    LoadOp: NestToGpu.load,
    StoreOp: NestToGpu.store,
    IndexOp: NestToGpu.index,
    FragmentOp: NestToGpu.fragment,
    CommitOp: NestToGpu.asynchronous_only,
    WaitOp: NestToGpu.asynchronous_only,
    scf.YieldOp: lambda lowering, op: None,
}
"""How each op of a nest is lowered; the others stay as they are."""


@dataclass(frozen=True)
class NestToGpuPass(ModulePass):
    """Lowers nests in `gpu.func`s to `gpu`, `scf`, `memref`, `vector` and `arith`.

    Parallel loops become the numbers of work-groups and work-items, serial ones `scf.for`;
    unrolled ones and vectors that are left are written out. A private buffer that is accessed at
    written out places alone becomes values, and what two places load from the same address is
    loaded once. Index expressions are computed in the outermost block where they can be. What is
    loaded to be stored in an `async` buffer is copied by itself on NVIDIA's GPUs of compute
    capability 8.0; elsewhere it is loaded and stored.
    """

    name = "nest-to-gpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every kernel."""
        alignment = GPU_ALIGNMENT if is_gpu(op) else 0
        asynchronous = limit(op, "compute_capability", 0) >= ASYNCHRONOUS
        for function in [f for f in op.walk() if isinstance(f, gpu.FuncOp)]:
            if any(isinstance(x, ForOp | LoadOp | StoreOp | BufferOp) for x in function.walk()):
                NestToGpu(function, alignment, asynchronous=asynchronous).run()
