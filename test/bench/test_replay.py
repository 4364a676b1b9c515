"""Replays of recorded times: no device, no clock."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import replay
from timings import Kernel, Timing, read, write

from tiledialect.exploration.kernels import KernelPart
from tiledialect.ir.mlir_text import parse_mlir, print_module
from tiledialect.ir.signature import parse_type
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.schedule.search.decisions import drawn, made, mutated

DEVICE = Path(__file__).parents[2] / "bench" / "devices" / "avx512.mlir"
PRODUCT = "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A product with 60 schedules, whose times are nearly the cost model's."""
    target = parse_mlir(DEVICE.read_text(), "avx512.mlir").attributes["dlti.target_system_spec"]
    types = [parse_type("48x64xf32"), parse_type("64x80xf32")]
    module = compile_module(load(PRODUCT), None, types, target, after="tile-join-axes")
    plain = Kernel("product", "described", "today", print_module(module), "C")
    part, random = KernelPart("C", plain.op, plain.described), Random(0)
    decisions, first = made(part.candidate, next(part.seeds()))
    # The default is good, and not the best.
    found, parents = {first.text: 4 * first.estimate}, [decisions]
    while len(found) < 60:
        given = random.choice(parents)
        own, candidate = (
            mutated(part.candidate, given, random)
            if len(found) % 2
            else drawn(part.candidate, random)
        )
        if candidate.text not in found:
            parents += [own] if len(found) % 2 else []
            found[candidate.text] = candidate.estimate * random.uniform(0.9, 1.1)
    timings = tuple(Timing(text, seconds) for text, seconds in found.items())
    path = tmp_path_factory.mktemp("replay") / "product.json.gz"
    write(path, [Kernel("product", "described", "today", plain.module, "C", timings)])
    return path


def test_a_search_tries_recorded_schedules(record: Path):
    (kernel,) = read(record)
    part = replay.Replayed(kernel)
    assert part.count == 60
    found = replay.searched(part, 20, 0)
    assert len(found) == 20 and set(found) <= set(part.seconds.values())
    assert found == replay.searched(replay.Replayed(kernel), 20, 0)


def test_random_sampling_tries_recorded_schedules(record: Path):
    (kernel,) = read(record)
    part = replay.Replayed(kernel)
    found = replay.sampled(part, 20, 0)
    assert len(found) == 20 and set(found) <= set(part.seconds.values())
    assert found[0] == replay.searched(part, 1, 0)[0]


def test_a_table_has_a_line_for_each_kernel(record: Path):
    _, _, line, means = replay.compare(record, seeds=1, points=(5, 10))
    assert line.startswith("| product C | 60 | ") and means.startswith("| geometric mean | | ")
