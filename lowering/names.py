"""Names of OpenCL C: which are taken, and a legal one for a hint."""

from __future__ import annotations

import re
from zlib import crc32

# What a variable must not be called: words of the language, macros, and the functions that a
# kernel may call (a variable would hide them).
_RESERVED_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while bool true false half quad complex imaginary
    uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t event_t sampler_t
    global local constant private generic kernel read_only write_only read_write uniform pipe
    image1d_t image1d_array_t image1d_buffer_t image2d_t image2d_array_t image3d_t
    asm typeof and or not xor
    INFINITY NAN MAXFLOAT HUGE_VAL HUGE_VALF INT_MIN INT_MAX LONG_MIN LONG_MAX NULL main
    barrier mem_fence printf prefetch wait_group_events
    abs abs_diff acos acosh acospi all any asin asinh asinpi atan atan2 atan2pi atanh atanpi
    bitselect cbrt ceil clamp clz copysign cos cosh cospi cross degrees distance dot erf erfc
    exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod fract frexp hadd hypot ilogb isequal
    isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan isnormal
    isnotequal isordered isunordered ldexp length lgamma lgamma_r log log10 log1p log2 logb mad
    mad24 mad_hi mad_sat max maxmag min minmag mix modf mul24 mul_hi nan nextafter normalize
    popcount pow pown powr radians remainder remquo rhadd rint rootn rotate round rsqrt select
    shuffle shuffle2 sign signbit sin sincos sinh sinpi smoothstep sqrt step sub_sat add_sat tan
    tanh tanpi tgamma trunc upsample vec_step
"""


RESERVED = frozenset(_RESERVED_WORDS.split())


RESERVED_PATTERN = re.compile(
    r"__|_[A-Z]|(?:(?:u?(?:char|short|int|long)|float|double|half|bool)\d+$)"
    r"|(?:as|convert|vload|vstore|vloada|vstorea|atomic|atom|native|half|get|async|read|write)_"
    r"|v(?:load|store)\d|(?:CL|FLT|DBL|HALF|CHAR|SHRT|USHRT|UINT|ULONG|UCHAR|SCHAR|M|cl)_"
    r"|[A-Z]{2}[A-Z0-9]*_[A-Z]"  # Macros: every OpenCL may have some of its own.
    r"|(?:bf16_from|float(?:2|3|4|8|16)?_from|floordiv|ceildiv|minimum|maximum|round_half|ipow|cttz|element|with_element|atomic)_"
)


LONGEST = 64
"""Most characters of a name that is made of a user's: NVIDIA's driver ends the process at names of
kernels of some hundreds."""


def is_free_name(name: str) -> bool:
    """Whether a variable or function can have this name."""
    return (
        re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) is not None
        and name not in RESERVED
        and not RESERVED_PATTERN.match(name)
    )


def sanitized(hint: str, longest: int = LONGEST) -> str:
    """A legal C name as near as possible to a name hint.

    Longer ones are cut off, and end with a number that tells them apart.
    """
    name = re.sub(r"\W", "_", hint, flags=re.ASCII)
    if len(name) > longest:
        number = crc32(hint.encode(errors="replace"))
        end = f"_{number:08x}"
        name = name[: longest - len(end)] + end
    if not re.match(r"[A-Za-z]", name):
        name = "v" + name
    if is_free_name(name):
        return name
    return name + "_" if is_free_name(name + "_") else "v_" + name
