"""Stencils in three dimensions: seven points, and Rodinia's hotspot 3D."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def seven_points(space: lift.array("L", "M", "N"), c: lift.array(2)):
    """A step of Jacobi's method: the centre and its six neighbours, weighted."""

    def point(w):
        around = w[0][1][1] + w[2][1][1] + w[1][0][1] + w[1][2][1] + w[1][1][0] + w[1][1][2]
        return c[0] * w[1][1][1] + c[1] * around

    return space >> lift.pad3(1, 1, lift.clamp) >> lift.slide3(3, 1) >> lift.map3(point)


@lift.fun
def hotspot(
    temperature: lift.array("L", "M", "N"), power: lift.array("L", "M", "N"), c: lift.array(5)
):
    """A step of the temperature; ``c`` weighs centre, columns, rows, layers and power."""

    def point(w, p):
        layers = w[0][1][1] + w[2][1][1]
        rows = w[1][0][1] + w[1][2][1]
        columns = w[1][1][0] + w[1][1][2]
        ambient = 80.0 * c[3]
        return c[0] * w[1][1][1] + c[1] * columns + c[2] * rows + c[3] * layers + c[4] * p + ambient

    windows = temperature >> lift.pad3(1, 1, lift.clamp) >> lift.slide3(3, 1)
    return lift.zip3(windows, power) >> lift.map3(point)


if __name__ == "__main__":
    space = np.random.default_rng(0).random((3, 4, 5), np.float32)
    print(td.compile(seven_points).reference(space, [0.4, 0.1]))
