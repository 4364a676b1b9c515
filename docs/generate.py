"""Generate pages of docs/ from the code; with `--check`, list outdated ones."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, fields
from difflib import SequenceMatcher
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from conversions import conversions_page
from lift_reference import lift_reference_page
from lift_rules import rules_page
from pass_examples import EXAMPLES
from pictures import PICTURES
from stages import STAGES
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.test import Test
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from tiledialect.dialects.discardable import DISCARDABLE
from tiledialect.dialects.lift import Lift
from tiledialect.dialects.lift.base import LiftOp, YieldOp
from tiledialect.dialects.lift.layout import LAYOUT_OPS
from tiledialect.dialects.lift.maps import MAP_OPS
from tiledialect.dialects.lift.memory import MEMORY_OPS
from tiledialect.dialects.lift.reductions import REDUCTION_OPS
from tiledialect.dialects.lift.values import VALUE_OPS
from tiledialect.dialects.nest import Nest
from tiledialect.dialects.tile import Tile
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp, UnaryOp
from tiledialect.dialects.tile.elementwise.ops import ELEMENTWISE_OPS
from tiledialect.dialects.tile.kernel import KERNEL_OPS
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import SPECIAL_OPS
from tiledialect.tools.tile_opt import TileOptMain
from tiledialect.universe import TILE_UNIVERSE

HERE = Path(__file__).parent
NOTE = "<!-- Made by docs/generate.py from the code: change it there, then run `make docs`. -->"

CONTEXT, LONGEST_GAP = 2, 2
"""Unchanged lines that stay around a change, and the most between that stay."""

SECTIONS: dict[str, Sequence[type[Operation]]] = {
    "Contraction": (ContractionOp,),
    "Scan": (ScanOp,),
    "Elementwise ops and numbers": ELEMENTWISE_OPS,
    "Moving elements, and random numbers": SPECIAL_OPS,
    "Gradients": (CustomGradientOp,),
    "Kernels": KERNEL_OPS,
}

LIFT_SECTIONS: dict[str, Sequence[type[Operation]]] = {
    "Maps": MAP_OPS,
    "Reductions, iteration, search": REDUCTION_OPS,
    "Layout": LAYOUT_OPS,
    "Tuples, elements, generated arrays": VALUE_OPS,
    "Memory": MEMORY_OPS,
    "Functions": (YieldOp,),
}

NEST_INTRODUCTION = """
The `nest` dialect is a kernel as loops with roles over named indices: between the schedule and the
upstream dialects of the kernel level, a form in which it can still be analysed. Values in between
are ops of `arith`, `math` and `vector` on scalars and vectors; nests stand in `gpu.func`s.

Index expressions are sums and products of indices and numbers, `floordiv`, `mod`, `min`, `max` and
`condition ? a : b`; conditions compare them with `<`, `<=`, `==`, and join with `and`, `or`, `not`.
The memory spaces of the memrefs are 1 (global), 3 (local) and 5 (private). The
meaning of nests, and their errors, are in [the reference semantics](reference-semantics.md);
[Schedules](schedules.md) shows a schedule and its nest, [a page](passes/nest.md) the passes over
nests.
"""

LIFT_INTRODUCTION = """
The `lift` dialect describes programs as compositions of patterns over arrays. An array
is an upstream `tensor`: of numbers, of builtin `vector`s or of builtin `tuple`s; an array of
arrays is a tensor with more axes. So ops of `tile` and of `lift` can stand in one function.

A size that is not known yet has a name, such as `N`, in the encoding of the tensor's type, and the
patterns compute with it: `lift.slide(3, 1)` makes `tensor<?x3xf32, #lift.sizes<N - 2>>` of
`tensor<?xf32, #lift.sizes<N>>`. `tile-specialize` gives the names their values.

