"""Implementations that are kept on disk and in files, and the calls that take them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from explored import PRODUCT

import tiledialect as td
from tiledialect.exploration import kept
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.kernels import kernel_parts
from tiledialect.exploration.subject import Subject
from tiledialect.schedule.search.decisions import made

OWN = "<group.x i : 4, unroll k : 6, unroll j : 8>"
OTHER = "<group.x 4*i : 1, unroll i : 4, serial j : 8, serial k : 6>"


pytestmark = pytest.mark.usefixtures("folder")


def found(subject: Subject, seconds: float = 1.0, schedule: str = OWN) -> kept.Found:
    return kept.Found(
        *(kept.digest(subject.program), kept.described(subject.device), subject.shapes),
        *(Implementation((f"C: {schedule}",)), seconds, 2.0, 3),
    )


def test_the_last_is_kept(subject: Subject):
    """Lucky times of other days do not stay for ever."""
    for one in (found(subject, 1.0), found(subject, 3.0, OTHER)):
        kept.keep(one)
        assert kept.kept_for(subject.program, subject.device) == (one,)


def test_what_was_kept_is_measured_again(subject: Subject):
    assert kept.implementations(subject) == []
    kept.keep(found(subject))
    assert kept.implementations(subject) == [Implementation((f"C: {OWN}",))]


def test_other_versions_are_left_out(subject: Subject, folder: Path, fast: td.Device):
    old = replace(found(subject), version="0.0.7")
    kept.keep(old)
    types = "4x6xf32", "6x8xf32"
    default = td.compile(PRODUCT, device=fast).schedules(*types)
    assert td.compile(PRODUCT, device=fast, tune="kept").schedules(*types) == default
    file = folder / "mm.explored"
    kept.save(file, (old,))
    with pytest.warns(td.TileWarning, match="version 0.0.7 of the package, and left out"):
        f = td.compile(PRODUCT, device=fast, explored=file)
    assert f.schedules(*types) == default


def test_what_is_refused_is_left_out(subject: Subject, fast: td.Device):
    kept.keep(found(subject, schedule="<group.x q : 4>"))
    f = td.compile(PRODUCT, device=fast, tune="kept")
    a, b = subject.arrays
    with pytest.warns(td.TileWarning, match="found for mm is left out, as the compiler refuses"):
        assert f(a, b).shape == (4, 8)
    assert f.schedules(a, b) == td.compile(PRODUCT, device=fast).schedules(a, b)


def test_what_is_kept_is_of_a_program_a_device_and_shapes(subject: Subject):
    own = found(subject)
    kept.keep(own)
    kept.keep(replace(own, types="9x9xf32,9x9xf32"))
    newer = replace(subject.device, driver="of tomorrow")
    (*both,) = kept.kept_for(subject.program, subject.device)
    assert kept.matching(both, subject.program, subject.device, subject.shapes) == own
    assert not kept.kept_for(subject.program, newer)
    assert not kept.kept_for(replace(subject.program, name="other"), subject.device)
    assert kept.matching(both, subject.program, newer, subject.shapes) is None
    assert kept.matching(both, subject.program, subject.device, "1xf32") is None


def test_comments_do_not_count(subject: Subject, fast: td.Device):
    kept.keep(found(subject))
    again = td.compile(f"// a comment\n{PRODUCT}", device=fast, tune="kept")
    assert again.schedules("4x6xf32", "6x8xf32") == {"C": OWN}


def test_damaged_files_count_as_missing(subject: Subject, folder: Path):
    kept.keep(found(subject))
    (file,) = (folder / "explored").iterdir()
    file.write_bytes(file.read_bytes()[:-9])
    assert kept.kept_for(subject.program, subject.device) == ()


def test_a_folder_that_cannot_be_written_keeps_nothing(
    subject: Subject, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    (folder / "file").write_text("")
    monkeypatch.setenv("TILE_CACHE_DIR", str(folder / "file"))
    kept.keep(found(subject))
    assert kept.kept_for(subject.program, subject.device) == ()


def test_files_hold_implementations(subject: Subject, folder: Path, fast: td.Device):
    file = folder / "mm.explored"
    kept.save(file, (found(subject),))
    assert kept.load(file) == (found(subject),)
    f = td.compile(PRODUCT, device=fast, explored=file)
    # Without a call, these are the schedules of the explored shapes.
    assert f.schedules() == f.schedules("4x6xf32", "6x8xf32") == {"C": OWN}
    assert f.schedules("4x6xf32", "6x9xf32") != {"C": OWN}


def test_wrong_files_are_refused(subject: Subject, folder: Path, fast: td.Device):
    with pytest.raises(td.TileError, match="`explored` must be a file, got 5"):
        td.compile(PRODUCT, device=fast, explored=5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(td.TileError, match=r"there is no file .*none\.explored"):
        td.compile(PRODUCT, device=fast, explored=folder / "none.explored")
    file = folder / "mm.explored"
    file.write_text("{}")
    with pytest.raises(td.TileError, match=r"mm\.explored is no file that `save` of a search"):
        td.compile(PRODUCT, device=fast, explored=file)
    kept.save(file, (found(subject),))
    with pytest.raises(td.TileError, match="no implementation of f, but of another program"):
        td.compile("function f(A) -> (B) { B = A; }", device=fast, explored=file)
    with pytest.raises(td.TileError, match="cannot be written"):
        kept.save(folder / "mm.explored" / "x", (found(subject),))


def test_the_users_schedules_count_more_than_found_ones(product: td.Function, subject: Subject):
    f = product.with_found((found(subject),)).with_schedules({"C": OTHER})
    assert f.schedules() == {"C": OTHER}


def test_fusion_that_the_user_decides_stays(product: td.Function, subject: Subject):
    program = product.with_fusion(rows=False).subject(subject.arrays, {}).program
    own = Implementation((f"C: {OWN}",)).applied(program, subject.types, subject.device)
    assert own.fusion == program.fusion


def test_kernels_with_schedules_of_the_user_are_not_explored(
    product: td.Function, inputs: tuple[Any, ...]
):
    given = product.with_schedules({"C": OTHER})
    with pytest.raises(td.TileError, match="nothing of mm can be explored"):
        td.explore(given, *inputs)


def test_searches_begin_with_schedules_of_other_shapes(product: td.Function, subject: Subject):
    kept.keep(found(subject))
    f = product.with_schedules({})
    types = "6x6xf32", "6x8xf32"
    near = f.subject([subject.arrays[1][:, :6], subject.arrays[1]], {})
    (part,) = kernel_parts(near)
    first, second, *_ = (made(part.candidate, d)[1].text for d in part.seeds())
    assert first == f.schedules(*types)["C"]
    assert second == OWN.replace("i : 4", "i : 6")
