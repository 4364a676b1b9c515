"""Inputs for comparisons of results: the user's, and random ones like them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from tiledialect.dialects.tile.elementwise.numeric import kind_of
from tiledialect.errors import TileError
from tiledialect.exploration.subject import Case
from tiledialect.interpreters.agreement import counted_terms, wrong

Array = npt.NDArray[Any]

DIFFERS = (
    "candidates are not compared for random inputs like the given ones, as the program differs "
    "from the reference semantics there without a search, too: {}"
)
OTHERS, LARGE, LONG = 2, 64 << 20, 1 << 26
"""Number of random inputs; bytes of inputs and results, and terms of all results, from which there
are only one."""


def cases_of(
    arrays: Sequence[Array], reference: Callable[[Sequence[Array]], Sequence[Array]]
) -> list[Case]:
    """The user's inputs and random ones like them, with the results of the reference semantics.

    Random inputs for which these are errors are left out, as where two rows have one index.
    """
    own = _case(arrays, reference)
    found, random = [own], np.random.default_rng(0)
    nbytes = sum(a.nbytes for a in (*own.arrays, *own.expected))
    terms = own.terms * sum(a.size for a in own.expected)
    for _ in range(OTHERS if nbytes < LARGE and terms < LONG else 1):
        made = [like(array, random) for array in arrays]
        if all(a is b for a, b in zip(made, arrays, strict=True)):
            break
        try:
            found.append(_case(made, reference))
        except TileError:
            continue
    return found


def _case(arrays: Sequence[Array], reference: Callable[[Sequence[Array]], Sequence[Array]]) -> Case:
    with counted_terms() as terms:
        expected = reference(arrays)
    return Case(arrays, expected, terms.most)


def agreeing(
    cases: Sequence[Case], default: Callable[..., Any], warn: Callable[[tuple[str, ...]], None]
) -> list[Case]:
    """The user's inputs, and random ones for which a program agrees as it is compiled by default.

    Some programs are right for certain numbers alone, as those that divide by a difference.
    """
    own, *others = cases
    found = [own]
    for case in others:
        results = default(*case.arrays)
        outputs = results if isinstance(results, tuple) else (results,)
        if text := wrong(outputs, case.expected, case.terms):
            warn((DIFFERS.format(text),))
        else:
            found.append(case)
    return found


def like(array: Array, random: np.random.Generator) -> Array:
    """A random array of the same type and range, as programs may need positive numbers, or indices
    that exist: other reals, whole numbers at other places. The array itself where there is no
    other."""
    flat, is_real = array.reshape(-1), kind_of(array.dtype) == "f"
    is_one = flat.size == 0 or bool((flat == flat[0]).all())
    # Whole reals may be numbers of rows, which others would never equal.
    if not is_one and (not is_real or _are_whole(flat)):
        return random.permutation(flat).reshape(array.shape)
    if not is_real:
        return array
    finite = array[np.isfinite(array)].astype(np.float64)
    if not finite.size:
        return array
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        # Numbers of the same sign, and positive ones for zeros.
        low, high = sorted((0.5 * low, 1.5 * low)) if low else (0.0, 1.0)
    if not isfinite(high - low):
        return array
    return random.uniform(low, high, array.shape).astype(array.dtype)


def _are_whole(array: Array) -> bool:
    values = array.astype(np.float64)
    return bool((np.isfinite(values) & (values == np.rint(values))).all())
