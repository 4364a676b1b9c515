"""The matrix Q of the reconstruction of an image of magnetic resonance."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def phi_magnitudes(real: lift.array("K"), imaginary: lift.array("K")):
    return lift.zip(real, imaginary) >> lift.map(lambda r, i: r * r + i * i)


@lift.fun
def mri_q(
    x: lift.array("X"),
    y: lift.array("X"),
    z: lift.array("X"),
    kx: lift.array("K"),
    ky: lift.array("K"),
    kz: lift.array("K"),
    magnitude: lift.array("K"),
):
    """The real and the imaginary part of Q at each place."""

    def at(x, y, z):
        def add(q, sample):
            real, imaginary = q
            u, v, w, m = sample
            angle = 6.2831853071795864769 * (u * x + v * y + w * z)
            return real + m * lift.cos(angle), imaginary + m * lift.sin(angle)

        return lift.zip(kx, ky, kz, magnitude) >> lift.reduce_seq(add, (0.0, 0.0))

    real, imaginary = lift.unzip(lift.zip(x, y, z) >> lift.map(at))
    return {"real": real, "imaginary": imaginary}


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    places, samples = rng.random((3, 4), np.float32), rng.random((4, 5), np.float32)
    print(td.compile(mri_q).reference(*places, *samples))
