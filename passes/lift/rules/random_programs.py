"""Random programs that a pattern matches, for `lift.check`.

Choices need not fit together: an ill-typed program is left out, and another one tried.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType, TupleType, VectorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tiledialect import lift
from tiledialect.dialects.lift import layout, reductions
from tiledialect.dialects.lift.attributes import (
    Boundary,
    BoundaryAttr,
    OrdinalAttr,
    SizeAttr,
)
from tiledialect.dialects.lift.base import FunctionOp, LiftOp
from tiledialect.dialects.lift.types import is_number, sizes_of
from tiledialect.errors import TileError
from tiledialect.index.size import Size
from tiledialect.lift.patterns import with_body
from tiledialect.lift.program import Program
from tiledialect.lift.tracing import emit
from tiledialect.lift.values import Value, to_value
from tiledialect.passes.lift.rules import patterns as p
from tiledialect.passes.lift.rules.matching import Chain, Fun, Named, Outside, Stage

MISFIT = (TileError, VerifyException, ValueError, ZeroDivisionError)
"""Errors of choices that do not fit together."""

AXES = (1, 2, 3, 4, 6, 8, 12)
SIZES = (1, 2, 3, 4, 5)
SMALL_SIZES = (0, 0, 1, 2)
"""Elements that a pad puts at an end, and counts and numbers of components."""

ON_NUMBERS: tuple[Callable[[Value], Any], ...] = (
    lambda a: a + 1.0,
    lambda a: a * 2.0,
    lambda a: 3.0 - a,
    lambda a: lift.max(a, 2.0),
    lambda a: a * a,
    lambda a: a,
)
OF_TWO_NUMBERS: tuple[Callable[[Value, Value], Any], ...] = (
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a - 2.0 * b,
    lambda a, b: lift.max(a, b),
)
MONOIDS: tuple[tuple[Callable[[Value, Value], Any], float], ...] = (
    (lift.add, 0.0),
    (lift.max, -np.inf),
    (lift.min, np.inf),
)
PERMUTATIONS: tuple[Any, ...] = (lift.reverse, lift.reorder_stride(2), lambda i: i)


class AnyFunction(lift.Function):
    """Function that does the same wherever it is applied, as its seed says."""

    def __init__(self, seed: int, arity: int):
        super().__init__("f", self._apply_to, None, arity)
        self.seed = seed

    def _apply_to(self, *args: Value) -> Any:
        random = Random(self.seed)
        return self._of_one(random, *args) if len(args) == 1 else self._of_two(random, *args)

    def _of_one(self, random: Random, x: Value) -> Any:
        if isinstance(x.type, TupleType):
            parts = [*x]
            return self._of_two(random, parts[0], parts[-1])
        if not isinstance(x.type, TensorType):
            return random.choice(ON_NUMBERS)(x)
        f = AnyFunction(random.randrange(1000), 1)
        choices: list[Callable[[], Any]] = [
            lambda: x >> lift.map(f),
            lambda: x >> lift.gather(lift.reverse),
            lambda: x >> lift.reduce(lift.add, 0.0),
            lambda: (
                x >> lift.map(lambda e: lift.zip(e, x[0]) >> lift.map(lift.add))
                if len(sizes_of(x.array_type("f"))) > 1
                else x >> lift.map(lambda e: e + x[0])
            ),
        ]
        return random.choice(choices)()

    def _of_two(self, random: Random, a: Value, b: Value) -> Any:
        if isinstance(a.type, TensorType) and isinstance(b.type, TensorType):
            return lift.zip(a, b) >> lift.map(AnyFunction(self.seed, 2))
        if isinstance(a.type, TensorType):
            return a >> lift.map(lambda e: self._of_two(random, e, b))
        return random.choice(OF_TWO_NUMBERS)(a, b)


@dataclass
class Instance:
    """Writer of a random match of a pattern."""

    random: Random
    others: Sequence[Value]
    """More inputs of the program."""
    found: dict[str, Any] = field(default_factory=dict[str, Any])

    def named(self, name: str | int | None, choose: Callable[[], Any]) -> Any:
        """Meaning of a name, chosen where it is first met."""
        if isinstance(name, int):
            return name
        return choose() if name is None else self.found.setdefault(name, choose())

    def written(self, stages: Sequence[Stage | Named], x: Value) -> Value:
        """Write the ops of a composition."""
        for stage in stages:
            x = self._stage(stage, x)
        return x

    def _stage(self, stage: Stage | Named, x: Value) -> Value:
        match stage:
            case Fun():
                return self._function(stage.name, 1)(x)
            case Outside():
                # Any value that is not made of the function's argument.
                return self.named(stage.name, lambda: self.random.choice(self.others))
            case Stage():
                return self._op(stage, x)
            case _:
                raise TileError(f"{stage} is no stage of a composition")

    def _function(self, name: str | None, arity: int) -> AnyFunction:
        return self.named(name, lambda: AnyFunction(self.random.randrange(10**6), arity))

    def _op(self, stage: Stage, x: Value) -> Value:
        kinds = [kind for kind in stage.kinds if issubclass(kind, LiftOp)]
        kind = self.random.choice(kinds)
        if kind is reductions.SearchOp:
            raise TileError("there are no random programs with a search")
        if stage.input is None:
            others = [y for y in self.others if y.type == x.type]
            arrays = [x, self.random.choice([x, *others]) if others else x]
            return Value(emit(lambda: kind.make(*(a.ssa for a in arrays)), None))
        wanted = dict(stage.parameters)
        if kind in (layout.GatherOp, layout.ScatterOp):
            pattern = lift.gather if kind is layout.GatherOp else lift.scatter
            return pattern(self.named(wanted["map"], lambda: self.random.choice(PERMUTATIONS)))(x)
        properties: dict[str, Any] = {
            name: self._property(attribute, name, wanted.get(name))
            for name, attribute in kind.parameters().items()
        }
        if issubclass(kind, FunctionOp):
            return self._with_function(stage, kind, x, properties)
        return Value(emit(lambda: kind.make(x.ssa, **properties), None))

    def _with_function(
        self, stage: Stage, kind: type[FunctionOp], x: Value, properties: dict[str, Any]
    ) -> Value:
        chain = stage.function
        if isinstance(chain, Chain):
            stages = chain.stages
            return with_body(kind, [x], lambda *a: self.written(stages, *a), None, **properties)
        if kind in reductions.REDUCE_OPS:
            (initial,) = [name for _, name in stage.operands] or [None]
            f, neutral = self.named(initial, lambda: self.random.choice(MONOIDS))
            element, start = self._folded(x, f, neutral)
            return with_body(kind, [start, x], element, None, start.type)
        f = self._function(chain, 1)
        if kind is reductions.IterateOp:
            count = properties["count"].data
            return lift.iterate(count, f)(x)
        return with_body(kind, [x], f, None, **properties)

    def _folded(self, x: Value, f: Any, neutral: float) -> tuple[Any, Value]:
        """Function that combines elements, and its initial value."""
        inner = sizes_of(x.array_type("reduce"))[1:]
        for _ in inner:
            f = _zipped(f)
        if not inner:
            return f, to_value(neutral, lift.f32, None)
        number = to_value(neutral, lift.f32, None)
        return f, lift.generate(*inner, lambda *_: number)

    def _property(self, kind: type[Any], name: str, wanted: str | int | None) -> Attribute:
        if issubclass(kind, SizeAttr):
            sizes = SMALL_SIZES if name in ("left", "right", "start", "count") else SIZES
            return SizeAttr(Size.of(self.named(wanted, lambda: self.random.choice(sizes))))
        if issubclass(kind, OrdinalAttr):
            return OrdinalAttr(self.named(wanted, lambda: self.random.choice((0, 0, 1))))
        if issubclass(kind, BoundaryAttr):
            return self.named(wanted, lambda: BoundaryAttr(self.random.choice([*Boundary])))
        raise TileError(f"there are no random programs with {kind.__name__}")


def _zipped(f: Any) -> Any:
    return lambda a, b: lift.zip(a, b) >> lift.map(f)


# -- programs --------------------------------------------------------------------------------------

SUM = p.map(p.reduce("sum", "zero"))
SEQUENTIAL = p.map(p.reduce_seq("sum", "zero"))
SLIDE2 = p.map(p.slide("n", "s")) >> p.slide("n", "s") >> p.map(p.transpose)

LIKELY: tuple[Chain | Stage, ...] = (
    p.map("f") >> p.map("g"),
    p.map(p.map("f")),
    p.slide("n", "s") >> p.map("f"),
    p.slide("n", "s") >> SUM,
    p.pad("l", "r", "edge") >> p.slide("n", "s") >> SUM,
    p.pad("l", "r", "edge") >> p.slide("n", "s") >> SEQUENTIAL,
    SLIDE2 >> p.map(p.map("f")),
    p.zip >> p.map("f"),
    p.zip >> p.map("f") >> p.reduce("sum", "zero"),
    p.map(p.map("f") >> p.reduce("sum", "zero")),
    p.map("f") >> p.reduce("sum", "zero"),
    p.split("n") >> p.map(p.map("f")) >> p.join,
    p.map(p.value("y") >> p.map("f")),
)
"""Compositions for rules that are composed of others."""

BEFORE: tuple[Chain | Stage | None, ...] = (
    *(None,) * 6,
    p.map("before"),
    p.map("before"),
    p.split("k"),
    p.slide("k", "j"),
    p.pad("l0", "r0", "edge0"),
    p.transpose,
    p.join,
    p.zip,
    p.as_vector("k"),
    p.map(p.map("before")),
)
AFTER: tuple[Chain | Stage | None, ...] = (*(None,) * 4, p.map("after"), p.join)


def program(pattern: Chain | None, random: Random) -> Program | None:
    """Program of fixed sizes with a match of a pattern; None if nothing fits."""
    rank = random.choice((1, 1, 2, 2, 3, 4))
    t = lift.array(*(random.choice(AXES) for _ in range(rank)))
    around = rank > 1 and random.random() < 0.2
    chosen = pattern if pattern is not None else random.choice(LIKELY)
    parts = [random.choice(BEFORE), chosen, random.choice(AFTER)]
    seed = random.randrange(10**9)

    def body(x: Value, y: Value) -> Value:
        instance = Instance(Random(seed), [y])
        for part in parts:
            stages = part.stages if isinstance(part, Chain) else (part,) if part else ()
            x = instance.written(stages, x)
        return x

    def f(x: Value, y: Value) -> Any:
        if around:
            return _arrays(x >> lift.map(lambda row: _numbers(body(row, y[0]))))
        return _arrays(body(x, y))

    try:
        return lift.fun(t, t, f)
    except MISFIT:
        return None


def _numbers(x: Value) -> Value:
    """Replace vectors by their numbers."""
    element = getattr(x.type, "element_type", None)
    return x >> lift.as_scalar if isinstance(element, VectorType) else x


def _arrays(x: Value) -> Any:
    """Arrays that a program returns for this value."""
    t = x.type
    if isinstance(t, TupleType):
        return tuple(map(_arrays, x))
    if isinstance(t, TensorType) and isinstance(t.element_type, TupleType):
        return lift.unzip(x)
    if isinstance(t, TensorType) and not is_number(t.element_type):
        return _numbers(x)
    return x
