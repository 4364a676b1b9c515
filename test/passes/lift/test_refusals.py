"""A rule that does not apply says which condition fails."""

from __future__ import annotations

from typing import Any

import pytest
from lift_programs import M, V, on

from tiledialect import TileError, lift
from tiledialect.passes.lift import Derivation, NotApplicable
from tiledialect.passes.lift.families import RULES

x_map = on(V)(lambda m, x: x >> lift.map(lambda a: a + 1.0))
x_sum = on(V)(lambda m, x: x >> lift.reduce(lift.add, 0.0))
nested = on(M)(lambda m, x: x >> lift.map2(lambda a: a + 1.0))
seven = on(lift.array(7))(lambda m, x: x >> lift.map(lambda a: a + 1.0))
zipped = on(V, V)(lambda m, x, y: lift.zip(x, y) >> lift.map(lift.mul))
sums = on(M)(lambda m, x: x >> lift.map(lift.reduce(lift.add, 0.0)))
windows = on(V)(lambda m, x: x >> lift.slide(3, 1))
glb = on(M)(lambda m, x: x >> lift.map_glb(lift.map(lambda a: a + 1.0)))
group = on(M)(lambda m, x: x >> lift.map_wrg(lift.map_lcl(lambda a: a + 1.0)))

REFUSED: list[tuple[str, Any, str, dict[str, Any], str]] = [
    ("map_fusion", x_map, "map", {}, "there is an input where any map(g) is looked for"),
    ("map_fission", on(V)(lambda m, x: x >> lift.map(lift.abs)), "map", {}, "the function has no 2 ops in a row"),
    ("map_fission", x_map, "map", {"last": 3}, "the function has no 2 ops in a row"),
    ("map_fission_zip", on(V)(lambda m, x: x >> lift.map(lambda a: lift.abs(a + 1.0))), "map", {}, "the last op does not take the element, too: map_fission will do"),
    ("map_fission_in_zip", x_map, "map", {}, "the function has no zip of one array that is made of the element"),
    ("map_fission_with_zip", zipped, "map", {}, "the function makes nothing of one component of the zip alone"),
    ("map_fusion_with_zip", zipped, "map", {}, "no array of the zip is made by a map of the same kind"),
    ("map_fusion_in_zip", zipped, "zip", {}, "not all of them are made by maps"),
    ("extract_from_map", x_map, "map", {}, "all patterns of the function are made of the element"),
    ("split_join", seven, "map", {"n": 4}, "split(4) needs 4 to divide the size of x, which is 7"),
    ("split_join", x_map, "map", {"n": 0}, "the size of the pieces of split is 0; it must be an integer of at least 1"),
    ("join_split", on(M)(lambda m, x: x >> lift.map(lambda a: a >> lift.map(lambda b: b + a[0]))), "map", {}, "a function that is moved uses a of the map around it"),
    ("partial_reduce_strided", on(V)(lambda m, x: x >> lift.reduce(lambda a, b: a + 2.0 * b, 0.0)), "reduce", {}, "the function is not known to be commutative"),
    ("reduce_reorder", x_sum, "reduce", {"s": 2}, "2 is not known to divide the size of the array, which is N"),
    ("map_reduce_interchange_zip", zipped, "map", {}, "there is arith.mulf where any reduction(f, e) is looked for"),
    ("map_reduce_partial_reduce", on(lift.array("N", "M", "K"))(lambda m, x: x >> lift.map(lambda a: a >> lift.map(lift.reduce(lift.add, 0.0)) >> lift.reduce(lift.max, 0.0))), "map", {}, "the parts are reduced by another function than what they give"),
    ("map_reduce_partial_reduce", on(lift.array("N", "M", "K"))(lambda m, x: x >> lift.map(lambda a: a >> lift.map(lift.reduce(lift.add, 1.0)) >> lift.reduce(lift.add, 0.0))), "map", {}, "the two reductions do not start from the same"),
    ("tile_transpose", on(lift.array(8, 7))(lambda m, x: x >> lift.transpose >> lift.map2(lift.abs)), "map", {"m": 4, "n": 4}, "split(4) needs 4 to divide the size of the result of transpose, which is 7"),
    ("map_ends", on(lift.array(3))(lambda m, x: x >> lift.map(lift.abs)), "map", {"n": 2}, "slice(2, 1) ends before it begins"),
    ("dot", on(V, V)(lambda m, x, y: lift.zip(x >> lift.as_vector(4), y >> lift.as_vector(4)) >> lift.map(lift.add) >> lift.as_scalar >> lift.reduce(lift.add, 0.0)), "reduce", {}, "the vectors are not multiplied with one another"),
    ("dot", on(V, V)(lambda m, x, y: lift.zip(x >> lift.as_vector(4), y >> lift.as_vector(4)) >> lift.map(lift.mul) >> lift.as_scalar >> lift.reduce(lift.max, 0.0)), "reduce", {}, "what the products give is not added"),
    ("vectors_past_reduce", on(V)(lambda m, x: x >> lift.reduce(lift.add, 0.0)), "reduce", {}, "the function does not give numbers of vectors"),
    ("map_map_interchange", nested, "map", {}, "a function that is moved uses an argument of the map around it"),
    ("join_split_identity", on(M)(lambda m, x: x >> lift.join >> lift.split(2)), "split", {}, "the pieces are of M, not of 2"),
    ("scatter_gather_identity", on(V)(lambda m, x: x >> lift.scatter(lift.reverse) >> lift.gather(lambda i: i)), "gather", {}, "i is i -> i, but also i -> N - i - 1"),
    ("empty_gather", on(V)(lambda m, x: x >> lift.gather(lift.reverse)), "gather", {}, "i -> N - i - 1 is not the identity"),
    ("empty_map", x_map, "map", {}, "the function does something"),
    ("empty_pad", on(V)(lambda m, x: x >> lift.pad(1, 0, lift.clamp)), "pad", {}, "1 and 0 elements are put at the ends"),
    ("slide_to_split", windows, "slide", {}, "the windows of 3 are 1 apart"),
    ("iterate_one", on(V)(lambda m, x: x >> lift.iterate(2, lift.map(lift.abs))), "iterate", {}, "it is done 2 times"),
    ("zip_duplicate", zipped, "map", {}, "all arrays of the zip are different"),
    ("zip_unused", zipped, "map", {}, "all arrays of the zip are used"),
    ("zip_flatten", zipped, "map", {}, "no array of the zip is a zip"),
    ("add_transposes", x_map, "map", {}, "transpose takes an array of arrays, but the result of map holds f32"),
    ("join_past_zip", zipped, "zip", {}, "not all arrays of the zip are joined"),
    ("slide_tiling", windows, "slide", {"v": 2, "u": 5}, "u - v == n - s must hold: with v = 2, u is 4"),
    ("slide_tiling", on(lift.array(9))(lambda m, x: x >> lift.slide(3, 1)), "slide", {"v": 4}, "the windows of slide(6, 4) do not end where x ends, which has 9 elements: slice it first"),
    ("map_glb", glb, "map_glb/map", {}, "it is inside of map_glb(0)"),
    ("map_glb", on(M)(lambda m, x: x >> lift.map(lift.map_lcl(lift.abs))), "map", {}, "map_lcl(0) is inside of it"),
    ("map_glb", on(M)(lambda m, x: x >> lift.map(lift.reduce(lift.add, 0.0) @ lift.map(lift.abs))), "map/map", {}, "what map_glb gives would be read in the same kernel by other work-groups, which cannot wait for it"),
    ("to_private", on(lift.array("N", 4, 8))(lambda m, x: x >> lift.map_wrg(lift.map_lcl(0)(lambda a: a >> lift.map_lcl(1)(lift.abs) >> lift.gather(lift.reverse)))), "map_wrg/map_lcl/map_lcl", {}, "several work-items do it, and others read it"),
    ("map_wrg", x_map, "map", {}, "there is no map inside of it for the work-items to share"),
    ("map_lcl", x_map, "map", {}, "it is not inside of map_wrg(0)"),
    ("map_lcl", on(M)(lambda m, x: x >> lift.map_wrg(lift.map(lift.abs))), "map_wrg/map", {"dim": 1}, "it is not inside of map_wrg(1)"),
    ("map_warp", x_map, "map", {}, "there is no map inside of it for the work-items to share"),
    ("map_lane", x_map, "map", {}, "it is not inside of map_warp"),
    ("map_seq_unroll", on(V)(lambda m, x: x >> lift.map_seq(lift.abs)), "map_seq", {}, "the size of the array is N, no number"),
    ("to_local", glb, "map_glb/map", {}, "it is not inside of map_wrg"),
    ("to_private", group, "map_wrg", {}, "it is not done by one work-item, inside of map_glb, map_lcl or map_lane"),
    ("to_global", on(V)(lambda m, x: x >> lift.to_global(lift.map_glb(lift.abs))), "map_glb", {}, "it says already where it is kept"),
    ("vectorize", sums, "map", {}, "an argument is tensor<?xf32, #lift.sizes<M>>, no number"),
    ("vectorize", seven, "map", {}, "as_vector(4) needs 4 to divide the size of x, which is 7"),
    ("vectorize", x_map, "map", {"w": "n"}, "w of vectorize is a number, not n"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "example", "place", "sizes", "reason"), REFUSED, ids=[row[0] for row in REFUSED]
)
def test_refused(rule: str, example: Any, place: str, sizes: dict[str, Any], reason: str):
    from lift_programs import Make

    program = Derivation.of(example.program(Make()))
    before = str(program.module)
    with pytest.raises(NotApplicable) as raised:
        program.apply(RULES[rule], place, **sizes)
    assert raised.value.message == f"at {place}, {rule}: {reason}"
    assert str(program.module) == before


def test_mistakes():
    from lift_programs import Make

    program = Derivation.of(x_map.program(Make()))
    for wrong, message in (
        (
            lambda: program.apply(RULES["split_join"], "map", k=4),
            "split_join has no parameter k; it has n",
        ),
        (
            lambda: program.apply(RULES["split_join"], "map.1"),
            "there is nothing at map.1; there is map",
        ),
        (
            lambda: program.apply(RULES["join_split"]),
            "join_split applies nowhere; it rewrites map(map(f))",
        ),
        (
            lambda: program.apply(RULES["tile_stencil"]),
            "tile_stencil applies nowhere; it rewrites `slide(n, s) >> map(f) = slide(u, v) >> map(slide(n, s) >> map(f)) >> join`",
        ),
    ):
        with pytest.raises(TileError) as raised:
            wrong()
        assert raised.value.message == message
