"""The transpose of a matrix."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def transposed(A: lift.array("M", "N")):
    return A >> lift.transpose >> lift.map2(lift.id)


@lift.fun
def by_gather(A: lift.array("M", "N")):
    """The same with an index function on the elements in memory."""
    m, n = A.size, A[0].size
    return A >> lift.join >> lift.gather(lift.transposition(m, n)) >> lift.split(m)


if __name__ == "__main__":
    A = np.arange(6, dtype=np.float32).reshape(2, 3)
    print(td.compile(transposed).reference(A))
