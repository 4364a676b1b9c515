"""Devices that do not work are not offered, whatever is wrong with them."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import f32, f64, i32

import tiledialect as td
from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.lowering.nest.utils.scalars import FUNCTIONS
from tiledialect.lowering.opencl.types import VECTOR_LENGTHS
from tiledialect.lowering.runtime import child_process as child
from tiledialect.lowering.runtime.device import battery, devices, probe, queues
from tiledialect.lowering.runtime.device import battery_run as trying
from tiledialect.lowering.runtime.device.device import every_device
from tiledialect.tools import tile_run

# pyright: reportPrivateUsage=false

BEST = devices.choose()
OPENCL = queues.opencl_device(BEST)
ROOT = Path(__file__).parents[3]
POCL = replace(BEST, id="pocl:0", platform="Portable Computing Language")
REASON = "computes erf of f64 wrongly: 0.0 where 0.5 is right"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "devices"


def found(monkeypatch: pytest.MonkeyPatch, *working: td.Device) -> None:
    """Let some devices work, and PoCL's fail."""
    every = devices._ListedDevices(
        dict.fromkeys((*working, POCL), OPENCL), {**dict.fromkeys(working, ""), POCL: REASON}
    )
    monkeypatch.setattr(devices, "_found", lambda: every)


# -- what users see --------------------------------------------------------------------------


def test_without_a_device_there_is_one_clear_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    simulator = replace(BEST, id="oclgrind:0", type="simulator")
    for working in ((), (simulator,)):
        found(monkeypatch, *working)
        with pytest.raises(td.TileError, match=r"^no OpenCL device works here") as caught:
            td.compile("function (A) -> (B) { B = A; }")([1])
        assert f"{POCL} {REASON}" in str(caught.value)
        assert f"\nto install one: {sys.executable} -m pip install" in str(caught.value)
    monkeypatch.setenv("OCL_ICD_VENDORS", "/nowhere")
    with pytest.raises(td.TileError, match="OCL_ICD_VENDORS is set"):
        devices.choose()
    with pytest.raises(td.TileError, match=r"^pocl:0 cannot be used"):
        devices.choose("pocl")


