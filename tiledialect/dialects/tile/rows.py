"""Row kernels: several contractions over named axes, and along which of them each value lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.base import Shape, name_of, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ConstantOp, ElementwiseOp
from tiledialect.index.expr import IndexExpr, Range

Map = tuple[str | None, ...]
"""The axis of the kernel along which each axis of a value lies; None along one of size 1."""

Axes = Mapping[str, Range]


def names_in(exprs: Iterable[IndexExpr]) -> set[str]:
    """The names in index expressions."""
    return {name for e in exprs for name in e.names}


def reduced_by(op: ContractionOp, axes: Axes) -> set[str]:
    """The axes that a contraction aggregates over; those of size 1 do not count."""
    read = names_in(e for access in op.accesses for e in access.data)
    return {n for n in read - names_in(op.output.data) if n not in axes or axes[n].extent > 1}


def shape(value: SSAValue) -> Shape:
    """The shape of a value in a kernel, where all are known."""
    return shape_of(tensor_type(value)) or ()


def broadcast_map(target: Map, value: SSAValue) -> Map:
    """Where an elementwise op whose result lies along ``target`` reads an operand."""
    own = shape(value)
    aligned = target[len(target) - len(own) :]
    return tuple(None if size == 1 else a for a, size in zip(aligned, own, strict=True))


@dataclass(frozen=True)
class Rows:
    """Along which axes the values that a row kernel computes lie.

    Every contraction reads and writes at the axes themselves, so that a point of the axes reads
    one element of each value, and what is aggregated is so over some axes, for all rows alike.
    """

    axes: Axes
    maps: Mapping[SSAValue, Map]

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
        for op in ops:
            if isinstance(op, ContractionOp):
                maps[op.result] = rows._contraction(op)
            elif isinstance(op, ElementwiseOp):
                maps[op.res] = rows._elementwise(op)
            elif op.results and not isinstance(op, ConstantOp):
                raise VerifyException(
                    "a tile.kernel with axes has contractions and elementwise ops, not "
                    f"{op.name} ({name_of(op.results[0])})"
                )
        return rows

    def reads(self, op: Operation) -> list[Map]:
        """Where an op reads each operand."""
        if isinstance(op, ContractionOp):
            return [self._map(v, a.data) for v, a in zip(op.inputs, op.accesses, strict=True)]
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
        used = [a for a in found if a is not None]
        if len(set(used)) != len(used):
            raise VerifyException(f"{name} lies along one axis of the kernel twice")
        for value, access in zip(op.inputs, op.accesses, strict=True):
            if isinstance(value.owner, ConstantOp):
                continue
            if self._map(value, access.data) != self.maps.get(value, self._map(value, access.data)):
                raise VerifyException(f"{name} reads {name_of(value)} at elements of other rows")
        return found

    def _map(self, value: SSAValue, access: Sequence[IndexExpr]) -> Map:
        """Where an access of index expressions reads a value."""
        found: list[str | None] = []
        for k, (e, size) in enumerate(zip(access, shape(value), strict=True)):
            (name,) = e.names if len(e.names) == 1 else (None,)
            if name is not None and name not in self.axes:
                raise VerifyException(f"{name} is no axis of the kernel that has {name_of(value)}")
            if size == 1 and (not e or (name is not None and self.axes[name].extent == 1)):
                found.append(None)
            elif name is None or e != IndexExpr.of(name) or self.axes[name].extent != size:
                raise VerifyException(
                    f"axis {k} of {name_of(value)} is read at {e}, which is no axis of the kernel "
                    f"of size {size}"
                )
            else:
                found.append(name)
        return tuple(found)

    def _elementwise(self, op: ElementwiseOp) -> Map:
        """Each axis lies where that of an operand that is computed here does, else the last do."""
        sizes, name = shape(op.res), name_of(op.res)
        last = [*self.axes][len(self.axes) - len(sizes) :]
        found: list[str | None] = []
        for k, size in enumerate(sizes):
            axes = {
                self.maps[v][k - len(sizes)]
                for v in op.operands
                if v in self.maps and len(self.maps[v]) >= len(sizes) - k
            } - {None}
            if size > 1 and not axes and len(sizes) <= len(self.axes):
                axes = {last[k]}
            if size > 1 and (len(axes) != 1 or self.axes[str(min(axes, key=str))].extent != size):
                raise VerifyException(f"axis {k} of {name} is none of the kernel's axes alone")
            found.append(axes.pop() if axes else None)
        return tuple(found)


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
