"""Float widths: the types of reals without a width of their own, from the reals that they meet."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerType, f32, f64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import TileOp, name_of
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.meetings import (
    Meeting,
    element_type,
    is_draw,
    is_real_of_width,
    meetings,
)
from tiledialect.dialects.tile.special import GatherOp, ReshapeOp
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.ir.names import keep_place, with_type
from tiledialect.passes.diagnostics.reporting import placed

UNDETERMINED = "no input of the program holds reals that say another"
EXACT_BELOW = 2**24
"""Bound up to which all integers are numbers of f32."""


@dataclass
class RealWidths:
    """Gives the reals of a function that have no width of their own one.

    A real is *open* where no real of a known width has a part in it: integers met a number of the
    program's text or a function of reals, or there are such numbers alone. It takes the width of
    the reals that it meets, itself or in a result computed from it: f64 where one of them is, else
    f32. An open real that is returned, compared or cast to an integer before it meets any takes f64
    where an f64 flows into the same results, or where none does and an input is of f64.
    """

    function: func.FuncOp
    """Function with known types, in which open reals are f32."""
    candidates: Collection[Operation]
    """Ops whose results may be open: the types of others are declared."""
    numbers: Collection[SSAValue] = ()
    """Inputs that have no width, either."""
    open: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Open reals, each with the first one that it is computed from."""
    demands: dict[SSAValue, Attribute] = field(default_factory=dict[SSAValue, Attribute])
    """Type of the reals that an open one meets, where there are any."""
    met: dict[Meeting, Attribute] = field(default_factory=dict[Meeting, Attribute])
    """Type that the operands of a meeting get, where it is known."""
    undecided: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])
    """Reals of undetermined width, from which others are computed."""
    by_flow: list[Attribute | None] = field(default_factory=list[Attribute | None])
    """Type of reals that an output gets if it has none by itself; None if undetermined."""

    def __post_init__(self) -> None:
        self.ops = list(_tile_ops(self.function.body.block))
        self.meetings = {op: meetings(op) for op in self.ops}
        self.open.update((v, v) for v in self.numbers)
        self._find_open()
        returned = self.function.body.block.last_op
        assert isinstance(returned, func.ReturnOp)
        self.returned = returned
        self._find_flows()
        self._find_demands()

    # -- forward ---------------------------------------------------------------------------

    def _find_open(self) -> None:
        for op in self.ops:
            if op not in self.candidates:
                continue
            for meeting in self.meetings[op]:
                result = meeting.result
                if result is None or not et.is_float(element_type(result)):
                    continue
                if not is_draw(result) and not any(map(self.is_strong, meeting.values)):
                    origins = (self.open[v] for v in meeting.values if v in self.open)
                    self.open[result] = next(origins, result)
                    if isinstance(op, CustomGradientOp):
                        self.open[op.cotangent] = self.open[result]

    def is_strong(self, value: SSAValue) -> bool:
        """Whether a value holds reals of a width of their own."""
        return value not in self.open and is_real_of_width(value)

    def _find_flows(self) -> None:
        """Note the widest reals of known width that each value is computed from."""
        self.flows: dict[SSAValue, int] = {}
        inputs = [a for a in self.function.body.block.args if self.is_strong(a)]
        for value in inputs:
            self.flows[value] = _rank(element_type(value))
        self.widest_input = max(self.flows.values(), default=0)
        for op in self.ops:
            rank = max((self.flows.get(v, 0) for v in _operands(op)), default=0)
            for result in op.results:
                if isinstance(op, ew.CastOp) and et.is_float(element_type(result)):
                    rank = _rank(element_type(result))
                self.flows[result] = rank

    # -- backward --------------------------------------------------------------------------

    def _find_demands(self) -> None:
        self.reached: dict[SSAValue, int] = {}
        for k, value in enumerate(self.returned.operands):
            self.reached[value] = self.reached.get(value, 0) | 1 << k
            is_open = value in self.open or element_type(value) == et.real
            self.by_flow.append(self._by_flow(1 << k, *([value] if is_open else [])))
            self._demand(value, self.by_flow[k])
        for op in reversed(self.ops):
            self._visit(op)

    def _visit(self, op: Operation) -> None:
        parent = op.parent_op()
        results = parent.results if isinstance(op, YieldOp) and parent is not None else op.results
        mask = 0
        for result in results:
            mask |= self.reached.get(result, 0)
        for value in _operands(op):
            self.reached[value] = self.reached.get(value, 0) | mask
        if isinstance(op, ew.CastOp):
            self._visit_cast(op, mask)
        elif isinstance(op, YieldOp) and isinstance(parent, CustomGradientOp):
            for value, tensor in zip(op.values, parent.inputs, strict=True):
                self._demand(value, element_type(tensor) if self.is_strong(tensor) else None)
        for meeting in self.meetings[op]:
            self._visit_meeting(meeting, mask)

    def _visit_cast(self, op: ew.CastOp, mask: int) -> None:
        target = element_type(op.result)
        if op.operand in self.open:
            by_flow = None if et.is_float(target) else self._by_flow(mask, op.operand)
            self._demand(op.operand, f64 if target == f64 else by_flow)

    def _visit_meeting(self, meeting: Meeting, mask: int) -> None:
        strong = [element_type(v) for v in meeting.values if self.is_strong(v)]
        found: Attribute | None = None
        for t in strong:
            found = t if found is None else et.promote(found, t)
        if not strong and (result := meeting.result) is not None and result in self.open:
            found = self.demands.get(result)
            integers = any(isinstance(element_type(v), IntegerType) for v in meeting.values)
            if found is not None and integers:
                # With integers a number has 32 bits at least.
                found = et.promote(found, f32)
        elif not strong and meeting.result is None and self._compares_reals(meeting):
            inexact = [v for v in meeting.values if v in self.open]
            found = self._by_flow(mask, *inexact)
        if found is not None:
            self.met[meeting] = found
            for value in meeting.values:
                self._demand(value, found)

    def _compares_reals(self, meeting: Meeting) -> bool:
        """Whether a comparison is in reals that have no width, and more than 24 bits may count."""
        if any(v in self.open for v in meeting.values):
            return True
        numbers = [c.number for v in meeting.values if (c := constant_of(v)) is not None]
        reals = [n for n in numbers if isinstance(n, float)]
        # A comparison of an integer with a small number of f32 is right in f32.
        return any(abs(n) >= EXACT_BELOW or not _fits_f32(n) for n in reals)

    def _demand(self, value: SSAValue, t: Attribute | None) -> None:
        if t is not None and value in self.open:
            known = self.demands.get(value)
            self.demands[value] = t if known is None else et.promote(known, t)

    def _by_flow(self, mask: int, *values: SSAValue) -> Attribute | None:
        """Width of the reals that flow into the same results, else of all inputs."""
        outputs = enumerate(self.returned.operands)
        rank = max((self.flows.get(v, 0) for k, v in outputs if mask >> k & 1), default=0)
        rank = rank or self.widest_input
        if rank:
            return f64 if rank > 1 else f32
        origins = (self.open.get(v, v) for v in values if not self._is_exact(v))
        self.undecided.update((o, None) for o in origins if not _is_made_of_draws(o))
        return None

    def _is_exact(self, value: SSAValue) -> bool:
        """Whether a value that has no width holds numbers of f32, not rounded."""
        if (constant := constant_of(value)) is not None:
            return _fits_f32(constant.number)
        t, op = element_type(value), value.owner
        if isinstance(t, IntegerType):
            return t.width.data <= 16
        if is_draw(value):
            return True
        if isinstance(op, ContractionOp):
            moved = op.combination.data is Combination.none
            if not moved or op.aggregation.data in (Aggregation.add, Aggregation.mul):
                return False
        elif not isinstance(op, SELECTING):
            return False
        return all(self._is_exact(v) for m in meetings(op) for v in m.values)

    # -- changing the function -------------------------------------------------------------

    def settle(self) -> None:
        """Convert values without a width, in place, so that all types follow."""
        is_mixed = f64 in (*self.met.values(), *map(element_type, self.open))
        for op in self.ops:
            for meeting in self.meetings[op] if is_mixed else ():
                self._settle_meeting(meeting)
            if op in self.candidates and isinstance(op, TileOp):
                self._retype(op)
        for k, (value, t) in enumerate(zip(self.returned.operands, self.by_flow, strict=True)):
            is_wider = value in self.open and element_type(value) == f64 != t
            if element_type(value) == et.real or is_wider:
                self.returned.operands[k] = _converted(value, t or f32, self.returned)

    def warnings(self) -> Iterator[str]:
        """Warnings of widths that the program does not determine."""
        for value in self.undecided:
            if isinstance(op := value.owner, Operation):
                name, what = value.name_hint and name_of(value), _made_of(op)
                yield placed(
                    op,
                    f"{name or 'a number here'} is of type f32, as {UNDETERMINED}; "
                    f"write as_float({what}, 64), or as_float({what}, 32), for {what}",
                )

    def _settle_meeting(self, meeting: Meeting) -> None:
        if self.met.get(meeting) != f64:
            # Values that are f64 for other meetings are f32 here.
            for k in meeting.positions:
                value = meeting.op.operands[k]
                if value in self.open and element_type(value) == f64:
                    meeting.op.operands[k] = _converted(value, f32, meeting.op)
        elif not any(map(self.is_strong, meeting.values)):
            self._widen(meeting)

    def _widen(self, meeting: Meeting) -> None:
        """Convert the operands that are not f64 yet; of numbers of the text the first is enough."""
        found = [(k, element_type(meeting.op.operands[k])) for k in meeting.positions]
        narrow = [k for k, t in found if t != f64 and not et.is_weak(t)]
        if not narrow and all(t != f64 for _, t in found):
            narrow = [meeting.positions[0]]
        for k in narrow:
            meeting.op.operands[k] = _converted(meeting.op.operands[k], f64, meeting.op)

    def _retype(self, op: TileOp) -> None:
        """Give an op's result the type that follows from its operands now."""
        (result,) = op.results
        inferred = op.inferred_type()
        if result.type == inferred:
            return
        changed: list[SSAValue] = [result]
        if isinstance(op, CustomGradientOp):
            changed.append(op.cotangent)
        for value in changed:
            new = with_type(value, inferred)
            if value in self.open:
                self.open[new] = self.open[value]


