"""Tests of rules on random programs: the meaning of a program must stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType

from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.interpreters.tile import interpret
from tiledialect.ir.mlir_text import print_module
from tiledialect.ir.signature import array_type, find_function
from tiledialect.lift.program import Program
from tiledialect.passes.lift.rules.places import places
from tiledialect.passes.lift.rules.random_programs import MISFIT, program
from tiledialect.passes.lift.rules.refusal import NotApplicable, require_kind
from tiledialect.passes.lift.rules.rule import Named, Rule
from tiledialect.passes.lift.strategies.derivation import Derivation
from tiledialect.passes.specialize.tile_specialize import specialize
from tiledialect.passes.specialize.tile_widen import TileWidenPass

ATTEMPTS = 60
"""Programs that are made for each requested one: not all match, nor meet the conditions."""

TOLERANCE = 1e-4
"""Relative tolerance: a rule may add in another order; small integers are nearly exact in f32."""

EXTRA_PROGRAMS = 10
"""Programs that are examined after the first that is changed, for a shorter one."""

Arrays = Sequence[np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Change:
    """Program whose meaning a rule changed."""

    before: Derivation
    after: Derivation
    inputs: Arrays
    why: str

    @property
    def text(self) -> str:
        """Programs before and after, and their results."""
        inputs = ", ".join(f"{a.tolist()}" for a in self.inputs)
        return (
            f"{self.after.steps[-1]} changes the meaning of a program: {self.why}, for the inputs "
            f"{inputs}\n\n// before\n{print_module(self.before.module)}\n"
            f"// after\n{print_module(self.after.module)}"
        )


def check(
    rule: Named, *, trials: int = 100, seed: int = 0, programs: Sequence[Program | ModuleOp] = ()
) -> int:
    """Try a rule on random programs; return the number of its applications.

    The results before and after are compared by the reference semantics, for small integers as
    inputs. ``programs`` are tried, too, with small sizes for the names that they leave open.

    Raises:
        TileError: the rule changes the meaning of a program, which is shown; or it applies to none
            of the programs, so that nothing is known of it.
    """
    require_kind(rule, Named, "check takes a rule, such as RULES['map_fusion']")
    if not isinstance(trials, int) or trials < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(f"`trials` must be a whole number, at least 1, got {trials!r}")
    require_kind(programs, Sequence, "`programs` is a list of programs")
    random = Random(seed)
    applied, since = 0, 0
    changes: list[Change] = []
    for candidate in _candidates(rule, random, trials, programs):
        tried = _tried(rule, candidate, random)
        if not tried:
            continue
        applied += 1
        changes += [tried] if isinstance(tried, Change) else []
        since += bool(changes)
        if applied == trials or since > EXTRA_PROGRAMS:
            break
    if changes:
        raise TileError(min((c.text for c in changes), key=len))
    if not applied:
        raise TileError(
            f"{rule.name} applies to none of {trials * ATTEMPTS} programs made at random, so that "
            "nothing was compared: give some that it applies to, check(rule, programs=[…])"
        )
    return applied


def _candidates(
    rule: Named, random: Random, trials: int, programs: Sequence[Program | ModuleOp]
) -> Iterator[Derivation]:
    for given in programs:
        found = Derivation.of(given)
        for _ in range(ATTEMPTS):
            try:
                yield found.bind(**{n: random.choice((1, 2, 3, 4, 6, 8, 12)) for n in found.sizes})
            except MISFIT:
                continue
    pattern = rule.pattern if isinstance(rule, Rule) else None
    for _ in range(trials * ATTEMPTS):
        made = program(pattern, random)
        if made is not None:
            yield Derivation.of(made)


def _tried(rule: Named, before: Derivation, random: Random) -> Change | bool:
    """Change of meaning by a rule; True if there is none, False if the rule does not apply."""
    matching = [a for a, op in places(before.function).items() if _matches(rule, op.results[0])]
    if not matching:
        return False
    numbers = {
        name: random.randrange(3) if parameter.annotation is int else random.choice((1, 2, 3, 4))
        for name, parameter in rule.parameters.items()
        if parameter.default is parameter.empty or random.random() < 0.3
    }
    try:
        after = before.apply(rule, random.choice(matching), **numbers)
    except NotApplicable:
        return False
    inputs = _inputs(before, random)
    try:
        expected = _results(before, inputs)
    except MISFIT:
        return False
    try:
        found = _results(after, inputs)
    except MISFIT as error:
        return Change(before, after, inputs, f"it cannot be computed any more ({error})")
    for a, b in zip(found, expected, strict=True):
        if not np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            return Change(before, after, inputs, f"it gives {a.tolist()} instead of {b.tolist()}")
    return True


def _matches(rule: Named, value: Any) -> bool:
    try:
        rule.check(value)
    except NotApplicable:
        return False
    return True


def _inputs(program: Derivation, random: Random) -> Arrays:
    """Small integers for the inputs of a program."""
    found: list[np.ndarray[Any, Any]] = []
    for t in program.function.function_type.inputs:
        assert isinstance(t, TensorType)
        least = 0 if isinstance(t.element_type, IntegerType) else -4
        size = int(np.prod(t.get_shape(), dtype=int))
        numbers = [random.randrange(least, 12) for _ in range(size)]
        found.append(np.array(numbers, NUMPY_TYPES[t.element_type]).reshape(t.get_shape()))
    return found


def _results(program: Derivation, inputs: Arrays) -> Sequence[Any]:
    module, name = program.module.clone(), program.function.sym_name.data
    specialize(find_function(module, name), [array_type(array) for array in inputs])
    TileWidenPass().apply(Context(), module)
    return interpret(module, name, inputs)
