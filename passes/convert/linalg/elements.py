"""Values at the points of a loop nest: elements of tensors at affine accesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add, mul

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination, symbol, symbol_number
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.constants import ConstantOp, constant_integer
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import CastOp, ElementwiseOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.index.expr import Access, Constraint, IndexExpr
from tiledialect.ir.tensor_builder import TensorBuilder, same_shape

INDEX = IndexType()

Size = int | SSAValue
"""Size of an axis or a loop; a value where it is not known yet."""


@dataclass(frozen=True)
class Element:
    """Element of a tensor at each point of a loop nest; a number has no axes."""

    value: SSAValue
    access: Access = ()

    @property
    def element_type(self) -> Attribute:
        """The element type of the tensor."""
        return tensor_type(self.value).element_type


def loops_of(access: Access) -> tuple[str, ...] | None:
    """The loops of an access that is of different ones, and of nothing else; else None."""
    names = [e.variable for e in access]
    found = tuple(name for name in names if name is not None)
    return found if len(set(found)) == len(names) else None


def filled(value: SSAValue) -> SSAValue | None:
    """The number, without axes, that all elements of a tensor are, if that is plain."""
    op = value.owner
    if isinstance(op, ContractionOp) and len(op.inputs) == 1 and not op.constraints.data:
        is_fill = not op.accesses.data[0].data and loops_of(op.output.data) is not None
        return op.inputs[0] if is_fill and op.default is None else None
    return value if isinstance(op, ConstantOp) else None


@dataclass
class Space:
    """Loop nest, in which elements are combined by ops before one that is converted."""

    builder: TensorBuilder
    ranges: Mapping[str, Size]
    """Number of steps of each loop, outermost first."""

    def apply(self, op: type[ElementwiseOp], *elements: Element | int | float) -> Element:
        """Combine elements by an elementwise op."""
        made = [e if isinstance(e, Element) else Element(self.builder.number(e)) for e in elements]
        values, access = self.align(made)
        return Element(self.builder.op(op, *values), access)

    def cast(self, element: Element, t: Attribute) -> Element:
        """An element in another type."""
        if element.element_type == t:
            return element
        return Element(self.builder.insert(CastOp.to(element.value, t)), element.access)

    def align(self, elements: Sequence[Element]) -> tuple[list[SSAValue], Access]:
        """Tensors that broadcast to one access, with it."""
        indexed = [e for e in elements if e.access]
        if not indexed:
            return [e.value for e in elements], ()
        first = indexed[0]
        if all(
            e.access == first.access
            and (loops_of(e.access) is not None or same_shape(e.value, first.value))
            for e in indexed
        ):
            return [e.value for e in elements], first.access
        used = {name for e in indexed for expr in e.access for name in expr.names}
        frames = (loops_of(e.access) for e in indexed)
        in_order = tuple(name for name in self.ranges if name in used)
        frame = next((f for f in frames if f is not None and set(f) == used), in_order)
        values = [self._spread(e, frame) if e.access else e.value for e in elements]
        return values, tuple(map(IndexExpr.of, frame))

    def _spread(self, element: Element, frame: Sequence[str]) -> SSAValue:
        """A tensor that broadcasts to the loops of a frame."""
        used = {name for expr in element.access for name in expr.names}
        own = tuple(name for name in frame if name in used)
        if loops_of(element.access) != own:
            element = self.at_loops(element, own)
        if own == tuple(frame[len(frame) - len(own) :]):
            return element.value
        first = next(k for k, name in enumerate(frame) if name in used)
        sizes = [self.ranges[n] if n in used else 1 for n in frame[first:]]
        return self.builder.insert(ReshapeOp.of(element.value, sizes))

    def at_loops(self, element: Element, loops: Sequence[str]) -> Element:
        """An element of a tensor whose axes are loops."""
        access = tuple(map(IndexExpr.of, loops))
        value = self.contract(
            *(Aggregation.assign, Combination.none),
            *(access, [self.ranges[name] for name in loops], [element]),
        )
        return Element(value, access)

    def contract(
        self,
        aggregation: Aggregation,
        combination: Combination,
        output: Access,
        shape: Sequence[Size],
        elements: Sequence[Element],
        *,
        default: SSAValue | None = None,
        loops: Sequence[str] = (),
        constraints: Sequence[Constraint] = (),
        is_wide: bool = False,
        symbols: Symbols | None = None,
    ) -> SSAValue:
        """A contraction over the loops of the accesses, and over ``loops``."""
        symbols = Symbols() if symbols is None else symbols
        accesses = (output, *(e.access for e in elements))
        bounded = {expr.variable for access in accesses for expr in access}
        exprs = (e for access in (*accesses, [c.expr for c in constraints]) for e in access)
        used = [name for expr in exprs for name in expr.names]
        ranges = [
            Constraint(IndexExpr.of(name), symbols.expr(self.ranges[name]))
            for name in dict.fromkeys((*used, *loops))
            if name not in bounded and symbol_number(name) is None
        ]
        return self.builder.insert(
            ContractionOp(
                aggregation,
                combination,
                output,
                [(e.value, e.access) for e in elements],
                [*constraints, *ranges],
                shape=tuple(s if isinstance(s, int) else DYNAMIC_INDEX for s in shape),
                symbols=symbols.values,
                sizes=[s for s in shape if isinstance(s, SSAValue)],
                default=default,
                is_wide=is_wide,
            )
        )

    def shape(self, value: SSAValue) -> list[Size]:
        """The sizes of a tensor's axes."""
        return sizes_of(self.builder, value)

    def place(
        self,
        element: Element,
        output: Access,
        shape: Sequence[Size],
        t: Attribute,
        initial: SSAValue | None,
    ) -> SSAValue:
        """A tensor of an element at each place; elsewhere of the initial value."""
        if et.is_weak(element.element_type) or element.element_type != t:
            element = self.cast(element, t)
        own = tuple(s if isinstance(s, int) else DYNAMIC_INDEX for s in shape)
        is_same = element.access == output and loops_of(output) is not None
        if is_same and shape_of(tensor_type(element.value)) == own:
            return element.value
        covers = self.covers(output, shape)
        return self.contract(
            *(Aggregation.assign, Combination.none, output, shape, [element]),
            default=None if covers else initial,
        )

    def covers(self, output: Access, shape: Sequence[Size]) -> bool:
        """Whether the places of an access are surely all of a tensor."""
        kept = [e for e, n in zip(output, shape, strict=True) if n != 1 or e]
        return loops_of(tuple(kept)) is not None


