"""For each rewrite rule, programs that it applies to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from random_functions import Make

from tiledialect import lift
from tiledialect.lift.program import Program
from tiledialect.lift.values import Value

SIZES = ({"N": 8, "M": 4, "K": 4}, {"N": 4, "M": 8, "K": 2})
"""Values for the names of sizes."""


V = lift.array("N")
M = lift.array("N", "M")
T = lift.array("N", "M", "K")


@dataclass(frozen=True)
class Example:
    """Programs that a rule applies to."""

    inputs: tuple[Any, ...]
    make: Callable[..., Any]
    """Makes the program's function of a ``Make`` and the inputs."""
    parameters: tuple[tuple[str, Any], ...] = ()
    before: tuple[str, ...] = ()
    """Steps that are done before, each ``rule at place``."""

    def program(self, make: Make, name: str = "f") -> Program:
        """A program."""
        names = [*"xyz"[: len(self.inputs)]]
        parameters = ", ".join(names)
        scope = {"made": self.make, "make": make}
        traced = eval(f"lambda {parameters}: made(make, {parameters})", scope)
        traced.__name__ = name
        return lift.fun(*self.inputs, traced)


def on(*inputs: Any, before: tuple[str, ...] = (), **parameters: Any) -> Callable[[Any], Example]:
    return lambda make: Example(inputs, make, tuple(parameters.items()), before)


def dot(x: Value, y: Value, reduced: Any = None) -> Value:
    """Sum of products."""
    products = lift.reduce_seq(lambda s, t: s + t[0] * t[1], 0.0)
    return lift.zip(x, y) >> (products if reduced is None else reduced)


def product(m: Make, x: Value, y: Value, reduced: Any = None) -> Value:
    """The product of matrices, the second transposed."""
    return x >> lift.map(lambda a: y >> lift.map(lambda b: dot(a, b, reduced)))


def in_parts(function: Any, initial: float) -> Any:
    """The reduction of what rows are reduced to."""
    return lift.map(lift.reduce(function, initial)) >> lift.reduce(function, initial)


def layer(m: Make, x: Value, y: Value, z: Value, reduced: Any = None) -> Value:
    """A product of matrices to whose elements a number for their column is added."""
    add = m.g()
    return x >> lift.map(
        lambda a: lift.zip(y, z) >> lift.map(lambda b, c: add(dot(a, b, reduced), c))
    )


A, B = lift.array("N", "K"), lift.array("M", "K")

