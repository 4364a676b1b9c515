"""The dot product of two vectors."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def dot(x: lift.array("N"), y: lift.array("N")):
    return lift.zip(x, y) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)


if __name__ == "__main__":
    x, y = np.random.default_rng(0).random((2, 1000), np.float32)
    print(td.compile(dot).reference(x, y), "should be", x @ y)
