"""Modules of another batch are resized copies where nothing but the batch changes."""

from __future__ import annotations

import numpy as np
import pytest
from batched_programs import SHAPES, batched_program
from described import spec
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect.interpreters.tile import interpret
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.module_reuse import Form, KeptModules
from tiledialect.lowering.runtime.program.program import Types
from tiledialect.passes.specialize.tile_specialize import specialize
from tiledialect.passes.transform import transforms

TARGET = spec(
    "CPU",
    {
        "compute_units": 16, "native_vector_width": 8, "max_work_group_size": 1024,
        "local_mem_size": 32768, "cache_sizes": (32768, 1 << 20, 1 << 24),
        "type": "cpu", "platform": "Intel(R) OpenCL",
    },
)  # fmt: skip


class Watched(KeptModules):
    """Kept modules that tell whether the last module was resized."""

    has_resized = False

    def resize(self, module: ModuleOp, form: Form) -> bool:
        self.has_resized = super().resize(module, form)
        return self.has_resized


def were_resized(text: str, *shapes: str, batches: tuple[int, ...], by: str = "") -> list[bool]:
    """Whether the program of each batch is a resized copy; all results are the semantics'."""
    program = td.compile(text)
    function = program.gradient(wrt=[by], with_outputs=True) if by else program
    given = function._program  # pyright: ignore[reportPrivateUsage]
    kept, found = Watched(), list[bool]()
    for batch in batches:
        rng = np.random.default_rng(batch)
        sizes = [tuple(map(int, filter(None, s.format(batch).split("x")))) for s in shapes]
        arrays = [rng.integers(-4, 5, s).astype(np.float32) for s in sizes]
        if by:
            outputs = program.output_types(*arrays)
            arrays += [rng.integers(-4, 5, t.get_shape()).astype(np.float32) for t in outputs]
        types = function.types(arrays, {})
        kept.has_resized = False
        chosen = given.transforms, "tile-join-axes"
        module = compile_module(given.module, given.name, types, TARGET, *chosen, kept=kept)
        module.verify()
        found.append(kept.has_resized)
        results = function.reference(*arrays)
        expected = results if isinstance(results, tuple) else (results,)
        for a, b in zip(interpret(module, None, arrays), expected, strict=True):
            # Sums and products of integers in another order, and few quotients of these.
            np.testing.assert_allclose(a, b, 1e-3, 1e-2, err_msg=f"{text}, batch {batch}")
    return found


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("function (A[B, K]) -> (P, Q) { P = A + 8; Q[b: B] = >(A[b, k]); }", ["{}x5"]),
        (
            "function (A[B, K]) -> (V) { M[0, k: 1, K] = +(A[b, k]); D = A - M / B;\n"
            "  S[k: K] = +(D[b, k] * D[b, k]); V = S / (B - 1); }",
            ["{}x7"],
        ),
        (
            "function (A[B, T, C], W[C, D]) -> (S) { O[b, t, d: B, T, D] = +(A[b, t, c] * W[c, d]);\n"
            "  S[d: D] = +(O[b, t, d]); }",
            ["{}x16x4", "4x3"],
        ),
        ("function (A[B, K]) -> (C) { C[a, b: B, B] = +(A[a, k] * A[b, k]); }", ["{}x5"]),
        ("function (A[B, K]) -> (C) { I = index(A, 0); C = A * I; }", ["{}x5"]),
        ("function (A[B, K]) -> (C) { C = sin(reshape(A, B * K)); }", ["{}x4"]),
        # Another axis of that size, which a weight has, too.
        ("function (A[B, K], W[K, N]) -> (C) { C[b, n: B, N] = +(A[b, k] * W[k, n]); }",
         ["{}x8", "8x8"]),
        ("function (A[B, K]) -> (O) { O[b, k: B, K / 2] = >(A[b, 2*k + j]), j < 2; }", ["{}x8"]),
    ],
)  # fmt: skip
def test_a_batch_is_resized(text: str, shapes: list[str]) -> None:
    assert were_resized(text, *shapes, batches=(8, 6, 12)) == [False, True, True]


def test_sizes_of_parts_are_no_numbers_of_the_program() -> None:
    # A part of a row has as many elements as the program's number says, by chance.
    text = """function (A[H, B, C], Y[]) -> (V, Q) {
      M[0, 0, c: 1, 1, C] = +(A[h, b, c]); D = A - M / (B * H);
      S[c: C] = +(D[h, b, c] * D[h, b, c]); V = S / (B * H); Q = Y + 4096; }"""
    assert were_resized(text, "64x{}x4", "", batches=(4096, 8192)) == [False, False]


