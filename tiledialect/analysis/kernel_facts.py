"""Facts of a kernel, read from its ops, by which its schedule is chosen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from math import prod

from xdsl.ir import BlockArgument, Operation, SSAValue

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.analysis.row_passes import joined, passes_of
from tiledialect.dialects.tile.aggregation import accumulator_type
from tiledialect.dialects.tile.attributes import Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.combinations import OPERATORS
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import GatherOp, PrngStateOp, PrngValueOp, ScatterOp, ShapeOp
from tiledialect.dialects.tile.structure.operand_loads import broadcast_access, sources
from tiledialect.dialects.tile.structure.row_axes import Map, Rows, reduced_by, shape
from tiledialect.dialects.tile.structure.small_stencils import index_at
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import IndexExpr
from tiledialect.index.sets import tested_axes
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.loops import LoopIndex

FUNCTIONS = (
    *("acos", "asin", "atan", "cos", "cosh", "erf", "exp", "expm1", "log", "log1p", "sigmoid"),
    *("sin", "sinh", "tan", "tanh"),
)
COSTLY = {
    **{f"tile.{name}": 16.0 for name in FUNCTIONS},
    **{f"tile.{name}": 4.0 for name in ("div", "recip", "rem", "sqrt")},
    "tile.pow": 32.0,
    "tile.prng_value": 64.0,
}
"""Cost of an element of ops that are no single instruction, in additions."""

Access = Sequence[IndexExpr]


def kernel_facts(kernel: KernelOp, device: Device | None) -> Facts:
    """Facts of a kernel, for a device; those of a contraction's indices need its domain."""
    if kernel.axes is not None:
        return _row_facts(kernel)
    if kernel.contraction is None:
        return _elementwise_facts(kernel)
    return _facts_around(kernel.contraction, kernel, device)


def _elementwise_facts(kernel: KernelOp) -> Facts:
    """Facts of a kernel without loops over points."""
    access = [IndexExpr.of(index.name) for index in kernel.indices]
    # Parts count as tensors by themselves.
    parts, yielded = kernel.parts, [*enumerate(kernel.yield_op.values)]
    own = [(k, [p.value for p in parts[v]] if v in parts else [v]) for k, v in yielded]
    return Facts(
        kernel.indices,
        _Reader(kernel).reads([v for _, values in own for v in values], access),
        tuple(_tensor(k, v, access) for k, values in own for v in values),
        operations=_cost(kernel.block.ops),
    )


def _facts_around(op: ContractionOp, kernel: KernelOp, device: Device | None) -> Facts:
    """Facts of a contraction, with the ops before and after it in its kernel."""
    reader, found = _Reader(kernel), contraction_facts(op)
    before = [v for v in op.inputs if isinstance(v.owner, Operation)]
    producers = makers(before, {c.result for c in kernel.contractions})
    later = [x for x in kernel.block.ops if x is not op and x not in producers]
    counted = contraction_facts(kernel.count).operations if kernel.count is not None else 0.0
    inputs = reader.operands(op, found, device)
    if counted and tested_axes(op.space(), ranges_of(op)):
        # Points outside are unequal where they are counted: the count has tiles of its own.
        inputs *= 2
    return Facts(
        kernel.indices,
        inputs,
        reader.outputs(op.output.data),
        found.aggregation,
        found.combination,
        found.operations + _cost(producers) + counted,
        reader.reads(kernel.yield_op.values, op.output.data),
        _cost(later),
        found.constraints,
        counts=kernel.count is not None,
        joined_bytes=found.joined_bytes,
        loaded=frozenset(t.number for t in inputs if kernel.values[t.number] not in op.inputs),
    )


def _are_read_again(read: Sequence[Tensor], found: Facts, device: Device | None) -> bool:
    """Whether the inputs of an operand's producers count as reads: they can be staged.

    Where work-items are lanes, it holds only if each serves several results: work-items that share
    sums read across them.
    """
    has_vectors = device is not None and device.traits.has_vectors
    results = {name for name in found.output_indices if found.extents[name] > 1}
    return bool(read) and (has_vectors or not any(t.names.issuperset(results) for t in read))


