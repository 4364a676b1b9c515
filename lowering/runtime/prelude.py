"""OpenCL C that is put before a program where one platform's own functions are slow.

PoCL's `vload` and `vstore` are functions of a library that its compiler does not inline: with a
call in a loop, everything that the loop keeps in registers goes to memory and back, and a matrix
product takes four times as long. An access to a packed structure means the same.

NVIDIA's `vloada_half` and `vstorea_half` move element by element: here the bits of a vector go at
once.
"""

from __future__ import annotations

from functools import cache

TYPES = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float")
LANES = (2, 4, 8, 16)
SPACES = ("__global", "__local", "__private")

INLINE = "static inline __attribute__((overloadable, always_inline))"
PACKED = """typedef struct __attribute__((packed)) {{ {type}{lanes} value; }} packed_{type}{lanes};
"""
ACCESSES = """{inline} {type}{lanes} load{lanes}(const {space} {type} *p)
{{ return ((const {space} packed_{type}{lanes} *)p)->value; }}
{inline} void store{lanes}({type}{lanes} v, {space} {type} *p)
{{ (({space} packed_{type}{lanes} *)p)->value = v; }}
"""
MACROS = """#undef vload{lanes}
#undef vstore{lanes}
#define vload{lanes}(offset, p) load{lanes}((p) + {lanes} * (offset))
#define vstore{lanes}(v, offset, p) store{lanes}(v, (p) + {lanes} * (offset))
"""
LOAD_HALVES = """{inline} float{lanes} load_half{lanes}(const {space} half *p)
{{ ushort{lanes} b = *(const {space} ushort{lanes} *)p; return vload_half{lanes}(0, (half *)&b); }}
"""
STORE_HALVES = """{inline} void store_half{lanes}({type}{lanes} v, {space} half *p)
{{ ushort{lanes} b; vstore_half{lanes}_rte(v, 0, (half *)&b); *({space} ushort{lanes} *)p = b; }}
"""
HALF_MACROS = """#undef vloada_half{lanes}
#undef vstorea_half{lanes}_rte
#define vloada_half{lanes}(offset, p) load_half{lanes}((p) + {lanes} * (offset))
#define vstorea_half{lanes}_rte(v, offset, p) store_half{lanes}(v, (p) + {lanes} * (offset))
"""
DOUBLE = """#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
{}#endif
"""


@cache
def prelude(platform: str) -> str:
    """What a program for the platform of this short name begins with."""
    if platform == "pocl":
        text = "".join(map(_accesses, TYPES)) + DOUBLE.format(_accesses("double"))
        return _ended(text, MACROS)
    if platform == "nvidia":
        text = _for_spaces(LOAD_HALVES) + _for_spaces(STORE_HALVES, type="float")
        return _ended(text + DOUBLE.format(_for_spaces(STORE_HALVES, type="double")), HALF_MACROS)
    return ""


def _ended(text: str, macros: str) -> str:
    """Functions, the macros that call them, and the number of the program's first line."""
    return "".join((text, *(macros.format(lanes=lanes) for lanes in LANES), "#line 1\n"))


def _accesses(type: str) -> str:
    """The functions that load and store vectors of elements of a type."""
    packed = (PACKED.format(type=type, lanes=lanes) for lanes in LANES)
    return "".join((*packed, _for_spaces(ACCESSES, type=type)))


def _for_spaces(text: str, **names: str) -> str:
    """A function for vectors of each length in each address space."""
    spaces = ({"lanes": lanes, "space": space} for lanes in LANES for space in SPACES)
    return "".join(text.format(inline=INLINE, **names, **own) for own in spaces)
