"""Scatters to few rows, which work-items add up in copies in private memory."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

SCATTER = "function (V{axes}, I[N], D[R{rest}]) -> (O) {{ O = scatter(V, I, D); }}"
COUNTS = "function (I[N], D[R]) -> (O) { O = scatter(1.0, I, D); }"
ROWS = 40
CASES = {
    "numbers": ((), np.float32, np.int32, 10003),
    "rows": ((3,), np.float32, np.int64, 40001),
    "vectors of a row": ((7,), np.float32, np.uint8, 60001),
    "matrices": ((2, 3), np.float32, np.int32, 60000),
    "integers": ((), np.int32, np.int32, 8192),
}


@pytest.fixture
def fast() -> td.Device:
    """A device that is no simulator."""
    found = [d for d in td.devices() if d.type == "cpu" and d.short_platform != "oclgrind"]
    if not found:
        pytest.skip("no CPU")
    return found[0]


@pytest.mark.parametrize("name", CASES)
def test_sums_of_rows(name: str, fast: td.Device):
    rest, dtype, index, count = CASES[name]
    rng = np.random.default_rng(0)
    values = rng.integers(-4, 5, (count, *rest)).astype(dtype)
    # Some indices name no row.
    least = 0 if np.issubdtype(index, np.unsignedinteger) else -2
    indices = rng.integers(least, ROWS + 2, count).astype(index)
    axes = "".join(f", A{k}" for k in range(len(rest)))
    function = td.compile(SCATTER.format(axes=f"[N{axes}]", rest=axes), device=fast)
    rows = np.zeros((ROWS, *rest), dtype)
    expected = function.reference(values, indices, rows)
    assert np.array_equal(function(values, indices, rows), expected)
    # Rows of several elements are added to in place.
    assert (" sums[" in function.opencl(values, indices, rows)) == (not rest)


def test_counts(device: td.Device):
    indices = np.random.default_rng(0).integers(0, ROWS, 1403).astype(np.int32)
    function = td.compile(COUNTS, device=device)
    found = function(indices, np.zeros(ROWS, np.float32))
    assert np.array_equal(found, np.bincount(indices, minlength=ROWS))


def test_many_rows_are_added_to_in_place(fast: td.Device):
    """Copies of many rows are not worth their sum."""
    indices, rows = np.zeros(3001, np.int32), np.zeros(1000, np.float32)
    function = td.compile(COUNTS, device=fast)
    assert "sums" not in function.opencl(indices, rows)
