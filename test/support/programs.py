"""Random Tile programs as text, with shapes and types for their inputs (hypothesis strategies).

Every program is correct: it loads, specializes to the shapes that it comes with, and means
something. Values are not looked at, so that a program may overflow or divide by zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

SIZES = (1, 2, 3, 4, 5)
DTYPES = {
    "real": ("float32", "float64", "float16"),
    "integer": ("int32", "int64", "int16", "int8", "uint8", "uint16", "uint32", "uint64"),
    "bool": ("bool",),
}
"""Types by their kind, which decides what may be done with a tensor."""

INDICES = ("i", "j", "k", "x", "y_1", "z'")

Form = tuple[str, tuple[str, ...]]
"""The text of a function or operator, and the kinds that it takes."""

FUNCTIONS = [
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "floor",
    "log",
    "log1p",
    "recip",
    "round",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
ARITHMETIC = ("{} + {}", "{} - {}", "{} * {}", "max({}, {})", "min({}, {})")
BITWISE = ("{} & {}", "{} | {}", "{} ^ {}")


def _forms(texts: Sequence[str], *kinds: str) -> list[Form]:
    return [(text, kinds) for text in texts]


FORMS: dict[str, list[Form]] = {
    "real": [
        *_forms(["-{}", "abs({})", "relu({})", "ident({})"], "real"),
        *_forms([f"{name}({{}})" for name in FUNCTIONS], "real"),
        *_forms(["exp({})", "sqrt({})"], "integer"),
        *_forms([*ARITHMETIC, "{} / {}", "pow({}, {})", "div({}, {})"], "real", "real"),
        *_forms(["{} + {}", "{} * {}", "{} / {}"], "real", "integer"),
        *_forms(["{} ? {} : {}", "cond({}, {}, {})"], "bool", "real", "real"),
    ],
    "integer": [
        *_forms(["-{}", "abs({})", "~{}", "relu({})", "{} / 3", "-{} / 2", "{} % 3"], "integer"),
        *_forms([*ARITHMETIC, *BITWISE, "{} << {}", "{} >> {}"], "integer", "integer"),
        *_forms(["{} + {}", "{} * {}"], "bool", "integer"),
        *_forms(["{} ? {} : {}", "select({}, {}, {})"], "bool", "integer", "integer"),
    ],
    "bool": [
        *_forms(
            [f"{{}} {operator} {{}}" for operator in ["<", "<=", ">", ">=", "==", "!="]],
            "real",
            "real",
        ),
        *_forms(["cmp_lt({}, {})", "{} == {}"], "integer", "integer"),
        *_forms(BITWISE, "bool", "bool"),
        *_forms(["~{}", "!{}", "as_bool({})"], "bool"),
        *_forms(["!{}"], "real"),
    ],
}
"""Makers of expressions of each kind."""


@dataclass(frozen=True)
class Tensor:
    """A tensor that a program has."""

    name: str
    shape: tuple[int, ...]
    kind: str


@dataclass(frozen=True)
class Program:
    """A program and what to call it with: a shape and a NumPy type for each input."""

    source: str
    inputs: dict[str, tuple[tuple[int, ...], str]]
    outputs: dict[str, tuple[int, ...]]
    """The outputs' shapes."""

    def arrays(self) -> list[npt.NDArray[Any]]:
        """Small numbers for the inputs, always the same."""
        random = np.random.default_rng(0)
        return [
            np.asarray(random.integers(0, 4, shape)).astype(dtype)
            for shape, dtype in self.inputs.values()
        ]


