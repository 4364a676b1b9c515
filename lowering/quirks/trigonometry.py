"""Sines, cosines and tangents in OpenCL C, for platforms whose own are slow, or wrong on vectors.

PoCL's functions on vectors of floats are calls, and one number beyond 1e10 makes results near zero
in other lanes twice as large.
"""

from __future__ import annotations

LARGEST = "4e8f"
"""Largest number that is reduced by multiples of half pi in two parts; a call reduces others."""

# The low bits of a double so large are the integer that was added to it. Of the two parts of half
# pi the first has 25 bits, so that its products with these integers are exact.
REDUCED = """{inline} {float} native_reduced({float} x, __private {int} *quarter)
{{
    {double} wide = {to_double};
    {double} count = wide * 0.6366197723675814 + 6755399441055744.0;
    *quarter = {to_int};
    count -= 6755399441055744.0;
    wide = wide - count * 1.5707963109016418 - count * 1.5893254773528197e-8;
    return {to_float};
}}
"""

# At 0 these are the number itself, with its sign, and 1.
WAVES = """{inline} {float} native_odd_wave({float} x)
{{
    {float} z = x * x;
    {float} y = (-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f;
    return (y * z + 1.0f) * x;
}}
{inline} {float} native_even_wave({float} x)
{{
    {float} z = x * x;
    {float} y = (2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f;
    return (y * z - 0.5f) * z + 1.0f;
}}
"""

SINE = """{inline} {float} native_turned({float} x, {int} quarter)
{{
    {float} y = quarter << 31 ? native_even_wave(x) : native_odd_wave(x);
    return as_{float}(as_{int}(y) ^ (quarter & 2) << 30);
}}
{inline} {float} native_near_sin({float} x)
{{
    {int} quarter;
    {float} rest = native_reduced(x, &quarter);
    return native_turned(rest, quarter);
}}
{inline} {float} native_near_cos({float} x)
{{
    {int} quarter;
    {float} rest = native_reduced(x, &quarter);
    return native_turned(rest, quarter + 1);
}}
{inline} {float} native_near_tan({float} x)
{{
    {int} quarter;
    {float} rest = native_reduced(x, &quarter);
    {float} odd = native_odd_wave(rest), even = native_even_wave(rest);
    {int} turned = quarter << 31;
    return (turned ? -even : odd) / (turned ? odd : even);
}}
"""

ANY = """{inline} int native_any({int} x) {{ return {parts}; }}
"""
ALL_NUMBERS = """{inline} {float} native_own_{name}({float} x)
{{
    {float} y = native_near_{name}(x);
    {int} large = fabs(x) > {largest};
    if (native_any(large)) {{
{calls}    }}
    return y;
}}
"""
CALL = """        if (large{lane}) y{lane} = {name}(x{lane});
"""
OTHERS = """{inline} double{n} native_own_{name}(double{n} x) {{ return {name}(x); }}
"""
MACROS = """#undef {name}
#define {name}(x) native_own_{name}(x)
"""
FUNCTIONS = ("sin", "cos", "tan")


def trigonometry(inline: str, vectors: tuple[int, ...]) -> str:
    """The functions for floats and vectors of them, given how a function begins; needs doubles."""
    text = "".join(_for_lanes(inline, lanes) for lanes in (1, *vectors))
    return text + "".join(MACROS.format(name=name) for name in FUNCTIONS)


def _for_lanes(inline: str, lanes: int) -> str:
    n = "" if lanes == 1 else lanes
    types = {"inline": inline, "float": f"float{n}", "int": f"int{n}", "double": f"double{n}"}
    conversions = {
        "to_double": _converted("x", f"double{n}"),
        "to_float": _converted("wide", f"float{n}"),
        "to_int": _converted(f"as_long{n}(count)", f"int{n}"),
    }
    text = REDUCED.format(**types, **conversions) + WAVES.format(**types) + SINE.format(**types)
    parts = {1: "x", 3: "x.s0 | x.s1 | x.s2"}.get(lanes, "native_any(x.lo | x.hi)")
    text += ANY.format(**types, parts=parts)
    names = [f".s{k:x}" for k in range(lanes)] if lanes > 1 else [""]
    for name in FUNCTIONS:
        calls = "".join(CALL.format(name=name, lane=lane) for lane in names)
        text += ALL_NUMBERS.format(**types, name=name, largest=LARGEST, calls=calls)
        text += OTHERS.format(inline=inline, name=name, n=n)
    return text


def _converted(value: str, type: str) -> str:
    """Clang's own conversion, which is no call."""
    scalar = not type[-1].isdigit()
    return f"({type})({value})" if scalar else f"__builtin_convertvector({value}, {type})"
