"""Host functions of loops and branches around calls of functions that are lowered already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, func, gpu, memref, scf, tensor
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.errors import TileError
from tiledialect.ir.dense_constants import dense_constant
from tiledialect.ir.host_memory import root
from tiledialect.ir.names import op_name
from tiledialect.lowering.tile_to_nest.global_arrays import GlobalArrays, dense_of
from tiledialect.lowering.tile_to_nest.kernel import buffer_type

Values = Sequence[SSAValue]


def not_lowered(op: Operation) -> TileError:
    """The error for an op on tensors that no pass puts in a kernel."""
    name = op_name(op)
    dialect, _, _ = name.partition(".")
    return TileError.at(op, f"no pass lowers {name}, of the dialect {dialect}, to kernels")


class ControlFlow:
    """Builds the host function of a function of loops, branches and calls.

    The bodies of called functions are put in the place of the calls. Tensors that a loop carries
    have memory of their own, to which the results of each iteration are copied; so have results of
    branches. All memory is allocated at the start.
    """

    def __init__(self, source: func.FuncOp, parts: Mapping[str, func.FuncOp]):
        self.source = source
        self.parts = parts
        self.block = Block(arg_types=[buffer_type(a.type) for a in source.body.block.args])
        self.values: dict[SSAValue, SSAValue] = {}
        """The memory of each tensor, and each number."""
        self.allocations: list[gpu.AllocOp] = []
        self.arrays = GlobalArrays(source.sym_name.data)
        for old, new in zip(source.body.block.args, self.block.args, strict=True):
            new.name_hint = old.name_hint
            self.values[old] = new

    def build(self) -> list[SSAValue]:
        """Build the body, but for its end; the memory that is returned."""
        builder = Builder(InsertPoint.at_end(self.block))
        returned: list[SSAValue] = []
        taken: set[SSAValue] = set()
        for value in self._body(self.source.body.block, builder):
            origin = root(value)
            if not isinstance(origin.owner, gpu.AllocOp) or origin in taken or origin is not value:
                copy = self._allocate(value)
                builder.insert(gpu.MemcpyOp(value, copy))
                value = origin = copy
            taken.add(origin)
            returned.append(value)
        first = self.block.first_op
        for op in self.allocations:
            if first is None:
                self.block.add_op(op)
            else:
                self.block.insert_op_before(op, first)
        return returned

    def _body(self, block: Block, builder: Builder) -> list[SSAValue]:
        """Build a block; the memory of the tensors that its last op takes, after the condition."""
        for op in block.ops:
            if op is block.last_op:
                return [self.values[v] for v in op.operands]
            if (visit := VISITS.get(type(op))) is None:
                raise not_lowered(op)
            visit(self, op, builder)
        raise AssertionError("a block without an end")

    def _allocate(self, like: SSAValue) -> SSAValue:
        t = like.type
        assert isinstance(t, MemRefType)
        op = gpu.AllocOp(MemRefType(t.element_type, t.shape, memory_space=t.memory_space))
        op.result.name_hint = like.name_hint
        self.allocations.append(op)
        return op.result

    # -- single ops ------------------------------------------------------------------------

    def number(self, op: arith.ConstantOp | ConstantOp, builder: Builder) -> None:
        """A number of the host, or an array."""
        (result,) = op.results
        if isinstance(op, ConstantOp):
            self.values[result] = self.arrays.get(dense_of(op), builder, result)
        elif (numbers := dense_constant(result)) is not None:
            self.values[result] = self.arrays.get(numbers, builder, result)
        else:
            self.values[result] = builder.insert(op.clone()).results[0]

    def condition(self, op: tensor.ExtractOp, builder: Builder) -> None:
        """An element, which the host reads."""
        self.values[op.result] = builder.insert(memref.LoadOp.get(self.values[op.tensor], [])).res

    def call(self, op: func.CallOp, builder: Builder) -> None:
        """The body of the function that is called."""
        part = self.parts[op.callee.root_reference.data]
        body = part.body.block
        values: dict[SSAValue, SSAValue] = {
            a: self.values[v] for a, v in zip(body.args, op.operands, strict=True)
        }
        for inner in body.ops:
            if isinstance(inner, gpu.AllocOp):
                values[inner.result] = self._allocate(inner.result)
            elif isinstance(inner, func.ReturnOp):
                returned = (values[v] for v in inner.operands)
                self.values.update(zip(op.results, returned, strict=True))
            elif not isinstance(inner, gpu.DeallocOp):
                builder.insert(inner.clone(values))

    # -- regions ---------------------------------------------------------------------------

    def repeat(self, op: scf.ForOp, builder: Builder) -> None:
        """A loop with a known number of iterations."""
        source = op.body.block
        assert source.last_op is not None
        kept = [v is a for v, a in zip(source.last_op.operands, source.args[1:], strict=True)]
        carried = self._carried(op.iter_args, kept, builder)
        self.values.update(zip(source.args[1:], carried, strict=True))
        self.values.update(zip(op.results, carried, strict=True))
        block = Block(arg_types=[source.args[0].type])
        self.values[source.args[0]] = block.args[0]
        inner = Builder(InsertPoint.at_end(block))
        self._advance(self._body(source, inner), carried, inner)
        inner.insert(scf.YieldOp())
        lower, upper, step = (self.values[v] for v in (op.lb, op.ub, op.step))
        builder.insert(scf.ForOp(lower, upper, step, [], Region(block)))

    def loop(self, op: scf.WhileOp, builder: Builder) -> None:
        """A loop that ends when a condition does not hold."""
        before, after = op.before_region.block, op.after_region.block
        test, end = before.last_op, after.last_op
        assert isinstance(test, scf.ConditionOp) and end is not None
        passed = dict(zip(after.args, test.args, strict=True))
        kept = [passed.get(v) is a for v, a in zip(end.operands, before.args, strict=True)]  # pyright: ignore[reportArgumentType]
        carried = self._carried(op.arguments, kept, builder)
        self.values.update(zip(before.args, carried, strict=True))
        first, second = Block(), Block()
        inner = Builder(InsertPoint.at_end(first))
        condition, *results = self._body(before, inner)
        inner.insert(scf.ConditionOp(condition))
        self.values.update(zip(after.args, results, strict=True))
        self.values.update(zip(op.results, results, strict=True))
        inner = Builder(InsertPoint.at_end(second))
        self._advance(self._body(after, inner), carried, inner)
        inner.insert(scf.YieldOp())
        builder.insert(scf.WhileOp([], [], Region(first), Region(second)))

    def branch(self, op: scf.IfOp, builder: Builder) -> None:
        """Lower a choice between two regions."""
        regions: list[Region] = []
        results: list[SSAValue] = []
        for region in (op.true_region, op.false_region):
            block = Block()
            inner = Builder(InsertPoint.at_end(block))
            made = self._body(region.block, inner) if region.blocks else []
            results = results or [self._allocate(v) for v in made]
            for value, target in zip(made, results, strict=True):
                inner.insert(gpu.MemcpyOp(value, target))
            inner.insert(scf.YieldOp())
            regions.append(Region(block))
        self.values.update(zip(op.results, results, strict=True))
        then, otherwise = regions
        builder.insert(scf.IfOp(self.values[op.cond], [], then, otherwise))

    def _carried(self, values: Values, kept: Sequence[bool], builder: Builder) -> list[SSAValue]:
        """Memory of the tensors that a loop carries; what stays the same is where it is."""
        carried: list[SSAValue] = []
        for value, stays in zip(values, kept, strict=True):
            buffer = self.values[value]
            if not stays:
                target = self._allocate(buffer)
                builder.insert(gpu.MemcpyOp(buffer, target))
                buffer = target
            carried.append(buffer)
        return carried

    def _advance(self, results: Values, carried: Values, builder: Builder) -> None:
        """Copy the results of an iteration to where the next one takes them."""
        moved = [(v, to) for v, to in zip(results, carried, strict=True) if v is not to]
        written = {to for _, to in moved}
        copies: list[tuple[SSAValue, SSAValue]] = []
        for value, target in moved:
            if root(value) in written:
                # It is overwritten before its turn may come.
                saved = self._allocate(value)
                builder.insert(gpu.MemcpyOp(value, saved))
                value = saved
            copies.append((value, target))
        for value, target in copies:
            builder.insert(gpu.MemcpyOp(value, target))


VISITS: dict[type[Operation], Callable[..., None]] = {
    arith.ConstantOp: ControlFlow.number,
    ConstantOp: ControlFlow.number,
    tensor.ExtractOp: ControlFlow.condition,
    func.CallOp: ControlFlow.call,
    scf.ForOp: ControlFlow.repeat,
    scf.WhileOp: ControlFlow.loop,
    scf.IfOp: ControlFlow.branch,
}
