"""Builds of kernels while others are lowered."""

from __future__ import annotations

from pathlib import Path
from threading import active_count, current_thread, main_thread

import numpy as np
import pytest
from builds import noted_builds
from threads import allow_threads

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.lowering.opencl.target import Program
from tiledialect.lowering.runtime.device import probe
from tiledialect.lowering.runtime.program import early_builds as early
from tiledialect.lowering.runtime.program.early_builds import End, early_builds
from tiledialect.lowering.runtime.program.program_text import KernelTexts

TWO = """function (X[N, K], W[K, M]) -> (C, S) {
  C[i, j: N, M] = +(X[i, k] * W[k, j]); S[j: M] = >(C[i, j]); }"""


def printed(name: str) -> Program:
    return Program(functions=[name])


def test_kernels_are_built_in_their_order_and_all_before_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(early, "ENOUGH", 8)
    built: list[str] = []
    names = [f"kernel_{k};" for k in range(20)]
    with early_builds(built.append) as give:
        for name in names:
            give(printed(name))
        give(End.WHOLE)
    assert "".join(built).split() == names


def test_few_kernels_wait_for_the_end() -> None:
    built: list[str] = []
    with early_builds(built.append) as give:
        give(printed("one;"))
        give(printed("two;"))
        assert built == []
        give(End.WHOLE)
    assert built == ["one;\n\ntwo;\n"]


def test_nothing_is_built_for_a_program_that_is_refused() -> None:
    built: list[str] = []
    threads = active_count()
    with pytest.raises(TileError), early_builds(built.append) as give:
        give(printed("one;"))
        raise TileError("refused")
    assert built == []
    assert active_count() == threads


def test_a_refused_kernel_is_left_to_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early, "ENOUGH", 1)
    tried: list[str] = []

    def build(text: str) -> None:
        tried.append(text)
        raise (TileError if "one" in text else MemoryError)("refused")

    with early_builds(build) as give:
        give(printed("one;"))
        give(printed("two;"))
        give(End.WHOLE)
    assert "".join(tried).split() == ["one;", "two;"]


def test_a_call_builds_each_kernel_once(
    device: td.Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(early, "ENOUGH", 1)
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))
    probe.share(tmp_path)
    built = noted_builds(monkeypatch, lambda source: (source, current_thread() is main_thread()))
    f = td.compile(TWO, device=device)
    x, w = (np.arange(12, dtype="f4").reshape(s) for s in ((3, 4), (4, 3)))
    product, largest = f(x, w)
    # Small integers: exact.
    assert np.array_equal(product, x @ w)
    assert np.array_equal(largest, (x @ w).max(0))
    kernels = KernelTexts.of(f.opencl(x, w)).kernels
    heads = [f"void {name}(" for name in kernels]
    assert [sum(head in text for text, _ in built) for head in heads] == [1] * len(heads)
    assert not any(in_main for _, in_main in built)


def test_kernels_of_given_schedules_are_built_after_they_are_tried(
    device: td.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early, "early_builds", pytest.fail)
    f = td.compile(TWO, device=device).with_schedules({"S": "<serial j : 3, serial i : 3>"})
    x, w = (np.ones(s, "f4") for s in ((3, 4), (4, 3)))
    assert np.array_equal(f(x, w)[1], np.full(3, 4, "f4"))


def test_without_a_thread_all_is_left_to_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    allow_threads(monkeypatch, 0)
    built: list[str] = []
    with early_builds(built.append) as give:
        give(printed("one;"))
        give(End.WHOLE)
    assert built == []
