"""Table of the instructions that can replace an innermost box of a contraction.

An entry is data: the box, the layout of each operand in the registers of the work-items that
execute it together, and a function of OpenCL C. `register` adds one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from tiledialect.index.integer.expressions import Expr, floordiv, mod
from tiledialect.platforms import NVIDIA
from tiledialect.schedule.loops import ScheduleError

LANE, ELEMENT = Expr.var("lane"), Expr.var("element")
"""Number of a work-item within an instruction, and of one of its elements."""

STORED_AS = {"tf32": "f32"}
"""Element type in memory of a type that only instructions have."""


@dataclass(frozen=True)
class RowLoad:
    """Joint load of an operand from local memory by the work-items of an instruction.

    Each work-item names the beginning of a row, ``width`` neighbours in memory; the fragment says
    which elements it then holds. ``text`` defines an OpenCL C function ``name`` that takes a
    pointer to each register and one to the row.
    """

    name: str
    axis: str
    """The axis of the instruction's box that a row is along."""
    width: int
    place: tuple[Expr, ...]
    """Beginning of the row of a work-item along each axis of the operand, by ``LANE``."""
    text: str


@dataclass(frozen=True)
class Fragment:
    """The elements of an operand's box that a work-item holds: where each lies in the box."""

    axes: tuple[str, ...]
    """The axes of the instruction's box that the operand has."""
    type: str
    """Element type: ``f32``, ``f16``, ``bf16``, or ``tf32``, to which f32 is rounded."""
    count: int
    """Number of elements that a work-item holds."""
    place: tuple[Expr, ...]
    """Position of an element along each axis: an expression of ``LANE`` and ``ELEMENT``."""
    packed: int = 1
    """Number of elements in a register, the first in its lowest bits."""
    rows: tuple[RowLoad, ...] = ()
    """Loads where rows of it, along one axis or the other, are contiguous in local memory;
    elsewhere elements are loaded one by one."""

    @property
    def registers(self) -> int:
        """Number of registers of the elements."""
        return self.count // self.packed

    @property
    def stored(self) -> str:
        """The element type in memory."""
        return STORED_AS.get(self.type, self.type)

    def rows_along(self, axis: str) -> RowLoad | None:
        """Load where rows along an axis are contiguous."""
        return next((rows for rows in self.rows if rows.axis == axis), None)

    def at(self, lane: int, element: int) -> tuple[int, ...]:
        """Position in the box of an element of a work-item."""
        values = {"lane": lane, "element": element}
        return tuple(e.evaluate(values) for e in self.place)


@dataclass(frozen=True)
class Exchange:
    """Exchange of elements of a result between pairs of work-items, for more neighbours in each.

    Their numbers differ by ``lane``, a power of two. Of elements whose numbers differ by
    ``element``, another power of two, the first work-item gives its second for the other's first.
    """

    lane: int
    element: int
    place: tuple[Expr, ...]
    """Position of an element along each axis afterwards, by ``LANE`` and ``ELEMENT``."""

    @property
    def width(self) -> int:
        """Number of elements that are neighbours along the last axis."""
        return 2 * self.element

    def origin(self, lane: int, element: int) -> tuple[int, int]:
        """Work-item that had an element before, and its number there."""
        own, number = bool(lane & self.lane), bool(element & self.element)
        if own == number:
            return lane, element
        return lane ^ self.lane, element ^ self.element


@dataclass(frozen=True)
class Instruction:
    """A product of operands summed over a box, as a machine executes it.

    ``text`` defines an OpenCL C function of the same name. Its parameters are a pointer to each
    register of the result, to which it adds, and then the operands' registers; an f16 or bf16 is a
    ``short`` with its bits, and registers that hold several elements are vectors of them.
    """

    name: str
    box: tuple[tuple[str, int], ...]
    """Axes in the order in which a schedule names its indices, and their extents."""
    result: Fragment
    operands: tuple[Fragment, ...]
    text: str
    lanes: int = 1
    """Number of neighbouring work-items that execute it together."""
    platform: str = ""
    """The platform that has it (``nvidia``); empty: every one."""
    capability: int = 0
    """The compute capability that its device must have, 80 being 8.0; 0: any."""
    exchange: Exchange | None = None
    """Exchange of the sums between work-items before they are stored."""

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the box's axes."""
        return tuple(axis for axis, _ in self.box)

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """The result's, then the operands'."""
        return (self.result, *self.operands)

    def extents(self, fragment: Fragment) -> tuple[int, ...]:
        """The box of an operand."""
        sizes = dict(self.box)
        return tuple(sizes[axis] for axis in fragment.axes)


