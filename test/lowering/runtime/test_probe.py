"""Devices that do not work are not offered, whatever is wrong with them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import tiledialect as td
from tiledialect.lowering.runtime import devices, probe

BEST = devices.choose()
ROOT = Path(__file__).parents[3]

FLAGS = "POCL_EXTRA_BUILD_FLAGS"
"""What PoCL gives to its compiler besides: here, to be as broken as a platform can be."""
FAULTS = {
    "refuses": ("-Dif=nosuch", "refuses a small kernel: .*nosuch"),
    "has no kernels": ("-D__kernel=", "refuses a small kernel: "),
    "crashes": ("-Dif(c)=if(*(int*)8)", r"ends the process that uses it \(SIG"),
    "is wrong": ("-Dif(c)=if(0)", "computes wrong results"),
    "hangs": ("-Dif(c)=while(1)", "does not finish a small kernel in 10 s"),
}

pocl_works = any(device.short_platform == "pocl" for device in td.devices())
needs_pocl = pytest.mark.skipif(not pocl_works, reason="PoCL, which is to break, does not work")


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "devices"


@pytest.fixture
def only_pocl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is started finds what pyopencl brings, and nothing else."""
    (tmp_path / "vendors").mkdir()
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "vendors"))


def child(code: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


LIST = """
from tiledialect.lowering.runtime import devices, probe
probe.TIME_LIMIT = 10
print(*devices.devices())
print(*(f"{device.id} {reason}" for device, reason in devices.unusable().items()))
"""


@needs_pocl
@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_platform(fault: str, only_pocl: None, monkeypatch: pytest.MonkeyPatch):
    flags, reason = FAULTS[fault]
    monkeypatch.setenv(FLAGS, flags)
    working, broken = child(LIST).splitlines()
    assert working == ""
    assert broken.startswith("pocl:0 ")
    assert re.search(reason, broken)


@needs_pocl
def test_without_a_device_there_is_one_clear_error(
    only_pocl: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(FLAGS, FAULTS["refuses"][0])
    monkeypatch.delenv("TILE_DEVICE", raising=False)
    program = "function (A) -> (B) { B = A; }"
    error = child(
        "import tiledialect as td\n"
        f"try: td.compile({program!r})([1])\nexcept td.TileError as error: print(error)"
    )
    assert error.startswith("no OpenCL device works here")
    assert "pocl:0" in error and "refuses a small kernel" in error
    assert "OCL_ICD_VENDORS is set" in error
    named = child(
        f"import tiledialect as td\ntry: td.compile({program!r}, device='pocl')\n"
        "except td.TileError as error: print(error)"
    )
    assert named.startswith("pocl:0 cannot be used")


@needs_pocl
def test_the_tests_fail_without_a_device(only_pocl: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(FLAGS, FAULTS["refuses"][0])
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    command = [sys.executable, "-m", "pytest", "test/index/test_lattice.py"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no OpenCL device works here" in result.stderr


@needs_pocl
@pytest.mark.skipif(BEST.short_platform == "pocl", reason="there is no other device")
def test_the_tests_say_what_they_leave_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(FLAGS, FAULTS["refuses"][0])
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    command = [sys.executable, "-m", "pytest", "test/test_tutorial.py", "--collect-only"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"devices: {BEST}" in output
    assert "left out: pocl:0 " in output and "refuses a small kernel" in output
    assert BEST.id in output.partition("left out:")[2] and "[pocl:0" not in output


@needs_pocl
@pytest.mark.skipif(BEST.short_platform == "pocl", reason="there is no other device")
def test_tile_run_lists_what_cannot_be_used(monkeypatch: pytest.MonkeyPatch):
    command = [str(Path(sys.executable).with_name("tile-run")), "--list-devices"]
    monkeypatch.setenv(FLAGS, FAULTS["refuses"][0])
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"* {BEST.id} " in output and "- pocl:0 " in output and "nosuch" in output
    monkeypatch.delenv(FLAGS)
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "  pocl:0 " in output, "which is tried anew"


# -- what the process that tries a device may do -------------------------------------------------


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.abort()", "ends the process that uses it (SIGABRT)"),
        ("import sys; sys.exit('bad luck')", "ends the process that uses it (status 1) bad luck"),
        ("import time; time.sleep(60)", "does not finish a small kernel in 0.1 s"),
        (f"print('noise'); print('{probe.MARK}\"some reason\"')", "some reason"),
        (f"print('{probe.MARK}\"\"')", ""),
    ],
)
def test_outcomes(code: str, reason: str, kept: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(probe, "COMMAND", code)
    if "sleep" in code:
        monkeypatch.setattr(probe, "TIME_LIMIT", 0.1)
    every = {BEST: devices.opencl_device(BEST)}
    assert probe.reasons(every) == {BEST: reason}
    (file,) = kept.iterdir()
    assert json.loads(file.read_text()) == {"device": str(BEST), "reason": reason}


def test_waiting_for_others_does_not_count(kept: Path, monkeypatch: pytest.MonkeyPatch):
    """A busy machine is no reason to refuse a device, as what is found is kept."""
    code = f"import time; time.sleep(2.5); print('{probe.MARK}\"\"')"
    monkeypatch.setattr(probe, "COMMAND", code)
    monkeypatch.setattr(probe, "TIME_LIMIT", 0.5)
    every = {BEST: devices.opencl_device(BEST)}
    assert probe.reasons(every) == {BEST: "does not finish a small kernel in 0.5 s"}
    probe.forget_failures()
    began = time.monotonic()
    monkeypatch.setattr(probe, "_waited", lambda pid: time.monotonic() - began)
    assert probe.reasons(every) == {BEST: ""}


def test_a_device_is_tried_once(kept: Path, monkeypatch: pytest.MonkeyPatch):
    every = devices.every_device()
    first = probe.reasons(every)
    monkeypatch.setattr(probe, "_start", None)
    assert probe.reasons(every) == first
    newer = replace(BEST, driver=BEST.driver + ".1")
    with pytest.raises(TypeError):
        probe.reasons({newer: every[BEST]})
    monkeypatch.setattr(probe, "machine", lambda: "another processor")
    with pytest.raises(TypeError):
        probe.reasons(every)


def test_what_drivers_are_told_counts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CL_CONFIG_CPU_TARGET_ARCH", raising=False)
    plain = probe.machine.__wrapped__()
    monkeypatch.setenv("POCL_CACHE_DIR", "elsewhere")
    assert probe.machine.__wrapped__() == plain
    monkeypatch.setenv("CL_CONFIG_CPU_TARGET_ARCH", "core-avx2")
    assert probe.machine.__wrapped__() != plain, "it compiles other kernels"


def test_what_fails_can_be_tried_again(kept: Path, monkeypatch: pytest.MonkeyPatch):
    every = {BEST: devices.opencl_device(BEST)}
    with monkeypatch.context() as patch:
        patch.setattr(probe, "COMMAND", "import os; os.abort()")
        assert probe.reasons(every)[BEST]
    assert probe.reasons(every)[BEST], "it is kept"
    probe.forget_failures()
    assert not probe.reasons(every)[BEST]


@pytest.mark.parametrize("text", [b"", b"null", b"[1]", b'{"reason": 3}', b"\xff", b"[" * 10000])
def test_what_is_kept_but_damaged_is_tried_again(text: bytes, kept: Path):
    every = {BEST: devices.opencl_device(BEST)}
    probe.reasons(every)
    (file,) = kept.iterdir()
    file.write_bytes(text)
    assert probe.reasons(every) == {BEST: ""}
    assert json.loads(file.read_text())["reason"] == ""


def test_where_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", None)
    assert probe.reasons({BEST: devices.opencl_device(BEST)}) == {BEST: ""}


def test_every_device_that_is_offered_runs_the_kernel(device: td.Device):
    assert probe.try_device(device, devices.opencl_device(device)) == ""


def test_what_to_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    broken = replace(BEST, id="pocl:0", platform="Portable Computing Language")
    for working in ({}, {replace(broken, id="oclgrind:0", type="simulator"): None}):
        found = devices._Found(working, {broken: "refuses"})  # pyright: ignore[reportArgumentType, reportPrivateUsage]
        monkeypatch.setattr(devices, "_found", lambda found=found: found)
        with pytest.raises(
            td.TileError, match=f"{sys.executable} -m pip install .*opencl"
        ) as caught:
            devices.choose()
        assert f"{broken} refuses" in str(caught.value)
        assert "pip install" in devices.remedy(broken)
    assert "newer driver" in devices.remedy(replace(broken, id="nvidia:0"))
    assert os.environ.get("TILE_DEVICE") is None
