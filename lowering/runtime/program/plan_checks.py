"""Checks that a plan read from disk is one that could have been made.

The contents of a file reach the device, so they are not trusted: every number must be of its kind
and in its range, and every launch must fit the head of its kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES, kind_of
from tiledialect.lowering.runtime.program.plan import (
    Branch,
    Command,
    Copy,
    Launch,
    Plan,
    Repeat,
    Scalar,
    Slot,
    Tensor,
    While,
    inner_steps,
)

DTYPES = frozenset(NUMPY_TYPES[t].name for t in CONCRETE.values())
HEAD = re.compile(r"^__kernel\b[^{;]*?\bvoid (\w+)\(([^{;]*)\)\s*\{", re.M)
"""The head of a kernel as it is printed: its name and its parameters."""
POINTER = re.compile(r"(\w+) \*(?:restrict )?(\w+)$")
"""A buffer among the parameters: the type of its elements, and its name."""
START = re.compile(r"long (\w*)_start(?:_\d+)?")
"""The first element of a buffer among the parameters: its name, maybe with a number."""
ELEMENTS = {
    **dict.fromkeys(("char", "uchar"), 1),
    **dict.fromkeys(("short", "ushort", "half"), 2),
    **dict.fromkeys(("int", "uint", "float"), 4),
    **dict.fromkeys(("long", "ulong", "double"), 8),
}
"""The bytes of an element of these types."""

Heads = Mapping[str, list[str]]


def check_plan(plan: Plan) -> None:
    """Raise a ValueError if ``make_plan`` does not make such plans."""
    for tensor in (*plan.inputs, *plan.outputs):
        _check_tensor(tensor)
    _require(all(_natural(size) for size in plan.allocations), "the size of an allocation")
    _require(all(_natural(k) and k < len(plan.inputs) for k in plan.updated), "an updated input")
    for slot in plan.slots:
        _check_slot(plan, slot)
    _require(isinstance(plan.source, str), "the source")  # pyright: ignore[reportUnnecessaryIsInstance]
    heads = {m[1]: _parameters(m[2]) for m in HEAD.finditer(plan.source)}
    _check_steps(plan, plan.steps, heads)


def _check_steps(plan: Plan, steps: Sequence[Command], heads: Heads) -> None:
    for step in steps:
        match step:
            case Copy():
                _check_copy(plan, step)
            case Launch():
                _check_launch(plan, step, heads)
            case Repeat():
                _require(_natural(step.count, 1), "a number of iterations")
            case While() | Branch():
                _require(_natural(step.condition), "a condition")
                _require(step.condition < len(plan.sizes), "the buffer of a condition")
                _require(plan.sizes[step.condition] > 0, "the size of a condition")
        for inner in inner_steps(step):
            _check_steps(plan, inner, heads)


def _require(good: bool, what: str) -> None:
    if not good:
        raise ValueError(f"a plan is wrong in {what}")


def _natural(number: Any, least: int = 0) -> bool:
    return type(number) is int and number >= least


def _check_tensor(tensor: Tensor) -> None:
    _require(isinstance(tensor.name, str), "a name")  # pyright: ignore[reportUnnecessaryIsInstance]
    _require(all(_natural(size) for size in tensor.shape), f"the shape of {tensor.name}")
    _require(tensor.dtype in DTYPES, f"the type of {tensor.name}")


def _check_slot(plan: Plan, slot: Slot) -> None:
    numbers = (slot.offset, slot.nbytes)
    _require(all(_natural(n) for n in numbers), "the place of an intermediate")
    is_known = type(slot.allocation) is int and (
        -len(plan.outputs) <= slot.allocation < len(plan.allocations)
    )
    _require(is_known, "the allocation of an intermediate")
    output = slot.output
    whole = plan.allocations[slot.allocation] if output is None else plan.outputs[output].nbytes
    _require(slot.offset + slot.nbytes <= whole, "the end of an intermediate")


def _check_copy(plan: Plan, copy: Copy) -> None:
    sizes = plan.sizes
    _require(_natural(copy.nbytes, 1), "the size of a copy")
    ends = ((copy.target, copy.target_offset), (copy.source, copy.source_offset))
    for number, offset in ends:
        _require(_natural(number) and number < len(sizes), "a buffer of a copy")
        _require(_natural(offset) and offset + copy.nbytes <= sizes[number], "the end of a copy")
    _require(_is_writable(plan, copy.target), "the target of a copy")


def _check_launch(plan: Plan, launch: Launch, heads: Heads) -> None:
    _require(launch.kernel in heads, "the name of a kernel")
    _require(isinstance(launch.part, str), "the part of a kernel")  # pyright: ignore[reportUnnecessaryIsInstance]
    for whole, part in zip(launch.global_size, launch.local_size, strict=True):
        _require(_natural(whole, 1) and _natural(part, 1) and whole % part == 0, "a size")
    parameters = heads[launch.kernel]
    _require(len(parameters) == len(launch.args), f"the arguments of {launch.kernel}")
    for parameter, arg in zip(parameters, launch.args, strict=True):
        _require(_fits(plan, parameter, arg), f"an argument of {launch.kernel}")
    for k, arg in enumerate(launch.args):
        starts = isinstance(arg, Scalar) or _starts(plan, arg, parameters[k:], launch.args[k + 1 :])
        _require(starts, f"the offset of an argument of {launch.kernel}")


def _parameters(text: str) -> list[str]:
    return [] if text.strip() in ("", "void") else text.split(",")


def _fits(plan: Plan, parameter: str, arg: int | Scalar) -> bool:
    if isinstance(arg, Scalar):
        return "*" not in parameter and _is_number(arg)
    if "*" not in parameter or not _natural(arg) or arg >= len(plan.sizes):
        return False
    return _is_writable(plan, arg) or parameter.lstrip().startswith("const ")


def _is_writable(plan: Plan, number: int) -> bool:
    """Whether a buffer is neither a constant nor an input that calls leave as it is."""
    if number in plan.updated:
        return True
    return number >= len(plan.inputs) and not plan.tensor_count <= number < plan.first_slot


def _starts(plan: Plan, number: int, parameters: Sequence[str], after: Sequence[Any]) -> bool:
    """Whether the argument after a buffer is its offset."""
    slot = number - plan.first_slot
    offset = plan.slots[slot].offset if slot >= 0 else 0
    pointer = POINTER.search(parameters[0])
    start = START.fullmatch("".join(parameters[1:2]).strip())
    # The start's name has a prefix where the program has another of that name.
    if pointer is None or start is None or not start[1].endswith(pointer[2]):
        return offset == 0
    first = after[0].value if isinstance(after[0], Scalar) else None
    return first is not None and first * ELEMENTS.get(pointer[1], 0) == offset


def _is_number(scalar: Scalar) -> bool:
    if scalar.dtype not in DTYPES or type(scalar.value) not in (int, float):
        return False
    kind = np.dtype(scalar.dtype)
    if kind_of(kind) == "f":
        return True
    value = int(scalar.value)
    low, high = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
    # Constants of a signless type may stand for either half.
    return value == scalar.value and low - high - 1 <= value <= 2 * high + 1


def same_types(tensors: Iterable[Tensor], wanted: Iterable[tuple[tuple[int, ...], str]]) -> bool:
    """Whether the tensors have these shapes and element types."""
    return [(t.shape, t.dtype) for t in tensors] == list(wanted)
