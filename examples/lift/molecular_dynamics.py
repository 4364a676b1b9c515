"""The forces between particles near each other, by the potential of Lennard and Jones."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def forces(
    particles: lift.array("N", 3),
    neighbours: lift.array("M", "N", lift.i32),
    cutoff: lift.f32,
    lj1: lift.f32,
    lj2: lift.f32,
):
    """The columns of ``neighbours`` tell of each particle which others are near."""

    def force(f, p, q):
        dx, dy, dz = (p[k] - q[k] for k in range(3))
        squared = dx * dx + dy * dy + dz * dz
        inverse = 1.0 / squared
        sixth = inverse * inverse * inverse
        strength = inverse * sixth * (lj1 * sixth - lj2)
        scale = lift.where(squared < cutoff, strength, 0.0)
        return f[0] + dx * scale, f[1] + dy * scale, f[2] + dz * scale

    def on(p, near):
        return near >> lift.reduce_seq(lambda f, j: force(f, p, particles[j]), (0.0, 0.0, 0.0))

    pairs = lift.zip(particles, neighbours >> lift.transpose)
    x, y, z = lift.unzip(pairs >> lift.map(on))
    return {"x": x, "y": y, "z": z}


if __name__ == "__main__":
    particles = np.random.default_rng(0).random((4, 3), np.float32)
    neighbours = np.array([[1, 2, 3, 0], [2, 3, 0, 1]], np.int32)
    print(td.compile(forces).reference(particles, neighbours, 16.0, 1.5, 2.0))