def sizes_of(builder: TensorBuilder, value: SSAValue) -> list[Size]:
    """The sizes of a tensor's axes."""
    rank = len(shape_of(tensor_type(value)) or ())
    return [builder.size(value, axis) for axis in range(rank)]


def size_sum(builder: TensorBuilder, sizes: Sequence[Size]) -> Size:
    """The sum of sizes."""
    return _folded(builder, arith.AddiOp, sizes, 0)


def size_product(builder: TensorBuilder, sizes: Sequence[Size]) -> Size:
    """The product of sizes."""
    return _folded(builder, arith.MuliOp, sizes, 1)


def _folded(
    builder: TensorBuilder,
    op: type[arith.AddiOp | arith.MuliOp],
    sizes: Sequence[Size],
    neutral: int,
) -> Size:
    join = add if op is arith.AddiOp else mul
    number = reduce(join, (s for s in sizes if isinstance(s, int)), neutral)
    values = [s for s in sizes if isinstance(s, SSAValue)]
    if not values:
        return number
    if number != neutral:
        values.append(builder.insert(arith.ConstantOp.from_int_and_width(number, INDEX)))
    return reduce(lambda a, b: builder.insert(op(a, b)), values)


@dataclass
class Symbols:
    """Symbol operands of a contraction."""

    values: list[SSAValue] = field(default_factory=list[SSAValue])

    def expr(self, size: Size) -> IndexExpr:
        """A size as an index expression."""
        if isinstance(size, int):
            return IndexExpr.of(size)
        if (number := constant_integer(size)) is not None:
            return IndexExpr.of(number)
        if size not in self.values:
            self.values.append(size)
        return IndexExpr.of(symbol(self.values.index(size)))
