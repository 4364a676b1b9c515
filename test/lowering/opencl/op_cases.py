"""Ops on scalars and vectors, with what NumPy says that they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from printing import NUMPY, kernel

INTS = {
    "i8": np.array([0, 1, -1, 2, -2, 5, -7, 100, 127, -128, -127, 64], np.int8),
    "i16": np.array([0, 1, -1, 2, -2, 5, -7, 255, 32767, -32768, -300, 182], np.int16),
    "i32": np.array([0, 1, -1, 2, -2, 5, -7, 65536, 2**31 - 1, -(2**31), 46341, -12345], np.int32),
    "i64": np.array([0, 1, -1, 2, -2, 5, -7, 2**32, 2**63 - 1, -(2**63), 3037000500, -12], np.int64),
    "i1": np.array([False, True]),
}  # fmt: skip
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-3, 1000.0, math.inf, -math.inf, math.nan]


def values(type: str) -> np.ndarray:
    if type in ("f16", "f32", "f64"):
        return np.array([*FLOATS, 1 / 3, 65504.0, 0.1, 2.0], NUMPY[type])
    return INTS["i64" if type == "index" else type]


def every_pair(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(a, b)
    return x.ravel(), y.ravel()


@dataclass(frozen=True)
class Case:
    """An op on some arguments: ``body`` computes ``%r`` from ``%a``, ``%b``, ``%c``."""

    name: str
    body: str
    types: tuple[str, ...]
    result: str
    expected: Callable[..., np.ndarray]
    valid: Callable[..., np.ndarray] | None = None
    """For which arguments the op means something."""
    ulps: float = 0
    """Tolerance to NumPy's result, in units in the last place."""
    lanes: int = 1

    @property
    def arguments(self) -> list[np.ndarray]:
        columns: list[np.ndarray] = [values(t) for t in self.types]
        if len(columns) > 1:
            grid = np.meshgrid(*columns, indexing="ij")
            columns = [g.ravel() for g in grid]
        if self.valid:
            with np.errstate(all="ignore"):
                keep = self.valid(*columns)
            columns = [c[keep] for c in columns]
        missing = -len(columns[0]) % 16
        return [np.concatenate([c, np.repeat(c[:1], missing)]) for c in columns]

    @property
    def text(self) -> str:
        """The kernel: a work-item an element, or a vector of them."""
        names = "abc"[: len(self.types)]
        arguments = {f"p{n}": f"memref<?x{t}>" for n, t in zip(names, self.types, strict=True)}
        arguments["out"] = f"memref<?x{self.result}>"
        lines = ['%i = "gpu.global_id"() <{dimension = #gpu<dim x>}> : () -> index']
        if self.lanes == 1:
            for n, t in zip(names, self.types, strict=True):
                lines.append(f"%{n} = memref.load %p{n}[%i] : memref<?x{t}>")
            lines += [self.body, f"memref.store %r, %out[%i] : memref<?x{self.result}>"]
        else:
            lines.append(f"%lanes = arith.constant {self.lanes} : index")
            lines.append("%at = arith.muli %i, %lanes : index")
            for n, t in zip(names, self.types, strict=True):
                vector = f"vector<{self.lanes}x{t}>"
                lines.append(f"%{n} = vector.load %p{n}[%at] : memref<?x{t}>, {vector}")
            vector = f"vector<{self.lanes}x{self.result}>"
            store = f"vector.store %r, %out[%at] : memref<?x{self.result}>, {vector}"
            lines += [self.body, store]
        return kernel(self.name, arguments, "\n".join(lines))


def unsigned(a: np.ndarray) -> np.ndarray:
    return a if a.dtype == np.bool_ else a.view(f"u{a.dtype}")


def bits(type: str) -> int:
    return 64 if type == "index" else int(type[1:])


