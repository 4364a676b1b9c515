"""Functions in two parts, the first of which is computed of constants alone."""

from __future__ import annotations

import gc
from pathlib import Path
from weakref import ref

import numpy as np
import pytest
from described import spec
from packed_results import compiled_forms, packed_results

import tiledialect as td
from tiledialect.api import loading
from tiledialect.api.packing import constant_groups
from tiledialect.api.packing import packing as own_packing
from tiledialect.api.packing.packing import packing_of
from tiledialect.api.packing.splitting import KeptParts, Modules
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.lowering.runtime.device import devices
from tiledialect.lowering.runtime.program import compiling
from tiledialect.passes.algebra import tile_merge_products
from tiledialect.passes.fuse.tile_fuse import TileFusePass

SUMMED = td.compile(
    "function (X[M, N], W[N, K], Packed0[N]) -> (Y) { V[n: N] = +(W[n, k]); Y = X * V + Packed0; }"
)


def test_kernels_of_constants():
    x, w, b = np.ones((8, 32), np.float32), np.ones((32, 48), np.float32), np.ones(32, np.float32)
    types = SUMMED.types((x, w, b), {})
    packing = packing_of(SUMMED, types, ["W", "Packed0"])
    assert packing is not None
    assert (packing.constants, packing.inputs) == (("W",), ("X", "Packed0"))
    # The user's names stay, others are found for what is packed.
    assert packing.rest.inputs == ("X", "Packed0", "Packed0_2")
    packed = packed_results(packing, {"W": w})
    assert np.array_equal(packed[0], w.sum(1))
    found = packing.rest(*packing.arguments({"X": x, "Packed0": b}, packed))
    assert np.array_equal(found, x * w.sum(1) + b)
    assert packing_of(SUMMED, types, ["Packed0"]) is None
    assert packing_of(SUMMED, types, []) is None


def test_parts_are_read_from_disk_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path)
    types, read = SUMMED.types(("8x32xf32", "32x48xf32", "32xf32"), {}), list[str]()
    parse, texts = loading.parse_mlir, list[list[str]]()
    monkeypatch.setattr(loading, "parse_mlir", lambda *own: read.append(own[1]) or parse(*own))
    for count in (0, 2):
        packing = packing_of(SUMMED, types, ["W"])
        assert packing is not None
        (packer,) = packing.packers
        texts.append([part.opencl() for part in (packing.rest, packer.function)])
        assert len(read) == count
    assert texts[0] == texts[1]


def test_what_precedes_merging_is_done_once(monkeypatch: pytest.MonkeyPatch):
    done: list[str] = []
    lowered, types = compiling.lowered, SUMMED.types(("8x32xf32", "32x48xf32", "32xf32"), {})
    monkeypatch.setattr(compiling, "lowered", lambda *given: done.append("") or lowered(*given))
    given = SUMMED.program, types, SUMMED.device
    module = compiling.lowered_with_constants(*given, ["W"])
    assert len(done) == 1
    assert str(module) == str(lowered(*given, TileFusePass.name))


def test_packers_give_up_what_was_compiled():
    """Without the garbage collector."""
    x, w, b = np.ones((8, 32), np.float32), np.ones((32, 48), np.float32), np.ones(32, np.float32)
    packing = packing_of(SUMMED, SUMMED.types((x, w, b), {}), ["W"])
    assert packing is not None
    (packer,) = packing.packers
    gc.disable()
    try:
        for _ in range(2):
            assert np.array_equal(packed_results(packing, {"W": w})[0], w.sum(1))
            found = [*map(ref, compiled_forms(packer.function))]
            found += map(ref, packer.function.program.built.values())
            assert len(found) == 2
            packing.forget()
            assert [own() for own in found] == [None, None]
    finally:
        gc.enable()


def test_parts_with_kept_plans_are_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path)
    x, w, b = np.ones((8, 32), np.float32), np.ones((32, 48), np.float32), np.ones(32, np.float32)
    types = SUMMED.types((x, w, b), {})
    for is_kept in (False, True):
        packing = packing_of(SUMMED, types, ["W"])
        assert packing is not None
        found = packing.rest(
            *packing.arguments({"X": x, "Packed0": b}, packed_results(packing, {"W": w}))
        )
        assert np.array_equal(found, x * w.sum(1) + b)
        for part in (packing.packers[0].function, packing.rest):
            assert ("module" in vars(part._source)) != is_kept  # pyright: ignore[reportPrivateUsage]


PAIR = td.compile(
    "function (X[M, K], V[N, K], W[L, K], B[N], C[L]) -> (Y) { VT[k, n: K, N] = =(V[n, k]); "
    "WT[k, n: K, L] = =(W[n, k]); P[m, n: M, N] = +(X[m, k] * VT[k, n]); "
    "Q[m, n: M, L] = +(X[m, k] * WT[k, n]); PB = P + B; QC = Q + C; "
    "Y[n, l: N, L] = +(PB[m, n] * QC[m, l]); }"
)


def test_merged_products(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    # As if one product were faster than two on any device.
    monkeypatch.setattr(tile_merge_products, "COPY_GAIN", 1e3)
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path)
    rng = np.random.default_rng(3)
    x, v, w, b, c = (rng.random(n, np.float32) for n in ((8, 16), (12, 16), (20, 16), 12, 20))
    types = PAIR.types((x, v, w, b, c), {})
    packing = packing_of(PAIR, types, ["V", "W", "B", "C"])
    assert packing is not None and packing.inputs == ("X",)
    packed = packed_results(packing, {"V": v, "W": w, "B": b, "C": c})
    assert {a.shape for a in packed} == {(16, 32), (32,)}
    found = packing.rest(x, *packed)
    # Sums of 16 and of 8 products in f32.
    np.testing.assert_allclose(found, (x @ v.T + b).T @ (x @ w.T + c), rtol=1e-5)