@dataclass
class Writer:
    """Writes a program statement by statement."""

    draw: st.DrawFn
    dims: dict[str, int] = field(default_factory=dict[str, int])
    """Dimensions and their sizes."""
    tensors: list[Tensor] = field(default_factory=list[Tensor])
    names: int = 0
    lines: list[str] = field(default_factory=list[str])

    def choose(self, *options):
        return self.draw(st.sampled_from(options))

    def fresh(self) -> str:
        self.names += 1
        return self.choose("T{}", "Tensor_{}", "T{}'").format(self.names)

    # -- sizes -----------------------------------------------------------------------------

    def size(self, value: int) -> str:
        """An expression of dimensions with this value."""
        options = [str(value), f"{value + 1} - 1", f"max({value}, 0)"]
        for name, size in self.dims.items():
            difference = value - size
            options.append(
                name
                if not difference
                else f"{name} + {difference}"
                if difference > 0
                else f"{name} - {-difference}"
            )
            options.append(f"min({name}, {size}) + {value} - {name}")
            if size * 2 == value:
                options.append(f"2 * {name}")
            if size == 2 * value:
                options += [f"{name} / 2", f"({name} + 1) / 2"]
            options.append(f"abs({name} - {size}) + {value}")
            options.append(f"({name} > {size} ? {name} : {value})")
        return self.choose(*options)

    def dimension(self) -> None:
        """A statement that names a size."""
        name = f"Dim{self.names}"
        self.names += 1
        value = self.choose(*SIZES)
        self.lines.append(f"{name} = {self.size(value)};")
        self.dims[name] = value

    # -- contractions ----------------------------------------------------------------------

    def offset(self, index: str) -> str:
        """An expression that is affine in one index."""
        number = self.choose(0, 1, 2)
        forms = [index, index, index, f"{index} + {number}", f"{index} - {number}"]
        forms += [f"2*{index}", f"2{index} + {number}", f"-{index} + {number}", f"{index}/2"]
        for name in self.dims:
            forms += [f"{name} - 1 - {index}", f"{index} - {name}/2", f"{name}*{index} - {name}"]
            forms += [f"{index} + ({name} - 1)/2", f"{index} + max({name} - 2, 0)"]
        return self.choose(*forms)

    def expression(self, indices: list[str]) -> str:
        """An index expression."""
        parts = [self.offset(self.choose(*indices))]
        if self.draw(st.integers(0, 3)) == 0:
            parts.append(self.offset(self.choose(*indices)))
        return " + ".join(parts)

    def contraction(self) -> None:
        """A contraction statement; every index has a constraint that bounds it."""
        operands = [self.choose(*self.tensors) for _ in range(self.choose(1, 1, 2, 2, 3))]
        indices = list(self.draw(st.permutations(INDICES)))[: self.choose(1, 2, 3)]
        accesses = [
            f"{t.name}[{', '.join(self.expression(indices) for _ in t.shape)}]" for t in operands
        ]
        combined, kind = self.combine(accesses, operands)
        shape = tuple(self.choose(*SIZES) for _ in range(self.choose(0, 1, 1, 2)))
        # With an index of its own each, output elements are written once, if at all.
        is_assign = len(shape) == len(indices) and self.draw(st.booleans())
        own = iter(indices)
        written = [next(own) if is_assign else self.expression(indices) for _ in shape]
        sizes = [self.size(n) for n in shape]
        aggregation = "=" if is_assign else self.choose("+", "+", "*", ">", "<")
        name = self.fresh()
        output = f"{', '.join(written)}: {', '.join(sizes)}" if shape else ""
        text = f"{name}[{output}] = {aggregation}({combined})"
        for index in indices:
            text += f", {index} < {self.size(self.choose(1, 2, 3))}"
        text += self.default(shape, kind)
        self.lines.append(f"{self.choose('', '', '[[pid(a, b)]] ')}{text};")
        if kind == "bool" and aggregation in "+*":
            kind = "integer"
        self.tensors.append(Tensor(name, shape, kind))

    def combine(self, accesses: list[str], operands: list[Tensor]) -> tuple[str, str]:
        """The inside of a contraction, and the kind of what it gives."""
        kinds = [t.kind for t in operands]
        kind = "real" if "real" in kinds else "integer" if "integer" in kinds else "bool"
        if len(accesses) == 1:
            return accesses[0], kind
        operator = self.choose(" * ", " + ", " == ")
        if operator != " == ":
            return operator.join(accesses), kind
        if len(accesses) == 2:
            return operator.join(accesses), "bool"
        return f"{accesses[0]} == {accesses[1]} ? {accesses[2]}", kinds[2]

    def default(self, shape: tuple[int, ...], kind: str) -> str:
        """A default for the output, where a tensor fits."""
        fitting = [t for t in self.tensors if t.shape == shape and t.kind == kind]
        if not fitting or self.draw(st.booleans()):
            return self.choose("", " no_defract")
        return f" default {self.choose(*fitting).name}"

    # -- elementwise -----------------------------------------------------------------------

    def value(self, shape: tuple[int, ...], kind: str, depth: int) -> str:
        """An elementwise expression of a shape that broadcasts to ``shape``."""
        if depth > 0:
            form, kinds = self.choose(*FORMS[kind])
            return f"({form.format(*(self.value(shape, part, depth - 1) for part in kinds))})"
        leaves = [t.name for t in self.tensors if t.kind == kind and _broadcasts(t.shape, shape)]
        if kind == "integer":
            leaves += ["0", "1", "7", *self.dims]
        elif kind == "real":
            leaves += ["0.5", "1.0", "2.5e-1", ".75"]
        else:
            leaves += ["(0.5 < 1.0)"]
        return self.choose(*leaves)

    def elementwise(self) -> None:
        """An elementwise statement, of the shape of some tensor."""
        like = self.choose(*self.tensors)
        kind = self.choose("real", "real", "integer", "bool")
        # The last operand is of the very shape, whatever the first one is made of.
        end = {"real": "+ as_float({}, 32)", "integer": "+ as_int({}, 32)", "bool": "& as_bool({})"}
        value = self.value(like.shape, kind, self.choose(0, 1, 2, 3))
        self.define(f"{value} {end[kind].format(like.name)}", like.shape, kind)

    # -- the rest --------------------------------------------------------------------------

    def define(self, value: str, shape: tuple[int, ...], kind: str) -> None:
        """A statement that defines a tensor as ``value``."""
        name = self.fresh()
        self.lines.append(f"{name} = {value};")
        self.tensors.append(Tensor(name, shape, kind))

    def special(self) -> None:
        """A statement with a function that is not elementwise."""
        tensor = self.choose(*self.tensors)
        t, shape, kind = tensor.name, tensor.shape, tensor.kind
        elements = prod(shape)
        options: list[tuple[str, tuple[int, ...], str]] = [
            (f"shape({t})", (len(shape),), "integer"),
            (f"as_float({t}, {self.choose(16, 32, 64)})", shape, "real"),
            (f"as_uint({t}, {self.choose(8, 16, 32, 64)})", shape, "integer"),
            (f"reshape({t}, {self.size(elements)})", (elements,), kind),
            (t, shape, kind),
            (f"element(tuple(2.5, {t}), 1)", shape, kind),
        ]
        if shape:
            axis = self.choose(*range(len(shape)))
            options.append((f"index({t}, {axis})", shape, "integer"))
            like = self.choose(*(v for v in self.tensors if _broadcasts(v.shape, shape)))
            summed = "integer" if kind == "bool" else kind
            options.append((f"sum_to({t}, {like.name})", like.shape, summed))
        if len(shape) == 2 and kind == "real":
            rows, columns = map(self.size, shape)
            for function in ("builtin_softmax", "builtin_logsoftmax"):
                options.append((f"{function}({t}, {rows}, {columns})", shape, "real"))
            options.append((f"builtin_binary_crossentropy({t}, {t} * 0.5, 1)", shape, "real"))
        if 1 <= len(shape) <= 2:
            places = f"index({t}, 0)"
            options.append((f"gather({t}, {places})", (*shape, *shape[1:]), kind))
            updates = f"gather({t}, {places})"
            options.append((f"scatter({updates}, {places}, {t})", shape, kind))
        self.define(*self.choose(*options))

    def random_numbers(self) -> None:
        """Statements that draw random numbers from the input `State`."""
        shape = tuple(self.choose(*SIZES) for _ in range(self.choose(1, 2)))
        step = f"Step{self.names}"
        self.lines.append(f"{step} = prng_step(State, {', '.join(map(self.size, shape))});")
        self.define(f"prng_value({step})", shape, "real")
        if self.draw(st.booleans()):
            self.define(f"prng_state({step})", (4,), "integer")


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    return len(shape) <= len(to) and all(
        a in (1, b) for a, b in zip(reversed(shape), reversed(to), strict=False)
    )


