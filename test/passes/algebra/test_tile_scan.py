"""Scans by random schedules, on devices and at each level, and cumulative contractions on devices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import cycle, product
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from compare import assert_close
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from running import Case, reference, run, run_together
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect.interpreters.host import run_host
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.lowering.pipeline import nest_passes
from tiledialect.lowering.tile_to_nest.tile_to_nest import TileToNestPass
from tiledialect.passes.split.tile_split_scan import TileSplitScanPass
from tiledialect.schedule.loops import LoopLevel, Role, Schedule
from tiledialect.schedule.scans import ScanShape, scan_schedules

Array = npt.NDArray[Any]
TYPES = {
    "f32": np.float32,
    "i32": np.int32,
    "i8": np.int8,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
}
OPERATIONS = ("add", "mul", "max", "min")


@dataclass(frozen=True)
class Scan:
    """A scheduled scan of a tensor."""

    shape: tuple[int, ...]
    axis: int
    schedule: Schedule
    aggregation: str
    kind: str
    reverse: bool
    every: int | None
    start: bool
    runs: bool = False

    def __str__(self) -> str:
        return f"{self.text(0)} with {self.levels}"

    @property
    def levels(self) -> str:
        return ", ".join(map(str, self.schedule.levels))

    @property
    def start_shape(self) -> tuple[int, ...]:
        size = self.shape[self.axis]
        blocks = -(-size // self.every) if self.every and self.every < size else 1
        return (*self.shape[: self.axis], blocks, *self.shape[self.axis + 1 :])

    def type(self, shape: tuple[int, ...]) -> str:
        return f"tensor<{'x'.join(map(str, shape))}x{self.kind}>"

    def text(self, number: int) -> str:
        """The op, of the arguments of a kernel."""
        words = [f"axis {self.axis}", *(["reverse"] if self.reverse else [])]
        words += [f"every {self.every}"] if self.every else []
        words += [f"{word} %{name}{number}" for word, name, _ in self.others]
        t = self.type(self.shape)
        types = ", ".join([t, *(self.type(shape) for _, _, shape in self.others)])
        return f"tile.scan {self.aggregation} %x{number} {' '.join(words)} : ({types}) -> {t}"

    @property
    def others(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """The word, name and shape of each operand but the first."""
        found = [("from", "p", self.start_shape)] if self.start else []
        return found + ([("runs", "k", self.shape)] if self.runs else [])

    def kernel(self, number: int) -> str:
        t = self.type(self.shape)
        rest = "".join(
            f", %{name}{number} = %{name.upper()}{number} : {self.type(shape)}"
            for _, name, shape in self.others
        )
        return f"""
  %R{number} = tile.kernel(%x{number} = %X{number} : {t}{rest}) -> {t} schedule <{self.levels}> {{
    %s{number} = {self.text(number)}
    %n{number} = tile.neg %s{number} : ({t}) -> {t}
    tile.yield %n{number} : {t}
  }}"""

    def arrays(self, random: np.random.Generator) -> list[Array]:
        """Numbers of which no sum or product is rounded, nor wraps."""
        small = [-1, 1, 1] if self.aggregation == "mul" else range(-3, 4)
        values = [(small, self.shape)]
        values += [([0, 0, 1] if name == "k" else small, shape) for _, name, shape in self.others]
        return [random.choice(*value).astype(TYPES[self.kind]) for value in values]


def module_of(scans: list[Scan]) -> str:
    """Function with all kernels."""
    arguments = [
        f"%{name}{k}: {scan.type(shape)}"
        for k, scan in enumerate(scans)
        for name, shape in (("X", scan.shape), *((n.upper(), s) for _, n, s in scan.others))
    ]
    types = ", ".join(scan.type(scan.shape) for scan in scans)
    results = ", ".join(f"%R{k}" for k in range(len(scans)))
    kernels = "".join(scan.kernel(k) for k, scan in enumerate(scans))
    head = f"func.func @f({', '.join(arguments)}) -> ({types}) {{{kernels}"
    return f"{head}\n  func.return {results} : {types}\n}}"


EXTENTS = st.sampled_from([1, 1, 2, 3, 4])


@st.composite
def row_levels(draw: st.DrawFn, name: str, stride: int, size: int) -> list[tuple[int, LoopLevel]]:
    """Levels over rows, and where they go: 0 parallel, 1 around, 2 inside."""
    tile = draw(st.sampled_from([1, 1, 2, 4]))
    places = [(0, Role.GROUP), (0, Role.LOCAL), (1, Role.SERIAL), (2, Role.UNROLL)]
    found: list[tuple[int, LoopLevel]] = []
    for step, extent in ((tile, -(-size // tile)), (1, tile)):
        place, role = draw(st.sampled_from(places))
        axis = "y" if role in (Role.GROUP, Role.LOCAL) else ""
        found.append((place, LoopLevel(name, step * stride, extent, role, axis)))
    return found


@st.composite
def scans(draw: st.DrawFn) -> Scan:
    """A scan by a legal schedule."""
    shape = tuple(draw(st.lists(st.integers(1, 13), min_size=1, max_size=3)))
    axis = draw(st.integers(0, len(shape) - 1))
    name, chunk, segments = f"d{axis}", draw(EXTENTS), draw(EXTENTS)
    items = draw(st.sampled_from([1, 2, 3, 4, 5]))
    step = chunk * items * segments
    steps = draw(st.integers(1, 3))
    every = step * steps if draw(st.booleans()) else None
    if every is None or every >= shape[axis]:
        steps = -(-shape[axis] // step)
    rows = [r for k, n in enumerate(shape) if k != axis for r in draw(row_levels(f"d{k}", 1, n))]
    if every is not None and every < shape[axis]:
        rows += draw(row_levels(name, every, -(-shape[axis] // every)))
    own = [
        (0, LoopLevel(name, chunk, items, Role.LOCAL, "x")),
        (1, LoopLevel(name, step, steps, Role.SERIAL)),
        (2, LoopLevel(name, chunk * items, segments, Role.UNROLL)),
        (2, LoopLevel(name, 1, chunk, Role.UNROLL)),
    ]
    places = [draw(st.permutations([x for p, x in rows if p == place])) for place in range(3)]
    mine = [[x for p, x in own if p == place] for place in range(3)]
    levels = [*places[0], *mine[0], *places[1], *mine[1], *places[2], *mine[2]]
    if levels[-1].role is Role.UNROLL and draw(st.booleans()):
        last = levels[-1]
        levels[-1] = LoopLevel(last.index, last.stride, last.extent, Role.VECTOR)
    start = draw(st.booleans())
    return Scan(
        shape,
        axis,
        Schedule(tuple(level for level in levels if level.extent > 1)),
        draw(st.sampled_from(OPERATIONS)),
        draw(st.sampled_from(sorted(TYPES))),
        draw(st.booleans()),
        every,
        start,
        every is None and not start and draw(st.booleans()),
    )


def parsed(text: str) -> ModuleOp:
    module = parse_mlir(text, "scans.mlir")
    module.verify()
    return module


SEARCH = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=2)


def test_random_schedules(device: Any):
    @SEARCH
    @given(st.lists(scans(), min_size=6, max_size=6), st.integers(0, 99))
    def check(drawn: list[Scan], seed: int) -> None:
        text = module_of(drawn)
        note(text)
        random = np.random.default_rng(seed)
        arrays = [a for scan in drawn for a in scan.arrays(random)]
        found = run(parsed(text), arrays, device)
        for a, b in zip(found, reference(parsed(text), arrays), strict=True):
            np.testing.assert_array_equal(a, b)

    check()


def test_each_level():
    @SEARCH
    @given(scans(), st.integers(0, 99))
    def check(scan: Scan, seed: int) -> None:
        text = module_of([scan])
        module, arrays = parsed(text), scan.arrays(np.random.default_rng(seed))
        (expected,), before = reference(module, arrays), ""
        for lower in (TileToNestPass(), *nest_passes()):
            lower.apply(Context(), module)
            module.verify()
            if str(module) == before:
                continue
            before = str(module)
            note(f"after {lower.name}:\n{before}")
            (found,) = run_host(module, None, arrays)
            np.testing.assert_array_equal(found, expected)

    check()


def test_chosen_schedules():
    """Schedules of both kinds of devices are legal, for all shapes."""
    lengths = (1, 7, 32, 4097)
    for vectors, n, m, axis in product((False, True), lengths, lengths, range(2)):
        for block in (None, 1, 6, 32):
            shape = (n, m)
            divided = block if block is not None and block < shape[axis] else None
            scan, most = ScanShape(shape, axis, divided), 4096 if vectors else 64
            schedules = [*scan_schedules(scan, vectors, most)]
            assert all(schedule.work_items <= (1 if vectors else 64) for schedule in schedules)
            some = [schedules[0], *schedules[1::5]]
            own = [Scan(shape, axis, s, "add", "f32", False, divided, False) for s in some]
            parsed(module_of(own))


@pytest.mark.covering(1)
@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize(("shape", "axis"), [((3, 300), 1), ((130, 9), 0), ((517,), 0)])
def test_alternatives(shape: tuple[int, ...], axis: int, vectors: bool, device: Any):
    """The schedules of both kinds of devices give the same, on every device."""
    schedules = [*scan_schedules(ScanShape(shape, axis, None), vectors, 64)]
    assert len(schedules) > 2
    # Neighbours differ in one size.
    schedules = schedules[:: max(2, len(schedules) // 2)]
    scans = [Scan(shape, axis, s, "add", "i32", False, None, False) for s in schedules]
    text = module_of(scans)
    arrays = scans[0].arrays(np.random.default_rng(5)) * len(scans)
    found, (expected, *_) = run(parsed(text), arrays, device), reference(parsed(text), arrays)
    for each in found:
        np.testing.assert_array_equal(each, expected)


PROGRAMS = {
    "shifted": ("(I[N, M]) -> (O) { O[n, i: N, M] = @(I[n, i - j]), j < M; }", [(3, 21)]),
    "columns": ("(I[N, M]) -> (O) { O[i, m: N, M] = @(I[k, m]), i - k < N; }", [(21, 5)]),
    "back": ("(I[N]) -> (O) { O[i: N] = @(I[k]), k - i < N; }", [(40,)]),
    "strided": ("(I[N]) -> (O) { O[i: N / 2] = @(I[k]), 2*i - k < N; }", [(22,)]),
    "before": ("(I[N]) -> (O) { O[i: N] = @(I[k]), i - k - 1 < N; }", [(22,)]),
    "area": ("(I[N, M]) -> (O) { O[i, j: N, M] = @(I[k, l]), i - k < N, j - l < M; }", [(9, 8)]),
}
SUMS = {
    "product": (
        "(A[N, C], B[C], F[N]) -> (O) { O[i: N] = +(A[k, c] * B[c] * F[i]), i - k < N; }",
        [(17, 3), (3,), (17,)],
    ),
}
CASES = {
    f"{name}{operator}": (text.replace("@", operator), shapes)
    for name, (text, shapes) in PROGRAMS.items()
    for operator in "+*><"
} | SUMS


def numbers(shape: tuple[int, ...], dtype: Any, random: np.random.Generator) -> Array:
    return random.choice([-2, -1, 1, 1, 2], shape).astype(dtype)


@cache
def cumulative(name: str, dtype: Any, gradient: bool = False) -> Case:
    """A case of which the reference semantics of the contractions give the result."""
    text, shapes = CASES[name]
    random = np.random.default_rng(5)
    f = td.compile(f"function {text}")
    arrays = [numbers(shape, dtype, random) for shape in shapes]
    if gradient:
        arrays.append(numbers(f.reference(*arrays).shape, dtype, random))
        f = f.gradient()
    assert ("reverse" if gradient else "tile.scan") in f.ir("tile-scan", *arrays), name
    found = f.reference(*arrays)
    expected = tuple(found) if isinstance(found, tuple) else (found,)
    return Case(name, f.tile if gradient else f"function {text}", tuple(arrays), expected, 40)


def test_cumulative_contractions(device: Any):
    types = (np.float32, np.int32, np.float32)
    run_together([cumulative(*c) for c in zip(CASES, cycle(types), strict=False)], device)


def test_gradients(device: Any):
    names = ("shifted+", "columns+", "product")
    run_together([cumulative(name, np.float32, gradient=True) for name in names], device)


@pytest.mark.covering(1)
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("direction", ["", "reverse"])
@pytest.mark.parametrize("block", [1, 7, 16])
def test_blocks(operation: str, direction: str, block: int):
    text = f"""func.func @f(%x: tensor<3x50xi32>) -> tensor<3x50xi32> {{
  %s = tile.scan {operation} %x axis 1 {direction} : (tensor<3x50xi32>) -> tensor<3x50xi32>
  func.return %s : tensor<3x50xi32>
}}"""
    module, array = parsed(text), numbers((3, 50), np.int32, np.random.default_rng(0))
    (expected,) = reference(module, [array])
    TileSplitScanPass(block).apply(Context(), module)
    module.verify()
    (found,) = reference(module, [array])
    np.testing.assert_array_equal(found, expected)


def test_one_long_vector(device: Any):
    if device.type == "simulator":
        pytest.skip("too long for a simulator")
    x = np.random.default_rng(0).random(100_001, np.float32)
    f = td.compile("function (I[N]) -> (O) { O[i: N] = +(I[k]), i - k < N; }", device=device)
    assert "every" in f.ir("tile-split-scan", x)
    assert_close(f(x), np.cumsum(x, dtype=np.float64).astype(np.float32), ulps=40)
