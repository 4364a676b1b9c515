"""Atomic updates in OpenCL C."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.ir import Operation

from tiledialect.lowering.opencl import helpers
from tiledialect.lowering.opencl.buffers import PRIVATE, MemoryScope, Write, address
from tiledialect.lowering.opencl.combining import (
    Combine,
    extremum,
    float_operator,
    function,
    wrapping,
)
from tiledialect.lowering.opencl.types import Expr, cast

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


ATOMICS: dict[type[Operation], Write] = {
    memref.AtomicRMWOp: _print_atomic,
}