EXAMPLES: dict[str, Example] = {
    # fusion
    "map_fusion": on(V)(lambda m, x: x >> lift.map(m.f()) >> lift.map(m.f())),
    "map_fission": on(V)(lambda m, x: x >> lift.map(lambda a: lift.abs(m.f()(a)))),
    "map_fission_zip": on(M)(
        lambda m, x: x >> lift.map(lambda a: lift.zip(a, m.row()(a)) >> lift.map(m.g()))
    ),
    "map_fission_in_zip": on(M, lift.array("M"))(
        lambda m, x, y: (
            x >> lift.map(lambda a: lift.zip(y, a >> lift.map(m.f())) >> lift.map(m.g()))
        )
    ),
    "map_fission_with_zip": on(V, V)(
        lambda m, x, y: lift.zip(x, y) >> lift.map(lambda a, b: m.g()(a, lift.abs(b)))
    ),
    "map_fusion_with_zip": on(V, V)(
        lambda m, x, y: lift.zip(x, y >> lift.map(m.f())) >> lift.map(m.g())
    ),
    "map_fusion_in_zip": on(V, V)(
        lambda m, x, y: lift.zip(x >> lift.map(m.f()), y >> lift.map(m.f())) >> lift.map_seq(m.g())
    ),
    "tuple_map": on(V, V)(
        lambda m, x, y: (
            lift.tuple(x >> lift.map(m.f()), y >> lift.map(m.f()))
            >> lift.let(lambda t: lift.zip(*t) >> lift.map(m.g()))
        )
    ),
    "tuple_fission": on(V, V)(
        lambda m, x, y: (
            lift.tuple(x >> lift.map(m.f()), y >> lift.gather(m.index()))
            >> lift.let(lambda t: lift.zip(*t) >> lift.map(m.g()))
        )
    ),
    "reduce_fusion": on(V, V)(
        lambda m, x, y: (
            lift.tuple(x >> m.reduce(), y >> m.reduce()) >> lift.let(lambda t: t[0] - t[1])
        )
    ),
    "reduce_map_fusion": on(V)(lambda m, x: x >> lift.map(m.f()) >> m.reduce()),
    "reduce_seq_map_fusion": on(V)(
        lambda m, x: x >> lift.map_seq(m.f()) >> m.reduce(lift.reduce_seq)
    ),
    "reduce_map_fission": on(V)(
        lambda m, x: x >> lift.reduce_seq(lambda s, a: s + lift.abs(a), 0.0)
    ),
    "map_reduce_fission": on(A, B, lift.array("M"))(layer),
    "extract_from_map": on(V, V)(
        lambda m, x, y: x >> lift.map(lambda a: m.g()(a, y >> m.reduce()))
    ),
    "let_inlining": on(V)(
        lambda m, x: x >> m.reduce() >> lift.let(lambda s: x >> lift.map(lambda a: m.g()(a, s)))
    ),
    # split_join
    "split_join": on(V, n=4)(lambda m, x: x >> lift.map(m.f())),
    "map_ends": on(V, n=1)(lambda m, x: x >> lift.map(m.f())),
    "split_join_map_seq": on(V, n=4)(lambda m, x: x >> lift.map_seq(m.f())),
    "join_split": on(M)(lambda m, x: x >> lift.map2(m.f())),
    "split_join_both": on(M, m=4, n=2)(lambda m, x: x >> lift.map2(m.f())),
    "tile_transpose": on(M, m=2, n=4)(lambda m, x: x >> lift.transpose >> lift.map2(m.f())),
    "partial_reduce": on(V, n=4)(lambda m, x: x >> m.reduce()),
    "reduce_seq_in_parts": on(V, n=4)(lambda m, x: x >> lift.reduce_seq(lambda s, a: a - s, 0.0)),
    "partial_reduce_strided": on(V, n=4)(lambda m, x: x >> m.reduce()),
    "reorder_terms": on(V, V, k=4)(
        lambda m, x, y: lift.zip(x, y) >> lift.map(m.g()) >> lift.reduce(lift.add, 0.0)
    ),
    "reduce_reorder": on(lift.array("4 * N"), s=4)(lambda m, x: x >> m.reduce()),
    "join_of_split": on(V)(lambda m, x: x >> lift.split(2) >> lift.map2(m.f()) >> lift.join),
    # interchange
    "map_map_interchange": on(V, lift.array("M"))(
        lambda m, x, y: x >> lift.map(lambda a: y >> lift.map(lambda b: m.g()(a, b)))
    ),
    "transpose_both_sides": on(M)(lambda m, x: x >> lift.map2(m.f())),
    "map_map_transpose_zip_outside": on(M, V)(
        lambda m, x, y: (
            lift.zip(x, y) >> lift.map(lambda a, b: a >> lift.map(lambda c: m.g()(c, b)))
        )
    ),
    "map_map_transpose_zip_inside": on(M, lift.array("M"))(
        lambda m, x, y: x >> lift.map(lambda a: lift.zip(m.row()(a), y) >> lift.map(m.g()))
    ),
    "map_reduce_interchange": on(M)(
        lambda m, x: (
            x >> lift.map(lambda a: a >> lift.reduce_seq(lift.add, m.random.choice([0.0, a[0]])))
        )
    ),
    "map_reduce_interchange_zip": on(V, M)(
        lambda m, x, y: lift.zip(x, y) >> lift.map(lambda s, a: a >> lift.reduce_seq(m.g(), s))
    ),
    "map_reduce_partial_reduce": on(T)(
        lambda m, x: x >> lift.map(in_parts(*m.random.choice([(lift.add, 0.0), (lift.max, -1e9)])))
    ),
    "reduce_map_interchange": on(M, lift.array("M"))(
        lambda m, x, y: x >> lift.reduce_seq(lambda s, a: lift.zip(s, a) >> lift.map(m.g()), y)
    ),
    "map_zip_reduce_interchange": on(M, lift.array("M"))(
        lambda m, x, y: (
            x
            >> lift.map(
                lambda a: (
                    lift.zip(a, y)
                    >> lift.reduce_seq(
                        lambda s, t: s + m.g()(t[0], t[1]), m.random.choice([0.0, a[1]])
                    )
                )
            )
        )
    ),
    # cancellation
    "split_join_identity": on(V)(lambda m, x: x >> lift.split(4) >> lift.join >> lift.map(m.f())),
    "join_split_identity": on(M)(
        lambda m, x: x >> lift.join >> lift.split("M") >> lift.map2(m.f())
    ),
    "transpose_transpose_identity": on(M)(lambda m, x: x >> lift.transpose >> lift.transpose),
    "scatter_gather_identity": on(V)(
        lambda m, x: (i := m.index()) and x >> lift.scatter(i) >> lift.gather(i)
    ),
    "gather_scatter_identity": on(V)(
        lambda m, x: (i := m.index()) and x >> lift.gather(i) >> lift.scatter(i)
    ),
    "empty_gather": on(V)(lambda m, x: x >> lift.gather(lambda i: i)),
    "empty_scatter": on(V)(lambda m, x: x >> lift.scatter(lambda i: i)),
    "as_vector_as_scalar_identity": on(V)(lambda m, x: x >> lift.as_vector(4) >> lift.as_scalar),
    "as_scalar_as_vector_identity": on(V)(
        lambda m, x: (
            x
            >> lift.as_vector(2)
            >> lift.as_scalar
            >> lift.as_vector(2)
            >> lift.map(lift.map_vec(m.f()))
            >> lift.as_scalar
        )
    ),
    "empty_map": on(V)(lambda m, x: x >> m.random.choice([lift.map, lift.map_seq])(lift.id)),
    "empty_pad": on(V)(lambda m, x: x >> lift.pad(0, 0, m.boundary())),
    "empty_slice": on(V)(lambda m, x: x >> lift.slice(0, "N")),
    "slide_to_split": on(V)(lambda m, x: x >> lift.slide(4, 4)),
    "split_to_slide": on(V)(lambda m, x: x >> lift.split(4)),
    "iterate_zero": on(V)(lambda m, x: x >> lift.iterate(0, lift.map(m.f()))),
    "iterate_one": on(V)(lambda m, x: x >> lift.iterate(1, lift.map(m.f()))),
    "iterate_decomposition": on(V, m=1)(
        lambda m, x: x >> lift.iterate(3, lift.map(lambda a: 3.0 - a))
    ),
    "get_tuple": on(V, V)(lambda m, x, y: lift.tuple(x, y) >> lift.get(m.random.choice([0, 1]))),
    "get_zip": on(V, V)(lambda m, x, y: lift.zip(x, y) >> lift.map(lift.get(1))),
    "zip_duplicate": on(V, V)(
        lambda m, x, y: (
            lift.zip(x, m.random.choice([x, y]), x) >> lift.map(lambda a, b, c: a * b - c)
        )
    ),
    "zip_unused": on(V, V)(lambda m, x, y: lift.zip(x, y) >> lift.map(lambda a, b: m.f()(b))),
    "zip_flatten": on(V, V)(
        lambda m, x, y: lift.zip(lift.zip(x, y), y) >> lift.map(lambda p, b: m.g()(p[0], p[1]) - b)
    ),
    "add_identity": on(V)(lambda m, x: x >> lift.map(m.f())),
    "add_identity_inside": on(M)(
        lambda m, x: x >> m.random.choice([lift.map, lift.map_wrg])(m.reduce())
    ),
    "add_transposed_identity_inside": on(T)(
        lambda m, x: (
            x >> m.random.choice([lift.map, lift.map_wrg])(lift.map(m.reduce()) >> m.reduce())
        )
    ),
    "add_identity_in_reduce": on(lift.array("N", 4), lift.array(4))(
        lambda m, x, y: x >> lift.reduce_seq(lambda s, a: lift.zip(s, a) >> lift.map(m.g()), y)
    ),
    "add_identity_in_slide": on(lift.array("N", 4))(
        lambda m, x: x >> lift.map_seq_slide(lift.join >> m.reduce(), 3, 1)
    ),
    "add_transposed_identity_in_reduce": on(T, V, k=0)(
        lambda m, x, y: (
            lift.zip(x, y)
            >> lift.reduce_seq(
                lambda s, t: s + t[1] * (t[0] >> lift.map(m.reduce()) >> m.reduce()), 0.0
            )
        )
    ),
    "add_transposes": on(M)(lambda m, x: x >> lift.map2(m.f())),
    "add_split_join": on(V, n=2)(lambda m, x: x >> lift.map(m.f())),
    "add_join_split": on(M)(lambda m, x: x >> lift.map2(m.f())),
    "add_vectors": on(V, w=2)(lambda m, x: x >> lift.map(m.f())),
    "add_reorder": on(lift.array("4 * N"), s=4)(lambda m, x: x >> lift.map(m.f())),
    "kept_twice": on(V)(lambda m, x: x >> lift.to_global(lift.to_global(lift.map(m.f())))),
    # reordering
    "join_past_map": on(M)(lambda m, x: x >> lift.join >> lift.map(m.f())),
    "map_past_join": on(M)(lambda m, x: x >> lift.map2(m.f()) >> lift.join),
    "map_past_split": on(V)(lambda m, x: x >> lift.map(m.f()) >> lift.split(4)),
    "split_past_map": on(V)(lambda m, x: x >> lift.split(4) >> lift.map2(m.f())),
    "map_past_slide": on(V)(lambda m, x: x >> lift.map(m.f()) >> lift.slide(3, 1)),
    "slide_past_map": on(V)(lambda m, x: x >> lift.slide(4, 2) >> lift.map2(m.f())),
    "map_past_transpose": on(M)(lambda m, x: x >> lift.map2(m.f()) >> lift.transpose),
    "transpose_past_map": on(M)(lambda m, x: x >> lift.transpose >> lift.map2(m.f())),
    "map_past_pad": on(V)(lambda m, x: x >> lift.map(m.f()) >> lift.pad(1, 2, m.boundary())),
    "pad_past_map": on(V)(lambda m, x: x >> lift.pad(2, 1, m.boundary()) >> lift.map(m.f())),
    "map_past_slice": on(M)(lambda m, x: x >> lift.map(m.row()) >> lift.slice(1, 3)),
    "map_past_gather": on(V)(lambda m, x: x >> lift.map(m.f()) >> lift.gather(m.index())),
    "gather_past_map": on(V)(lambda m, x: x >> lift.gather(m.index()) >> lift.map(m.f())),
    "map_past_scatter": on(V)(lambda m, x: x >> lift.map(m.f()) >> lift.scatter(m.index())),
    "scatter_past_map": on(V)(lambda m, x: x >> lift.scatter(m.index()) >> lift.map(m.f())),
    "reorder_both_sides": on(lift.array("4 * N"), s=4)(lambda m, x: x >> lift.map(m.f())),
    "concat_past_map": on(V, lift.array("M"))(lambda m, x, y: lift.concat(x, y) >> lift.map(m.f())),
    "transpose_map_split": on(M)(lambda m, x: x >> lift.transpose >> lift.map(lift.split(4))),
    "split_map_transpose": on(M)(lambda m, x: x >> lift.split(4) >> lift.map(lift.transpose)),
    "map_split_transpose": on(M)(lambda m, x: x >> lift.map(lift.split(2)) >> lift.transpose),
    "transpose_split": on(M)(lambda m, x: x >> lift.transpose >> lift.split(2)),
    "three_transposes": on(T)(
        lambda m, x: x >> lift.map(lift.transpose) >> lift.transpose >> lift.map(lift.transpose)
    ),
    "map_join_transpose": on(T)(lambda m, x: x >> lift.map(lift.join) >> lift.transpose),
    "join_transpose": on(T)(lambda m, x: x >> lift.join >> lift.transpose),
    "map_join_join": on(T)(lambda m, x: x >> lift.map(lift.join) >> lift.join),
    "join_join": on(T)(lambda m, x: x >> lift.join >> lift.join),
    "split_split": on(V)(lambda m, x: x >> lift.split(2) >> lift.split(2)),
    "transpose_map_slide": on(M)(lambda m, x: x >> lift.transpose >> lift.map(lift.slide(3, 1))),
    "map_slide_transpose": on(M)(lambda m, x: x >> lift.map(lift.slide(4, 2)) >> lift.transpose),
    "transpose_slide": on(lift.array("N", "M"))(
        lambda m, x: x >> lift.transpose >> lift.slide(3, 1)
    ),
    "gather_transpose": on(M)(lambda m, x: x >> lift.gather(m.index()) >> lift.transpose),
    "scatter_transpose": on(M)(lambda m, x: x >> lift.scatter(m.index()) >> lift.transpose),
    "transposes_gather": on(T)(
        lambda m, x: x >> lift.transpose >> lift.map(lift.transpose >> lift.gather(m.index()))
    ),
    "zip_past_split": on(V, V)(lambda m, x, y: lift.zip(x, y) >> lift.split(4) >> lift.map2(m.g())),
    "join_past_zip": on(M, M)(
        lambda m, x, y: lift.zip(x >> lift.join, y >> lift.join) >> lift.map(m.g())
    ),
    "slide_past_zip": on(V, V)(
        lambda m, x, y: (
            lift.zip(x >> lift.slide(3, 1), y >> lift.slide(3, 1))
            >> lift.map(lambda a, b: lift.zip(a, b) >> lift.map(m.g()))
        )
    ),
    "search_linear": on(lift.array(6, "K"))(
        lambda m, x: x[0] >> lift.search(lambda a: lift.cast(7.0 - a, lift.i32), -1.0)
    ),
    "search_binary": on(lift.array(6, "K"))(
        lambda m, x: x[0] >> lift.search(lambda a: lift.cast(7.0 - a, lift.i32), -1.0, "linear")
    ),
    # stencil
    "slide_tiling": on(V, v=2)(lambda m, x: x >> lift.pad(1, 1, m.boundary()) >> lift.slide(3, 1)),
    "slide2_tiling": on(M, v=2)(
        lambda m, x: x >> lift.pad2(1, 1, m.boundary()) >> lift.slide2(3, 1)
    ),
    "tile_stencil_2d": on(M, v=4)(
        lambda m, x: (
            x
            >> lift.pad2(1, 1, m.boundary())
            >> lift.slide2(3, 1)
            >> lift.map2(lift.join >> m.reduce())
        )
    ),
    "tile_stencil_2d_zip": on(M, M, v=2)(
        lambda m, x, y: (
            lift.zip2(x >> lift.pad2(1, 1, m.boundary()) >> lift.slide2(3, 1), y)
            >> lift.map2(lambda w, a: m.g()(w >> lift.join >> m.reduce(), a))
        )
    ),
    "tile_stencil_3d": on(lift.array(4, 2, 2), v=2)(
        lambda m, x: (
            x
            >> lift.pad3(1, 1, m.boundary())
            >> lift.slide3(3, 1)
            >> lift.map3(lift.join >> lift.join >> m.reduce())
        )
    ),
    "tile_stencil_25d": on(lift.array(4, 2, 4), v=2, w=4)(
        lambda m, x: (
            x
            >> lift.pad3(1, 1, m.boundary())
            >> lift.slide3(3, 1)
            >> lift.map3(lift.join >> lift.join >> m.reduce())
        )
    ),
    "map_seq_slide": on(V)(lambda m, x: x >> lift.slide(4, 2) >> lift.map(m.reduce())),
    "map_seq_slide_2d": on(M)(
        lambda m, x: (
            x
            >> lift.pad2(1, 1, m.boundary())
            >> lift.slide2(3, 1)
            >> lift.map2(lambda w: w[0][1] - w[2][0] * w[1][2])
        )
    ),
    "map_seq_slide_tiling": on(V, v=2)(
        lambda m, x: x >> lift.pad(1, 1, m.boundary()) >> lift.map_seq_slide(m.reduce(), 3, 1)
    ),
    "map_seq_slide_seq": on(V)(lambda m, x: x >> lift.slide(3, 1) >> lift.map_seq(m.reduce())),
    # opencl
    "map_glb": on(V, dim=0)(lambda m, x: x >> lift.map(m.f())),
    "map_wrg": on(M, dim=1)(lambda m, x: x >> lift.map2(m.f())),
    "limit_groups": on(V, groups=2)(
        lambda m, x: x >> m.random.choice([lift.map_glb(m.f()), lift.map_glb(1)(m.f())])
    ),
    "map_lcl": on(M, dim=0)(lambda m, x: x >> lift.map_wrg(lift.map(m.f()))),
    "map_warp": on(M)(lambda m, x: x >> lift.map2(m.f())),
    "map_lane": on(M)(lambda m, x: x >> lift.map_warp(lift.map(m.f()))),
    "map_seq": on(V)(lambda m, x: x >> lift.map(m.f())),
    "map_seq_unroll": on(lift.array("N", 4))(lambda m, x: x >> lift.map_glb(lift.map_seq(m.f()))),
    "reduce_seq": on(V)(lambda m, x: x >> m.reduce()),
    "reduce_seq_unroll": on(lift.array("N", 3))(
        lambda m, x: x >> lift.map_glb(m.reduce(lift.reduce_seq))
    ),
    "to_global": on(V)(lambda m, x: x >> lift.map_glb(m.f())),
    "to_local": on(M)(lambda m, x: x >> lift.map_wrg(lift.map_lcl(m.f()))),
    "fetch_ahead": on(lift.array("N", 8, 4))(
        lambda m, x: (
            x
            >> lift.map_wrg(
                lift.reduce_seq(
                    lambda s, row: s + (row >> lift.map_lcl(m.f()) >> lift.to_local)[0], 0.0
                )
            )
        )
    ),
    "to_private": on(M)(lambda m, x: x >> lift.map_glb(m.reduce(lift.reduce_seq))),
    "vectorize": on(V, w=4)(lambda m, x: x >> lift.map(m.f())),
    "vectorize_zip": on(V, V, w=2)(lambda m, x, y: lift.zip(x, y) >> lift.map(m.g())),
    "vectorize_arrays": on(V, lift.array("N", 2), w=4)(
        lambda m, x, y: (
            lift.zip(x >> lift.pad(1, 1, m.boundary()) >> lift.slide(3, 1), y)
            >> lift.map(lambda a, b: m.g()(a[0], a[2]) + m.f()(b[1]))
        )
    ),
    "vectorize_function": on(V)(
        lambda m, x: x >> lift.as_vector(4) >> lift.map(lift.map_vec(m.f())) >> lift.as_scalar
    ),
    "vectorize_reduce": on(V, w=4)(lambda m, x: x >> m.reduce()),
    "dot": on(V, V)(
        lambda m, x, y: (
            lift.zip(x >> lift.as_vector(4), y >> lift.as_vector(4))
            >> lift.map(lift.mul)
            >> lift.as_scalar
            >> lift.reduce(lift.add, 0.0)
        )
    ),
    "vectors_past_reduce": on(lift.array("N", 4), lift.array(4))(
        lambda m, x, y: (
            x
            >> m.random.choice([lift.reduce, lift.reduce_seq])(
                lambda s, a: (
                    lift.zip(s >> lift.as_vector(2), a >> lift.as_vector(2))
                    >> lift.map(m.random.choice([lift.add, lift.mul]))
                    >> lift.as_scalar
                ),
                y,
            )
        )
    ),
    # macros
    "reshape_maps": on(M, n=2)(lambda m, x: x >> lift.map2(m.f())),
    "block_rows": on(M, n=2)(lambda m, x: x >> lift.map2(m.f())),
    "reuse_from_map": on(V, M, n=2)(
        lambda m, x, y: x >> lift.map(lambda a: y >> lift.map(lambda b: b[0] * a))
    ),
    "finish_tiling": on(A, B, k=2)(product),
    "simplify": on(M, V)(
        lambda m, x, y: (
            lift.zip(x >> lift.transpose >> lift.transpose >> lift.map(lift.id), y)
            >> lift.map(lambda a, b: m.f()(b))
        )
    ),
    "fuse": on(V, V)(
        lambda m, x, y: lift.zip(x, y) >> lift.map(m.g()) >> lift.map(m.f()) >> m.reduce()
    ),
    "fuse_parts": on(V)(
        lambda m, x: x >> lift.map(m.f()) >> lift.split(4) >> lift.map(m.reduce()) >> m.reduce()
    ),
    "tile_stencil": on(V, v=4)(
        lambda m, x: x >> lift.pad(1, 1, m.boundary()) >> lift.slide(3, 1) >> lift.map(m.reduce())
    ),
    "tile_maps": on(V, lift.array("M"), m=4, n=2)(
        lambda m, x, y: x >> lift.map(lambda a: y >> lift.map(lambda b: m.g()(a, b)))
    ),
    "move_reduce_out": on(M)(
        lambda m, x: x >> lift.map(lambda a: a >> lift.gather(lift.reverse) >> m.reduce())
    ),
    "interchange": on(M)(lambda m, x: x >> lift.map(m.reduce())),
    "reduce_outermost": on(A, B)(product),
    "register_block_1d": on(A, B, n=2)(product),
    "register_block_2d": on(A, B, m=4, n=2)(product),
    "reuse_block_2d": on(A, B, m=4, n=2)(product),
    "reduce_zip_in_parts": on(V, V, k=4)(
        lambda m, x, y: lift.zip(x, y) >> lift.reduce_seq(lambda s, t: s + m.g()(t[0], t[1]), 0.0)
    ),
    "tile_matrix_product": on(A, B, m=4, n=2, k=2)(product),
    "hold_blocks_2d": on(A, B, m=4, n=2, p=2, q=1, k=2)(product),
    "block_sums_2d": on(T, lift.array("K"), m=4, n=2, k=2)(
        lambda m, x, y: x >> lift.map(lambda rows: rows >> lift.map(lambda a: dot(a, y)))
    ),
    "block_sums_1d": on(M, n=2)(
        lambda m, x: (
            x
            >> lift.map(
                lambda a: (
                    a
                    >> m.reduce()
                    >> lift.let(lambda s: a >> lift.map(lambda b: m.g()(b, s)) >> m.reduce())
                )
            )
        )
    ),
    "block_strided_sums_2d": on(T, lift.array("K"), m=4, n=2, k=2)(
        lambda m, x, y: (
            x
            >> lift.map2(lambda a: lift.zip(a, y) >> lift.map(m.g()) >> lift.reduce(lift.add, 0.0))
        )
    ),
    "block_stencil_2d": on(M, lift.array(3, 3), v=4, m=2, n=4, k=3)(
        lambda m, x, y: (
            x
            >> lift.pad2(1, 1, m.boundary())
            >> lift.slide2(3, 1)
            >> lift.map2(
                lambda w: (
                    lift.zip(w >> lift.join, y >> lift.join)
                    >> lift.map(m.g())
                    >> lift.reduce(lift.add, 0.0)
                )
            )
        )
    ),
    "reduce_in_parts": on(V, n=4)(lambda m, x: x >> lift.map(m.f()) >> m.reduce()),
}
