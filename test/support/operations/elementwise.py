"""Every elementwise function and operator, on every element type that it takes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import erf
from typing import Any

import numpy as np
import numpy.typing as npt
from running import Case, case

from operations.data import integers, positive, reals, values
from tiledialect.dialects.tile.elementwise.numeric import kind_of

Array = npt.NDArray[Any]

REALS = ("bfloat16", "float16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
WHOLE = SIGNED + UNSIGNED
ALL = (*REALS, *WHOLE, "bool")


def half_away(a: Array) -> Array:
    return np.sign(a) * np.floor(np.abs(a) + 0.5)


def unit(*shape: int, dtype: str = "float32") -> Array:
    """Numbers from -1 to 1."""
    return np.linspace(-0.99, 0.99, int(np.prod(shape))).reshape(shape).astype(dtype)


UNARY: dict[str, tuple[Callable[..., Array], Callable[..., Array]]] = {
    # name: (meaning, data)
    "abs": (np.abs, reals),
    "acos": (np.arccos, unit),
    "asin": (np.arcsin, unit),
    "atan": (np.arctan, reals),
    "ceil": (np.ceil, reals),
    "cos": (np.cos, reals),
    "cosh": (np.cosh, reals),
    "erf": (np.vectorize(erf), reals),
    "exp": (np.exp, reals),
    "expm1": (np.expm1, reals),
    "floor": (np.floor, reals),
    "ident": (lambda a: a, reals),
    "log": (np.log, positive),
    "log1p": (np.log1p, positive),
    "neg": (np.negative, reals),
    "recip": (lambda a: 1 / a, positive),
    "relu": (lambda a: np.maximum(a, 0), reals),
    "round": (half_away, reals),
    "sigmoid": (lambda a: 1 / (1 + np.exp(-a)), reals),
    "sin": (np.sin, reals),
    "sinh": (np.sinh, reals),
    "sqrt": (np.sqrt, positive),
    "tan": (np.tan, unit),
    "tanh": (np.tanh, reals),
}
KEEP_INTEGERS = ("abs", "ident", "neg", "relu")


def of_reals(name: str, dtype: str) -> Case:
    function, data = UNARY[name]
    return case(
        f"{name}_{dtype}",
        f"function (A) -> (O) {{ O = {name}(A); }}",
        [data(3, 7, dtype=dtype)],
        function,
    )


def of_integers(name: str, dtype: str) -> Case:
    """Integers stay themselves in arithmetic, and become float32 in functions of reals."""
    function, data = UNARY[name]
    low, high = (-9, 9) if data is reals else (1, 9)
    if data is unit:
        low, high = (-1, 1)
    keeps = name in KEEP_INTEGERS
    return case(
        f"{name}_{dtype}",
        f"function (A) -> (O) {{ O = {name}(A); }}",
        [integers(3, 7, dtype=dtype, low=low, high=high)],
        function if keeps else lambda a: function(a.astype(np.float64)),
        dtype=dtype if keeps else np.float32,
    )


def truncated(a: Array, b: Array) -> Array:
    """The quotient of integers as C has it; 0 where the divisor is."""
    wide_a, wide_b = a.astype(object), b.astype(object)
    quotients = [
        0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        for x, y in zip(wide_a.ravel(), wide_b.ravel(), strict=True)
    ]
    return np.array(quotients, dtype=object).reshape(a.shape)


BINARY: dict[str, tuple[str, Callable[..., Array]]] = {
    "add": ("A + B", np.add),
    "sub": ("A - B", np.subtract),
    "mul": ("A * B", np.multiply),
    "max": ("max(A, B)", np.maximum),
    "min": ("min(A, B)", np.minimum),
}
COMPARE: dict[str, tuple[str, Callable[..., Array]]] = {
    "cmp_eq": ("A == B", np.equal),
    "cmp_ne": ("A != B", np.not_equal),
    "cmp_lt": ("A < B", np.less),
    "cmp_gt": ("A > B", np.greater),
    "cmp_le": ("A <= B", np.less_equal),
    "cmp_ge": ("A >= B", np.greater_equal),
}
BITWISE: dict[str, tuple[str, Callable[..., Array]]] = {
    "bit_and": ("A & B", np.bitwise_and),
    "bit_or": ("A | B", np.bitwise_or),
    "bit_xor": ("A ^ B", np.bitwise_xor),
}


def whole_range(*shape: int, dtype: str) -> Array:
    """Integers from all of the type's range, its ends among them."""
    if dtype == "bool":
        return values(*shape, dtype=dtype)
    limits = np.iinfo(dtype)
    random = np.random.default_rng(3)
    data = random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    data.ravel()[:4] = [limits.min, limits.max, 0, 1]
    return data


