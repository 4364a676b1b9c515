"""Values of a program while it is traced, and the arithmetic on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import tensor
from xdsl.dialects.builtin import IndexType, TensorType, TupleType, VectorType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.lift import values as ops
from tiledialect.dialects.lift.attributes import OrdinalAttr, SizeAttr, size_of
from tiledialect.dialects.lift.layout import SliceOp
from tiledialect.dialects.lift.types import array, describe, is_number, is_real, leading, sizes_of
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise import ops as tile
from tiledialect.errors import SourceSpan, TileError, count
from tiledialect.index.size import Size
from tiledialect.ir.names import give_name
from tiledialect.lift.numpy_names import UFUNCS, unsupported
from tiledialect.lift.scalar_ops import constant, conversion, meeting_type, number_type, scalar_op
from tiledialect.lift.signatures import Signature, signature_of
from tiledialect.lift.tracing import emit, place

AnySize = int | str | Size
"""A number, a text such as ``"N / 4"``, or a size."""


def to_size(size: object, where: SourceSpan | None) -> Size:
    """The size that the user gave."""
    try:
        if isinstance(size, str):
            found = size_of(size)
            if any(name.startswith("_") for name in found.names):
                raise TileError(f"the name of a size does not begin with '_': {size!r}")
            return found
        if isinstance(size, int | np.integer | Size) and not isinstance(size, bool):
            return Size.of(int(size) if isinstance(size, np.integer) else size)
    except TileError as error:
        raise TileError(error.message, where) from None
    raise TileError(f"{size!r} is no size: give a number or a text such as 'N / 4'", where)


def _with_step(step: object) -> str:
    """Hint of the patterns for the elements that a slice with a step would give."""
    if step == -1:
        return ": use x >> lift.gather(lambda i, n: n - 1 - i)"
    if isinstance(step, int) and step > 1:
        return f": use x >> lift.split({step}) >> lift.map(lambda part: part[0])"
    return ""


class NoAttributeError(TileError, AttributeError):
    """A value has no attribute of this name: `hasattr` is false."""


class Value:
    """A number, a vector, a tuple or an array of the program that is traced.

    ``x >> f`` applies a function, ``x[i]`` is an element or a component, ``x[a:b]`` a slice.
    Numbers and arrays have ``+ - * / // % ** < <= > >= == != & | ~``, elementwise.

    Example:
    ```python
    differences = lift.fun(lift.array("N"), lambda x: x[1:] - x[:-1])
    assert td.compile(differences).reference(np.float32([1, 4, 6])).tolist() == [3, 2]
    ```
    """

    def __init__(self, ssa: SSAValue):
        self.ssa = ssa

    @property
    def type(self) -> Attribute:
        """The type in the IR."""
        return self.ssa.type

    @property
    def size(self) -> Size:
        """Number of elements of an array."""
        return leading(self.array_type("size"))

    def array_type(self, what: str) -> TensorType[Attribute]:
        """The type of a value that must be an array."""
        if isinstance(self.type, TensorType) and self.type.get_num_dims():
            return self.type
        raise TileError(f"{what} takes an array, but {describe(self.ssa)} is {self.type}", place())

    def __repr__(self) -> str:
        return f"<{describe(self.ssa)}: {self.type}>"

    def __rshift__(self, function: Callable[..., Any]) -> Any:
        return call(function, self)

    def __iter__(self) -> Iterator[Value]:
        if not isinstance(self.type, TupleType):
            kind = "an array" if isinstance(self.type, TensorType) else "a number"
            raise TileError(f"{describe(self.ssa)} is {kind}, no tuple: map over arrays", place())
        return (self[k] for k in range(len(self.type.types)))

    def __getitem__(self, key: Any) -> Value:
        where = place()
        if isinstance(key, slice):
            return self._slice(key, where)
        if isinstance(key, tuple):
            raise TileError("x[i, j] is x[i][j]; lift.map takes slices of inner axes", where)
        if isinstance(self.type, TensorType):
            index = key if isinstance(key, Value) else size_value(self._end(key, where), where)
            return Value(emit(lambda: ops.AtOp.make(self.ssa, index.ssa), where))
        if not isinstance(key, int) or key < 0:
            raise TileError(f"a component of a tuple is chosen by a number, not {key!r}", where)
        return Value(emit(lambda: ops.GetOp.make(self.ssa, index=OrdinalAttr(key)), where))

    def _end(self, place: AnySize, where: SourceSpan | None) -> Size:
        """A place in an array: a number below 0 counts from the end."""
        found = to_size(place, where)
        if found.value is None or found.value >= 0:
            return found
        if self.size.value is not None and self.size.value < -found.value:
            raise TileError(
                f"{describe(self.ssa)} has {self.size} elements: there is no place {place}", where
            )
        return self.size + found

    def _slice(self, key: Any, where: SourceSpan | None) -> Value:
        if key.step is not None:
            raise TileError(f"a slice has no step{_with_step(key.step)}", where)
        start = self._end(0 if key.start is None else key.start, where)
        stop = self.size if key.stop is None else self._end(key.stop, where)
        return Value(
            emit(lambda: SliceOp.make(self.ssa, start=SizeAttr(start), stop=SizeAttr(stop)), where)
        )

    # -- protocols of Python and NumPy -----------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Value:
        """NumPy's numbers leave arithmetic with values to them; its functions know none."""
        name = UFUNCS.get(ufunc.__name__)
        if method == "__call__" and name is not None and not options:
            # A number of NumPy's comes as an array without axes.
            plain = [v.item() if isinstance(v, np.ndarray) and not v.ndim else v for v in inputs]
            return binary(name, *plain)
        raise TileError(unsupported(f"np.{ufunc.__name__}", ufunc.__name__), place())

    def __array_function__(self, function: Any, *_: Any) -> Value:
        raise TileError(unsupported(f"np.{function.__name__}", function.__name__), place())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NoAttributeError(unsupported(f"x.{name}", name), place())

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TileError(
            "elements of arrays are not changed: make an array, as with lift.concat or lift.where",
            place(),
        )

    def __matmul__(self, other: Any) -> Any:
        raise TileError(unsupported("x @ y", "dot"), place())

    __rmatmul__ = __matmul__

    def __round__(self, digits: int | None = None) -> Any:
        raise TileError(unsupported("round(a)", "round"), place())

    def __divmod__(self, other: Any) -> Any:
        raise TileError(unsupported("divmod(a, b)", "divmod"), place())

    __rdivmod__ = __divmod__

    def __xor__(self, other: Any) -> Any:
        raise TileError(unsupported("a ^ b", "bitwise_xor"), place())

    __rxor__ = __xor__

    def __lshift__(self, other: Any) -> Any:
        raise TileError(unsupported("a << n", "left_shift"), place())

    __rlshift__ = __lshift__

    def __rrshift__(self, other: Any) -> Any:
        raise TileError(unsupported("n >> a", "right_shift"), place())

    def __float__(self) -> float:
        raise TileError(
            f"{describe(self.ssa)} is not known yet, so that no function of the module math or "
            "float() takes it: use lift's, such as lift.sqrt(a) or lift.cast(a, lift.f32)",
            place(),
        )

    def __index__(self) -> int:
        raise TileError(
            f"{describe(self.ssa)} is not known yet, so that neither range nor int() takes it: "
            "lift.map and lift.reduce go through arrays, lift.cast(a, lift.i32) converts",
            place(),
        )

    __int__ = __index__

    def __len__(self) -> int:
        if isinstance(self.type, TupleType):
            return len(self.type.types)
        size = f"it has {self.size} elements: " if isinstance(self.type, TensorType) else ""
        raise TileError(
            f"the length of {describe(self.ssa)} is no number of Python's; {size}"
            "x.size is a size for patterns, lift.size(x.size) a number of the program",
            place(),
        )

    def __bool__(self) -> bool:
        raise TileError("the value is not known yet: choose with lift.where", place())

    def __add__(self, other: Any) -> Value:
        return binary("add", self, other)

    def __radd__(self, other: Any) -> Value:
        return binary("add", other, self)

    def __sub__(self, other: Any) -> Value:
        return binary("sub", self, other)

    def __rsub__(self, other: Any) -> Value:
        return binary("sub", other, self)

    def __mul__(self, other: Any) -> Value:
        return binary("mul", self, other)

    def __rmul__(self, other: Any) -> Value:
        return binary("mul", other, self)

    def __truediv__(self, other: Any) -> Value:
        return binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Value:
        return binary("div", other, self)

    def __floordiv__(self, other: Any) -> Value:
        return binary("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Value:
        return binary("floordiv", other, self)

    def __mod__(self, other: Any) -> Value:
        return self - (self // other) * other

    def __rmod__(self, other: Any) -> Value:
        return other - (other // self) * self

    def __pow__(self, other: Any) -> Value:
        return binary("pow", self, other)

    def __rpow__(self, other: Any) -> Value:
        return binary("pow", other, self)

    def __neg__(self) -> Value:
        return unary("neg", self)

    def __abs__(self) -> Value:
        return unary("abs", self)

    def __invert__(self) -> Value:
        kind = number_of(self)
        if kind is not None and is_real(kind):
            raise TileError(f"~a takes integers and truth values, not {kind}", place())
        return binary("cmp_eq", self, False) if kind == i1 else binary("sub", -1, self)

    def __lt__(self, other: Any) -> Value:
        return binary("cmp_lt", self, other)

    def __le__(self, other: Any) -> Value:
        return binary("cmp_le", self, other)

    def __gt__(self, other: Any) -> Value:
        return binary("cmp_gt", self, other)

    def __ge__(self, other: Any) -> Value:
        return binary("cmp_ge", self, other)

    def __eq__(self, other: Any) -> Any:
        return binary("cmp_eq", self, other)

    def __ne__(self, other: Any) -> Any:
        return binary("cmp_ne", self, other)

    __hash__ = object.__hash__

    def __and__(self, other: Any) -> Value:
        return binary("bit_and", self, other)

    def __or__(self, other: Any) -> Value:
        return binary("bit_or", self, other)


def call(function: Callable[..., Any], *args: Value) -> Value:
    """Apply a function of the user's."""
    return apply(function, signature_of(function), args, place())


def apply(
    function: Callable[..., Any], of: Signature, args: Sequence[Any], where: SourceSpan | None
) -> Value:
    """Apply a function to values; a single tuple is taken apart for one of several parameters."""
    if len(args) == 1 and of.arity not in (1, None):
        (pair,) = args
        if isinstance(pair, Value) and isinstance(pair.type, TupleType):
            args = tuple(pair)
            for value, hint in zip(args, of.parameters, strict=False):
                give_name(value.ssa, hint)
    if of.arity is not None and of.arity != len(args):
        takes = count(of.arity, "value", "values")
        raise TileError(f"{of.name} takes {takes}, not {len(args)}", where)
    return to_value(function(*args), None, where)


# -- values of the user -------------------------------------------------------------------------


def to_value(value: Any, like: Attribute | None, where: SourceSpan | None) -> Value:
    """The value, tuple of values or number that the user gave; numbers are made of type ``like``.

    Without such a type, a real number is of the first real type in ``like``, or f32.
    """
    if isinstance(value, Value):
        return value
    if isinstance(value, list | tuple):
        parts = like.types.data if isinstance(like, TupleType) else ()
        kinds = parts if len(parts) == len(value) else [like] * len(value)
        found = [to_value(v, t, where).ssa for v, t in zip(value, kinds, strict=True)]
        return Value(emit(lambda: ops.TupleOp.make(*found), where))
    number = value.item() if isinstance(value, np.generic) else value
    if not isinstance(number, bool | int | float):
        raise TileError(f"{value!r} is neither a value of the program nor a number", where)
    return Value(emit(lambda: constant(number, number_type(number, like)), where))


def size_value(size: AnySize, where: SourceSpan | None) -> Value:
    """A size as an integer of the program."""
    found = to_size(size, where)
    return Value(emit(lambda: ops.SizeOp.make(size=SizeAttr(found)), where))


# -- arithmetic ----------------------------------------------------------------------------------

TILE: dict[str, type[Operation]] = {
    **{op.name.removeprefix("tile."): op for op in tile.ELEMENTWISE_OPS},
    "quotient": tile.DivOp,
}
"""The ops on arrays; `quotient` is of integers, rounded toward zero."""


def binary(name: str, left: Any, right: Any) -> Value:
    """An operation on two values, of which one may be a number of Python's."""
    where = place()
    like = number_of(left if isinstance(left, Value) else right)
    a, b = (to_value(v, like if is_number_like(v) else None, where) for v in (left, right))
    return elementwise(name, (a, b), where)


def is_number_like(value: object) -> bool:
    """Whether it is a number of Python's or NumPy's."""
    return not isinstance(value, Value | list | tuple)


def number_of(value: Any) -> Attribute | None:
    """Type of the numbers of a value, or none of a plain number."""
    if not isinstance(value, Value):
        return None
    t = value.type
    return t.element_type if isinstance(t, TensorType | VectorType) else t


def unary(name: str, value: Any) -> Value:
    """An operation on one value."""
    where = place()
    return elementwise(name, (to_value(value, None, where),), where)


def elementwise(name: str, values: Sequence[Value], where: SourceSpan | None) -> Value:
    """The operation on numbers, on vectors, or on the elements of arrays."""
    if any(isinstance(v.type, TensorType) for v in values):
        return _on_arrays(name, values, where)
    for v in values:
        if isinstance(v.type, TupleType):
            raise TileError(
                f"{name} takes numbers, but {describe(v.ssa)} is {v.type}: take a component", where
            )
    meeting = meeting_type(name, [v.type for v in values], where)
    operands = [converted(v, meeting, where).ssa for v in values]
    return Value(emit(lambda: scalar_op(name, operands), where))


def _on_arrays(name: str, values: Sequence[Value], where: SourceSpan | None) -> Value:
    if name in COMPOSED:
        return COMPOSED[name](*values)
    if name not in TILE:
        raise TileError(f"there is no {name} of whole arrays: map it", where)
    if name == "div" and not any(_is_real(v) for v in values):
        # As of numbers; `//` is the quotient of integers.
        values = [cast(v, et.CONCRETE["f32"]) for v in values]
    shapes = {
        sizes: v for v in values if isinstance(v.type, TensorType) and (sizes := sizes_of(v.type))
    }
    if len(shapes) > 1:
        text = " and ".join(
            f"{describe(v.ssa)} ({' x '.join(map(str, sizes))})" for sizes, v in shapes.items()
        )
        raise TileError(f"{name} takes arrays of the same sizes, not {text}", where)
    operands = [as_tensor(v, where).ssa for v in values]

    def make() -> Operation:
        op = TILE[name].create(operands=operands, result_types=[et.any_type])
        assert isinstance(op, tile.ElementwiseOp)
        element_type = op.inferred_type().element_type
        op.detach()
        op.erase()
        t = array(next(iter(shapes), ()), element_type)
        return TILE[name].create(operands=operands, result_types=[t])

    return Value(emit(make, where))


def _is_real(value: Value) -> bool:
    t = number_of(value)
    return t is not None and et.is_float(t)


def _floor_quotient(a: Value, b: Value) -> Value:
    """The quotient rounded down, and 0 where integers are divided by 0."""
    if _is_real(a) or _is_real(b):
        return unary("floor", a / b)
    where = place()
    quotient, rest = (_on_arrays(name, (a, b), where) for name in ("quotient", "rem"))
    below = (rest != 0) & (b != 0) & ((rest < 0) != (b < 0))
    t = number_of(quotient)
    assert t is not None
    return quotient - cast(below, t)


def _reciprocal_root(a: Value) -> Value:
    return 1.0 / unary("sqrt", a)


COMPOSED: dict[str, Callable[..., Value]] = {
    "floordiv": _floor_quotient,
    "rsqrt": _reciprocal_root,
}
"""Operations on arrays that are several ops."""


def as_tensor(value: Value, where: SourceSpan | None) -> Value:
    """A number as a tensor without axes."""
    if isinstance(value.type, TensorType):
        return value
    if isinstance(value.type, IndexType):
        value = converted(value, et.CONCRETE["i32"], where)
    t = TensorType(value.type, [])
    make = tensor.FromElementsOp.create
    return Value(emit(lambda: make(operands=[value.ssa], result_types=[t]), where))


# -- conversions ---------------------------------------------------------------------------------


def converted(value: Value, t: Attribute, where: SourceSpan | None) -> Value:
    """A number as a number of another type."""
    if value.type == t:
        return value
    make = conversion(value.type, t)
    if make is None:
        raise TileError(f"{describe(value.ssa)} is {value.type}, which cannot become {t}", where)
    return Value(emit(lambda: make(value.ssa), where))


def cast(value: Any, t: Attribute) -> Value:
    """A number, or the numbers of an array, in another type.

    Example: ``lift.cast(x / 2, lift.i32)``
    """
    where = place()
    if not isinstance(t, Attribute) or not is_number(t):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(f"cast takes a type of numbers, such as lift.f32, not {t!r}", where)
    found = to_value(value, None, where)
    if isinstance(found.type, TensorType):
        shape = sizes_of(found.type)

        def make() -> Operation:
            return tile.CastOp.create(operands=[found.ssa], result_types=[array(shape, t)])

        return Value(emit(make, where))
    return converted(found, t, where)
