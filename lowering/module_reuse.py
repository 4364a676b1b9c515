"""Reuse of modules: a program gets the kernels of the same program for another batch, resized.

Splits, fusion, and the axes that are joined are decided for one size of a batch. For another one
each axis along the batch gets another size, in a copy. That takes modules whose axes are linked
with those of inputs and results: then nothing else depends on the size of the batch.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    Float64Type,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from tiledialect.analysis.linked_axes import LinkedAxes, Place, shape
from tiledialect.dialects.tile.attributes import DomainAttr
from tiledialect.dialects.tile.base import Shape
from tiledialect.dialects.tile.constants import ConstantOp
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.index.expr import Range
from tiledialect.ir.names import with_type
from tiledialect.ir.ops_in import has_one_block, ops_in, ops_of
from tiledialect.ir.structural_hash import attributes_text

KEPT = 4
"""Number of sizes of a program whose modules are kept, the last ones."""
MOST_GROWTH = 2
"""Largest ratio of two batches."""
PLAIN = (0, 1)
"""Numbers that passes need for any size."""


Number: TypeAlias = IntegerAttr[IndexType] | FloatAttr[Float64Type]
"""Value of a constant."""


class _OtherSizeError(Exception):
    """Something depends on a size in a way that is not known."""


@dataclass(frozen=True)
class Form:
    """A module in normal form: its sizes and numbers, and the rest."""

    rest: Hashable
    shapes: Sequence[Shape]
    """Shapes of all values."""
    domains: Sequence[DomainAttr]
    """Ranges of the indices of contractions."""
    numbers: Sequence[Number]
    """Values of constants. Copies of these constants hold the same objects, and constants that
    passes make hold others: an equal number may follow another size."""

    @staticmethod
    def of(module: ModuleOp) -> Form | None:
        """The form of a module of a function without nested ops; None of others."""
        function = _function(module)
        if function is None or any(op.regions for op in function.body.block.ops):
            return None
        values = {v: k for k, v in enumerate(_values(function))}
        given = {k: a for k, a in function.properties.items() if k != "function_type"}
        rest: list[Hashable] = [attributes_text(module), *given.items()]
        rest += function.attributes.items()
        domains: list[DomainAttr] = []
        numbers: list[Number] = []
        for op in function.body.block.ops:
            given = op.properties | op.attributes
            if isinstance(op, ConstantOp):
                numbers.append(op.value)
                del given["value"]
            elif isinstance(op, ContractionOp) and op.domain is not None:
                domains.append(op.domain)
                del given["domain"]
            operands = tuple(values[v] for v in op.operands)
            rest.append((op.name, operands, frozenset(given.items()), len(op.results)))
        rest += map(_kind, values)
        return Form(tuple(rest), [shape(v) for v in values], domains, numbers)

    def has_numbers(self, module: ModuleOp) -> bool:
        """Whether a module that this one becomes has no other constants, but for plain ones."""
        own = {*map(id, self.numbers)}
        return all(id(op.value) in own or op.number in PLAIN for op in ops_of(module, ConstantOp))


@dataclass(frozen=True)
class _Change:
    """Another size of the batch."""

    ratio: Fraction
    """The new size to the old one."""
    numbers: Mapping[int, Number]
    """New numbers by the identities of old ones."""

    @staticmethod
    def between(old: Form, new: Form, function: func.FuncOp) -> _Change:
        """The change from one form to that of a function."""
        if old.rest != new.rest:
            raise _OtherSizeError
        sizes = [
            (m, n)
            for a, b in zip(old.shapes, new.shapes, strict=True)
            for m, n in zip(a, b, strict=True)
        ]
        ratios = {Fraction(n, m) for m, n in sizes if m != n and m and n}
        ratio = max(ratios, default=Fraction())
        if len(ratios) != 1 or not 1 <= MOST_GROWTH * ratio <= MOST_GROWTH**2:
            raise _OtherSizeError
        numbers: dict[int, Number] = {}
        for m, n in zip(old.numbers, new.numbers, strict=True):
            # Plain constants that passes make may be merged with one of the program.
            is_mixed = m != n and m.value.data in PLAIN
            if is_mixed or numbers.setdefault(id(m), n) != n:
                raise _OtherSizeError
        change = _Change(ratio, numbers)
        change._check(function, old, new, {m for m, n in sizes if m != n})
        return change

    def _check(self, function: func.FuncOp, old: Form, new: Form, lengths: Collection[int]) -> None:
        """Raise an error if anything but the size of the batch changes, or has it by chance."""
        links = LinkedAxes.of(function)
        scales = _Scales(links, self.ratio)
        for value, a, b in zip(_values(function), old.shapes, new.shapes, strict=True):
            scales.give(value, a, b)
        given = {links.root((v, k)) for v in _outside(function) for k in range(len(shape(v)))}
        for value, a in zip(_values(function), old.shapes, strict=True):
            for k, size in enumerate(a):
                root = links.root((value, k))
                if root not in given and not scales.known[root] and size in lengths:
                    raise _OtherSizeError
        domains = iter(zip(old.domains, new.domains, strict=True))
        for op in function.body.block.ops:
            if isinstance(op, ContractionOp) and op.domain is not None:
                then, now = next(domains)
                if scales.domain(then, op) != now:
                    raise _OtherSizeError


@dataclass
class _Scales:
    """The classes of linked axes that are along the batch, and those that are not."""

    links: LinkedAxes
    ratio: Fraction
    known: dict[Place, bool] = field(init=False)

    def __post_init__(self) -> None:
        if not self.links.is_whole:
            raise _OtherSizeError
        self.known = {self.links.root(place): False for place in self.links.fixed}

    def give(self, value: SSAValue, old: Shape, new: Shape) -> None:
        """Note the sizes of a value."""
        for k, (m, n) in enumerate(zip(old, new, strict=True)):
            is_scaled = m != n
            if is_scaled and (min(m, n) < 2 or n != m * self.ratio):
                raise _OtherSizeError
            if self.known.setdefault(self.links.root((value, k)), is_scaled) != is_scaled:
                raise _OtherSizeError

    def size(self, place: Place, old: int) -> int:
        """The new size of an axis, or number of values of an index."""
        is_scaled = self.known.get(self.links.root(place))
        new = old * self.ratio
        if is_scaled is False or (is_scaled is None and (old < 2 or new.denominator > 1)):
            return old
        # An axis that nothing is linked with may be along the batch, or not.
        if is_scaled is None or new.denominator > 1 or min(old, new) < 2:
            raise _OtherSizeError
        return int(new)

    def shape(self, value: SSAValue) -> Shape:
        """The new shape of a value."""
        return tuple(self.size((value, k), n) for k, n in enumerate(shape(value)))

    def domain(self, old: DomainAttr, owner: Operation) -> DomainAttr:
        """The new ranges of the indices of a contraction, or of a row kernel."""
        # Indices that start elsewhere are not linked.
        return DomainAttr(
            tuple((n, Range(r.lower, self.size((owner, n), r.upper))) for n, r in old.data)
        )


@dataclass(eq=False)
class _Kept:
    """A module in normal form, and what it became."""

    form: Form
    function: func.FuncOp
    """The function of kernels."""

    @cached_property
    def links(self) -> LinkedAxes:
        """The linked axes of the function of kernels."""
        return LinkedAxes.of(self.function)

    def resized(self, form: Form, function: func.FuncOp) -> func.FuncOp:
        """The function of kernels for a function in another form."""
        change = _Change.between(self.form, form, function)
        scales = _Scales(self.links, change.ratio)
        for value, other in zip(_outside(self.function), _outside(function), strict=True):
            scales.give(value, shape(value), shape(other))
        copy = self.function.clone()
        for old, new in zip(_values(self.function), [*_values(copy)], strict=True):
            t = new.type
            assert isinstance(t, TensorType)
            if (sizes := scales.shape(old)) != t.get_shape():
                with_type(new, TensorType(t.element_type, sizes, t.encoding))
        owner: Operation | None = None
        for old, new in zip(ops_in(self.function), ops_in(copy), strict=True):
            match new:
                case KernelOp():
                    owner = old if new.axes is not None else None
                    if new.axes is not None:
                        new.axes = scales.domain(new.axes, old)
                case ContractionOp() if new.domain is not None:
                    new.domain = scales.domain(new.domain, owner or old)
                case ConstantOp():
                    new.properties["value"] = change.numbers.get(id(new.value), new.value)
                case _:
                    pass
        args, last = copy.body.block.arg_types, copy.body.block.last_op
        assert last is not None
        copy.function_type = FunctionType.from_lists(args, last.operand_types)
        return copy


@dataclass(eq=False)
class KeptModules:
    """The modules of a program for some sizes, decided for each of them."""

    kept: list[_Kept] = field(default_factory=list[_Kept])

    def resize(self, module: ModuleOp, form: Form) -> bool:
        """Give a module of this form the kernels of another one; whether that is possible."""
        function = _function(module)
        assert function is not None
        for own in reversed(self.kept):
            try:
                Rewriter.replace_op(function, own.resized(form, function))
            except _OtherSizeError:
                continue
            return True
        return False

    def keep(self, form: Form, module: ModuleOp) -> None:
        """Keep what a module of this form became."""
        function = _function(module)
        if function is not None:
            self.kept = [*self.kept, _Kept(form, function.clone())][-KEPT:]


def _function(module: ModuleOp) -> func.FuncOp | None:
    """The function of a module of one function, of one block."""
    ops = [*module.ops]
    if len(ops) != 1 or not isinstance(ops[0], func.FuncOp) or not has_one_block(ops[0]):
        return None
    return ops[0]


def _values(function: func.FuncOp) -> Iterator[SSAValue]:
    """All values of a function, in order."""
    for op in ops_in(function):
        for region in op.regions:
            yield from region.block.args
        yield from op.results


def _outside(function: func.FuncOp) -> tuple[SSAValue, ...]:
    """The inputs and results of a function."""
    last = function.body.block.last_op
    assert last is not None
    return *function.body.block.args, *last.operands


def _kind(value: SSAValue) -> Hashable:
    t = value.type
    return (t.element_type, t.encoding, t.get_num_dims()) if isinstance(t, TensorType) else t
