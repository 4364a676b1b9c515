"""Schedules as text: read from kernels, given to them, kept in files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from tiledialect.dialects.tile.attributes import ScheduleAttr, parse_schedule, print_schedule
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.global_stage import as_given
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.errors import TileError
from tiledialect.ir.names import given_name
from tiledialect.ir.ops_in import ops_of
from tiledialect.schedule.loops import Schedule

DEEPEST = 6
"""Largest number of ops searched for the name of a value's source."""
SHOWN = 40
"""Number of characters of a schedule that an error quotes."""

_ENTRY = re.compile(r"^\s*([\w.'-]+(?: [\w.'-]+)*)\s*:(?=\s*<)", re.MULTILINE)
"""Name of an entry; it may be words, as "an operand" for a value without a name."""


def named_kernels(op: Operation) -> dict[str, KernelOp]:
    """Kernels in an op by their symbols, or by the names of their results; equal ones numbered."""
    kernels = ops_of(op, KernelOp)
    symbols = {kernel.sym_name.data for kernel in kernels if kernel.sym_name is not None}
    found: dict[str, KernelOp] = {}
    for kernel in kernels:
        symbol = kernel.sym_name
        base = name = _result_name(kernel) if symbol is None else symbol.data
        count = 0
        while name in found or (symbol is None and name in symbols):
            count += 1
            name = f"{base}_{count}"
        found[name] = kernel
    return found


def name_kernels(op: Operation) -> None:
    """Give the kernels in an op that have no symbol their names as symbols."""
    for name, kernel in named_kernels(op).items():
        if kernel.sym_name is None:
            kernel.sym_name = StringAttr(name)


def _result_name(kernel: KernelOp) -> str:
    """Name of a kernel's first result, or of its source."""
    result = kernel.outputs[0]
    return given_name(result) or _described(kernel.yield_op.values[0], kernel) or name_of(result)


def operand_names(kernel: KernelOp) -> list[str]:
    """Names, in the text of a schedule, of the values of a kernel that can be staged.

    Of equal names the second is numbered. A value without a name is called after its source, as
    ``of_A``, else by its number.
    """
    found: list[str] = []
    for k, value in enumerate(kernel.values):
        base = name = _described(value, kernel) or f"input{k}"
        number = 1
        while name in found:
            number += 1
            name = f"{base}_{number}"
        found.append(name)
    return found


def _described(value: SSAValue, kernel: KernelOp, depth: int = DEEPEST) -> str:
    """Name of a value in a kernel, or ``of_`` and its source's name, if any."""
    if name := given_name(value):
        return name
    if isinstance(value, BlockArgument):
        is_input = value.block is kernel.body.block and value.index < len(kernel.operands)
        outer = kernel.operands[value.index] if is_input else value
        return given_name(outer) or ""
    operands = value.owner.operands if depth and isinstance(value.owner, Operation) else ()
    names = (_described(v, kernel, depth - 1) for v in operands)
    name = next(filter(None, names), "")
    return f"of_{name.removeprefix('of_')}" if name else ""


def schedule_text(kernel: KernelOp) -> str:
    """The schedule of a kernel: ``<group.x 8*i : 4, …> stage <A local at 16*k, …>``."""
    names, stream = operand_names(kernel), StringIO()
    printer = Printer(stream)
    print_schedule(printer, as_given(kernel), lambda k: printer.print_string(names[k]))
    return stream.getvalue()


def parse_schedule_text(text: str, kernel: KernelOp) -> Schedule:
    """The schedule that ``schedule_text`` or the IR prints so; a TileError if it is none."""
    names = operand_names(kernel)
    parser = Parser(Context(), text)

    def operand() -> int:
        value = parser.parse_optional_unresolved_operand()
        if value is not None:
            # As the IR prints it, where the second value that is called A is %A_1.
            given = value.operand_name
            given = given if given in names else re.sub(r"_\d+$", "", given)
        else:
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
            raise TileError(_no_kernel(name, kernels))
        kernel = kernels[name]
        try:
            kernel.schedule = ScheduleAttr(kernel.mark(parse_schedule_text(text, kernel)))
            kernel.verify_()
        except (TileError, VerifyException) as error:
            raise TileError.at(kernel, f"the schedule of {name}: {error}") from None


def _no_kernel(name: str, kernels: Mapping[str, KernelOp]) -> str:
    """The message for a schedule whose kernel is not there: it may be one that makes a copy."""
    text = f"there is no kernel {name} to schedule; there is {', '.join(kernels) or 'none'}"
    for reader, kernel in kernels.items():
        for operand in operand_names(kernel):
            if name == f"{reader}_{operand}":
                return (
                    f"{text}, whose schedule asks for a copy of {operand}, {name}, by "
                    f"'stage <{operand} global …>'"
                )
    return text


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
