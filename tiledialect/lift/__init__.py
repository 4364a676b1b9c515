"""Lift: programs as compositions of patterns over arrays.

>>> from tiledialect import lift
>>> @lift.fun
... def stencil(input: lift.array("N")):
...     return input >> lift.pad(1, 1, lift.clamp) >> lift.slide(3, 1) >> lift.map(
...         lift.reduce(lift.add, 0.0)
...     )
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    ModuleOp,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)

from tiledialect.lift.dimensions import (
    map2,
    map3,
    pad2,
    pad3,
    pad_constant2,
    pad_constant3,
    slide2,
    slide3,
    zip2,
    zip3,
)
from tiledialect.lift.functions import (
    Function,
    abs,
    add,
    ceil,
    compose,
    cos,
    div,
    erf,
    exp,
    expm1,
    floor,
    id,
    log,
    log1p,
    max,
    min,
    mul,
    neg,
    pow,
    rsqrt,
    sin,
    sqrt,
    sub,
    tan,
    tanh,
)
from tiledialect.lift.layouts import (
    as_scalar,
    as_vector,
    clamp,
    concat,
    gather,
    join,
    mirror,
    pad,
    pad_constant,
    reorder_stride,
    reverse,
    scatter,
    slice,
    slide,
    split,
    transpose,
    transposition,
    wrap,
)
from tiledialect.lift.numpy_names import PUBLIC
from tiledialect.lift.patterns import (
    at,
    generate,
    get,
    iterate,
    let,
    map,
    map_glb,
    map_lane,
    map_lcl,
    map_seq,
    map_seq_slide,
    map_seq_unroll,
    map_vec,
    map_warp,
    map_wrg,
    reduce,
    reduce_seq,
    reduce_seq_unroll,
    search,
    size,
    to_global,
    to_local,
    to_private,
    unzip,
    zip,
)
from tiledialect.lift.patterns import (
    tuple_ as tuple,
)
from tiledialect.lift.program import Program, array, fun
from tiledialect.lift.selection import where
from tiledialect.lift.values import Value, cast

if TYPE_CHECKING:
    from tiledialect.passes.lift import Macro, Rule


def check(
    rule: Rule | Macro,
    *,
    trials: int = 100,
    seed: int = 0,
    programs: Sequence[Program | ModuleOp] = (),
) -> int:
    """Try a rewrite rule on programs at random; the number of programs to which it was applied.

    The programs are made of the rule's pattern. Their results before and after are compared by the
    reference semantics, for small integers as inputs. ``programs`` are tried, too, with small sizes
    for the names that they leave open.

    Raises:
        TileError: the rule changes the meaning of a program, which is shown; or it applies to
            none, so that nothing was compared.

    Example:
    ```python
    assert lift.check(RULES["split_join"], trials=10) == 10
    ```
    """
    from tiledialect.passes.lift.rules.check import check

    return check(rule, trials=trials, seed=seed, programs=programs)


__all__ = [
    "Function",
    "Program",
    "Value",
    "abs",
    "add",
    "array",
    "as_scalar",
    "as_vector",
    "at",
    "bf16",
    "cast",
    "ceil",
    "check",
    "clamp",
    "compose",
    "concat",
    "cos",
    "div",
    "erf",
    "exp",
    "expm1",
    "f16",
    "f32",
    "f64",
    "floor",
    "fun",
    "gather",
    "generate",
    "get",
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
    "id",
    "iterate",
    "join",
    "let",
    "log",
    "log1p",
    "map",
    "map2",
    "map3",
    "map_glb",
    "map_lane",
    "map_lcl",
    "map_seq",
    "map_seq_slide",
    "map_seq_unroll",
    "map_vec",
    "map_warp",
    "map_wrg",
    "max",
    "min",
    "mirror",
    "mul",
    "neg",
    "pad",
    "pad2",
    "pad3",
    "pad_constant",
    "pad_constant2",
    "pad_constant3",
    "pow",
    "reduce",
    "reduce_seq",
    "reduce_seq_unroll",
    "reorder_stride",
    "reverse",
    "rsqrt",
    "scatter",
    "search",
    "sin",
    "size",
    "slice",
    "slide",
    "slide2",
    "slide3",
    "split",
    "sqrt",
    "sub",
    "tan",
    "tanh",
    "to_global",
    "to_local",
    "to_private",
    "transpose",
    "transposition",
    "tuple",
    "unzip",
    "where",
    "wrap",
    "zip",
    "zip2",
    "zip3",
]

PUBLIC.update(__all__)