_TABLE: dict[str, Instruction] = {}


def register(instruction: Instruction) -> Instruction:
    """Add an entry to the table.

    Raises:
        ScheduleError: the entry contradicts itself, or another one has its name.
    """
    check(instruction)
    if _TABLE.setdefault(instruction.name, instruction) != instruction:
        raise ScheduleError(f"there is another instruction {instruction.name}")
    return instruction


def find(name: str) -> Instruction:
    """The instruction of this name."""
    if name not in _TABLE:
        raise ScheduleError(
            f"there is no instruction {name}; known are {', '.join(sorted(_TABLE))}"
        )
    return _TABLE[name]


def table() -> tuple[Instruction, ...]:
    """All entries, by name."""
    return tuple(_TABLE[name] for name in sorted(_TABLE))


def refusal(entry: Instruction, platform: str, capability: int) -> str:
    """Reason for which a device of a platform does not have an instruction; empty if it has.

    A ``capability`` of 0 is unknown.
    """
    if entry.platform not in platform.lower():
        owners = f"{entry.platform} devices"
        return f"{entry.name} is an instruction of {owners}: this one is of {platform}"
    if 0 < capability < entry.capability:
        needed, own = (f"{x // 10}.{x % 10}" for x in (entry.capability, capability))
        return f"{entry.name} needs a device of compute capability {needed}: this one has {own}"
    return ""


# -- what an entry must be ---------------------------------------------------------------------


def check(entry: Instruction) -> None:
    """Refuse an entry that contradicts itself.

    Raises:
        ScheduleError: the entry is inconsistent.
    """
    if not re.search(rf"\b{re.escape(entry.name)}\(", entry.text):
        raise ScheduleError(f"the text of instruction {entry.name} defines no such function")
    if entry.lanes < 1 or any(extent < 1 for _, extent in entry.box):
        raise ScheduleError(f"instruction {entry.name} has an empty box or no work-items")
    for number, fragment in enumerate(entry.fragments):
        name = f"operand {number - 1}" if number else "result"
        if not set(fragment.axes) <= set(entry.axes) or len(fragment.axes) != len(fragment.place):
            raise ScheduleError(f"the {name} of instruction {entry.name} has axes of its own")
        if fragment.packed < 1 or fragment.count % fragment.packed:
            raise ScheduleError(f"the {name} of instruction {entry.name} does not fill registers")
        _check_cover(entry, fragment, name)
        for rows in fragment.rows:
            _check_rows(entry, fragment, rows, name)
    if entry.exchange is not None:
        _check_exchange(entry, entry.exchange)


def _check_exchange(entry: Instruction, exchange: Exchange) -> None:
    result = entry.result
    if result.packed > 1:
        raise ScheduleError(f"instruction {entry.name} exchanges elements that share registers")
    for lane, element in product(range(entry.lanes), range(result.count)):
        values = {"lane": lane, "element": element}
        place = tuple(e.evaluate(values) for e in exchange.place)
        if place != result.at(*exchange.origin(lane, element)):
            raise ScheduleError(
                f"the exchange of instruction {entry.name} does not bring work-item {lane} "
                f"element {element}"
            )


def _check_rows(entry: Instruction, fragment: Fragment, rows: RowLoad, name: str) -> None:
    if rows.axis not in fragment.axes or len(rows.place) != len(fragment.axes):
        raise ScheduleError(f"the {name} of instruction {entry.name} has rows along another axis")
    along = fragment.axes.index(rows.axis)
    found = {
        (*place[:along], place[along] + k, *place[along + 1 :])
        for lane in range(entry.lanes)
        for place in [tuple(e.evaluate({"lane": lane}) for e in rows.place)]
        for k in range(rows.width)
    }
    if found != set(product(*map(range, entry.extents(fragment)))):
        raise ScheduleError(f"the rows of the {name} of instruction {entry.name} are not its box")


