"""Patterns of rules: compositions that rules match, with names in open places.

They are written as programs are, `p.slide("n", "s") >> p.map("f")`, with a text for each part that
a rule names: a size, a function, or a value.
"""

from __future__ import annotations

from dataclasses import replace

from tiledialect.dialects.lift import layout, maps, memory, reductions, values
from tiledialect.passes.lift.rules.matching import Anything, Chain, Fun, Outside, Stage
from tiledialect.passes.lift.rules.matching import found_in as found_in

# -- maps and reductions ---------------------------------------------------------------------------

Function = str | Stage | Chain | Fun


def _chain(function: Function) -> str | Chain:
    return function if isinstance(function, str | Chain) else Chain((function,))


def map(function: Function, argument: str | None = None) -> Stage:
    """A ``lift.map``.

    Example: ``p.map("f")``
    """
    return Stage((maps.MapOp,), function=_chain(function), argument=argument)


PLAIN_MAPS = (
    maps.MapOp,
    maps.MapGlbOp,
    maps.MapWrgOp,
    maps.MapLclOp,
    maps.MapWarpOp,
    maps.MapLaneOp,
    maps.MapSeqOp,
    maps.MapSeqUnrollOp,
)


def map_vec(function: Function) -> Stage:
    """A ``lift.map_vec``.

    Example: ``p.map_vec("f")``
    """
    return Stage((maps.MapVecOp,), function=_chain(function))


def any_map(constructor: str, function: Function, argument: str | None = None) -> Stage:
    """Any map; ``constructor(f)`` makes one of the same kind.

    Example: ``p.any_map("like", "f")``
    """
    return replace(
        map(function, argument), kinds=PLAIN_MAPS, label="any map", constructor=constructor
    )


def map_groups(constructor: str, function: Function) -> Stage:
    """A ``lift.map_wrg`` or ``lift.map_glb``; ``constructor(f)`` makes one of the same kind.

    Example: ``p.map_groups("like", "f")``
    """
    kinds = (maps.MapWrgOp, maps.MapGlbOp)
    return replace(map(function), kinds=kinds, label="map_wrg or map_glb", constructor=constructor)


def map_seq_slide(size: str | int, step: str | int, function: Function) -> Stage:
    """A ``lift.map_seq_slide``.

    Example: ``p.map_seq_slide("n", "s", "f")``
    """
    parameters = (("size", size), ("step", step))
    return Stage((maps.MapSeqSlideOp,), parameters=parameters, function=_chain(function))


def map_seq(function: Function) -> Stage:
    """A ``lift.map_seq``.

    Example: ``p.map_seq("f")``
    """
    return Stage((maps.MapSeqOp,), function=_chain(function))


def reduce(function: str, initial: str) -> Stage:
    """A ``lift.reduce``; its function takes the accumulator and an element.

    Example: ``p.map(p.reduce("f", "e"))``
    """
    return Stage((reductions.ReduceOp,), function=function, operands=(("initial", initial),))


def reduce_seq(function: str, initial: str) -> Stage:
    """A ``lift.reduce_seq``.

    Example: ``p.reduce_seq("f", "e")``
    """
    return replace(reduce(function, initial), kinds=(reductions.ReduceSeqOp,))


def any_reduce(constructor: str, function: str, initial: str) -> Stage:
    """Any reduction; ``constructor(f, initial)`` makes one of the same kind.

    Example: ``p.any_reduce("like", "f", "e")``
    """
    return replace(
        reduce(function, initial),
        kinds=reductions.REDUCE_OPS,
        label="any reduction",
        constructor=constructor,
    )


def iterate(count: str | int, function: str) -> Stage:
    """A ``lift.iterate``.

    Example: ``p.iterate(1, "f")``
    """
    return Stage(
        (reductions.IterateOp,), "initial", parameters=(("count", count),), function=function
    )


def let(function: str) -> Stage:
    """A ``lift.let``.

    Example: ``p.let("f")``
    """
    return Stage((values.LetOp,), "value", function=function)


# -- layout ----------------------------------------------------------------------------------------


def split(size: str | int) -> Stage:
    """A ``lift.split``.

    Example: ``p.split("n") >> p.map("f")``
    """
    return Stage((layout.SplitOp,), parameters=(("size", size),))


def slide(size: str | int, step: str | int) -> Stage:
    """A ``lift.slide``.

    Example: ``p.slide("n", "s")``
    """
    return Stage((layout.SlideOp,), parameters=(("size", size), ("step", step)))


def pad(left: str | int, right: str | int, boundary: str) -> Stage:
    """A ``lift.pad``.

    Example: ``p.pad("a", "b", "edge") >> p.pad("c", "d", "edge")``
    """
    names = (("left", left), ("right", right), ("boundary", boundary))
    return Stage((layout.PadOp,), parameters=names)


def slice(start: str | int, stop: str | int) -> Stage:
    """A ``lift.slice``.

    Example: ``p.slice("a", "b")``
    """
    return Stage((layout.SliceOp,), parameters=(("start", start), ("stop", stop)))


def gather(index: str) -> Stage:
    """A ``lift.gather``.

    Example: ``p.gather("f")``
    """
    return Stage((layout.GatherOp,), parameters=(("map", index),))


def scatter(index: str) -> Stage:
    """A ``lift.scatter``.

    Example: ``p.scatter("f")``
    """
    return Stage((layout.ScatterOp,), parameters=(("map", index),))


def as_vector(size: str | int) -> Stage:
    """A ``lift.as_vector``.

    Example: ``p.as_vector("n") >> p.as_scalar``
    """
    return Stage((layout.AsVectorOp,), parameters=(("size", size),))


join = Stage((layout.JoinOp,))
transpose = Stage((layout.TransposeOp,))
as_scalar = Stage((layout.AsScalarOp,))

# -- values ----------------------------------------------------------------------------------------

zip = Stage((values.ZipOp,), None)
"""A ``lift.zip`` of the arrays ``xs``."""
tuple = Stage((values.TupleOp,), None)
"""A ``lift.tuple`` of the values ``xs``."""
concat = Stage((layout.ConcatOp,), None)
"""A ``lift.concat`` of the arrays ``xs``."""


def zip_of(arrays: str) -> Stage:
    """A ``lift.zip``, with a name for its arrays.

    Example: ``p.zip_of("ys") >> p.map("f")``
    """
    return replace(zip, arrays=arrays)


def get(index: str | int) -> Stage:
    """A ``lift.get``.

    Example: ``p.get(0)``
    """
    return Stage((values.GetOp,), parameters=(("index", index),))


def search(order: str, function: str, default: str) -> Stage:
    """A ``lift.search``.

    Example: ``p.search("order", "f", "default")``
    """
    return Stage(
        (reductions.SearchOp,),
        parameters=(("order", order),),
        operands=(("default", default),),
        function=function,
    )


def kept(constructor: str) -> Stage:
    """A value that is kept in some memory.

    Example: ``p.kept("like")``
    """
    return Stage(memory.MEMORY_OPS, constructor=constructor)


fun = Fun
value = Outside

anything = Anything()
whatever = Anything(array=False)
