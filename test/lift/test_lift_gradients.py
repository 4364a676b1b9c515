"""Gradients of Lift programs, against finite differences in float64."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from lift_programs import EXAMPLES, SIZES
from random_functions import Make

import tiledialect as td
from tiledialect import TileError, lift
from tiledialect.dialects.lift.types import sizes_of
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.ir.mlir_text import parse_mlir, print_module
from tiledialect.ir.signature import find_function
from tiledialect.lift.program import Program

HERE = Path(__file__).parents[2] / "examples" / "lift"
STEP = 1e-6
TOLERANCE = 1e-5
"""Central differences are off by the square of the step, and by 1e-16 over the step."""

Array = np.ndarray
Run = Callable[..., Any]


def doubled(program: Program) -> td.Function:
    """The program in float64."""
    return td.compile(parse_mlir(print_module(program.module).replace("f32", "f64"), "lift.mlir"))


def inputs_of(f: td.Function, sizes: dict[str, int], seed: int = 0) -> list[Array]:
    """Numbers around 1, and small integers, for a function of patterns."""
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    for t in find_function(f._source.module, None).function_type.inputs:
        shape = [int(s.substitute(sizes).value or 0) for s in sizes_of(t)]
        kind = np.dtype(NUMPY_TYPES[t.element_type])
        values = rng.random(shape) + 0.5 if kind.kind == "f" else rng.integers(0, 4, shape)
        found.append(values.astype(kind))
    return found


def outputs(run: Run, arrays: list[Array]) -> list[Array]:
    found = run(*arrays)
    return list(found) if isinstance(found, tuple) else [found]


def check(f: td.Function, arrays: list[Array], run: Callable[[td.Function], Run]) -> None:
    """The gradient, run like this, against finite differences along a random direction."""
    rng = np.random.default_rng(1)
    cotangents = [rng.random(o.shape).astype(o.dtype) for o in outputs(f.reference, arrays)]
    found = outputs(run(f.gradient()), [*arrays, *cotangents])
    reals = [k for k, a in enumerate(arrays) if a.dtype.kind == "f"]
    for k, gradient in zip(reals, found, strict=True):
        assert gradient.dtype == arrays[k].dtype and gradient.shape == arrays[k].shape
        direction = rng.random(arrays[k].shape) - 0.5
        ends: list[float] = []
        for side in (STEP, -STEP):
            moved = [a + side * direction if n == k else a for n, a in enumerate(arrays)]
            values = outputs(f.reference, moved)
            pairs = zip(values, cotangents, strict=True)
            ends.append(sum(float((v * c).sum()) for v, c in pairs if v.dtype.kind == "f"))
        expected = (ends[0] - ends[1]) / (2 * STEP)
        np.testing.assert_allclose((gradient * direction).sum(), expected, TOLERANCE, TOLERANCE)


def by_reference(f: td.Function) -> Run:
    return f.reference


SEARCHES = {"search_linear", "search_binary"}


@pytest.mark.covering(1, words=True)
@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in SEARCHES])
def test_programs_of_every_pattern(name: str):
    f = doubled(EXAMPLES[name].program(Make(Random(name))))
    check(f, inputs_of(f, SIZES[0]), by_reference)


EXAMPLE_SIZES = {"N": 5, "M": 6, "K": 4, "P": 3, "C": 3, "F": 2}


def examples() -> list[Any]:
    found: list[Any] = []
    for path in sorted(HERE.glob("*.py")):
        programs = runpy.run_path(str(path))
        found += [pytest.param(p, id=n) for n, p in programs.items() if isinstance(p, Program)]
    return found


@pytest.mark.parametrize("program", examples())
def test_examples(program: Program):
    f = doubled(program)
    names = {n for t in f._function.function_type.inputs for s in sizes_of(t) for n in s.names}
    arrays = inputs_of(f, {name: EXAMPLE_SIZES.get(name, 5) for name in names})
    if program.name == "forces":
        # A particle is no neighbour of its own.
        shape = arrays[1].shape
        arrays[1][:] = (np.arange(shape[1]) + 1 + np.arange(shape[0])[:, None] % 3) % shape[1]
    check(f, arrays, by_reference)


V, M = lift.array("N"), lift.array("N", "M")
ON_DEVICES: dict[str, Any] = {
    "pads": lambda x: (
        x
        >> lift.pad(3, 7, lift.mirror)
        >> lift.pad(9, 2, lift.wrap)
        >> lift.pad(2, 1, lift.clamp)
        >> lift.pad_constant(1, 1, 0.5)
        >> lift.slide(4, 2)
        >> lift.map(lift.reduce(lift.mul, 1.0))
    ),
    "gathers": lambda x: (
        x
        >> lift.gather(lambda i, n: n - 1 - i)
        >> lift.gather(lambda i, n: i * i % n)
        >> lift.scatter(lift.reorder_stride(2))
        >> lift.map(lambda a: a * a)
        >> lift.scatter(lambda i, n: (3 * i + 1) % n)
    ),
    "an index that is computed": lambda x: (
        x >> lift.map(lambda a: a * x[lift.cast(a * 4.0, lift.i32)])
    ),
    "any function in any order": lambda x: x >> lift.reduce(lambda a, b: a + b + a * b, 0.0),
    "any function in order": lambda x: x >> lift.reduce_seq(lambda a, b: lift.sin(a) * b, 1.0),
    "extremes": lambda x: {
        "least": x >> lift.reduce(lift.min, np.inf),
        "most": x >> lift.split(2) >> lift.map(lift.reduce(lift.max, 0.0)),
    },
    "an iteration that halves": lambda x: (
        x >> lift.iterate(3, lift.split(2) >> lift.map(lift.reduce(lift.mul, 1.0)))
    ),
    "a let, slices and a concatenation": lambda x: (
        lift.concat(x[1:3], x, x[4:8] >> lift.map(lift.exp))
        >> lift.let(lambda y: lift.zip(y, y) >> lift.map(lift.mul))
    ),
    "whole arrays and numbers": lambda x: lift.where(x > 1.0, x * 2.0, 1.0 / x) + x[0] * 3.0,
    "generated weights": lambda x: (
        lift.zip(x, lift.generate("N", lambda i: lift.cast(i * 2 + 1, lift.f32)))
        >> lift.map(lift.mul)
    ),
    "vectors": lambda x: (
        x >> lift.as_vector(4) >> lift.map(lift.map_vec(lambda a: a * a)) >> lift.as_scalar
    ),
    "what says who does it": lambda x: (
        x
        >> lift.split(4)
        >> lift.map_wrg(
            lambda t: t >> lift.to_local(lift.map_lcl(lambda a: a * a)) >> lift.map_lcl(lift.sqrt)
        )
        >> lift.join
    ),
}


@pytest.mark.parametrize("device", ["reference", *td.devices()], ids=str)
@pytest.mark.parametrize("name", ON_DEVICES)
def test_patterns(name: str, device: Any):
    f = doubled(lift.fun(V, ON_DEVICES[name]))
    if device == "reference":
        check(f, inputs_of(f, {"N": 8}), by_reference)
    else:
        check(f, inputs_of(f, {"N": 8}), lambda g: on(g, device))


def on(f: td.Function, device: Any) -> Run:
    source = f._source
    return td.Function(source, f._base_name, device, f._transforms)


STEPS = [
    lift.transpose,
    lift.map(lift.map(lambda a: a * a + 0.5)),
    lift.map(lift.pad(1, 1, lift.clamp) >> lift.slide(3, 1) >> lift.map(lift.reduce(lift.add, 0))),
    lift.pad(2, 2, lift.mirror) >> lift.slide(5, 1) >> lift.map(lift.transpose >> lift.map(
        lift.reduce(lambda a, b: a + b * b, 0.0)
    )),
    lift.join >> lift.gather(lift.reverse) >> lift.split(4),
    lift.map(lambda row: lift.zip(row, row >> lift.gather(lift.reverse)) >> lift.map(lift.mul)),
    lambda x: x * (x[1] >> lift.reduce(lift.max, 0.0)),
    lambda x: lift.concat(x[0:2], x[2:4] >> lift.map(lift.map(lift.sin))),
    lambda x: x >> lift.map(lambda row: row >> lift.map(lambda a: a / (row[0] + 1.0))),
    lift.map(lift.split(2) >> lift.transpose >> lift.join),
    lift.iterate(2, lift.map(lift.map(lift.sqrt))),
    lambda x: x >> lift.map(lambda a: x >> lift.map(
        lambda b: lift.zip(a, b) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)
    )),
]  # fmt: skip
"""Functions of 4 x 4 numbers that give as many."""


@pytest.mark.parametrize("seed", range(30))
def test_random_compositions(seed: int):
    chosen = Random(seed).sample(STEPS, 4)
    f = doubled(lift.fun(lift.array(4, 4), lift.compose(*chosen)))
    check(f, inputs_of(f, {}, seed), by_reference)


def test_gradients_of_gradients():
    program = lift.fun(V, lambda x: x >> lift.map(lambda a: a * a * a) >> lift.reduce(lift.add, 0))
    second = doubled(program).gradient().gradient(wrt="x")
    x = np.arange(5.0)
    assert np.allclose(second.reference(x, 1.0, np.ones(5)), 6 * x)


def test_the_front_door():
    @lift.fun
    def loss(x: V, w: V, k: lift.array("N", lift.i32)):
        error = lift.zip(x, w) >> lift.map(lambda a, b: (a - b) * (a - b))
        return {"loss": error >> lift.reduce(lift.add, 0.0), "twice": k * 2}

    f = td.compile(loss)
    g = f.gradient(wrt="w")
    assert g.inputs == ("x", "w", "k", "Dloss", "Dtwice") and g.outputs == ("Dw",)
    x, w, k = np.float32([1, 2]), np.float32([3, 5]), np.int32([1, 2])
    value, _, dx, dw = f.value_and_gradient()(x, w, k, 1, k)
    assert value == 13 and dx.tolist() == [-4, -6] and dw.tolist() == [4, 6]


def test_tile_text_for_the_sizes_of_the_last_call():
    f = td.compile(lift.fun(V, lambda x: {"s": x * 2.0 >> lift.reduce(lift.add, 0.0)}))
    with pytest.raises(TileError, match="are not known yet: call program first"):
        _ = f.tile
    x = np.arange(4, dtype=np.float32)
    for function, arrays in ((f, (x,)), (f.gradient(), (x, np.float32(3)))):
        found = function(*arrays)
        assert np.array_equal(td.compile(function.tile)(*arrays), found)
    f = td.compile(lift.fun(V, lambda x: {"s": x >> lift.gather(lift.reverse)}))
    texts = [(f(x[:n]), f.tile)[1] for n in (4, 2, 4)]
    # The last call is one that is known, and compiles nothing.
    assert texts[0] == texts[2] != texts[1]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x: x >> lift.search(lambda a: lift.cast(1.0 - a, lift.i32), 0.0),
            "search(binary) has no form in Tile, and so no gradient",
        ),
        (
            lambda x: x >> lift.reduce_seq(lambda a, b: a * b + b, 0.0),
            "reduce_seq of 300 elements by a function that is no sum, product or extreme is "
            "unrolled in Tile, for a gradient too: at most 128 steps",
        ),
        (
            lambda x: x >> lift.iterate(200, lift.map(lift.sin)),
            "iterate(200) is unrolled in Tile",
        ),
    ],
)
def test_refused(function: Any, message: str):
    f = td.compile(lift.fun(V, function))
    with pytest.raises(TileError) as caught:
        f.gradient().reference(np.ones(300, np.float32), np.float32(1))
    assert caught.value.message.startswith(message)
    assert caught.value.span is not None and caught.value.span.filename == __file__
