"""Small changes of candidates, by the cost model."""

from typing import cast

from tiledialect.exploration.lift.ranking import Ranked, refined
from tiledialect.exploration.lift.space import LiftSpace
from tiledialect.exploration.parts import Candidate
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.search.decisions import Chooser, Option


class Blocks:
    """A space of blocks of 16 x 1 sums, in parts of 17 of 289 terms, the best one without vectors."""

    device = described(Kind.GPU, {})

    def candidate(self, chooser: Chooser) -> Candidate:
        vectors = int(chooser.choose("vectors", [1, 4]))
        k = int(chooser.choose("size k", [1, 17, 289]))
        m = int(chooser.choose("size m", [4, 8, 16]))
        n = int(chooser.choose("size n", [n for n in (1, 2, 4, 8) if n % vectors == 0]))
        seconds = 4.0 - (k == 17) - (m / 16) - (n == 1 and vectors == 1)
        return Candidate(f"{vectors} {k} {m} {n}", seconds)


def test_sizes_move_to_the_next_option_and_lose_the_lanes_of_vectors():
    start: dict[str, Option] = {"vectors": 4, "size k": 1, "size m": 4, "size n": 4}
    found = refined(cast(LiftSpace, Blocks()), Ranked(3.75, text="4 1 4 4", decisions=start))
    assert found.text == "1 17 16 1"
