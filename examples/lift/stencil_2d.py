"""Stencils in two dimensions: the mean of nine neighbours, and Rodinia's hotspot."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def nine_points(image: lift.array("N", "M")):
    """The sums of nine neighbours."""
    return (
        image
        >> lift.pad2(1, 1, lift.clamp)
        >> lift.slide2(3, 1)
        >> lift.map2(lift.join >> lift.reduce(lift.add, 0.0))
    )


@lift.fun
def jacobi(image: lift.array("N", "M")):
    """A step of Jacobi's method for Laplace's equation, with 0 around."""

    def mean(w):
        return 0.25 * (w[0][1] + w[1][0] + w[1][2] + w[2][1])

    return image >> lift.pad_constant2(1, 1, 0.0) >> lift.slide2(3, 1) >> lift.map2(mean)


@lift.fun
def hotspot(
    temperature: lift.array("N", "M"),
    power: lift.array("N", "M"),
    step: lift.f32,
    Rx: lift.f32,
    Ry: lift.f32,
    Rz: lift.f32,
):
    """A step of the temperature of a chip, from the power that its parts take."""

    def heated(w, p):
        centre = w[1][1]
        vertical = (w[0][1] + w[2][1] - 2.0 * centre) / Ry
        horizontal = (w[1][0] + w[1][2] - 2.0 * centre) / Rx
        ambient = (80.0 - centre) / Rz
        return centre + step * (p + vertical + horizontal + ambient)

    windows = temperature >> lift.pad2(1, 1, lift.clamp) >> lift.slide2(3, 1)
    return lift.zip2(windows, power) >> lift.map2(heated)


if __name__ == "__main__":
    image = np.eye(4, dtype=np.float32)
    print(td.compile(nine_points).reference(image))
