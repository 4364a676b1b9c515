"""tile-compose-copies: contractions read the sources of copies."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriteWalker
from xdsl.rewriter import Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.analysis.part_copies import is_part_copy
from tiledialect.dialects.tile.base import size_of
from tiledialect.dialects.tile.canonicalization import DropReshape
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.index.expr import Access
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.normalize.rewrites.index_splitting import split_reader
from tiledialect.passes.normalize.rewrites.reshape_sinking import sink_below_rows
from tiledialect.passes.normalize.rewrites.reshaped_reads import Read, replace_read


def _reads(value: SSAValue, reshapes: tuple[ReshapeOp, ...] = ()) -> Iterator[Read | None]:
    """Uses of a tensor, by itself or through reshapes; None for one that is no contraction's."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, ReshapeOp) and not op.sizes:
            yield from _reads(op.result, (*reshapes, op))
        elif isinstance(op, ContractionOp) and use.index < len(op.inputs):
            yield Read(op, use.index, reshapes)
        else:
            yield None


def _composed(copy: ContractionOp, access: Access) -> Access:
    """Access to the source of a copy where another access reads the copy."""
    at = {e.names[0]: place for e, place in zip(copy.output.data, access, strict=True) if e.names}
    return tuple(e.substitute(at) for e in copy.accesses.data[0].data)


def _compose(copy: ContractionOp) -> None:
    """Let all readers of a copy read its source, if each can."""
    found: list[tuple[Read, Access]] = []
    for read in _reads(copy.result):
        access = None if read is None else read.access()
        if read is None or access is None:
            return
        found.append((read, _composed(copy, access)))
    for read, access in found:
        replace_read(read.reader, read.operand, copy.inputs[0], access)
    # What read this copy's source is not there for the copies before it.
    for op in (*(r for read, _ in found for r in reversed(read.reshapes)), copy):
        if op.parent is not None and not op.results[0].uses:
            Rewriter.erase_op(op)


def _split_readers(copy: ContractionOp) -> None:
    """Split the indices of contractions along axes that a reshape merges: of repetitions, and of
    batches, along which all operands are read.

    A repetition is then an index that its source is not read at.
    """
    if any(read is None for read in _reads(copy.result)):
        return
    is_repetition = size_of(copy.inputs[0]) < size_of(copy.result)
    for read in [*_reads(copy.result)]:
        # A reader before may have been split together with it.
        if read is None or not read.reshapes or read.reader.parent is None:
            continue
        whole = read.reshapes[-1]
        reshape = split_reader(read.reader, whole, only_batches=not is_repetition)
        if reshape is not None:
            sink_below_rows(reshape)


class TileComposeCopiesPass(ModulePass):
    """Lets contractions read the tensors from which copies take their elements.

    A copy is a contraction each of whose elements is an element of its operand: a transposed
    tensor, a slice, a repetition. Where all uses of it are operands of contractions, by themselves
    or through reshapes, these read its source at the composed index expressions, and the copy is
    not made. The composed expressions must be affine: a reshape that divides axes in another way
    is taken where indices or sums of them are the digits of an element's number, as those of heads
    and batch. A reshape may also merge the axes of a repetition, as those of the heads that share
    keys, or those of a batch, which move all operands and the result: the contractions get an index
    for each of these axes, and so do sums over rows and copies behind them. Schedules may
    still copy an operand into another layout. Kernels that are given stay as they are, with the
    indices that their schedules name.
    """

    name = "tile-compose-copies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Compose the copies of all functions, those that are made first first."""
        found = [x for x in ops_of(op, ContractionOp) if not isinstance(x.parent_op(), KernelOp)]
        # Readers of copies may have become other ones.
        for x in (*found, *reversed(found)):
            if x.parent is not None and is_part_copy(x):
                _split_readers(x)
                _compose(x)
        PatternRewriteWalker(DropReshape()).rewrite_module(op)
        for region in op.regions:
            region_dce(region)
