"""Weak types: the types of inputs without a width of their own, from the values that they meet."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.elementwise.ops import IdentOp
from tiledialect.dialects.tile.meetings import element_type, meetings
from tiledialect.dialects.tile.special import PrngStateOp, PrngValueOp
from tiledialect.passes.diagnostics.reporting import warn
from tiledialect.passes.specialize.tile_specialize import real_widths
from tiledialect.passes.specialize.types.float_widths import UNDETERMINED


def weak_types(
    function: func.FuncOp, types: Sequence[TensorType[Attribute]], weak: Collection[int]
) -> dict[int, Attribute]:
    """The element types of the inputs ``weak``; the given ones for inputs that meet nothing.

    A real takes the widest float that it is added to, multiplied with, compared with and so on, an
    integer the integer type; itself or a result of it and other weak inputs alone. Reals that meet
    integers alone have the width that ``RealWidths`` gives others.
    """
    arguments = function.body.block.args
    states = {k: et.CONCRETE["ui32"] for k in weak if _is_random_state(arguments[k])}
    own = {k: types[k].element_type for k in weak} | states
    reals = [k for k in weak if et.is_float(own[k])]
    chosen = own
    # The type of one input may change the types that another meets.
    for _ in range(len(weak) + 1):
        elements = [chosen.get(k, t.element_type) for k, t in enumerate(types)]
        widths = real_widths(function, list(map(with_element_type, types, elements)), reals)
        inputs = widths.function.body.block.args
        met = _integers_met(widths.function, {inputs[k]: {k} for k in weak if k not in reals})
        before = chosen
        chosen = {k: _promoted(met[k]) or own[k] if k in met else own[k] for k in weak}
        chosen |= {k: widths.demands.get(inputs[k], own[k]) for k in reals}
        chosen |= states
        if chosen == before:
            if len(own) < len(types):
                # Warn beside arrays only: without them, all values are Python's.
                warn(_undetermined(inputs[k]) for k in reals if inputs[k] in widths.undecided)
            break
    return chosen


def _is_random_state(value: SSAValue) -> bool:
    """Whether random numbers are drawn from a value, which then has one possible type."""
    users = (use.operation for use in value.uses)
    return any(
        isinstance(user, PrngValueOp | PrngStateOp)
        or (isinstance(user, IdentOp) and _is_random_state(user.result))
        for user in users
    )


def with_element_type(t: TensorType[Attribute], element_type: Attribute) -> TensorType[Attribute]:
    """Type with other elements."""
    return TensorType(element_type, t.get_shape())


def _undetermined(value: SSAValue) -> str:
    name = name_of(value)
    return (
        f"{name} is taken as f32, as {UNDETERMINED}: give np.float64({name}), or np.float32({name})"
    )


def _promoted(types: Sequence[Attribute]) -> Attribute | None:
    result: Attribute | None = None
    for t in types:
        result = t if result is None else et.promote(result, t)
    return result


def _integers_met(
    function: func.FuncOp, origins: dict[SSAValue, set[int]]
) -> dict[int, list[Attribute]]:
    """Types of the integers that inputs, or results of them alone, meet."""
    met: dict[int, list[Attribute]] = {}
    for op in function.body.block.ops:
        for meeting in meetings(op):
            inputs = set[int]().union(*(origins.get(v, ()) for v in meeting.values))
            types = [element_type(v) for v in meeting.values if v not in origins]
            strong = [t for t in types if not et.is_weak(t)]
            for k in inputs:
                met.setdefault(k, []).extend(t for t in strong if not et.is_float(t) and t != i1)
            if inputs and not strong and meeting.result is not None:
                origins.setdefault(meeting.result, set()).update(inputs)
    return met
