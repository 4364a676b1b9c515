"""OpenCL C text of the small functions that a printed program calls: printed only when used."""

from __future__ import annotations

from tiledialect.lowering.opencl.types import CType, Scope


def _template(scope: Scope, name: str, text: str, **fields: str) -> str:
    """Print ``text`` with ``NAME`` and the fields replaced."""
    for field, value in {"NAME": name, **fields}.items():
        text = text.replace(field, value)
    return scope.helper(name, text.strip("\n"))


ROUND_HALF = """
static inline TO NAME(FROM x)
{
    BITS bits;
    vstore_halfLANES_rte(x, 0, (half *)&bits);
    return vload_halfLANES(0, (half *)&bits);
}
"""


def round_half(scope: Scope, type: CType, source: CType) -> str:
    """The function that rounds ``source`` (float or double) to the nearest half."""
    lanes = str(type.lanes) if type.is_vector else ""
    name = f"round_half{lanes}" if source.bits == 32 else f"round_half{lanes}_double"
    fields = {"TO": type.name, "FROM": source.name, "BITS": f"ushort{lanes}", "LANES": lanes}
    return _template(scope, name, ROUND_HALF, **fields)


HALF_FROM_BITS = """
static inline FLOAT NAME(SHORT bits)
{
    return vload_halfLANES(0, (half *)&bits);
}
"""
HALF_TO_BITS = """
static inline SHORT NAME(FLOAT x)
{
    SHORT bits;
    vstore_halfLANES_rte(x, 0, (half *)&bits);
    return bits;
}
"""


def half_from_bits(scope: Scope, type: CType) -> str:
    """The function from the bits of a half, or of each lane, to its value."""
    return _of_bits(scope, "from", HALF_FROM_BITS, type)


def half_to_bits(scope: Scope, type: CType) -> str:
    """The function from a half, or each lane, to its bits."""
    return _of_bits(scope, "to", HALF_TO_BITS, type)


def _of_bits(scope: Scope, way: str, text: str, type: CType) -> str:
    lanes = str(type.lanes) if type.is_vector else ""
    fields = {"FLOAT": type.name, "SHORT": f"short{lanes}", "LANES": lanes}
    return _template(scope, f"round_half{lanes}_{way}_bits", text, **fields)


FLOAT_FROM_BF16 = """
static inline floatLANES NAME(shortLANES bits)
{
    return as_floatLANES(TO_UINT(as_ushortLANES(bits)) << 16);
}
"""
# To nearest, of two to the one whose last bit is 0. A carry would take some NaNs to numbers.
BF16_FROM_FLOAT = """
static inline shortLANES NAME(floatLANES x)
{
#ifdef native_bf16
    return native_bf16(x);
#endif
    uintLANES bits = as_uintLANES(x);
    uintLANES nearest = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return as_shortLANES(TO_USHORT(x != x ? (uintLANES)0x7fc0 : nearest));
}
"""


def float_from_bf16(scope: Scope, type: CType) -> str:
    """The function from the bits of a bf16, or of each lane, to its value as a float."""
    return _of_bf16(scope, "floatLANES_from_bf16", FLOAT_FROM_BF16, type)


def bf16_from_float(scope: Scope, type: CType) -> str:
    """The function from a float, or each lane, to the bits of the nearest bf16."""
    return _of_bf16(scope, "bf16_from_floatLANES", BF16_FROM_FLOAT, type)


def _of_bf16(scope: Scope, name: str, text: str, type: CType) -> str:
    lanes = str(type.lanes) if type.is_vector else ""
    name = name.replace("LANES", lanes)
    return _template(scope, name, text, LANES=lanes, **conversions(lanes))


def conversions(lanes: str) -> dict[str, str]:
    """Conversions to integers: for scalars casts, as calls crash the vectorizer of Intel."""
    types = ("uint", "ushort")
    return {f"TO_{t.upper()}": f"convert_{t}{lanes}" if lanes else f"({t})" for t in types}


# Not `a % b != 0`: for a division and a remainder LLVM makes what Oclgrind cannot run.
DIVISION = """
static inline TYPE NAME(TYPE a, TYPE b)
{
    TYPE q = a / b;
    return q SIGN (CONDITION);
}
"""
# OpenCL's vector comparisons are -1 where true, its scalar ones 1.
ADD_TRUE = {False: "+", True: "-"}
SUBTRACT_TRUE = {False: "-", True: "+"}


def number(type: str, value: int, *, is_vector: bool) -> str:
    """A literal: OpenCL C does not widen an int to a vector of chars."""
    return f"({type})({value})" if is_vector else str(value)