def _sums(**rows: int) -> td.Function:
    """A kernel that sums rows of each of some constants, and one for each that adds the sums."""
    sums = "".join(
        f"""  %s{name} = tile.kernel @sum_{name}(%v{name} = %{name} : tensor<4x{n}xf32>) -> tensor<4xf32> {{
    %own_{name} = tile.contraction add(%v{name}[i, k]) -> [i] domain <i = 0 to 4, k = 0 to {n}>
      : (tensor<4x{n}xf32>) -> tensor<4xf32>
    tile.yield %own_{name} : tensor<4xf32>
  }}
"""
        for name, n in rows.items()
    )
    arguments = ", ".join(
        f'%{name}: tensor<4x{n}xf32> {{tile.name = "{name}"}}' for name, n in rows.items()
    )
    added = "".join(
        f"""  %y{k + 1} = tile.kernel @add_{name}(%a{k} = %y{k} : tensor<4xf32>,
      %b{k} = %s{name} : tensor<4xf32>) -> tensor<4xf32> {{
    %c{k} = tile.add %a{k}, %b{k} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tile.yield %c{k} : tensor<4xf32>
  }}
"""
        for k, name in enumerate(rows)
    )
    return td.compile(
        parse_mlir(
            f"""func.func @main(%y0: tensor<4xf32> {{tile.name = "X"}}, {arguments})
    -> (tensor<4xf32> {{tile.name = "Y"}}) {{
{sums}{added}  func.return %y{len(rows)} : tensor<4xf32>
}}""",
            "sums",
        )
    )


@pytest.mark.parametrize("large", [1, 4096, 1 << 20])
def test_groups_of_constants(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, large: int):
    """Large ones are computed for themselves, by one function if they are alike, small ones
    together."""
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path)
    monkeypatch.setattr(compiling, "lowered_with_constants", lambda program, *_: program.module)
    monkeypatch.setattr(constant_groups, "LARGE", large)
    monkeypatch.setattr(constant_groups, "SMALL", 0)
    rng = np.random.default_rng(4)
    rows = {"A": 300, "B": 5, "C": 400, "D": 300, "E": 7}
    values = {name: rng.integers(0, 9, (4, n)).astype("f4") for name, n in rows.items()}
    f, x = _sums(**rows), np.ones(4, "f4")
    packing = packing_of(f, f.types((x, *values.values()), {}), [*values])
    assert packing is not None and packing.inputs == ("X",)
    groups = {
        1: [("C",), ("A",), ("D",), ("E",), ("B",)],
        4096: [("C",), ("A",), ("D",), ("B", "E")],
        1 << 20: [("A", "B", "C", "D", "E")],
    }
    assert [packer.constants for packer in packing.packers] == groups[large]
    if large == 4096:
        assert packing.packers[1].function is packing.packers[2].function
    found = packing.rest(x, *packed_results(packing, values))
    # Sums of whole numbers.
    assert np.array_equal(found, x + sum(v.sum(1) for v in values.values()))


POSITIONS = """
func.func @main(%X: tensor<16xf32> {tile.name = "X"}, %W: tensor<16xf32> {tile.name = "W"})
    -> (tensor<16xf32> {tile.name = "Y"}) {
  %z = tile.constant 0 : tensor<i32>
  %f = tile.contraction assign(%z[]) -> [i] where 0 <= i < 16 : (tensor<i32>) -> tensor<16xi32>
  %i = tile.index %f axis 0 : (tensor<16xi32>) -> tensor<16xi32>
  %s = tile.scan add %i axis 0 : (tensor<16xi32>) -> tensor<16xi32>
  %r = tile.contraction assign(%W[i]) -> [15 - i] : (tensor<16xf32>) -> tensor<16xf32>
  %y = tile.mul %r, %X : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %Y = tile.gather %y, %s : (tensor<16xf32>, tensor<16xi32>) -> tensor<16xf32>
  func.return %Y : tensor<16xf32>
}
"""


@pytest.mark.parametrize("device", [d.id for d in td.devices()])
def test_what_depends_on_no_argument(device: str):
    x, w = np.arange(16, dtype=np.float32), np.arange(16, dtype=np.float32) + 3
    f = td.compile(parse_mlir(POSITIONS, "positions"), device=device)
    packing = packing_of(f, f.types((x, w), {}), ["W"])
    # The running sum of positions; the factor is read in place.
    assert packing is not None and packing.constants == ()
    packed = packed_results(packing, {})
    assert [(a.dtype, a.shape) for a in packed] == [(np.int32, (16,))]
    assert isinstance(packed[0], np.ndarray) == f.device.uses_host_memory
    on_host = [a if isinstance(a, np.ndarray) else a.get() for a in packed]
    assert np.array_equal(packing.rest(x, w, *on_host), f(x, w))


NOTHING: tuple[KeptParts, Modules] = KeptParts(), {}


def test_parts_are_of_a_device_as_described(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    types = SUMMED.types(("3x5xf32", "5x4xf32", "5xf32"), {})
    found: list[int] = []
    monkeypatch.setattr(own_packing, "split", lambda *given: found.append(len(given)) or NOTHING)
    monkeypatch.setattr("tiledialect.disk.folder", lambda: tmp_path)
    for _ in range(2):
        assert packing_of(SUMMED, types, ["W"]) is None
    assert len(found) == 1
    other = spec("CPU", {"type": "cpu", "compute_units": 7})
    monkeypatch.setattr(devices, "target_system_spec", lambda device: other)
    assert packing_of(SUMMED, types, ["W"]) is None
    assert len(found) == 2
