"""Finding OpenCL implementations, choosing a device, and describing it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pytest
import tool_server
from packaging.requirements import Requirement
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.dlti import TargetDeviceSpecAttr, TargetSystemSpecAttr

import tiledialect as td
from tiledialect.ir.target_spec import SIMULATOR, SPEC, entries
from tiledialect.lowering.runtime.device import device as values
from tiledialect.lowering.runtime.device import devices, icd, probe, queues
from tiledialect.lowering.runtime.device.description import device_spec
from tiledialect.lowering.runtime.device.device import every_device, rank, short_name

# pyright: reportPrivateUsage=false


def child(code: str, **environment: str) -> str:
    env = {**os.environ, **environment}
    command = [tool_server.python(), "-W", "ignore", "-c", code]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


LIST = "import tiledialect as td; print(*(d.id for d in td.devices()))"


BEST = devices.choose()
ROOT = Path(__file__).parents[4]


@pytest.mark.skipif("OCL_ICD_VENDORS" in os.environ, reason="the user has decided")
def test_what_pip_installs_is_found():
    found = {device.short_platform for device in every_device()}
    intel = Path(sys.prefix, "lib", icd.INTEL_LIBRARY).exists()
    assert ("intel" in found) == intel
    # Another PoCL may be found where pip has installed none.
    assert "pocl" in found or find_spec("pocl_binary_distribution") is None


def test_there_is_a_device_after_a_plain_installation():
    """A platform gets exactly one of pip's devices: PoCL's compiler fails on later processors."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        needs = [Requirement(line) for line in tomllib.load(file)["project"]["dependencies"]]
    for system, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")):
        here = {"sys_platform": system, "platform_machine": machine}
        installed = [x for x in needs if x.marker is None or x.marker.evaluate(here)]
        names, extras = {x.name for x in installed}, {y for x in installed for y in x.extras}
        is_intels = here == {"sys_platform": "linux", "platform_machine": "x86_64"}
        assert ({*devices.INTEL_PACKAGES} <= names) == is_intels
        assert ("pocl" in extras) == (not is_intels)


def test_the_environment_stays_as_it_was():
    code = f"{LIST}; import os; print(*map(os.environ.get, {icd.OUR_VARIABLES}))"
    before = [str(os.environ.get(name)) for name in icd.OUR_VARIABLES]
    assert child(code).splitlines()[-1].split() == before


def test_intel_gives_as_much_local_memory_as_the_user_says():
    sizes = "d.local_mem_size for d in every_device() if d.short_platform == 'intel'"
    code = f"from tiledialect.lowering.runtime.device.device import every_device; print(*({sizes}))"
    for size, said in ((1 << 20, {}), (1 << 19, {icd.INTEL_LOCAL_MEMORY: "512KB"})):
        assert {*child(code, **said).split()} <= {str(size)}


@pytest.mark.parametrize("members", [0, 1])
def test_a_driver_that_does_not_answer_is_passed_over(
    members: int, monkeypatch: pytest.MonkeyPatch
):
    """NVIDIA's does not even tell its name where no GPU is visible."""

    class Silent:
        @property
        def name(self) -> str:
            raise cl.RuntimeError("clGetPlatformInfo failed: DEVICE_NOT_FOUND")

    before = [*every_device()]
    silent: Any = (Silent(), members * (Silent(),))
    found = (silent, *icd.platforms())
    monkeypatch.setattr(icd, "platforms", lambda: found)
    assert [*every_device()] == before


def test_a_library_that_is_loaded_twice(monkeypatch: pytest.MonkeyPatch):
    before = [*every_device()]
    twice = (*icd.platforms(), *icd.platforms())
    monkeypatch.setattr(icd, "platforms", lambda: twice)
    assert [*every_device()] == before


def test_a_user_who_has_decided_is_left_alone(tmp_path: Path):
    found = child(LIST, OCL_ICD_VENDORS=str(tmp_path)).split()
    assert not [name for name in found if name.startswith(("intel", "oclgrind"))]


def test_system_vendors_are_read(tmp_path: Path):
    (tmp_path / "a.icd").write_text("libone.so\n")
    (tmp_path / "b.icd").write_text("\n")
    (tmp_path / "c.icd").write_bytes(b"\xff\xfe")
    (tmp_path / "d.txt").write_text("libother.so\n")
    assert icd._system(tmp_path) == ["libone.so"]
    assert icd._system(tmp_path / "nowhere") == []


def test_a_library_that_is_not_there_does_not_load():
    assert not icd._loads("libthere-is-no-such-library.so")


def test_the_order_is_gpu_then_fast_cpu_then_cpu_then_simulator():
    wanted = [
        replace(BEST, id="nvidia:0", type="gpu"),
        replace(BEST, id="intel:0", type="cpu"),
        replace(BEST, id="pocl:0", type="cpu"),
        replace(BEST, id="oclgrind:0", type="simulator"),
    ]
    shuffled = [wanted[k] for k in (2, 0, 3, 1)]
    assert sorted(shuffled, key=rank) == wanted


def test_a_simulator_is_no_default():
    assert devices.choose().type != SIMULATOR


def test_a_device_by_name():
    short = BEST.short_platform
    for name in (BEST.id, short, short.upper(), BEST.name.lower()):
        assert devices.choose(name) == BEST


