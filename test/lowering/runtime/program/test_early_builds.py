"""Builds of kernels while others are lowered."""

from __future__ import annotations

from threading import active_count

import numpy as np
import pytest

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.lowering.opencl.target import Program
from tiledialect.lowering.runtime.program import early_builds as early
from tiledialect.lowering.runtime.program import specialization
from tiledialect.lowering.runtime.program.early_builds import End, early_builds

TWO = """function (X[N, K], W[K, M]) -> (C, S) {
  C[i, j: N, M] = +(X[i, k] * W[k, j]); S[j: M] = >(C[i, j]); }"""


def printed(name: str) -> Program:
    return Program(functions=[f"{name};"])


def test_kernels_are_built_in_their_order_and_all_before_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(early, "ENOUGH", 8)
    built: list[str] = []
    with early_builds(built.append) as give:
        for name in ("one", "two", "three"):
            give(printed(name))
        give(End.WHOLE)
    assert built == ["one;\n\ntwo;\n", "three;\n"]


def test_nothing_is_built_for_a_program_that_is_refused() -> None:
    built: list[str] = []
    threads = active_count()
    with pytest.raises(TileError), early_builds(built.append) as give:
        give(printed("one"))
        raise TileError("refused")
    assert built == []
    assert active_count() == threads


def test_a_refused_kernel_is_left_to_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early, "ENOUGH", 1)
    tried: list[str] = []

    def build(text: str) -> None:
        tried.append(text)
        raise TileError("refused")

    with early_builds(build) as give:
        give(printed("one"))
        give(printed("two"))
    assert tried == ["one;\n", "two;\n"]


def test_a_call_builds_each_kernel_once(
    device: td.Device, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr(early, "ENOUGH", 1)
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    texts: list[str] = []
    build = specialization.build_program

    def noted(source: str, *rest: object) -> object:
        texts.append(source)
        return build(source, *rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(specialization, "build_program", noted)
    f = td.compile(TWO, device=device)
    x, w = (np.arange(12, dtype="f4").reshape(s) for s in ((3, 4), (4, 3)))
    product, largest = f(x, w)
    # Small integers: exact.
    assert np.array_equal(product, x @ w)
    assert np.array_equal(largest, (x @ w).max(0))
    source = f.opencl(x, w)
    names = [n for n in ("_C(", "_S(") if n in source]
    assert [sum(n in text for text in texts) for n in names] == [1] * len(names)
    assert len(texts) == source.count("__kernel")
