"""Memory of IR that nobody needs any more."""

from __future__ import annotations

from xdsl.ir import Block, Operation, OpResult, SSAValues

from tiledialect.ir.ops_in import ops_in

NO_RESULTS: SSAValues[OpResult] = SSAValues()


def dispose(outer: Operation | Block) -> None:
    """Take an op, or a block, and all in it apart: the memory is free as soon as nobody has an op.

    Ops, blocks and values refer to one another in circles, which stay until Python's garbage
    collector looks for them. That takes as long as a tenth of a compilation.
    """
    for op in reversed(ops_in(outer)):
        if op.parent is not None:
            op.detach()
        for block in (b for region in op.regions for b in region.blocks):
            _drop_arguments(block)
        op.drop_all_references()
        op.results = NO_RESULTS
    if isinstance(outer, Block):
        _drop_arguments(outer)


def _drop_arguments(block: Block) -> None:
    """Take the arguments of a block, which refer to it."""
    for argument in reversed(block.args):
        # Ops that passes made and did not insert may use it.
        block.erase_arg(argument, safe_erase=False)