def contraction_facts(op: ContractionOp) -> Facts:
    """The facts of a contraction by itself, as a kernel of it alone would have them."""
    ranges = op.domain.data if op.domain is not None else ()
    output = {name for e in op.output.data for name in e.names}
    indices = tuple(LoopIndex(name, r, name in output) for name, r in ranges)
    inputs = tuple(
        _tensor(k, value, access.data)
        for k, (value, access) in enumerate(zip(op.inputs, op.accesses, strict=True))
        if not isinstance(value.owner, ConstantOp)
    )
    combination: Combination = op.combination.data
    operators = OPERATORS[combination][: max(len(op.inputs) - 1, 0)]
    return Facts(
        indices,
        inputs,
        (_tensor(0, op.result, op.output.data),),
        str(op.aggregation.data),
        str(combination),
        1.0 + len(operators),
        constraints=op.space().constraints,
        joined_bytes=element_bytes(accumulator_type(op)),
    )


class _Reader:
    """Reads of a kernel's ops: tensors and accesses."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.numbers = {v: k for k, v in enumerate(kernel.values)}

    def operands(
        self, op: ContractionOp, found: Facts, device: Device | None
    ) -> tuple[Tensor, ...]:
        """Reads of a contraction: operands, or the inputs from which these are computed."""
        read: tuple[Tensor, ...] = ()
        for value, access in zip(op.inputs, op.accesses, strict=True):
            if value in self.numbers:
                whole = _tensor(self.numbers[value], value, access.data)
                is_once = found.points <= prod(whole.shape)
                own = self._sources(op, value, whole) if is_once else ()
                read += own if _are_read_again(own, found, device) else (whole,)
        return read

    def _sources(self, op: ContractionOp, value: SSAValue, whole: Tensor) -> tuple[Tensor, ...]:
        """Inputs from which an operand is computed where it is loaded, if all are smaller.

        An operand as large as an input counts as a read itself: so it can be staged, computed.
        """
        found = sources(value, whole.access or ())
        if found is None or any(v in op.inputs for v in found):
            return ()
        read = tuple(_tensor(self.numbers[v], v, access) for v, access in found.items())
        return read if all(prod(t.shape) < prod(whole.shape) for t in read) else ()

    def outputs(self, access: Access) -> tuple[Tensor, ...]:
        """Writes of the kernel, at an access."""
        yielded = self.kernel.yield_op.values
        return tuple(_tensor(k, v, access) for k, v in enumerate(yielded))

    def reads(self, values: Sequence[SSAValue], access: Access) -> tuple[Tensor, ...]:
        """Reads to compute values at an access, up to contractions; each once."""
        found: dict[tuple[int, Access | None], Tensor] = {}
        seen: set[tuple[SSAValue, tuple[IndexExpr, ...] | None]] = set()
        pending: list[tuple[SSAValue, Access | None]] = [(v, access) for v in reversed(values)]
        while pending:
            value, place = pending.pop()
            if isinstance(value, BlockArgument):
                tensor = _tensor(self.numbers[value], value, place)
                found.setdefault((tensor.number, tensor.access), tensor)
            elif (key := (value, None if place is None else tuple(place))) not in seen:
                seen.add(key)
                op = value.owner
                if isinstance(op, ContractionOp) and self.kernel.contraction is None:
                    pending += reversed([*_taps(op, place)])
                else:
                    pending += reversed([*_operands(op, place)])
        return tuple(found.values())


def _operands(
    op: Operation | object, access: Access | None
) -> Iterator[tuple[SSAValue, Access | None]]:
    """Reads of an op to compute its result's element at an access."""
    if not isinstance(op, Operation) or isinstance(op, ContractionOp | ConstantOp | ShapeOp):
        return
    if isinstance(op, GatherOp):
        rank = len(shape(op.indices))
        yield op.tensor, None
        yield op.indices, None if access is None else access[:rank]
        return
    if isinstance(op, PrngValueOp | PrngStateOp | ScatterOp):
        access = None
    for value in op.operands:
        yield value, None if access is None else broadcast_access(value, access)


