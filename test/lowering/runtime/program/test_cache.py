"""Programs kept on disk: sound entries are used, others are as if they were not there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import tiledialect as td
from tiledialect import disk
from tiledialect.lowering.runtime.device import probe
from tiledialect.lowering.runtime.program import cache
from tiledialect.lowering.runtime.program.cache import Binary
from tiledialect.lowering.runtime.program.plan import Copy, Launch, Plan, Scalar, Slot, Tensor
from tiledialect.lowering.runtime.program.program_text import KernelTexts
from tiledialect.records import from_json, to_json

HEAD = "__kernel __attribute__((reqd_work_group_size(2, 1, 1))) void k("
PARAMETERS = "const __global float *A, __global uchar *B, long n, __global int *t, long t_start"
ARGS = (0, 1, Scalar("int64", -3), 4, Scalar("int64", 8))
PLAN = Plan(
    (Tensor("A", (2, 3), "float32"),),
    (Tensor("B'", (), "uint8"), Tensor("C", (0,), "bool")),
    (64,),
    (Slot(0, 32, 24), Slot(0, 56, 8)),
    (Launch("k", (4, 1, 1), (2, 1, 1), ARGS), Copy(5, 4, 8)),
    f"{HEAD}{PARAMETERS})\n{{\n    // ü\n}}\n",
    constants=(b"\0\1\2\xff",),
)

BINARIES = Binary({"k": "k"}, b"bin\n\0ary"), Binary({"k": "other"}, b"")

ROOT = Path(__file__).parents[4]
SOURCE = "function (A[N]) -> (B) { B = A * 3; }"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    probe.share(tmp_path / "cache")
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.glob("??/*") if path.is_file()]


def test_a_plan_survives_json():
    assert from_json(Plan, to_json(PLAN)) == PLAN


def test_what_is_stored_is_loaded():
    name = cache.key("x")
    assert cache.load(name) is None
    cache.store(name, PLAN, BINARIES)
    assert cache.load(name) == (PLAN, BINARIES)


def test_keys_tell_parts_apart():
    assert len({cache.key("ab", "c"), cache.key("a", "bc"), cache.key("abc")}) == 3


def damaged(data: bytes) -> dict[str, bytes]:
    head, _, rest = data.partition(b"\n")
    return {
        "empty": b"",
        "cut": data[:-3],
        "flipped": data[:-1] + bytes([data[-1] ^ 1]),
        "foreign": b"\x93NUMPY something else",
        "no head": rest,
        "another version": b"tiledialect-0 " + head.partition(b" ")[2] + b"\n" + rest,
    }


@pytest.mark.parametrize("damage", list(damaged(b"x\ny")))
def test_a_damaged_entry_is_not_there(folder: Path, damage: str):
    name = cache.key("x")
    cache.store(name, PLAN, BINARIES)
    (path,) = entries(folder)
    path.write_bytes(damaged(path.read_bytes())[damage])
    assert cache.load(name) is None
    cache.store(name, PLAN, BINARIES)
    assert cache.load(name) == (PLAN, BINARIES)


@dataclass(frozen=True)
class Pair:
    """A record."""

    name: str
    size: int


@pytest.mark.parametrize("damage", ["none", "kind", *damaged(b"x\ny")])
def test_kept_records(folder: Path, damage: str):
    name, made = cache.key("x"), list[str]()

    def found(value: str) -> Pair:
        return cache.kept(Pair, name, lambda: made.append(value) or Pair(value, 3))

    assert found("first") == Pair("first", 3)
    (path,) = entries(folder)
    assert name is not None
    if damage == "kind":
        disk.write_sealed(path, to_json(A).encode())
    elif damage != "none":
        path.write_bytes(damaged(path.read_bytes())[damage])
    expected = "first" if damage == "none" else "second"
    assert found("second") == found("third") == Pair(expected, 3)
    assert made == ["first"] if damage == "none" else ["first", "second"]


def test_records_that_have_no_name_are_not_kept(folder: Path):
    assert cache.kept(Pair, None, lambda: Pair("A", 3)) == Pair("A", 3)
    assert entries(folder) == []


def test_an_entry_that_is_read_is_used(folder: Path):
    name = cache.key("x")
    for _ in range(2):
        cache.kept(Pair, name, lambda: Pair("A", 3))
        (path,) = entries(folder)
        assert path.stat().st_mtime > 1e9
        os.utime(path, (7, 7))


LAUNCH, COPY = PLAN.steps
A, (B, C), SLOT = PLAN.inputs[0], PLAN.outputs, PLAN.slots[0]
assert isinstance(LAUNCH, Launch) and isinstance(COPY, Copy)
NO_PLANS: dict[str, Plan] = {
    "shape": replace(PLAN, inputs=(replace(A, shape=(2, -3)),)),
    "shape of reals": replace(PLAN, inputs=(replace(A, shape=(2.0, 3)),)),
    "dtype": replace(PLAN, inputs=(replace(A, dtype="object"),)),
    "name": replace(PLAN, outputs=(replace(B, name=3), C)),
    "allocation": replace(PLAN, allocations=(-64,)),
    "slot": replace(PLAN, slots=(SLOT, replace(SLOT, nbytes=-8))),
    "slot before the start": replace(PLAN, slots=(SLOT, Slot(0, -8, 8))),
    "slot beyond the end": replace(PLAN, slots=(SLOT, Slot(0, 57, 8))),
    "slot of nothing": replace(PLAN, slots=(SLOT, Slot(1, 0, 8))),
    "slot of no output": replace(PLAN, slots=(SLOT, Slot(-3, 0, 8))),
    "slot beyond an output": replace(PLAN, slots=(SLOT, Slot(-1, B.nbytes - 4, 8))),
    "kernel": replace(PLAN, steps=(replace(LAUNCH, kernel="another"),)),
    "part": replace(PLAN, steps=(replace(LAUNCH, part=3),)),
    "global size": replace(PLAN, steps=(replace(LAUNCH, global_size=(3, 1, 1)),)),
    "no local size": replace(PLAN, steps=(replace(LAUNCH, local_size=(0, 1, 1)),)),
    "text as a size": replace(PLAN, steps=(replace(LAUNCH, local_size=("2", 1, 1)),)),
    "too few arguments": replace(PLAN, steps=(replace(LAUNCH, args=ARGS[:4]),)),
    "no such buffer": replace(PLAN, steps=(replace(LAUNCH, args=(*ARGS[:3], 6, ARGS[4])),)),
    "negative buffer": replace(PLAN, steps=(replace(LAUNCH, args=(*ARGS[:3], -1, ARGS[4])),)),
    "an input is written": replace(PLAN, steps=(replace(LAUNCH, args=(*ARGS[:3], 0, ARGS[4])),)),
    "a constant is written": replace(PLAN, steps=(replace(LAUNCH, args=(*ARGS[:3], 3, ARGS[4])),)),
    "a number as a buffer": replace(
        PLAN, steps=(replace(LAUNCH, args=(Scalar("int64", 1), *ARGS[1:])),)
    ),
    "a buffer as a number": replace(PLAN, steps=(replace(LAUNCH, args=(0, 1, 4, *ARGS[3:])),)),
    "type of a number": replace(
        PLAN, steps=(replace(LAUNCH, args=(0, 1, Scalar("int65", 1), *ARGS[3:])),)
    ),
    "size of a number": replace(
        PLAN, steps=(replace(LAUNCH, args=(0, 1, Scalar("int8", 1 << 20), *ARGS[3:])),)
    ),
    "kind of a number": replace(
        PLAN,
        steps=(replace(LAUNCH, args=(0, 1, Scalar("int8", [1]), *ARGS[3:])),),  # pyright: ignore[reportArgumentType]
    ),
    "start of a slot": replace(
        PLAN, steps=(replace(LAUNCH, args=(*ARGS[:4], Scalar("int64", 7))),)
    ),
    "slot that is taken whole": replace(PLAN, steps=(replace(LAUNCH, args=(0, 4, *ARGS[2:])),)),
    "copy beyond the end": replace(PLAN, steps=(replace(COPY, nbytes=9),)),
    "copy of less than nothing": replace(PLAN, steps=(replace(COPY, nbytes=-1),)),
    "copy from an offset": replace(PLAN, steps=(replace(COPY, source_offset=17),)),
    "copy to before the start": replace(PLAN, steps=(replace(COPY, target_offset=-1),)),
    "copy from nowhere": replace(PLAN, steps=(replace(COPY, source=9),)),
    "copy to an input": replace(PLAN, steps=(Copy(0, 4, 8),)),
    "copy to a constant": replace(PLAN, steps=(Copy(3, 4, 4),)),
}


@pytest.mark.parametrize("what", NO_PLANS)
def test_what_is_no_plan_is_not_loaded(folder: Path, what: str):
    name = cache.key("x")
    cache.store(name, NO_PLANS[what], BINARIES)
    assert len(entries(folder)) == 1
    assert cache.load(name) is None


@pytest.mark.parametrize("text", ['{"inputs": 1}', "[" * 100_000, "3", '{"inputs": [3]}', "\xff"])
def test_json_that_is_no_plan_is_not_loaded(
    folder: Path, text: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cache, "to_json", lambda plan: text)  # pyright: ignore[reportUnknownLambdaType]
    cache.store(cache.key("x"), PLAN, BINARIES)
    assert len(entries(folder)) == 1
    assert cache.load(cache.key("x")) is None


@pytest.mark.parametrize(
    "head", ['[[{"m": "k"}, 2]]', '[[{"k": "k"}, 3]]', '[[{"k": "k"}, -1]]', "[3]", '[["k", 2]]']
)
def test_binaries_that_are_not_of_the_plan_are_not_loaded(folder: Path, head: str):
    name = cache.key("x")
    cache.store(name, PLAN, BINARIES)
    (path,) = entries(folder)
    disk.write_sealed(path, f"{to_json(PLAN)}\n{head}\nab".encode())
    assert cache.load(name) is None


def test_an_entry_under_another_name_is_not_loaded(folder: Path):
    one, other = cache.key("x"), cache.key("y")
    assert one and other
    cache.store(one, PLAN, BINARIES)
    (folder / other[:2]).mkdir(exist_ok=True)
    (folder / one[:2] / one).rename(folder / other[:2] / other)
    assert cache.load(other) is None


def test_a_plan_for_other_inputs_is_not_used(monkeypatch: pytest.MonkeyPatch):
    stored = Plan((Tensor("A", (3,), "int32"),), (Tensor("B", (3,), "int32"),), (), (), (), "")
    monkeypatch.setattr(cache, "load", lambda name: (stored, ()))
    assert td.compile(SOURCE)(np.float32([1, 2])).tolist() == [3, 6]


def test_a_binary_without_the_kernel_is_made_again(device: td.Device, folder: Path):
    td.compile(SOURCE.replace("(A", "f(A", 1), device=device)(np.float32([1, 2]))
    (path,) = entries(folder)
    (_, binaries) = cache.load(path.name) or pytest.fail("there is an entry")
    path.unlink()
    td.compile(SOURCE.replace("(A", "g(A", 1), device=device)(np.float32([1, 2]))
    (path,) = entries(folder)
    (plan, _) = cache.load(path.name) or pytest.fail("there is an entry")
    (kernel,) = KernelTexts.of(plan.source).kernels
    cache.store(path.name, plan, [Binary({kernel: kernel}, b.code) for b in binaries])
    again = td.compile(SOURCE.replace("(A", "g(A", 1), device=device)
    assert again(np.float32([1, 2])).tolist() == [3, 6]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_there(folder: Path, make: Callable[[Path], None]):
    name = cache.key("x")
    cache.store(name, PLAN, ())
    (path,) = entries(folder)
    path.unlink()
    make(path)
    assert cache.load(name) is None
    cache.store(name, PLAN, ())
    assert (cache.load(name) is None) == path.is_dir()


def test_nothing_is_kept_of_a_package_that_changes(tmp_path: Path, folder: Path):
    """The state of files that were changed after they were imported says nothing of what runs."""
    for part in ("tiledialect", "passes", "lowering"):
        shutil.copytree(ROOT / part, tmp_path / part)
    (tmp_path / "pyproject.toml").write_text("")
    code = (
        "import sys; sys.path.insert(0, ''); from pathlib import Path; import time\n"
        "import numpy as np, tiledialect as td\n"
        f"def run(): print(td.compile({SOURCE!r})(np.float32([5])))\n"
        "time.sleep(0.1)\n"
        "STEPS\n"
        "from tiledialect import passes; print(passes.__file__)\n"
    )
    edit = "Path('passes/normalize/tile_bounds.py').open('a').write('# edited\\n')"
    for steps, kept in ((f"{edit}; run()", 0), ("run()", 1), (f"import sys; {edit}; run()", 1)):
        command = [sys.executable, "-W", "ignore", "-c", code.replace("STEPS", steps)]
        output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert output.stdout.split() == ["[15.]", str(tmp_path / "passes" / "__init__.py")]
        assert len(entries(folder)) == kept


def test_where_nothing_can_be_written_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("TILE_CACHE_DIR", str(blocked / "cache"))
    cache.store(cache.key("x"), PLAN, ())
    assert cache.load(cache.key("x")) is None
    assert td.compile(SOURCE)(np.float32([1]))[0] == 3


def test_the_oldest_entries_go(folder: Path):
    names = [cache.key(str(k)) for k in range(5)]
    for k, name in enumerate(names):
        cache.store(name, PLAN, ())
        os.utime(folder / name[:2] / name, (k, k))
    assert cache.load(names[0]) is not None, "which makes it the newest"
    cache.prune(2)
    assert [cache.load(name) is not None for name in names] == [True, False, False, False, True]


def test_one_name_in_sixteen_removes_the_oldest_entries(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cache, "ENTRIES", 2)
    names = [name for k in range(200) if (name := cache.key(str(k))) is not None]
    pruning = [name for name in names if name.startswith("0")]
    assert 0 < len(pruning) < len(names) / 8
    for name in [name for name in names if name not in pruning][:4]:
        cache.store(name, PLAN, ())
    assert len(entries(folder)) == 4
    cache.store(pruning[0], PLAN, ())
    assert len(entries(folder)) == 2 and cache.load(pruning[0]) is not None


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


@pytest.mark.parametrize("names", [("T" * 70, "T" * 71), ("T", "T_start")])
def test_programs_with_any_names_of_intermediates_are_found(names: tuple[str, str], folder: Path):
    one, two = names
    source = f"""function (A[N, N]) -> (C) {{
        {one}[i: N] = +(A[i, j]);
        {two}[i, j: N, N] = +(A[i, k] * A[k, j]);
        C[i, j: N, N] = +({two}[i, k] * {two}[k, j] * {one}[j]);
    }}"""
    a = np.ones((3, 3), "f4")
    assert np.array_equal(td.compile(source)(a), np.full((3, 3), 81))
    (path,) = entries(folder)
    found = cache.load(path.name)
    assert found is not None and any(slot.offset for slot in found[0].slots)


def test_a_binary_that_the_device_refuses_is_made_again(device: td.Device, folder: Path):
    td.compile(SOURCE, device=device)(np.float32([1, 2]))
    (path,) = entries(folder)
    stored = cache.load(path.name)
    assert stored is not None
    names = {name: name for name in KernelTexts.of(stored[0].source).kernels}
    cache.store(path.name, stored[0], [Binary(names, b"no program at all")])
    assert np.array_equal(td.compile(SOURCE, device=device)(np.float32([1, 2])), [3, 6])


def test_another_program_and_another_device_have_other_entries(folder: Path):
    one = np.float32([1])
    for source in (SOURCE, SOURCE.replace("3", "4")):
        td.compile(source)(one)
    td.compile(SOURCE)(np.float64([1]))
    assert len(entries(folder)) == 3


def test_another_process_uses_it_without_compiling(folder: Path):
    """Nor does either load what only programs of patterns need."""
    code = (
        "import sys, numpy as np, tiledialect as td\n"
        f"print(td.compile({SOURCE!r})(np.float32([5])))\n"
        "print('tiledialect.lowering.compilation' in sys.modules)\n"
        "print('tiledialect.lift' in sys.modules)\n"
        "print('tiledialect.lowering.opencl.target' in sys.modules)\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    results = [
        subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)
    ]
    assert [r.stdout.split() for r in results] == [
        ["[15.]", "True", "False", "True"],
        ["[15.]", "False", "False", "False"],
    ]
    assert len(entries(folder)) == 1


def test_entries_depend_on_all_kinds_of_files_of_the_package():
    text = Path(__file__).parents[4].joinpath("pyproject.toml").read_text()
    patterns = tomllib.loads(text)["tool"]["setuptools"]["package-data"].values()
    found = {Path(pattern).suffix for own in patterns for pattern in own} - {".typed"}
    assert found | {".py"} == {*cache.SUFFIXES}