def exact(function: Callable[..., object], type: str) -> Callable[..., np.ndarray]:
    """A function of Python's integers, modulo 2**bits."""

    def apply(*columns: np.ndarray) -> np.ndarray:
        width = bits(type)
        results = [int(function(*(int(x) for x in row))) for row in zip(*columns, strict=True)]
        wrapped = [(r + (1 << width - 1)) % (1 << width) - (1 << width - 1) for r in results]
        return np.array(wrapped, NUMPY[type])

    return apply


def of_unsigned(function: Callable[..., int], type: str) -> Callable[..., np.ndarray]:
    inner = exact(function, type)
    return lambda *columns: inner(*(unsigned(c) for c in columns))


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def power(a: int, b: int) -> int:
    if b < 0:
        return 1 if a == 1 else (-1 if b % 2 else 1) if a == -1 else 0
    return a**b if b < 128 else pow(a, b, 1 << 64)


def divisible(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (b != 0) & ~((b == -1) & (a == np.iinfo(a.dtype).min))


def nonzero(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return b != 0


def shiftable(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (b >= 0) & (b < a.dtype.itemsize * 8)


INTEGER_OPS: dict[str, tuple[Callable[..., int], bool, Callable[..., np.ndarray] | None]] = {
    "arith.addi": (lambda a, b: a + b, False, None),
    "arith.subi": (lambda a, b: a - b, False, None),
    "arith.muli": (lambda a, b: a * b, False, None),
    "arith.divsi": (truncated, False, divisible),
    "arith.remsi": (lambda a, b: a - b * truncated(a, b), False, divisible),
    "arith.divui": (lambda a, b: a // b, True, nonzero),
    "arith.remui": (lambda a, b: a % b, True, nonzero),
    "arith.floordivsi": (lambda a, b: a // b, False, divisible),
    "arith.ceildivsi": (lambda a, b: -(-a // b), False, divisible),
    "arith.ceildivui": (lambda a, b: -(-a // b), True, nonzero),
    "arith.andi": (lambda a, b: a & b, False, None),
    "arith.ori": (lambda a, b: a | b, False, None),
    "arith.xori": (lambda a, b: a ^ b, False, None),
    "arith.shli": (lambda a, b: a << b, False, shiftable),
    "arith.shrsi": (lambda a, b: a >> b, False, shiftable),
    "arith.shrui": (lambda a, b: a >> b, True, shiftable),
    "arith.minsi": (min, False, None),
    "arith.maxsi": (max, False, None),
    "arith.minui": (min, True, None),
    "arith.maxui": (max, True, None),
    "math.ipowi": (power, False, lambda a, b: ~((a == 0) & (b < 0))),
}


def integer_cases() -> list[Case]:
    cases = []
    for op, (function, is_unsigned, valid) in INTEGER_OPS.items():
        for type in ("i8", "i16", "i32", "i64", "index"):
            if type == "index" and op in ("arith.addi", "arith.subi", "arith.muli"):
                continue  # index does not overflow
            body = f"%r = {op} %a, %b : {type}"
            expected = (of_unsigned if is_unsigned else exact)(function, type)
            name = f"{op.replace('.', '_')}_{type}"
            cases.append(Case(name, body, (type, type), type, expected, valid))
            if type in ("i8", "i32") and op != "math.ipowi":
                body = f"%r = {op} %a, %b : vector<4x{type}>"
                cases.append(Case(f"{name}x4", body, (type, type), type, expected, valid, lanes=4))
    return cases


BOOL_OPS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "arith.addi": np.logical_xor, "arith.subi": np.logical_xor, "arith.xori": np.logical_xor,
    "arith.muli": np.logical_and, "arith.andi": np.logical_and, "arith.ori": np.logical_or,
    "arith.minui": np.logical_and, "arith.maxui": np.logical_or,
    "arith.minsi": np.logical_or, "arith.maxsi": np.logical_and,
}  # fmt: skip


def bool_cases() -> list[Case]:
    cases = []
    for op, expected in BOOL_OPS.items():
        name = f"{op.replace('.', '_')}_i1"
        cases.append(Case(name, f"%r = {op} %a, %b : i1", ("i1", "i1"), "i1", expected))
        body = f"%r = {op} %a, %b : vector<4xi1>"
        cases.append(Case(f"{name}x4", body, ("i1", "i1"), "i1", expected, lanes=4))
    for op in ("divui", "divsi", "floordivsi", "ceildivui"):
        body = f"%r = arith.{op} %a, %b : i1"
        cases.append(Case(f"{op}_i1", body, ("i1", "i1"), "i1", lambda a, b: a, lambda a, b: b))
    return cases


INTEGER_PREDICATES: dict[str, tuple[Callable[..., np.ndarray], bool]] = {
    "eq": (np.equal, False), "ne": (np.not_equal, False), "slt": (np.less, False),
    "sle": (np.less_equal, False), "sgt": (np.greater, False), "sge": (np.greater_equal, False),
    "ult": (np.less, True), "ule": (np.less_equal, True), "ugt": (np.greater, True),
    "uge": (np.greater_equal, True),
}  # fmt: skip


def ordered(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda a, b: ~np.isnan(a) & ~np.isnan(b) & function(a, b)


def unordered(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda a, b: np.isnan(a) | np.isnan(b) | function(a, b)


FLOAT_PREDICATES: dict[str, Callable[..., np.ndarray]] = {
    "false": lambda a, b: np.zeros_like(a, bool), "oeq": ordered(np.equal),
    "ogt": ordered(np.greater), "oge": ordered(np.greater_equal), "olt": ordered(np.less),
    "ole": ordered(np.less_equal), "one": ordered(np.not_equal),
    "ord": ordered(lambda a, b: np.ones_like(a, bool)), "ueq": unordered(np.equal),
    "ugt": unordered(np.greater), "uge": unordered(np.greater_equal), "ult": unordered(np.less),
    "ule": unordered(np.less_equal), "une": unordered(np.not_equal),
    "uno": unordered(lambda a, b: np.zeros_like(a, bool)), "true": lambda a, b: np.ones_like(a, bool),
}  # fmt: skip


def signed_bool(a: np.ndarray) -> np.ndarray:
    return -a.astype(np.int8) if a.dtype == np.bool_ else a


def comparison_cases() -> list[Case]:
    cases = []
    for number, (predicate, (function, is_unsigned)) in enumerate(INTEGER_PREDICATES.items()):
        view = unsigned if is_unsigned else signed_bool

        def expected(a: np.ndarray, b: np.ndarray, f=function, view=view) -> np.ndarray:
            return f(view(a), view(b))

        for type in ("i1", "i8", "i32"):
            body = f"%r = arith.cmpi {predicate}, %a, %b : {type}"
            cases.append(Case(f"cmpi_{predicate}_{type}", body, (type, type), "i1", expected))
            vector = f"vector<4x{type}>"
            body = (
                f'%r = "arith.cmpi"(%a, %b) <{{predicate = {number} : i64}}> '
                f": ({vector}, {vector}) -> vector<4xi1>"
            )
            name = f"cmpi_{predicate}_{type}x4"
            cases.append(Case(name, body, (type, type), "i1", expected, lanes=4))
    for number, (predicate, expected) in enumerate(FLOAT_PREDICATES.items()):
        for type in ("f16", "f32", "f64"):
            body = f"%r = arith.cmpf {predicate}, %a, %b : {type}"
            cases.append(Case(f"cmpf_{predicate}_{type}", body, (type, type), "i1", expected))
            vector = f"vector<4x{type}>"
            body = (
                f'%r = "arith.cmpf"(%a, %b) <{{predicate = {number} : i64, '
                f"fastmath = #arith.fastmath<none>}}> : ({vector}, {vector}) -> vector<4xi1>"
            )
            name = f"cmpf_{predicate}_{type}x4"
            cases.append(Case(name, body, (type, type), "i1", expected, lanes=4))
    return cases


def propagating(function: Callable[..., np.ndarray], sign: bool) -> Callable[..., np.ndarray]:
    """NumPy's minimum or maximum, with -0.0 less than 0.0."""

    def apply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        negative = (np.signbit(a) | np.signbit(b)) if sign else (np.signbit(a) & np.signbit(b))
        zero = np.where(negative, -0.0, 0.0).astype(a.dtype)
        return np.where((a == 0) & (b == 0), zero, function(a, b))

    return apply


def not_both_zero(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a != 0) | (b != 0) | (np.signbit(a) == np.signbit(b))


FLOAT_OPS: dict[str, tuple[Callable[..., np.ndarray], Callable[..., np.ndarray] | None]] = {
    "arith.addf": (np.add, None),
    "arith.subf": (np.subtract, None),
    "arith.mulf": (np.multiply, None),
    "arith.divf": (np.divide, None),
    "arith.minimumf": (propagating(np.minimum, True), None),
    "arith.maximumf": (propagating(np.maximum, False), None),
    "arith.minnumf": (np.fmin, not_both_zero),
    "arith.maxnumf": (np.fmax, not_both_zero),
    "math.copysign": (np.copysign, lambda a, b: ~np.isnan(b)),
}

# Function, arguments for which it is compared, ULPs for f32 (OpenCL's own bounds, doubled for
# NumPy's and for f64).
MATH_OPS: dict[str, tuple[Callable[..., np.ndarray], Callable[..., np.ndarray] | None, float]] = {
    "absf": (np.abs, None, 0), "ceil": (np.ceil, None, 0), "floor": (np.floor, None, 0),
    "trunc": (np.trunc, None, 0), "roundeven": (np.rint, None, 0),
    "round": (lambda a: np.copysign(np.floor(np.abs(a) + np.where(np.abs(a) < 2**20, 0.5, 0).astype(a.dtype)), a).astype(a.dtype), None, 0),
    "sqrt": (np.sqrt, None, 4), "rsqrt": (lambda a: (1 / np.sqrt(a)).astype(a.dtype), lambda a: ~(np.signbit(a) & (a == 0)), 4),
    "cbrt": (np.cbrt, None, 4), "exp": (np.exp, None, 6), "exp2": (np.exp2, None, 6),
    "expm1": (np.expm1, None, 6), "log": (np.log, None, 6), "log2": (np.log2, None, 6),
    "log10": (np.log10, None, 6), "log1p": (np.log1p, None, 6),
    "sin": (np.sin, None, 8), "cos": (np.cos, None, 8), "tan": (np.tan, None, 10),
    "asin": (np.arcsin, None, 8), "acos": (np.arccos, None, 8), "atan": (np.arctan, None, 10),
    "sinh": (np.sinh, None, 8), "cosh": (np.cosh, None, 8), "tanh": (np.tanh, None, 10),
    "asinh": (np.arcsinh, None, 8), "acosh": (np.arccosh, None, 8), "atanh": (np.arctanh, None, 10),
    "erf": (lambda a: np.array([math.erf(x) for x in a], a.dtype), None, 32),
}  # fmt: skip


def float_cases() -> list[Case]:
    cases = []
    for op, (expected, valid) in FLOAT_OPS.items():
        name = op.replace(".", "_")
        for type in ("f16", "f32", "f64"):
            ulps = {"f16": 1, "f32": 2.5, "f64": 0}[type] if op == "arith.divf" else 0
            body = f"%r = {op} %a, %b : {type}"
            cases.append(Case(f"{name}_{type}", body, (type, type), type, expected, valid, ulps))
            body = f"%r = {op} %a, %b : vector<4x{type}>"
            cases.append(
                Case(f"{name}_{type}x4", body, (type, type), type, expected, valid, ulps, lanes=4)
            )
    for op, (expected, valid, bound) in MATH_OPS.items():
        for type in ("f16", "f32", "f64"):
            ulps = min(bound, 1) if type == "f16" else bound
            body = f"%r = math.{op} %a : {type}"
            cases.append(Case(f"math_{op}_{type}", body, (type,), type, expected, valid, ulps))
            if type != "f32":
                continue
            body = f"%r = math.{op} %a : vector<4x{type}>"
            cases.append(
                Case(f"math_{op}_{type}x4", body, (type,), type, expected, valid, ulps, lanes=4)
            )
    for type in ("f16", "f32", "f64"):
        ulps = 1 if type == "f16" else 16
        for op, expected in {"powf": np.power, "atan2": np.arctan2}.items():
            body = f"%r = math.{op} %a, %b : {type}"
            cases.append(Case(f"math_{op}_{type}", body, (type, type), type, expected, None, ulps))
        body = f"%r = math.fpowi %a, %b : {type}, i32"
        power = Case(
            f"math_fpowi_{type}", body, (type, "i32"), type,
            lambda a, b: np.power(a, b.astype(np.float64)).astype(a.dtype),
            lambda a, b: (np.abs(b) < 8) & ~np.isnan(a), ulps,
        )  # fmt: skip
        body = f"%r = math.fma %a, %a, %b : {type}"
        fma = Case(
            f"math_fma_{type}", body, (type, type), type,
            lambda a, b: (a.astype(np.longdouble) ** 2 + b).astype(a.dtype),
        )  # fmt: skip
        negf = Case(
            f"arith_negf_{type}", f"%r = arith.negf %a : {type}", (type,), type, np.negative
        )
        cases += [power, fma, negf]
    return cases


COUNTS: dict[str, Callable[[int, int], int]] = {
    "ctlz": lambda x, n: n - x.bit_length(),
    "cttz": lambda x, n: (x & -x).bit_length() - 1 if x else n,
    "ctpop": lambda x, n: x.bit_count(),
}


def count_cases() -> list[Case]:
    cases = []
    for type in ("i1", "i8", "i16", "i32", "i64"):
        lanes = f"vector<4x{type}>"
        for op, function in COUNTS.items():
            n = bits(type)

            def expected(a: np.ndarray, f=function, n=n, type=type) -> np.ndarray:
                return np.array([f(int(x), n) for x in unsigned(a)]).astype(NUMPY[type])

            body = f"%r = math.{op} %a : {type}"
            cases.append(Case(f"math_{op}_{type}", body, (type,), type, expected))
            body = f"%r = math.{op} %a : {lanes}"
            cases.append(Case(f"math_{op}_{type}x4", body, (type,), type, expected, lanes=4))
        if type != "i1":
            body = f"%r = math.absi %a : {type}"
            cases.append(Case(f"math_absi_{type}", body, (type,), type, np.abs))
            body = f"%r = math.absi %a : {lanes}"
            cases.append(Case(f"math_absi_{type}x4", body, (type,), type, np.abs, lanes=4))
    return cases


def extended_cases() -> list[Case]:
    cases = []
    for type in ("i8", "i16", "i32", "i64"):
        n = bits(type)
        pair = (type, type)
        sums = f"%s, %r = arith.addui_extended %a, %b : {type}, i1"

        def overflow(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return unsigned(a + b) < unsigned(a)

        cases.append(Case(f"addui_overflow_{type}", sums, pair, "i1", overflow))
        total = f"%r, %o = arith.addui_extended %a, %b : {type}, i1"
        cases.append(Case(f"addui_sum_{type}", total, pair, type, np.add))
        vector = f"vector<4x{type}>"
        sums = f"%s, %r = arith.addui_extended %a, %b : {vector}, vector<4xi1>"
        cases.append(Case(f"addui_overflow_{type}x4", sums, pair, "i1", overflow, lanes=4))
        for op, convert in {"mulsi": exact, "mului": of_unsigned}.items():
            for lanes, t in ((1, type), (4, vector)):
                high = f"%l, %r = arith.{op}_extended %a, %b : {t}"
                high_bits = convert(lambda a, b, n=n: a * b >> n, type)
                cases.append(
                    Case(f"{op}_high_{type}x{lanes}", high, pair, type, high_bits, lanes=lanes)
                )
                low = f"%r, %h = arith.{op}_extended %a, %b : {t}"
                low_bits = convert(lambda a, b: a * b, type)
                cases.append(
                    Case(f"{op}_low_{type}x{lanes}", low, pair, type, low_bits, lanes=lanes)
                )
    return cases


def in_range(type: str, *, is_unsigned: bool) -> Callable[[np.ndarray], np.ndarray]:
    low = 0 if is_unsigned else -(2 ** (bits(type) - 1))
    high = 2 ** bits(type) if is_unsigned else 2 ** (bits(type) - 1)
    return lambda a: np.isfinite(a) & (np.trunc(a) >= low) & (np.trunc(a) < high)


def conversion_cases() -> list[Case]:
    cases = []
    ints, floats = ("i1", "i8", "i16", "i32", "i64"), ("f16", "f32", "f64")

    def add(op: str, source: str, target: str, expected: Callable[..., np.ndarray], valid=None):
        body = f"%r = arith.{op} %a : {source} to {target}"
        cases.append(Case(f"{op}_{source}_{target}", body, (source,), target, expected, valid))

    def to(target: str, view: Callable[[np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
        return lambda a: view(a).astype(NUMPY[target])

    for i in ints:
        for f in floats:
            add("sitofp", i, f, to(f, signed_bool))
            add("uitofp", i, f, to(f, unsigned))
            if i != "i1":
                add("fptosi", f, i, to(i, np.trunc), in_range(i, is_unsigned=False))
                add(
                    "fptoui", f, i, lambda a, i=i: np.trunc(a).astype(f"u{np.dtype(NUMPY[i])}").view(NUMPY[i]),
                    in_range(i, is_unsigned=True),
                )  # fmt: skip
        for j in ints:
            if bits(i) < bits(j):
                add("extsi", i, j, to(j, signed_bool))
                add("extui", i, j, to(j, unsigned))
                low = (lambda a: a & 1 != 0) if i == "i1" else to(i, lambda a: a)
                add("trunci", j, i, low)
        if i != "i1":
            add("index_cast", i, "index", to("index", lambda a: a))
            add("index_cast", "index", i, to(i, lambda a: a))
    for a, b in (("f16", "f32"), ("f16", "f64"), ("f32", "f64")):
        add("extf", a, b, to(b, lambda a: a))
        add("truncf", b, a, to(a, lambda a: a))
    for a, b in (("i16", "f16"), ("i32", "f32"), ("i64", "f64")):
        add("bitcast", a, b, lambda x, b=b: x.view(NUMPY[b]))
        add("bitcast", b, a, lambda x, a=a: x.view(NUMPY[a]), lambda x: ~np.isnan(x))
    return cases


def select_cases() -> list[Case]:
    cases = []
    for type in ("i1", "i8", "i16", "i32", "i64", "f16", "f32", "f64"):
        body = f"%r = arith.select %a, %b, %c : {type}"
        cases.append(Case(f"select_{type}", body, ("i1", type, type), type, np.where))
        vector = f"vector<4x{type}>"
        body = f'%r = "arith.select"(%a, %b, %c) : (vector<4xi1>, {vector}, {vector}) -> {vector}'
        cases.append(Case(f"select_{type}x4", body, ("i1", type, type), type, np.where, lanes=4))
        body = (
            "%z = arith.constant 0 : index\n%first = vector.extract %a[0] : i1 from vector<4xi1>\n"
            f"%r = arith.select %first, %b, %c : {vector}"
        )
        cases.append(
            Case(
                f"select_whole_{type}x4",
                body,
                ("i1", type, type),
                type,
                lambda a, b, c: np.where(np.repeat(a[::4], 4), b, c),
                lanes=4,
            )
        )
    return cases


CASES = [
    *integer_cases(), *bool_cases(), *comparison_cases(), *float_cases(), *count_cases(),
    *extended_cases(), *conversion_cases(), *select_cases(),
]  # fmt: skip
