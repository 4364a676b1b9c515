"""The elementwise end of a row kernel, taken off it, so that those who take it can compute it.

What is left of the kernel gives the values of rows that the end needs, such as mean and variance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.rows import Rows
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.passes.kernel_facts import makers
from tiledialect.passes.kernel_merging import pruned


@dataclass(frozen=True)
class Parted:
    """A row kernel that nothing takes any longer, and the two that stand before it instead."""

    whole: KernelOp
    rest: KernelOp
    end: KernelOp
    outputs: tuple[SSAValue, ...]
    """What the two make of what the whole makes, in its order."""

    def undo(self) -> None:
        """Give those who take the results the whole kernel again."""
        for new, old in zip(self.outputs, self.whole.outputs, strict=True):
            new.replace_all_uses_with(old)
        for kernel in (self.end, self.rest):
            Rewriter.erase_op(kernel)


def part_end(kernel: KernelOp) -> Parted | None:
    """Take off a row kernel what elementwise ops make of whole rows for other kernels alone."""
    assert kernel.axes is not None
    maps = Rows.of(kernel.block.ops, kernel.axes.ranges).maps
    rows = {name for name, r in kernel.axes.ranges.items() if r.extent > 1} - kernel.reduced
    of_rows = {v for v, m in maps.items() if set(m) - {None} == rows}
    results = kernel.yield_op.values
    pairs = zip(results, kernel.outputs, strict=True)
    ends = [v for v, output in pairs if v not in of_rows and _is_for_kernels(output)]
    found = makers(ends, of_rows)
    ops = [op for op in kernel.block.ops if op in found]
    shapes = {shape_of(tensor_type(v)) for v in ends}
    taken = dict.fromkeys(v for op in ops for v in op.operands if v.owner not in found)
    contracts = any(isinstance(op, ContractionOp) for op in ops)
    if len(shapes) != 1 or of_rows.isdisjoint(taken) or contracts:
        return None
    left = list(dict.fromkeys(v for v in (*results, *taken) if v in maps and v not in ends))
    everything = [op for op in kernel.block.ops if not isinstance(op, YieldOp)]
    pairs = zip(kernel.block.args, kernel.inputs, strict=True)
    inputs: dict[SSAValue, SSAValue] = dict(pairs)
    rest = _kernel(inputs, everything, left, kernel)
    rest.axes = kernel.axes
    rest = pruned(rest)
    made = dict(zip(left, rest.outputs, strict=True))
    end = _kernel({v: made.get(v) or inputs[v] for v in taken}, ops, ends, kernel)
    made.update(zip(ends, end.outputs, strict=True))
    hint = next((output.name_hint for output in kernel.outputs if output.name_hint), None)
    for value, output in made.items():
        output.name_hint = value.name_hint or (hint and f"{hint}_part")
    Rewriter.insert_op((rest, end), InsertPoint.before(kernel))
    outputs = tuple(made[v] for v in results)
    for old, new in zip(kernel.outputs, outputs, strict=True):
        old.replace_all_uses_with(new)
    return Parted(kernel, rest, end, outputs)


def _is_for_kernels(output: SSAValue) -> bool:
    """Whether kernels alone take what another one makes."""
    return all(isinstance(use.operation, KernelOp) for use in output.uses)


def _kernel(
    inputs: dict[SSAValue, SSAValue],
    ops: Iterable[Operation],
    results: Sequence[SSAValue],
    like: KernelOp,
) -> KernelOp:
    """A kernel of copies of some ops of another one, whose values take the place of others."""
    body = Block(arg_types=[v.type for v in inputs])
    values = dict[SSAValue, SSAValue](zip(inputs, body.args, strict=True))
    for value, argument in values.items():
        argument.name_hint = value.name_hint
    body.add_ops([op.clone(values) for op in ops])
    body.add_op(YieldOp([values[v] for v in results]))
    kernel = KernelOp(list(inputs.values()), [v.type for v in results], Region(body))
    kernel.location = like.location
    return kernel
