"""OpenCL C before a program, for platforms whose own functions are slow or wrong.

PoCL's functions are a library's, which its compiler does not inline: with a call in a loop,
everything that the loop keeps in registers goes to memory and back, and a matrix product takes four
times as long. An access to a packed structure means the same as `vload`, and functions of an
instruction or two of the processor are written so.

Intel's compiler ends the process where it vectorizes a loop with some calls of its library, as of
`min` and `max`, by which gathers keep inside of tensors.

NVIDIA's `vloada_half` and `vstorea_half` move element by element: here the bits of a vector go at
once. Its processors that know bf16 round two numbers with an instruction, in the place of a dozen.

Oclgrind marks too few bytes where it stores a double as a half, and calls others uninitialized.

The functions have names that no variable has (`lowering/names.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tiledialect import caches
from tiledialect.lowering.opencl.types import VECTOR_LENGTHS
from tiledialect.lowering.quirks.table import Kind, quirks_of
from tiledialect.lowering.quirks.trigonometry import trigonometry

TYPES = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float")
LANES = (2, 4, 8, 16)
"""Lengths of vectors in memory that are accessed otherwise."""
SPACES = ("__global", "__local", "__private")

INLINE = "static inline __attribute__((overloadable, always_inline))"
PACKED = """typedef struct __attribute__((packed)) {{ {type}{lanes} value; }} vload_{type}{lanes};
"""
ACCESSES = """{inline} {type}{lanes} vload_packed{lanes}(const {space} {type} *p)
{{ return ((const {space} vload_{type}{lanes} *)p)->value; }}
{inline} void vstore_packed{lanes}({type}{lanes} v, {space} {type} *p)
{{ (({space} vload_{type}{lanes} *)p)->value = v; }}
"""
MACROS = """#undef vload{lanes}
#undef vstore{lanes}
#define vload{lanes}(offset, p) vload_packed{lanes}((p) + {lanes} * (offset))
#define vstore{lanes}(v, offset, p) vstore_packed{lanes}(v, (p) + {lanes} * (offset))
"""

# Not Clang's own function, which LLVM moves past the rounding to halves.
ABSOLUTE = """{inline} {type}{lanes} native_fabs({type}{lanes} x)
{{ return as_{type}{lanes}(as_{bits}{lanes}(x) & {magnitude}); }}
"""
MAGNITUDE = {"float": ("uint", "0x7fffffffU"), "double": ("ulong", "0x7fffffffffffffffUL")}
"""Unsigned types as long as a type, and the mask of all bits but the sign."""
CLANG = {name: name for name in ("min", "max", "floor", "ceil", "trunc")} | {"rint": "roundeven"}
"""Functions that Clang has itself since version 14, and their names there."""
OWN = """#undef {name}
#define {name}(...) __builtin_elementwise_{own}(__VA_ARGS__)
"""
SHORT = """#if __has_builtin(__builtin_elementwise_roundeven)
{}#endif
"""
SHORT_ABSOLUTE = """#undef fabs
#define fabs(x) native_fabs(x)
"""

CONVERSION = """#undef convert_{type}{lanes}
#define convert_{type}{lanes}(x) __builtin_convertvector(x, {type}{lanes})
"""

# LLVM would move code in C past comparisons, and it has none for halves.
BITS_OF_HALVES = """#define half_asm(v, b) __asm__("vcvtph2ps %1, %0" : "=v"(v) : "v"(b))
{inline} float8 half_from(ushort8 b) {{ float8 v; half_asm(v, b); return v; }}
{inline} float4 half_from(ushort4 b)
{{ float4 v; half_asm(v, (ushort8)(b, 0, 0, 0, 0)); return v; }}
#ifdef __AVX512F__
{inline} float16 half_from(ushort16 b) {{ float16 v; half_asm(v, b); return v; }}
{inline} ushort16 half_to(float16 v)
{{ ushort16 b; __asm__("vcvtps2ph $0, %1, %0" : "=v"(b) : "v"(v)); return b; }}
#else
{inline} float16 half_from(ushort16 b) {{ return (float16)(half_from(b.lo), half_from(b.hi)); }}
#endif
{inline} float2 half_from(ushort2 b) {{ return half_from((ushort4)(b, 0, 0)).lo; }}
{inline} float half_from(ushort b) {{ return half_from((ushort4)(b, 0, 0, 0)).x; }}
{inline} ushort4 half_to(float4 v)
{{ return __builtin_astype(__builtin_ia32_vcvtps2ph(v, 0), ushort8).lo; }}
{inline} ushort8 half_to(float8 v)
{{ return __builtin_astype(__builtin_ia32_vcvtps2ph256(v, 0), ushort8); }}
{inline} ushort half_to(float v) {{ return half_to((float4)(v, 0, 0, 0)).x; }}
{inline} ushort2 half_to(float2 v) {{ return half_to((float4)(v, 0, 0)).lo; }}
#ifndef __AVX512F__
{inline} ushort16 half_to(float16 v) {{ return (ushort16)(half_to(v.lo), half_to(v.hi)); }}
#endif
"""
CONVERT_HALVES = """{inline} float{lanes} half_load{lanes}(const {space} half *p)
{{ return half_from(vload{lanes}(0, (const {space} ushort *)p)); }}
{inline} void half_store{lanes}(float{lanes} v, {space} half *p)
{{ vstore{lanes}(half_to(v), 0, ({space} ushort *)p); }}
"""
CONVERT_HALF = """{inline} float half_load(const {space} half *p)
{{ return half_from(*(const {space} ushort *)p); }}
{inline} void half_store(float v, {space} half *p) {{ *({space} ushort *)p = half_to(v); }}
"""
CONVERT_DOUBLES = """{inline} void half_store{lanes}(double{lanes} v, {space} half *p)
{{ vstore_half{lanes}_rte(v, 0, p); }}
"""
# PoCL takes the assembly for its own functions where it has a later Clang than 14. Its own ask for
# addresses as of whole vectors: there the bits go by way of a vector.
HALVES = """#if __clang_major__ >= 15
{}#elif defined(__F16C__)
{}#endif
"""
UNALIGNED_HALVES = """{inline} float{lanes} half_load{lanes}(const {space} half *p)
{{ ushort{lanes} b = vload{lanes}(0, (const {space} ushort *)p);
    return vload_half{lanes}(0, (half *)&b); }}
