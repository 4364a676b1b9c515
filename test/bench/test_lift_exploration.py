"""The pairs of programs in Lift and in Tile by which explorations of Lift programs are measured."""

import sys
from pathlib import Path

import numpy as np
import pytest

import tiledialect as td

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from lift_exploration import PAIRS


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_compute_the_same(name: str):
    """Sums of less than 300 numbers below 1, in another order: a few units in the last place."""
    pair = PAIRS[name]
    arrays = pair.inputs(0)
    found, expected = (td.compile(x).reference(*arrays) for x in (pair.lift, pair.tile))
    for a, b in zip(_all(found), _all(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def _all(results: object) -> tuple[object, ...]:
    return results if isinstance(results, tuple) else (results,)
