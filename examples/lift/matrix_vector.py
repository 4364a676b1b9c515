"""Products of a matrix and a vector: gemv and gesummv of BLAS."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


def dot(x, y):
    return lift.zip(x, y) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)


@lift.fun
def gemv(
    A: lift.array("M", "N"),
    x: lift.array("N"),
    y: lift.array("M"),
    alpha: lift.f32,
    beta: lift.f32,
):
    """``alpha * A @ x + beta * y``."""
    return lift.zip(A, y) >> lift.map(lambda row, e: alpha * dot(row, x) + beta * e)


@lift.fun
def gesummv(
    A: lift.array("N", "N"),
    B: lift.array("N", "N"),
    x: lift.array("N"),
    alpha: lift.f32,
    beta: lift.f32,
):
    """``alpha * A @ x + beta * B @ x``."""
    return lift.zip(A, B) >> lift.map(lambda a, b: alpha * dot(a, x) + beta * dot(b, x))


if __name__ == "__main__":
    A = np.arange(12, dtype=np.float32).reshape(3, 4)
    x, y = np.ones(4, np.float32), np.ones(3, np.float32)
    print(td.compile(gemv).reference(A, x, y, 2, 3), "should be", 2 * A @ x + 3 * y)
