"""Compositions of patterns with names in open places, and their matches."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.lift.attributes import IndexMapAttr, OrdinalAttr, SizeAttr
from tiledialect.dialects.lift.base import FunctionOp, LiftOp
from tiledialect.index.size import Size
from tiledialect.lift.values import Value
from tiledialect.passes.lift.rules.captured_functions import Captured
from tiledialect.passes.lift.rules.refusal import Mismatch, NotApplicable

Found = dict[str, Any]
"""Sizes, functions and values that names stand for."""


@dataclass(frozen=True)
class MatchScope:
    """Place of a pattern: in the function of an op, or, without it, in the open."""

    home: Operation | None = None
    """Outermost op whose function it is."""
    block: Block | None = None
    """Function around the place."""

    def value(self, value: SSAValue) -> Any:
        """Value as seen by rules."""
        return Value(value) if self.home is None else Captured(self.home, (), value)

    def component(self, value: SSAValue) -> Any:
        """Array that a pattern takes: of the function's argument, or as it is."""
        if self.home is None or self.block is None:
            return Value(value)
        return Captured(self.home, self.block.args, value)


@dataclass(frozen=True)
class Stage:
    """Op of a composition."""

    kinds: tuple[type[Operation], ...]
    input: str | None = "input"
    """Operand that is the array that is handed along; None if several are."""
    parameters: tuple[tuple[str, str | int], ...] = ()
    """Properties, each with its name or number."""
    operands: tuple[tuple[str, str], ...] = ()
    """Other operands, each with its name."""
    function: str | Chain | None = None
    argument: str | None = None
    """Name of the function's argument."""
    arrays: str = "xs"
    """Name of the inputs, where there are several."""
    label: str = ""
    """Name of the op, if it may be of many kinds."""
    constructor: str | None = None
    """Name of the constructor of ops of the same kind, with a function or with none."""

    def __rshift__(self, after: Stage | Chain) -> Chain:
        return Chain((self,)) >> after

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        text = self.label or " or ".join(_pattern(kind) for kind in self.kinds)
        inner = [str(value) for _, value in self.parameters]
        inner += [] if self.function is None else [str(self.function)]
        inner += [name for _, name in self.operands]
        return f"{text}({', '.join(inner)})" if inner else text

    def match(self, value: SSAValue, found: Found, place: MatchScope) -> SSAValue | None:
        """Match the op that gives ``value``; return its input, unless it has several."""
        op = value.owner
        is_known = type(op) in self.kinds or isinstance(op, self.kinds)
        if not is_known or not isinstance(op, LiftOp):
            actual = _pattern(type(op)) if isinstance(op, Operation) else "an input"
            raise Mismatch(f"{actual} stands in the place of {self}")
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
        arrays = tuple(place.component(v) for v in op.operands)
        _bind(found, self.arrays, arrays)
        return None

    def _match_function(self, op: FunctionOp, found: Found, place: MatchScope) -> None:
        home = op if place.home is None else place.home
        if self.argument is not None:
            found[self.argument] = Value(op.block.args[0])
        if isinstance(self.function, str):
            found[self.function] = Captured(home, op.block.args, op.yielded)
        elif self.function is not None:
            self.function.match_function(op.yielded, found, MatchScope(home, op.block))


@dataclass(frozen=True)
class Named:
    """Meaning of a name in a composition inside of a function."""

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
    """Any value that does not depend on the function's argument; a composition begins with it.

    Example: ``p.map(p.value("y") >> p.map("f"))``
    """


@dataclass(frozen=True)
class Chain:
    """Ops one after the other."""

    stages: tuple[Stage | Named, ...]

    def __rshift__(self, after: Stage | Fun | Chain) -> Chain:
        stages = after.stages if isinstance(after, Chain) else (after,)
        return Chain((*self.stages, *stages))

    def __str__(self) -> str:
        return " >> ".join(str(stage) for stage in self.stages)

    @property
    def kinds(self) -> tuple[type[Operation], ...]:
        """Kinds of ops that it ends with."""
        last = self.stages[-1] if self.stages else None
        return last.kinds if isinstance(last, Stage) else (Operation,)

    def match(self, value: SSAValue) -> Found:
        """Meanings of the names in a match of ``value``; ``x`` is the input."""
        found: Found = {}
        rest = match_backwards(self.stages, value, found, MatchScope())
        if rest is not None:
            found["x"] = Value(rest)
        return found

    def match_function(self, value: SSAValue, found: Found, place: MatchScope) -> None:
        """Match the result of a function: the composition begins with its argument."""
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
    stages: Sequence[Stage | Named], value: SSAValue, found: Found, place: MatchScope
) -> SSAValue | None:
    """Match the op that gives a value, and those before it; return the input, if it has one."""
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
    stages: Sequence[Stage | Named], value: SSAValue, found: Found, place: MatchScope
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
            raise Mismatch(f"{value} stands in the place of {name}")
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
    """Constructor of ops of the kind and with the properties of one in the program."""

    kind: type[LiftOp]
    properties: tuple[tuple[str, Any], ...]

    def __call__(self, *operands: Any) -> Any:
        """Apply the op to values; or, given a function, return the application of an op with it."""
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
    """Constructor of ops of the kind of ``op``."""
    return Like(type(op), tuple(op.properties.items()))


def _pattern(kind: type[Operation]) -> str:
    return kind.name.removeprefix("lift.")


@dataclass(frozen=True)
class Anything(Chain):
    """Any result of an op, or, more narrowly, any array; ``x`` is that."""

    stages: tuple[Stage | Named, ...] = ()
    array: bool = True

    def match(self, value: SSAValue) -> Found:
        """Match the value itself."""
        is_array = isinstance(value.type, TensorType) and value.type.get_num_dims() > 0
        if self.array and not is_array:
            raise Mismatch("there is no array")
        return {"x": Value(value)}

    def __str__(self) -> str:
        return "x"


def matches(pattern: Stage | Chain, value: SSAValue) -> bool:
    """Whether a pattern matches the op that makes a value."""
    return found_in(Value(value), pattern) is not None


def found_in(value: Value, pattern: Stage | Chain) -> Found | None:
    """Meanings of a pattern's names in a match of a value, if there is one."""
    chain = pattern if isinstance(pattern, Chain) else Chain((pattern,))
    try:
        return chain.match(value.ssa)
    except NotApplicable:
        return None
