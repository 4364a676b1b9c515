"""Strategies, derivations, and rules of users' own."""

from __future__ import annotations

import runpy
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from tiledialect import TileError, TileWarning, lift
from tiledialect.dialects.lift import layout, maps
from tiledialect.passes.lift import (
    RULES,
    Derivation,
    NotApplicable,
    applicable,
    apply,
    at,
    at_input,
    attempt,
    bottom_up,
    choice,
    everywhere,
    in_function,
    load_rules,
    macro,
    repeat,
    replay,
    rule,
    sequence,
    to_svg,
    top_down,
)
from tiledialect.passes.lift.rules import collections as families
from tiledialect.passes.lift.rules import patterns as p
from tiledialect.passes.lift.rules.places import places
from tiledialect.passes.lift.rules.rule import Rewriting

fusion, fission = RULES["map_fusion"], RULES["map_fission"]
split_join, map_glb = RULES["split_join"], RULES["map_glb"]
f = lift.map(lambda a: a + 1.0)


@lift.fun
def four(x: lift.array("N")):
    return x >> f >> f >> f >> f


@lift.fun
def pair(x: lift.array("N"), y: lift.array("N")):
    return x >> f >> f, y >> f >> f


def steps(derivation: Derivation) -> list[str]:
    return derivation.text.splitlines()


def test_top_down_and_bottom_up():
    assert steps(apply(four, top_down(fusion))) == ["map_fusion at map.3"]
    assert steps(apply(four, bottom_up(fusion))) == ["map_fusion at map.1"]


def test_repeat_and_everywhere():
    assert steps(apply(four, repeat(fusion))) == [f"map_fusion at {p}" for p in ("map.3", "map.2", "map.1")]  # fmt: skip
    assert str(apply(four, everywhere(fusion)).module).count("lift.map") == 1
    assert apply(four, repeat(RULES["join_split"])).steps == ()


def test_repeating_what_always_applies():
    with pytest.raises(NotApplicable, match="the strategy still applies after 1000 times"):
        apply(four, repeat(attempt(RULES["join_split"])))


def test_sequence_leaves_nothing_behind():
    with pytest.raises(NotApplicable):
        apply(four, sequence(fusion, RULES["join_split"]))
    tried = apply(four, attempt(sequence(fusion, RULES["join_split"])))
    assert tried.steps == () and str(tried.module) == str(four.module)
    chosen = apply(four, choice(sequence(fusion, RULES["join_split"]), split_join(n=4)))
    assert steps(chosen) == ["split_join(n=4) at map.3"]


def test_places():
    done = apply(four, sequence(at_input(at_input(map_glb)), split_join(n=2)))
    assert steps(done) == ["map_glb(dim=0) at map.1", "split_join(n=2) at map.2"]
    inside = apply(done, at(p.map(p.map("f")), in_function(map_glb(dim=1))))
    assert steps(inside)[-1] == "map_glb(dim=1) at map.2/map"
    assert steps(apply(four, map_glb, "map.2")) == ["map_glb(dim=0) at map.2"]
    with pytest.raises(NotApplicable, match=r"there is nothing at reduce; there is map, map\.1"):
        apply(four, map_glb, "reduce")


def test_several_results():
    """Each result is tried, and a place may be of any."""
    once = apply(pair, fusion)
    twice = once.apply(fusion)
    assert steps(twice) == ["map_fusion at map.1", "map_fusion at map.2"]
    assert ("map_fusion", "map.3") in [(r.name, place) for r, place in applicable(pair)]


def test_applicable_is_what_can_be_applied():
    """A rule that was tried leaves nothing that another one finds, or is kept from."""
    example = Path(__file__).parents[4] / "examples" / "lift" / "stencil_2d.py"
    program = Derivation.of(runpy.run_path(str(example))["nine_points"])
    program = program.apply(RULES["tile_stencil_2d"])
    found = {(rule.name, place) for rule, place in applicable(program)}
    for place in [*places(program.function)][::4]:
        for name, tried in RULES.items():
            try:
                program.apply(tried, place)
            except NotApplicable:
                assert (name, place) not in found
            else:
                assert (name, place) in found