def _check_cover(entry: Instruction, fragment: Fragment, name: str) -> None:
    box = set(product(*map(range, entry.extents(fragment))))
    places = list(_places(entry, fragment))
    if not set(places) <= box:
        raise ScheduleError(f"the {name} of instruction {entry.name} has elements outside its box")
    if set(places) != box or (fragment is entry.result and len(places) != len(box)):
        raise ScheduleError(
            f"the {name} of instruction {entry.name} must have each element of its box"
            + (" once" if fragment is entry.result else "")
        )


def _places(entry: Instruction, fragment: Fragment) -> Iterator[tuple[int, ...]]:
    for lane in range(entry.lanes):
        for element in range(fragment.count):
            yield fragment.at(lane, element)


# -- NVIDIA's tensor cores ---------------------------------------------------------------------

WARP = 32
SEPARATOR = ",\n    "
ROW, COLUMN = floordiv(LANE, 4), mod(LANE, 4)
"""The PTX manual's group of four lanes, and the number in it."""


def _sums(boxes: int) -> Fragment:
    """Accumulators of some adjacent boxes of 16 × 8."""
    row = ROW + 8 * floordiv(ELEMENT, 2 * boxes)
    column = 2 * COLUMN + mod(ELEMENT, 2) + 8 * mod(floordiv(ELEMENT, 2), boxes)
    return Fragment(("m", "n"), "f32", 4 * boxes, (row, column))


def _matrices(name: str, place: tuple[Expr, ...], axis: str, width: int, form: str) -> RowLoad:
    """Matrices of 8 rows of 16 bytes: `ldmatrix` gives each lane 4 bytes of each."""
    numbers = range(int(form[1]))
    element, register = ("short", "short2") if width == 8 else ("float", "float")

    def listed(template: str) -> str:
        return ", ".join(template.format(k) for k in numbers)

    text = (
        f"""\
static inline void {name}({listed(register + " *r{}")}, const __local {element} *row)
{{
    uint {listed("x{}")};
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.{form}.shared.b16 {{{listed("%{}")}}}, [%{len(numbers)}];"
        : {listed('"=r"(x{})')} : "r"((uint)(ulong)row) : "memory");
"""
        + "".join(f"    *r{k} = as_{register}(x{k});\n" for k in numbers)
        + "}"
    )
    return RowLoad(name, axis, width, place, text)


SIXTEEN, HALF = mod(LANE, 16), floordiv(LANE, 16)
"""Rows that the lanes name: 16, and the adjacent ones in their other half."""
EIGHT, ADJACENT = mod(LANE, 8) + 8 * HALF, mod(floordiv(LANE, 8), 2)
"""Rows that the lanes name for eight adjacent to eight, and then the next eight."""

MMA_TF32 = Instruction(
    "mma_m16n8k8_tf32",
    (("m", 16), ("n", 8), ("k", 8)),
    _sums(1),
    (
        Fragment(
            ("m", "k"),
            "tf32",
            4,
            (ROW + 8 * mod(ELEMENT, 2), COLUMN + 4 * floordiv(ELEMENT, 2)),
            rows=(_matrices("ldmatrix_x4_f32", (SIXTEEN, 4 * HALF), "k", 4, "x4"),),
        ),
        Fragment(
            ("k", "n"),
            "tf32",
            2,
            (COLUMN + 4 * ELEMENT, ROW),
            rows=(_matrices("ldmatrix_x2_f32", (4 * ADJACENT, mod(LANE, 8)), "k", 4, "x2"),),
        ),
    ),
    """\
static inline uint round_tf32(float x)
{
    // Adds 1/3 to 2/3 of a unit of what is left when the instruction cuts off 13 bits.
    return as_uint(x * 0x1.001555p0f);
}

static inline void mma_m16n8k8_tf32(
    float *d0, float *d1, float *d2, float *d3,
    float a0, float a1, float a2, float a3, float b0, float b1)
{
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(*d0), "+f"(*d1), "+f"(*d2), "+f"(*d3)
        : "r"(round_tf32(a0)), "r"(round_tf32(a1)), "r"(round_tf32(a2)), "r"(round_tf32(a3)),
          "r"(round_tf32(b0)), "r"(round_tf32(b1)));
}""",
    lanes=WARP,
    platform=NVIDIA.short,
    capability=80,
)


