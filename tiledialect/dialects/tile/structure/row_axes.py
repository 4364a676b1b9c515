"""Row kernels: several contractions over named axes, and along which of them each value lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.base import Shape, name_of, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.index.expr import IndexExpr, Range

Map = tuple[str | int | None, ...]
"""The axis of the kernel along which each axis of a value lies; None along one of size 1; of an
input maybe the place at which it is read."""

OPEN = ""
"""Stands in maps for an axis that is not known yet."""

Axes = Mapping[str, Range]


def names_in(exprs: Iterable[IndexExpr]) -> set[str]:
    """The names in index expressions."""
    return {name for e in exprs for name in e.names}


def reduced_by(op: ContractionOp, axes: Axes) -> set[str]:
    """Axes over which a contraction aggregates; axes of size 1 do not count."""
    read = names_in(e for access in op.accesses for e in access.data)
    return {n for n in read - names_in(op.output.data) if n not in axes or axes[n].extent > 1}


def shape(value: SSAValue) -> Shape:
    """The shape of a value in a kernel, where all are known."""
    return shape_of(tensor_type(value)) or ()


def is_input(value: SSAValue) -> bool:
    """Whether a value in a kernel is an input of it."""
    return isinstance(value, BlockArgument)


def place_read(e: IndexExpr, size: int) -> int | None:
    """The place at which an expression reads an axis of a size, if it is one alone of several."""
    is_place = not e.names and e.denominator == 1 and 0 <= e.constant < size and size > 1
    return int(e.constant) if is_place else None


def broadcast_map(target: Map, value: SSAValue) -> Map:
    """Axes of an operand that an elementwise op reads if its result lies along ``target``."""
    own = shape(value)
    aligned = target[len(target) - len(own) :]
    return tuple(None if size == 1 else a for a, size in zip(aligned, own, strict=True))


@dataclass(frozen=True)
class Rows:
    """Along which axes the values that a row kernel computes lie.

    Every contraction reads and writes at the axes themselves, so that a point of the axes reads
    one element of each value, and aggregations are over some axes, for all rows alike.
    """

    axes: Axes
    maps: dict[SSAValue, Map]

    @staticmethod
    def of(ops: Iterable[Operation], axes: Axes) -> Rows:
        """The rows of a kernel's body.

        Raises:
            VerifyException: it is no row kernel over these axes.
        """
        rows = Rows(axes, maps := {})
        for name, r in axes.items():
            if r.lower != 0 or r.extent < 1:
                raise VerifyException(f"the axis {name} of a kernel begins at 0, and is not empty")
        ops = [op for op in ops if op.results or isinstance(op, YieldOp)]
        for op in ops:
            if isinstance(op, ContractionOp):
                maps[op.result] = rows._contraction(op)
            elif isinstance(op, ElementwiseOp):
                maps[op.res] = rows._elementwise(op)
            elif not isinstance(op, ConstantOp | YieldOp):
                raise VerifyException(
                    "a tile.kernel with axes has contractions and elementwise ops, not "
                    f"{op.name} ({name_of(op.results[0])})"
                )
        if any(OPEN in found for found in maps.values()):
            maps.update(rows._settled(ops))
        for op in ops:
            rows._check_reads(op)
        return rows

    def reads(self, op: Operation) -> list[Map]:
        """Axes along which an op reads each operand."""
        if isinstance(op, ContractionOp):
            pairs = zip(op.inputs, op.accesses, strict=True)
            return [self._map(v, a.data, has_places=is_input(v)) for v, a in pairs]
        if isinstance(op, YieldOp):
            return [self._of_rows(v) for v in op.operands]
        return [broadcast_map(self.maps[op.results[0]], v) for v in op.operands]

    def _contraction(self, op: ContractionOp) -> Map:
        name = name_of(op.result)
        if op.constraints.data or op.symbols or op.default is not None:
            raise VerifyException(
                f"{name} is in a kernel with axes: it can have no constraint and no default"
            )
        ranges = op.domain.ranges if op.domain is not None else {}
        for index, r in ranges.items():
            if r != self.axes.get(index, r):
                raise VerifyException(f"{index} is {r} in {name}, not {self.axes[index]}")
        found = self._map(op.result, op.output.data)
        _check_different(name, found)
        return found

    def _map(
        self, value: SSAValue, access: Sequence[IndexExpr], *, has_places: bool = False
    ) -> Map:
        """Axes along which an access of index expressions reads a value, or places if it may."""
        found: list[str | int | None] = []
        for k, (e, size) in enumerate(zip(access, shape(value), strict=True)):
            (name,) = e.names if len(e.names) == 1 else (None,)
            if name is not None and name not in self.axes:
                raise VerifyException(f"{name} is no axis of the kernel that has {name_of(value)}")
            if size == 1 and (not e or (name is not None and self.axes[name].extent == 1)):
                found.append(None)
            elif has_places and (place := place_read(e, size)) is not None:
                found.append(place)
            elif name is None or e != IndexExpr.of(name) or self.axes[name].extent != size:
                raise VerifyException(
                    f"axis {k} of {name_of(value)} is read at {e}, which is no axis of the kernel "
                    f"of size {size}"
                )
            else:
                found.append(name)
        return tuple(found)

    def _elementwise(self, op: ElementwiseOp) -> Map:
        """Axes of an elementwise result: each as in an operand that is computed here.

        A tensor of all axes has them in order; of fewer axes some may be open.
        """
        sizes = shape(op.res)
        operands = [self.maps[v] for v in op.operands if v in self.maps]
        others = [*self.axes] if len(sizes) == len(self.axes) else [OPEN] * len(sizes)
        found: list[str | int | None] = []
        for k, size in enumerate(sizes, -len(sizes)):
            axes = {own[k] for own in operands if len(own) >= -k} - {None, OPEN}
            found.append(None if size == 1 else next(iter(axes), others[k]))
        return tuple(found)

    def _of_rows(self, value: SSAValue) -> Map:
        """Axes of a result: the open ones are the axes over which nothing aggregates."""
        found = self.maps.get(value, ())
        if OPEN not in found:
            return found
        reduced = {n for v in self.maps for n in self._reduced(v)}
        own = [n for n, r in self.axes.items() if r.extent > 1 and n not in (*reduced, *found)]
        if found.count(OPEN) != len(own):
            return found
        rest = iter(own)
        return tuple(next(rest) if axis == OPEN else axis for axis in found)

    def _reduced(self, value: SSAValue) -> set[str]:
        op = value.owner
        return reduced_by(op, self.axes) if isinstance(op, ContractionOp) else set()

    def _settled(self, ops: Sequence[Operation]) -> Mapping[SSAValue, Map]:
        """Maps completed by the users and the operands of values whose operands leave axes open.

        The last ones, if nothing tells.
        """
        rows, before = Rows(self.axes, dict(self.maps)), {}
        ops = [op for op in ops if any(map(self._is_open, (*op.operands, *op.results)))]
        while before != rows.maps:
            before = dict(rows.maps)
            for op in (*reversed(ops), *ops):
                rows._tell(op)
        for op in ops:
            rows._tell(op)
            for value in op.results:
                rank = len(rows.maps.get(value, ()))
                # A tensor of more axes than the kernel keeps open ones, and is refused.
                rows._fill(value, ([OPEN] * rank + [*self.axes])[len(self.axes) :])
        return rows.maps

    def _is_open(self, value: SSAValue) -> bool:
        return OPEN in self.maps.get(value, ())

    def _tell(self, op: Operation) -> None:
        """Fill in the open axes of an op's operands and results."""
        for value, read in zip(op.operands, self.reads(op), strict=True):
            self._fill(value, read)
        if isinstance(op, ElementwiseOp) and op.res in self.maps:
            self._fill(op.res, self._elementwise(op))

    def _fill(self, value: SSAValue, axes: Sequence[str | int | None]) -> None:
        if OPEN in (found := self.maps.get(value, ())):
            pairs = zip(found, axes, strict=True)
            self.maps[value] = tuple(new if old == OPEN else old for old, new in pairs)

    def _check_reads(self, op: Operation) -> None:
        """Refuse an op that reads a value that is computed here anywhere but where it lies."""
        for value, read in zip(op.operands, self.reads(op), strict=True):
            if read == self.maps.get(value, read):
                continue
            name = name_of(op.results[0])
            if isinstance(op, ContractionOp):
                raise VerifyException(f"{name} reads {name_of(value)} at elements of other rows")
            self._check_axes(name, [a == b for a, b in zip(read, self.maps[value], strict=True)])
        if isinstance(op, ElementwiseOp):
            places = zip(self.maps[op.res], shape(op.res), strict=True)
            extents = {name: r.extent for name, r in self.axes.items()}
            fits = [a is None or extents.get(str(a)) == n for a, n in places]
            self._check_axes(name_of(op.res), fits)
            _check_different(name_of(op.res), self.maps[op.res])

    def _check_axes(self, name: str, are_own: Sequence[bool]) -> None:
        if not all(are_own):
            k = are_own.index(False)
            raise VerifyException(f"axis {k} of {name} is none of the kernel's axes alone")


def _check_different(name: str, axes: Map) -> None:
    used = [axis for axis in axes if axis is not None]
    if len(set(used)) != len(used):
        raise VerifyException(f"{name} lies along one axis of the kernel twice")


def check_results(rows: Rows, results: Sequence[SSAValue], reduced: set[str]) -> None:
    """Refuse results that several work-groups would write.

    Raises:
        VerifyException: which one.
    """
    own = {name for name, r in rows.axes.items() if r.extent > 1 and name not in reduced}
    for value in results:
        if isinstance(value, BlockArgument) or value not in rows.maps:
            raise VerifyException(f"{name_of(value)} is not computed in the kernel that gives it")
        if missing := sorted(own - set(rows.maps[value])):
            raise VerifyException(
                f"{name_of(value)} is the same for all {missing[0]}: "
                "a kernel with axes gives values of its rows"
            )
