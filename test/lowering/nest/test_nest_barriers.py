"""Every barrier that nest-barriers puts is needed: without it Oclgrind reports a race."""

from __future__ import annotations

import json
import subprocess

import pytest
import tool_server

import tiledialect as td
from tiledialect import lift
from tiledialect.lowering.runtime.device import probe

PRODUCT = """
func.func @NAME(%A: tensor<8x8xf32>, %B: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x8xf32>, %b = %B : tensor<8x8xf32>) -> tensor<8x8xf32>
    schedule <local.y i : 8, local.x j : 8, serial 4*k : 2, serial k : 4>
    stage <%a local at 4*k COPIES, %b local at 4*k COPIES> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j]
         domain <i = 0 to 8, j = 0 to 8, k = 0 to 8>
         : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    tile.yield %c : tensor<8x8xf32>
  }
  func.return %C : tensor<8x8xf32>
}"""
SUM = """
func.func @NAME(%A: tensor<8x8xf32>, %B: tensor<8x8xf32>) -> tensor<8xf32> {
  %C = tile.kernel(%a = %A : tensor<8x8xf32>) -> tensor<8xf32>
    schedule <group.x i : 8, local.x k : 8> {
    %c = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 8>
         : (tensor<8x8xf32>) -> tensor<8xf32>
    tile.yield %c : tensor<8xf32>
  }
  func.return %C : tensor<8xf32>
}"""
SUM_OF_EACH = lift.map_lcl(lift.reduce_seq(lift.add, 0.0))
KEEP = lift.to_local(lift.map_lcl(lift.id))


def on_tile(tile):
    return tile >> KEEP >> lift.slide(3, 1) >> SUM_OF_EACH


def in_global_memory(part):
    kept = lift.to_global(part >> lift.map_lcl(lambda e: 2.0 * e))
    return kept >> lift.gather(lift.reverse) >> lift.map_lcl(lambda e: e + 1.0)


def halved(v):
    return v >> lift.split(2) >> lift.to_local(SUM_OF_EACH)


def of_patterns(function) -> str:
    """The text of a program for which each work-group takes the tiles of a row in turn."""
    t = lift.array(8, 8)
    program = lift.fun(t, t, lambda a, b: a >> lift.map_wrg(function))
    (chosen,) = program.module.ops
    return str(chosen).replace("@program", "@NAME")


def slid_over(row):
    """Windows in local memory, over two parts of an array one after the other."""
    backwards = lift.map(lift.gather(lift.reverse)) >> lift.transpose
    sums = lift.map_seq_slide(backwards >> SUM_OF_EACH, 2, 1)
    parts = row >> lift.slide(2, 1) >> lift.slide(4, 3)
    return parts >> lift.map_seq(lift.map(KEEP) >> sums)


KERNELS = {
    "tiles of patterns": of_patterns(
        lift.join @ lift.map_seq(on_tile) @ lift.slide(4, 2) @ lift.pad(1, 1, lift.clamp)
    ),
    "reduction of patterns": of_patterns(lambda row: row >> KEEP >> lift.iterate(3, halved)),
    "global memory of patterns": of_patterns(
        lift.join @ lift.map_seq(in_global_memory) @ lift.split(4)
    ),
    "windows of patterns": of_patterns(slid_over),
    "product": PRODUCT.replace(" COPIES", ""),
    "two copies": PRODUCT.replace("COPIES", "copies 2"),
    "sum": SUM,
}
"""Kernels whose work-items meet in memory."""

WITHOUT_EACH = """
import io, itertools, json, sys
from pathlib import Path
import numpy as np
from xdsl.dialects import gpu
import tiledialect as td
from tiledialect.lowering.nest.nest_barriers import NestBarriersPass
from tiledialect.tools.tile_opt import TileOptMain

add, found, left_out = NestBarriersPass.apply, [], -1

def all_but_one(self, ctx, module):
    add(self, ctx, module)
    found[:] = [op for op in module.walk() if isinstance(op, gpu.BarrierOp)]
    if left_out >= 0:
        found[left_out].detach()

NestBarriersPass.apply = all_but_one
texts, log = json.loads(sys.argv[1]), Path(sys.argv[2])

def reports(text):
    global left_out
    for left_out in itertools.count(-1):
        if left_out == len(found) > 0:
            break
        before = len(log.read_text()) if log.exists() else 0
        named = text.replace("@NAME", f"@f{left_out + 1}")
        module = TileOptMain([]).parse_chunk(io.BytesIO(named.encode()), "mlir")
        td.compile(module, device="oclgrind")(*np.ones((2, 8, 8), np.float32))
        report = (log.read_text() if log.exists() else "")[before:]
        yield "data race" if "data race" in report else report

print(json.dumps({name: [*reports(text)] for name, text in texts.items()}))
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Reports of the simulator on each kernel with all barriers, and without each of them."""
    folder = tmp_path_factory.mktemp("barriers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OCLGRIND_LOG", str(folder / "log"))
        # Oclgrind is silent after so many in a process.
        patch.setenv("OCLGRIND_MAX_ERRORS", "1000000")
        probe.share(folder / "cache")
        patch.setenv("TILE_CACHE_DIR", str(folder / "cache"))
        command = [
            tool_server.python(),
            "-c",
            WITHOUT_EACH,
            json.dumps(KERNELS),
            str(folder / "log"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.skipif(
    all(device.short_platform != "oclgrind" for device in td.devices()), reason="without Oclgrind"
)
@pytest.mark.parametrize("name", KERNELS)
def test_every_barrier_is_needed(name: str, reports: dict[str, list[str]]):
    with_all, *without = reports[name]
    assert with_all == ""
    assert without
    for number, report in enumerate(without):
        assert "data race" in report, f"barrier {number} makes no difference"
