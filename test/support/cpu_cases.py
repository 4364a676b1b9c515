"""Kernels and CPUs for which schedules are chosen in tests."""

from __future__ import annotations

from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule.cost.device import Device, described
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import LoopIndex, Schedule
from tiledialect.schedule.search.candidate import Candidate
from tiledialect.schedule.search.candidates.patterns import PATTERNS, generated
from tiledialect.schedule.search.choice import ranked

DEVICES = {
    "narrow": described(Kind.CPU, {"compute_units": 2, "native_vector_width": 4}),
    "wide": described(Kind.CPU, {"compute_units": 8, "native_vector_width": 16}),
}


def proposed_by(family: str, kernel: Facts, device: Device) -> list[Schedule]:
    """The schedules that the patterns of a family propose for a kernel."""
    patterns = [pattern for pattern in PATTERNS if pattern.family == family]
    return [schedule for _, schedule in generated(kernel, device, patterns)]


def without_copies(case: Facts, device: Device) -> list[Candidate]:
    """The candidates that read all operands from where they are."""
    return [c for c in ranked(case, device) if not c.schedule.global_stages]


def tensor(number: int, shape: tuple[int, ...], *access: IndexExpr | str) -> Tensor:
    """A tensor of floats."""
    exprs = tuple(IndexExpr.of(e) for e in access)
    return Tensor(number, shape, exprs, "f32", 4)


def facts(outputs: int, sizes: dict[str, int], result: Tensor, *inputs: Tensor) -> Facts:
    """A contraction whose first indices are the output's."""
    indices = tuple(
        LoopIndex(name, Range(0, size), k < outputs) for k, (name, size) in enumerate(sizes.items())
    )
    return Facts(indices, inputs, (result,), "add", "mul", 2.0)


def product(m: int, n: int, k: int, *, transposed: bool = False) -> Facts:
    """A matrix product; the second factor may lie transposed."""
    second = tensor(1, (n, k), "j", "k") if transposed else tensor(1, (k, n), "k", "j")
    first, result = tensor(0, (m, k), "i", "k"), tensor(0, (m, n), "i", "j")
    return facts(2, {"i": m, "j": n, "k": k}, result, first, second)


def convolution(size: int, channels: int, pictures: int = 2) -> Facts:
    """A padded convolution of 3 x 3."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    image, kernel = (pictures, size, size, channels), (3, 3, channels, channels)
    return facts(
        4,
        {"n": pictures, "y": size, "x": size, "co": channels, "j": 3, "i": 3, "ci": channels},
        tensor(0, image, "n", "y", "x", "co"),
        tensor(0, image, "n", y + j - 1, x + i - 1, "ci"),
        tensor(1, kernel, "j", "i", "ci", "co"),
    )


def weights(size: int, channels: int) -> Facts:
    """The gradient of a padded convolution of 3 x 3 by its weights."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    image, kernel = (2, size, size, channels), (3, 3, channels, channels)
    return facts(
        4,
        {"j": 3, "i": 3, "ci": channels, "co": channels, "n": 2, "y": size, "x": size},
        tensor(0, kernel, "j", "i", "ci", "co"),
        tensor(0, image, "n", y + j - 1, x + i - 1, "ci"),
        tensor(1, image, "n", "y", "x", "co"),
    )


def column_sums(rows: int, columns: int) -> Facts:
    """Sums of the columns of a matrix."""
    result, matrix = tensor(0, (columns,), "j"), tensor(0, (rows, columns), "i", "j")
    return facts(1, {"j": columns, "i": rows}, result, matrix)


def windows_along_rows(size: int) -> Facts:
    """A padded depthwise convolution of 3 x 3 of planes."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    image = (32, size, size)
    return facts(
        3,
        {"c": 32, "y": size, "x": size, "j": 3, "i": 3},
        tensor(0, image, "c", "y", "x"),
        tensor(0, image, "c", y + j - 1, x + i - 1),
        tensor(1, (32, 3, 3), "c", "j", "i"),
    )


CASES = {
    "product": product(64, 64, 64),
    "uneven product": product(37, 29, 31),
    "large product": product(2048, 1024, 4096),
    "thin product": product(8, 8, 5000),
    "transposed product": product(100, 48, 60, transposed=True),
    "product with few columns": product(300, 3, 500),
    "product of few rows": product(5, 333, 200),
    "product with a vector": facts(
        1,
        {"i": 100, "k": 300},
        tensor(0, (100,), "i"),
        tensor(0, (100, 300), "i", "k"),
        tensor(1, (300,), "k"),
    ),
    "product of columns": facts(
        2,
        {"i": 2048, "j": 2048, "k": 2048},
        tensor(0, (2048, 2048), "i", "j"),
        tensor(0, (2048, 2048), "k", "i"),
        tensor(1, (2048, 2048), "k", "j"),
    ),
    "column sums": column_sums(4096, 2048),
    "sums of few columns": column_sums(12, 3),
    "one sum for all": facts(1, {"j": 64, "k": 300}, tensor(0, (64,), "j"), tensor(0, (300,), "k")),
    "weights": weights(56, 64),
    "convolution": convolution(14, 16),
    "uneven convolution": convolution(7, 3),
}


def channels_first(size: int, channels: int) -> Facts:
    """A padded convolution of 3 x 3 whose pictures lie channel by channel."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    image, kernel = (2, channels, size, size), (channels, channels, 3, 3)
    return facts(
        4,
        {"n": 2, "co": channels, "y": size, "x": size, "ci": channels, "j": 3, "i": 3},
        tensor(0, image, "n", "co", "y", "x"),
        tensor(0, image, "n", "ci", y + j - 1, x + i - 1),
        tensor(1, kernel, "co", "ci", "j", "i"),
    )


