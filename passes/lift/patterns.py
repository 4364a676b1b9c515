"""What rules look for: compositions of patterns with names in the places that are open.

They are written as programs are, `p.slide("n", "s") >> p.map("f")`, with a text for what a rule
gives a name: a size, a function, or a value.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.lift import layout, maps, memory, reductions, values
from tiledialect.dialects.lift.attributes import IndexMapAttr, OrdinalAttr, SizeAttr
from tiledialect.dialects.lift.base import FunctionOp, LiftOp
from tiledialect.index.size import Size
from tiledialect.lift.values import Value
from tiledialect.passes.lift.captured import Captured
from tiledialect.passes.lift.refusal import Mismatch, NotApplicable

Found = dict[str, Any]
"""What names stand for."""


@dataclass(frozen=True)
class Place:
    """Where a pattern is looked for: in the function of an op, or, without it, in the open."""

    home: Operation | None = None
    """The outermost op whose function it is."""
    block: Block | None = None
    """The function."""

    def value(self, value: SSAValue) -> Any:
        """A value as rules see it."""
        return Value(value) if self.home is None else Captured(self.home, (), value)

    def component(self, value: SSAValue) -> Any:
        """One of the arrays that a pattern takes: of the function's argument, or as it is."""
        if self.home is None or self.block is None:
            return Value(value)
        return Captured(self.home, self.block.args, value)


@dataclass(frozen=True)
class Stage:
    """One op of a composition."""

    kinds: builtins.tuple[type[Operation], ...]
    input: str | None = "input"
    """Which operand is the array that is handed along; None if several are."""
    parameters: builtins.tuple[builtins.tuple[str, str | int], ...] = ()
    """Properties, with the name or number that each is."""
    operands: builtins.tuple[builtins.tuple[str, str], ...] = ()
    """Other operands, with the name of each."""
    function: str | Chain | None = None
    argument: str | None = None
    """The name of the function's argument."""
    arrays: str = "xs"
    """The name of the inputs, where there are several."""
    label: str = ""
    """What the op is called, if it may be of many kinds."""
    constructor: str | None = None
    """The name of what makes ops of the same kind: of an op with a function, or of one with none"""

    def __rshift__(self, after: Stage | Chain) -> Chain:
        return Chain((self,)) >> after

    def __str__(self) -> str:
        text = self.label or " or ".join(_pattern(kind) for kind in self.kinds)
        inner = [str(value) for _, value in self.parameters]
        inner += [] if self.function is None else [str(self.function)]
        inner += [name for _, name in self.operands]
        return f"{text}({', '.join(inner)})" if inner else text

    def match(self, value: SSAValue, found: Found, place: Place) -> SSAValue | None:
        """Match the op that gives ``value``; its input, unless it has several."""
        op = value.owner
        if not isinstance(op, self.kinds) or not isinstance(op, LiftOp):
            what = _pattern(type(op)) if isinstance(op, Operation) else "an input"
            raise Mismatch(f"there is {what} where {self} is looked for")
        for name, wanted in self.parameters:
            _bind(found, wanted, _parameter(op.properties[name]))
        for name, wanted in self.operands:
            _bind(found, wanted, place.value(getattr(op, name)))
        if self.constructor is not None:
            _bind(found, self.constructor, like(op))
        if isinstance(op, FunctionOp):
            self._match_function(op, found, place)
        if self.input is not None:
            return getattr(op, self.input)
        arrays = builtins.tuple(place.component(v) for v in op.operands)
        _bind(found, self.arrays, arrays)
        return None

    def _match_function(self, op: FunctionOp, found: Found, place: Place) -> None:
        home = op if place.home is None else place.home
        if self.argument is not None:
            found[self.argument] = Value(op.block.args[0])
        if isinstance(self.function, str):
            found[self.function] = Captured(home, op.block.args, op.yielded)
        elif self.function is not None:
            self.function.match_function(op.yielded, found, Place(home, op.block))


@dataclass(frozen=True)
class Named:
    """What a name stands for in a composition inside of a function."""

    name: str

    def __rshift__(self, after: Stage | Chain) -> Chain:
        return Chain((self,)) >> after

    def __str__(self) -> str:
        return self.name


class Fun(Named):
    """Any function, before or after other patterns.

    Example: ``p.map(p.transpose >> p.fun("f"))``
    """


class Outside(Named):
    """Any value that is not made of the function's argument; a composition begins with it.

    Example: ``p.map(p.value("y") >> p.map("f"))``
    """


