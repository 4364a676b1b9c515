"""Functions at random, for programs of Lift."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from tiledialect import lift
from tiledialect.lift.values import Value


@dataclass
class Make:
    """Makes programs with functions at random."""

    random: Random = field(default_factory=lambda: Random(0))

    def f(self) -> Callable[[Value], Value]:
        """A function of a number."""
        return self.random.choice(
            [
                lambda a: a + 1.0,
                lambda a: a * 2.0,
                lambda a: 3.0 - a,
                lambda a: lift.max(a, 2.0),
                lambda a: a * a,
            ]
        )

    def g(self) -> Callable[[Value, Value], Value]:
        """A function of two numbers."""
        return self.random.choice(
            [
                lambda a, b: a + b,
                lambda a, b: a * b,
                lambda a, b: a - 2.0 * b,
                lambda a, b: lift.max(a, b),
            ]
        )

    def reduce(self, pattern: Any = lift.reduce) -> Any:
        """A reduction."""
        function, initial = self.random.choice([(lift.add, 0.0), (lift.max, -np.inf)])
        return pattern(function, initial)

    def index(self) -> Any:
        """A permutation of indices."""
        return self.random.choice([lift.reverse, lift.reorder_stride(2)])

    def boundary(self) -> Any:
        return self.random.choice([lift.clamp, lift.mirror, lift.wrap])

    def row(self) -> Callable[[Value], Value]:
        """A function of an array of numbers that gives one."""
        return self.random.choice(
            [
                lift.map(self.f()),
                lift.gather(lift.reverse),
                lambda a: a >> lift.map(lambda e: e + a[0]),
            ]
        )
