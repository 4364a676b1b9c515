"""Building the body of a kernel: control flow, scalars and indices at one place."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from xdsl.builder import Builder
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint

from tiledialect.lowering.indices import IndexValue, Indices
from tiledialect.lowering.scalar import Scalars

Values = Sequence[SSAValue]


class Emitter:
    """Emits ops at the end of a block, or inside the loop or branch being built."""

    def __init__(self, block: Block):
        self.builder = Builder(InsertPoint.at_end(block))
        self.indices = Indices(self.builder, block)
        self.scalars = Scalars(self.builder)

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Emit at the end of ``block`` for a while."""
        outer = self.builder.insertion_point
        self.builder.insertion_point = InsertPoint.at_end(block)
        yield
        self.builder.insertion_point = outer

    def loop(
        self,
        extent: int,
        carried: Values,
        body: Callable[[IndexValue, Values], Values],
        name: str | None = None,
    ) -> Values:
        """A loop from 0 to ``extent`` that carries values; the values after it."""
        if extent == 0:
            return carried
        if extent == 1:
            return body(0, carried)
        lower, upper, step = (self.indices.value(v) for v in (0, extent, 1))
        block = Block(arg_types=[IndexType(), *(v.type for v in carried)])
        block.args[0].name_hint = name
        for argument, value in zip(block.args[1:], carried, strict=True):
            argument.name_hint = value.name_hint
        with self.inside(block):
            self.builder.insert(scf.YieldOp(*body(block.args[0], block.args[1:])))
        return self._insert(scf.ForOp(lower, upper, step, carried, block), carried)

    def unrolled(
        self, extent: int, carried: Values, body: Callable[[IndexValue, Values], Values]
    ) -> Values:
        """The same, as straight code."""
        for step in range(extent):
            carried = body(step, carried)
        return carried

    def when(
        self, condition: SSAValue | None, otherwise: Values, body: Callable[[], Values]
    ) -> Values:
        """The body's values where the condition holds (None: always), else those given."""
        if condition is None:
            return body()
        then, other = Block(), Block()
        with self.inside(then):
            self.builder.insert(scf.YieldOp(*body()))
        other.add_op(scf.YieldOp(*otherwise))
        types = [v.type for v in otherwise]
        return self._insert(
            scf.IfOp(condition, types, [then], [other] if types else None), otherwise
        )

    def _insert(self, op: scf.ForOp | scf.IfOp, like: Values) -> Values:
        self.builder.insert(op)
        for result, value in zip(op.results, like, strict=True):
            result.name_hint = value.name_hint
        return op.results

    def load(self, buffer: SSAValue, coordinates: Sequence[IndexValue]) -> SSAValue:
        """The element of a buffer."""
        return self.builder.insert(
            memref.LoadOp.get(buffer, [self.indices.value(c) for c in coordinates])
        ).results[0]

    def store(self, value: SSAValue, buffer: SSAValue, coordinates: Sequence[IndexValue]) -> None:
        """Write an element of a buffer."""
        assert isinstance(buffer.type, MemRefType)
        self.builder.insert(
            memref.StoreOp.get(value, buffer, [self.indices.value(c) for c in coordinates])
        )
