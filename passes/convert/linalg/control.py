"""Loops and branches around ops on tensors: unrolled, chosen, or left to the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from tiledialect.ir.control_flow import CONTROL, size_of_body, steps_of, write_out
from tiledialect.ir.inlining import MOST_UNROLLED, copy_block, inline_block
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.size_arithmetic import known_integer
from tiledialect.passes.convert.linalg.host_loops import host_for, host_if, host_while

Control: TypeAlias = scf.ForOp | scf.IfOp | scf.WhileOp


def settle_control_flow(module: ModuleOp) -> None:
    """Write out short loops, choose between branches, and bring the rest to a form for the host.

    Of a branch both results are computed and one is selected, unless its condition is known or
    a loop is left in it.
    """
    left: set[Operation] = set()
    while (op := next((x for x in _control_flow(module) if x not in left), None)) is not None:
        match op:
            case scf.ForOp():
                if (loop := _write_out(op)) is not None:
                    left.add(loop)
            case scf.WhileOp():
                left.add(host_while(op))
            case scf.IfOp() if (known := known_integer(op.cond)) is not None:
                region = op.true_region if known else op.false_region
                inline_block(region.block, op, [])
            case scf.IfOp():
                left.add(op)
    for branch in reversed([op for op in _control_flow(module) if isinstance(op, scf.IfOp)]):
        if ops_of(branch, scf.ForOp, scf.WhileOp):
            host_if(branch)
        else:
            _select(branch)


def _control_flow(module: ModuleOp) -> Iterator[Control]:
    """Loops and branches in functions of tensors that have results, the outer ones first."""
    for op in module.walk():
        if isinstance(op, CONTROL) and op.results and _is_of_host(op):
            yield op


def _is_of_host(op: Operation) -> bool:
    """Whether an op is run by the host: in a function of tensors, in loops and branches alone."""
    parent = op.parent_op()
    while isinstance(parent, CONTROL):
        parent = parent.parent_op()
    if not isinstance(parent, func.FuncOp):
        return False
    types = parent.function_type
    return any(isinstance(t, TensorType) for t in (*types.inputs, *types.outputs))


def _write_out(loop: scf.ForOp) -> Operation | None:
    """Replace a loop by its iterations, or by one of the host, which is returned."""
    steps = steps_of(loop)
    if steps is None or len(steps) * size_of_body(loop) > MOST_UNROLLED:
        return host_for(loop, None if steps is None else len(steps))
    write_out(loop, steps)
    return None


def _select(branch: scf.IfOp) -> None:
    """Replace a branch by a selection of the results of both."""
    blocks = branch.true_region.block, branch.false_region.block
    pairs = zip(*(copy_block(block, branch, []) for block in blocks), strict=True)
    chosen = [arith.SelectOp(branch.cond, x, y) for x, y in pairs]
    Rewriter.replace_op(branch, chosen, [op.result for op in chosen])