def _taps(op: ContractionOp, access: Access | None) -> Iterator[tuple[SSAValue, Access | None]]:
    """Reads of the first and the last point that aggregate into an element."""
    assert op.domain is not None
    for end in (0, -1):
        place = {n: IndexExpr.of((r.lower, r.upper - 1)[end]) for n, r in op.domain.data}
        for e, own in zip(op.output.data, access or (), strict=access is not None):
            place.update((n, index_at(e, own)) for n in e.names)
        for value, read in zip(op.inputs, op.accesses, strict=True):
            at = None if access is None else tuple(e.substitute(place) for e in read.data)
            yield value, at
    if op.default is not None:
        yield op.default, access


def _tensor(number: int, value: SSAValue, access: Access | None) -> Tensor:
    t = tensor_type(value).element_type
    place = None if access is None else tuple(access)
    return Tensor(number, shape(value), place, str(t), element_bytes(t))


def _cost(ops: Iterable[Operation]) -> float:
    """Cost of an element of some ops."""
    counted = (op for op in ops if not isinstance(op, ConstantOp | ContractionOp | YieldOp))
    return sum(COSTLY.get(op.name, 1.0) for op in counted)


def makers(values: Iterable[SSAValue], given: Collection[SSAValue]) -> set[Operation]:
    """Ops that compute values from the given ones."""
    found: set[Operation] = set()
    pending = [*values]
    while pending:
        value = pending.pop()
        op = value.owner
        if value not in given and isinstance(op, Operation) and op not in found:
            found.add(op)
            pending += op.operands
    return found


def phases(
    kernel: KernelOp, kept: Collection[SSAValue] = (), early: Collection[ContractionOp] = ()
) -> dict[SSAValue, set[int]]:
    """Phases of a row kernel that need each value: of sums, then of the results.

    A ``kept`` value is computed in the first of them alone. Sums that are ``early`` are in the
    phase of their operands.
    """
    number = _numbers(kernel, early)
    last = max(number.values(), default=0)
    needed: dict[SSAValue, set[int]] = {v: set() for v in (*kernel.block.args, *number)}
    for op in reversed(kernel.block.ops):
        if isinstance(op, ContractionOp) and _aggregates(op, kernel):
            own = {number[op.result] - 1}
        elif isinstance(op, YieldOp):
            own = {last}
        else:
            own = needed[op.results[0]]
            own = {min(own)} if own and op.results[0] in kept else own
        for value in op.operands:
            needed[value] |= own
    return needed


def _aggregates(op: ContractionOp, kernel: KernelOp) -> bool:
    return bool(reduced_by(op, kernel.axes.ranges if kernel.axes is not None else {}))


def _numbers(kernel: KernelOp, early: Collection[ContractionOp] = ()) -> dict[SSAValue, int]:
    """Number of phases of sums after which each value is available."""
    number: dict[SSAValue, int] = {}
    for op in kernel.block.ops:
        after = max((number.get(v, 0) for v in op.operands), default=0)
        after += isinstance(op, ContractionOp) and _aggregates(op, kernel) and op not in early
        number.update(dict.fromkeys(op.results, after))
    return number


def _most_live(kernel: KernelOp, kept: Collection[SSAValue]) -> int:
    """Most kept values in registers at a time: inputs come first of all."""
    needed = phases(kernel, kept)
    spans = [
        (0 if isinstance(v, BlockArgument) else min(needed[v]), max(needed[v]))
        for v in kept
        if needed[v]
    ]
    return max((sum(a <= p < b for a, b in spans) for p, _ in spans), default=0)


