"""The sum of the absolute values of a vector."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def asum(x: lift.array("N")):
    return x >> lift.map(lift.abs) >> lift.reduce(lift.add, 0.0)


if __name__ == "__main__":
    x = np.arange(-4, 5, dtype=np.float32)
    print(td.compile(asum).reference(x), "should be", np.abs(x).sum())
