"""Pictures of docs/, drawn from the list of passes and from IR."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from stages import STAGES
from xdsl.dialects import func
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.lift.render.svg import Graph, Node, Table, page
from tiledialect.tools.tile_opt import TileOptMain

ROOT = Path(__file__).parents[1]

LEVELS = (
    (
        "Tensor programs: tiledialect/language/, passes/",
        (
            "Tile text",
            "tiledialect/language",
            "tile ops, open shapes",
            "passes.gradient",
            "passes.specialize",
            "tile ops, static shapes",
            "passes.transform",
            "passes.normalize",
            "passes.algebra",
            "passes.split",
            "contractions with domains",
            "passes.fuse",
            "tile.kernel",
            "passes.schedule",
            "tile.kernel with a schedule",
        ),
    ),
    (
        "Kernels: lowering/",
        (
            "tile.kernel with a schedule",
            "lowering.tile_to_nest",
            "nest loops, host function",
            "lowering.nest",
            "lowering.nest_to_gpu",
            "gpu, scf, memref, vector, arith",
            "lowering.gpu",
            "lowering.quirks",
            "lowering.host",
            "lowering/opencl",
            "OpenCL C",
            "lowering/runtime",
            "arrays",
        ),
    ),
)
"""Columns of the picture: representations, and the stages between them."""

ACROSS = 2
"""Passes side by side in the box of a stage."""


def pipeline_picture() -> str:
    """Draw the representations of a program, and between them the stages with their passes."""
    return page([("", [_column(title, steps) for title, steps in LEVELS])])


def _column(title: str, steps: Sequence[str]) -> Graph:
    nodes = [_step(step) for step in steps]
    rows = [[Node(title, "head")], *([node] for node in nodes)]
    return Graph(rows, list(pairwise(nodes)))


def _step(step: str) -> Node:
    """Box of a representation, or of a stage with its passes."""
    if step not in STAGES:
        return Node(step, "" if "/" in step else "input")
    names = [*STAGES[step]]
    across = min(ACROSS, len(names))
    names += [""] * (-len(names) % across)
    rows = [names[at : at + across] for at in range(0, len(names), across)]
    return Node(step.replace(".", "/"), "", Table([[Node(name) for name in row] for row in rows]))


def kernels_picture(program: Path) -> str:
    """Draw the kernels of a module with their ops, and the tensors between them."""
    module = TileOptMain([]).parse_chunk(io.BytesIO(program.read_bytes()), "mlir")
    assert module is not None
    (function,) = ops_of(module, func.FuncOp)
    return page([("", [_flow(function.body.block)])])


def _flow(block: Block) -> Graph:
    """Draw the ops of a block, each below its operands."""
    nodes: dict[SSAValue, Node] = {}
    depths: dict[SSAValue, int] = {}
    for argument in block.args:
        nodes[argument], depths[argument] = Node(str(argument.name_hint), "input"), 0
    edges: list[tuple[Node, Node]] = []
    for op in block.ops:
        if not op.results:
            continue
        (value,) = op.results
        inside = _flow(op.body.block) if isinstance(op, KernelOp) else None
        nodes[value] = Node(_label(op, value), "", inside)
        depths[value] = 1 + max(depths[operand] for operand in op.operands)
        edges += [(nodes[operand], nodes[value]) for operand in dict.fromkeys(op.operands)]
    rows: list[list[Node]] = [[] for _ in range(1 + max(depths.values()))]
    for value, node in nodes.items():
        rows[depths[value]].append(node)
    return Graph(rows, edges)


def _label(op: Operation, value: OpResult) -> str:
    """Name of a kernel or an op of its body, with the aggregation of a contraction."""
    if isinstance(op, KernelOp):
        return f"tile.kernel {value.name_hint}"
    aggregation = f" {op.aggregation.data}" if isinstance(op, ContractionOp) else ""
    return f"{op.name}{aggregation}"


PICTURES: Mapping[str, Callable[[], str]] = {
    "pictures/pipeline.svg": pipeline_picture,
    "pictures/scores-kernels.svg": lambda: kernels_picture(ROOT / "examples" / "scores.mlir"),
}
"""Pictures by their files within docs/."""