def test_a_device_by_number_value_and_type():
    everything = td.devices()
    assert devices.choose(0) == everything[0]
    assert devices.choose(str(len(everything) - 1)) == everything[-1]
    assert devices.choose(everything[-1]) == everything[-1]
    assert devices.choose(BEST.type).type == BEST.type


def test_tile_device(monkeypatch: pytest.MonkeyPatch):
    last = td.devices()[-1]
    monkeypatch.setenv("TILE_DEVICE", last.id)
    assert devices.choose() == last
    monkeypatch.setenv("TILE_DEVICE", "no such device")
    with pytest.raises(td.TileError, match="'no such device'"):
        devices.choose()


@pytest.mark.parametrize("name", ["nowhere", "99", 99])
def test_an_unknown_device_is_an_error_that_lists_the_others(name: str | int):
    with pytest.raises(td.TileError, match=rf"no OpenCL device '{name}'(.|\n)*{BEST.id}"):
        devices.choose(name)


def test_short_names():
    assert short_name("Intel(R) OpenCL Graphics") == "intel"
    assert short_name("Some (new) Platform") == "some-new-platform"


def test_the_queue_of_a_device(device: td.Device):
    queue = td.queue(device)
    assert devices.device_of(queue.device) == device
    assert td.queue(device.id) is queue, "there is one"
    doubled = td.compile("function (A) -> (B) { B = A * 2; }", device=device)
    result = doubled(cla.to_device(queue, np.float32([1, 2])))
    assert result.queue is queue and result.get().tolist() == [2, 4]
    assert td.queue() is td.queue(BEST)


def test_the_opencl_object_leads_back_to_the_device(device: td.Device):
    assert devices.device_of(queues.opencl_device(device)) == device


def test_the_description_in_the_ir(device: td.Device):
    (entry,) = devices.target_system_spec(device).entries
    assert entry.key == StringAttr("CPU" if device.type == "cpu" else "GPU")
    spec = entry.value
    assert isinstance(spec, TargetDeviceSpecAttr)
    assert spec["max_work_group_size"] == IntegerAttr(device.max_work_group_size, 64)
    assert spec["type"] == StringAttr(device.type)


RUN = (
    "import numpy as np, tiledialect as td\n"
    "for device in td.devices():\n"
    "    print(device.id, *td.compile('function (A) -> (B) { B = A + 1; }', device=device)([1]))"
)


TRUSTED = (
    "from tiledialect.lowering.runtime.device import probe\n"
    "probe.reasons = lambda devices: dict.fromkeys(devices, '')\n"
)


def test_without_a_home_folder(tmp_path: Path):
    (tmp_path / "file").touch()
    home = {"HOME": str(tmp_path / "file" / "home"), "XDG_CACHE_HOME": ""}
    expected = [f"{device.id} 2" for device in td.devices()]
    probe.share(tmp_path / "cache")
    assert child(RUN, TILE_CACHE_DIR=str(tmp_path / "cache"), **home).splitlines() == expected
    assert (tmp_path / "cache" / "pocl").is_dir()
    # Where nothing is kept, each process would try the devices.
    assert child(TRUSTED + RUN, TILE_CACHE_DIR="", **home).splitlines() == expected


def test_without_a_temporary_folder(tmp_path: Path):
    code = (
        "import tempfile\n"
        "def none(): raise FileNotFoundError('no usable temporary directory found')\n"
        f"tempfile.gettempdir = tempfile._get_default_tempdir = none\n{RUN}"
    )
    assert child(code).splitlines() == [f"{device.id} 2" for device in td.devices()]


@pytest.mark.parametrize(
    ("target", "floats"), [("core-avx2", 8), ("corei7", 4), ("skx", 16), ("", 16)]
)
def test_intels_runtime_may_compile_for_a_lesser_processor(
    target: str, floats: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(values.TARGET, target)
    for name, expected in (("Intel(R) OpenCL", floats), ("Portable Computing Language", 16)):
        opencl: Any = SimpleNamespace(
            platform=SimpleNamespace(name=name), native_vector_width_float=16
        )
        assert values._native_vector_width(opencl) == expected


@pytest.mark.parametrize(
    ("platform", "kind", "reported", "expected"),
    [
        ("Intel(R) OpenCL", "CPU", 512 << 10, (32 << 10, 512 << 10, 16 << 20)),
        ("Intel(R) OpenCL", "CPU", 0, ()),
        ("Intel(R) OpenCL Graphics", "GPU", 512 << 10, ()),
        ("Portable Computing Language", "CPU", 32 << 20, ()),
    ],
)
def test_intels_cpu_runtime_tells_the_second_cache(
    platform: str, kind: str, reported: int, expected: tuple[int, ...]
):
    opencl: Any = SimpleNamespace(
        platform=SimpleNamespace(name=platform),
        type=getattr(cl.device_type, kind),
        global_mem_cache_size=reported,
    )
    assert values._cache_sizes(opencl) == expected


@pytest.mark.parametrize("sizes", [(), (32 << 10, 512 << 10, 16 << 20)])
def test_the_target_spec_has_cache_sizes_where_they_are_known(sizes: tuple[int, ...]):
    spec = device_spec(replace(td.devices()[0], cache_sizes=sizes), {})
    found = entries(ModuleOp([], {SPEC: TargetSystemSpecAttr({"CPU": spec})}))
    assert found is not None
    assert found.get("cache_sizes", ()) == sizes