The function of a pattern is a region: its arguments range over the operands as written between the
parentheses, and it ends in a `lift.yield`. In it are ops of `arith` and `math` on numbers and
vectors, of `tile` on arrays, more patterns, and values from around the region.
"""

DIALECT_INTRODUCTION = """
The `tile` dialect describes tensor programs: contractions with named indices,
elementwise ops, and a few ops that move elements about. Its tensors are upstream `tensor` types;
scalars are tensors without axes. Tile text becomes this dialect, and passes turn it into kernels.
"""

TYPES_INTRODUCTION = """
Data is of type {concrete}; integers without sign in the name (`i32`) are signed, `i1` is a bool.
Before shapes and types are known, and for numbers in a program, there are besides:

- `!tile.any`: a type that is not known yet. `tile-specialize` binds it.
- `index`: an integer of no width of its own, such as the number `2` or a dimension.
- `!tile.real`: a real number of no width of its own, such as the number `0.5`.

Operands of different types are converted to one in which they meet:
"""

NAMES = """\
Options such as `apart=T` and `keep=T` name results. A name is no attribute, but a location:
MLIR's `loc("T")`, or `loc("T"("f.tile":3:1))` with the place in the text. Passes keep it in
rewrites. Equal ops under different names are still merged, and `--print-debuginfo` prints it. The
language and Lift name results so. In a `.mlir` file a value without a name location has the name
`T` if it is `%T` there. Later changes of SSA names change nothing.
"""
ATTRIBUTES_INTRODUCTION = """
Besides their properties, ops have attributes that steer passes or hand on facts about the source.
The table `tiledialect/dialects/discardable.py` declares them. Modules are verified against it: an
attribute of the dialects that it does not list, or that stands elsewhere, is an error. `argument`
and `result` belong to a `func.func`.
"""

PASSES_INTRODUCTION = """
Each pass can be run alone: `tile-opt FILE -p NAME`, or `-p 'NAME{option=value}'` with options,
several passes separated by commas. `xdsl-opt` has them too once the package is installed.

A stage of the compiler is a folder, and has a page here. `tile-compile` and `td.compile` run the
stages in this order; the list of passes is `lowering/pipeline.py`.
[How it works](how-it-works.md) follows one program through them.
"""


# -- the tile dialect ------------------------------------------------------------------------


def paragraphs(thing: Any) -> str:
    """Docstring without its example, as Markdown."""
    return inspect.cleandoc(thing.__doc__ or "").partition("\n\nExample:")[0]


def example(op: type[Operation]) -> str:
    """Example of the docstring: a module, or ops in a function that takes their free values."""
    text = inspect.cleandoc(op.__doc__ or "").partition("Example:")[2]
    found = re.search(r"```mlir\n(.*?)\n```", text, re.S) or re.search(r"`(.*)`", text, re.S)
    assert found, f"{op.name} has no example"
    body = re.sub(r"\n\s*:", "\n     :", found[1]).strip()
    if body.startswith('"gpu.module"'):
        return f"```mlir\n{body}\n```"
    ctx = Context()
    for dialect in (Tile, Lift, Nest, Arith, Test):
        ctx.load_dialect(dialect)
    parser = Parser(ctx, body)
    while parser.parse_optional_operation() is not None:
        pass
    arguments = ", ".join(
        f"%{name}: {value.type}"
        for name, values in parser.forward_ssa_references.items()
        for value in values.values()
    )
    inside = "\n".join("  " + line for line in body.splitlines())
    return f"```mlir\nfunc.func @example({arguments}) {{\n{inside}\n  func.return\n}}\n```"


def type_rule(op: type[Operation]) -> Iterator[str]:
    """Generate the rules for operand types and the result's type."""
    base = op.__mro__[1]
    if issubclass(base, ElementwiseOp) and base is not ElementwiseOp:
        yield paragraphs(base)
    rule = getattr(op, "inferred_type", None)
    if rule is not None:
        yield "Result: " + paragraphs(rule)[:1].lower() + paragraphs(rule)[1:]


