"""Programs that a search finds as it comes to them."""

from collections.abc import Iterator

from small_programs import program

from tiledialect.exploration.lift.algorithmic import algorithmic, stream
from tiledialect.exploration.lift.programs import Programs
from tiledialect.exploration.lift.settings import AlgorithmicSettings
from tiledialect.passes.lift import Derivation
from tiledialect.schedule.search.decisions import Fixed, enumerated

FEW = AlgorithmicSettings(most_rewritten=2, most_programs=6)


def counted(asked: list[Derivation]) -> Iterator[Derivation]:
    for derivation in stream(program("gemv"), FEW):
        asked.append(derivation)
        yield derivation


def test_programs_are_found_as_they_are_asked_for():
    asked: list[Derivation] = []
    programs = Programs(counted(asked))
    first = Fixed({}).choose("program", programs)
    assert len(asked) == 1 and programs.program(str(first)) is asked[0]
    *_, last = programs.all()
    assert len(asked) == len(programs) == len(algorithmic(program("gemv"), FEW))
    assert programs.program(last) is asked[-1]


def test_a_word_that_is_looked_for_is_found():
    *_, last = Programs(stream(program("gemv"), FEW)).all()
    programs = Programs(stream(program("gemv"), FEW))
    assert len(programs) == 1
    assert Fixed({"program": last}).choose("program", programs) == last


def test_all_programs_are_enumerated():
    programs = Programs(stream(program("gemv"), FEW))
    found = [word for _, word in enumerated(lambda c: c.choose("program", programs))]
    assert found == [*Programs(stream(program("gemv"), FEW)).all()]
    assert len(found) > 2
