"""Random contractions to differentiate, with values at which nothing has a corner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from generators import Contraction, contraction_module, contractions
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from tiledialect.dialects.tile.attributes import Combination
from tiledialect.dialects.tile.combinations import COMPARED
from tiledialect.index import sets

Array = npt.NDArray[Any]

MOST_POINTS = 20000


@st.composite
def differentiable(draw: st.DrawFn) -> Contraction:
    """A contraction of float64 tensors, of which those that are compared hold integers."""
    made = draw(contractions(general=True).filter(lambda c: volume(c) <= MOST_POINTS))
    compared = COMPARED.get(made.combination, 0)
    if made.combination in (Combination.eq, Combination.add_eq, Combination.mul_eq):
        made = replace(made, inputs=made.inputs[:2], combination=Combination.mul)
        compared = 0
    inputs = tuple(
        (replace(operand, dtype="int32" if k < compared else "float64"), access)
        for k, (operand, access) in enumerate(made.inputs)
    )
    default = replace(made.default, dtype="float64") if made.default else None
    return replace(made, inputs=inputs, default=default)


def volume(made: Contraction) -> int:
    size = 1
    for r in sets.ranges(made.space()).values():
        size *= r.extent
    return size


def module_and_inputs(made: Contraction) -> tuple[ModuleOp, list[Array]]:
    operands = made.operands()
    module, _ = contraction_module([made])
    random = np.random.default_rng(operands[0].seed)
    arrays = [
        random.integers(0, 2, o.shape).astype(o.dtype)
        if o.dtype == "int32"
        else np.asarray(random.uniform(0.5, 1.5, o.shape) * random.choice([-1, 1], o.shape))
        for o in operands
    ]
    return module, arrays