"""
UNALIGNED_STORES = """{inline} void half_store{lanes}({type}{lanes} v, {space} half *p)
{{ ushort{lanes} b; vstore_half{lanes}_rte(v, 0, (half *)&b);
    vstore{lanes}(b, 0, ({space} ushort *)p); }}
"""

LOAD_HALVES = """{inline} float{lanes} half_load{lanes}(const {space} half *p)
{{ ushort{lanes} b = *(const {space} ushort{lanes} *)p; return vload_half{lanes}(0, (half *)&b); }}
"""
STORE_HALVES = """{inline} void half_store{lanes}({type}{lanes} v, {space} half *p)
{{ ushort{lanes} b; vstore_half{lanes}_rte(v, 0, (half *)&b); *({space} ushort{lanes} *)p = b; }}
"""
HALF_MACROS = """#undef {load}{lanes}
#undef {store}{lanes}_rte
#define {load}{lanes}(offset, p) half_load{lanes}((p) + {step} * (offset))
#define {store}{lanes}_rte(v, offset, p) half_store{lanes}(v, (p) + {step} * (offset))
"""
ROUND_BF16 = """#define native_bf16(x) bf16_to(x)
{inline} uint bf16_pair(float a, float b)
{{ uint r; __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); return r; }}
{inline} short bf16_to(float v) {{ return (short)bf16_pair(v, 0.0f); }}
{inline} short2 bf16_to(float2 v) {{ return as_short2(bf16_pair(v.x, v.y)); }}
{inline} short3 bf16_to(float3 v) {{ return (short3)(bf16_to(v.xy), bf16_to(v.z)); }}
{inline} short4 bf16_to(float4 v) {{ return (short4)(bf16_to(v.lo), bf16_to(v.hi)); }}
{inline} short8 bf16_to(float8 v) {{ return (short8)(bf16_to(v.lo), bf16_to(v.hi)); }}
{inline} short16 bf16_to(float16 v) {{ return (short16)(bf16_to(v.lo), bf16_to(v.hi)); }}
"""

# To the neighbour whose last bit is 1 where there is no float: rounded again, it is as if once.
ROUND_TO_ODD = """{inline} float half_from(float x) {{ return x; }}
{inline} float half_from(double x)
{{
    float near = (float)x;
    uint bits = as_uint(near);
    if ((double)near == x || x != x || (bits & 1)) return near;
    return as_float(fabs((double)near) < fabs(x) ? bits + 1 : bits - 1);
}}
"""
ROUND_LANES = """{inline} float{lanes} half_from(float{lanes} x) {{ return x; }}
{inline} float{lanes} half_from(double{lanes} x)
{{
    float{lanes} f;
    for (int i = 0; i < {lanes}; ++i) ((float *)&f)[i] = half_from(((double *)&x)[i]);
    return f;
}}
"""
ROUND_FIRST = """#define {store}_rte(v, offset, p) {store}_rte(half_from(v), offset, p)
"""

DOUBLE = """#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
{}#endif
"""


@caches.PLATFORMS
def prelude(platform: str, compute_capability: int = 0) -> str:
    """Text before a program for the platform of this short name."""
    quirks = quirks_of(platform, Kind.PRELUDE)
    keys = dict.fromkeys(q.answer for q in quirks if compute_capability >= q.least_capability)
    return "".join((*(TEXTS[key]() for key in keys), "#line 1\n")) if keys else ""


def _bf16() -> str:
    return ROUND_BF16.format(inline=INLINE)


def _nvidia() -> str:
    doubles = DOUBLE.format(_for_spaces(STORE_HALVES, type="double"))
    stores = _for_spaces(STORE_HALVES, type="float") + doubles
    return _for_spaces(LOAD_HALVES) + stores + _half_macros("vloada_half", "vstorea_half")


def _pocl() -> str:
    floats = "".join(map(_accesses, TYPES)) + _absolute("float")
    doubles = DOUBLE.format(_accesses("double") + _absolute("double"))
    accesses = "".join(MACROS.format(lanes=lanes) for lanes in LANES)
    doubles += DOUBLE.format(_conversions("double"))
    floats += "".join(map(_conversions, TYPES))
    short = SHORT_ABSOLUTE + _clang_functions() + HALVES.format(_unaligned_halves(), _pocl_halves())
    return floats + doubles + accesses + short + DOUBLE.format(trigonometry(INLINE, VECTOR_LENGTHS))


def _oclgrind() -> str:
    """Halves made of doubles by way of floats."""
    functions = ROUND_TO_ODD.format(inline=INLINE)
    lengths = VECTOR_LENGTHS
    functions += "".join(ROUND_LANES.format(inline=INLINE, lanes=lanes) for lanes in lengths)
    names = ("vstore_half", *(f"{kind}_half{n}" for kind in ("vstore", "vstorea") for n in lengths))
    return DOUBLE.format(functions + "".join(ROUND_FIRST.format(store=name) for name in names))


def _clang_functions() -> str:
    """Clang's own functions for OpenCL's."""
    return SHORT.format("".join(OWN.format(name=name, own=own) for name, own in CLANG.items()))


def _accesses(type: str) -> str:
    """The functions that load and store vectors of elements of a type."""
    packed = (PACKED.format(type=type, lanes=lanes) for lanes in LANES)
    return "".join((*packed, _for_spaces(ACCESSES, type=type)))


def _conversions(type: str) -> str:
    """Clang's own conversions to vectors, which round as OpenCL's do where nothing else is said."""
    return "".join(CONVERSION.format(type=type, lanes=lanes) for lanes in LANES)


def _absolute(type: str) -> str:
    bits, magnitude = MAGNITUDE[type]
    fields = {"inline": INLINE, "type": type, "bits": bits, "magnitude": magnitude}
    return "".join(ABSOLUTE.format(lanes=lanes, **fields) for lanes in ("", *VECTOR_LENGTHS))


def _pocl_halves() -> str:
    """Conversions of halves, where the processor has an instruction for them."""
    functions = BITS_OF_HALVES.format(inline=INLINE) + _for_spaces(CONVERT_HALVES)
    functions += _for_spaces(CONVERT_HALF, lanes=("",))
    functions += DOUBLE.format(_for_spaces(CONVERT_DOUBLES, lanes=("", *LANES)))
    one = HALF_MACROS.format(load="vload_half", store="vstore_half", lanes="", step=1)
    aligned = _half_macros("vloada_half", "vstorea_half")
    return functions + one + _half_macros("vload_half", "vstore_half") + aligned


def _unaligned_halves() -> str:
    """Halves at any address, by PoCL's conversions of halves at addresses of vectors."""
    functions = _for_spaces(UNALIGNED_HALVES) + _for_spaces(UNALIGNED_STORES, type="float")
    functions += DOUBLE.format(_for_spaces(UNALIGNED_STORES, type="double"))
    return functions + _half_macros("vload_half", "vstore_half")


def _half_macros(load: str, store: str) -> str:
    fields = ({"lanes": lanes, "step": lanes} for lanes in LANES)
    return "".join(HALF_MACROS.format(load=load, store=store, **own) for own in fields)


def _for_spaces(text: str, lanes: Sequence[int | str] = LANES, **names: str) -> str:
    """A function for vectors of each length in each address space."""
    spaces = ({"lanes": n, "space": space} for n in lanes for space in SPACES)
    return "".join(text.format(inline=INLINE, **names, **own) for own in spaces)


TEXTS: dict[str, Callable[[], str]] = {
    "clang": _clang_functions,
    "pocl": _pocl,
    "whole-halves": _nvidia,
    "bf16": _bf16,
    "halves-by-floats": _oclgrind,
}
"""OpenCL C by the answer of a quirk."""
