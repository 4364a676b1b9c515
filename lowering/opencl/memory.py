"""Buffers, addresses, loads and stores in OpenCL C: the ops of memref and vector."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    VectorType,
)
from xdsl.dialects.utils import get_dynamic_index_list
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.lowering.opencl import helpers
from tiledialect.lowering.opencl.ops import (
    Combine,
    extremum,
    float_operator,
    function,
    function_of_unsigned,
    plain,
    wrapping,
)
from tiledialect.lowering.opencl.types import (
    ADD,
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

GLOBAL, LOCAL, PRIVATE = "__global", "__local", "__private"
SPACES = {0: GLOBAL, 1: GLOBAL, 3: LOCAL, 5: PRIVATE}


@dataclass(frozen=True)
class Address:
    """A number of elements: a constant and a sum of terms."""

    constant: int = 0
    terms: tuple[Expr, ...] = ()

    def plus(self, factor: Expr, stride: Expr) -> Address:
        """The address ``factor * stride`` elements further."""
        if isinstance(factor.value, int) and isinstance(stride.value, int):
            return replace(self, constant=self.constant + factor.value * stride.value)
        if stride.value == 1:
            term = factor
        elif factor.value == 1:
            term = stride
        elif 0 in (factor.value, stride.value):
            return self
        else:
            term = binary("*", factor, stride)
        return replace(self, terms=(*self.terms, term))

    @property
    def expr(self) -> Expr:
        """The sum in C."""
        if not self.terms:
            return int_literal(self.constant, 64)
        text = " + ".join(t.at(ADD) for t in self.terms)
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        alone = len(self.terms) == 1 and not self.constant
        return Expr(text, self.terms[0].precedence if alone else ADD, reads(*self.terms))


@dataclass(frozen=True)
class Buffer:
    """A memref: a pointer, and where in it the elements lie."""

    base: str
    space: str
    type: CType
    """The C type of an element."""
    strides: tuple[Expr, ...]
    offset: Address = Address()


class MemoryScope(Scope):
    """A scope that knows buffers and can print statements."""

    @abstractmethod
    def buffer(self, value: SSAValue) -> Buffer:
        """Where a memref lies."""

    @abstractmethod
    def line(self, text: str) -> None:
        """Print a line."""

    @abstractmethod
    def define(self, value: SSAValue, e: Expr) -> None:
        """Declare a variable for a result, if it is used."""


def layout(scope: Scope, type: Attribute) -> tuple[Address | None, tuple[Expr, ...]]:
    """Offset (None if it is not in the type) and strides of a memref type."""
    if not isinstance(type, MemRefType):
        raise scope.error(f"no buffer of type {type}")
    strides = type.get_strides()
    if strides is None or any(s is None for s in strides):
        raise scope.error(f"the strides of {type} are not known")
    offset = type.get_offset()
    return (
        None if offset is None else Address(offset),
        tuple(int_literal(s, 64) for s in strides if s is not None),
    )


def space_of(scope: Scope, type: Attribute, default: str) -> str:
    """The address space of a memref type."""
    space = type.memory_space if isinstance(type, MemRefType) else NoneAttr()
    if isinstance(space, NoneAttr):
        return default
    number = space.value.data if isinstance(space, IntegerAttr) else None
    if number not in SPACES:
        raise scope.error(f"no memory space {space}; it has 1 (global), 3 (local), 5 (private)")
    return default if number == 0 else SPACES[number]


def element_type(scope: Scope, type: Attribute) -> CType:
    """The C type of the elements of a memref type."""
    if not isinstance(type, MemRefType):
        raise scope.error(f"no buffer of type {type}")
    result = scope.ctype(type.element_type)
    if result.is_vector:
        raise scope.error(f"no buffer of vectors: {type}")
    return result


def address(scope: MemoryScope, buffer: Buffer, indices: Sequence[SSAValue]) -> Expr:
    """The number of elements from the base to an element."""
    result = buffer.offset
    for index, stride in zip(indices, buffer.strides, strict=True):
        result = result.plus(scope.expr(index), stride)
    return result.expr


def pointer(buffer: Buffer, offset: Expr) -> Expr:
    """The pointer to the element at an address."""
    base = half_pointer(buffer)
    return (
        base if offset.value == 0 else Expr(f"{base.text} + {offset.at(ADD)}", ADD, reads(offset))
    )


def half_pointer(buffer: Buffer) -> Expr:
    """The base. Arrays of halves are declared as ushort, since not every device has half."""
    if buffer.type.kind == "half" and buffer.space != GLOBAL:
        return Expr(f"({buffer.space} half *){buffer.base}", UNARY)
    return Expr(buffer.base)


# Scalars


def _emit_load(scope: MemoryScope, op: Operation) -> Expr:
    assert isinstance(op, memref.LoadOp)
    buffer = scope.buffer(op.memref)
    place = address(scope, buffer, op.indices)
    if buffer.type.kind == "half":
        value = Expr(f"vload_half({place.text}, {half_pointer(buffer).text})", reads=reads(place))
        return replace(value, bits=half_bits(buffer, place, "const "))
    element = Expr(f"{buffer.base}[{place.text}]", reads=reads(place))
    return binary("!=", element, int_literal(0, 32)) if buffer.type.kind == "bool" else element


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


# Vectors


def vector_pointer(
    scope: MemoryScope, base: SSAValue, indices: Sequence[SSAValue], type: Attribute
) -> tuple[Buffer, Expr, CType]:
    """Buffer, pointer and type of a contiguous vector in memory."""
    buffer = scope.buffer(base)
    lanes = scope.ctype(type)
    if not buffer.strides or buffer.strides[-1].value != 1:
        raise scope.error(f"the last dimension of {base.type} is not contiguous")
    return buffer, pointer(buffer, address(scope, buffer, indices)), lanes


def bits_of(type: CType) -> CType:
    """The type of the bits of halves; any other type as it is."""
    return replace(type, base="short", bits=16, kind="int") if type.kind == "half" else type


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
    buffer, place, type = vector_pointer(scope, op.base, op.indices, op.result.type)
    if type.kind == "half":
        function = "vloada_half" if is_aligned(op, bits_of(type)) else "vload_half"
        value = Expr(f"{function}{type.lanes}(0, {place.text})", reads=reads(place))
        return replace(value, bits=_loaded(op, buffer, place, bits_of(type)))
    result = _loaded(op, buffer, place, type)
    if type.kind != "bool":
        return result
    return binary("!=", call(f"convert_{type.name}", result), literal(0, replace(type, kind="int")))


def _loaded(op: Operation, buffer: Buffer, place: Expr, type: CType) -> Expr:
    """A vector in memory; a buffer of halves as their bits."""
    if is_aligned(op, type):
        return Expr(f"*(const {buffer.space} {type.name} *)({place.text})", UNARY, reads(place))
    if buffer.type.kind == "half":
        place = Expr(f"(const {buffer.space} short *)({place.text})", UNARY, reads(place))
    return Expr(f"vload{type.lanes}(0, {place.text})", reads=reads(place))


def _print_vector_store(scope: MemoryScope, op: Operation) -> None:
    assert isinstance(op, vector.StoreOp)
    buffer, place, type = vector_pointer(scope, op.base, op.indices, op.vector.type)
    value = scope.expr(op.vector)
    if value.bits and buffer.type.kind == "half":
        value, type = value.bits, bits_of(type)
        place = Expr(f"({buffer.space} short *)({place.text})", UNARY, reads(place))
    elif buffer.type.kind == "half":
        value = value.unrounded or value
        function = "vstorea_half" if is_aligned(op, bits_of(type)) else "vstore_half"
        scope.line(f"{function}{type.lanes}_rte({value.text}, 0, {place.text});")
        return
    if is_aligned(op, type):
        scope.line(f"*({buffer.space} {type.name} *)({place.text}) = {value.assigned};")
        return
    if type.kind == "bool":
        value = call(f"convert_uchar{type.lanes}", negative(value))
    scope.line(f"vstore{type.lanes}({value.text}, 0, {place.text});")


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
    """One lane of a vector."""
    result = Expr(f"{e.at(PRIMARY)}.s{position:x}", reads=reads(e))
    return binary("!=", result, int_literal(0, 32)) if type.kind == "bool" else result


def single_position(
    scope: Scope, static: DenseArrayBase, dynamic: Sequence[SSAValue]
) -> int | SSAValue:
    """The position of an extract or insert."""
    positions = get_dynamic_index_list(static.get_values(), dynamic, DYNAMIC_INDEX)  # pyright: ignore
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
    if all(p < split for p in mask):
        return Expr(f"{a.at(PRIMARY)}.s{''.join(f'{p:x}' for p in mask)}", reads=reads(a))
    lanes = [
        f"{a.at(PRIMARY)}.s{p:x}" if p < split else f"{b.at(PRIMARY)}.s{p - split:x}" for p in mask
    ]
    return Expr(f"({type.name})({', '.join(lanes)})", UNARY, reads(a, b))


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


# Atomic updates. MLIR's arith::AtomicRMWKind: name, OpenCL C's function on integers of 32 bits.
ATOMIC_KINDS: dict[int, tuple[str, str | None]] = {
    0: ("addf", None), 1: ("addi", "atomic_add"), 2: ("assign", "atomic_xchg"),
    3: ("maximumf", None), 4: ("maxs", "atomic_max"), 5: ("maxu", "atomic_max"),
    6: ("minimumf", None), 7: ("mins", "atomic_min"), 8: ("minu", "atomic_min"),
    9: ("mulf", None), 10: ("muli", None), 11: ("ori", "atomic_or"), 12: ("andi", "atomic_and"),
    13: ("maxnumf", None), 14: ("minnumf", None), 15: ("xori", "atomic_xor"),
}  # fmt: skip
ATOMIC_LOOPS: dict[str, Combine] = {
    "addf": float_operator("+"),
    "mulf": float_operator("*"),
    "muli": wrapping("*"),
    "maximumf": extremum("maximum"),
    "minimumf": extremum("minimum"),
    "maxnumf": function("fmax"),
    "minnumf": function("fmin"),
}


def _print_atomic(scope: MemoryScope, op: Operation) -> None:
    assert isinstance(op, memref.AtomicRMWOp)
    buffer = scope.buffer(op.memref)
    kind, name = ATOMIC_KINDS.get(op.kind.value.data, (f"kind {op.kind.value.data}", None))
    value = scope.expr(op.value)
    if buffer.type.kind not in ("int", "float") or buffer.type.bits != 32:
        raise scope.error(f"no atomic {kind} of {op.value.type} in OpenCL C 1.2")
    if buffer.space == PRIVATE:
        raise scope.error("no atomic update of private memory")
    target = f"&{buffer.base}[{address(scope, buffer, op.indices).text}]"
    if name is not None and (buffer.type.kind == "int" or kind == "assign"):
        if kind in ("maxu", "minu"):
            target = f"(volatile {buffer.space} uint *){target}"
            value = cast("uint", value)
        result = Expr(f"{name}({target}, {value.alone})")
    elif kind in ATOMIC_LOOPS and (buffer.type.kind == "int") == (kind == "muli"):
        combined = ATOMIC_LOOPS[kind](scope, buffer.type, Expr("old"), Expr("value"))
        name = helpers.atomic_loop(scope, kind, buffer.type, buffer.space, combined.text)
        result = Expr(f"{name}({target}, {value.alone})")
    else:
        raise scope.error(f"no atomic {kind} of {op.value.type} in OpenCL C 1.2")
    if op.result.uses:
        scope.define(op.result, result)
    else:
        scope.line(f"{result.text};")


# Views


def mixed(scope: Scope, static: DenseArrayBase, dynamic: Sequence[SSAValue]) -> list[Expr]:
    """Numbers of which some are constants and some are values."""
    both = get_dynamic_index_list(static.get_values(), dynamic, DYNAMIC_INDEX)  # pyright: ignore
    return [int_literal(v, 64) if isinstance(v, int) else scope.expr(v) for v in both]


def product(a: Expr, b: Expr) -> Expr:
    """The product of two strides."""
    return Address().plus(a, b).expr


def _view_subview(scope: MemoryScope, op: Operation) -> Buffer:
    """Offsets and strides count in the source's; a result of lower rank has lost dimensions of
    size 1."""
    assert isinstance(op, memref.SubviewOp)
    source = scope.buffer(op.source)
    offset = source.offset
    for o, s in zip(mixed(scope, op.static_offsets, op.offsets), source.strides, strict=True):
        offset = offset.plus(o, s)
    strides = [
        product(m, s)
        for m, s in zip(mixed(scope, op.static_strides, op.strides), source.strides, strict=True)
    ]
    assert isinstance(op.result.type, MemRefType)
    kept = kept_dimensions(op.static_sizes.get_values(), op.result.type.get_shape())  # pyright: ignore
    if kept is None:
        raise scope.error(f"the sizes do not become {op.result.type}")
    strides = tuple(strides[d] for d in kept)
    return replace(source, strides=strides, offset=offset)


def kept_dimensions(sizes: Sequence[int], shape: Sequence[int]) -> list[int] | None:
    """Which dimensions of a subview are in its type: all but enough of those of size 1."""
    kept: list[int] = []
    surplus = len(sizes) - len(shape)
    for d, size in enumerate(sizes):
        if surplus and size == 1 and (len(kept) == len(shape) or shape[len(kept)] != 1):
            surplus -= 1
        elif len(kept) < len(shape) and size == shape[len(kept)]:
            kept.append(d)
        else:
            return None
    return kept if len(kept) == len(shape) else None


def _view_reinterpret_cast(scope: MemoryScope, op: Operation) -> Buffer:
    """Offset and strides count from the source's base, whatever its own offset."""
    assert isinstance(op, memref.ReinterpretCastOp)
    source = scope.buffer(op.source)
    offsets = mixed(scope, op.static_offsets, op.offsets)
    offset = Address()
    for o in offsets:
        offset = offset.plus(o, int_literal(1, 64))
    strides = tuple(mixed(scope, op.static_strides, op.strides))
    return replace(source, strides=strides, offset=offset)