def depthwise_weights(size: int, channels: int) -> Facts:
    """The gradient of a depthwise convolution of 3 x 3 by its weights."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    image = (1, size, size, channels)
    return facts(
        3,
        {"j": 3, "i": 3, "c": channels, "n": 1, "y": size, "x": size},
        tensor(0, (3, 3, channels), "j", "i", "c"),
        tensor(0, image, "n", y + j - 1, x + i - 1, "c"),
        tensor(1, image, "n", "y", "x", "c"),
    )


def strided_planes(size: int, channels: int) -> Facts:
    """A convolution of 4 x 4 with stride 2, channels first."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    return facts(
        4,
        {"n": 1, "co": channels, "y": size, "x": size, "ci": channels, "j": 4, "i": 4},
        tensor(0, (1, channels, size, size), "n", "co", "y", "x"),
        tensor(0, (1, channels, 2 * size + 2, 2 * size + 2), "n", "ci", y * 2 + j, x * 2 + i),
        tensor(1, (channels, channels, 4, 4), "co", "ci", "j", "i"),
    )


def across(m: int, n: int, k: int) -> Facts:
    """A matrix product whose first factor lies transposed."""
    result, second = tensor(0, (m, n), "i", "j"), tensor(1, (k, n), "k", "j")
    return facts(2, {"i": m, "j": n, "k": k}, result, tensor(0, (k, m), "k", "i"), second)


def two_cores(lanes: int) -> Device:
    """A CPU whose rates are known."""
    rates = {"arithmetic": 22.0 * lanes, "bandwidth": 23.0, "local_mem_size": 1 << 18}
    return described(Kind.CPU, {"compute_units": 2, "native_vector_width": lanes, **rates})


def in_blocks(size: int, channels: int, block: int = 32) -> Facts:
    """A padded convolution of 3 x 3 with stride 2 whose channels lie in blocks."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    blocks = channels // block
    return facts(
        4,
        {"b": blocks, "y": size, "x": size, "co": block, "cb": blocks, "j": 3, "i": 3, "ci": block},
        tensor(0, (blocks, size, size, block), "b", "y", "x", "co"),
        tensor(0, (blocks, 2 * size, 2 * size, block), "cb", 2 * y + j - 1, 2 * x + i - 1, "ci"),
        tensor(1, (blocks, blocks, 3, 3, block, block), "b", "cb", "j", "i", "ci", "co"),
    )


def groups_in_blocks(size: int, groups: int, block: int = 16) -> Facts:
    """A padded convolution of 3 x 3 of groups of channels, each of which is a block."""
    x, y, j, i = (IndexExpr.of(name) for name in "xyji")
    return facts(
        4,
        {"g": groups, "y": size, "x": size, "co": block, "j": 3, "i": 3, "ci": block},
        tensor(0, (groups, size, size, block), "g", "y", "x", "co"),
        tensor(0, (groups, size, size, block), "g", y + j - 1, x + i - 1, "ci"),
        tensor(1, (groups, 3, 3, block, block), "g", "j", "i", "ci", "co"),
    )


def pointwise_in_blocks(pixels: int, channels: int, results: int, size: int = 32) -> Facts:
    """A convolution by one point whose channels lie in blocks."""
    inner, outer = channels // size, results // size
    return facts(
        3,
        {"b": outer, "p": pixels, "co": size, "cb": inner, "ci": size},
        tensor(0, (outer, pixels, size), "b", "p", "co"),
        tensor(0, (inner, pixels, size), "cb", "p", "ci"),
        tensor(1, (outer, inner, size, size), "b", "cb", "ci", "co"),
    )
