"""Pools: the largest, the smallest, the sum or the mean of a window."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from running import Case, case

from operations.convolutions import Window
from operations.data import values

Array = npt.NDArray[Any]

FILLS = {">": -np.inf, "<": np.inf, "+": 0.0}
REDUCE = {">": np.max, "<": np.min, "+": np.sum}
NAMES = {">": "max", "<": "min", "+": "sum"}


def _source(window: Window, sizes: tuple[int, ...], body: str) -> str:
    fixed = " ".join(f"K{a} = {size};" for a, size in enumerate(sizes))
    return f"""
        function (I[N, {window.each("X")}, C]) -> (O) {{
          {fixed} {window.dims()}
          {body}
        }}"""


def _limits(sizes: tuple[int, ...]) -> str:
    return ", ".join(f"k{a} < {size}" for a, size in enumerate(sizes))


def _pool(window: Window, sizes: tuple[int, ...], aggregation: str, to: str = "O") -> str:
    return f"""{to}[n, {window.each("x")}, c: N, {window.each("Y")}, C] =
              {aggregation}(I[n, {window.indices()}, c]), {_limits(sizes)};"""


def _shape(window: Window) -> tuple[int, ...]:
    return {1: (13,), 2: (8, 9), 3: (5, 6, 7)}[window.rank]


def pool(window: Window, sizes: tuple[int, ...], aggregation: str, dtype: str = "float32") -> Case:
    def expected(image: Array) -> Array:
        if dtype != "float32" and aggregation != "+":
            image = image.astype(np.float64)
        views = [v for _, v in window.views(image, sizes, FILLS[aggregation])]
        return REDUCE[aggregation](np.stack(views), axis=0)

    return case(
        f"{NAMES[aggregation]}_pool{window.name()}_{dtype}",
        _source(window, sizes, _pool(window, sizes, aggregation)),
        [values(2, *_shape(window), 3, dtype=dtype)],
        expected,
        length=int(np.prod(sizes)),
    )


def mean(window: Window, sizes: tuple[int, ...], counts_padding: bool) -> Case:
    """With or without the padding among the values that the mean is of."""
    divide = f"O = S / {int(np.prod(sizes))};"
    if not counts_padding:
        x = window.each("x")
        divide = f"""
          One = 1.0; Ones[{x}: {window.each("X")}] = =(One[]);
          Count[{x}, c: {window.each("Y")}, 1] =
              +(Ones[{window.indices()}]), {_limits(sizes)}, c < 1;
          O = S / Count;"""

    def expected(image: Array) -> Array:
        total = sum(view for _, view in window.views(image, sizes))
        if counts_padding:
            return total / np.prod(sizes)
        return total / sum(view for _, view in window.views(np.ones_like(image), sizes))

    return case(
        f"mean_pool{window.name()}{'_with_padding' if counts_padding else ''}",
        _source(window, sizes, _pool(window, sizes, "+", "S") + divide),
        [values(2, *_shape(window), 3, dtype="float32")],
        expected,
        length=int(np.prod(sizes)),
    )


def everywhere(aggregation: str) -> Case:
    """The pool of all of space."""
    body = f"O[n, c: N, C] = {aggregation}(I[n, x, y, c]);"
    return case(
        f"global_{NAMES[aggregation]}_pool",
        f"function (I[N, X, Y, C]) -> (O) {{ {body} }}",
        [values(2, 5, 6, 3, dtype="float32")],
        lambda image: REDUCE[aggregation](image, axis=(1, 2)),
        length=30,
    )


WINDOWS = [
    (Window((2,), (1,), "valid"), (2,)),
    (Window((3,), (2,), "same"), (3,)),
    (Window((1,), (1,), 1), (3,)),
    (Window((2, 2), (1, 1), "valid"), (2, 2)),
    (Window((2, 2), (1, 1), "same"), (3, 3)),
    (Window((1, 2), (1, 1), "same"), (2, 3)),
    (Window((3, 2), (1, 2), 1), (3, 2)),
    (Window((2, 2, 2), (1, 1, 1), "valid"), (2, 2, 2)),
    (Window((2, 1, 2), (1, 1, 1), "same"), (3, 2, 2)),
]

CASES = [
    *(pool(w, k, a) for (w, k), a in product(WINDOWS, "><+")),
    *(
        pool(*WINDOWS[4], a, d)
        for a, d in product("><+", ("bfloat16", "float16", "float64", "int32", "int8"))
    ),
    *(mean(w, k, counts) for (w, k), counts in product(WINDOWS, (True, False))),
    *map(everywhere, "><+"),
]
