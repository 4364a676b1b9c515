"""Whether a module is well formed, with the place where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.discardable import verify_attributes
from tiledialect.errors import TileError
from tiledialect.ir.names import place_of

GRAPH_REGIONS = ("builtin.module", "hw.module", "equivalence.graph")
"""Ops whose regions are graphs: the order of the ops in them says nothing.

Ops of the tile dialect compute in order there too: folding and canonicalization rely on it.
"""


def verify(module: ModuleOp) -> None:
    """Raise a TileError at the first op that is malformed, or that uses a value which does not
    reach it."""
    check_structure(module)
    try:
        module.verify()
    except Exception as error:
        # Where the error is only the ops' own verifiers can tell.
        found = chain(_named_again(module), _malformed(module))
        op, own = next(found, (module, error))
        raise malformed(op, explain(own, "verify")) from own


def explain(error: Exception, task: str) -> str:
    """Message of an exception that a dialect, of whatever origin, raised for the user's input."""
    if isinstance(error, TileError):
        return error.message
    message = " ".join(map(str, error.args))
    if isinstance(error, VerifyException | ValueError):
        return message
    return f"cannot {task} this: {type(error).__name__}: {message}"


def malformed(op: Operation, message: str) -> TileError:
    """An error in an op, which it names if it cannot be placed."""
    if place_of(op) is None:
        message = f"the module is malformed, at {op.name}: {message}"
    return TileError.at(op, message)


def _named_again(module: ModuleOp) -> Iterator[tuple[Operation, Exception]]:
    """The ops that have the name of one before them in the same table of symbols."""
    for table in module.walk():
        if not table.has_trait(SymbolTable):
            continue
        names: set[str] = set()
        for op in (op for region in table.regions for block in region.blocks for op in block.ops):
            name = op.get_attr_or_prop("sym_name")
            if isinstance(name, StringAttr) and name.data in names:
                yield op, VerifyException(f"there is a @{name.data} before it")
            elif isinstance(name, StringAttr):
                names.add(name.data)


def _malformed(module: ModuleOp) -> Iterator[tuple[Operation, Exception]]:
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
            for region in op.regions:
                for block in region.blocks:
                    if block.is_empty:
                        block.verify()
        except Exception as error:
            yield op, error


def check_structure(module: ModuleOp) -> None:
    """Raise a TileError at the first op that misuses a value or an attribute of the dialects."""
    check_dominance(module)
    for op in module.walk():
        try:
            verify_attributes(op)
        except VerifyException as error:
            raise malformed(op, str(error)) from None


def check_dominance(module: ModuleOp) -> None:
    """Raise a TileError at the first op that uses a value which is not defined before it."""
    positions = {op: k for k, op in enumerate(module.walk())}
    dominators: dict[Region, dict[Block, Block]] = {}
    for op, position in positions.items():
        for value in op.operands:
            # Nearly all are of ops before it in its block.
            if (
                isinstance(value, OpResult)
                and value.op.parent is op.parent
                and positions[value.op] < position
            ):
                continue
            if not _reaches(value, op, positions, dominators):
                raise malformed(op, _out_of_order(value, op))


def _out_of_order(value: SSAValue, op: Operation) -> str:
    name = f"%{value.name_hint}" if value.name_hint else f"operand {op.operands.index(value)}"
    owner = value.owner if isinstance(value, OpResult) else None
    place = place_of(owner) if isinstance(owner, Operation) else None
    where = f"; its definition is in line {place.line.data}" if place is not None else ""
    return f"{name} is used where it is not defined yet{where}"


def _reaches(
    value: SSAValue,
    user: Operation,
    positions: dict[Operation, int],
    dominators: dict[Region, dict[Block, Block]],
) -> bool:
    """Is ``value`` defined on every way to ``user``?"""
    if not isinstance(value, OpResult | BlockArgument):
        return False  # xDSL's placeholder for what is defined later
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    region = block.parent if block is not None else None
    if block is None or region is None:
        return False
    # The op around the user that stands in the definition's region.
    enclosing: Operation | None = user
    while enclosing is not None and enclosing.parent_region() is not region:
        enclosing = enclosing.parent_op()
    if enclosing is None or enclosing.parent is None:
        return False
    graph = region.parent is not None and region.parent.name in GRAPH_REGIONS
    if graph and enclosing.dialect_name() != "tile":
        return True
    if enclosing.parent is block:
        return isinstance(owner, Block) or positions[owner] < positions[enclosing]
    if region not in dominators:
        dominators[region] = immediate_dominators(region)
    return _dominates(block, enclosing.parent, dominators[region])


def _dominates(block: Block, other: Block, immediate: dict[Block, Block]) -> bool:
    # An unreachable block is dominated by every block.
    while other in immediate:
        if other is block:
            return True
        if immediate[other] is other:
            return False
        other = immediate[other]
    return True


def immediate_dominators(region: Region) -> dict[Block, Block]:
    """The immediate dominator of each block that can be reached; the entry's is itself.

    As Cooper, Harvey and Kennedy do it: intersect along the tree until nothing changes.
    """
    order = _reverse_postorder(region.blocks[0])
    number = {block: k for k, block in enumerate(order)}
    predecessors: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for successor in _successors(block):
            predecessors[successor].append(block)
    found = {order[0]: order[0]}

    def common(a: Block, b: Block) -> Block:
        while a is not b:
            while number[a] > number[b]:
                a = found[a]
            while number[b] > number[a]:
                b = found[b]
        return a

    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [p for p in predecessors[block] if p in found]
            nearest = known[0]
            for p in known[1:]:
                nearest = common(nearest, p)
            changed |= found.get(block) is not nearest
            found[block] = nearest
    return found


def _successors(block: Block) -> tuple[Block, ...]:
    return tuple(block.last_op.successors) if block.last_op is not None else ()


def _reverse_postorder(entry: Block) -> list[Block]:
    done: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(_successors(entry)))]
    while stack:
        block, rest = stack[-1]
        following = next((s for s in rest if s not in seen), None)
        if following is None:
            done.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(_successors(following))))
    return done[::-1]


def verified(module: ModuleOp, text: str = "") -> ModuleOp:
    """The module, if its ops are well formed; ``text`` is its source, for errors."""
    try:
        verify(module)
    except TileError as error:
        raise error.with_source(text) from error.__cause__
    except RecursionError:
        raise TileError("the module is nested too deeply") from None
    return module
