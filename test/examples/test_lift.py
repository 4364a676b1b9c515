"""The Lift programs of examples/lift against NumPy."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import tiledialect as td

EXAMPLES = Path(__file__).parents[2] / "examples" / "lift"
rng = np.random.default_rng(3)


Example = Callable[[str, str], Callable[..., Any]]


@pytest.fixture(params=["reference", *td.devices()], ids=str)
def example(request: pytest.FixtureRequest) -> Example:
    """A function of an example: by the reference semantics, and on every device."""

    def compiled(name: str, function: str) -> Callable[..., Any]:
        program = runpy.run_path(str(EXAMPLES / f"{name}.py"))[function]
        if request.param == "reference":
            return td.compile(program).reference
        return td.compile(program, device=request.param)

    return compiled


def reals(*shape: int) -> np.ndarray:
    return rng.random(shape, np.float32) * 2 - 1


def check(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    assert found.dtype == np.float32
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def windows(a: np.ndarray, mode: str, **options: Any) -> np.ndarray:
    """The windows of three along every axis."""
    return sliding_window_view(np.pad(a, 1, mode, **options), (3,) * a.ndim)


def test_dot_product(example: Example):
    x, y = reals(50), reals(50)
    check(example("dot_product", "dot")(x, y), x @ y)


def test_vector_scaling(example: Example):
    x = reals(9)
    check(example("vector_scaling", "scale")(3, x), 3 * x)


def test_sum_absolute_values(example: Example):
    x = reals(30)
    check(example("sum_absolute_values", "asum")(x), np.abs(x).sum())


def test_gemv(example: Example):
    a, x, y = reals(4, 6), reals(6), reals(4)
    found = example("matrix_vector", "gemv")(a, x, y, 2, -1)
    check(found, 2 * a @ x - y)


def test_gesummv(example: Example):
    a, b, x = reals(5, 5), reals(5, 5), reals(5)
    found = example("matrix_vector", "gesummv")(a, b, x, 2, -1)
    check(found, 2 * a @ x - b @ x)


def test_matrix_product(example: Example):
    a, b = reals(3, 5), reals(5, 4)
    check(example("matrix_product", "matmul")(a, b), a @ b)


@pytest.mark.parametrize("function", ["transposed", "by_gather"])
def test_matrix_transposition(example: Example, function: str):
    a = reals(3, 5)
    found = example("matrix_transposition", function)(a)
    check(found.reshape(5, 3), a.T)


def test_convolution(example: Example):
    image, weights = reals(4, 3), reals(17, 17)
    padded = sliding_window_view(np.pad(image, 8, "edge"), (17, 17))
    found = example("convolution", "convolution")(image, weights.reshape(-1))
    check(found, np.einsum("yxij,ij->yx", padded, weights), 1e-4)


@pytest.mark.parametrize(("function", "axis"), [("blur_y", 0), ("blur_x", 1)])
def test_blur(example: Example, function: str, axis: int):
    image, weights = reals(4, 3), reals(17)
    width = [(8, 8) if k == axis else (0, 0) for k in range(2)]
    padded = sliding_window_view(np.pad(image, width, "edge"), 17, axis)
    check(example("convolution", function)(image, weights), padded @ weights)


def test_stencil_1d(example: Example):
    x = reals(7)
    check(example("stencil_1d", "stencil")(x), windows(x, "edge").sum(-1))


def test_jacobi_1d(example: Example):
    x, w = reals(7), reals(3)
    expected = x
    for _ in range(10):
        expected = windows(expected, "edge") @ w
    check(example("stencil_1d", "jacobi")(x, w), expected, 1e-4)


def test_nine_points(example: Example):
    image = reals(4, 5)
    check(example("stencil_2d", "nine_points")(image), windows(image, "edge").sum((-1, -2)))


def test_jacobi_2d(example: Example):
    image = reals(4, 5)
    p = np.pad(image, 1)
    expected = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) / 4
    check(example("stencil_2d", "jacobi")(image), expected)


def test_hotspot_2d(example: Example):
    t, power = reals(4, 5) + 80, reals(4, 5)
    step, rx, ry, rz = 0.1, 2.0, 3.0, 4.0
    p = np.pad(t, 1, "edge").astype(np.float64)
    expected = t + step * (
        power
        + (p[:-2, 1:-1] + p[2:, 1:-1] - 2 * t) / ry
        + (p[1:-1, :-2] + p[1:-1, 2:] - 2 * t) / rx
        + (80 - t) / rz
    )
    check(example("stencil_2d", "hotspot")(t, power, step, rx, ry, rz), expected)


def sides(a: np.ndarray) -> list[np.ndarray]:
    """The sums of the two neighbours along each axis."""
    p = np.pad(a, 1, "edge")
    inner = [slice(1, -1)] * 3
    return [
        sum(p[(*inner[:k], s, *inner[k + 1 :])] for s in (slice(None, -2), slice(2, None)))
        for k in range(3)
    ]


def test_seven_points(example: Example):
    space = reals(3, 4, 2)
    expected = 0.4 * space + 0.1 * sum(sides(space))
    check(example("stencil_3d", "seven_points")(space, [0.4, 0.1]), expected)


def test_hotspot_3d(example: Example):
    t, power, c = reals(3, 4, 2), reals(3, 4, 2), reals(5)
    layers, rows, columns = sides(t)
    expected = c[0] * t + c[1] * columns + c[2] * rows + c[3] * layers + c[4] * power + 80 * c[3]
    check(example("stencil_3d", "hotspot")(t, power, c), expected)


def test_nbody(example: Example):
    positions, velocities = reals(6, 4), reals(6, 3)
    softening, dt = 0.5, 0.01
    place, mass = positions[:, :3].astype(np.float64), positions[:, 3]
    d = place[None] - place[:, None]
    a = (mass[None, :, None] * d / ((d**2).sum(-1) + softening)[..., None] ** 1.5).sum(1)
    moved = place + velocities * dt + a * dt**2 / 2
    found = example("nbody", "nbody")(positions, velocities, softening, dt)
    for k, name in enumerate("xyz"):
        check(getattr(found, name), moved[:, k])
    for k, name in enumerate("uvw"):
        check(getattr(found, name), velocities[:, k] + a[:, k] * dt)


def test_nearest_neighbour(example: Example):
    places = reals(12, 2)
    expected = np.hypot(places[:, 0] - 0.25, places[:, 1] + 0.5)
    found = example("nearest_neighbour", "distances")(places, 0.25, -0.5)
    check(found, expected)
    nearest = example("nearest_neighbour", "nearest")(places, 0.25, -0.5)
    assert nearest.dtype == np.int32
    assert nearest == expected.argmin()


def test_kmeans(example: Example):
    features, clusters = reals(3, 15), reals(4, 3)
    distances = ((features.T[:, None] - clusters[None]) ** 2).sum(-1)
    found = example("kmeans", "kmeans")(features, clusters)
    np.testing.assert_array_equal(found, distances.argmin(1))


def test_molecular_dynamics(example: Example):
    particles = reals(6, 3) * 3
    neighbours = np.array([rng.permutation(5)[:3] for _ in range(6)]).T.astype(np.int32)
    neighbours += neighbours >= np.arange(6)  # none is its own neighbour
    cutoff, lj1, lj2 = 8.0, 1.5, 2.0
    expected = np.zeros((6, 3))
    for i, near in enumerate(neighbours.T):
        for j in near:
            d = particles[i].astype(np.float64) - particles[j]
            r2 = d @ d
            if r2 < cutoff:
                expected[i] += d * r2**-4 * (lj1 * r2**-3 - lj2)
    found = example("molecular_dynamics", "forces")(particles, neighbours, cutoff, lj1, lj2)
    for k, name in enumerate("xyz"):
        np.testing.assert_allclose(getattr(found, name), expected[:, k], rtol=1e-4, atol=1e-4)


def test_black_scholes(example: Example):
    spot, strike, years = (rng.uniform(low, high, 20) for low, high in ((5, 30), (1, 50), (0.2, 9)))
    rate, v = 0.02, 0.3
    d1 = (np.log(spot / strike) + (rate + v * v / 2) * years) / (v * np.sqrt(years))
    d2 = d1 - v * np.sqrt(years)
    normal = np.vectorize(lambda x: (1 + erf(x / 2**0.5)) / 2)
    discounted = strike * np.exp(-rate * years)
    inputs = [a.astype(np.float32) for a in (spot, strike, years)]
    found = example("black_scholes", "black_scholes")(*inputs, rate, v)
    check(found.calls, spot * normal(d1) - discounted * normal(d2), 1e-4)
    check(found.puts, discounted * normal(-d2) - spot * normal(-d1), 1e-4)


def test_mri_q(example: Example):
    (x, y, z), (kx, ky, kz, m) = reals(3, 5), reals(4, 7)
    angles = 2 * np.pi * (np.outer(x, kx) + np.outer(y, ky) + np.outer(z, kz))
    found = example("mri_q", "mri_q")(x, y, z, kx, ky, kz, m)
    check(found.real, (m * np.cos(angles)).sum(1), 1e-4)
    check(found.imaginary, (m * np.sin(angles)).sum(1), 1e-4)
    check(example("mri_q", "phi_magnitudes")(kx, ky), kx**2 + ky**2)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_examples_run_alone(path: Path, capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
