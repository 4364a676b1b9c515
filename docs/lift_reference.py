"""The page of Lift in Python: every name of `lift`, of derivations, strategies and patterns."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

import tiledialect as td
from tiledialect import lift
from tiledialect.lift import Function, Program
from tiledialect.passes import lift as rewriting
from tiledialect.passes.lift import Derivation
from tiledialect.passes.lift.rules import patterns
from tiledialect.passes.lift.rules.matching import Chain, Named, Stage

INPUTS = {"x": [1, 2, 3, 4], "y": [4, 3, 2, 1], "A": [[1, 2, 3], [4, 5, 6]]}
"""The arrays that the examples of patterns are of."""

INTRODUCTION = """
Every name of `tiledialect.lift`, with which [programs](lift.md) are written, and of
`tiledialect.passes.lift`, with which they are [rewritten](rewriting.md). The rules are on a page of
[their own](lift-rules.md), the ops that patterns become on [that of the dialect](dialect-lift.md).

```python
import numpy as np
import tiledialect as td
from tiledialect import lift
from tiledialect.passes.lift import *
from tiledialect.passes.lift.rules import patterns as p
```
"""

PATTERNS_INTRODUCTION = f"""
In the tables below, {", ".join(f"`{n}` is `{v}`" for n, v in INPUTS.items())}, of f32.
"""

STENCIL = """\
@lift.fun
def stencil(x: lift.array("N")):
    sums = lift.map(lift.reduce(lift.add, 0.0))
    return x >> lift.pad(1, 1, lift.clamp) >> lift.slide(3, 1) >> sums
"""

REWRITING_INTRODUCTION = f"""
## Derivations and rules

The examples are of this program:

```python
{STENCIL}```

`RULES` are the rules of this package by their names, `FAMILIES` the names of each family.
"""

PLUG_INS = """
### Entry points

A package that defines rules registers its modules of rules in the group `tiledialect.rules`, in its
`pyproject.toml`:

```toml
[project.entry-points."tiledialect.rules"]
mine = "my_package.my_rules"
```

Once it is installed, `replay`, `applicable`, `tile-opt -p 'lift-rewrite{rule=…}'` and the targets
`lift-rules`, `lift-derivation` and `lift-graph` know them by name; where a name is one of this
package's, that is meant. A file that is not installed is loaded by `load_rules`, or by
`lift-rewrite{load="…"}`.
"""

STRATEGIES_INTRODUCTION = """
## Strategies

The examples are applied to the program above: `Derivation.of(stencil).apply(…)`.
"""

RULE_PATTERNS_INTRODUCTION = """
## Patterns of rules

They compose by `>>`, as programs do. A text is a name for the part in its place, an argument of the
rule's function; a number is that number. A function is a name, or a composition.

