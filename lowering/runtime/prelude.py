"""OpenCL C that is put before a program where one platform's own functions are slow.

PoCL's `vload` and `vstore` are functions of a library that its compiler does not inline: with a
call in a loop, everything that the loop keeps in registers goes to memory and back, and a matrix
product takes four times as long. An access to a packed structure means the same.
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
DOUBLE = """#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
{}#endif
"""


@cache
def prelude(platform: str) -> str:
    """What a program for the platform of this short name begins with."""
    if platform != "pocl":
        return ""
    macros = (MACROS.format(lanes=lanes) for lanes in LANES)
    accesses = "".join(map(_accesses, TYPES)) + DOUBLE.format(_accesses("double"))
    return "".join((accesses, *macros, "#line 1\n"))


def _accesses(type: str) -> str:
    """The functions that load and store vectors of elements of a type."""
    text: list[str] = []
    for lanes in LANES:
        names = {"inline": INLINE, "type": type, "lanes": lanes}
        text.append(PACKED.format(**names))
        text += [ACCESSES.format(**names, space=space) for space in SPACES]
    return "".join(text)
