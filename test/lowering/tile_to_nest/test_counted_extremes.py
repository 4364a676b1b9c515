"""Maxima and minima over windows that meet, in one kernel with the count of what equals them."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

PROGRAMS = {
    "padded": "function (X[N, C]) -> (O) { O[x, c: (N + 1) / 2, C] = >(X[2*x + j - 1, c]), j < 3; }",
    "along": "function (X[C, N]) -> (O) { O[c, x: C, (N + 1) / 2] = <(X[c, 2*x + j - 1]), j < 3; }",
    "whole": "function (X[N, C]) -> (O) { O[x, c: N - 2, C] = >(X[x + j, c]), j < 3; }",
    # Windows of which the last ones have no points, where the result is 0.
    "empty": "function (X[N, C]) -> (O) { O[x, c: N, C] = <(X[2*x + j, c]), j < 3; }",
}
SHAPES = {"padded": (45, 6), "along": (6, 45), "whole": (21, 9), "empty": (19, 7)}
WINDOWS = {"padded": (23, 6), "along": (6, 23), "whole": (19, 9), "empty": (19, 7)}
SCHEDULES = (
    "<group.x 4*x : {x4}, serial x : 4, serial j : 3, serial c : {n}>",
    "<group.x c : {n}, unroll j : 3, serial 8*x : {x8}, vector x : 8>",
    "<group.x c : {n}, serial 8*x : {x8}, unroll j : 3, vector x : 8> stage <X local>",
    "<group.x c : {n}, local.x j : 3, serial x : {xs}>",
    "<group.x c : {n}, local.x j : 3, serial 4*x : {x4}, unroll x : 4> stage <X local at x>",
    "<group.x c : {n}, serial x : {xs}, vector j : 3>",
    "<group.x c : {n}, serial x : {xs}, serial j : 3> stage <X local at j>",
)
RANDOM = np.random.default_rng(7)


def numbers(shape: tuple[int, int]) -> np.ndarray:
    """Numbers of which many are equal, with those that are special; some windows have one alone."""
    found = RANDOM.integers(-2, 3, shape).astype(np.float32)
    values = np.float32([np.nan, -np.inf, np.inf, -0.0, 0])
    found = np.where(RANDOM.random(shape) < 0.3, RANDOM.choice(values, shape), found)
    for k, value in enumerate(np.float32([-np.inf, np.inf, np.nan, 0])):
        found[:, k :: shape[1]] = value
    found[: shape[0] // 2, -1] = -np.inf
    return found


def check(gradient: td.Function, x: np.ndarray, windows: tuple[int, int]):
    """Compare a gradient with the reference."""
    cotangent = RANDOM.integers(-60, 60, windows).astype(np.float32) * 60
    expected = gradient.reference(x, cotangent)
    np.testing.assert_array_equal(gradient(x, cotangent), expected)


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_share_among_equals(name: str, device: td.Device):
    gradient = td.compile(PROGRAMS[name], device=device).gradient()
    x = numbers(SHAPES[name])
    assert len(gradient.schedules(x, np.zeros(WINDOWS[name], np.float32))) == 2
    check(gradient, x, WINDOWS[name])


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
def test_what_is_counted_is_copied_once(device: td.Device):
    gradient = td.compile(PROGRAMS["along"], device=device).gradient()
    gradient = gradient.with_schedules({"O": SCHEDULES[2].format(n=6, x8=3)})
    first = gradient.opencl("6x45xf32", "6x23xf32").split("__kernel")[1]
    assert first.count("__local") == 1
    if device.type == "cpu":
        assert "float8" in first


@pytest.mark.covering(1)
@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ("padded", "along", "whole"))
def test_all_schedules_count_alike(name: str, schedule: str, device: td.Device):
    gradient = td.compile(PROGRAMS[name], device=device).gradient()
    windows, columns = sorted(WINDOWS[name], reverse=True)
    sizes = {"x4": -(-windows // 4), "x8": -(-windows // 8), "xs": windows, "n": columns}
    text = schedule.format(**sizes)
    check(gradient.with_schedules({"O": text}), numbers(SHAPES[name]), WINDOWS[name])
