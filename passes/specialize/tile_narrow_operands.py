"""tile-narrow-operands: sums of numbers of 16 bits in f32 read the numbers without conversion."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import CastOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import ScatterOp
from tiledialect.ir.ops_in import ops_of

F32 = et.CONCRETE["f32"]


def is_widened(value: SSAValue) -> bool:
    """Whether a value is a number of 16 bits in f32."""
    op = value.owner
    if not isinstance(op, CastOp) or tensor_type(value).element_type != F32:
        return False
    return tensor_type(op.operand).element_type in et.SHORT_FLOATS


def _read(values: Sequence[SSAValue]) -> list[SSAValue]:
    """Values as they are in memory."""
    return [v.owner.operand if isinstance(v.owner, CastOp) and is_widened(v) else v for v in values]


class TileNarrowOperandsPass(ModulePass):
    """Lets sums of products, scans and scatters read numbers of 16 bits directly.

    These ops convert their operands to the type of their result, f32: a `tile.cast` from f16 or
    bf16 to f32 before them is redundant. So products of matrices are recognized as products for
    tensor cores. Other contractions take elements as the ops around them do, with which they may
    share a kernel.
    """

    name = "tile-narrow-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Let every such op take the operands of casts."""
        for x in ops_of(op, ContractionOp):
            is_product = x.combination.data is Combination.mul and any(map(is_widened, x.inputs))
            if is_product and tensor_type(x.result).element_type == F32:
                count = len(x.inputs)
                x.operands = [*_read(x.inputs), *x.operands[count:]]
        for x in ops_of(op, ScanOp, ScatterOp):
            x.operands = [*_read(x.operands[:1]), *x.operands[1:]]
        for cast in ops_of(op, CastOp):
            if is_widened(cast.result) and not cast.result.uses:
                Rewriter.erase_op(cast)