def binary(name: str, text: str, function: Callable[..., Array], dtype: str) -> Case:
    if kind_of(np.dtype(dtype)) == "f":
        inputs = [reals(3, 7, dtype=dtype), reals(7, dtype=dtype)]
        # Some equal elements, for the comparisons.
        inputs[0][1] = inputs[1]
    else:
        inputs = [whole_range(3, 7, dtype=dtype), whole_range(3, 7, dtype=dtype)[::-1].copy()]
        inputs[0][1] = inputs[1][1]
    return case(
        f"{name}_{dtype}",
        f"function (A, B) -> (O) {{ O = {text}; }}",
        inputs,
        function,
        dtype=bool if name.startswith("cmp") else dtype,
    )


def divided(dtype: str) -> Case:
    inputs = [whole_range(4, 6, dtype=dtype), integers(4, 6, dtype=dtype, low=-3, high=3)]
    # The quotient of the least integer and -1 does not fit: it wraps.
    return case(
        f"div_{dtype}",
        "function (A, B) -> (O) { O = A / B; }",
        inputs,
        lambda a, b: (truncated(a, b) % 2**64).astype(np.uint64),
    )


def shifted(left: bool, dtype: str) -> Case:
    width = 8 * np.dtype(dtype).itemsize

    def expected(a: Array, b: Array) -> Array:
        # Shifts by the width or more leave only the sign.
        shift = np.where(b < width, b, 0)
        rest = np.where(a < 0, -1, 0) if not left and np.dtype(dtype).kind == "i" else 0
        return np.where(b < width, a << shift if left else a >> shift, rest)

    amounts = np.array([0, 1, 3, width - 1, width, 100, 2], dtype)
    return case(
        f"{'left' if left else 'right'}_shift_{dtype}",
        f"function (A, B) -> (O) {{ O = A {'<<' if left else '>>'} B; }}",
        [whole_range(3, 7, dtype=dtype), amounts],
        expected,
    )


def converted(source: str, target: str) -> Case:
    """`as_float`, `as_int`, `as_uint`, `as_bool`; integers wrap, and reals cut off do."""
    kind, width = kind_of(np.dtype(target)), 8 * np.dtype(target).itemsize
    real = "as_bfloat" if target == "bfloat16" else "as_float"
    call = {"f": f"{real}(A, {width})", "i": f"as_int(A, {width})", "u": f"as_uint(A, {width})"}
    data = values(4, 6, dtype=source)
    if np.dtype(source).kind in "iu" and kind in "iu":
        data = whole_range(4, 6, dtype=source)
    is_cut_off = kind_of(np.dtype(source)) == "f" and kind in "iu"
    if kind_of(np.dtype(source)) == "f":
        data = data * data.dtype.type(20)
        data.ravel()[:6] = [0, 0.5, -0.5, -1, 255.5, 65504]
    return case(
        f"cast_{source}_to_{target}",
        f"function (A) -> (O) {{ O = {call.get(kind, 'as_bool(A)')}; }}",
        [data],
        lambda a: a != 0 if kind == "b" else a.astype(np.int64) if is_cut_off else a,
        dtype=target,
    )


def chosen(dtype: str, condition: str) -> Case:
    return case(
        f"select_{dtype}_on_{condition}",
        "function (C, A, B) -> (O) { O = C ? A : B; }",
        [
            integers(3, 7, low=0, high=1).astype(condition),
            values(3, 7, dtype=dtype),
            values(7, dtype=dtype),
        ],
        np.where,
        dtype=dtype,
    )


PROMOTIONS = {
    ("float16", "int32"): "float16",
    ("float16", "float32"): "float32",
    ("bfloat16", "float16"): "float32",
    ("bfloat16", "float32"): "float32",
    ("bfloat16", "int32"): "bfloat16",
    ("float32", "float64"): "float64",
    ("int64", "float32"): "float32",
    ("bool", "float16"): "float16",
    ("int8", "int32"): "int32",
    ("uint8", "int8"): "int16",
    ("uint8", "int16"): "int16",
    ("uint16", "int8"): "int32",
    ("uint32", "int32"): "int64",
    ("uint8", "uint32"): "uint32",
    ("bool", "uint8"): "uint8",
    ("bool", "bool"): "int32",
}


def promoted(a: str, b: str, wanted: str) -> Case:
    inputs = [integers(3, 4, dtype=a, low=0, high=1), integers(4, dtype=b, low=0, high=9)]
    return case(
        f"promote_{a}_and_{b}",
        "function (A, B) -> (O) { O = A + B; }",
        inputs,
        lambda x, y: x.astype(wanted) + y.astype(wanted),
        dtype=wanted,
    )


