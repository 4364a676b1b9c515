"""Convolutions of every padding, stride, dilation and grouping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from covering import pairwise
from running import Case, case

from operations.data import values

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Window:
    """Movement of a window along the axes of space; ``padding`` is `valid`, `same` or a number."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: str | int

    @property
    def rank(self) -> int:
        return len(self.strides)

    def name(self) -> str:
        numbers = ["".join(map(str, numbers)) for numbers in (self.strides, self.dilations)]
        return f"{self.rank}d_{self.padding}_stride{numbers[0]}_dilation{numbers[1]}"

    # -- in Tile ---------------------------------------------------------------------------

    def dims(self) -> str:
        """Statements that define the sizes Y0, Y1, … of the output and the paddings P0, P1, …

        The sizes of the input and of the window are X0, X1, … and K0, K1, …
        """
        return "\n".join(self._axis(a) for a in range(self.rank))

    def _axis(self, a: int) -> str:
        s, extent = self.strides[a], f"({self.dilations[a]}*(K{a} - 1) + 1)"
        if self.padding == "same":
            size = f"Y{a} = (X{a} + {s - 1})/{s};"
            return f"{size} P{a} = max(0, (Y{a} - 1)*{s} + {extent} - X{a})/2;"
        pad = 0 if self.padding == "valid" else self.padding
        return f"P{a} = {pad}; Y{a} = (X{a} + 2*P{a} - {extent})/{s} + 1;"

    def indices(self) -> str:
        """The index expressions of the input."""
        return ", ".join(
            f"{s}*x{a} + {d}*k{a} - P{a}"
            for a, (s, d) in enumerate(zip(self.strides, self.dilations, strict=True))
        )

    def each(self, letter: str) -> str:
        return ", ".join(f"{letter}{a}" for a in range(self.rank))

    # -- in NumPy --------------------------------------------------------------------------

    def paddings(self, sizes: Sequence[int], window: Sequence[int]) -> list[tuple[int, int]]:
        """Before and after each axis."""
        pairs: list[tuple[int, int]] = []
        for x, k, s, d in zip(sizes, window, self.strides, self.dilations, strict=True):
            total = max(0, (-(-x // s) - 1) * s + d * (k - 1) + 1 - x)
            same = (total // 2, total - total // 2)
            fixed = 0 if self.padding == "valid" else self.padding
            pairs.append(same if self.padding == "same" else (int(fixed), int(fixed)))
        return pairs

    def views(
        self, image: Array, window: Sequence[int], fill: float = 0
    ) -> Iterator[tuple[Any, Array]]:
        """For each offset in the window, what it sees of ``image`` (batch, space…, channels)."""
        sizes = image.shape[1:-1]
        pads = self.paddings(sizes, window)
        padded = np.pad(image, [(0, 0), *pads, (0, 0)], constant_values=fill)
        counts = [
            (size + sum(pad) - d * (k - 1) - 1) // s + 1
            for size, pad, k, s, d in zip(
                sizes, pads, window, self.strides, self.dilations, strict=True
            )
        ]
        for offset in np.ndindex(*window):
            cut = tuple(
                slice(d * o, d * o + s * (n - 1) + 1, s)
                for o, n, s, d in zip(offset, counts, self.strides, self.dilations, strict=True)
            )
            yield offset, padded[(slice(None), *cut)]


def convolve(window: Window, image: Array, kernel: Array, groups: int = 1) -> Array:
    """Channels last; the kernel is (space…, channels of a group, output channels)."""
    parts = [
        sum(view @ k[offset] for offset, view in window.views(i, kernel.shape[: window.rank]))
        for i, k in zip(
            np.split(image, groups, axis=-1), np.split(kernel, groups, axis=-1), strict=True
        )
    ]
    return np.concatenate(parts, axis=-1)


def _sizes(window: Window) -> tuple[tuple[int, ...], tuple[int, ...]]:
    image = {1: (13,), 2: (8, 9), 3: (4, 6, 5)}[window.rank]
    return image, {1: (4,), 2: (3, 2), 3: (2, 3, 2)}[window.rank]


def plain(window: Window, dtype: str = "float32") -> Case:
    source = f"""
        function (I[N, {window.each("X")}, CI], K[{window.each("K")}, CI, CO]) -> (O) {{
          {window.dims()}
          O[n, {window.each("x")}, co: N, {window.each("Y")}, CO] =
              +(I[n, {window.indices()}, ci] * K[{window.each("k")}, ci, co]);
        }}"""
    space, kernel = _sizes(window)
    inputs = [values(2, *space, 3, dtype=dtype), values(*kernel, 3, 4, dtype=dtype)]
    return case(
        f"conv{window.name()}_{dtype}",
        source,
        inputs,
        lambda i, k: convolve(window, i, k),
        length=3 * int(np.prod(kernel)),
    )


def channels_first(window: Window) -> Case:
    source = f"""
        function (I[N, CI, {window.each("X")}], K[CO, CI, {window.each("K")}]) -> (O) {{
          {window.dims()}
          O[n, co, {window.each("x")}: N, CO, {window.each("Y")}] =
              +(I[n, ci, {window.indices()}] * K[co, ci, {window.each("k")}]);
        }}"""
    space, kernel = _sizes(window)

    def expected(image: Array, weights: Array) -> Array:
        last = np.moveaxis(weights, (0, 1), (-1, -2))
        return np.moveaxis(convolve(window, np.moveaxis(image, 1, -1), last), -1, 1)

    inputs = [values(2, 3, *space, dtype="float32"), values(4, 3, *kernel, dtype="float32")]
    name = f"conv_channels_first{window.name()}"
    return case(name, source, inputs, expected, length=3 * int(np.prod(kernel)))


def biased(window: Window) -> Case:
    source = f"""
        function (I[N, {window.each("X")}, CI], K[{window.each("K")}, CI, CO], B[CO]) -> (O) {{
          {window.dims()}
          C[n, {window.each("x")}, co: N, {window.each("Y")}, CO] =
              +(I[n, {window.indices()}, ci] * K[{window.each("k")}, ci, co]);
          O = relu(C + B);
        }}"""
    space, kernel = _sizes(window)
    shapes = ((2, *space, 3), (*kernel, 3, 4), (4,))
    return case(
        f"conv_bias_relu{window.name()}",
        source,
        [values(*shape, dtype="float32") for shape in shapes],
        lambda i, k, b: np.maximum(0, convolve(window, i, k) + b),
        length=3 * int(np.prod(kernel)),
    )


def grouped(window: Window, groups: int, way: str) -> Case:
    """Groups as an axis of the output that a reshape takes away, or by a constraint."""
    x, y, k = window.each("x"), window.each("Y"), window.each("k")
    bodies = {
        "axis": f"""
          G = {groups}; COG = CO/G;
          R = CIG;
          T[n, {x}, g, gco: N, {y}, G, COG] =
              +(I[n, {window.indices()}, g*R + gci] * K[{k}, gci, g*COG + gco]), gci < R;
          O = reshape(T, N, {y}, CO);""",
        "constraint": f"""
          COG = CO/{groups};
          O[n, {x}, co: N, {y}, CO] =
              +(I[n, {window.indices()}, g*CIG + gci] * K[{k}, gci, co]), co - g*COG < COG;""",
    }
    source = f"""
        function (I[N, {window.each("X")}, CI], K[{window.each("K")}, CIG, CO]) -> (O) {{
          {window.dims()}{bodies[way]}
        }}"""
    space, kernel = _sizes(window)
    inputs = [
        values(2, *space, 2 * groups, dtype="float32"),
        values(*kernel, 2, 3 * groups, dtype="float32"),
    ]
    return case(
        f"conv_{groups}_groups_by_{way}{window.name()}",
        source,
        inputs,
        lambda i, w: convolve(window, i, w, groups),
        length=2 * int(np.prod(kernel)),
    )


def depthwise(window: Window, multiplier: int) -> Case:
    source = f"""
        function (I[N, {window.each("X")}, C], K[{window.each("K")}, C, M]) -> (O) {{
          {window.dims()}
          T[n, {window.each("x")}, c, m: N, {window.each("Y")}, C, M] =
              +(I[n, {window.indices()}, c] * K[{window.each("k")}, c, m]);
          O = reshape(T, N, {window.each("Y")}, C * M);
        }}"""
    space, kernel = _sizes(window)

    def expected(image: Array, weights: Array) -> Array:
        one = weights.reshape(*kernel, 1, -1)
        return convolve(window, image, one, groups=image.shape[-1])

    inputs = [
        values(2, *space, 3, dtype="float32"),
        values(*kernel, 3, multiplier, dtype="float32"),
    ]
    name = f"depthwise{window.name()}_times_{multiplier}"
    return case(name, source, inputs, expected, length=int(np.prod(kernel)))


PADDINGS: tuple[str | int, ...] = ("valid", "same", 2)
MOVEMENTS: tuple[tuple[Any, ...], ...] = (
    (((1,), (2,), (3,)), ((1,), (2,), (3,)), PADDINGS),
    (((1, 1), (2, 2), (3, 1)), ((1, 1), (2, 3)), PADDINGS),
    (((1, 1, 1), (2, 1, 2)), ((1, 1, 1), (1, 2, 3)), ("valid", "same")),
)
"""Strides, dilations and paddings in one, two and three dimensions."""
SOME = [
    *(Window((1,), (1,), "same"), Window((1,), (2,), 2), Window((3,), (3,), 2)),
    *(Window((1, 1), (1, 1), "valid"), Window((1, 1), (1, 1), "same")),
    *(Window((2, 2), (1, 1), 2), Window((3, 1), (2, 3), "same")),
    Window((1, 1, 1), (1, 1, 1), "same"),
]

CASES = [
    *(plain(Window(*w)) for m in MOVEMENTS for w in pairwise(*m)),
    *(
        plain(w, d)
        for w in (SOME[4], SOME[5])
        for d in ("bfloat16", "float16", "float64", "int32", "uint8")
    ),
    *map(channels_first, SOME),
    *map(biased, SOME),
    *(grouped(*case) for case in pairwise(SOME, (1, 3), ("axis", "constraint"))),
    *(depthwise(w, m) for w in SOME for m in (1, 2)),
]
EVERY = [
    *(plain(Window(*w)) for m in MOVEMENTS for w in product(*m)),
    *(grouped(*case) for case in product(SOME, (1, 3), ("axis", "constraint"))),
]
"""Convolutions with all combinations, for `make fuzz`."""
