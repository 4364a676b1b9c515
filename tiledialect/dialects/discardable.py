"""Discardable attributes of the dialects: one table of names, holders and types, and its check.

An attribute here is no property of an op: it steers passes, or hands on facts about the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.utils.exceptions import VerifyException

NAME = "tile.name"
DIMS = "tile.dims"
COTANGENT_OF = "tile.cotangent_of"
TANGENT_OF = "tile.tangent_of"
ELEMENT_TYPE = "tile.element_type"
UPDATES = "tile.updates"
IN_PLACE = "tile.in_place"
GRADIENT_OF = "tile.gradient_of"
CONSTANTS = "tile.constants"
PRECISION = "tile.precision"
WARNINGS = "tile.warnings"
HINTS = "tile.hints"
ASSERTION = "tile.assertion"
FUSED = "fused"
STAGED = "staged"
STAGING = "staging"
STEPS = "lift.steps"
DEFINED_SIZES = "lift.sizes"
MOST_GROUPS = "lift.groups"
AHEAD = "lift.ahead"
WHOLE = "nest.whole"
PART = "nest.part"
LAYERS = "nest.layers"
BESIDE = "nest.beside"
FACTS = "nest.facts"
SHARED_ARGUMENTS = "nest.shared"
UNREAD = "nest.unread"
NONTEMPORAL = "nontemporal"
NOT_VECTORIZED = "not_vectorized"
DOUBLE = "double"
OPERATIONS_BEFORE = "index_operations.before"
OPERATIONS_AFTER = "index_operations.after"
OFFSET_PARAMETERS = "tile.parts"
KEEP_LOOP = "tile.keep_loop"
KEEP_SCALARS = "tile.keep_scalars"
NOT_POSITIVE = "tile.not_positive"

PRECISIONS = ("f32", "tf32", "exact")
"""Values of `tile.precision`."""


@dataclass(frozen=True)
class AttributeKind:
    """Type of an attribute."""

    text: str
    plural: str
    holds: Callable[[Attribute], bool]


def _array_of(kind: AttributeKind) -> AttributeKind:
    return AttributeKind(
        f"an array of {kind.plural}",
        f"arrays of {kind.plural}",
        lambda a: isinstance(a, ArrayAttr) and all(map(kind.holds, a.data)),
    )


def _dictionary_of(kind: AttributeKind) -> AttributeKind:
    return AttributeKind(
        f"a dictionary of {kind.plural}",
        f"dictionaries of {kind.plural}",
        lambda a: isinstance(a, DictionaryAttr) and all(map(kind.holds, a.data.values())),
    )


def _has(a: Attribute, kind: type[Attribute], parameter: str, value: Attribute) -> bool:
    return isinstance(a, kind) and getattr(a, parameter) == value


UNIT = AttributeKind("a unit attribute", "unit attributes", lambda a: isinstance(a, UnitAttr))
STRING = AttributeKind("a string", "strings", lambda a: isinstance(a, StringAttr))
STRINGS = _array_of(STRING)
SYMBOL = AttributeKind("a symbol", "symbols", lambda a: isinstance(a, SymbolRefAttr))
TYPE = AttributeKind("a type", "types", lambda a: isinstance(a, TypeAttribute))
I64 = AttributeKind("an i64", "numbers", lambda a: _has(a, IntegerAttr, "type", i64))
NUMBER = AttributeKind("a number", "numbers", lambda a: isinstance(a, IntegerAttr | FloatAttr))
SIZE = AttributeKind("a size", "sizes", lambda a: a.name == "lift.size")
CONDITION = AttributeKind("a condition", "conditions", lambda a: a.name == "nest.condition")
INDICES_32 = AttributeKind(
    "an array of i32", "arrays", lambda a: _has(a, DenseArrayBase, "elt_type", i32)
)
INDICES_64 = AttributeKind(
    "an array of i64", "arrays", lambda a: _has(a, DenseArrayBase, "elt_type", i64)
)
PRECISION_NAME = AttributeKind(
    " or ".join(f'"{p}"' for p in PRECISIONS),
    "precisions",
    lambda a: isinstance(a, StringAttr) and a.data in PRECISIONS,
)

ARGUMENT, RESULT = "argument", "result"
"""Holders that are arguments and results of a `func.func`."""


@dataclass(frozen=True)
class Discardable:
    """Declaration of an attribute."""

    kind: AttributeKind
    holders: tuple[str, ...]
    """Ops by name, or arguments and results of functions; empty: any op."""
    meaning: str


FUNCTION, KERNEL, MODULE = ("func.func",), ("gpu.func",), ("builtin.module",)
LAUNCH = ("gpu.launch_func",)

DISCARDABLE: Mapping[str, Discardable] = {
    NAME: Discardable(STRING, (ARGUMENT, RESULT), "Name of an input or output."),
    DIMS: Discardable(STRINGS, (ARGUMENT,), "Names of an input's dimensions, in order."),
    COTANGENT_OF: Discardable(
        STRING, (ARGUMENT, RESULT), "Output or input to which a cotangent belongs."
    ),
    TANGENT_OF: Discardable(
        STRING, (ARGUMENT, RESULT), "Input or output to which a tangent belongs."
    ),
    ELEMENT_TYPE: Discardable(
        TYPE, (ARGUMENT, RESULT), "Element type of an array whose memref stores another."
    ),
    UPDATES: Discardable(
        STRING,
        (RESULT,),
        "Input that a call updates: the result takes its memory, and is no output.",
    ),
    IN_PLACE: Discardable(
        INDICES_32,
        ("tile.kernel",),
        "For each input the number of the result that is written in its memory, or -1.",
    ),
    GRADIENT_OF: Discardable(SYMBOL, FUNCTION, "Function that a gradient function differentiates."),
    CONSTANTS: Discardable(_dictionary_of(NUMBER), MODULE, "Numbers given for names of the text."),
    PRECISION: Discardable(
        PRECISION_NAME,
        MODULE,
        "Precision of the factors of sums of f32; with `exact`, no sum has fewer products, and "
        "none of 16 bits is computed in f32.",
    ),
    WARNINGS: Discardable(STRINGS, MODULE, "Warnings for the user, shown once it is compiled."),
    HINTS: Discardable(
        _dictionary_of(STRINGS), (), "Hints of a statement, `[[name(word)]]`, by name."
    ),
    ASSERTION: Discardable(
        STRING, ("arith.divsi",), "Name of the assertion that a division by a condition makes."
    ),
    FUSED: Discardable(
        STRINGS, ("tile.kernel",), "Reasons of the cost model for the kernel's ops."
    ),
    STAGED: Discardable(I64, (), "Number of a computed value among those a schedule stages."),
    STAGING: Discardable(UNIT, ("tile.kernel",), "Kernel that makes another one's global stage."),
    STEPS: Discardable(STRINGS, FUNCTION, "Rewrites of a Lift program so far."),
    DEFINED_SIZES: Discardable(
        _dictionary_of(SIZE), FUNCTION, "Names of sizes that others define, such as `u = v + 2`."
    ),
    MOST_GROUPS: Discardable(
        I64,
        ("lift.map_wrg", "lift.map_glb"),
        "Most work-groups along the dimension: each takes elements that lie so far apart.",
    ),
    AHEAD: Discardable(
        UNIT,
        ("lift.to_local",),
        "Value of a loop's step that is fetched in the step before.",
    ),
    WHOLE: Discardable(UNIT, KERNEL, "Kernel that `nest-peel` leaves whole."),
    PART: Discardable(STRING, LAUNCH, "Name of the kernel of the program that is computed."),
    LAYERS: Discardable(
        _dictionary_of(NUMBER), LAUNCH, "Operations of a model's layers that it computes, by name."
    ),
    BESIDE: Discardable(
        INDICES_64,
        LAUNCH,
        "For each operand of a kernel that copies others into the last one, or a piece of one, the "
        "place of its first element beside that of the last: intermediates lie there without it.",
    ),
    FACTS: Discardable(CONDITION, KERNEL, "Condition on the index arguments, `d0`, `d1`, …."),
    SHARED_ARGUMENTS: Discardable(
        INDICES_64,
        KERNEL,
        "Arguments through which the work-items of a group share results; each step of a loop "
        "that the groups share out has places of its own there.",
    ),
    UNREAD: Discardable(INDICES_32, KERNEL, "Arguments that no kernel of the program reads."),
    NONTEMPORAL: Discardable(UNIT, ("nest.store",), "Store that bypasses the caches."),
    NOT_VECTORIZED: Discardable(STRING, ("nest.for",), "Reason why a vector loop is unrolled."),
    DOUBLE: Discardable(I64, ("nest.buffer",), "Number of copies by which a buffer is pipelined."),
    OPERATIONS_BEFORE: Discardable(I64, KERNEL, "Number of index operations before simplifying."),
    OPERATIONS_AFTER: Discardable(I64, KERNEL, "Number of index operations after simplifying."),
    OFFSET_PARAMETERS: Discardable(
        INDICES_32, KERNEL, "Parameters that are parts of allocations: an offset follows each."
    ),
    KEEP_LOOP: Discardable(UNIT, ("scf.for",), "Loop that the driver must not unroll."),
    KEEP_SCALARS: Discardable(UNIT, ("scf.for",), "Loop that the driver must not vectorize."),
    NOT_POSITIVE: Discardable(UNIT, ("math.exp",), "Exponential of numbers of at most 0."),
}
"""Attributes by name. Passes and printers use no others."""

PREFIXES = ("tile.", "lift.", "nest.")
"""Prefixes of names that belong to the dialects."""


def verify_attributes(op: Operation) -> None:
    """Raise a VerifyException if an attribute of an op is unknown, misplaced or of another type."""
    for holder, name, attribute in _held(op):
        declared = DISCARDABLE.get(name)
        if declared is None:
            if name.startswith(PREFIXES):
                raise VerifyException(f"there is no attribute `{name}`")
            continue
        if declared.holders and holder not in declared.holders:
            if not name.startswith(PREFIXES):
                # Another dialect's, by the same name.
                continue
            places = " or ".join(declared.holders)
            raise VerifyException(f"the attribute `{name}` belongs to {places}, not to {holder}")
        if not declared.kind.holds(attribute):
            raise VerifyException(f"`{name}` must be {declared.kind.text}, got {attribute}")
    if isinstance(op, func.FuncOp):
        _verify_dims(op)


def _verify_dims(function: func.FuncOp) -> None:
    """Raise a VerifyException if an input does not have as many dimensions as names of them."""
    types = function.function_type.inputs
    for k, (t, entry) in enumerate(zip(types, function.arg_attrs or (), strict=False)):
        dims = entry.data.get(DIMS)
        axes = t.get_num_dims() if isinstance(t, TensorType | MemRefType) else None
        if isinstance(dims, ArrayAttr) and axes is not None and len(dims) != axes:
            raise VerifyException(f"`{DIMS}` of argument {k} has {len(dims)} names for {axes} axes")


def _held(op: Operation) -> Iterator[tuple[str, str, Attribute]]:
    """Attributes of an op, its arguments and its results, with their holders."""
    yield from ((op.name, name, attribute) for name, attribute in op.attributes.items())
    if op.name != "func.func":
        return
    for holder, key in ((ARGUMENT, "arg_attrs"), (RESULT, "res_attrs")):
        given = op.properties.get(key)
        for entries in given.data if isinstance(given, ArrayAttr) else ():
            if isinstance(entries, DictionaryAttr):
                yield from ((holder, name, value) for name, value in entries.data.items())