`p.join`, `p.transpose` and `p.as_scalar` are the patterns of these names; `p.zip`, `p.tuple` and
`p.concat` have the arrays or values `xs` as operands. `p.anything` is any array, `p.whatever`
anything; in both, `x` is that.
"""

LIFT: Mapping[str, Sequence[str]] = {
    "Patterns that compute": (
        *("map", "map2", "map3", "reduce", "iterate", "search", "let", "generate"),
        *("zip", "zip2", "zip3", "unzip", "tuple", "get"),
    ),
    "Patterns that lay out": (
        *("split", "join", "transpose", "slide", "slide2", "slide3", "pad", "pad2", "pad3"),
        *("pad_constant", "pad_constant2", "pad_constant3", "slice", "concat", "at"),
        *("gather", "scatter", "reverse", "reorder_stride", "transposition"),
    ),
    "Patterns of work-items and memory": (
        *("map_glb", "map_wrg", "map_lcl", "map_warp", "map_lane", "map_seq", "map_seq_unroll"),
        *("map_seq_slide", "reduce_seq", "reduce_seq_unroll", "as_vector", "map_vec", "as_scalar"),
        *("to_global", "to_local", "to_private"),
    ),
    "Functions of numbers and arrays": (
        *("add", "sub", "mul", "div", "min", "max", "pow", "neg", "abs", "sqrt", "rsqrt"),
        *("exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "erf", "floor", "ceil"),
        *("where", "cast", "size", "id", "compose"),
    ),
}
"""The names of `lift` in tables; each has an example."""

PROGRAMS = ("fun", "array", "Program", "Function", "Value", "check")
CONSTANTS = {
    "Types of numbers": ("f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64"),
    "Boundaries of `pad`": ("clamp", "mirror", "wrap"),
}
REWRITING = (
    *("Derivation", "apply", "applicable", "replay", "to_svg"),
    *("rule", "Rule", "Step", "require", "NotApplicable", "macro", "Macro", "Strategy"),
    "load_rules",
)
STRATEGIES = (
    *("sequence", "choice", "attempt", "repeat", "at_input", "in_function"),
    *("top_down", "bottom_up", "everywhere", "at"),
)
RULE_PATTERNS = tuple(
    name
    for name, thing in vars(patterns).items()
    if name in ("fun", "value")
    or (inspect.isfunction(thing) and thing.__annotations__.get("return") == "Stage")
)


# -- the page --------------------------------------------------------------------------------


def lift_reference_page() -> Iterator[str]:
    """The page."""
    yield "# Lift in Python: reference"
    yield INTRODUCTION
    yield "## Programs"
    for name in PROGRAMS:
        yield from section(f"lift.{name}", getattr(lift, name))
    for title, names in CONSTANTS.items():
        yield f"{title}: {', '.join(f'`lift.{name}`' for name in names)}."
    yield PATTERNS_INTRODUCTION
    for title, names in LIFT.items():
        yield f"## {title}"
        yield table("gives", results, {f"lift.{name}": getattr(lift, name) for name in names})
    yield REWRITING_INTRODUCTION
    for name in REWRITING:
        yield from section(name, getattr(rewriting, name))
    yield PLUG_INS
    yield STRATEGIES_INTRODUCTION
    yield table("steps", steps, {name: getattr(rewriting, name) for name in STRATEGIES})
    yield RULE_PATTERNS_INTRODUCTION
    yield table(
        "is written", looks_for, {f"p.{name}": getattr(patterns, name) for name in RULE_PATTERNS}
    )


def section(name: str, thing: Any) -> Iterator[str]:
    """The heading, documentation and example of a name, and the members of a class."""
    text, _, shown = documentation(thing).partition("\n\nExample:\n")
    yield f"### `{signature(name, thing)}`"
    yield re.sub(r"\n +", "\n", text)
    if inspect.isclass(thing) and (rows := [*members(thing)]):
        yield "\n".join(("| member | |", "| --- | --- |", *rows))
    if shown:
        yield shown


def members(cls: type[Any]) -> Iterator[str]:
    """A row for each public member of a class that its bases do not have."""
    known = {name for base in cls.__mro__[1:] for name in vars(base)}
    for name, member in vars(cls).items():
        if name in known or name.startswith("_"):
            continue
        if isinstance(member, property | staticmethod | FunctionType):
            text = documentation(member).partition("\n\n")[0]
            yield f"| `{signature(name, member)}` | {cell(text)} |"


def table(last: str, outcome: Callable[[str], str], names: Mapping[str, Any]) -> str:
    """Names with their sentences, an example, and the outcome of that."""
    rows = (row(name, thing, outcome) for name, thing in names.items())
    return "\n".join((f"| name | | example | {last} |", "| --- | --- | --- | --- |", *rows))


def row(name: str, thing: Any, outcome: Callable[[str], str]) -> str:
    """The row of one name."""
    text, _, written = documentation(thing).partition("\n\nExample: ")
    shown = " ".join(written.split()).strip("`") or applied(name, thing)
    return f"| `{signature(name, thing)}` | {cell(text)} | `{cell(shown)}` | {outcome(shown)} |"


def applied(name: str, function: Any) -> str:
    """The function of arrays as it is applied: the example of one that has none of its own."""
    assert isinstance(function, Function) and function.arity, f"{name} has no example"
    return f"{name}({', '.join(('x', 'y')[: function.arity])})"


def documentation(thing: Any) -> str:
    """The docstring as Markdown."""
    text = inspect.getdoc(getattr(thing, "fget", None) or thing)
    assert text, f"{thing} has no documentation"
    return re.sub(r"Raises:\n +(\w+): ", r"Raises `\1`: ", re.sub("(?<!`)``(?!`)", "`", text))


def signature(name: str, thing: Any) -> str:
    """The name, with parameters if it takes any."""
    if isinstance(thing, Function) and not isinstance(thing, Program):
        return f"{name}({', '.join(thing.parameters)})" if thing.parameters else name
    function = getattr(thing, "__func__", thing)
    if not inspect.isfunction(function) and function not in (patterns.fun, patterns.value):
        return name
    every = inspect.signature(function).parameters.values()
    own = [p.replace(annotation=p.empty) for p in every if p.name != "self"]
    return name + str(inspect.Signature(own))


def cell(text: str) -> str:
    """A text for a table."""
    return " ".join(text.split()).replace("|", "\\|")


# -- outcomes of examples --------------------------------------------------------------------


def results(text: str) -> str:
    """The arrays that an example gives, by the reference semantics."""
    used = [name for name in INPUTS if re.search(rf"\b{name}\b", text)]
    arrays = {name: np.array(INPUTS[name], np.float32) for name in used}
    types = (lift.array(*a.shape) for a in arrays.values())
    program = lift.fun(*types, function_of(text, used))
    found = td.compile(program).reference(*arrays.values())
    every: Iterable[Any] = found if isinstance(found, tuple) else (found,)
    return ", ".join(f"`{numbers(np.asarray(a).tolist())}`" for a in every)


def function_of(text: str, names: Sequence[str]) -> Callable[..., Any]:
    """The function of these names that a text writes."""
    return eval(f"lambda {', '.join(names)}: {text}", {"lift": lift})


def numbers(value: Any) -> str:
    """Nested numbers, short."""
    if isinstance(value, list):
        return f"[{', '.join(map(numbers, value))}]"
    return f"{value:.4g}"


def steps(text: str) -> str:
    """The steps of a strategy."""
    names: dict[str, Any] = {**vars(rewriting), "p": patterns, "lift": lift}
    exec(STENCIL, names)
    done = Derivation.of(names["stencil"]).apply(eval(text, names))
    return ", ".join(f"`{step}`" for step in done.steps)


def looks_for(text: str) -> str:
    """The pattern as messages write it."""
    pattern = eval(text, {"p": patterns})
    assert isinstance(pattern, Stage | Chain | Named)
    return f"`{pattern}`"
