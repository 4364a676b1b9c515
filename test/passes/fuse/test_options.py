"""Kernels that a user keeps apart, or merges: what is fused otherwise computes the same."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tiledialect as td
from tiledialect.tools.tile_run import fusion_options

SOURCE = """function (X[N, M], B[M]) -> (O, S) {
  E_1 = exp(X + B);
  S[i, 0: N, 1] = +(E_1[i, j]);
  O = E_1 / S;
}"""
X = np.random.default_rng(0).standard_normal((64, 100)).astype(np.float32)
B = np.linspace(-1, 1, 100, dtype=np.float32)

CHOICES = {
    "no rows": ({"rows": False}, None),
    "no loads": ({"rows": False, "loads": False, "again": False}, {"E_1", "S", "O"}),
    "one apart": ({"apart": "E_1"}, None),
    "two apart": ({"apart": ("E_1", "S")}, {"E_1", "S", "O"}),
    "two in a text": ({"apart": "E_1, S", "again": False}, {"E_1", "S", "O"}),
    "all that can be": ({"loads": True, "rows": True, "again": True, "beside": True}, {"S"}),
}


@pytest.mark.parametrize("name", CHOICES)
def test_what_is_fused_otherwise_computes_the_same(device: td.Device, name: str) -> None:
    given, kernels = CHOICES[name]
    f = td.compile(SOURCE, device=device)
    assert len(f.schedules(X, B)) == 1
    other = f.with_fusion(**given)
    assert kernels in (None, set(other.schedules(X, B)))
    for ours, expected in zip(other(X, B), f.reference(X, B), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)


def test_choices_add_up_and_stay() -> None:
    f = td.compile(SOURCE)
    apart = f.with_fusion(apart="S").with_fusion(apart="E_1")
    assert set(apart.schedules(X, B)) == {"E_1", "S", "O"}
    again = pickle.loads(pickle.dumps(apart))
    assert again.schedules(X, B) == apart.schedules(X, B)
    given = {"S": "<serial i : 64, serial j : 100>"}
    scheduled = apart.with_schedules(given)
    assert scheduled.schedules(X, B)["S"] == given["S"]
    assert len(scheduled.schedules(X, B)) == 3
    # Those of a gradient are others.
    assert f.gradient().schedules(X, B, X, X[:, :1]) == apart.gradient().schedules(
        X, B, X, X[:, :1]
    )
    assert "to fuse otherwise: " in f.explanation(X, B)


def test_plans_are_kept_apart(device: td.Device) -> None:
    """A kept program is not taken for one that is fused otherwise."""
    f = td.compile(SOURCE, device=device)
    assert f.opencl(X, B).count("__kernel") == 1
    assert f.with_fusion(apart=("E_1", "S")).opencl(X, B).count("__kernel") == 3


def test_wrong_choices() -> None:
    f = td.compile(SOURCE)
    with pytest.raises(td.TileError, match="rows is True, False, or None if it is open, not 'no'"):
        f.with_fusion(rows="no")  # pyright: ignore[reportArgumentType]
    for apart, wrong in ((5, "5"), (None, "None"), (b"E", "69"), (["E", ("S",)], "'S',")):
        with pytest.raises(td.TileError, match=rf"as 'E' or \['E', 'S'\], not \(?{wrong}"):
            f.with_fusion(apart=apart)  # pyright: ignore[reportArgumentType]
    with pytest.raises(td.TileError, match="there is no result Es to keep apart"):
        f.with_fusion(apart="Es")(X, B)
    with pytest.raises(td.TileError, match="write --fuse 'rows=false apart=E'; the options are lo"):
        fusion_options("row=false")
    with pytest.raises(td.TileError, match="write --fuse"):
        fusion_options("rows=false, apart=E")
    assert fusion_options("rows=false apart=E,F") == {
        **dict.fromkeys(("loads", "again", "beside")),
        "rows": False,
        "apart": ("E", "F"),
    }