def _input(writer: Writer, name: str, dtypes: Sequence[str]) -> tuple[str, tuple[int, ...], str]:
    """Draw an input: its text in the header, its shape and its type."""
    own: dict[str, int] = {}
    names = [
        writer.choose(*writer.dims, "N", "M", "K_1", "D'")
        for _ in range(writer.choose(0, 1, 1, 2, 2, 3))
    ]
    for dim in names:
        own[dim] = writer.dims.get(dim) or own.get(dim) or writer.choose(*SIZES)
    shape = tuple(own[dim] for dim in names)
    dtype = writer.choose(*dtypes)
    if writer.choose(True, True, False):
        writer.dims |= own
        return f"{name}[{', '.join(names)}]", shape, dtype
    return name, shape, dtype


@st.composite
def programs(
    draw: st.DrawFn,
    max_statements: int = 5,
    dtypes: Sequence[str] = tuple(name for names in DTYPES.values() for name in names),
) -> Program:
    """A program of up to ``max_statements`` statements on inputs of some of the types."""
    writer = Writer(draw)
    header: list[str] = []
    inputs: dict[str, tuple[tuple[int, ...], str]] = {}
    for name in ("A", "B_2", "C'")[: draw(st.integers(1, 3))]:
        text, shape, dtype = _input(writer, name, dtypes)
        header.append(text)
        inputs[name] = shape, dtype
        kind = next(kind for kind, names in DTYPES.items() if dtype in names)
        writer.tensors.append(Tensor(name, shape, kind))
    has_state = draw(st.integers(0, 4)) == 0
    if has_state:
        header.append("State")
        inputs["State"] = (4,), "uint32"
    steps: list[Callable[[], None]] = [
        writer.contraction,
        writer.contraction,
        writer.elementwise,
        writer.elementwise,
        writer.special,
        writer.dimension,
        *([writer.random_numbers] if has_state else []),
    ]
    given = len(writer.tensors)
    for _ in range(draw(st.integers(0, max_statements - 1))):
        writer.choose(*steps)()
    if len(writer.tensors) == given:
        writer.elementwise()
    made = writer.tensors[given:]
    outputs = [made[-1], *(t for t in made[:-1] if draw(st.integers(0, 3)) == 0)]
    name = draw(st.sampled_from(["", " f", " Net_1"]))
    names = ", ".join(t.name for t in outputs)
    body = "\n".join(f"  {line}" for line in writer.lines)
    source = f"function{name} ({', '.join(header)}) -> ({names}) {{\n{body}\n}}\n"
    return Program(source, inputs, {t.name: t.shape for t in outputs})
