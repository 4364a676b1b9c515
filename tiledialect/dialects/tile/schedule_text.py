"""Schedules as text: read from kernels, given to them, kept in files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from io import StringIO

from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from tiledialect.dialects.tile.attributes import ScheduleAttr, parse_schedule, print_schedule
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.global_stage import as_given
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.errors import TileError
from tiledialect.ops_in import ops_of
from tiledialect.schedule.leaves import Schedule

SHOWN = 40
"""How many characters of a schedule say where in it something is wrong."""

_ENTRY = re.compile(r"^\s*([\w.']+(?: [\w.']+)*)\s*:(?=\s*<)", re.MULTILINE)
"""A name may be words: what has none is "an operand"."""


def named_kernels(op: Operation) -> dict[str, KernelOp]:
    """The kernels in an op by the names of what they compute; of equal names, numbered ones."""
    found: dict[str, KernelOp] = {}
    for kernel in ops_of(op, KernelOp):
        base = name = name_of(kernel.outputs[0])
        count = 0
        while name in found:
            count += 1
            name = f"{base}_{count}"
        found[name] = kernel
    return found


def operand_names(kernel: KernelOp) -> list[str]:
    """What the text of a schedule calls the values of a kernel that can be staged."""
    names = [name_of(v) if v.name_hint else "" for v in kernel.values]
    return [n if n and names.count(n) == 1 else f"input{k}" for k, n in enumerate(names)]


def schedule_text(kernel: KernelOp) -> str:
    """The schedule of a kernel: ``<group.x 8*i : 4, …> stage <A local at 16*k, …>``."""
    names, stream = operand_names(kernel), StringIO()
    printer = Printer(stream)
    print_schedule(printer, as_given(kernel), lambda k: printer.print_string(names[k]))
    return stream.getvalue()


def parse_schedule_text(text: str, kernel: KernelOp) -> Schedule:
    """The schedule that ``schedule_text`` prints so; a TileError if it is none."""
    names = operand_names(kernel)
    parser = Parser(Context(), text)

    def operand() -> int:
        given = parser.parse_identifier(" of an operand")
        if given not in names:
            parser.raise_error(f"{given} is none of {', '.join(names)}")
        return names.index(given)

    try:
        schedule = parse_schedule(parser, operand)
        if parser.pos != len(text.rstrip()):
            parser.raise_error("expected the end of the schedule")
    except ParseError as error:
        rest = text[error.span.start :].strip()
        place = f"at {rest[:SHOWN]!r}" if rest else f"after {text.strip()[-SHOWN:]!r}"
        raise TileError(f"this is no schedule: {error.msg}, {place}") from None
    return schedule


def set_schedules(op: Operation, schedules: Mapping[str, str]) -> None:
    """Give kernels the schedules with their names.

    Raises a TileError that names the kernel: there is none such, or it cannot run so.
    """
    kernels = named_kernels(op)
    for name, text in schedules.items():
        if name not in kernels:
            there = ", ".join(kernels) or "none"
            raise TileError(f"there is no kernel {name} to schedule; there is {there}")
        kernel = kernels[name]
        try:
            kernel.schedule = ScheduleAttr(kernel.mark(parse_schedule_text(text, kernel)))
            kernel.verify_()
        except (TileError, VerifyException) as error:
            raise TileError.at(kernel, f"the schedule of {name}: {error}") from None


def read_schedules(text: str) -> dict[str, str]:
    """The schedules in a file of ``name: <…> stage <…>``, with ``//`` comments."""
    text = re.sub(r"//[^\n]*", "", text)
    matches = list(_ENTRY.finditer(text))
    if text[: matches[0].start() if matches else None].strip():
        raise TileError("a file of schedules has lines such as C: <group.x 8*i : 4, …>")
    starts = [*(m.start() for m in matches), len(text)]
    found = [
        (m[1], text[m.end() : end].strip()) for m, end in zip(matches, starts[1:], strict=True)
    ]
    if len(dict(found)) < len(found):
        raise TileError(f"{_repeated(name for name, _ in found)} is scheduled twice")
    return dict(found)


def checked_schedules(schedules: Mapping[str, str]) -> tuple[str, ...]:
    """Schedules by the names of kernels as texts that ``read_schedules`` reads back one by one."""
    if not isinstance(schedules, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(f"schedules are a dict, by names of kernels, or a Path: {schedules!r}")
    for name, text in schedules.items():
        if not name or not str(text).lstrip().startswith("<"):
            raise TileError(f"the schedule of {name!r} does not begin with <: {text!r}")
        if [*read_schedules(f"{name}: {text}")] != [name]:
            raise TileError(f"{text!r} is not the schedule of one kernel, {name!r}")
    return tuple(f"{name}: {text}" for name, text in schedules.items())


def _repeated(names: Iterable[str]) -> str:
    seen: set[str] = set()
    return next(n for n in names if n in seen or seen.add(n))
