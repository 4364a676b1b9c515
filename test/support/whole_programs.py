"""Random Tile programs of whole layers, at sizes where tiles, tails and splits are chosen.

Every program is correct, and its values stay near 1, so that results can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import written_programs
from hypothesis import strategies as st
from written_programs import Program, Shape, Tensor, row

SIZES = (1, 2, 3, 5, 8, 13, 16, 17, 24, 31, 32, 33, 48, 64, 67)
POINTS = 400_000
"""Most points of a contraction: the reference semantics visit them all."""


def names(prefix: str, count: int) -> list[str]:
    """So many indices."""
    return [f"{prefix}{k}" for k in range(count)]


class Writer(written_programs.Writer):
    """Writes layers."""

    # -- drawing ---------------------------------------------------------------------------

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) < percent

    def size(self) -> int:
        """Size of its own, or one that is there, so that axes can be mistaken for one another."""
        known = [n for t in self.tensors for n in t.shape if n <= max(SIZES)]
        return self.choose(*known) if known and self.chance(30) else self.choose(*SIZES)

    def some(self, *ranks: int) -> Tensor:
        """A tensor with one of so many axes, later ones more often; or a new input."""
        found = [t for t in self.tensors if len(t.shape) in ranks]
        if found and self.chance(90):
            return self.choose(*found, *found[-2:])
        shape = [self.size() for _ in range(self.choose(*ranks))]
        while prod(shape) > POINTS // 4:
            shape[shape.index(max(shape))] = self.choose(1, 2, 3, 5)
        return self.input(*shape)

    def fresh(self) -> str:
        return f"T{len(self.lines)}"

    def define(self, value: str, shape: Shape, count: int = 1) -> Tensor:
        """A tensor of a statement; a sum of so many terms is brought back to about 1."""
        made = Tensor(self.fresh(), shape)
        self.lines.append(f"{made.name}{value};")
        if count > 1:
            total, made = made, Tensor(self.fresh(), shape)
            self.lines.append(f"{made.name} = {total.name} * {count**-0.5:.6f};")
        self.tensors.append(made)
        return made

    def contract(
        self, output: list[str], shape: Shape, inside: str, count: int = 1, limits: str = ""
    ) -> Tensor:
        """A sum of so many terms."""
        return self.define(f"[{row(output)}: {row(shape)}] = +({inside}){limits}", shape, count)

    # -- contractions ----------------------------------------------------------------------

    def product(self) -> None:
        """A matrix product, perhaps of many, of operands that may be transposed, or by a number."""
        a = self.some(2, 3)
        *batch, m, k = a.shape
        read_a = ["b"] * len(batch) + ["m", "k"]
        if self.chance(40):
            m, k, read_a = k, m, ["b"] * len(batch) + ["k", "m"]
        n = max(1, min(self.size(), POINTS // prod((*batch, m, k))))
        is_turned = self.chance(40)
        own = batch if self.chance(70) else []
        w = self.input(*own, *((n, k) if is_turned else (k, n)))
        read_w = ["b"] * len(own) + (["n", "k"] if is_turned else ["k", "n"])
        inside = f"{a.name}[{row(read_a)}] * {w.name}[{row(read_w)}]"
        if self.chance(10):
            inside += f" * {self.input().name}[]"
        self.contract(["b"] * len(batch) + ["m", "n"], (*batch, m, n), inside, k)

    def convolution(self) -> None:
        """Window with strides, dilation and padding, perhaps turned round, perhaps of each channel."""
        a = self.some(3, 4)
        n, *space, channels = a.shape
        read, sizes, taps = list[str](), list[int](), list[int]()
        for axis, size in enumerate(space):
            stride, dilation = self.choose(1, 1, 2, 3, 4), self.choose(1, 1, 1, 2, 3)
            width = self.choose(1, 2, 3, 3, 5, 7)
            pad = self.choose(0, width // 2, width - 1)
            tap = f"({width - 1} - j{axis})" if self.chance(15) else f"j{axis}"
            read.append(f"{stride}*y{axis} + {dilation}*{tap} - {pad}")
            sizes.append(max(1, (size + 2 * pad - dilation * (width - 1) - 1) // stride + 1))
            taps.append(width)
        places, windows = names("y", len(space)), names("j", len(space))
        work = n * prod(sizes) * prod(taps) * channels
        if self.chance(25) or work > POINTS:
            w = self.input(*taps, channels)
            inside = f"{a.name}[{row(['n', *read, 'c'])}] * {w.name}[{row([*windows, 'c'])}]"
            shape = (n, *sizes, channels)
            self.contract(["n", *places, "c"], shape, inside, prod(taps))
            return
        filters = max(1, min(self.size(), POINTS // work))
        w = self.input(*taps, channels, filters)
        inside = f"{a.name}[{row(['n', *read, 'c'])}] * {w.name}[{row([*windows, 'c', 'd'])}]"
        shape = (n, *sizes, filters)
        self.contract(["n", *places, "d"], shape, inside, prod(taps) * channels)

    def pool(self) -> None:
        """Windows along some axes."""
        a = self.some(1, 2, 3, 4)
        output, read, shape, limits = list[str](), list[str](), list[int](), list[str]()
        for axis, size in enumerate(a.shape):
            output.append(f"o{axis}")
            if self.chance(50):
                read.append(f"o{axis}")
                shape.append(size)
                continue
            stride, width, pad = self.choose(1, 2, 3), self.choose(1, 2, 3, 4), self.choose(0, 1)
            read.append(f"{stride}*o{axis} + w{axis} - {pad}")
            limits.append(f", w{axis} < {width}")
            shape.append(-(-size // stride))
        head = f"[{row(output)}: {row(shape)}] = {self.choose(*'>><+')}"
        self.define(f"{head}({a.name}[{row(read)}]){''.join(limits)}", tuple(shape))

    def aggregate(self) -> None:
        """An aggregate over some axes, which may stay."""
        a = self.some(1, 2, 3, 4)
        indices = names("i", len(a.shape))
        over = [axis for axis in range(len(a.shape)) if self.chance(50)] or [0]
        stay = self.chance(30)
        output = ["0" if k in over else i for k, i in enumerate(indices) if stay or k not in over]
        shape = tuple(1 if k in over else n for k, n in enumerate(a.shape) if stay or k not in over)
        inside = f"{a.name}[{row(indices)}]"
        how = self.choose(*"++><")
        if how == "+" and self.chance(30):
            inside = f"{inside} * {inside}"
        count = prod(a.shape[k] for k in over) if how == "+" else 1
        head = f"[{row(output)}: {row(shape)}]" if output else "[]"
        self.define(f"{head} = {how}({inside})", shape, count)

    def scan(self) -> None:
        """A running aggregate, or one over a window, from either end."""
        a = self.some(1, 2, 3)
        axis = self.choose(*range(len(a.shape)))
        indices, size = names("i", len(a.shape)), a.shape[axis]
        read = [*indices[:axis], "k", *indices[axis + 1 :]]
        how = self.choose(*"++><") if size > 40 else self.choose(*"++><*")
        back = self.choose(f"i{axis} - k", f"k - i{axis}", f"i{axis} - k - 1")
        bound = size if self.chance(60) else self.draw(st.integers(1, size))
        head = f"[{row(indices)}: {row(a.shape)}] = {how}({a.name}[{row(read)}])"
        self.define(f"{head}, {back} < {bound}", a.shape, size if how == "+" else 1)

    def copy(self) -> None:
        """The elements in another order, some left out, or with others between them."""
        a = self.some(1, 2, 3, 4)
        order = self.draw(st.permutations(range(len(a.shape))))
        output, read, shape = names("i", len(order)), [""] * len(order), list[int]()
        for place, axis in enumerate(order):
            i, size = f"i{place}", a.shape[axis]
            read[axis], reach = self.choose(
                *[(i, size)] * 4,
                (f"{size - 1} - {i}", size),
                (f"{i} + 1", max(1, size - 2)),
                (f"{i} - 2", size + 3),
                (f"2*{i} + 1", max(1, size // 2)),
            )
            if self.chance(7):
                output[place], read[axis], reach = f"2*{i}", i, 2 * size
            shape.append(reach)
        default = f" default {self.input(*shape).name}" if self.chance(30) else ""
        head = f"[{row(output)}: {row(tuple(shape))}] = {self.choose(*'===+>')}"
        self.define(f"{head}({a.name}[{row(read)}]){default}", tuple(shape))

    def mixed(self) -> None:
        """Several indices in one place of the output."""
        a = self.some(2)
        n, m = a.shape
        step, width = self.choose(1, 2, 3), self.choose(3, 4)
        inside = f"{a.name}[i, j]"
        head, shape, limits = self.choose(
            (f"[{m}*i + j: {n * m}] = +", (n * m,), ""),
            (f"[i + j: {n + m}] = +", (n + m,), ""),
            (f"[i - j + {m - 1}: {n + m - 1}] = >", (n + m - 1,), ""),
            (
                f"[{step}*i + w, j: {n * step + 4}, {m}] = +",
                (n * step + 4, m),
                f", w < {width}",
            ),
        )
        self.define(f"{head}({inside}){limits}", shape)

    def one_hot(self) -> None:
        """Rows by their numbers, or sums of them at places that are given."""
        a = self.some(1, 2, 3)
        count, *rest = a.shape
        others = names("r", len(rest))
        target = max(1, min(self.size(), POINTS // prod(a.shape)))
        if self.chance(50):
            places, like, at, value = self.input(target, is_index=True), a, "v", "p"
        else:
            places, like = self.input(count, is_index=True), self.input(target)
            at, value = "p", "v"
        numbers = self.fresh()
        self.lines.append(f"{numbers} = index({like.name}, 0);")
        zeros = ["0"] * (len(like.shape) - 1)
        test = f"{numbers}[{row([at, *zeros])}] == {places.name}[{value}]"
        inside = f"{test} ? {a.name}[{row(['v', *others])}]"
        self.contract(["p", *others], (target, *rest), inside)

    # -- elements and rows -----------------------------------------------------------------

    def unary(self) -> None:
        a = self.some(0, 1, 2, 3, 4)
        form = self.choose(
            *("relu({0})", "tanh({0})", "exp(-abs({0}))", "sigmoid({0})", "{0} * 0.5 + 0.25"),
            *("sin({0})", "{0} * {0}", "sqrt(abs({0}) + 0.5)", "log(abs({0}) + 1.5)"),
            *("({0} > 0.1 ? {0} : 0.2 * {0})", "{0} / (1.5 + abs({0}))"),
        )
        self.define(f" = {form.format(a.name)}", a.shape)

    def binary(self) -> None:
        """With an input that is broadcast along some axes, on either side."""
        a = self.some(1, 2, 3, 4)
        shape = [n if self.chance(60) else 1 for n in a.shape][self.choose(0, 0, 1) :]
        operands = [a.name, self.input(*shape).name]
        if self.chance(40):
            operands.reverse()
        form = self.choose(
            *("{} + {}", "{} * {}", "{} - {}", "max({}, {})", "{} / (abs({}) + 1.0)"),
            "({} > {} ? 1.0 : 0.5)",
        )
        self.define(f" = {form.format(*operands)}", a.shape)

    def softmax(self) -> None:
        a = self.some(1, 2, 3, 4)
        axis = self.choose(*range(len(a.shape)), len(a.shape) - 1)
        self.define(f" = {self.choose('softmax', 'logsoftmax')}({a.name}, {axis})", a.shape)

    def normalization(self) -> None:
        a = self.some(1, 2, 3, 4)
        last = len(a.shape) - 1
        over = [k for k in range(last) if self.chance(25)] + [last]
        count = prod(a.shape[k] for k in over)
        indices = names("i", len(a.shape))
        kept = ["0" if k in over else i for k, i in enumerate(indices)]
        shape = tuple(1 if k in over else n for k, n in enumerate(a.shape))
        total = self.define(f"[{row(kept)}: {row(shape)}] = +({a.name}[{row(indices)}])", shape)
        moved = self.define(f" = {a.name} - {total.name} / {count}", a.shape)
        element = f"{moved.name}[{row(indices)}]"
        square = self.define(f"[{row(kept)}: {row(shape)}] = +({element} * {element})", shape)
        self.define(f" = {moved.name} / sqrt({square.name} / {count} + 0.1)", a.shape)

    def reshape(self) -> None:
        a = self.some(1, 2, 3, 4)
        *rest, last = a.shape
        shape = self.choose((last, prod(rest)), (prod(a.shape),), (1, *a.shape))
        self.define(f" = reshape({a.name}, {row(shape)})", shape)


STEPS: tuple[Callable[[Writer], None], ...] = (
    *[Writer.product] * 3,
    *[Writer.convolution] * 3,
    *[Writer.pool, Writer.aggregate, Writer.aggregate, Writer.scan, Writer.scan],
    *[Writer.copy, Writer.copy, Writer.mixed, Writer.one_hot, Writer.one_hot],
    *[Writer.unary, Writer.unary, Writer.binary, Writer.binary],
    *[Writer.softmax, Writer.normalization, Writer.reshape],
)


@st.composite
def programs(draw: st.DrawFn, most: int = 5) -> Program:
    """A program of up to ``most`` layers; its last tensors are the outputs."""
    writer = Writer(draw)
    writer.some(1, 2, 3, 4)
    for _ in range(draw(st.integers(1, most))):
        draw(st.sampled_from(STEPS))(writer)
    return Program(writer.source(writer.made()[-2:]), tuple(writer.inputs))
