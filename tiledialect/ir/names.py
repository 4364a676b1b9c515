"""The names of a Tile program in IR, which does not take all of them as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
    UnregisteredOp,
)
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

_NUMBERED = re.compile(r"_(\d+)$")
_OTHERS = re.compile(r"^(?=\d|$)|[^A-Za-z0-9_$.-]")
"""The places in a name that IR takes with a `_` only."""


def to_hint(name: str) -> str:
    """The name of an SSA value for a name of Tile: ``A'`` is ``A.prime``, ``A_1`` is ``A.1``.

    Printers of IR append ``_1`` and the like to repeated names, so that would be lost. Characters
    of names in modules that IR does not take become ``_``.
    """
    if name.endswith("'"):
        name = f"{name[:-1]}.prime"
    return _NUMBERED.sub(r".\1", _OTHERS.sub("_", name))


def from_hint(hint: str) -> str:
    """The name of Tile that ``to_hint`` made ``hint`` of; ``hint`` itself if none."""
    return hint.replace(".prime", "'").replace(".", "_")


def kept_name(name: str) -> str:
    """The name of another language as a text of IR keeps it: ``/conv/out:0`` is ``_conv_out_0``."""
    return from_hint(to_hint(name))


def op_name(op: Operation) -> str:
    """The full name of an op, also of a dialect that is not registered."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


# -- names of values -----------------------------------------------------------------------------

Named = Operation | BlockArgument
"""Object whose location names values: an op its results, an argument itself."""


def given_name(value: SSAValue) -> str | None:
    """Name that the user gave a value, by a name location; None without one."""
    named, number = _named(value)
    parts = _location_parts(named)
    return _name_in(parts[number]) or None if parts else None


def give_name(value: SSAValue, name: str | None) -> None:
    """Name a value as users do, by a name location, and as its SSA name; None for no name."""
    value.name_hint = None if name is None else to_hint(name)
    named, number = _named(value)
    names = _names(named)
    names[number] = name or ""
    named.location = _location(names, place_of(named))


def keep_name(new: SSAValue, old: SSAValue) -> None:
    """Give a value the name of the one in whose place it stands."""
    if (name := given_name(old)) is not None:
        give_name(new, name)
    new.name_hint = old.name_hint


def keep_names(new: Operation, old: Sequence[SSAValue]) -> None:
    """Give the results of an op the names of the values in whose places they stand."""
    names = [given_name(value) or own for value, own in zip(old, _names(new), strict=True)]
    new.location = _location(names, place_of(new))
    for value, before in zip(new.results, old, strict=True):
        value.name_hint = before.name_hint


def take_name(new: SSAValue, old: SSAValue) -> None:
    """Give a value the name of one that it replaces, if it has no name of its own."""
    if given_name(new) is None:
        keep_name(new, old)


def place_of(named: Named) -> FileLineColLoc | None:
    """Place in the source from which an op or an argument is."""
    location: Attribute = named.location
    while isinstance(location, NameLoc | FusedLoc):
        location = location.location if isinstance(location, NameLoc) else _parts(location)[0]
    return location if isinstance(location, FileLineColLoc) else None


def layer_place(name: str) -> FileLineColLoc:
    """Place of the ops of a layer of a model, which has no text."""
    return FileLineColLoc(StringAttr(name), IntAttr(0), IntAttr(0))


def layer_of(op: Named) -> str | None:
    """Layer of a model from which an op is; None if it is from none."""
    place = place_of(op)
    return None if place is None or place.line.data else place.filename.data


def layers_text(module: Operation) -> str:
    """Layers of the ops of a module, in order; empty for one that is no model."""
    layers = [layer_of(op) for op in module.walk()]
    return "" if all(layer is None for layer in layers) else str(layers)


def keep_place(new: Operation, old: Operation) -> None:
    """Give an op the place of another one; its results keep their names."""
    set_place(new, place_of(old))


def keep_origin(new: Sequence[Operation], old: Operation) -> None:
    """Give ops that replace one its place, and the last one's result its result's name."""
    for op in new:
        keep_place(op, old)
    keep_name(new[-1].results[0], old.results[0])


def set_place(op: Operation, place: FileLineColLoc | None) -> None:
    """Note the place in the source from which an op is; its results keep their names."""
    op.location = _location(_names(op), place)


def with_type(value: SSAValue, t: Attribute) -> SSAValue:
    """Replace a value by one of another type that keeps its name."""
    location = value.location if isinstance(value, BlockArgument) else None
    new = Rewriter.replace_value_with_new_type(value, t)
    if location is not None and isinstance(new, BlockArgument):
        new.location = location
    return new


def name_values(module: Operation) -> None:
    """Take SSA names for names of the user, where a text gives a value no other name.

    SSA names are names in the text alone: printers and passes are free to change them.
    """
    for op in module.walk():
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*arguments, *op.results):
            if value.name_hint and given_name(value) is None:
                give_name(value, from_hint(value.name_hint))


def _named(value: SSAValue) -> tuple[Named, int]:
    """Object that names a value, and the value's number there."""
    if isinstance(value, OpResult):
        return value.op, value.index
    assert isinstance(value, BlockArgument)
    return value, 0


def _names(named: Named) -> list[str]:
    """Names by the location of an op or an argument; empty for values without one."""
    count = len(named.results) if isinstance(named, Operation) else 1
    return [*map(_name_in, _location_parts(named))] or [""] * count


def _location_parts(named: Named) -> Sequence[Attribute]:
    """Locations of the values that an op or an argument names, if they have one each."""
    count, location = len(named.results) if isinstance(named, Operation) else 1, named.location
    parts = _parts(location) if isinstance(location, FusedLoc) else (location,)
    return parts if len(parts) == count else ()


def _name_in(location: Attribute) -> str:
    return location.desc.data if isinstance(location, NameLoc) else ""


def _location(names: Sequence[str], place: FileLineColLoc | None) -> LocationAttr:
    """Location of an op with names for its results, one of each if there are several."""
    outer = place or UnknownLoc()
    parts = [NameLoc(StringAttr(n), place or NoneAttr()) if n else outer for n in names]
    if not any(names):
        return outer
    return FusedLoc(tuple(parts), NoneAttr()) if len(parts) > 1 else parts[0]


def _parts(location: FusedLoc) -> Sequence[Attribute]:
    assert isinstance(location.locations, ArrayAttr)
    return location.locations.data
