"""Names of sizes that a program leaves open, and names defined by them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from xdsl.dialects import func
from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Operation

from tiledialect.dialects.discardable import DEFINED_SIZES
from tiledialect.dialects.lift.attributes import SizeAttr
from tiledialect.dialects.lift.base import LiftOp
from tiledialect.dialects.lift.binding import bind, names_of
from tiledialect.dialects.lift.types import MismatchError, SizeSolver, names_in
from tiledialect.errors import TileError
from tiledialect.index.size import Size
from tiledialect.passes.lift.rules.refusal import require


def size_names(op: Operation) -> frozenset[str]:
    """Names of sizes in the attributes and types of an op."""
    if isinstance(op, LiftOp):
        return names_of(op)
    arguments = [a for region in op.regions for block in region.blocks for a in block.args]
    types = [v.type for v in (*op.results, *arguments)]
    return frozenset(name for t in types for name in names_in(t))


def open_sizes(function: func.FuncOp) -> frozenset[str]:
    """Names of sizes in a function, and the names that they define."""
    own = frozenset(name for op in function.walk() for name in size_names(op))
    return own | {name for name, size in defined_sizes(function).items() if size.names <= own}


def defined_sizes(function: func.FuncOp) -> dict[str, Size]:
    """Sizes that have a name of their own."""
    found = function.attributes.get(DEFINED_SIZES)
    entries = found.data if isinstance(found, DictionaryAttr) else {}
    return {name: size.data for name, size in entries.items() if isinstance(size, SizeAttr)}


def define_sizes(function: func.FuncOp, sizes: Mapping[str, Size]) -> None:
    """Give sizes names of their own; one that is a number needs none."""
    attributes: dict[str, Attribute] = {n: SizeAttr(s) for n, s in sizes.items() if s.names}
    if attributes:
        function.attributes[DEFINED_SIZES] = DictionaryAttr(attributes)
    else:
        function.attributes.pop(DEFINED_SIZES, None)


def bind_named(function: func.FuncOp, values: Mapping[str, Size | int]) -> None:
    """Give names of sizes their values, and with them the names that they define.

    Raises a TileError if the function has no such name, or the values contradict one another.
    """
    known, defined = open_sizes(function), defined_sizes(function)
    for name in values:
        if name not in known:
            there = ", ".join(sorted(known)) or "none"
            raise TileError(f"there is no size {name}; there is {there}")
    own = {name: Size.of(value) for name, value in values.items() if name not in defined}
    solver = SizeSolver(own, {name: name for name in own})
    for name in values.keys() & defined.keys():
        solver.equate(defined[name], Size.of(values[name]), name)
    try:
        found = solver.solve()
        others = {name: size.substitute(found) for name, size in defined.items()}
    except (MismatchError, ZeroDivisionError, ValueError) as error:
        raise TileError(str(error)) from None
    bind(function, found)
    define_sizes(function, others)


# -- names that a rule defines -----------------------------------------------------------------

_definitions: ContextVar[dict[str, Size]] = ContextVar("definitions")


@contextmanager
def definitions() -> Generator[dict[str, Size]]:
    """Collect the names that a rule defines while it writes its replacement."""
    found: dict[str, Size] = {}
    token = _definitions.set(found)
    try:
        yield found
    finally:
        _definitions.reset(token)


def define(name: Size, size: Size, otherwise: str) -> None:
    """State that a parameter is a size: by definition if it is a name of no other size."""
    if name.name is not None and name != size:
        _definitions.get()[name.name] = size
    else:
        require(name == size, otherwise)
