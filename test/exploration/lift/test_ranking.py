"""Small changes of candidates, by the cost model."""

from dataclasses import replace
from typing import cast

from lift_programs import product
from random_functions import Make
from small_programs import convolution
from xdsl.dialects.builtin import StringAttr

from tiledialect import lift
from tiledialect.exploration.lift.ranking import Ranked, best_of, refined
from tiledialect.exploration.lift.settings import AlgorithmicSettings, Settings
from tiledialect.exploration.lift.space import LiftSpace
from tiledialect.exploration.parts import Candidate
from tiledialect.passes.lift import RULES, Derivation
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


def test_sums_of_a_block_fill_the_registers_of_a_core():
    """Without small changes: 12 rows of two vectors are 24 of 32 registers."""
    square = lift.fun(lift.array(96, 96), lift.array(96, 96), lambda x, y: product(Make(), x, y))
    blocks = Derivation.of(square).apply(RULES["register_block_2d"])
    settings = replace(Settings(), algorithmic=AlgorithmicSettings(exploration_depth=0))
    device = described(Kind.CPU, {"native_vector_width": 16, "registers": 32})
    start = Derivation.of(blocks.module)
    space = LiftSpace(start, start.name, device, StringAttr(""), settings)
    best, *_ = best_of(space, next(iter(space.programs.all())), "")
    assert best.decisions.items() >= {"vectors": 16, "size m": 12, "size n": 32}.items()


def test_columns_of_a_work_item_are_beside_those_of_others():
    """Without small changes: 16 rows of one column, and the column of a window at a time."""
    blocks = Derivation.of(convolution(17)).apply(RULES["block_strided_sums_2d"])
    settings = replace(Settings(), algorithmic=AlgorithmicSettings(exploration_depth=0))
    device = described(Kind.GPU, {"compute_units": 132, "sub_group_size": 32})
    start = Derivation.of(blocks.module)
    space = LiftSpace(start, start.name, device, StringAttr(""), settings)
    best, *_ = best_of(space, next(iter(space.programs.all())), "")
    sizes = {name: size for name, size in best.decisions.items() if name.startswith("size")}
    assert best.decisions["vectors"] == 1
    assert sizes == {"size k": 17, "size m": 16, "size n": 1}