def test_what_is_taken_back_is_gone():
    function = Derivation.of(four).function
    rewriting, text = Rewriting(function), str(function)
    before, last = rewriting.checkpoint(), function.body.block.last_op
    assert last is not None
    repeat(fusion).run(rewriting, last.operands[0])
    assert str(function) != text
    rewriting.back_to(before)
    assert str(function) == text


def test_names_of_sizes_that_are_not_there():
    opened = apply(four, split_join)
    assert opened.sizes == {"N", "n"}
    with pytest.raises(TileError) as raised:
        opened.bind(w=4)
    assert raised.value.message == "there is no size w; there is N, n"
    with pytest.raises(TileError, match="there is no size w"):
        replay(four, "bind(w=4)")


def test_history_and_drawing():
    derivation = apply(four, split_join, "map").bind(n=4).apply(fusion)
    assert [len(d.steps) for d in derivation.history()] == [0, 1, 2, 3]
    assert derivation.before is not None and derivation.initial.steps == ()
    again = replay(four, derivation.text)
    assert str(again) == str(derivation)
    drawn = to_svg(derivation)
    assert drawn.startswith("<svg") and drawn.count("<text class") == 3 and "changed" in drawn
    assert "changed" not in to_svg(derivation.initial).partition("</style>")[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "map_fusion",
            "a step is written as 'rule(n=4) at place' or 'bind(n=4)', not 'map_fusion'",
        ),
        ("split_join(n) at map", "a size is given as name=size, not 'n'"),
        ("split_join(n=4 4) at map", "'4 4' is no size"),
        ("fuse_all at map", "there is no rule fuse_all"),
        ("bind(N=x y)", "'x y' is no size"),
    ],
)
def test_wrong_steps(text: str, message: str):
    with pytest.raises(TileError) as raised:
        replay(four, text)
    assert raised.value.message.startswith(message)


def test_scripts_name_file_and_line():
    with pytest.raises(NotApplicable) as raised:
        replay(four, "# fused\nmap_fusion at map.1\n  map_glb at reduce", file="steps.txt")
    assert str(raised.value).startswith("steps.txt:3:3: there is nothing at reduce")


def test_rules_that_are_wrong():
    @rule(p.map("f"))
    def unknown_name(x, g): ...

    @rule(p.map("f"))
    def nothing(x): ...

    @rule(p.map("f"))
    def crash(x):
        return x.nonsense

    @rule(p.map("f"))
    def other_type(x):
        return x >> lift.split(2)

    @macro
    def no_strategy(): ...

    for wrong, message in (
        (unknown_name, "the rule unknown_name: TypeError: g is not in its pattern, map(f)"),
        (nothing, "the rule nothing: TypeError: its replacement is None, no value"),
        (crash, "crash: x.nonsense does not take values of a Lift program: Lift has no such function"),
        (other_type, "other_type: the replacement has the type tensor<?x2xf32, #lift.sizes<N / 2>> instead of tensor<?xf32, #lift.sizes<N>>"),
        (no_strategy, "the macro no_strategy gives None, no strategy"),
    ):  # fmt: skip
        with pytest.raises(TileError) as raised:
            apply(four, wrong)
        assert raised.value.message == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "defines no rules"),
        ("x = ", "rules.py: SyntaxError"),
        ("raise SystemExit(3)", "rules.py: SystemExit: 3"),
        ("import nonsense_", "rules.py: ModuleNotFoundError: No module named 'nonsense_'"),
    ],
)
def test_files_of_rules(text: str, message: str, tmp_path: Path):
    path = tmp_path / "rules.py"
    path.write_text(text)
    with pytest.raises(TileError) as raised:
        load_rules(str(path))
    assert message in raised.value.message


