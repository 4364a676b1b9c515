"""Expression graphs of Lift programs as SVG, and the steps of a derivation side by side.

As in the slides: a box for each application, above what it is applied to, with what its function
does in a frame inside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from io import StringIO

from xdsl.dialects import func
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.printer import Printer

from tiledialect.dialects.lift.base import FunctionOp, LiftOp
from tiledialect.passes.lift.derivation import Derivation
from tiledialect.passes.lift.places import reachable

CHARACTER, LINE, PADDING, GAP = 7.2, 18.0, 7.0, 16.0
"""The width of a character, the height of a line, and spaces, in pixels."""

STYLE = """
    text { font: 12px monospace; fill: #222; text-anchor: middle }
    rect { fill: #fff; stroke: #667; rx: 4 }
    .function { fill: #f4f5f8; stroke: #aab; stroke-dasharray: 4 3 }
    .changed { fill: #ffe2b8; stroke: #c60 }
    .input { fill: #e2ecff }
    .title { font: bold 13px sans-serif; text-anchor: start }
    path { fill: none; stroke: #667; marker-end: url(#arrow) }
"""


@dataclass
class Node:
    """A box, with those of a function inside, at a place relative to what it is in."""

    label: str
    kind: str = ""
    inside: Graph | None = None
    x: float = 0
    y: float = 0
    changed: bool = False

    @property
    def width(self) -> float:
        """In pixels."""
        text = len(self.label) * CHARACTER + 2 * PADDING
        return max(text, self.inside.width + 2 * PADDING if self.inside else 0)

    @property
    def height(self) -> float:
        """In pixels."""
        return LINE + PADDING + (self.inside.height + PADDING if self.inside else 0)


@dataclass
class Graph:
    """Boxes in rows, from the result at the top down to the inputs, and edges between them."""

    rows: list[list[Node]]
    edges: list[tuple[Node, Node]] = field(default_factory=list[tuple[Node, Node]])

    def __post_init__(self) -> None:
        y = 0.0
        for row in self.rows:
            x = (self.width - _across(row)) / 2
            for node in row:
                node.x, node.y = x, y
                x += node.width + GAP
            y += max(node.height for node in row) + 1.4 * GAP

    @property
    def width(self) -> float:
        """In pixels."""
        return max(map(_across, self.rows), default=0)

    @property
    def height(self) -> float:
        """In pixels."""
        return sum(max(n.height for n in row) + 1.4 * GAP for row in self.rows) - 1.4 * GAP

    def nodes(self) -> Iterator[Node]:
        """All boxes, an outer one before those in it."""
        for row in self.rows:
            for node in row:
                yield node
                if node.inside is not None:
                    yield from node.inside.nodes()


def _across(row: Sequence[Node]) -> float:
    return sum(node.width for node in row) + GAP * (len(row) - 1)


# -- graphs of programs ----------------------------------------------------------------------------


def graph(function: func.FuncOp) -> Graph:
    """The expression graph of a function."""
    return _graph(function.body.block, reachable(function))


def _graph(block: Block, live: dict[Operation, None]) -> Graph:
    nodes: dict[SSAValue, Node] = {}
    depths: dict[SSAValue, int] = {}
    edges: list[tuple[SSAValue, SSAValue]] = []
    for op in reversed([op for op in block.ops if op in live and op.results]):
        (value, *_) = op.results
        nodes[value] = _node(op, live)
        depths.setdefault(value, 0)
        for operand in _operands(op, block):
            edges.append((value, operand))
            depths[operand] = max(depths.get(operand, 0), depths[value] + 1)
            if isinstance(operand, BlockArgument):
                nodes.setdefault(operand, Node(operand.name_hint or "element", "input"))
    rows: list[list[Node]] = [[] for _ in range(max(depths.values(), default=-1) + 1)]
    for value, node in nodes.items():
        rows[depths[value]].append(node)
    for argument in [a for a in block.args if not nodes]:
        rows.append([Node(argument.name_hint or "element", "input")])
    return Graph(rows, [(nodes[a], nodes[b]) for a, b in edges if b in nodes])


def _operands(op: Operation, block: Block) -> Iterator[SSAValue]:
    """The values of the block that an op uses, those in its functions included."""
    for inner in op.walk():
        for value in inner.operands:
            owner = value.owner
            if (owner.parent if isinstance(owner, Operation) else owner) is block:
                yield value


def _node(op: Operation, live: dict[Operation, None]) -> Node:
    inside = _graph(op.block, live) if isinstance(op, FunctionOp) else None
    return Node(label(op), "", inside if inside is not None and inside.rows else None)


def label(op: Operation) -> str:
    """What an op is called, with its parameters."""
    if not isinstance(op, LiftOp):
        value = op.properties.get("value")
        return op.name.partition(".")[2] if value is None else str(value).partition(" ")[0]
    stream = StringIO()
    op.print_parameters(Printer(stream))
    return op.pattern() + stream.getvalue()


# -- what changed ----------------------------------------------------------------------------------


def mark_changes(before: Graph, after: Graph) -> None:
    """Colour the boxes of each graph that the other does not have."""
    old, new = ([_signature(node) for node in g.nodes()] for g in (before, after))
    for graph_, signatures, others in ((before, old, new), (after, new, old)):
        there = Counter(others)
        for node, signature in zip(graph_.nodes(), signatures, strict=True):
            node.changed = node.kind == "" and there[signature] == 0
            there[signature] -= 1


def _signature(node: Node) -> tuple[str, ...]:
    inside = node.inside.nodes() if node.inside is not None else ()
    return (node.label, *(inner.label for inner in inside))


# -- SVG -------------------------------------------------------------------------------------------


def to_svg(derivation: Derivation) -> str:
    """The derivation as a drawing: for each step the graph before and after, what changed coloured.

    A derivation without steps is the graph of its program.
    """
    programs = list(derivation.history())
    if len(programs) == 1:
        return _page([("", [graph(programs[0].function)])])
    parts: list[tuple[str, list[Graph]]] = []
    for step, before, after in zip(derivation.steps, programs, programs[1:], strict=False):
        pair = [graph(before.function), graph(after.function)]
        mark_changes(*pair)
        parts.append((str(step), pair))
    return _page(parts)


def _page(parts: Sequence[tuple[str, Sequence[Graph]]]) -> str:
    body: list[str] = []
    width, y = 0.0, GAP
    for title, graphs in parts:
        if title:
            body.append(f'<text class="title" x="{GAP}" y="{y + LINE - 5}">{escape(title)}</text>')
            y += LINE + GAP / 2
        x = GAP
        for graph_ in graphs:
            body += _draw(graph_, x, y)
            x += graph_.width + 3 * GAP
        width = max(width, x, len(title) * CHARACTER + 2 * GAP)
        y += max((g.height for g in graphs), default=0) + 2 * GAP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{y:.0f}">\n'
        f"<style>{STYLE}</style>\n"
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" style="fill: #667; '
        'marker-end: none"/></marker></defs>'
    )
    return "\n".join([head, *body, "</svg>", ""])


def _draw(graph_: Graph, x: float, y: float) -> Iterator[str]:
    for row in graph_.rows:
        for node in row:
            yield from _draw_node(node, x + node.x, y + node.y)
    for user, used in graph_.edges:
        x1, y1 = x + user.x + user.width / 2, y + user.y + user.height
        x2, y2 = x + used.x + used.width / 2, y + used.y
        middle = (y1 + y2) / 2
        points = [(x1, middle), (x2, middle), (x2, y2)]
        curve = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        yield f'<path d="M{x1:.1f},{y1:.1f} C{curve}"/>'


def _draw_node(node: Node, x: float, y: float) -> Iterator[str]:
    kind = " ".join(filter(None, (node.kind, "changed" if node.changed else "")))
    box = f'x="{x:.1f}" y="{y:.1f}" width="{node.width:.1f}" height="{node.height:.1f}"'
    yield f'<rect class="{kind}" {box}/>'
    centre = f'x="{x + node.width / 2:.1f}" y="{y + LINE - 3:.1f}"'
    yield f"<text {centre}>{escape(node.label)}</text>"
    if node.inside is not None:
        left, top = x + (node.width - node.inside.width) / 2, y + LINE + PADDING / 2
        frame = (
            f'x="{left - PADDING / 2:.1f}" y="{top - PADDING / 4:.1f}" '
            f'width="{node.inside.width + PADDING:.1f}" height="{node.inside.height + PADDING:.1f}"'
        )
        yield f'<rect class="function" {frame}/>'
        yield from _draw(node.inside, left, top + PADDING / 4)