def floor_division(scope: Scope, type: CType) -> str:
    """The function for signed division rounded down."""
    zero = number(type.name, 0, is_vector=type.is_vector)
    condition = f"(q * b != a) & ((a < {zero}) != (b < {zero}))"
    fields = {"TYPE": type.name, "SIGN": SUBTRACT_TRUE[type.is_vector], "CONDITION": condition}
    return _template(scope, f"floordiv_{type.name}", DIVISION, **fields)


def ceil_division(scope: Scope, type: CType, *, unsigned: bool) -> str:
    """The function for division rounded up."""
    name = type.unsigned if unsigned else type.name
    zero = number(name, 0, is_vector=type.is_vector)
    condition = "q * b != a"
    if not unsigned:
        condition = f"({condition}) & ((a < {zero}) == (b < {zero}))"
    elif type.is_vector:
        condition = f"as_{name}({condition})"
    fields = {"TYPE": name, "SIGN": ADD_TRUE[type.is_vector], "CONDITION": condition}
    return _template(scope, f"ceildiv_{name}", DIVISION, **fields)


# IEEE 754-2019 minimum and maximum: NaN wins, and -0.0 is less than 0.0.
EXTREMUM = """
static inline TYPE NAME(TYPE a, TYPE b)
{
    TYPE zero = as_TYPE(as_BITS(a) JOIN as_BITS(b));
    return a == b ? zero : (a ORDER b || a != a) ? a : b;
}
"""
EXTREMUM_VECTOR = EXTREMUM.replace("a ORDER b || a != a", "(a ORDER b) | (a != a)")


def _bits(type: CType) -> str:
    """The integers with as many bits as floats."""
    lanes = str(type.lanes) if type.is_vector else ""
    return ("int" if type.bits == 32 else "long") + lanes


def extremum(scope: Scope, name: str, type: CType) -> str:
    """The function ``minimum`` or ``maximum`` of two floats, as arith.minimumf means it."""
    join, order = ("|", "<") if name == "minimum" else ("&", ">")
    text = EXTREMUM_VECTOR if type.is_vector else EXTREMUM
    fields = {"TYPE": type.name, "BITS": _bits(type), "JOIN": join, "ORDER": order}
    return _template(scope, f"{name}_{type.name}", text, **fields)


# The same where both zeros are as good.
EITHER = """
static inline TYPE NAME(TYPE a, TYPE b)
{
    return a ORDER b || a != a ? a : b;
}
"""
# An instruction for the selection, b where one is NaN. All bits set are a NaN: selecting a itself
# would be two comparisons more to LLVM.
EITHER_VECTOR = """
static inline TYPE NAME(TYPE a, TYPE b)
{
    return as_TYPE(as_BITS(a ORDER b ? a : b) | (a != a));
}
"""


def either(scope: Scope, name: str, type: CType) -> str:
    """The function ``minimum`` or ``maximum`` of two floats, of which either zero may be less."""
    text = EITHER_VECTOR if type.is_vector else EITHER
    fields = {"TYPE": type.name, "ORDER": "<" if name == "minimum" else ">", "BITS": _bits(type)}
    return _template(scope, f"{name}_or_nan_{type.name}", text, **fields)


# The same where b is a number, not NaN, that may be taken where a is as great: of NaN it is a.
BOUND = """
static inline TYPE NAME(TYPE a, TYPE b)
{
    return a ORDER b ? b : a;
}
"""


def bound(scope: Scope, name: str, type: CType) -> str:
    """The function ``minimum`` or ``maximum`` of a float and a number."""
    fields = {"TYPE": type.name, "ORDER": ">=" if name == "minimum" else "<="}
    return _template(scope, f"{name}_with_number_{type.name}", BOUND, **fields)


INTEGER_POWER = """
static inline TYPE NAME(TYPE base, TYPE power)
{
    if (power < 0)
        return base == 1 ? 1 : base == -1 ? (power & 1 ? -1 : 1) : 0;
    WORD square = base;
    WORD result = 1;
    for (; power > 0; power >>= 1) {
        if (power & 1)
            result *= square;
        square *= square;
    }
    return result;
}
"""


def integer_power(scope: Scope, type: CType) -> str:
    """The function for math.ipowi: by squaring, wrapping round."""
    fields = {"TYPE": type.name, "WORD": "ulong" if type.bits == 64 else "uint"}
    return _template(scope, f"ipow_{type.name}", INTEGER_POWER, **fields)


