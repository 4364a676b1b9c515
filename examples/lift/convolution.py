"""A blurred image: a convolution with 17 x 17 weights, and with 17 along each axis."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


def weighted(weights):
    """The sum of a window's elements, each times its weight."""
    return lambda window: (
        lift.zip(window, weights) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)
    )


@lift.fun
def convolution(image: lift.array("N", "M"), weights: lift.array(289)):
    return (
        image
        >> lift.pad2(8, 8, lift.clamp)
        >> lift.slide2(17, 1)
        >> lift.map2(lambda window: window >> lift.join >> weighted(weights))
    )


@lift.fun
def blur_y(image: lift.array("N", "M"), weights: lift.array(17)):
    return (
        image
        >> lift.pad(8, 8, lift.clamp)
        >> lift.slide(17, 1)
        >> lift.map(lift.transpose)
        >> lift.map2(weighted(weights))
    )


@lift.fun
def blur_x(image: lift.array("N", "M"), weights: lift.array(17)):
    rows = lift.pad(8, 8, lift.clamp) >> lift.slide(17, 1) >> lift.map(weighted(weights))
    return image >> lift.map(rows)


if __name__ == "__main__":
    image = np.zeros((8, 8), np.float32)
    image[4, 4] = 17
    print(td.compile(blur_x).reference(image, np.full(17, 1 / 17, np.float32))[4])