def table(op: type[Any]) -> str:
    """The operands, properties, regions and results."""
    definition = op.get_irdl_definition()
    anything = "array, tuple or number" if issubclass(op, LiftOp) else "tensor"
    rows = [
        f"| {kind} | `{name}` | {describe(member, anything)} |"
        for kind, members in (
            ("operand", definition.operands),
            ("property", definition.properties.items()),
            ("region", definition.regions),
            ("result", definition.results),
        )
        for name, member in members
        if name != "operandSegmentSizes"
    ]
    return "\n".join(["| | name | |", "| --- | --- | --- |", *rows])


def describe(member: Any, anything: str) -> str:
    """Describe the values that an operand, property, region or result may have."""
    word = type(member).__name__
    many = "any number of " if word.startswith("Var") else "optional " if "Opt" in word else ""
    if "Region" in word:
        return f"{many}one block"
    constraint = str(getattr(member, "constr", ""))
    names = dict.fromkeys(re.findall(r"\b([A-Z]\w*(?:Attr|Type))\b", constraint))
    names = [n for n in names if n not in ("AnyAttr", "BaseAttr", "EqAttr", "ParamAttr")]
    plain = {"IndexType": "`index`", "TensorType": "tensor"}
    return many + (" of ".join(plain.get(n, f"`{n}`") for n in names) or anything)


def syntax(op: type[Any]) -> str | None:
    """The form of the op's text."""
    if op.assembly_format:
        return op.assembly_format.replace("` `", "").replace("`", "")
    if issubclass(op, UnaryOp):
        return "%a : (type) -> type"
    found = re.search(r"`(.*)`", op.print.__doc__ or "")
    if found and issubclass(op, LiftOp):
        parameters = ", ".join(op.parameters())
        form = found[1].replace("(parameters)", f"({parameters})" if parameters else "")
        return form.replace("%argument in %operand, …", ranges(op))
    return found[1] if found else None


def ranges(op: type[Any]) -> str:
    """Ranges of the arguments of a pattern's function."""
    if "print_arguments" in vars(op):
        return re.findall(r"`(.*)`", op.print_arguments.__doc__)[0]
    last = f" {op.LAST_KEYWORD} %operand" if getattr(op, "LAST_KEYWORD", None) else ""
    return ", ".join(f"%argument {word} %operand" for word in getattr(op, "KEYWORDS", ())) + last


def op_page(op: type[Operation]) -> Iterator[str]:
    """The section of one op."""
    yield f"### `{op.name}`"
    yield paragraphs(op)
    if form := syntax(op):
        yield f"Syntax: `{op.name}{form if issubclass(op, LiftOp) else f' {form}'}`"
    yield from type_rule(op)
    yield table(op)
    # An op that stands inside another is in the example of that one.
    if op.name != "tile.yield":
        yield example(op)


def promotion_table() -> str:
    """Table of the common type of two element types."""
    types = [*et.CONCRETE.values(), et.index, et.real]
    head = "| | " + " | ".join(f"`{t}`" for t in types) + " |"
    rule = "| --- " * (len(types) + 1) + "|"
    rows = (f"| `{a}` | " + " | ".join(f"{et.promote(a, b)}" for b in types) + " |" for a in types)
    return "\n".join([head, rule, *rows])


def attribute_section(attribute: type[Attribute]) -> str:
    """The entry of a type or an attribute."""
    return f"- {' '.join(paragraphs(attribute).split())}"


def dialect_page() -> Iterator[str]:
    """The page of the tile dialect."""
    yield "# The `tile` dialect"
    yield DIALECT_INTRODUCTION
    yield "## Element types"
    yield TYPES_INTRODUCTION.format(concrete=", ".join(f"`{name}`" for name in et.CONCRETE))
    yield promotion_table()
    yield paragraphs(et.promote).partition("\n\n")[2]
    yield "## Types and attributes"
    yield "\n".join(attribute_section(a) for a in Tile.attributes)
    for title, ops in SECTIONS.items():
        yield f"## {title}"
        for op in ops:
            yield from op_page(op)


