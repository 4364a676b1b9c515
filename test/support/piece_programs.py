"""Random Tile programs of small statements that put tensors together and take them apart.

Tensors are laid side by side, again and again; rows are gathered of what a condition selects;
rows that are equal are summed under constraints. What one statement gives the next one reads at
other places, so that the places at which something is read have many cases.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
import written_programs
from hypothesis import strategies as st
from written_programs import Program, Shape, Tensor

SIZES = (1, 2, 3, 4, 5, 7)
MOST_ELEMENTS = 4000
INDICES = ("i", "j", "k", "l")


class Writer(written_programs.Writer):
    """Writes statements that put tensors together and take them apart."""

    def some(self, least: int = 1) -> Tensor:
        """A tensor of at least so many axes, later ones more often."""
        found = [t for t in self.tensors if len(t.shape) >= least]
        if not found:
            return self.input(*(self.choose(*SIZES) for _ in range(least)))
        return self.choose(*found, *found[-3:])

    def like(self, shape: Shape) -> Tensor:
        """A tensor of that shape."""
        found = [t for t in self.tensors if t.shape == shape]
        return self.choose(*found, *found[-2:]) if found else self.input(*shape)

    def define(self, text: str, shape: Shape) -> None:
        name = f"T{len(self.lines)}"
        self.lines.append(f"{name}{text};")
        if prod(shape) <= MOST_ELEMENTS:
            self.tensors.append(Tensor(name, shape))

    def concatenation(self) -> None:
        """Two or three tensors side by side along an axis, the last ones by defaults."""
        a = self.some()
        axis = self.choose(*range(len(a.shape)))
        parts = [a]
        for _ in range(self.choose(1, 1, 2)):
            fits = [
                t
                for t in self.tensors
                if len(t.shape) == len(a.shape)
                and all(k == axis or n == a.shape[k] for k, n in enumerate(t.shape))
            ]
            parts.append(self.choose(*fits, *fits[-2:]))
        total = sum(t.shape[axis] for t in parts)
        shape = (*a.shape[:axis], total, *a.shape[axis + 1 :])
        indices, start, default = list(INDICES[: len(shape)]), 0, ""
        if prod(shape) > MOST_ELEMENTS:
            return
        for part in parts:
            written = [f"{i} + {start}" if k == axis else i for k, i in enumerate(indices)]
            name = f"T{len(self.lines)}"
            self.lines.append(
                f"{name}[{', '.join(written)}: {', '.join(map(str, shape))}]"
                f" = =({part.name}[{', '.join(indices)}]){default};"
            )
            default, start = f" default {name}", start + part.shape[axis]
        self.tensors.append(Tensor(f"T{len(self.lines) - 1}", shape))

    def padding(self) -> None:
        """A tensor within another."""
        a = self.some()
        shape = tuple(n + self.choose(0, 0, 1, 2) for n in a.shape)
        indices = INDICES[: len(shape)]
        written = [
            f"{i} + {self.choose(0, m - n)}"
            for i, m, n in zip(indices, shape, a.shape, strict=True)
        ]
        default = f" default {self.like(shape).name}" if self.choose(True, False) else ""
        self.define(
            f"[{', '.join(written)}: {', '.join(map(str, shape))}]"
            f" = =({a.name}[{', '.join(indices)}]){default}",
            shape,
        )

    def part(self) -> None:
        """A part of a tensor, turned round, or with steps, or transposed."""
        a = self.some()
        order = self.draw(st.permutations(range(len(a.shape))))
        shape, read = [0] * len(order), [""] * len(order)
        for place, axis in enumerate(order):
            n, i = a.shape[axis], INDICES[place]
            shape[place], read[axis] = self.choose(
                (n, i), (n, f"{n - 1} - {i}"), ((n + 1) // 2, f"2*{i}"), (n, f"{i} + 1")
            )
        indices = INDICES[: len(shape)]
        self.define(
            f"[{', '.join(indices)}: {', '.join(map(str, shape))}]"
            f" = {self.choose('=', '=', '+')}({a.name}[{', '.join(read)}])",
            tuple(shape),
        )

    def condition(self, a: Tensor) -> str:
        axis = self.choose(*range(len(a.shape)))
        return self.choose(
            f"{a.name} > 0.1",
            f"{self.like(a.shape).name} < {a.name}",
            f"index({a.name}, {axis}) < {self.choose(1, 2, 3)}",
            f"index({a.name}, {axis}) % 2 == 0",
        )

    def selection(self) -> None:
        a = self.some()
        self.define(
            f" = {self.condition(a)} ? {a.name} : {self.choose('0.5', self.like(a.shape).name)}",
            a.shape,
        )

    def gather(self) -> None:
        """Rows of a tensor, often of one that has just been selected."""
        if self.choose(True, False):
            self.selection()
        a = self.some()
        count = self.choose(*SIZES)
        places = self.choose(
            self.input(count, is_index=True).name,
            self.input(count, is_index=True).name,
            f"index({self.input(count).name}, 0) + 1",
        )
        shape = (count, *a.shape[1:])
        self.define(f" = gather({a.name}, {places})", shape)

    def one_hot(self) -> None:
        """The sum of what is where two things are equal, perhaps under a constraint."""
        a = self.some()
        rows, *rest = a.shape
        others = [f"r{k}" for k in range(len(rest))]
        target = self.choose(*SIZES)
        number, is_gather = f"T{len(self.lines)}", self.choose(True, False)
        counted = a if is_gather else self.input(target)
        self.lines.append(f"{number} = index({counted.name}, 0);")
        places = self.input(target if is_gather else rows, is_index=True)
        zeros = ["0"] * (len(counted.shape) - 1)
        row, place = ("v", "p") if is_gather else ("p", "v")
        test = f"{number}[{', '.join([row, *zeros])}] == {places.name}[{place}]"
        limit = self.choose("", "", ", v - p < 2", ", p - v < 3", ", v < 2", ", v + p < 4")
        self.define(
            f"[{', '.join(['p', *others])}: {', '.join(map(str, (target, *rest)))}]"
            f" = +({test} ? {a.name}[{', '.join(['v', *others])}]){limit}",
            (target, *rest),
        )

    def elementwise(self) -> None:
        a = self.some()
        b = self.like(a.shape)
        form = self.choose(
            "{0} * {1}", "{0} + {1}", "{0} - 0.5 * {1}", "sin({0})", "max({0}, {1})", "relu({0})"
        )
        self.define(f" = {form.format(a.name, b.name)}", a.shape)

    def sums(self) -> None:
        """Sums along an axis, or of windows, or running ones."""
        a = self.some()
        axis = self.choose(*range(len(a.shape)))
        indices = list(INDICES[: len(a.shape)])
        i, n = indices[axis], a.shape[axis]
        read = indices.copy()
        kind, limit, shape = self.choose("keep", "window", "running"), "", list(a.shape)
        read[axis] = {"keep": "s", "window": f"{i} + s - 1", "running": "s"}[kind]
        written = indices.copy()
        if kind == "keep":
            written[axis], shape[axis] = "0", 1
        limit = {"keep": "", "window": ", s < 3", "running": f", {i} - s < {n}"}[kind]
        self.define(
            f"[{', '.join(written)}: {', '.join(map(str, shape))}]"
            f" = {self.choose(*'++><')}({a.name}[{', '.join(read)}]){limit}",
            tuple(shape),
        )

    def product(self) -> None:
        a = self.some(2)
        *batch, m, k = a.shape
        b = self.input(k, self.choose(*SIZES))
        own = [f"b{n}" for n in range(len(batch))]
        shape = (*batch, m, b.shape[1])
        self.define(
            f"[{', '.join([*own, 'm', 'n'])}: {', '.join(map(str, shape))}]"
            f" = +({a.name}[{', '.join([*own, 'm', 'k'])}] * {b.name}[k, n])",
            shape,
        )


STEPS: tuple[Callable[[Writer], None], ...] = (
    *[Writer.concatenation] * 4,
    *[Writer.padding, Writer.part, Writer.selection],
    *[Writer.gather, Writer.gather, Writer.one_hot, Writer.one_hot],
    *[Writer.elementwise, Writer.elementwise, Writer.sums, Writer.product],
)


@st.composite
def programs(draw: st.DrawFn, most: int = 10) -> Program:
    """A program of up to ``most`` steps; some of its tensors are outputs, the last one always."""
    writer = Writer(draw)
    for _ in range(draw(st.integers(1, 2))):
        writer.input(*(writer.choose(*SIZES) for _ in range(writer.choose(1, 2, 2, 3))))
    for _ in range(draw(st.integers(1, most))):
        draw(st.sampled_from(STEPS))(writer)
    made = writer.made()
    if not made:
        writer.elementwise()
        made = writer.tensors[-1:]
    kept = [t for t in made[:-1] if draw(st.integers(0, 4)) == 0]
    source = writer.source([*kept, made[-1]])
    return Program(source, tuple(writer.inputs), np.float64, rows=6)