def test_parts_of_a_sum_over_the_batch_are_fewer() -> None:
    text = """function (A[B, W, K], D[B, W, N]) -> (G) {
      G[j, k, n: 3, K, N] = +(A[b, w + j - 1, k] * D[b, w, n]); }"""
    assert were_resized(text, "{}x64x8", "{}x64x16", batches=(64, 48)) == [False, True]


def test_a_gradient_is_resized() -> None:
    text = "function (X[B, C], W[C, N]) -> (L) { Z[b, n: B, N] = +(X[b, c] * W[c, n]);\n" \
        "  S[] = +(Z[b, n] * Z[b, n]); L = S / (B * N); }"  # fmt: skip
    batches = 8, 6, 16
    assert were_resized(text, "{}x4", "4x3", batches=batches, by="W") == [False, True, True]


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        # A literal of that size, alone and in a kernel with the batch.
        ("function (A[B]) -> (C) { C[i: 8] = +(A[i]); }", ["{}"]),
        ("function (A[B], Q[]) -> (S, R) { T[i: 8] = =(Q[]); U = T * T; S[] = +(U[i]); R = A * A; }",
         ["{}", ""]),
        # The smaller one of two sizes.
        ("function (A[B, K], W[N, K]) -> (C) { C[i, k: N, K] = +(A[i, k] * W[i, k]); }",
         ["{}x5", "8x5"]),
        # A factor is the size.
        ("function (A[B], W[K]) -> (C) { P[b, k: B, K] = =(W[k]); C[k: K] = +(P[b, k]); }",
         ["{}", "8"]),
        # A constraint that holds for every step of some sizes.
        ("function (A[B, K]) -> (C) { C[b, k: B, K] = +(A[b, j]), b + k - j < 9, j - k < 2; }",
         ["{}x3"]),
        ("function (A[B]) -> (C) { C[b: B] = +(A[b + k]), k < 5; }", ["{}"]),
        ("function (A[B, K]) -> (C) { C[b, k: B, K] = =(A[B - 1 - b, k]); }", ["{}x5"]),
        ("function (A[B, K]) -> (C) { C[b, k: 2 * B, K] = =(A[b, k]); }", ["{}x5"]),
        ("function (A[K, B]) -> (C) { C = reshape(A, K * B) * 2; }", ["4x{}"]),
        # A bound that a pass compares positions with is the size by chance.
        ("function (A[B, W]) -> (D) { P[b, i: B, W] = =(A[b, i]), i < 8;\n"
         "  M[0, i: 1, W] = +(P[b, i]); D = P - M / B; }", ["{}x9"]),
    ],
)  # fmt: skip
def test_what_depends_on_the_size_is_compiled_anew(text: str, shapes: list[str]) -> None:
    assert were_resized(text, *shapes, batches=(8, 6)) == [False, False]


def test_a_batch_of_one_and_far_ones_are_compiled_anew() -> None:
    text = "function (A[B, K]) -> (C) { M[0, k: 1, K] = >(A[b, k]); C = A - M; }"
    assert were_resized(text, "{}x5", batches=(2, 1, 3, 7)) == [False, False, True, False]


def random_batches_agree(seed: int) -> list[bool]:
    """A random program, or its gradient, gives the results of the semantics for some batches."""
    batches = (8, 6, 12, 5)
    return were_resized(batched_program(seed), *SHAPES, batches=batches, by="A" if seed % 2 else "")


def test_random_programs_are_resized_where_they_may_be() -> None:
    # Programs of both kinds are among these.
    found = {r for seed in (4, 19, 32, 1) for r in random_batches_agree(seed)[1:3]}
    assert found == {False, True}


def test_types_of_cotangents_and_the_compilation_share_a_specialized_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[int] = []

    def counted(function: func.FuncOp, types: Types) -> tuple[str, ...]:
        given.append(types[0].get_shape()[0])
        return specialize(function, types)

    monkeypatch.setattr(transforms, "specialize", counted)
    function = td.compile("function (A[B, K]) -> (S) { S[k: K] = +(A[b, k]); }").gradient()
    program = function._program  # pyright: ignore[reportPrivateUsage]
    for batch in (8, 6):
        types = function.types([f"{batch}x3xf32", "3xf32"], {})
        chosen = program.transforms, "tile-specialize"
        for _ in range(2):
            module = compile_module(program.module, program.name, types, TARGET, *chosen)
            assert len(module.body.block.ops) == 1
    # The second compilation for the same types specializes again.
    assert given == [8, 8, 6, 6]