TRAILING_ZEROS = """
static inline TYPE NAME(UNSIGNED a)
{
    UNSIGNED below = ~a & (a - ONE);
    return RESULT;
}
"""


def trailing_zeros(scope: Scope, type: CType) -> str:
    """The function for math.cttz (OpenCL C has ctz only from 2.0): the bits below the lowest."""
    result = f"as_{type.name}(popcount(below))"
    one = number(type.unsigned, 1, is_vector=type.is_vector)
    fields = {"TYPE": type.name, "UNSIGNED": type.unsigned, "RESULT": result, "ONE": one}
    return _template(scope, f"cttz_{type.name}", TRAILING_ZEROS, **fields)


ELEMENT = """
static inline LANE NAME(VECTOR v, INDEX i)
{
    LANE lanes[LENGTH];
    vstoreLENGTH(v, 0, lanes);
    return lanes[i];
}
"""
WITH_ELEMENT = """
static inline VECTOR NAME(VECTOR v, LANE x, INDEX i)
{
    LANE lanes[LENGTH];
    vstoreLENGTH(v, 0, lanes);
    lanes[i] = x;
    return vloadLENGTH(0, lanes);
}
"""


def dynamic_element(scope: Scope, type: CType, index: CType, *, insert: bool) -> str:
    """The function that reads, or replaces, the lane of a vector at a position known late."""
    name = f"{'with_' if insert else ''}element_{type.name}"
    lane = type.base
    fields = {
        "VECTOR": type.name,
        "LANE": lane,
        "LENGTH": str(type.lanes),
        "INDEX": index.name,
    }
    # The module has one width of index; modules printed together may have two.
    name += "" if index.bits == 64 else "_int"
    return _template(scope, name, WITH_ELEMENT if insert else ELEMENT, **fields)


# The first guess is 0: a plain read would race.
ATOMIC_LOOP = """
static inline TYPE NAME(volatile SPACE TYPE *p, TYPE value)
{
    volatile SPACE int *bits = (volatile SPACE int *)p;
    int seen = 0;
    int expected;
    do {
        expected = seen;
        TYPE old = as_TYPE(expected);
        seen = atomic_cmpxchg(bits, expected, as_int(RESULT));
    } while (seen != expected);
    return as_TYPE(seen);
}
"""


def atomic_loop(scope: Scope, kind: str, type: CType, space: str, result: str) -> str:
    """The function that updates ``*p`` to ``result``, an expression of ``old`` and ``value``,
    by compare and exchange, for updates without an atomic function in OpenCL C 1.2."""
    name = f"atomic_{kind}_{type.name}_{space.strip('_')}"
    fields = {"TYPE": type.name, "SPACE": space, "RESULT": result}
    return _template(scope, name, ATOMIC_LOOP, **fields)


SUB_GROUPS = """
#ifdef cl_intel_required_subgroup_size
#define SUB_GROUPS_OF(n) __attribute__((intel_reqd_sub_group_size(n)))
#else
#define SUB_GROUPS_OF(n)
#endif
"""


def sub_groups_of(scope: Scope, size: int) -> str:
    """The attribute of a kernel whose sub-groups have a size; NVIDIA's have theirs always."""
    scope.helper("SUB_GROUPS_OF", SUB_GROUPS.strip("\n"))
    return f"SUB_GROUPS_OF({size})"


SHUFFLE = """
static inline int NAME(int x, int mask)
{
#ifdef cl_khr_subgroup_shuffle
    return sub_group_shuffle_xor(x, mask);
#else
    int y;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(y) : "r"(x), "r"(mask));
    return y;
#endif
}
"""


def shuffle_xor(scope: Scope) -> str:
    """The function that gives the word which another work-item of the sub-group has."""
    return _template(scope, "shuffle_xor", SHUFFLE)


# The instruction faults where an array does not begin at a multiple of the vector.
STREAM = """
static inline void NAME(VECTOR value, __global ELEMENT *p)
{
#ifdef __clang__
    if (((size_t)p & (sizeof(VECTOR) - 1)) == 0) {
        __builtin_nontemporal_store(value, (__global VECTOR *)p);
        return;
    }
#endif
    vstoreLANES(value, 0, p);
}
"""


def stream(scope: Scope, type: CType, element: CType) -> str:
    """The function that stores a vector in global memory past the caches."""
    fields = {"VECTOR": type.name, "ELEMENT": element.name, "LANES": str(type.lanes)}
    return _template(scope, f"stream_{type.name}", STREAM, **fields)