def test_only_what_may_be_chosen_is_tried(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TILE_DEVICE", raising=False)
    worse = replace(BEST, id="worse:0")
    tried: list[td.Device] = []

    def reasons(given: dict[td.Device, Any]) -> dict[td.Device, str]:
        tried.extend(given)
        return {device: REASON if device == POCL else "" for device in given}

    monkeypatch.setattr(probe, "reasons", reasons)
    every = devices._ListedDevices(dict.fromkeys((POCL, BEST, worse), OPENCL))
    monkeypatch.setattr(devices, "_found", lambda: every)
    assert devices.choose("worse:0") == devices.choose(worse) == worse
    assert tried == [worse]
    assert devices.choose() == BEST
    assert tried == [worse, POCL, BEST]
    assert devices.devices() == (BEST, worse) and devices.unusable() == {POCL: REASON}
    assert len(tried) == 3, "each is tried once"


def test_what_to_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    found(monkeypatch)
    assert "pip install" in devices.remedy(POCL)
    assert "newer driver" in devices.remedy(replace(POCL, id="nvidia:0"))
    found(monkeypatch, replace(BEST, id="intel:0"))
    assert "nothing need be done" in devices.remedy(POCL)


def test_tile_run_lists_what_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    found(monkeypatch, BEST)
    tile_run.list_devices(None)
    output = capsys.readouterr().out
    assert f"* {BEST.id} " in output and f"- pocl:0       {REASON}\n" in output


def test_the_tests_say_what_they_leave_out(
    monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
):
    # By its path: other folders have a `conftest` too.
    conftest: Any = pytestconfig.pluginmanager.get_plugin(str(ROOT / "conftest.py"))
    found(monkeypatch, BEST)
    header = conftest.pytest_report_header()
    assert header == [f"devices: {BEST}", f"left out: {POCL} {REASON}"]
    found(monkeypatch)
    with pytest.raises(pytest.UsageError, match="no OpenCL device works here"):
        conftest.pytest_configure()


# -- what the process that tries a device may do ---------------------------------------------


def saying(**what: str) -> str:
    return f"print({child.MARK!r} + {json.dumps(what)!r}, flush=True); "


TRIES = saying(tries="sqrt of f64 in vectors of 8")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.abort()", "ends the process that uses it (SIGABRT) in the first kernel"),
        (
            TRIES + "import os; print('noise'); os.abort()",
            "ends the process that uses it (SIGABRT) in sqrt of f64 in vectors of 8",
        ),
        (
            TRIES + "import os; os.write(2, b'LLVM ERROR: Cannot select\\nbye\\n'); os.abort()",
            "ends the process that uses it (SIGABRT) in sqrt of f64 in vectors of 8: "
            "LLVM ERROR: Cannot select",
        ),
        (
            "import sys; sys.exit('bad luck')",
            "ends the process that uses it (status 1) in the first kernel: bad luck",
        ),
        (
            TRIES + "import os; os.close(1); os._exit(0)",
            "ends the process that uses it (status 0) in",
        ),
        (
            TRIES + "import time; time.sleep(60)",
            "does not finish sqrt of f64 in vectors of 8 in 1.5 s",
        ),
        ("print('noise'); " + saying(reason="some reason"), "some reason"),
        ("import os; os.write(1, bytes(range(256))); print();" + saying(reason=""), ""),
        (saying(reason="") + "import os; os.abort()", ""),
    ],
)
def test_outcomes(code: str, reason: str, kept: Path, monkeypatch: pytest.MonkeyPatch):
    # A process that does not load the package.
    monkeypatch.setattr(probe, "COMMAND", code)
    if "sleep" in code:
        monkeypatch.setattr(probe, "TIME_LIMIT", 1.5)
    every = {BEST: OPENCL}
    (outcome,) = probe.reasons(every).values()
    assert outcome.startswith(reason) and bool(outcome) == bool(reason)
    (file,) = kept.iterdir()
    assert json.loads(file.read_text()) == {"device": str(BEST), "reason": outcome}


FAULTY = """
from dataclasses import replace
from tiledialect.lowering.runtime.device import battery
from tiledialect.lowering.runtime.device import probe
from tiledialect.lowering.runtime.device import battery_run as trying
trying.prelude = lambda *_: '''PRELUDE
'''
cases = []
for type, lanes, wanted in ((battery.i1, 1, ("max", "min")), (battery.f32, 2, ("sqrt", "tan"))):
    whole = battery.elementwise_case(type, lanes)
    results = tuple(r for r in whole.results if r.name in wanted)
    assert len(results) == len(wanted), [r.name for r in whole.results]
    cases.append(replace(whole, results=results))
battery.batches = lambda device: [battery.Batch('all functions', cases)]
probe.main()
"""
HANGS = "float2 hang(float2 x) { volatile int k = 1; while (k); return x; }\n#define tan hang\n"