def test_rules_of_installed_packages(monkeypatch: pytest.MonkeyPatch):
    @rule(p.map("f"))
    def mine(x, f):
        return x >> lift.map(f)

    entries = [
        SimpleNamespace(value="mine", load=lambda: SimpleNamespace(mine=mine)),
        EntryPoint("theirs", "nowhere", families.GROUP),
    ]
    monkeypatch.setattr(families, "entry_points", lambda group: entries)
    monkeypatch.setattr(families, "installed_rules", families.installed_rules.__wrapped__)
    with pytest.warns(TileWarning, match="the rules of nowhere cannot be loaded: ModuleNotFound"):
        assert steps(replay(four, "mine at map")) == ["mine at map"]


def test_the_example_of_a_file():
    path = Path(__file__).parents[4] / "examples" / "lift_rules.py"
    rules = load_rules(str(path))
    padded = lift.pad(1, 1, lift.clamp) >> lift.pad(2, 0, lift.clamp)
    program = lift.fun(lift.array("N"), lambda x: x >> padded)
    assert "lift.pad(3, 1, clamp)" in str(apply(program, rules["pad_pad"]).module)
    wrapped = lift.fun(lift.array("N"), lambda x: x >> lift.pad(1, 1, lift.wrap) >> lift.pad(1, 0, lift.wrap))  # fmt: skip
    with pytest.raises(NotApplicable, match="the boundary is wrap"):
        apply(wrapped, rules["pad_pad"])


def test_a_pattern_that_is_nowhere():
    with pytest.raises(NotApplicable) as raised:
        apply(four, at(p.map(p.map("f")), map_glb))
    assert raised.value.message == "there is no map(map(f))"


def test_strategies_are_not_tried_where_no_op_fits():
    """A choice takes the rules for the kind of an op, without a match of the others."""
    join, seq = RULES["split_join_identity"], RULES["map_seq"]()
    assert join.fits(layout.JoinOp) and not join.fits(maps.MapOp)
    assert RULES["add_identity"].fits(layout.JoinOp)
    assert choice(join, seq).fits(maps.MapOp) and not choice(join, seq).fits(layout.SplitOp)
    assert choice(join, seq, RULES["fuse"]).fits(layout.SplitOp)


def test_conditions_are_told_before_mismatches():
    with pytest.raises(NotApplicable) as raised:
        apply(four, RULES["simplify"], "map")
    assert raised.value.message == "at map, simplify: empty_map: the function is not the identity"


def windows(x):
    return x >> lift.slide(3, 1) >> lift.slide(5, 2)


def test_a_size_that_another_one_defines():
    program = lift.fun(lift.array("N"), windows)
    tiled = apply(program, RULES["slide_tiling"], "slide.1")
    assert steps(tiled) == ["slide_tiling(v=v, u=u) at slide.1"]
    assert tiled.sizes == {"N", "u", "v"}
    again = tiled.apply(RULES["slide_tiling"], "slide")
    assert steps(again)[1] == "slide_tiling(v=v1, u=u1) at slide"
    both = again.bind(u=7, u1=10)
    assert both.sizes == {"N"}
    assert str(both.module) == str(again.bind(v=4, v1=8).module)
    assert str(replay(program, both.text).module) == str(both.module)
    assert again.bind(v="2*w").bind(u=7).sizes == {"N", "v1", "u1"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"u": 8, "v": 4}, "v + 3 is 7, but u is 8"),
        ({"u": 2}, "u is 2, which is not v + 3 for any v"),
        ({"w": 2}, "there is no size w; there is N, u, v"),
    ],
)
def test_sizes_that_do_not_fit(given: dict[str, int], message: str):
    tiled = apply(lift.fun(lift.array("N"), windows), RULES["slide_tiling"], "slide.1")
    with pytest.raises(TileError) as raised:
        tiled.bind(**given)
    assert raised.value.message == message


def test_a_name_that_is_taken():
    with pytest.raises(NotApplicable, match="N is a size of the program already"):
        apply(lift.fun(lift.array("N"), windows), RULES["slide_tiling"], "slide.1", u="N")


def test_definitions_are_taken_back():
    program = lift.fun(lift.array("N"), windows)
    failing = sequence(RULES["slide_tiling"], fusion)
    done = apply(program, attempt(failing), "slide.1")
    assert done.sizes == {"N"} and not done.function.attributes
