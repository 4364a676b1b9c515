"""Loads, stores and sizes of memrefs in OpenCL C; printers by op class."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Operation

from tiledialect.lowering.opencl.atomics import ATOMICS
from tiledialect.lowering.opencl.buffers import (
    Buffer,
    Load,
    MemoryScope,
    Write,
    address,
    half_pointer,
)
from tiledialect.lowering.opencl.types import ADD, Expr, binary, int_literal, literal, reads
from tiledialect.lowering.opencl.vector_ops import VECTOR_EXPRESSIONS, VECTOR_LOADS, VECTOR_WRITES


def _emit_load(scope: MemoryScope, op: Operation) -> Expr:
    assert isinstance(op, memref.LoadOp)
    buffer = scope.buffer(op.memref)
    place = address(scope, buffer, op.indices)
    if buffer.type.kind == "half":
        value = Expr(f"vload_half({place.text}, {half_pointer(buffer).text})", reads=reads(place))
        return value._replace(bits=half_bits(buffer, place, "const "))
    element = Expr(_element(scope, buffer, place), reads=reads(place))
    return binary("!=", element, int_literal(0, 32)) if buffer.type.kind == "bool" else element


def _element(scope: MemoryScope, buffer: Buffer, place: Expr) -> str:
    """An element; where a work-item runs long loops, constants are added to the pointer.

    PoCL's compiler widens every sum of `int` by itself, as it cannot tell that none overflows.
    """
    operator, a, b = place.compound or ("", place, place)
    if scope.is_lone and operator in ("+", "-") and isinstance(b.value, int):
        offset = -b.value if operator == "-" else b.value
        return f"({buffer.base} + {a.at(ADD)})[{int_literal(offset, 64).text}]"
    return f"{buffer.base}[{place.text}]"


def _print_store(scope: MemoryScope, op: Operation) -> None:
    assert isinstance(op, memref.StoreOp)
    buffer = scope.buffer(op.memref)
    place = address(scope, buffer, op.indices)
    value = scope.expr(op.value)
    if value.bits and buffer.type.kind == "half":
        scope.line(f"{half_bits(buffer, place).text} = {value.bits.assigned};")
        return
    if buffer.type.kind == "half":
        value = value.unrounded or value
        scope.line(f"vstore_half_rte({value.text}, {place.text}, {half_pointer(buffer).text});")
        return
    element = f"{buffer.base}[{place.text}]"
    scope.line(assignment(element, value))


def half_bits(buffer: Buffer, place: Expr, const: str = "") -> Expr:
    """The bits of a half in memory."""
    return Expr(f"(({const}{buffer.space} short *){buffer.base})[{place.text}]", reads=reads(place))


def assignment(target: str, value: Expr) -> str:
    """An assignment, with ``+=`` where C has that."""
    if value.compound:
        operator, a, b = value.compound
        if operator in ("+", "*") and b.text == target:
            a, b = b, a
        if operator in ("+", "-", "*", "/") and a.text == target:
            return f"{target} {operator}= {b.text};"
    return f"{target} = {value.assigned};"


def _emit_dim(scope: MemoryScope, op: Operation) -> Expr:
    assert isinstance(op, memref.DimOp)
    index = scope.expr(op.index).value
    shape = op.source.type.get_shape() if isinstance(op.source.type, MemRefType) else ()
    if not isinstance(index, int) or not 0 <= index < len(shape):
        raise scope.error("the dimension is not a constant of the type")
    if shape[index] == DYNAMIC_INDEX:
        raise scope.error(f"dimension {index} of {op.source.type} is not known")
    return literal(shape[index], scope.ctype(op.result.type))


def _emit_rank(scope: MemoryScope, op: Operation) -> Expr:
    assert isinstance(op, memref.RankOp)
    assert isinstance(op.source.type, MemRefType)
    return literal(op.source.type.get_num_dims(), scope.ctype(op.rank.type))


LOADS: dict[type[Operation], Load] = {
    memref.LoadOp: _emit_load,
    **VECTOR_LOADS,
}
MEMORY_EXPRESSIONS: dict[type[Operation], Load] = {
    memref.DimOp: _emit_dim,
    memref.RankOp: _emit_rank,
    **VECTOR_EXPRESSIONS,
}
WRITES: dict[type[Operation], Write] = {
    memref.StoreOp: _print_store,
    **VECTOR_WRITES,
    **ATOMICS,
}