@dataclass(frozen=True)
class Chain:
    """Ops one after the other."""

    stages: builtins.tuple[Stage | Named, ...]

    def __rshift__(self, after: Stage | Fun | Chain) -> Chain:
        stages = after.stages if isinstance(after, Chain) else (after,)
        return Chain((*self.stages, *stages))

    def __str__(self) -> str:
        return " >> ".join(str(stage) for stage in self.stages)

    def match(self, value: SSAValue) -> Found:
        """What the names stand for in what makes ``value``; ``x`` is the input."""
        found: Found = {}
        rest = match_backwards(self.stages, value, found, Place())
        if rest is not None:
            found["x"] = Value(rest)
        return found

    def match_function(self, value: SSAValue, found: Found, place: Place) -> None:
        """Match what a function gives: the composition begins with its argument."""
        assert place.block is not None and place.home is not None
        free = next((k for k, s in enumerate(self.stages) if isinstance(s, Fun)), None)
        if free is None:
            rest = match_backwards(self.stages, value, found, place)
            if rest is not None and rest is not place.block.args[0]:
                raise Mismatch("the function does not begin with its argument")
            return
        fun = self.stages[free]
        assert isinstance(fun, Fun)
        end = match_backwards(self.stages[free + 1 :], value, found, place)
        assert end is not None
        begin = _match_forwards(self.stages[:free], place.block.args[0], found, place)
        found[fun.name] = Captured(place.home, [begin], end)


def match_backwards(
    stages: Sequence[Stage | Named], value: SSAValue, found: Found, place: Place
) -> SSAValue | None:
    """Match the op that gives a value, and those before it; the input, unless it has several."""
    rest: SSAValue | None = value
    for stage in reversed(stages):
        assert rest is not None
        if isinstance(stage, Outside):
            found[stage.name] = place.value(rest)
            return None
        assert isinstance(stage, Stage)
        rest = stage.match(rest, found, place)
    return rest


def _match_forwards(
    stages: Sequence[Stage | Named], value: SSAValue, found: Found, place: Place
) -> SSAValue:
    for stage in stages:
        assert isinstance(stage, Stage) and stage.input is not None
        users = [use.operation for use in value.uses if isinstance(use.operation, stage.kinds)]
        users = [op for op in users if getattr(op, stage.input) is value]
        if not users:
            raise Mismatch(f"nothing is {stage} of the function's argument")
        stage.match(users[0].results[0], found, place)
        value = users[0].results[0]
    return value


def _bind(found: Found, name: str | int, value: Any) -> None:
    if isinstance(name, int):
        if value != name and value != Size.of(name):
            raise Mismatch(f"there is {value} where {name} is looked for")
        return
    known = found.setdefault(name, value)
    same = known.ssa is value.ssa if isinstance(known, Value) else known == value
    if not same:
        raise Mismatch(f"{name} is {known}, but also {value}")


def _parameter(attribute: Any) -> Any:
    match attribute:
        case SizeAttr() | OrdinalAttr() | IndexMapAttr():
            return attribute.data
        case _:
            return attribute


@dataclass(frozen=True)
class Like:
    """Makes ops of the kind and with the properties of one in the program."""

    kind: type[LiftOp]
    properties: builtins.tuple[builtins.tuple[str, Any], ...]

    def __call__(self, *operands: Any) -> Any:
        """The op on values; or, given a function, what applies an op with it to a value."""
        from tiledialect.lift.functions import Function
        from tiledialect.lift.patterns import with_body

        properties = dict(self.properties)
        if issubclass(self.kind, FunctionOp):
            function, *rest = operands
            kind = self.kind
            return Function(
                _pattern(kind),
                lambda value: with_body(kind, [*rest, value], function, None, None, **properties),
            )
        return Value(self.kind.make(*(v.ssa for v in operands), **properties).results[0])

    def __str__(self) -> str:
        return _pattern(self.kind)


def like(op: LiftOp) -> Like:
    """What makes ops of the kind of ``op``."""
    return Like(type(op), builtins.tuple(op.properties.items()))


def _pattern(kind: type[Operation]) -> str:
    return kind.name.removeprefix("lift.")


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


@dataclass(frozen=True)
class Anything(Chain):
    """Whatever an op gives, or, more narrowly, an array; ``x`` is that."""

    stages: builtins.tuple[Stage | Named, ...] = ()
    array: bool = True

    def match(self, value: SSAValue) -> Found:
        """The value itself."""
        is_array = isinstance(value.type, TensorType) and value.type.get_num_dims() > 0
        if self.array and not is_array:
            raise Mismatch("there is no array")
        return {"x": Value(value)}

    def __str__(self) -> str:
        return "x"


anything = Anything()
whatever = Anything(array=False)


def matches(pattern: Stage | Chain, value: SSAValue) -> bool:
    """Whether a pattern is what makes a value."""
    return found_in(Value(value), pattern) is not None


def found_in(value: Value, pattern: Stage | Chain) -> Found | None:
    """What the names of a pattern stand for in what makes a value, if it matches."""
    chain = pattern if isinstance(pattern, Chain) else Chain((pattern,))
    try:
        return chain.match(value.ssa)
    except NotApplicable:
        return None