def _sums_of_places(kernel: KernelOp, rows: Rows) -> set[SSAValue]:
    """Functions of elements at places of inputs alone that are operands of other ops."""
    found: set[SSAValue] = set()
    for op in kernel.block.ops:
        if isinstance(op, ContractionOp):
            reads = rows.reads(op)
            is_own = all(any(isinstance(axis, int) for axis in along) for along in reads)
        else:
            is_own = bool(op.operands) and all(v in found for v in op.operands)
        found.update(op.results if is_own else ())
    return {v for v in found if any(found.isdisjoint(use.operation.results) for use in v.uses)}


def _row_inputs(kernel: KernelOp, rows: Rows) -> dict[tuple[int, Map], Tensor]:
    """Inputs of a row kernel by number and the axes along which they are read."""

    def read(number: int, value: SSAValue, along: Map) -> Tensor:
        """An input; of places of its first axes, these alone."""
        count = sum(1 for _ in takewhile(lambda axis: isinstance(axis, int), along))
        part = _tensor(number, value, _row_access(along))
        sizes = (1,) * count + part.shape[count:]
        access = (*(IndexExpr(),) * count, *_row_access(along)[count:])
        return replace(part, shape=sizes, access=access)

    numbers: dict[SSAValue, int] = {v: k for k, v in enumerate(kernel.block.args)}
    found: dict[tuple[int, Map], Tensor] = {}
    for op in kernel.block.ops:
        if op.results and not isinstance(op, ConstantOp):
            for value, along in zip(op.operands, rows.reads(op), strict=True):
                if value in numbers:
                    key = numbers[value], along
                    found.setdefault(key, read(key[0], value, along))
    return found


def _row_access(along: Map) -> Access:
    return tuple(IndexExpr() if axis is None else IndexExpr.of(axis) for axis in along)


def _kept_of_rows(
    kernel: KernelOp,
    rows: Rows,
    inputs: Collection[tuple[int, Map]],
    needed: Mapping[SSAValue, Collection[int]],
) -> dict[SSAValue, int]:
    """Values that several passes over rows need, and which to compute or read again costs more than
    to keep, with their numbers."""
    sums_of_places, reduced = _sums_of_places(kernel, rows), kernel.reduced
    kept: dict[SSAValue, int] = {}
    for k, v in enumerate(kernel.values):
        op = v.owner
        maps = [rows.maps[v]] if isinstance(op, Operation) else [m for n, m in inputs if n == k]
        if isinstance(op, Operation):
            is_costly = v in sums_of_places or COSTLY.get(op.name, 1.0) > 1.0
        else:
            is_costly = not any(isinstance(axis, int) for m in maps for axis in m)
        if is_costly and len(needed[v]) > 1 and all(reduced <= set(m) for m in maps):
            kept[v] = k
    return kept


def _row_facts(kernel: KernelOp) -> Facts:
    assert kernel.axes is not None
    rows = Rows.of(kernel.block.ops, kernel.axes.ranges)
    found = _row_inputs(kernel, rows)
    outputs = tuple(
        _tensor(k, v, _row_access(rows.maps[v])) for k, v in enumerate(kernel.yield_op.values)
    )
    passes = passes_of([op for op in kernel.block.ops if op.results], kernel.axes.ranges)
    # Where groups share rows, and keep none, sums are made in the pass of a maximum or a mean.
    fewer = joined(passes, kernel.axes.ranges, guess=True)
    early = {op for own in fewer for op in (*own.sums, *own.welford)}
    unkept = phases(kernel, early=early)
    kept = _kept_of_rows(kernel, rows, found, phases(kernel))
    return Facts(
        kernel.indices,
        tuple(found.values()),
        outputs,
        str(kernel.contractions[0].aggregation.data) if kernel.contractions else None,
        operations=_cost(kernel.block.ops) + len(kernel.contractions),
        is_rows=True,
        kept=tuple(kept.values()),
        live=_most_live(kernel, kept),
        sums=max((len(own.contractions) for own in passes), default=0),
        held=max((own.held for own in fewer), default=0),
        guessed=any(own.welford for own in fewer),
        joined_bytes=sum(
            element_bytes(accumulator_type(op)) for own in passes for op in own.contractions
        ),
        passes=tuple(len(unkept[kernel.values[number]]) for number, _ in found),
    )
