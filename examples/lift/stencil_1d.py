"""Stencils along one axis."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def stencil(input: lift.array("N")):
    """The sums of three neighbours."""
    return (
        input
        >> lift.pad(1, 1, lift.clamp)
        >> lift.slide(3, 1)
        >> lift.map(lift.reduce(lift.add, 0.0))
    )


@lift.fun
def jacobi(input: lift.array("N"), weights: lift.array(3)):
    """Three neighbours, weighted, ten times."""
    neighbours = lift.pad(1, 1, lift.clamp) >> lift.slide(3, 1)
    weighted = lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)
    step = neighbours >> lift.map(lambda window: lift.zip(window, weights) >> weighted)
    return input >> lift.iterate(10, step)


if __name__ == "__main__":
    x = np.arange(6, dtype=np.float32)
    print(td.compile(stencil).reference(x))