def _view_same(scope: MemoryScope, op: Operation) -> Buffer:
    """The source under another type."""
    return scope.buffer(op.operands[0])


def _view_reshape(scope: MemoryScope, op: Operation) -> Buffer:
    """expand_shape and collapse_shape: the strides are those of the result's type."""
    source = scope.buffer(op.operands[0])
    return replace(source, strides=layout(scope, op.results[0].type)[1])


def _view_space(scope: MemoryScope, op: Operation) -> Buffer:
    source = scope.buffer(op.operands[0])
    if space_of(scope, op.results[0].type, source.space) != source.space:
        raise scope.error("a pointer keeps its address space in OpenCL C 1.2")
    return source


Load = Callable[[MemoryScope, Operation], Expr]

LOADS: dict[type[Operation], Load] = {
    memref.LoadOp: _emit_load,
    vector.LoadOp: _emit_vector_load,
}
MEMORY_EXPRESSIONS: dict[type[Operation], Load] = {
    memref.DimOp: _emit_dim,
    memref.RankOp: _emit_rank,
    vector.BroadcastOp: _emit_broadcast,
    vector.FMAOp: _emit_fma,
    vector.ExtractOp: _emit_extract,
    vector.ShuffleOp: _emit_shuffle,
    vector.ReductionOp: _emit_reduction,
    vector.BitcastOp: _emit_vector_bitcast,
}
VIEWS: dict[type[Operation], Callable[[MemoryScope, Operation], Buffer]] = {
    memref.SubviewOp: _view_subview,
    memref.ReinterpretCastOp: _view_reinterpret_cast,
    memref.CastOp: _view_same,
    memref.AssumeAlignmentOp: _view_same,
    memref.CollapseShapeOp: _view_reshape,
    memref.ExpandShapeOp: _view_reshape,
    memref.MemorySpaceCastOp: _view_space,
}
WRITES: dict[type[Operation], Callable[[MemoryScope, Operation], None]] = {
    memref.StoreOp: _print_store,
    vector.StoreOp: _print_vector_store,
    memref.AtomicRMWOp: _print_atomic,
}