def _mma_half_text(name: str, t: str, boxes: int) -> str:
    """OpenCL C function of an instruction of adjacent boxes: one `mma.sync` for each."""

    def listed(template: str, count: int, first: int = 0) -> str:
        return ", ".join(template.format(k) for k in range(first, first + count))

    def sums(k: int) -> str:
        """Accumulators of a box: two of each of its rows."""
        rows = (2 * k, 2 * (boxes + k))
        return ", ".join(listed('"+f"(*d{})', 2, first) for first in rows)

    parameters = [
        listed("float *d{}", 4 * boxes),
        listed("short2 a{}", 4),
        listed("short2 b{}", 2 * boxes),
    ]
    text = f"static inline void {name}(\n    {SEPARATOR.join(parameters)})\n{{\n"
    for k in range(boxes):
        text += f"""\
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.{t}.{t}.f32 "
        "{{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
        : {sums(k)}
        : {listed('"r"(as_uint(a{}))', 4)},
          {listed('"r"(as_uint(b{}))', 2, 2 * k)});
"""
    return text + "}"


def _mma_half(
    t: str, boxes: int, form: str, rows: tuple[Expr, Expr], columns: tuple[Expr, Expr]
) -> Instruction:
    """Make an instruction of adjacent `mma.sync`, whose second operands are loaded together."""
    name = f"mma_m16n{8 * boxes}k16_{t}"
    first = Fragment(
        ("m", "k"),
        t,
        8,
        (
            ROW + 8 * mod(floordiv(ELEMENT, 2), 2),
            2 * COLUMN + mod(ELEMENT, 2) + 8 * floordiv(ELEMENT, 4),
        ),
        packed=2,
        rows=(
            _matrices("ldmatrix_x4", (SIXTEEN, 8 * HALF), "k", 8, "x4"),
            _matrices("ldmatrix_x4_trans", (8 * ADJACENT, EIGHT), "m", 8, "x4.trans"),
        ),
    )
    k = 2 * COLUMN + mod(ELEMENT, 2) + 8 * mod(floordiv(ELEMENT, 2), 2)
    second = Fragment(
        ("k", "n"),
        t,
        4 * boxes,
        (k, ROW + 8 * floordiv(ELEMENT, 4)),
        packed=2,
        rows=(
            _matrices(f"ldmatrix_{form}_trans", rows, "n", 8, f"{form}.trans"),
            _matrices(f"ldmatrix_{form}", columns, "k", 8, form),
        ),
    )
    return Instruction(
        name,
        (("m", 16), ("n", 8 * boxes), ("k", 16)),
        _sums(boxes),
        (first, second),
        _mma_half_text(name, t, boxes),
        lanes=WARP,
        platform=NVIDIA.short,
        capability=80,
        exchange=WIDER if boxes == 2 else None,
    )


WIDER = Exchange(
    1,
    2,
    (
        ROW + 8 * floordiv(ELEMENT, 4),
        4 * floordiv(COLUMN, 2) + 8 * mod(COLUMN, 2) + mod(ELEMENT, 4),
    ),
)
"""Four neighbours a work-item, of the sums of two boxes: stores of two f16 fill no sector."""
NARROW = (1, "x2", (SIXTEEN, 0 * LANE), (8 * ADJACENT, mod(LANE, 8)))
WIDE = (2, "x4", (SIXTEEN, 8 * HALF), (8 * ADJACENT, EIGHT))
MMA_F16, MMA_F16_WIDE = _mma_half("f16", *NARROW), _mma_half("f16", *WIDE)
MMA_BF16, MMA_BF16_WIDE = _mma_half("bf16", *NARROW), _mma_half("bf16", *WIDE)

# A test checks these entries once and for all.
for _entry in (MMA_TF32, MMA_F16, MMA_F16_WIDE, MMA_BF16, MMA_BF16_WIDE):
    _TABLE[_entry.name] = _entry
