"""Programs are built kernel by kernel where others have been built before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from builds import noted_builds

import tiledialect as td
from tiledialect.lowering.runtime.program import specialization
from tiledialect.lowering.runtime.program.program_text import KernelTexts

SOURCE = """function (X[N, M], W[M]) -> (R, S) {
  E = erf(max(X, 0.5)); S[j: M] = >(E[i, j]); R[i: N] = +(E[i, j] * W[j]);
}"""
"""Kernels with helpers, of which one or more have other texts for other numbers of rows."""


def test_a_program_is_its_kernels_and_the_rest(device: td.Device):
    source = td.compile(SOURCE, device=device).opencl("40x70xf32", "70xf32")
    texts = KernelTexts.of(source)
    assert "static inline" in texts.rest and "__kernel" not in texts.rest
    assert len(texts.kernels) == source.count("__kernel") > 1
    for name, text in texts.kernels.items():
        assert text in source and f" {name}(" in text and name not in texts.meaning(name)
        assert KernelTexts.of(texts.of_kernels([name])) == KernelTexts(
            f"{texts.rest}\n", {name: text}
        )
    # Helpers are of those kernels that use them.
    used = [name for name, text in texts.kernels.items() if "maximum" in text]
    assert used and all("static inline" in texts.meaning(name) for name in used)
    # Nothing is lost: but for blank lines the parts are the whole.
    whole = texts.rest + "".join(texts.kernels.values())
    assert sorted(filter(None, whole.split("\n"))) == sorted(filter(None, source.split("\n")))


def test_what_a_kernel_does_not_use_is_no_part_of_its_meaning():
    plain = "__kernel void plain(float* x)\n{\n  *x = 1.0f;\n}\n"
    double = "__kernel void wide(SUB_GROUPS_OF(8) double2* x)\n{\n  *x = 1.0;\n}\n"
    pragma = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable"
    macro = "#ifdef other\n#define SUB_GROUPS_OF(n) 1\n#endif"
    texts = KernelTexts.of(f"{pragma}\n\n{macro}\n\n{plain}\n{double}")
    assert texts.meaning("plain") == KernelTexts.of(plain).meaning("plain")
    assert texts.meaning("wide").startswith(f"{pragma}\n{macro}\n")


def test_kernels_with_texts_that_were_built_are_not_built_again(
    device: td.Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
):
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))
    built = noted_builds(monkeypatch)
    # The second kernel is the same for all sizes of B. It has a launch of its own.
    source = "function (A[N], B[M]) -> (O, P) { O[i: N] = +(A[i] * B[j]); P[] = >(O[i]); }"

    def check(f: td.Function, n: int, m: int, kernels: int) -> None:
        built.clear()
        a, b = np.arange(n, dtype=np.float32), np.arange(m, dtype=np.float32)
        o, p = f(a, b)
        assert np.array_equal(o, a * b.sum()) and p == o.max()
        assert "".join(built).count("__kernel") == kernels

    f = td.compile(source, device=device)
    shapes = ((5, 7), (5, 8), (6, 8))
    counts = (2, 1, 2)
    for (n, m), kernels in zip(shapes, counts, strict=True):
        check(f, n, m, kernels)
    if device.short_platform not in specialization.KEEP_KERNELS:
        again = td.compile(source, device=device)
        for n, m in reversed(shapes):
            # Each entry on disk has all that it needs.
            check(again, n, m, 0)