def lift_page() -> Iterator[str]:
    """The page of the lift dialect."""
    yield "# The `lift` dialect"
    yield LIFT_INTRODUCTION
    yield "## Attributes"
    yield "\n".join(attribute_section(a) for a in Lift.attributes)
    for title, ops in LIFT_SECTIONS.items():
        yield f"## {title}"
        for op in ops:
            yield from op_page(op)


def nest_page() -> Iterator[str]:
    """The page of the nest dialect."""
    yield "# The `nest` dialect"
    yield NEST_INTRODUCTION
    yield "## Attributes"
    yield "\n".join(attribute_section(a) for a in Nest.attributes)
    yield "## Ops"
    for op in Nest.operations:
        yield from op_page(op)


def attributes_page() -> Iterator[str]:
    """The page of the dialects' discardable attributes."""
    yield "# Attributes that steer passes"
    yield ATTRIBUTES_INTRODUCTION
    rows = (
        f"| `{name}` | {', '.join(f'`{holder}`' for holder in declared.holders) or 'any op'} "
        f"| {declared.kind.text} | {declared.meaning} |"
        for name, declared in DISCARDABLE.items()
    )
    yield "\n".join(["| attribute | stands on | type | |", "| --- | --- | --- | --- |", *rows])
    yield "## Names of results"
    yield NAMES


# -- the passes ------------------------------------------------------------------------------


def passes_page() -> Iterator[str]:
    """Generate the index of the passes: a section a stage."""
    yield "# Passes"
    yield PASSES_INTRODUCTION
    for folder, names in STAGES.items():
        yield f"## [`{folder.replace('.', '/')}`]({stage_file(folder)})"
        yield stage_summary(folder)
        yield "\n".join(
            f"- [`{name}`]({stage_file(folder)}#{name}): {first_line(pass_class(name))}"
            for name in names
        )


def stage_file(folder: str) -> str:
    """Path of a stage's page within docs/: ``passes/tile-to-nest.md``."""
    return f"passes/{folder.rpartition('.')[2].replace('_', '-')}.md"


def stage_summary(folder: str) -> str:
    """First paragraph of a stage's docstring: input, output."""
    return paragraphs(import_module(f"tiledialect.{folder}")).partition("\n\n")[0]


def stage_page(folder: str) -> Iterator[str]:
    """Generate the page of one stage: a section a pass."""
    yield f"# Passes of `{folder.replace('.', '/')}`"
    yield f"{stage_summary(folder)} All stages: [Passes](../passes.md)."
    for name in STAGES[folder]:
        yield from pass_section(pass_class(name))


def pass_class(name: str) -> type[ModulePass]:
    """Class of a pass."""
    return TILE_UNIVERSE.all_passes[name]()


def first_line(thing: Any) -> str:
    """First paragraph of a docstring on one line, without its period."""
    return " ".join(paragraphs(thing).partition("\n\n")[0].split()).removesuffix(".")


def pass_section(cls: type[ModulePass]) -> Iterator[str]:
    """Generate the section of one pass: docstring, options, example."""
    yield f"## `{cls.name}`"
    yield paragraphs(cls)
    options = [field for field in fields(cls) if field.name != "name"]
    if options:
        rows = (
            f"| `{f.name.replace('_', '-')}` | `{str(f.type).replace('|', 'or')}` "
            f"| {'' if f.default is MISSING else f'`{f.default}`'} | {option_text(cls, f.name)} |"
            for f in options
        )
        yield "\n".join(["| option | type | default | |", "| --- | --- | --- | --- |", *rows])
    if cls.name not in EXAMPLES:
        raise KeyError(f"give an example of {cls.name} in docs/pass_examples.py")
    yield from pass_example(cls.name, *EXAMPLES[cls.name])


