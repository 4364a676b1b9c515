"""Loops and branches of functions of tensors, which the host runs."""

from __future__ import annotations

from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, TensorType
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.errors import TileError
from tiledialect.ir.inlining import copy_block
from tiledialect.ir.names import place_of
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.size_arithmetic import known_integer
from tiledialect.ir.tensor_builder import TensorBuilder

CONTROL = (scf.ForOp, scf.IfOp, scf.WhileOp)
"""Ops that the host runs."""
MOST_DIFFERENTIATED = 4000
"""Most ops that a loop becomes for a gradient, as each iteration is ops of its own."""


def has_control_flow(function: func.FuncOp) -> bool:
    """Whether a function of tensors has loops or branches."""
    types = (*function.function_type.inputs, *function.function_type.outputs)
    return bool(ops_of(function, *CONTROL)) and any(isinstance(t, TensorType) for t in types)


def steps_of(loop: scf.ForOp) -> range | None:
    """The numbers that the index of a loop is, if they are known."""
    lower, upper, step = (known_integer(v) for v in (loop.lb, loop.ub, loop.step))
    if step is not None and step < 1:
        raise TileError.at(loop, "scf.for: the step must be above 0")
    if lower is None or upper is None or step is None:
        return None
    return range(lower, upper, step)


def size_of_body(loop: scf.ForOp) -> int:
    """Number of ops of an iteration."""
    return sum(1 for _ in loop.body.walk())


def write_out(loop: scf.ForOp, steps: range) -> None:
    """Replace a loop by its iterations."""
    values: list[SSAValue] = list(loop.iter_args)
    index_type = loop.body.block.args[0].type
    assert isinstance(index_type, IndexType | IntegerType)
    for k in steps:
        index = arith.ConstantOp(IntegerAttr(k, index_type))
        Rewriter.insert_op(index, InsertPoint.before(loop))
        values = copy_block(loop.body.block, loop, [index.result, *values])
    Rewriter.replace_op(loop, [], values)


def write_out_all(function: func.FuncOp, wanted: str) -> None:
    """Replace the loops of a function by their iterations, and branches by selections.

    Raises a TileError, that there is no ``wanted``, for a loop that ends by its data, or of too
    many iterations.
    """
    while (op := next(iter(ops_of(function, *CONTROL)), None)) is not None:
        match op:
            case scf.ForOp() if (steps := steps_of(op)) is not None:
                size = size_of_body(op)
                if len(steps) * size > MOST_DIFFERENTIATED:
                    many = f"{len(steps)} iterations of {size} ops are more than"
                    raise TileError.at(op, f"scf.for has no {wanted}: {many} {MOST_DIFFERENTIATED}")
                write_out(op, steps)
            case scf.IfOp():
                _select(op)
            case _:
                raise TileError.at(op, f"{op.name} has no {wanted}: data decide when it ends")


def _select(branch: scf.IfOp) -> None:
    """Replace a branch, whose condition a tensor holds, by a selection of the results of both."""
    read = branch.cond.owner
    assert isinstance(read, tensor.ExtractOp)
    b = TensorBuilder(branch, place_of(branch))
    blocks = branch.true_region.block, branch.false_region.block
    pairs = zip(*(copy_block(block, branch, []) for block in blocks), strict=True)
    Rewriter.replace_op(branch, [], [b.select(read.tensor, x, y) for x, y in pairs])
    if not read.result.uses:
        Rewriter.erase_op(read)
