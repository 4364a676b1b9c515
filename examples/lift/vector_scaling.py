"""A vector times a number."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def scale(alpha: lift.f32, x: lift.array("N")):
    return x >> lift.map(lambda e: alpha * e)


if __name__ == "__main__":
    x = np.arange(8, dtype=np.float32)
    print(td.compile(scale).reference(2.5, x))
