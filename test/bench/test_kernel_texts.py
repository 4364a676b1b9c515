"""The table of kernels: every program is found, and changes show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tiledialect as td
from tiledialect.dialects.tile.schedule_text import named_kernels, schedule_text
from tiledialect.lowering.compilation import compile_module

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(autouse=True)
def bench_on_path(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCH))


def kernels(device: str, name: str):
    import kernel_texts

    (program,) = (p for p in kernel_texts.programs() if (p.device, p.name) == (device, name))
    return kernel_texts.kernels_of(program)


@pytest.mark.covering(1)
@pytest.mark.parametrize("described", ["avx512", "avx2", "pocl", "h100", "amd"])
@pytest.mark.parametrize("name", ["examples/softmax", "reduction/row sums dX"])
def test_kernels_are_those_of_the_device(described: str, name: str):
    (kernel,) = (k for k in kernels(described, name) if k.name != "helpers")
    assert kernel.device == described and "__kernel" in kernel.text
    assert kernel.schedule.startswith("<") and kernel.seconds > 0


PROGRAMS = (
    *("product/skinny", "product/A transposed", "convolution/3x3 dK", "convolution/depthwise dI"),
    *("rows/softmax wide", "rows/layer norm wide dX", "reduction/sum", "reduction/arg-max"),
    *("attention/one step dK", "network/digits step", "scan/one vector", "examples/norm"),
)


@pytest.mark.covering(1)
@pytest.mark.parametrize("described", ["avx512", "avx2", "pocl", "h100", "amd"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_schedules_that_are_chosen_can_be_given(described: str, name: str):
    import kernel_texts

    (program,) = (p for p in kernel_texts.programs() if (p.device, p.name) == (described, name))
    function, types = program.make()
    target = kernel_texts.description(described).attributes[kernel_texts.SPEC]

    def schedules(of: td.Function) -> dict[str, str]:
        source = of._program  # pyright: ignore[reportPrivateUsage]
        given = source.module, source.name, of.types(types, {}), target, source.transforms
        module = compile_module(*given, "tile-loop-tiling", source.schedules, source.fusion)
        named = named_kernels(module).items()
        return {name: schedule_text(k) for name, k in named if k.schedule is not None}

    chosen = schedules(function)
    assert chosen and schedules(function.with_schedules(chosen)) == chosen


def test_derivations_and_schedules_by_hand():
    assert "__kernel" in kernels("h100", "derivation/stencil_2d")[-1].text
    (product,) = kernels("avx512", "by hand/product_960")
    text = (BENCH / "schedules" / "product_960.intel.schedules").read_text()
    assert product.schedule in " ".join(text.split())


def test_programs_cover_the_schedules_by_hand():
    import kernel_texts

    names = {p.name.partition("/")[2] for p in kernel_texts.programs() if "by hand" in p.name}
    assert names == {p.name.partition(".")[0] for p in (BENCH / "schedules").glob("*.schedules")}


def test_what_differs_is_shown(tmp_path: Path):
    import kernel_texts

    old = kernels("avx512", "examples/norm")
    kernel_texts.write(tmp_path / "old.json.gz", old)
    assert kernel_texts.read(tmp_path / "old.json.gz") == old
    assert not list(kernel_texts.differences(old, old))
    new = [replace(old[0], text=old[0].text.replace("(", "( ", 1)), *old[1:]]
    lines = list(kernel_texts.differences(old, new, texts=True))
    assert lines[0] == f"- {old[0]}" and lines[1] == f"+ {new[0]}"
    assert any(line.startswith("    -") for line in lines)


def test_programs_that_are_refused_are_in_the_table():
    import kernel_texts

    import tiledialect as td

    source = "function (A[N]) -> (B) { B[i: N] = =(A[j + i]); }"
    program = kernel_texts.Program("avx2", "wrong", lambda: (td.compile(source), ["4xf32"]))
    (kernel,) = kernel_texts.kernels_of(program)
    assert kernel.name == "refused" and "twice" in kernel.text
