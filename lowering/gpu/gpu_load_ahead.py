"""gpu-load-ahead: fragment pipelining: a step loads the first factors of the next step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import gpu, memref, scf, vector
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free

from tiledialect.dialects.nest.asynchronous import CommitOp, WaitOp
from tiledialect.dialects.nest.instruction import FragmentOp, InstructionOp
from tiledialect.ir.ops_in import ops_in, ops_of
from tiledialect.lowering.gpu.utils.loops import carry

LOADS = (FragmentOp, vector.LoadOp, memref.LoadOp)
"""Ops that read tiles: in a loop that waits for copies, no others do."""


class GpuLoadAheadPass(ModulePass):
    """Loads the factors of a step's first instructions before the last ones of the step before.

    In loops that wait for asynchronous copies the instructions of a step come in rounds, each of
    which adds to the sums of the one before. The first round would wait for its factors, which
    are there only after the barrier. So the barrier stands before the last rounds, which have
    their factors in registers, and the factors of the next step are loaded behind it.
    """

    name = "gpu-load-ahead"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the loops of every kernel that wait."""
        for loop in ops_of(op, scf.ForOp):
            if (step := PipelinedStep.of(loop)) is not None:
                step.rotate()


@dataclass(frozen=True)
class PipelinedStep:
    """The body of a loop, in the parts that are arranged anew."""

    loop: scf.ForOp
    wait: Sequence[Operation]
    """Waits for the step's tiles: an op of its own, and a barrier."""
    work: Sequence[Operation]
    """Ops that load factors and compute their places."""
    first: Sequence[InstructionOp]
    """Instructions that add to the sums of the step before."""
    later: Sequence[InstructionOp]
    after: Sequence[Operation]
    """Starts copies, and counts."""
    factors: Sequence[SSAValue]
    """Factors of the first instructions."""
    loading: Sequence[Operation]
    """Ops that load the factors."""

    @staticmethod
    def of(loop: scf.ForOp) -> PipelinedStep | None:
        """Parts of a loop's body; None if the body has others."""
        block = loop.body.block
        *ops, _ = block.ops
        if len(ops) < 2 or not isinstance(ops[0], WaitOp) or not isinstance(ops[1], gpu.BarrierOp):
            return None
        own = [x for x in ops if isinstance(x, InstructionOp)]
        first = [x for x in own if all(v.owner is block for v in x.sums)]
        later = [x for x in own if x not in first]
        if not first or not later:
            return None
        end = ops.index(own[-1]) + 1
        work = [x for x in ops[2:end] if not isinstance(x, InstructionOp)]
        after = ops[end:]
        factors = list(dict.fromkeys(v for x in first for v in x.factors if v.owner in work))
        loading = _needed(factors, work)
        # Copies go where the step before has read, all of which is done at the barrier.
        is_last = any(isinstance(x, CommitOp) for x in after)
        if not is_last or any(map(_stores_at_edges, after)):
            return None
        if not all(map(_may_move, work)) or not _depends_on_counters(loading, block):
            return None
        if _use_results(work, own) or _use_results(after, later):
            return None
        return PipelinedStep(loop, ops[:2], work, first, later, after, factors, loading)

    def rotate(self) -> None:
        """Load before the loop, and in each step for the next one."""
        loop, block = self.loop, self.loop.body.block
        arguments, yielded = block.args[1:], block.last_op
        assert isinstance(yielded, scf.YieldOp)
        following = dict(zip(arguments, yielded.operands, strict=True))
        before, now = _copies(self.loading, dict(zip(arguments, loop.iter_args, strict=True)))
        ahead, then = _copies(self.loading, following)
        starts = [x.clone() for x in self.wait]
        ordered = (*self.work, *self.first, *self.after, *self.wait, *ahead, *self.later)
        for op in [*block.ops]:
            op.detach()
        block.add_ops(ordered)
        block.add_op(scf.YieldOp(*yielded.operands, *(then[v] for v in self.factors)))
        for value in self.factors:
            carried = block.insert_arg(value.type, len(block.args))
            carried.name_hint = now[value].name_hint = "ahead"
            value.replace_uses_with_if(carried, lambda use: use.operation not in self.loading)
        for op in reversed(self.work):
            if not any(result.uses for result in op.results):
                Rewriter.erase_op(op)
        yielded.erase()
        carry(loop, [now[v] for v in self.factors], [*starts, *before])


def _needed(values: Sequence[SSAValue], ops: Sequence[Operation]) -> list[Operation]:
    """The ops by which values are made, in order."""
    needed = set(values)
    found: list[Operation] = []
    for op in reversed(ops):
        if not needed.isdisjoint(op.results):
            found.insert(0, op)
            needed.update(op.operands)
    return found


def _may_move(op: Operation) -> bool:
    """Whether an op may be anywhere between the barriers."""
    return isinstance(op, LOADS) or (not op.regions and is_side_effect_free(op))


def _use_results(ops: Sequence[Operation], instructions: Sequence[InstructionOp]) -> bool:
    """Whether ops need results of instructions that will come after them."""
    totals = {v for x in instructions for v in x.totals}
    return any(not totals.isdisjoint(x.operands) for op in ops for x in ops_in(op))


def _stores_at_edges(op: Operation) -> bool:
    """Whether stores replace the copies at edges: few registers are left then."""
    return any(x.false_region.blocks for x in ops_of(op, scf.IfOp))


def _depends_on_counters(ops: Sequence[Operation], block: Block) -> bool:
    """Whether ops depend on counters of copies alone: a step after the last one may do them."""
    used = {v for op in ops for v in op.operands if v.owner is block}
    return block.args[0] not in used and all(isinstance(v.type, IndexType) for v in used)


def _copies(
    ops: Sequence[Operation], values: dict[BlockArgument, SSAValue]
) -> tuple[list[Operation], dict[SSAValue, SSAValue]]:
    """Copies of ops where a block's arguments have other values, and theirs of all values."""
    mapped: dict[SSAValue, SSAValue] = {**values}
    return [op.clone(mapped) for op in ops], mapped
