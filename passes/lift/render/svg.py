"""Boxes in rows with edges between them, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from typing_extensions import override

CHARACTER, LINE, PADDING, GAP = 7.2, 18.0, 7.0, 16.0
"""Width of a character, height of a line, and spaces, in pixels."""

STYLE = """
    text { font: 12px monospace; fill: #222; text-anchor: middle }
    rect { fill: #fff; stroke: #667; rx: 4 }
    .function { fill: #f4f5f8; stroke: #aab; stroke-dasharray: 4 3 }
    .changed { fill: #ffe2b8; stroke: #c60 }
    .input { fill: #e2ecff }
    .head { fill: none; stroke: none }
    .title { font: bold 13px sans-serif; text-anchor: start }
    path { fill: none; stroke: #667; marker-end: url(#arrow) }
"""


@dataclass
class Node:
    """Box, with the boxes of a function inside, at a place relative to the one around it."""

    label: str
    kind: str = ""
    inside: Graph | None = None
    x: float = 0
    y: float = 0
    changed: bool = False

    @property
    def width(self) -> float:
        """Width in pixels."""
        text = len(self.label) * CHARACTER + 2 * PADDING
        return max(text, self.inside.width + 2 * PADDING if self.inside else 0)

    @property
    def height(self) -> float:
        """Height in pixels."""
        return LINE + PADDING + (self.inside.height + PADDING if self.inside else 0)


@dataclass
class Graph:
    """Boxes in rows, from the result at the top down to the inputs, and edges between them."""

    rows: list[list[Node]]
    edges: list[tuple[Node, Node]] = field(default_factory=list[tuple[Node, Node]])

    def __post_init__(self) -> None:
        y = 0.0
        for row in self.rows:
            for node, x in zip(row, self.lefts(row), strict=True):
                node.x, node.y = x, y
            y += max(node.height for node in row) + 1.4 * GAP

    def lefts(self, row: Sequence[Node]) -> Iterator[float]:
        """Left ends of the boxes of each row: a row is in the middle."""
        x = (self.width - _across(row)) / 2
        for node in row:
            yield x
            x += node.width + GAP

    @property
    def width(self) -> float:
        """Width in pixels."""
        return max(map(_across, self.rows), default=0)

    @property
    def height(self) -> float:
        """Height in pixels."""
        return sum(max(n.height for n in row) + 1.4 * GAP for row in self.rows) - 1.4 * GAP

    def nodes(self) -> Iterator[Node]:
        """All boxes, an outer one before those in it."""
        for row in self.rows:
            for node in row:
                yield node
                if node.inside is not None:
                    yield from node.inside.nodes()


class Table(Graph):
    """Boxes in rows and columns; one without a label is an empty place."""

    @property
    def columns(self) -> list[float]:
        """Width of each column."""
        return [max(node.width for node in column) for column in zip(*self.rows, strict=True)]

    @property
    @override
    def width(self) -> float:
        """Width in pixels."""
        return sum(self.columns) + GAP * (len(self.columns) - 1)

    @override
    def lefts(self, row: Sequence[Node]) -> Iterator[float]:
        """Left ends of the boxes of each row: each is in the middle of its column."""
        x = 0.0
        for node, column in zip(row, self.columns, strict=True):
            yield x + (column - node.width) / 2
            x += column + GAP


def _across(row: Sequence[Node]) -> float:
    return sum(node.width for node in row) + GAP * (len(row) - 1)


def page(parts: Sequence[tuple[str, Sequence[Graph]]]) -> str:
    """Drawing of graphs side by side, below a title."""
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
        for node in (n for n in row if n.label):
            yield from _draw_node(node, x + node.x, y + node.y)
    for user, used in graph_.edges:
        down = user.y < used.y
        x1, y1 = x + user.x + user.width / 2, y + user.y + (user.height if down else 0)
        x2, y2 = x + used.x + used.width / 2, y + used.y + (0 if down else used.height)
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