def literal(dtype: str, text: str, wanted: str) -> Case:
    """A number in the text takes the tensor's type; a real one makes integers float32."""
    return case(
        f"literal_{text}_and_{dtype}",
        f"function (A) -> (O) {{ O = A * {text}; }}",
        [values(3, 4, dtype=dtype)],
        lambda a: a.astype(np.float64) * float(text),
        dtype=wanted,
    )


def composed(
    name: str,
    header: str,
    body: str,
    function: Callable[..., Any],
    *inputs: Array,
    scale: float | None = None,
) -> Case:
    return case(name, f"function ({header}) -> (O) {{ {body} }}", inputs, function, scale=scale)


CHAIN = "T0 = A; " + " ".join(f"T{k + 1} = sin(T{k}) + A;" for k in range(19)) + " O = T19;"


def chain(a: Array) -> Array:
    total = a
    for _ in range(19):
        total = np.sin(total) + a
    return total


def gelu(a: Array) -> Array:
    return 0.5 * a * (1 + np.vectorize(erf)(a / np.sqrt(2)))


COMPOSED = [
    composed("clip", "A", "O = min(max(A, -0.5), 0.5);", lambda a: np.clip(a, -0.5, 0.5), reals(4, 5)),
    # exp(A) and 1 cancel near 0.
    composed(
        "elu", "A", "O = A < 0 ? 0.7 * (exp(A) - 1) : A;", lambda a: np.where(a < 0, 0.7 * np.expm1(a), a),
        reals(4, 5), scale=0.7,
    ),
    composed("leaky_relu", "A", "O = A < 0 ? 0.1 * A : A;", lambda a: np.where(a < 0, 0.1 * a, a), reals(4, 5)),
    composed(
        "relu6", "A", "O = A < 0 ? 0 : (A < 6 ? A : 6);", lambda a: np.clip(a, 0, 6), reals(4, 5) * np.float32(5)
    ),
    composed("gelu", "A", "O = 0.5 * A * (1 + erf(A / sqrt(2.0)));", gelu, reals(4, 5)),
    composed(
        "gelu_by_tanh",
        "A",
        "O = 0.5 * A * (1 + tanh(0.7978845608 * (A + 0.044715 * A * A * A)));",
        lambda a: 0.5 * a * (1 + np.tanh(0.7978845608 * (a + 0.044715 * a**3))),
        reals(4, 5),
    ),
    composed("softplus", "A", "O = log(1 + exp(A));", lambda a: np.log1p(np.exp(a)), reals(4, 5)),
    composed("swish", "A", "O = A * sigmoid(A);", lambda a: a / (1 + np.exp(-a)), reals(4, 5)),
    composed(
        "hard_sigmoid",
        "A",
        "O = max(0, min(1, 0.2 * A + 0.5));",
        lambda a: np.clip(0.2 * a + 0.5, 0, 1),
        reals(4, 5) * np.float32(4),
    ),
    composed("square", "A", "O = A * A;", np.square, reals(4, 5)),
    composed("cube_of_sum", "A, B", "C = A + B; O = C * C * C;", lambda a, b: (a + b) ** 3, reals(4, 5), reals(5)),
    composed("power", "A, B", "O = pow(A, B);", np.power, positive(4, 5), reals(4, 5)),
    composed("small_powers", "A", "O = pow(A, 2) - pow(A, 3) + pow(A, 4) / 7 + pow(A, -1);", lambda a: a**2 - a**3 + a**4 / 7 + 1 / a, reals(4, 5)),
    composed("power_float64", "A, B", "O = pow(A, B);", np.power, positive(4, 5, dtype="float64"), reals(5, dtype="float64")),
    composed("power_of_2", "A", "O = pow(A, 2);", np.square, reals(4, 5)),
    composed("integer_power", "A, B", "O = pow(A, B);", np.power, integers(4, 5), integers(4, 5, low=0, high=4)),
    composed("outer_sum", "A, B", "O = A + B;", np.add, reals(4, 1), reals(1, 5)),
    composed("broadcast_3d", "A, B", "O = A * B;", np.multiply, reals(2, 3, 4), reals(3, 1)),
    composed("scalar_operand", "A, S[]", "O = A * S;", np.multiply, reals(4, 5), reals()),
    composed("named_operators", "A, B", "O = sub(mul(A, B), div(A, add(B, 3)));",
             lambda a, b: a * b - a / (b + 3), reals(4, 5), positive(4, 5)),
    composed("named_select", "A, B", "O = select(cmp_lt(A, B), A, B);", np.minimum, reals(4, 5), reals(4, 5)),
    composed("named_cond", "A, B", "O = cond(A > B, A, B);", np.maximum, reals(4, 5), reals(4, 5)),
    composed("precedence", "A, B, C", "O = -A + B * C / 2 - A * -C;", lambda a, b, c: -a + b * c / 2 + a * c,
             reals(4), reals(4), reals(4)),
    composed("bit_precedence", "A, B, C", "O = A | B ^ C & ~A << 1 + 1;", lambda a, b, c: a | (b ^ (c & (~a << 2))),
             integers(9), integers(9), integers(9)),
    composed("long_chain", "A", CHAIN, chain, reals(4, 5)),
    composed("used_twice", "A", "E = exp(A); S[] = +(E[i, j]); O = E / S;", lambda a: np.exp(a) / np.exp(a).sum(), reals(4, 5)),
    composed("empty", "A, B", "O = A + B;", np.add, reals(0, 5), reals(5)),
    composed("one_element", "A", "O = exp(A);", np.exp, reals(1, 1, 1)),
    composed("scalar", "A", "O = exp(A);", np.exp, reals()),
    composed("odd_size", "A", "O = A + 1;", lambda a: a + 1, reals(1009)),
    composed("rank_6", "A", "O = A * 2;", lambda a: a * 2, reals(2, 1, 3, 2, 1, 2)),
]  # fmt: skip