@pytest.mark.usefixtures("ready_python")
@pytest.mark.skipif(BEST.type != "cpu", reason="a fault may take more than the process with it")
@pytest.mark.parametrize(
    ("prelude", "reason"),
    [
        ("#define tan cos", "computes tan of f32 in vectors of 2 wrongly: "),
        ("#define tan nosuch", "refuses tan of f32 in vectors of 2: .*nosuch"),
        ("#define tan(x) *(volatile float2 *)8", r".*\(SIG.*\) in tan of f32 in vectors of 2"),
        (HANGS, "does not finish tan of f32 in vectors of 2 in 2 s"),
    ],
)
def test_the_function_that_fails_is_named(
    prelude: str, reason: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(probe, "COMMAND", FAULTY.replace("PRELUDE", prelude))
    if prelude is HANGS:
        monkeypatch.setattr(probe, "TIME_LIMIT", 2.0)
    (outcome,) = probe.reasons({BEST: OPENCL}).values()
    assert re.match(reason, outcome)


def test_shares_are_tried_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A failure beside other processes counts if it is one alone, too."""
    monkeypatch.setattr(child, "processors", lambda: 3)
    tried = tmp_path / "tried"
    note = f"import sys; share = sys.argv[2]; open({str(tried)!r}, 'a').write(share + ' '); "
    first_only = f"fails = share == '1/3' and open({str(tried)!r}).read().count(share) == 1; "
    for fails, again, reason in (
        ("fails = False; ", [], ""),
        ("fails = share == '1/3'; ", ["1/3"], "some reason"),
        (first_only, ["1/3"], ""),
    ):
        says = f"exec({saying(reason='some reason')!r} if fails else {saying(reason='')!r})"
        monkeypatch.setattr(probe, "COMMAND", note + fails + says)
        tried.unlink(missing_ok=True)
        assert probe._tried(BEST) == reason
        shares = tried.read_text().split()
        assert sorted(shares[:3]) == ["0/3", "1/3", "2/3"] and shares[3:] == again


def test_shares_cover_the_battery(monkeypatch: pytest.MonkeyPatch):
    every = [battery.Batch(str(k), []) for k in range(7)]
    monkeypatch.setattr(battery, "batches", lambda device: every)
    began: list[str] = []
    monkeypatch.setattr(
        trying._Trial, "fault", lambda self, batch, source: began.append(batch.name) or ""
    )
    monkeypatch.setattr(trying._Trial, "source", lambda self, batch: "")
    for k in range(3):
        trying.first_fault(BEST, OPENCL, slice(k, None, 3))
    assert began == ["0", "3", "6", "1", "4", "2", "5"]


def test_waiting_for_others_does_not_count(monkeypatch: pytest.MonkeyPatch):
    """A busy machine is no reason to refuse a device, as what is found is kept."""
    code = f"import time; time.sleep(2.5); {saying(reason='')}"
    monkeypatch.setattr(probe, "COMMAND", code)
    monkeypatch.setattr(probe, "TIME_LIMIT", 0.5)
    every = {BEST: OPENCL}
    assert probe.reasons(every) == {BEST: "does not finish the first kernel in 0.5 s"}
    probe.forget_failures()
    began = time.monotonic()
    monkeypatch.setattr(child, "waited", lambda pid: time.monotonic() - began)
    assert probe.reasons(every) == {BEST: ""}


def test_pocl_keeps_no_kernels_of_a_trial(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(child.POCL_CACHE, "/kept")
    say = f"print({child.MARK!r} + json.dumps({{'reason': os.environ[{child.POCL_CACHE!r}]}}))"
    monkeypatch.setattr(probe, "COMMAND", f"import json, os; {say}")
    (folder,) = probe.reasons({BEST: OPENCL}).values()
    assert folder != "/kept" and not Path(folder).exists()


# -- what is kept ----------------------------------------------------------------------------


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes find nothing wrong with any device."""
    monkeypatch.setattr(probe, "COMMAND", saying(reason=""))


def test_a_device_is_tried_once(trusting: None, kept: Path, monkeypatch: pytest.MonkeyPatch):
    every = every_device()
    first = probe.reasons(every)
    monkeypatch.setattr(child, "start", None)
    assert probe.reasons(every) == first
    newer = replace(BEST, driver=BEST.driver + ".1")
    with pytest.raises(TypeError):
        probe.reasons({newer: every[BEST]})
    for changed in ("machine", "_sources"):
        with monkeypatch.context() as patch, pytest.raises(TypeError):
            patch.setattr(probe, changed, lambda: "others")
            probe.reasons(every)


def test_what_drivers_are_told_counts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CL_CONFIG_CPU_TARGET_ARCH", raising=False)
    plain = probe.machine.__wrapped__()
    monkeypatch.setenv("POCL_CACHE_DIR", "elsewhere")
    assert probe.machine.__wrapped__() == plain
    monkeypatch.setenv("CL_CONFIG_CPU_TARGET_ARCH", "core-avx2")
    assert probe.machine.__wrapped__() != plain, "it compiles other kernels"


def test_the_files_that_decide_what_is_tried_are_there():
    root = Path(__file__).parents[4]
    assert [pattern for pattern in probe.SOURCES if not [*root.glob(pattern)]] == []


def test_what_fails_can_be_tried_again(trusting: None, monkeypatch: pytest.MonkeyPatch):
    every = {BEST: OPENCL}
    with monkeypatch.context() as patch:
        patch.setattr(probe, "COMMAND", "import os; os.abort()")
        assert probe.reasons(every)[BEST]
    assert probe.reasons(every)[BEST], "it is kept"
    probe.forget_failures()
    assert not probe.reasons(every)[BEST]


@pytest.mark.parametrize("text", [b"", b"null", b"[1]", b'{"reason": 3}', b"\xff", b"[" * 10000])
def test_what_is_kept_but_damaged_is_tried_again(text: bytes, trusting: None, kept: Path):
    every = {BEST: OPENCL}
    probe.reasons(every)
    (file,) = kept.iterdir()
    file.write_bytes(text)
    assert probe.reasons(every) == {BEST: ""}
    assert json.loads(file.read_text())["reason"] == ""


def test_where_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", None)
    batch = battery.Batch("some", [battery.elementwise_case(f32, 1)])
    monkeypatch.setattr(battery, "batches", lambda device: [batch])
    assert probe.reasons({BEST: OPENCL}) == {BEST: ""}
    assert os.environ.get("TILE_DEVICE") is None


# -- what is tried ---------------------------------------------------------------------------


def test_every_function_in_every_float_type_at_every_length():
    """And all conversions; a device without f64 is spared that."""
    cases = [c for batch in battery.batches(replace(BEST, fp64=True)) for c in batch.cases]
    names = [case.name for case in cases]
    for length in VECTOR_LENGTHS:
        assert f"the functions of f64 in vectors of {length}" in names
    tried = {
        (r.name, c.type) for c in cases if isinstance(c, battery.Elementwise) for r in c.results
    }
    assert {name for name, _ in tried} >= {name.removeprefix("tile.") for name in FUNCTIONS}
    assert {t for _, t in tried} == {*CONCRETE.values()}
    assert ("erf", f64) in tried and ("bit_left", i32) in tried and ("bit_left", f32) not in tried
    assert sum(name.startswith("the conversion") for name, _ in tried) == 13 * 12
    without = [c for batch in battery.batches(replace(BEST, fp64=False)) for c in batch.cases]
    assert not [name for c in without for name, t, _ in c.outputs if t == f64 or "f64" in name]


def test_every_device_that_is_offered_computes_it(
    device: td.Device, monkeypatch: pytest.MonkeyPatch
):
    """A part of it; all of it was computed when the device was found. Oclgrind reports nothing."""
    few = [*battery._exchanges(device), battery.elementwise_case(f64, 3)]
    monkeypatch.setattr(battery, "batches", lambda device: [battery.Batch("few", few)])
    began: list[str] = []
    assert trying.first_fault(device, queues.opencl_device(device), begin=began.append) == ""
    assert began == ["few", *(case.name for case in few)]


def test_kernels_wait_in_loops_and_in_branches(device: td.Device):
    together, *_ = battery.batches(device)
    loop, branch, tree, *_ = (battery.opencl(part, device) for part in together.apart)
    assert loop.count("barrier(") == 2 and "for (" in loop
    assert "barrier(" in branch and "if (" in branch
    assert tree.count("barrier(") >= 4
