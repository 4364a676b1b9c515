"""The product of two matrices."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def matmul(A: lift.array("M", "K"), B: lift.array("K", "N")):
    def dot(row, column):
        return lift.zip(row, column) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)

    columns = B >> lift.transpose
    return A >> lift.map(lambda row: columns >> lift.map(lambda column: dot(row, column)))


if __name__ == "__main__":
    A = np.arange(6, dtype=np.float32).reshape(2, 3)
    B = np.arange(12, dtype=np.float32).reshape(3, 4)
    print(td.compile(matmul).reference(A, B), "should be", A @ B, sep="\n")
