"""Programs kept on disk: sound entries are used, others are as if they were not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tiledialect as td
from tiledialect.lowering.runtime import cache
from tiledialect.lowering.runtime.plan import Copy, Launch, Plan, Scalar, Tensor

PLAN = Plan(
    (Tensor("A", (2, 3), "float32"),),
    (Tensor("B'", (), "uint8"), Tensor("C", (0,), "bool")),
    (24, 8),
    (Launch("k", (4, 1, 1), (2, 1, 1), (0, 1, Scalar("int64", -3), 3)), Copy(1, 4, 8)),
    "__kernel void k() {}  // ü",
)

SOURCE = "function (A[N]) -> (B) { B = A * 3; }"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_plan_survives_json():
    assert Plan.from_json(PLAN.to_json()) == PLAN


def test_what_is_stored_is_loaded():
    name = cache.key("x")
    assert cache.load(name) is None
    cache.store(name, PLAN, b"bin\n\0ary")
    assert cache.load(name) == (PLAN, b"bin\n\0ary")


def test_keys_tell_parts_apart():
    assert len({cache.key("ab", "c"), cache.key("a", "bc"), cache.key("abc")}) == 3


def damaged(data: bytes) -> dict[str, bytes]:
    head, _, rest = data.partition(b"\n")
    changed = json.dumps({"inputs": 1}).encode() + b"\n"
    return {
        "empty": b"",
        "cut": data[:-3],
        "flipped": data[:-1] + bytes([data[-1] ^ 1]),
        "foreign": b"\x93NUMPY something else",
        "no head": rest,
        "another version": b"tiledialect-0 " + head.partition(b" ")[2] + b"\n" + rest,
        "no plan": cache.MAGIC + cache._checksum(changed) + b"\n" + changed,  # pyright: ignore
    }


@pytest.mark.parametrize("damage", list(damaged(b"x\ny")))
def test_a_damaged_entry_is_not_there(folder: Path, damage: str):
    name = cache.key("x")
    cache.store(name, PLAN, b"binary")
    (path,) = entries(folder)
    path.write_bytes(damaged(path.read_bytes())[damage])
    assert cache.load(name) is None
    cache.store(name, PLAN, b"binary")
    assert cache.load(name) == (PLAN, b"binary")


def test_where_nothing_can_be_written_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("TILE_CACHE_DIR", str(blocked / "cache"))
    cache.store(cache.key("x"), PLAN, b"")
    assert cache.load(cache.key("x")) is None
    assert td.compile(SOURCE, device="pocl")(np.float32([1]))[0] == 3


def test_the_oldest_entries_go(folder: Path):
    names = [cache.key(str(k)) for k in range(5)]
    for k, name in enumerate(names):
        cache.store(name, PLAN, b"")
        os.utime(folder / name[:2] / name, (k, k))
    assert cache.load(names[0]) is not None, "which makes it the newest"
    cache.prune(2)
    assert [cache.load(name) is not None for name in names] == [True, False, False, False, True]


def test_a_program_is_kept_and_used(device: td.Device, folder: Path):
    td.compile(SOURCE, device=device)(np.float32([1, 2]))
    (path,) = entries(folder)
    before = path.read_bytes()
    again = td.compile(SOURCE, device=device)
    assert np.array_equal(again(np.float32([1, 2])), [3, 6])
    assert entries(folder) == [path] and path.read_bytes() == before
    path.write_bytes(before[:-5])
    fresh = td.compile(SOURCE, device=device)
    assert np.array_equal(fresh(np.float32([1, 2])), [3, 6])
    assert cache.load(path.name) is not None, "it is made again"


def test_a_binary_that_the_device_refuses_is_made_again(device: td.Device, folder: Path):
    td.compile(SOURCE, device=device)(np.float32([1, 2]))
    (path,) = entries(folder)
    stored = cache.load(path.name)
    assert stored is not None
    cache.store(path.name, stored[0], b"no program at all")
    assert np.array_equal(td.compile(SOURCE, device=device)(np.float32([1, 2])), [3, 6])


def test_another_program_and_another_device_have_other_entries(folder: Path):
    one = np.float32([1])
    for source in (SOURCE, SOURCE.replace("3", "4")):
        td.compile(source, device="pocl")(one)
    td.compile(SOURCE, device="pocl")(np.float64([1]))
    assert len(entries(folder)) == 3


def test_another_process_uses_it_without_compiling(folder: Path):
    code = (
        "import sys, numpy as np, tiledialect as td\n"
        f"print(td.compile({SOURCE!r}, device='pocl')(np.float32([5])))\n"
        "from tiledialect.lowering.runtime import program\n"
        "program.compile_module = program.make_plan = None\n"
        f"print(td.compile({SOURCE!r}, device='pocl')(np.float32([7])))\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["[15.]", "[21.]"]
    assert len(entries(folder)) == 1