SELECTING = (ew.IdentOp, ew.MaxOp, ew.MinOp, ew.SelectOp, ReshapeOp, GatherOp, CustomGradientOp)
"""Ops whose results are some of their operands."""


def _is_made_of_draws(value: SSAValue) -> bool:
    """Whether random numbers, which are f32, are the first reals that a value depends on."""
    op = value.owner
    found = meetings(op) if isinstance(op, Operation) else ()
    return any(is_draw(v) for meeting in found for v in meeting.values)


def _made_of(op: Operation) -> str:
    """Name of an operand of an op that makes a real."""
    for value in (v for meeting in meetings(op) for v in meeting.values):
        if value.name_hint is not None:
            return name_of(value)
        if (constant := constant_of(value)) is not None and isinstance(constant.number, float):
            return str(constant.number)
    return "…"


def _rank(t: Attribute) -> int:
    """Rank of a type: 2 for f64, 1 for other reals, else 0."""
    return 2 if t == f64 else int(et.is_float(t))


def _fits_f32(number: float) -> bool:
    """Whether a number is one of f32, or not finite."""
    with np.errstate(over="ignore"):
        return not np.isfinite(number) or float(np.float32(number)) == number


def _tile_ops(block: Block) -> Iterator[Operation]:
    """Ops of a function, and of the bodies of its custom gradients."""
    for op in block.ops:
        yield op
        if isinstance(op, CustomGradientOp):
            yield from _tile_ops(op.body.block)


def _operands(op: Operation) -> Iterator[SSAValue]:
    """Operands, and for patterns the other values that their functions use."""
    yield from op.operands
    if not isinstance(op, CustomGradientOp):
        for region in op.regions:
            for inner in region.walk():
                yield from inner.operands


def _converted(value: SSAValue, t: Attribute, before: Operation) -> SSAValue:
    """Value in a type of reals, converted before an op."""
    constant = constant_of(value)
    op = ew.CastOp.to(value, t) if constant is None else ew.ConstantOp.of(float(constant.number), t)
    keep_place(op, before)
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op.results[0]
