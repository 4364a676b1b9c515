"""The table of quirks: every answer exists, every platform gets its answers, the docs show it."""

from __future__ import annotations

from pathlib import Path

from tiledialect import lowering
from tiledialect.lowering import quirks
from tiledialect.lowering.pipeline import KERNEL_PASSES, NEST_PASSES
from tiledialect.lowering.quirks.prelude import TEXTS
from tiledialect.lowering.quirks.table import QUIRKS, Kind, Quirk, passes_of
from tiledialect.platforms import INTEL, NVIDIA, POCL

LOWERING = Path(next(iter(lowering.__path__)))
DOCS = Path(__file__).parents[3] / "docs" / "runtime.md"
HEAD = "| driver | fault | answer |"


def answers(kind: Kind) -> set[str]:
    """Answers of a kind."""
    return {quirk.answer for quirk in QUIRKS if quirk.kind is kind}


def test_answers_exist():
    """Passes for single platforms and texts are those of the table; files exist."""
    assert answers(Kind.PASS) == {p.name for p in (*NEST_PASSES, *KERNEL_PASSES)}
    assert answers(Kind.PRELUDE) == set(TEXTS)
    assert all((LOWERING / file).is_file() for file in answers(Kind.CODE))
    assert all(option.startswith("-") for option in answers(Kind.OPTION))


def test_code_names_its_driver():
    """A file that answers a fault says which driver has it."""
    for quirk in QUIRKS:
        if quirk.kind is Kind.CODE:
            text = (LOWERING / quirk.answer).read_text(encoding="utf-8")
            assert all(p.title in text for p in quirk.platforms), quirk.answer


def test_every_pass_of_the_folder_is_in_the_table():
    folder = Path(next(iter(quirks.__path__)))
    names = {path.stem.replace("_", "-") for path in folder.glob("*_*.py") if path.stem[0] != "_"}
    assert names <= answers(Kind.PASS)


def test_passes_of_a_platform():
    assert "nest-free-barriers" in passes_of(POCL.name)
    assert "gpu-keep-loops" not in passes_of(POCL.name)
    assert passes_of(INTEL.name)["math-polynomial-approximation"]["functions"] == ("exp", "erf")
    assert not passes_of(NVIDIA.name)
    assert not passes_of("Intel(R) OpenCL Graphics")
    assert not passes_of(None)


def row(quirk: Quirk) -> str:
    """A row of the table in the docs."""
    drivers = ", ".join(p.title for p in quirk.platforms)
    if quirk.versions:
        drivers += f" ({quirk.versions})"
    answer = {
        Kind.PRELUDE: "OpenCL C of our own (`prelude.py`)",
        Kind.CODE: f"`lowering/{quirk.answer}`",
    }.get(quirk.kind, f"`{quirk.answer}`")
    return f"| {drivers} | {quirk.fault} | {answer} |"


def test_the_docs_show_the_table():
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    first = lines.index(HEAD) + 2
    expected = [row(quirk) for quirk in QUIRKS]
    assert lines[first : first + len(expected) + 1] == [*expected, ""]
