"""Expression graphs of Lift programs as SVG, and the steps of a derivation side by side.

As in the slides: a box for each application, above its operands, with the body of its function in a
frame inside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from xdsl.dialects import func
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tiledialect.dialects.lift.base import FunctionOp, label
from tiledialect.passes.lift.render.svg import Graph, Node, page
from tiledialect.passes.lift.rules.places import reachable
from tiledialect.passes.lift.rules.refusal import require_kind
from tiledialect.passes.lift.strategies.derivation import Derivation

# -- graphs of programs ----------------------------------------------------------------------------


def graph(function: func.FuncOp) -> Graph:
    """Expression graph of a function."""
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
    """Values of the block that an op uses, those in its functions included."""
    for inner in op.walk():
        for value in inner.operands:
            owner = value.owner
            if (owner.parent if isinstance(owner, Operation) else owner) is block:
                yield value


def _node(op: Operation, live: dict[Operation, None]) -> Node:
    inside = _graph(op.block, live) if isinstance(op, FunctionOp) else None
    return Node(label(op), "", inside if inside is not None and inside.rows else None)


# -- changes ---------------------------------------------------------------------------------------


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
    """Draw the derivation: for each step the graph before and after, changes coloured.

    A derivation without steps is the graph of its program.
    """
    require_kind(derivation, Derivation, "to_svg draws a derivation, as Derivation.of(program)")
    programs = list(derivation.history())
    if len(programs) == 1:
        return page([("", [graph(programs[0].function)])])
    parts: list[tuple[str, list[Graph]]] = []
    for step, before, after in zip(derivation.steps, programs, programs[1:], strict=False):
        pair = [graph(before.function), graph(after.function)]
        mark_changes(*pair)
        parts.append((str(step), pair))
    return page(parts)
