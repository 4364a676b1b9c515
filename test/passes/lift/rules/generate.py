"""Write the lit tests of the rewrite rules, a file a family, from `lift_programs`.

Run from the repository's root, `python test/passes/lift/rules/generate.py`; read what changes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "support"))

from lift_programs import EXAMPLES  # noqa: E402
from random_functions import Make  # noqa: E402

from tiledialect.ir.mlir_text import print_module  # noqa: E402
from tiledialect.passes.lift import Derivation  # noqa: E402
from tiledialect.passes.lift.rules.collections import FAMILIES, RULES  # noqa: E402


class First(Random):
    """Random choices that are always the first."""

    def choice(self, seq: Any) -> Any:
        return seq[0]


def page(family: str) -> str:
    """The test of a family."""
    names = FAMILIES[family]
    passes = ",".join(f"lift-rewrite{{{options(name)}}}" for name in names)
    run = f"// RUN: tile-opt %s -p '{passes}' | filecheck %s"
    note = "// Written by generate.py, which stands beside this file."
    return "\n".join([note, run, *(part for name in names for part in test(name))]) + "\n"


def options(name: str) -> str:
    given = ",".join(f'"{n}={v}"' for n, v in EXAMPLES[name].parameters)
    return f"function={name} rule={name}" + (f" sizes={given}" if given else "")


def test(name: str) -> Iterator[str]:
    """Text of a rule, checks of a program, and the program."""
    program = Derivation.of(EXAMPLES[name].program(Make(First()), name))
    after = program.apply(RULES[name], **dict(EXAMPLES[name].parameters))
    yield ""
    yield from (f"// {line}".rstrip() for line in RULES[name].equation.splitlines())
    yield f"// CHECK-LABEL: func.func @{name}("
    yield from checks(print_module(after.module))
    lines = print_module(program.module).splitlines()[1:-1]
    yield from (line[2:] for line in lines)


def checks(text: str) -> Iterator[str]:
    """A line for each op: what it is, its parameters and flags, as deep as it is."""
    for line in text.splitlines()[2:]:
        found = re.match(r"    ( *)(?:%\w+ = )?(\w+\.\w+[^%]*)", line)
        if found:
            depth, op = found.groups()
            flag = re.search(r" \{\w+\.\w+\} :", line)
            after = f" {{{{.*}}}}{flag[0]}" if flag else ""
            yield f"// CHECK-NEXT: {depth}{op.rstrip()}{after}"
        elif line.strip() == "}" and line != "}" and line != "  }":
            yield f"// CHECK-NEXT: {line[4:]}"


if __name__ == "__main__":
    for family in FAMILIES:
        (HERE / f"{family}.mlir").write_text(page(family))