SPECIAL_VALUES = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5], np.float32)


def special_values(text: str, function: Callable[..., Any], dtype: Any = None) -> Case:
    return case(
        f"special_values_in_{text.replace(' ', '')}",
        f"function (A, B) -> (O) {{ O = {text}; }}",
        [SPECIAL_VALUES[:, None], SPECIAL_VALUES],
        function,
        dtype=dtype,
    )


SPECIAL = [
    special_values("max(A, B)", np.maximum),
    special_values("min(A, B)", np.minimum),
    special_values("A + B", np.add),
    special_values("A * B", np.multiply),
    special_values("A / B", np.divide),
    special_values("A < B", np.less, bool),
    special_values("A >= B", np.greater_equal, bool),
    special_values("A == B", np.equal, bool),
    special_values("A != B", np.not_equal, bool),
    special_values("A ? B : 1", lambda a, b: np.where(a != 0, b, 1)),
    special_values("relu(A) + 0 * B", lambda a, b: np.where(a < 0, 0, a) + 0 * b),
    special_values("abs(A) + exp(B)", lambda a, b: np.abs(a) + np.exp(b)),
    special_values("round(A) - floor(B)", lambda a, b: half_away(a) - np.floor(b)),
    special_values("sqrt(A) + tanh(B)", lambda a, b: np.sqrt(a) + np.tanh(b)),
    special_values("as_bool(A) != as_bool(B)", lambda a, b: (a != 0) != (b != 0), bool),
]
ROUNDING = [
    case(
        f"{name}_of_halves_{dtype}",
        f"function (A) -> (O) {{ O = {name}(A); }}",
        [np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, -0.2, 1e9], dtype)],
        function,
    )
    for dtype in ("float32", "float64")
    for name, function in (("round", half_away), ("ceil", np.ceil), ("floor", np.floor))
]

CASES = [
    *(of_reals(name, d) for name, d in product(UNARY, REALS)),
    *(of_integers(name, d) for name in UNARY for d in ("int32", "uint8", "int64")),
    *(of_integers(name, d) for name in KEEP_INTEGERS for d in ("int8", "int16", "uint64")),
    *(binary(n, *f, d) for (n, f), d in product(BINARY.items(), (*REALS, *WHOLE))),
    *(binary(n, *f, d) for (n, f), d in product(COMPARE.items(), ALL)),
    *(binary(n, *f, d) for (n, f), d in product(BITWISE.items(), (*WHOLE, "bool"))),
    *(
        case(f"bit_not_{d}", "function (A) -> (O) { O = ~A; }", [whole_range(3, 7, dtype=d)], np.invert)
        for d in (*WHOLE, "bool")
    ),
    *map(divided, WHOLE),
    *(binary("div", "A / B", np.divide, d) for d in REALS),
    *(shifted(left, d) for left, d in product((True, False), WHOLE)),
    *(converted(a, b) for a, b in product(ALL, ALL)),
    *(chosen(d, "bool") for d in ALL),
    *(chosen("float32", c) for c in ("int32", "float32", "uint8", "float16")),
    *(promoted(*types, wanted) for types, wanted in PROMOTIONS.items()),
    *(promoted(b, a, wanted) for (a, b), wanted in PROMOTIONS.items() if a != b),
    *(literal(d, "3", d) for d in (*REALS, *WHOLE)),
    *(literal(d, "0.5", d) for d in REALS),
    *(literal(d, "0.5", "float32") for d in ("int8", "uint32", "int64", "bool")),
    *COMPOSED,
    *SPECIAL,
    *ROUNDING,
]  # fmt: skip
