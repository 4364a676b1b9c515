"""tile-split-scan: one long scan into scans of blocks, which can run at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.dialects.tile.aggregation import accumulator_type, neutral
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import Shape, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import CastOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.errors import TileError
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.names import give_name, keep_origin
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.target_spec import limit
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.passes.views.initial_values import filled
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.traits import Kind, kind_of

MIN_BLOCK = 4096
MAX_BLOCKS = 4096
"""Maximum number of blocks: few work-items scan the blocks' aggregates."""
ROWS_PER_UNIT = {Kind.CPU: 4, Kind.GPU: 2}
"""Rows that a compute unit needs to be busy."""


def block_for(op: ScanOp, units: int, kind: Kind) -> int | None:
    """Length of the blocks of a scan on a device; None if it is best as it is."""
    shape = shape_of(tensor_type(op.result)) or ()
    rows = prod(size for axis, size in enumerate(shape) if axis != op.along)
    if rows >= ROWS_PER_UNIT[kind] * units or op.size < 4 * MIN_BLOCK:
        return None
    return max(MIN_BLOCK, 1 << (ceil_div(op.size, MAX_BLOCKS) - 1).bit_length())


class SplitScan:
    """Ops that scan block by block; the last one's result is the scan's."""

    def __init__(self, op: ScanOp, block: int):
        self.op = op
        self.block = block
        self.shape: Shape = shape_of(tensor_type(op.result)) or ()
        self.blocks = ceil_div(op.size, block)
        self.made: list[Operation] = []

    def ops(self) -> list[Operation]:
        """Aggregates of the blocks, their exclusive scan, and the scans of the blocks from
        there.
        """
        op, t = self.op, accumulator_type(self.op)
        aggregation, reverse = op.aggregation.data, op.reverse is not None
        operand = self._as_type(op.operand, t, "wide")
        start, default = neutral(aggregation, t), None
        if start != 0:
            self.made += filled(start, t, self._with_axis(self.blocks))
            default = self.made[-1].results[0]
        # Each reads the block before; so the running sums are the blocks' initial values.
        other = IndexExpr.of("block") + (1 if reverse else -1)
        sums = self._contraction(
            "sums",
            aggregation,
            operand,
            self.block * other + IndexExpr.of("k"),
            [Constraint(IndexExpr.of("k"), IndexExpr.of(self.block))],
            default,
        )
        starts = self._add("before", ScanOp(aggregation, sums, op.along, reverse=reverse))
        scan = ScanOp(
            aggregation, operand, op.along, reverse=reverse, every=self.block, start=starts
        )
        self._as_type(self._add("blocks", scan), tensor_type(op.result).element_type)
        keep_origin(self.made, op)
        for new in self.made:
            if isinstance(new, ContractionOp):
                set_domain(new, new.space())
        return self.made

    def _add(self, name: str, op: Operation) -> SSAValue:
        self.made.append(op)
        give_name(op.results[0], name)
        return op.results[0]

    def _as_type(self, value: SSAValue, t: Attribute, name: str = "result") -> SSAValue:
        same = tensor_type(value).element_type == t
        return value if same else self._add(name, CastOp.to(value, t))

    def _with_axis(self, size: int) -> Shape:
        return (*self.shape[: self.op.along], size, *self.shape[self.op.along + 1 :])

    def _contraction(
        self,
        name: str,
        aggregation: Aggregation,
        value: SSAValue,
        place: IndexExpr,
        constraints: list[Constraint],
        default: SSAValue | None,
    ) -> SSAValue:
        """Contraction with an element for each block of each row, read at a place of the row."""
        along = self.op.along
        rows = [IndexExpr.of(f"i{axis}") for axis in range(len(self.shape))]
        output = [*rows[:along], IndexExpr.of("block"), *rows[along + 1 :]]
        access = [*rows[:along], place, *rows[along + 1 :]]
        shape = self._with_axis(self.blocks)
        new = ContractionOp(
            aggregation,
            Combination.none,
            output,
            [(value, access)],
            constraints,
            shape=shape,
            default=default,
        )
        return self._add(name, new)


@dataclass(frozen=True)
class TileSplitScanPass(ModulePass):
    """Splits long scans of few rows into blocks that work-groups can scan at the same time.

    First the blocks are aggregated, then the aggregates are scanned; last, each block is scanned
    from the aggregate of all blocks before it. Sums and products of types f16 and bf16 are kept in
    f32 for that. Without `block`, scans are split where the module's device needs it to be busy.
    """

    name = "tile-split-scan"

    block: int | None = None
    """Number of elements of a block; shorter scans stay."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split every scan that is long enough."""
        if self.block is not None and self.block < 1:
            raise TileError(f"`block` must be at least 1, got {self.block}")
        units, kind = limit(op, "compute_units", 1), kind_of(op)
        for scan in ops_of(op, ScanOp):
            in_kernel = isinstance(scan.parent_op(), KernelOp)
            is_one = scan.every is None and scan.keys is None
            if not is_one or in_kernel or not _is_static(scan):
                continue
            block = block_for(scan, units, kind) if self.block is None else self.block
            if block is not None and block < scan.size:
                made = SplitScan(scan, block).ops()
                Rewriter.replace_op(scan, made, [made[-1].results[0]])


def _is_static(op: ScanOp) -> bool:
    return isinstance(op.result.type, TensorType) and op.result.type.has_static_shape()