def option_text(cls: type[ModulePass], name: str) -> str:
    """Docstring that follows an option in the source."""
    found = re.search(rf'^    {name}: [^\n]*\n    """(.*?)"""', inspect.getsource(cls), re.M | re.S)
    return " ".join(found[1].split()) if found else ""


def pass_example(name: str, program: str, passes: str, shown: str = "") -> Iterator[str]:
    """Generate a run of `tile-opt`: lines that a pass changes, or that hold a word."""
    path = f"examples/{program}" if program.endswith(".mlir") else f"examples/{program}.tile"
    lines = output_of(path, passes)
    if shown:
        lines = [line for line in lines if shown in line]
    elif earlier := re.match(rf"(.*),{name}\b", passes):
        lines = abridged(output_of(path, earlier[1]), lines)
    elif passes.startswith(name):
        lines = abridged(output_of(path, ""), lines)
    if lines is None:
        raise ValueError(f"the example of {name} in docs/pass_examples.py shows no change")
    only = f" | grep {shown}" if shown else ""
    text = "\n".join(lines)
    yield f"```sh\n$ tile-opt {path} -p '{passes}'{only}\n{text}\n```"


def output_of(path: str, passes: str) -> list[str]:
    """Lines that `tile-opt` prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.chdir(HERE.parent):
        TileOptMain([path, "-p", passes]).run()
    return output.getvalue().strip().split("\n")


def abridged(before: Sequence[str], after: Sequence[str]) -> list[str] | None:
    """Replace lines that stand in an earlier text, too, by `...`; None if all do."""
    matcher = SequenceMatcher(None, [*map(nameless, before)], [*map(nameless, after)], False)
    if matcher.ratio() == 1:
        return None
    kept = set(range(len(after)))
    for block in matcher.get_matching_blocks():
        inner = range(block.b + CONTEXT, block.b + block.size - CONTEXT)
        kept -= set(inner) if len(inner) > LONGEST_GAP else set()
    shown = [line if k in kept else "..." for k, line in enumerate(after)]
    return [line for k, line in enumerate(shown) if line != "..." or shown[k - 1] != "..."]


def nameless(line: str) -> str:
    """Line of IR without the numbers in its values' names."""
    return re.sub(r"%(\w*?)_?\d*\b", r"%\1", line)


# -- writing ---------------------------------------------------------------------------------

PAGES = {
    "attributes.md": attributes_page,
    "conversions.md": conversions_page,
    "dialect-lift.md": lift_page,
    "dialect-nest.md": nest_page,
    "dialect-tile.md": dialect_page,
    "lift-reference.md": lift_reference_page,
    "lift-rules.md": rules_page,
    "passes.md": passes_page,
    **{stage_file(folder): partial(stage_page, folder) for folder in STAGES},
}


def text(parts: Iterable[str]) -> str:
    """Page of these parts."""
    return "\n\n".join(part.strip() for part in (NOTE, *parts)) + "\n"


def files() -> Iterator[tuple[Path, str]]:
    """Generate all files with their texts."""
    yield from ((HERE / name, text(page())) for name, page in PAGES.items())
    yield from ((HERE / name, draw()) for name, draw in PICTURES.items())


def outdated() -> list[str]:
    """Names of the files that differ from the generated text."""
    return [
        path.relative_to(HERE).as_posix()
        for path, generated in files()
        if not path.exists() or path.read_text() != generated
    ]


def main() -> int:
    """Write the files, or check them."""
    if "--check" in sys.argv[1:]:
        old = outdated()
        print("\n".join(f"docs/{name} is out of date: run `make docs`" for name in old), end="")
        return 1 if old else 0
    for path, generated in files():
        path.parent.mkdir(exist_ok=True)
        path.write_text(generated)
    return 0


if __name__ == "__main__":
    sys.exit(main())
