"""Every pattern that says who does what, as kernels: after each pass, and on every device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context

import tiledialect as td
from tiledialect import lift
from tiledialect.interpreters.host import run_host
from tiledialect.lowering.host.shape_binding import bind_shapes
from tiledialect.lowering.lift_to_nest.lift_to_nest import LiftToNestPass
from tiledialect.lowering.nest.simplify_index_arithmetic import SimplifyIndexArithmeticPass
from tiledialect.lowering.pipeline import nest_passes
from tiledialect.passes.lift.lift_lower import LiftLowerPass

rng = np.random.default_rng(3)
PROGRAMS: dict[str, tuple[Any, tuple[np.ndarray, ...]]] = {}


def reals(*shape: int) -> np.ndarray:
    return rng.random(shape, np.float32)


def program(*inputs: np.ndarray) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Note a program and inputs for it."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = lift.fun(function), inputs
        return function

    return note


SUM = lift.reduce_seq(lift.add, 0.0)
SORTED, KEYS = np.arange(0, 40, 2, dtype=np.int32), np.array([4, 5, 38, 0, 77], np.int32)


# -- maps ----------------------------------------------------------------------------------------


@program(reals(200))
def global_items(x: lift.array("N")):
    return x >> lift.map_glb(lambda e: e * e)


@program(reals(5, 40), reals(40, 6))
def groups_and_items(a: lift.array("N", "K"), b: lift.array("K", "M")):
    columns = b >> lift.transpose

    def product(row, column):
        return lift.zip(row, column) >> lift.reduce_seq(lambda s, p: s + p[0] * p[1], 0.0)

    def row_of(row):
        return columns >> lift.map_lcl(0)(lambda column: product(row, column))

    return a >> lift.map_wrg(0)(row_of)


@program(reals(128))
def warps(x: lift.array("N")):
    double = lift.map_warp(lift.map_lane(lambda e: e * 2.0))
    return x >> lift.split(64) >> lift.map_wrg(lift.join @ double @ lift.split(32)) >> lift.join


@program(reals(64))
def vectors(x: lift.array("N")):
    return x >> lift.as_vector(4) >> lift.map_glb(lift.map_vec(lambda e: e + 1.0)) >> lift.as_scalar


@program(reals(64), reals(64))
def vector_arithmetic(x: lift.array("N"), y: lift.array("N")):
    pairs = lift.zip(x >> lift.as_vector(4), y >> lift.as_vector(4))
    return pairs >> lift.map_glb(lambda a, b: a * b + a) >> lift.as_scalar


@program(reals(6, 30))
def moving_windows(x: lift.array("N", "M")):
    along = lift.map_seq_slide(lift.reduce_seq_unroll(lift.add, 0.0), 3, 1)
    return x >> lift.map(lift.pad(1, 1, lift.clamp)) >> lift.map_glb(along)


@program(reals(11, 4))
def moving_rows(x: lift.array("N", 4)):
    return x >> lift.map_seq_slide(lift.reduce_seq_unroll(lift.add, 0.0) @ lift.join, 3, 2)


# -- memory --------------------------------------------------------------------------------------


@program(reals(50))
def local_tiles(x: lift.array("N")):
    def on_tile(tile):
        kept = tile >> lift.to_local(lift.map_lcl(lift.id))
        return kept >> lift.slide(3, 1) >> lift.map_lcl(SUM)

    tiles = x >> lift.pad(1, 1, lift.clamp) >> lift.slide(7, 5)
    return tiles >> lift.map_wrg(on_tile) >> lift.join


BACKWARDS = lift.gather(lift.reverse)
DOUBLE, NEXT = (lambda e: 2.0 * e), (lambda e: e + 1.0)
LOCAL_COPY = lift.to_local(lift.map_lcl(0)(lift.id))


def sums_of(window):
    """Sums of the elements of rows at the same place and the one after it."""
    neighbours = window >> lift.transpose >> lift.slide(2, 1)
    return neighbours >> lift.map_lcl(0)(SUM @ lift.join)


SLIDING = lift.map_seq_slide(sums_of, 3, 1)


@program(reals(11, 9))
def local_windows(x: lift.array("N", 9)):
    """The work-items of a group share the rows of a window."""
    parts = x >> lift.slide(5, 3)
    return parts >> lift.map_wrg(lambda p: p >> lift.map(LOCAL_COPY) >> SLIDING) >> lift.join


@program(reals(21, 9))
def local_windows_in_steps(x: lift.array("N", 9)):
    """Windows that have one row in common with the next, and one group goes through them."""
    return x >> lift.map(LOCAL_COPY) >> lift.map_seq_slide(sums_of, 3, 2)


@program(reals(24, 9))
def local_windows_apart(x: lift.array("N", 9)):
    """Windows without rows in common, of which a group takes several times some."""
    apart = lift.map_seq_slide(sums_of, 2, 3)
    return x >> lift.split(8) >> lift.map_wrg(lambda p: p >> lift.map(LOCAL_COPY) >> apart)


@program(reals(12, 9))
def local_windows_computed(x: lift.array("N", 9)):
    """The rows of a window are computed when they are new, by steps that work-items share out."""
    computed = lift.to_local(lift.map_lcl(0)(NEXT) @ BACKWARDS @ lift.map_lcl(0)(DOUBLE))
    return x >> lift.map(computed) >> SLIDING


@program(reals(3, 7, 8))
def local_windows_of_rows(x: lift.array(3, 7, 8)):
    """The work-items of each row of a group have windows of their own."""
    along = lambda rows: rows >> lift.map(LOCAL_COPY) >> SLIDING  # noqa: E731
    return x >> lift.split(3) >> lift.map_wrg(0)(lift.map_lcl(1)(along))


@program(reals(9, 8), reals(9, 8))
def local_windows_of_two(x: lift.array("N", 8), y: lift.array("N", 8)):
    """Windows of two arrays that slide together, one of them kept by one work-item."""
    copied = lift.zip(x >> lift.map(LOCAL_COPY), y >> lift.map(lift.to_local(lift.map_seq(DOUBLE))))

    def differences(window):
        rows = window >> lift.map(lambda a, b: lift.zip(a, b) >> lift.map(lift.sub))
        return rows >> lift.transpose >> BACKWARDS >> lift.map_lcl(0)(SUM)

    return copied >> lift.map_seq_slide(differences, 3, 1)


@program(reals(10, 7, 11))
def local_planes(x: lift.array("L", "M", "N")):
    """A stencil in 2.5D: the planes of a tile, shared by a group."""
    plane = lift.to_local(lift.map_lcl(1)(lift.map_lcl(0)(lift.id)))

    def on_planes(planes):
        windows = planes >> lift.map(lift.slide2(3, 1)) >> lift.transpose
        sums = lift.map_lcl(1)(lift.map_lcl(0)(SUM @ lift.join @ lift.join))
        return windows >> lift.map(lift.transpose) >> sums

    tiles = x >> lift.map(lift.slide2(7, 5, 5, 3)) >> lift.transpose >> lift.map(lift.transpose)
    along = lambda t: t >> lift.map(plane) >> lift.map_seq_slide(on_planes, 3, 1)  # noqa: E731
    return tiles >> lift.map_wrg(1)(lift.map_wrg(0)(along))


@program(reals(6, 8))
def private_rows(x: lift.array("N", 8)):
    def on(row):
        kept = row >> lift.to_private(lift.map_seq(lambda e: e * 2.0))
        return kept >> lift.slide(3, 1) >> lift.map_seq(SUM)

    return x >> lift.map_glb(on)


@program(reals(4, 16))
def memory_of_rows(x: lift.array(4, 16)):
    """The work-items of each row share memory, those of different rows none."""

    def on(row):
        return row >> lift.map_lcl(0)(DOUBLE) >> BACKWARDS >> lift.map_lcl(0)(NEXT)

    return x >> lift.map_wrg(0)(lift.join @ lift.map_lcl(1)(on) @ lift.split(4))


def reversed_row(row):
    kept = lift.to_local(row >> lift.map_lane(DOUBLE))
    return kept >> BACKWARDS >> lift.map_lane(NEXT)


@program(reals(6, 16))
def memory_of_warps(x: lift.array(6, 16)):
    return x >> lift.map_warp(reversed_row)


@program(reals(4, 16))
def kept_by_one(x: lift.array(4, 16)):
    """Values that one work-item of a row keeps are seen by the others."""

    def on(row):
        kept = lift.to_local(row >> lift.map_seq(DOUBLE))
        return kept >> BACKWARDS >> lift.map_lcl(0)(NEXT)

    return x >> lift.map_wrg(0)(lift.join @ lift.map_lcl(1)(on) @ lift.split(4))


@program(reals(4, 16))
def memory_of_two_types(x: lift.array(4, 16)):
    """Integers lie where numbers were."""

    def on(row):
        large = lift.to_local(row >> lift.map_lcl(DOUBLE)) >> BACKWARDS
        larger = lift.to_local(large >> lift.map_lcl(DOUBLE)) >> BACKWARDS
        whole = lift.to_local(larger >> lift.map_lcl(lambda e: lift.cast(e * 9.0, lift.i32)))
        return whole >> BACKWARDS >> lift.map_lcl(lambda n: lift.cast(n, lift.f32))

    return x >> lift.map_wrg(on)


@program(reals(5, 16))
def global_by_groups(x: lift.array("N", "M")):
    """The work-items of a group share global memory, and the groups none."""

    def on(row):
        return lift.to_global(row >> lift.map_lcl(DOUBLE)) >> BACKWARDS >> lift.map_lcl(NEXT)

    return x >> lift.map_wrg(on)


@program(reals(6, 8))
def global_by_items(x: lift.array("N", "M")):
    def on(row):
        pairs = lift.to_global(row >> lift.map_seq(lambda e: (2.0 * e, e + 1.0)))
        return pairs >> BACKWARDS >> lift.map_seq(lift.mul)

    return x >> lift.map_glb(on)


@program(reals(3, 4, 8))
def global_in_steps(x: lift.array("N", "K", "M")):
    """The groups go through the rows of a matrix, in the same place."""

    def on(row):
        return lift.to_global(row >> lift.map_lcl(DOUBLE)) >> BACKWARDS >> lift.map_lcl(NEXT)

    return x >> lift.map_wrg(lift.map_seq(on))


@program(reals(5, 100))
def global_around(x: lift.array("N", "M")):
    """Values that every work-item computes, before work is shared out."""

    def on(row):
        return lift.to_global(row >> lift.map_seq(DOUBLE)) >> BACKWARDS >> lift.map_glb(NEXT)

    return x >> lift.map_seq(on)


@program(reals(5, 100))
def global_elements(x: lift.array("N", "M")):
    """Every work-item reads what it has written itself."""
    return x >> lift.map_seq(
        lambda row: lift.to_global(row >> lift.map_glb(DOUBLE)) >> lift.map_glb(NEXT)
    )


@program(reals(4, 40))
def global_sums(x: lift.array("N", "M")):
    """An accumulator that is an array of any size."""
    zeros = lift.generate("M", lambda i: lift.cast(i * 0, lift.f32))
    add = lambda total, row: lift.zip(total, row) >> lift.map_lcl(lift.add)  # noqa: E731

    def on(rows):
        sums = lift.to_global(rows >> lift.reduce_seq(add, zeros))
        return sums >> BACKWARDS >> lift.map_lcl(DOUBLE)

    return x >> lift.split(2) >> lift.map_wrg(on)


@program(reals(4, 16))
def shared_sums(x: lift.array(4, 16)):
    """The work-items share out the elements of an accumulator."""
    zeros = lift.generate(16, lambda i: lift.cast(i * 0, lift.f32))
    add = lambda total, row: lift.zip(total, row) >> lift.map_lcl(0)(lift.add)  # noqa: E731
    return x >> lift.split(2) >> lift.map_wrg(0)(lift.reduce_seq(add, zeros))


@program(reals(4, 16))
def own_elements(x: lift.array(4, 16)):
    """Every work-item reads what it has computed itself, and has no need to share it."""

    def on(row):
        kept = row >> lift.split(4) >> lift.map_lcl(0)(lift.map_seq(DOUBLE))
        return lift.to_private(kept) >> lift.map_lcl(0)(lift.map_seq(NEXT)) >> lift.join

    return x >> lift.map_wrg(0)(on)


@program(reals(4, 16))
def rows_shared_out(x: lift.array("N", "M")):
    return x >> lift.map(lift.map_glb(0)(DOUBLE))


@program(reals(16, 8))
def joined_vectors(x: lift.array("N", "M")):
    """A join of arrays of vectors, which are no arrays."""
    rows = x >> lift.join >> lift.as_vector(4) >> lift.split(2)
    return rows >> lift.map_glb(lift.map_seq(lambda v: v * v)) >> lift.join >> lift.as_scalar


@program(reals(6, 8))
def registers(x: lift.array("N", 8)):
    def on(row):
        kept = row >> lift.to_private(lift.map_seq_unroll(lambda e: e * 2.0))
        return (
            kept >> lift.slide(3, 1) >> lift.map_seq_unroll(lift.reduce_seq_unroll(lift.add, 0.0))
        )

    return x >> lift.map_glb(on)


# -- reductions ----------------------------------------------------------------------------------


@program(reals(256))
def partial_sums(x: lift.array("N")):
    """One item of a group writes for all."""

    def on(chunk):
        parts = chunk >> lift.split(4) >> lift.to_local(lift.map_lcl(SUM))
        return parts >> SUM

    return x >> lift.split(64) >> lift.map_wrg(on)


@program(reals(256))
def tree(x: lift.array("N")):
    def halved(v):
        return v >> lift.split(2) >> lift.to_local(lift.map_lcl(SUM))

    def on(chunk):
        return chunk >> lift.to_local(lift.map_lcl(lift.id)) >> lift.iterate(6, halved)

    return x >> lift.split(64) >> lift.map_wrg(on) >> lift.join


@program(reals(6, 8))
def sum_of_rows(x: lift.array("N", 8)):
    zeros = lift.generate(8, lambda i: lift.cast(i * 0, lift.f32))
    add = lambda total, row: lift.zip(total, row) >> lift.map_seq(lift.add)  # noqa: E731
    return x >> lift.reduce_seq(add, zeros)


@program(reals(9))
def shifted_sums(x: lift.array("N")):
    """The accumulator is read elsewhere than it is written."""
    zeros = lift.generate(3, lambda i: lift.cast(i * 0, lift.f32))
    return x >> lift.reduce_seq(
        lambda total, e: total >> lift.gather(lift.reverse) >> lift.map_seq(lambda t: t + e), zeros
    )


@program(reals(7))
def swapped(x: lift.array("N")):
    pair = x >> lift.reduce_seq(lambda p, e: (p[1] + e, p[0]), (0.0, 1.0))
    return {"a": pair[0], "b": pair[1]}


@program(reals(30))
def long_iteration(x: lift.array("N")):
    return x >> lift.map_glb(lambda e: e >> lift.iterate(20, lambda v: v * 0.5 + 1.0))


@program(reals(20))
def repeated(x: lift.array("N")):
    """One kernel does every step."""
    return x >> lift.iterate(
        4, lambda v: v >> lift.pad(1, 1, lift.wrap) >> lift.slide(3, 1) >> lift.map(SUM)
    )


@program(SORTED, KEYS)
def searches(x: lift.array("N", lift.i32), keys: lift.array("K", lift.i32)):
    def find(order):
        return keys >> lift.map(lambda k: x >> lift.search(lambda e: k - e, -1, order))

    return {"binary": find("binary"), "linear": find("linear")}


# -- layout --------------------------------------------------------------------------------------


@program(reals(3))
def generated(x: lift.array("N")):
    return lift.generate("N", 4, lambda i, j: i * 10 + j)


@program(reals(6, 7))
def normalized(x: lift.array("N", "M")):
    def on(row):
        return row >> SUM >> lift.let(lambda s: row >> lift.map(lambda e: e / s))

    return x >> lift.map(on)


@program(reals(17), reals(17))
def several_results(x: lift.array("N"), y: lift.array("N")):
    a, b = lift.unzip(lift.zip(x, y) >> lift.map(lambda p, q: (p + q, p * q)))
    return {"a": a, "sums": b >> lift.slide(2, 1) >> lift.map(SUM), "b": b}


@program(reals(12), reals(5))
def both_after(x: lift.array("N"), y: lift.array("M")):
    parts = [v >> lift.map_glb(lambda e: 2.0 * e) for v in (x, y)]
    return lift.concat(*parts) >> lift.scatter(lift.reverse)


@pytest.mark.parametrize("name", PROGRAMS)
def test_after_each_pass(name: str):
    source, inputs = PROGRAMS[name]
    found = td.compile(source).reference(*inputs)
    expected = found if isinstance(found, tuple) else (found,)
    module = source.module.clone()
    simplify, before = SimplifyIndexArithmeticPass(), ""
    for lower in (LiftLowerPass(), LiftToNestPass(), *nest_passes(), simplify):
        lower.apply(Context(), module)
        module.verify()
        if lower.name != "lift-lower" and (text := str(module)) != before:
            before = text
            results = run_host(bind_shapes(module, name, [a.shape for a in inputs]), None, inputs)
            for a, b in zip(results, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-4, err_msg=lower.name)


def test_barriers_that_need_sizes(device: td.Device):
    """All warps are known to come to the barrier for each number of rows, but not for all."""
    source, inputs = PROGRAMS["memory_of_warps"]
    rows = lift.fun(lift.array("N", 16), lambda x: x >> lift.map_warp(reversed_row))
    f = td.compile(rows, device=device)
    np.testing.assert_allclose(f(*inputs), td.compile(source).reference(*inputs))
    assert "barrier(" in f.opencl(*inputs)


def test_a_size_that_is_known_after_others():
    """Of axes of `N*M`, `K*M` and K elements M is known first, then N."""
    types = lift.array("N*M"), lift.array("K*M"), lift.array("K")
    f = td.compile(
        lift.fun(*types, lambda x, y, z: x >> lift.split("M") >> lift.map(lift.map(lift.neg)))
    )
    x = np.arange(12, dtype=np.float32)
    np.testing.assert_array_equal(f(x, x[:8], x[:2]), -x.reshape(3, 4))


def test_wide_indices_for_what_is_kept_in_global_memory():
    """One kernel serves every size, and what it keeps may need more than 32 bits."""

    @lift.fun
    def kept(x: lift.array("N")):
        def on(e):
            many = lift.generate(1 << 16, lambda i: lift.cast(i, lift.f32))
            return lift.to_global(many >> lift.map_seq(lambda v: v * e)) >> BACKWARDS >> SUM

        return x >> lift.map_glb(on)

    f = td.compile(kept)
    assert "long v" not in f.opencl("1000xf32")
    assert "long v" in f.opencl("100000xf32")


KERNELS = {"several_results": 2, "both_after": 2, "searches": 2}
"""Number of kernels of programs with more or fewer than one: layout patterns need none."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_devices(name: str, device: td.Device):
    source, inputs = PROGRAMS[name]
    f = td.compile(source, device=device)
    found, expected = f(*inputs), f.reference(*inputs)
    if not isinstance(found, tuple):
        found, expected = (found,), (expected,)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4)
    assert f.opencl(*inputs).count("__kernel ") == KERNELS.get(name, 1)
