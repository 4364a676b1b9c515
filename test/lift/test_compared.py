"""Kernels beside those that Lift prints for the same low-level programs, as published.

Counted are the operations on indices, inside of subscripts and in the variables that these use, for
a step of the loops around them; barriers; and elements in local memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest

import tiledialect as td
from tiledialect import lift

SUM = lift.reduce_seq(lift.add, 0.0)
KEEP = lift.to_local(lift.map_lcl(lift.id))
multiply_add = lift.reduce_seq(lambda total, pair: total + pair[0] * pair[1], 0.0)


@dataclass(frozen=True)
class Cost:
    """Cost of a kernel besides its computation."""

    operations: int
    barriers: int = 0
    local: int = 0

    @staticmethod
    def of(source: str) -> Cost:
        """Of OpenCL C as it is printed here, in which indices have integer variables."""
        variables = re.findall(r"^ *(?:int|long|bool) \w+ = (.*);", source, re.M)
        subscripts = re.findall(r"\w\[((?:[^\[\]])+)\]", re.sub(r"__local.*;", "", source))
        # Steps of loops are in their heads there, and not counted.
        variables = [v for v in variables if "groups_" not in v]
        text = " ".join([*variables, *subscripts])
        local = sum(int(size) for size in re.findall(r"__local \w+ \w+\[(\d+)\]", source))
        return Cost(len(re.findall(OPERATION, text)), source.count("barrier("), local)


OPERATION = r"(?<=[\w)]) (?:\+|-|\*|/|%|<<|>>|<|<=|>=|&&|\?) "


@lift.fun
def three_points(x: lift.array("N")):
    windows = x >> lift.pad(1, 1, lift.clamp) >> lift.slide(3, 1)
    return windows >> lift.map_glb(SUM)


@lift.fun
def tiles(x: lift.array("N")):
    def on_tile(tile):
        return tile >> KEEP >> lift.slide(3, 1) >> lift.map_lcl(SUM)

    return x >> lift.pad(1, 1, lift.clamp) >> lift.slide(4, 2) >> lift.map_wrg(on_tile) >> lift.join


@lift.fun
def nine_points(x: lift.array("N", "M")):
    total = lift.reduce_seq_unroll(lift.add, 0.0) @ lift.join
    windows = x >> lift.pad2(1, 1, lift.clamp) >> lift.slide2(3, 1)
    return windows >> lift.map_glb(1)(lift.map_glb(0)(total))


@lift.fun
def product(a: lift.array("M", "K"), b: lift.array("K", "N")):
    columns = b >> lift.transpose

    def row_of(row):
        return columns >> lift.map_glb(1)(lambda column: lift.zip(row, column) >> multiply_add)

    return a >> lift.map_glb(0)(row_of)


@lift.fun
def product_by_groups(a: lift.array("M", "K"), b: lift.array("K", "N")):
    columns = b >> lift.transpose

    def row_of(row):
        return columns >> lift.map_lcl(lambda column: lift.zip(row, column) >> multiply_add)

    return a >> lift.map_wrg(row_of)


@lift.fun
def bodies(positions: lift.array("N", 4)):
    """Forces on bodies, each given by place and mass."""

    def pull(p):
        def add(total, q):
            x, y, z = (q[k] - p[k] for k in range(3))
            scale = q[3] * lift.rsqrt(x * x + y * y + z * z + 0.01)
            return total[0] + scale * x, total[1] + scale * y, total[2] + scale * z

        return positions >> lift.reduce_seq(add, (0.0, 0.0, 0.0))

    x, y, z = lift.unzip(positions >> lift.map_glb(pull))
    return {"x": x, "y": y, "z": z}


@lift.fun
def vector_product(a: lift.array("N", "K"), x: lift.array("K")):
    return a >> lift.map_glb(lambda row: lift.zip(row, x) >> multiply_add)


@lift.fun
def partial_products(x: lift.array("N"), y: lift.array("N")):
    """Work-items next to each other read elements next to each other."""

    def on(part):
        return part >> lift.split(128) >> lift.transpose >> lift.map_lcl(multiply_add)

    return lift.zip(x, y) >> lift.split(262144) >> lift.map_wrg(on) >> lift.join


@lift.fun
def tree(x: lift.array("N")):
    sums = lift.split(2) >> lift.to_local(lift.map_lcl(SUM))
    part = sums >> lift.iterate(6, sums)
    return x >> lift.split(128) >> lift.map_wrg(part) >> lift.join


@lift.fun
def transposed(x: lift.array("N", "M")):
    return x >> lift.transpose >> lift.map_glb(1)(lift.map_glb(0)(lift.id))


VECTOR, MATRIX = "262144xf32", "32x64xf32"
KERNELS: dict[str, tuple[Any, tuple[str, ...], Cost]] = {
    # The kernels of the tutorials.
    "stencil of three points": (three_points, (VECTOR,), Cost(11)),
    "stencil on tiles": (tiles, (VECTOR,), Cost(17, barriers=2, local=4)),
    "stencil of nine points": (nine_points, (MATRIX,), Cost(74)),
    # Kernels that Lift printed for its benchmarks.
    "matrix product": (product, (MATRIX, "64x16xf32"), Cost(6)),
    "matrix-vector product": (vector_product, (MATRIX, "64xf32"), Cost(2)),
    "partial dot products": (partial_products, (VECTOR, VECTOR), Cost(10)),
    # A loop of six steps there, each with two operations and two barriers: here it is written out.
    "sum by halves": (tree, (VECTOR,), Cost(4 + 6 * 2, barriers=2 + 6 * 2, local=160)),
    # By its rules; there is no kernel that was published.
    "transposition": (transposed, (MATRIX,), Cost(4)),
    "matrix product by groups": (product_by_groups, (MATRIX, "64x16xf32"), Cost(6)),
    "N-body": (bodies, ("4096x4xf32",), Cost(1 + 2 + 2 + 2 + 1 + 2 + 2)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_no_more_than_lift(name: str):
    program, types, theirs = KERNELS[name]
    source = td.compile(program).opencl(*types)
    ours = Cost.of(source)
    assert ours.operations > 0
    assert ours.operations <= theirs.operations
    assert ours.barriers <= theirs.barriers
    assert ours.local <= theirs.local
