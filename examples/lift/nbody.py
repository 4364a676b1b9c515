"""Bodies that attract each other: positions and velocities after a step of time."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def nbody(
    positions: lift.array("N", 4),
    velocities: lift.array("N", 3),
    softening: lift.f32,
    dt: lift.f32,
):
    """A position is x, y, z and the mass."""

    def force(p, q):
        dx, dy, dz = (q[k] - p[k] for k in range(3))
        s = lift.rsqrt(dx * dx + dy * dy + dz * dz + softening)
        scale = q[3] * s * s * s
        return scale * dx, scale * dy, scale * dz

    def total(a, b):
        return tuple(x + y for x, y in zip(a, b, strict=True))

    def move(p, v):
        forces = positions >> lift.map(lambda q: force(p, q))
        a = forces >> lift.reduce(total, (0.0, 0.0, 0.0))
        moved = [p[k] + v[k] * dt + 0.5 * a[k] * dt * dt for k in range(3)]
        return *moved, *(v[k] + a[k] * dt for k in range(3))

    x, y, z, u, v, w = lift.unzip(lift.zip(positions, velocities) >> lift.map(move))
    return {"x": x, "y": y, "z": z, "u": u, "v": v, "w": w}


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    positions, velocities = rng.random((8, 4), np.float32), np.zeros((8, 3), np.float32)
    print(td.compile(nbody).reference(positions, velocities, 500.0, 0.005).x)
