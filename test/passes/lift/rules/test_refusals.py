"""A rule that does not apply says which condition fails."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from lift_programs import M, T, V, on, product

from tiledialect import TileError, lift
from tiledialect.index.size import Size
from tiledialect.passes.lift import Derivation, NotApplicable, Rule
from tiledialect.passes.lift.rules.collections import RULES
from tiledialect.passes.lift.rules.matching import Anything
from tiledialect.passes.lift.rules.refusal import Mismatch

x_map = on(V)(lambda m, x: x >> lift.map(lambda a: a + 1.0))
x_sum = on(V)(lambda m, x: x >> lift.reduce(lift.add, 0.0))
nested = on(M)(lambda m, x: x >> lift.map2(lambda a: a + 1.0))
seven = on(lift.array(7))(lambda m, x: x >> lift.map(lambda a: a + 1.0))
zipped = on(V, V)(lambda m, x, y: lift.zip(x, y) >> lift.map(lift.mul))
sums = on(M)(lambda m, x: x >> lift.map(lift.reduce(lift.add, 0.0)))
windows = on(V)(lambda m, x: x >> lift.slide(3, 1))
glb = on(M)(lambda m, x: x >> lift.map_glb(lift.map(lambda a: a + 1.0)))
group = on(M)(lambda m, x: x >> lift.map_wrg(lift.map_lcl(lambda a: a + 1.0)))
product7 = on(lift.array(7, 7), lift.array(7, 7))(product)

REFUSED: list[tuple[str, Any, str, dict[str, Any], str]] = [
    ("map_fusion", x_map, "map", {}, "an input stands in the place of any map(g)"),
    ("map_fission", on(V)(lambda m, x: x >> lift.map(lift.abs)), "map", {}, "the function has no 2 ops in a row"),
    ("map_fission", x_map, "map", {"last": 3}, "the function has no 2 ops in a row"),
    ("map_fission_zip", on(V)(lambda m, x: x >> lift.map(lambda a: lift.abs(a + 1.0))), "map", {}, "the last op does not take the element, too: use map_fission"),
    ("map_fission_in_zip", x_map, "map", {}, "the function has no zip of one array that depends on the element"),
    ("map_fission_with_zip", zipped, "map", {}, "no op of the function takes one component of the zip alone"),
    ("map_fusion_with_zip", zipped, "map", {}, "no array of the zip is the result of a map of the same kind"),
    ("map_fusion_in_zip", zipped, "zip", {}, "not all components are results of maps"),
    ("map_reduce_fission", nested, "map", {}, "the inner function has no single reduction whose result it goes on with"),
    ("extract_from_map", x_map, "map", {}, "all patterns of the function depend on the element"),
    ("split_join", seven, "map", {"n": 4}, "split(4) needs 4 to divide the size of x, which is 7"),
    ("split_join", x_map, "map", {"n": 0}, "the size of the pieces of split is 0; it must be an integer of at least 1"),
    ("join_split", on(M)(lambda m, x: x >> lift.map(lambda a: a >> lift.map(lambda b: b + a[0]))), "map", {}, "a function that is moved uses a of the map around it"),
    ("partial_reduce_strided", on(V)(lambda m, x: x >> lift.reduce(lambda a, b: a + 2.0 * b, 0.0)), "reduce", {}, "the function is not known to be commutative"),
    ("reduce_reorder", x_sum, "reduce", {"s": 2}, "2 is not known to divide the size of the array, which is N"),
    ("map_reduce_interchange_zip", zipped, "map", {}, "arith.mulf stands in the place of any reduction(f, e)"),
    ("map_reduce_partial_reduce", on(lift.array("N", "M", "K"))(lambda m, x: x >> lift.map(lambda a: a >> lift.map(lift.reduce(lift.add, 0.0)) >> lift.reduce(lift.max, 0.0))), "map", {}, "the parts and their results are reduced by different functions"),
    ("map_reduce_partial_reduce", on(lift.array("N", "M", "K"))(lambda m, x: x >> lift.map(lambda a: a >> lift.map(lift.reduce(lift.add, 1.0)) >> lift.reduce(lift.add, 0.0))), "map", {}, "the two reductions have different initial values"),
    ("tile_transpose", on(lift.array(8, 7))(lambda m, x: x >> lift.transpose >> lift.map2(lift.abs)), "map", {"m": 4, "n": 4}, "split(4) needs 4 to divide the size of the result of transpose, which is 7"),
    ("map_ends", on(lift.array(3))(lambda m, x: x >> lift.map(lift.abs)), "map", {"n": 2}, "slice(2, 1) ends before it begins"),
    ("dot", on(V, V)(lambda m, x, y: lift.zip(x >> lift.as_vector(4), y >> lift.as_vector(4)) >> lift.map(lift.add) >> lift.as_scalar >> lift.reduce(lift.add, 0.0)), "reduce", {}, "the vectors are not multiplied with one another"),
    ("dot", on(V, V)(lambda m, x, y: lift.zip(x >> lift.as_vector(4), y >> lift.as_vector(4)) >> lift.map(lift.mul) >> lift.as_scalar >> lift.reduce(lift.max, 0.0)), "reduce", {}, "the products are not added"),
    ("vectors_past_reduce", on(V)(lambda m, x: x >> lift.reduce(lift.add, 0.0)), "reduce", {}, "the function does not give numbers of vectors"),
    ("map_map_interchange", nested, "map", {}, "a function that is moved uses an argument of the map around it"),
    ("join_split_identity", on(M)(lambda m, x: x >> lift.join >> lift.split(2)), "split", {}, "the pieces are of M, not of 2"),
    ("scatter_gather_identity", on(V)(lambda m, x: x >> lift.scatter(lift.reverse) >> lift.gather(lambda i: i)), "gather", {}, "i is i -> i, but also i -> N - i - 1"),
    ("empty_gather", on(V)(lambda m, x: x >> lift.gather(lift.reverse)), "gather", {}, "i -> N - i - 1 is not the identity"),
    ("empty_map", x_map, "map", {}, "the function is not the identity"),
    ("empty_pad", on(V)(lambda m, x: x >> lift.pad(1, 0, lift.clamp)), "pad", {}, "the pad puts 1 and 0 elements at the ends"),
    ("slide_to_split", windows, "slide", {}, "the windows of 3 are 1 apart"),
    ("iterate_one", on(V)(lambda m, x: x >> lift.iterate(2, lift.map(lift.abs))), "iterate", {}, "the function is applied 2 times"),
    ("zip_duplicate", zipped, "map", {}, "all arrays of the zip are different"),
    ("zip_unused", zipped, "map", {}, "all arrays of the zip are used"),
    ("zip_flatten", zipped, "map", {}, "no array of the zip is a zip"),
    ("add_transposes", x_map, "map", {}, "transpose takes an array of arrays, but the result of map holds f32"),
    ("join_past_zip", zipped, "zip", {}, "not all arrays of the zip are joined"),
    ("slide_tiling", windows, "slide", {"v": 2, "u": 5}, "u - v == n - s must hold: with v = 2, u is 4"),
    ("slide_tiling", on(lift.array(9))(lambda m, x: x >> lift.slide(3, 1)), "slide", {"v": 4}, "the windows of slide(6, 4) do not end where x ends, which has 9 elements: slice it first"),
    ("map_glb", glb, "map_glb/map", {}, "the pattern is inside of map_glb(0)"),
    ("map_glb", on(M)(lambda m, x: x >> lift.map(lift.map_lcl(lift.abs))), "map", {}, "the pattern contains map_lcl(0)"),
    ("map_glb", on(M)(lambda m, x: x >> lift.map(lift.reduce(lift.add, 0.0) @ lift.map(lift.abs))), "map/map", {}, "other work-groups would read the result of map_glb in the same kernel, and cannot wait for it"),
    ("to_private", on(lift.array("N", 4, 8))(lambda m, x: x >> lift.map_wrg(lift.map_lcl(0)(lambda a: a >> lift.map_lcl(1)(lift.abs) >> lift.gather(lift.reverse)))), "map_wrg/map_lcl/map_lcl", {}, "several work-items write the result, and others read"),
    ("map_wrg", x_map, "map", {}, "the pattern contains no map for the work-items to share"),
    ("map_lcl", x_map, "map", {}, "the pattern is not inside of map_wrg"),
    ("map_warp", x_map, "map", {}, "the pattern contains no map for the work-items to share"),
    ("map_lane", x_map, "map", {}, "the pattern is not inside of map_warp"),
    ("map_seq_unroll", on(V)(lambda m, x: x >> lift.map_seq(lift.abs)), "map_seq", {}, "the size of the array is N, no number"),
    ("to_local", glb, "map_glb/map", {}, "the pattern is not inside of map_wrg"),
    ("fetch_ahead", on(V)(lambda m, x: lift.to_global(x >> lift.map(lift.abs))), "to_global", {}, "to_global is not to_local"),
    ("fetch_ahead", on(M)(lambda m, x: x >> lift.map_wrg(lambda a: a >> lift.to_local(lift.map_lcl(lift.abs)) >> lift.map_lcl(lift.abs))), "map_wrg/to_local", {}, "it is not in a step of reduce_seq"),
    ("to_private", group, "map_wrg", {}, "no single work-item does it, inside of map_glb, map_lcl or map_lane"),
    ("to_global", on(V)(lambda m, x: x >> lift.to_global(lift.map_glb(lift.abs))), "map_glb", {}, "the result has a memory already"),
    ("vectorize", sums, "map", {}, "an argument is tensor<?xf32, #lift.sizes<M>>, no number"),
    ("vectorize", seven, "map", {}, "as_vector(4) needs 4 to divide the size of x, which is 7"),
    ("vectorize", x_map, "map", {"w": "n"}, "w of vectorize is a number, not n"),
    ("vectorize_arrays", sums, "map", {}, "there is no lift.reduce of vectors"),
    ("vectorize_arrays", on(V, lift.array("N", 4))(lambda m, x, y: lift.zip(y, x) >> lift.map(lambda a, k: a[lift.cast(k, lift.i32)])), "map", {}, "the index differs from lane to lane"),
    ("tuple_fission", on(V, V)(lambda m, x, y: lift.tuple(x, y >> lift.gather(lift.reverse)) >> lift.let(lambda t: lift.zip(*t) >> lift.map(lift.add))), "tuple", {}, "not all components are results of patterns of one value"),
    ("reduce_fusion", on(V, V)(lambda m, x, y: lift.tuple(x >> lift.reduce(lift.add, 0.0), y >> lift.reduce_seq(lift.add, 0.0)) >> lift.let(lambda t: t[0] + t[1])), "tuple", {}, "the reductions are of different kinds"),
    ("reduce_seq_map_fusion", on(V)(lambda m, x: x >> lift.map_glb(lift.abs) >> lift.reduce_seq(lift.add, 0.0)), "reduce_seq", {}, "map_glb is done by several"),
    ("reduce_map_fission", on(V)(lambda m, x: x >> lift.reduce_seq(lift.add, 0.0)), "reduce_seq", {}, "no op depends on the element alone"),
    ("split_join_map_seq", on(lift.array(7))(lambda m, x: x >> lift.map_seq(lift.abs)), "map_seq", {"n": 4}, "split(4) needs 4 to divide the size of x, which is 7"),
    ("split_join_both", on(lift.array(8, 7))(lambda m, x: x >> lift.map2(lift.abs)), "map", {"m": 4, "n": 4}, "split(4) needs 4 to divide the size of the result of transpose, which is 7"),
    ("join_of_split", on(V)(lambda m, x: x >> lift.split(4) >> lift.map_glb(lift.map(lift.abs)) >> lift.join), "join", {}, "map_glb and map are not both open"),
    ("partial_reduce", on(lift.array(7))(lambda m, x: x >> lift.reduce(lift.add, 0.0)), "reduce", {"n": 4}, "split(4) needs 4 to divide the size of x, which is 7"),
    ("reduce_seq_in_parts", on(lift.array(7))(lambda m, x: x >> lift.reduce_seq(lift.add, 0.0)), "reduce_seq", {"n": 4}, "split(4) needs 4 to divide the size of x, which is 7"),
    ("reduce_in_parts", on(lift.array(7))(lambda m, x: x >> lift.reduce(lift.add, 0.0)), "reduce", {"n": 4}, "partial_reduce: split(4) needs 4 to divide the size of x, which is 7"),
    ("map_map_transpose_zip_outside", zipped, "map", {}, "arith.mulf stands in the place of map(f)"),
    ("map_map_transpose_zip_outside", on(M, M)(lambda m, x, y: lift.zip(x, y) >> lift.map(lambda a, b: a >> lift.map(lambda c: c + a[0] + b[0]))), "map", {}, "the inner function takes all of component 0"),
    ("map_map_transpose_zip_inside", on(M)(lambda m, x: x >> lift.map(lambda a: lift.zip(a, a) >> lift.map(lift.mul))), "map", {}, "no single array of the zip depends on the outer element"),
    ("reduce_map_interchange", on(M, lift.array("M"))(lambda m, x, y: x >> lift.reduce_seq(lambda s, a: lift.zip(a, s) >> lift.map(lift.sub), y)), "reduce_seq", {}, "the function does not zip the accumulator with an element"),
    ("map_zip_reduce_interchange", on(M)(lambda m, x: x >> lift.map(lambda a: lift.zip(a, a) >> lift.reduce_seq(lambda s, t: s + t[0] * t[1], 0.0))), "map", {}, "no single array of the zip depends on the outer element"),
    ("empty_scatter", on(V)(lambda m, x: x >> lift.scatter(lift.reverse)), "scatter", {}, "i -> N - i - 1 is not the identity"),
    ("as_scalar_as_vector_identity", on(V)(lambda m, x: x >> lift.as_vector(2) >> lift.as_scalar >> lift.as_vector(4) >> lift.as_scalar), "as_vector.1", {}, "the vectors are of 2, not of 4"),
    ("empty_slice", on(V)(lambda m, x: x >> lift.slice(1, 3)), "slice", {}, "the array has N elements"),
    ("iterate_decomposition", on(lift.array(8))(lambda m, x: x >> lift.iterate(2, lift.split(2) >> lift.map(lift.reduce(lift.add, 0.0)))), "iterate", {"m": 1}, "the function changes the size of the array"),
    ("add_split_join", seven, "map", {"n": 4}, "split(4) needs 4 to divide the size of the result of map, which is 7"),
    ("add_join_split", x_map, "map", {}, "join takes an array of arrays, but the result of map holds f32"),
    ("add_vectors", seven, "map", {}, "as_vector(4) needs 4 to divide the size of the result of map, which is 7"),
    ("add_reorder", x_map, "map", {"s": 2}, "2 is not known to divide the size of the array, which is N"),
    ("reorder_both_sides", x_map, "map", {"s": 2}, "2 is not known to divide the size of the array, which is N"),
    ("slide_past_zip", on(V, V)(lambda m, x, y: lift.zip(x >> lift.slide(3, 1), y >> lift.pad(1, 0, lift.clamp) >> lift.slide(4, 1)) >> lift.map(lambda a, b: a[0] + b[0])), "zip", {}, "the windows are different"),
    ("slide2_tiling", on(M)(lambda m, x: x >> lift.slide2(3, 1)), "map.1", {"v": 2, "u": 5}, "u - v == n - s must hold: with v = 2, u is 4"),
    ("tile_stencil_2d", on(M)(lambda m, x: x >> lift.slide2(3, 1) >> lift.map2(lambda w: w[0][0])), "map.2", {"v": 2, "u": 5}, "u - v == n - s must hold: with v = 2, u is 4"),
    ("tile_stencil_2d_zip", on(M, M)(lambda m, x, y: lift.zip2(x, y) >> lift.map2(lift.add)), "map.1", {"v": 2}, "no array of the zip is of windows, or of several"),
    ("tile_stencil_3d", on(T)(lambda m, x: x >> lift.slide3(3, 1) >> lift.map3(lambda w: w[0][0][0])), "map.2", {"v": 2, "u": 5}, "u - v == n - s must hold: with v = 2, u is 4"),
    ("tile_stencil_25d", on(T)(lambda m, x: x >> lift.slide3(3, 1) >> lift.map3(lambda w: w[0][0][0])), "map.2", {"v": 2, "u": 5}, "u - v == n - s must hold: with v = 2, u is 4"),
    ("map_seq_slide_tiling", on(V)(lambda m, x: x >> lift.map_seq_slide(lift.reduce(lift.add, 0.0), 3, 1)), "map_seq_slide", {"v": 2, "u": 5}, "u - v == n - s must hold: with v = 2, u is 4"),
    ("add_identity_in_slide", on(V)(lambda m, x: x >> lift.map_seq_slide(lift.reduce(lift.add, 0.0), 3, 1)), "map_seq_slide", {}, "map takes an array, but an argument is f32"),
    ("tile_stencil", on(lift.array(9))(lambda m, x: x >> lift.slide(3, 1) >> lift.map(lift.reduce(lift.add, 0.0))), "map", {"v": 4}, "slide_tiling: the windows of slide(6, 4) do not end where x ends, which has 9 elements: slice it first"),
    ("map_seq_slide_2d", on(M)(lambda m, x: x >> lift.map(lift.slide(3, 1)) >> lift.slide(5, 1) >> lift.map(lift.transpose) >> lift.map2(lambda w: w[0][0])), "map.2", {}, "n is 5, but also 3"),
    ("reduce_seq_unroll", on(V)(lambda m, x: x >> lift.reduce_seq(lift.add, 0.0)), "reduce_seq", {}, "the size of the array is N, no number"),
    ("vectorize_zip", on(lift.array(7), lift.array(7))(lambda m, x, y: lift.zip(x, y) >> lift.map(lift.mul)), "map", {}, "as_vector(4) needs 4 to divide the size of x, which is 7"),
    ("vectorize_reduce", on(V)(lambda m, x: x >> lift.reduce(lambda a, b: a + 2.0 * b, 0.0)), "reduce", {}, "the function is not known to be commutative"),
    ("transpose_slide", on(M)(lambda m, x: x >> lift.slide(3, 1)), "slide", {}, "an input stands in the place of transpose"),
    ("add_identity_in_reduce", x_sum, "reduce", {}, "map takes an array, but a is f32"),
    ("add_identity_inside", x_map, "map", {}, "map takes an array, but a is f32"),
    ("add_identity", x_sum, "reduce", {}, "there is no array"),
    ("reshape_maps", on(lift.array(3, 7))(lambda m, x: x >> lift.map2(lift.abs)), "map", {"n": 4}, "split_join: split(4) needs 4 to divide the size of the result of join, which is 21"),
    ("reuse_from_map", on(V, lift.array(7))(lambda m, x, y: x >> lift.map(lambda a: y >> lift.map(lambda b: a * b))), "map", {"n": 4}, "split_join: split(4) needs 4 to divide the size of y, which is 7"),
    ("reuse_from_map", nested, "map", {"n": 2}, "map_map_interchange: a function that is moved uses an argument of the map around it"),
    ("block_rows", x_map, "map", {"n": 2}, "map_map_interchange: arith.addf stands in the place of any map(f); transpose_both_sides: arith.addf stands in the place of map(f); map_map_transpose_zip_inside: arith.addf stands in the place of map(f)"),
    ("tile_maps", nested, "map", {"m": 2, "n": 2}, "reuse_from_map: map_map_interchange: a function that is moved uses an argument of the map around it"),
    ("register_block_1d", product7, "map", {"n": 4}, "split_join: split(4) needs 4 to divide the size of x, which is 7"),
    ("register_block_2d", product7, "map", {"m": 4, "n": 4}, "tile_maps: split_join: split(4) needs 4 to divide the size of x, which is 7"),
    ("reuse_block_2d", product7, "map", {"m": 4, "n": 7}, "split_join: split(4) needs 4 to divide the size of x, which is 7"),
    ("hold_blocks_2d", product7, "map", {"m": 4, "n": 7, "p": 1, "q": 1, "k": 1}, "tile_maps: split_join: split(4) needs 4 to divide the size of x, which is 7"),
    ("add_transposed_identity_in_reduce", on(V, V)(lambda m, x, y: lift.zip(x, y) >> lift.reduce_seq(lambda s, t: s + t[0] * t[1], 0.0)), "reduce_seq", {"k": 2}, "the zip has 2 arrays"),
    ("reduce_zip_in_parts", on(lift.array(7), lift.array(7))(lambda m, x, y: lift.zip(x, y) >> lift.reduce_seq(lambda s, t: s + t[0] * t[1], 0.0)), "reduce_seq", {"k": 4}, "reduce_seq_in_parts: split(4) needs 4 to divide the size of the result of zip, which is 7"),
    ("finish_tiling", product7, "map", {"k": 4}, "reduce_zip_in_parts: reduce_seq_in_parts: split(4) needs 4 to divide the size of the result of zip, which is 7"),
    ("block_sums_1d", on(lift.array(7))(lambda m, x: x >> lift.reduce(lift.add, 0.0)), "reduce", {"n": 4}, "partial_reduce_strided: split(4) needs 4 to divide the size of x, which is 7"),
    ("block_sums_1d", x_map, "map", {"n": 4}, "there is no reduction"),
    ("tile_matrix_product", product7, "map", {"m": 4, "n": 4, "k": 4}, "tile_maps: split_join: split(4) needs 4 to divide the size of x, which is 7"),
    ("limit_groups", on(V)(lambda m, x: x >> lift.map_glb(lift.abs)), "map_glb", {"groups": 0}, "groups is 0, but there is one at least"),
    ("block_sums_2d", on(lift.array(7, 4, 2), lift.array(2))(lambda m, x, y: x >> lift.map2(lambda a: lift.zip(a, y) >> lift.reduce_seq(lambda s, t: s + t[0] * t[1], 0.0))), "map", {"m": 4, "n": 2, "k": 1}, "split_join: split(4) needs 4 to divide the size of x, which is 7"),
    ("reorder_terms", on(V, V)(lambda m, x, y: lift.zip(x, y) >> lift.map(lift.mul) >> lift.reduce(lambda a, b: a - b, 0.0)), "reduce", {"k": 4}, "the function is not known to be commutative"),
    ("reorder_terms", on(lift.array(7), lift.array(7))(lambda m, x, y: lift.zip(x, y) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)), "reduce", {"k": 4}, "the size of the pieces of split is 7 / 4; it must be an integer of at least 1"),
    ("block_strided_sums_2d", x_map, "map", {"m": 2, "n": 2, "k": 1}, "there is no function"),
    ("block_stencil_2d", x_map, "map", {"v": 4, "m": 2, "n": 2, "k": 1}, "tile_stencil_2d: arith.addf stands in the place of map(f)"),
    ("reduce_outermost", nested, "map", {}, "map_zip_reduce_interchange: arith.addf stands in the place of any reduction(f, e)"),
    ("move_reduce_out", x_map, "map", {}, "map_fission: the function has no 2 ops in a row"),
    ("interchange", x_map, "map", {}, "move_reduce_out: map_fission: the function has no 2 ops in a row"),
    ("search_linear", on(lift.array(6))(lambda m, x: x >> lift.search(lambda a: lift.cast(7.0 - a, lift.i32), -1.0, "linear")), "search", {}, "the search is linear already"),
    ("search_binary", on(lift.array(6))(lambda m, x: x >> lift.search(lambda a: lift.cast(7.0 - a, lift.i32), -1.0)), "search", {}, "the search is binary already"),
]  # fmt: skip

CONDITION = re.compile(
    r"require|NotApplicable|_is_in|_not_in|_has_no|_has_map|_not_kept|_searched|tile_size"
)
"""State conditions in the functions of rules."""


def test_every_condition_is_refused():
    """Rules with a condition or a size, and those that take any array, have a row above."""
    states = {
        name
        for name, rule in RULES.items()
        if CONDITION.search(inspect.getsource(rule.function))
        or any(p.annotation is Size for p in rule.parameters.values())
        or (isinstance(rule, Rule) and isinstance(rule.pattern, Anything))
    }
    assert states <= {row[0] for row in REFUSED}


def test_elsewhere():
    """All others refuse what they do not look for."""
    program = Derivation.of(lift.fun(M, lambda x: x[0]))
    looking = (
        r for r in RULES.values() if not (isinstance(r, Rule) and isinstance(r.pattern, Anything))
    )
    for rule in looking:
        with pytest.raises(Mismatch) as raised:
            program.apply(rule, "at", **dict.fromkeys(rule.parameters, 1))
        assert raised.value.message.startswith(f"at at, {rule.name}: ")


@pytest.mark.parametrize(
    ("rule", "example", "place", "sizes", "reason"), REFUSED, ids=[row[0] for row in REFUSED]
)
def test_refused(rule: str, example: Any, place: str, sizes: dict[str, Any], reason: str):
    from random_functions import Make

    program = Derivation.of(example.program(Make()))
    before = str(program.module)
    with pytest.raises(NotApplicable) as raised:
        program.apply(RULES[rule], place, **sizes)
    assert raised.value.message == f"at {place}, {rule}: {reason}"
    assert str(program.module) == before


def test_mistakes():
    from random_functions import Make

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
