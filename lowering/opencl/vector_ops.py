"""Vectors in OpenCL C: the ops of vector, loads and stores among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.dialects.utils import get_dynamic_index_list
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.lowering.opencl import helpers
from tiledialect.lowering.opencl.buffers import Buffer, Load, MemoryScope, Write, address, pointer
from tiledialect.lowering.opencl.combining import (
    Combine,
    extremum,
    float_operator,
    function,
    function_of_unsigned,
    plain,
    wrapping,
)
from tiledialect.lowering.opencl.types import (
    PRIMARY,
    UNARY,
    CType,
    Expr,
    Scope,
    binary,
    call,
    cast,
    int_literal,
    literal,
    negative,
    reads,
    splat,
)


def vector_pointer(
    scope: MemoryScope, base: SSAValue, indices: Sequence[SSAValue], type: Attribute
) -> tuple[Buffer, Expr, CType]:
    """Buffer, pointer and type of a contiguous vector in memory."""
    buffer, place, lanes = _vector_place(scope, base, indices, type)
    return buffer, pointer(buffer, place), lanes


def _vector_place(
    scope: MemoryScope, base: SSAValue, indices: Sequence[SSAValue], type: Attribute
) -> tuple[Buffer, Expr, CType]:
    """Buffer, address and type of a contiguous vector in memory."""
    buffer = scope.buffer(base)
    lanes = scope.ctype(type)
    if not buffer.strides or buffer.strides[-1].value != 1:
        raise scope.error(f"the last dimension of {base.type} is not contiguous")
    return buffer, address(scope, buffer, indices), lanes


def bits_of(type: CType) -> CType:
    """Type in memory of halves and of truth values, as numbers; any other type unchanged."""
    match type.kind:
        case "half":
            return replace(type, base="short", bits=16, kind="int")
        case "bool":
            return replace(type, base="uchar", bits=8, kind="int")
        case _:
            return type


def is_aligned(op: Operation, type: CType) -> bool:
    """Whether an access to a vector has an `alignment` of the whole vector.

    Then it is one of OpenCL C's vectors in memory, which GPUs load at once, unlike `vload`.
    """
    alignment = op.attributes.get("alignment")
    return (
        isinstance(alignment, IntegerAttr)
        and type.kind not in ("half", "bool")
        and type.lanes in (2, 4, 8, 16)
        and alignment.value.data >= type.lanes * type.storage_bytes
    )


def _emit_vector_load(scope: MemoryScope, op: Operation) -> Expr:
    assert isinstance(op, vector.LoadOp)
    buffer, start, type = _vector_place(scope, op.base, op.indices, op.result.type)
    if type.kind == "half":
        place = pointer(buffer, start)
        name = "vloada_half" if is_aligned(op, bits_of(type)) else "vload_half"
        value = Expr(f"{name}{type.lanes}(0, {place.text})", reads=reads(place))
        return value._replace(bits=_loaded(scope, op, buffer, start, bits_of(type)))
    result = _loaded(scope, op, buffer, start, bits_of(type))
    if type.kind != "bool":
        return result
    return binary("!=", call(f"convert_{type.name}", result), literal(0, replace(type, kind="int")))


def _loaded(scope: MemoryScope, op: Operation, buffer: Buffer, start: Expr, type: CType) -> Expr:
    """A vector in memory; a buffer of halves as their bits.

    Where a work-item runs long loops, whole vectors of an address are the offset of `vload`: sums
    of a pointer and a constant leave the loop in Intel's compiler, and each needs a register.
    """
    place, ahead = pointer(buffer, start), 0
    if is_aligned(op, type):
        return Expr(f"*(const {buffer.space} {type.name} *)({place.text})", UNARY, reads(place))
    operator, moving, constant = start.compound or ("", start, start)
    count = constant.value if scope.is_lone and operator == "+" else None
    if isinstance(count, int) and count % type.lanes == 0:
        place, ahead = pointer(buffer, moving), count // type.lanes
    if buffer.type.kind == "half":
        place = Expr(f"(const {buffer.space} short *)({place.text})", UNARY, reads(place))
    return Expr(f"vload{type.lanes}({ahead}, {place.text})", reads=reads(place))


def _print_vector_store(scope: MemoryScope, op: Operation) -> None:
    assert isinstance(op, vector.StoreOp)
    buffer, place, type = vector_pointer(scope, op.base, op.indices, op.vector.type)
    value = scope.expr(op.vector)
    if value.bits and buffer.type.kind == "half":
        value, type = value.bits, bits_of(type)
        place = Expr(f"({buffer.space} short *)({place.text})", UNARY, reads(place))
    elif buffer.type.kind == "half" and is_streamed(op, buffer, type):
        value = call(helpers.half_to_bits(scope, type), value.unrounded_float or value)
        type = bits_of(type)
        place = Expr(f"({buffer.space} short *)({place.text})", UNARY, reads(place))
    elif buffer.type.kind == "half":
        value = value.unrounded or value
        name = "vstorea_half" if is_aligned(op, bits_of(type)) else "vstore_half"
        scope.line(f"{name}{type.lanes}_rte({value.text}, 0, {place.text});")
        return
    elif type.kind == "bool":
        value, type = call(f"convert_uchar{type.lanes}", negative(value)), bits_of(type)
    if is_streamed(op, buffer, type):
        name = helpers.stream(scope, type, replace(type, lanes=1))
        scope.line(f"{name}({value.text}, {place.text});")
        return
    if is_aligned(op, type):
        scope.line(f"*({buffer.space} {type.name} *)({place.text}) = {value.assigned};")
        return
    scope.line(f"vstore{type.lanes}({value.text}, 0, {place.text});")


def is_streamed(op: vector.StoreOp, buffer: Buffer, type: CType) -> bool:
    """Whether a store goes past the caches."""
    streams = op.properties.get("nontemporal") == BoolAttr.from_bool(True)
    return streams and buffer.space == "__global" and type.lanes in (2, 4, 8, 16)


def _emit_broadcast(scope: MemoryScope, op: Operation) -> Expr:
    e = scope.expr(op.operands[0])
    type = scope.ctype(op.results[0].type)
    if isinstance(op.operands[0].type, VectorType):
        if op.operands[0].type != op.results[0].type:
            raise scope.error(f"no broadcast from {op.operands[0].type} to {op.results[0].type}")
        return e
    if e.value is not None:
        return literal(e.value, type)
    return splat(negative(cast("int", e)) if type.kind == "bool" else e, type)


def _emit_fma(scope: MemoryScope, op: Operation) -> Expr:
    """A product and a sum that -cl-mad-enable contracts: some compilers call a function for
    ``fma`` on vectors."""
    a, b, c = (scope.expr(operand) for operand in op.operands)
    type = scope.ctype(op.results[0].type)
    product = float_operator("*")(scope, replace(type, kind="float"), a, b)
    return float_operator("+")(scope, type, product, c)


def lane(e: Expr, type: CType, position: int) -> Expr:
    """Lane of a vector."""
    result = _element(e, position)
    return binary("!=", result, int_literal(0, 32)) if type.kind == "bool" else result


def _element(e: Expr, position: int) -> Expr:
    """Lane in the form of the vector."""
    # Oclgrind dies of lanes of constants, or calls them uninitialized.
    return e.splat or Expr(f"{e.at(PRIMARY)}.s{position:x}", reads=reads(e))


def single_position(
    scope: Scope, static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]
) -> int | SSAValue:
    """The position of an extract or insert."""
    positions = get_dynamic_index_list(static.get_values(), dynamic, DYNAMIC_INDEX)
    if len(positions) != 1:
        raise scope.error("OpenCL C has only vectors of one dimension")
    return positions[0]


def _emit_extract(scope: MemoryScope, op: Operation) -> Expr:
    assert isinstance(op, vector.ExtractOp)
    type = scope.ctype(op.vector.type)
    position = single_position(scope, op.static_position, op.dynamic_position)
    e = scope.expr(op.vector)
    if isinstance(position, int):
        return lane(e, type, position)
    name = helpers.dynamic_element(scope, type, scope.ctype(position.type), insert=False)
    result = call(name, e, scope.expr(position))
    return binary("!=", result, int_literal(0, 32)) if type.kind == "bool" else result


def _emit_shuffle(scope: MemoryScope, op: Operation) -> Expr:
    assert isinstance(op, vector.ShuffleOp)
    type = scope.ctype(op.result.type)
    sources = [scope.ctype(v.type) for v in op.operands]
    a, b = (scope.expr(v) for v in op.operands)
    split = sources[0].lanes
    # A lane of -1 may be anything.
    mask = [max(p, 0) for p in op.mask.get_values()]
    taken = {(a if p < split else b).splat for p in mask}
    if len(taken) == 1 and (e := taken.pop()):
        return splat(e, type)
    if all(p < split for p in mask):
        return Expr(f"{a.at(PRIMARY)}.s{''.join(f'{p:x}' for p in mask)}", reads=reads(a))
    # By elements: Oclgrind's search for uninitialized memory dies of `(float8)(a, b)`.
    lanes = [_element(a, p) if p < split else _element(b, p - split) for p in mask]
    return Expr(f"({type.name})({', '.join(e.alone for e in lanes)})", UNARY, reads(*lanes))


REDUCTIONS: dict[str, Combine] = {
    "add": wrapping("+"),
    "mul": wrapping("*"),
    "minsi": function("min"),
    "maxsi": function("max"),
    "minui": function_of_unsigned("min"),
    "maxui": function_of_unsigned("max"),
    "and": plain("&"),
    "or": plain("|"),
    "xor": plain("^"),
    "minnumf": function("fmin"),
    "maxnumf": function("fmax"),
    "minimumf": extremum("minimum"),
    "maximumf": extremum("maximum"),
}


FLOAT_REDUCTIONS: dict[str, Combine] = {"add": float_operator("+"), "mul": float_operator("*")}


def _emit_reduction(scope: MemoryScope, op: Operation) -> Expr:
    """Lane by lane, from the accumulator on, as without ``reassoc``."""
    assert isinstance(op, vector.ReductionOp)
    type = scope.ctype(op.vector.type)
    if type.kind == "bool":
        raise scope.error(f"no reduction of {op.vector.type}")
    kind = op.kind.data.value
    combine = FLOAT_REDUCTIONS.get(kind, REDUCTIONS[kind]) if type.is_float else REDUCTIONS[kind]
    e = scope.expr(op.vector)
    lanes = [lane(e, type, i) for i in range(type.lanes)]
    if op.acc is not None:
        lanes.insert(0, scope.expr(op.acc))
    return reduce(lambda a, b: combine(scope, type.lane, a, b), lanes)


def _emit_vector_bitcast(scope: MemoryScope, op: Operation) -> Expr:
    source, type = scope.ctype(op.operands[0].type), scope.ctype(op.results[0].type)
    e = scope.expr(op.operands[0])
    if source == type:
        return e
    if {"bool", "half"} & {source.kind, type.kind}:
        raise scope.error(f"no bitcast from {op.operands[0].type} to {op.results[0].type}")
    return call(f"as_{type.name}", e)


VECTOR_LOADS: dict[type[Operation], Load] = {
    vector.LoadOp: _emit_vector_load,
}
VECTOR_EXPRESSIONS: dict[type[Operation], Load] = {
    vector.BroadcastOp: _emit_broadcast,
    vector.FMAOp: _emit_fma,
    vector.ExtractOp: _emit_extract,
    vector.ShuffleOp: _emit_shuffle,
    vector.ReductionOp: _emit_reduction,
    vector.BitcastOp: _emit_vector_bitcast,
}
VECTOR_WRITES: dict[type[Operation], Write] = {
    vector.StoreOp: _print_vector_store,
}
