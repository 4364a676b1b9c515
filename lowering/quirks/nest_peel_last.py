"""nest-peel-last: loops whose last iterations are loops of their own.

Intel's compiler merges a test for the last iteration with the end of the loop. Where there is
another test beside, the process ends, with any of its hints to unroll or vectorize. Seen from 40
iterations on, in loops of scalars.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.nest.attributes import ExprsAttr
from tiledialect.dialects.nest.control import ForOp
from tiledialect.ir.ancestors import ancestors
from tiledialect.ir.ops_in import ops_in, ops_of
from tiledialect.lowering.nest.nest_bound_loops import end_of
from tiledialect.lowering.nest.utils.conditions import conjuncts, is_guarded
from tiledialect.lowering.nest.utils.scope import NestScope
from tiledialect.rounding import ceil_div
from tiledialect.schedule.loops import Role

FEW = 32
"""Most iterations of loops that stay: the fault was seen from 40 on, and none at 33."""


@dataclass(frozen=True)
class Peeling:
    """Splits the loops of one function."""

    scope: NestScope
    unrolled: frozenset[str]
    """Names that have a number wherever the kernel uses them."""

    def peel(self, loop: ForOp) -> None:
        """Split a loop before its last iterations, as far as tests tell each from those before."""
        lower, upper, step = loop.bounds.data
        count, start, stride = loop.extent, lower.value, step.value
        if count is None or count <= FEW or start is None or stride is None:
            return
        ends = [
            range(ceil_div(end.start - start, stride), ceil_div(end.stop - 1 - start, stride) + 1)
            for end in self._ends(loop)
        ]
        first = count
        while any(first - 1 in end for end in ends):
            first -= 1
        if first in (0, count):
            return
        rest, middle = loop.clone(), lower + step * first
        rest.index.name_hint = loop.index.name_hint
        loop.bounds, rest.bounds = (
            ExprsAttr([lower, middle, step]),
            ExprsAttr([middle, upper, step]),
        )
        Rewriter.insert_op(rest, InsertPoint.after(loop))

    def _ends(self, loop: ForOp) -> Iterator[range]:
        """Values of the index at which tests in a loop no longer hold."""
        index = str(self.scope.name(loop.index))
        for op in filter(is_guarded, ops_in(loop.block)):
            for part in conjuncts(self.scope.condition(op)):
                end = end_of(part, index, self.scope)
                if end is not None and self.unrolled.issuperset(end.names):
                    known = self.scope.env.range(end)
                    yield range(int(known.least), int(known.greatest) + 1)


def is_of_scalars(loop: ForOp) -> bool:
    """Whether a loop is serial, and has no vectors."""
    return loop.role.data.role is Role.SERIAL and not any(
        isinstance(v.type, VectorType) for op in ops_in(loop.block) for v in op.results
    )


class NestPeelLastPass(ModulePass):
    """Splits the last iteration from innermost serial loops of scalars that test for it.

    Iterations before it follow, where tests tell them from the ones before. The tests stay, and are
    decided by the ranges of the new loops. Loops of up to 32 iterations stay.
    """

    name = "nest-peel-last"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split the loops of every kernel."""
        for function in ops_of(op, gpu.FuncOp):
            if not any(map(is_guarded, ops_in(function))):
                continue
            scope, loops = NestScope(), ops_of(function, ForOp)
            unrolled = [x for x in loops if x.is_unrolled]
            outer = {around for x in loops if x not in unrolled for around in ancestors(x)}
            names = frozenset(str(scope.name(x.index)) for x in unrolled)
            for loop in loops:
                if loop not in outer and is_of_scalars(loop):
                    Peeling(scope, names).peel(loop)
