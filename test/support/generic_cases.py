"""Functions of linalg.generic, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from linalg_cases import Array, Case


def generic(
    name: str,
    inputs: Sequence[tuple[str, str]],
    output: tuple[str, str],
    dims: str,
    kinds: str,
    body: str,
    meaning: Callable[..., Array],
    before: str = "",
) -> Case:
    """A generic op: types and maps of inputs and output, loops, `p` and `r` for their kinds."""
    operands = [*inputs, output]
    names = [f"%x{k}" for k in range(len(operands))]
    types = [f"tensor<{t}>" for t, _ in operands]
    maps = ", ".join(f"affine_map<({dims}) -> ({m})>" for _, m in operands)
    iterators = ", ".join('"parallel"' if k == "p" else '"reduction"' for k in kinds)
    scalars = [t.split("x")[-1] for t, _ in operands]
    letters = [f"%{'abcdef'[k]}" for k in range(len(inputs))] + ["%o"]
    arguments = ", ".join(f"{n}: {t}" for n, t in zip(letters, scalars, strict=True))
    ins = f"ins({', '.join(names[:-1])} : {', '.join(types[:-1])})" if inputs else ""
    text = (
        f"{before}  %r = linalg.generic {{indexing_maps = [{maps}], "
        f"iterator_types = [{iterators}]}}\n    {ins} outs({names[-1]} : {types[-1]}) {{\n"
        f"  ^bb0({arguments}):\n{body}\n  }} -> {types[-1]}"
    )
    header = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
    return Case(f"generic_{name}", header, types[-1], text, meaning)


def _ops(*lines: str) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _sum(value: str, t: str = "f32") -> tuple[str, str]:
    return f"%s = arith.addf %o, {value} : {t}", f"linalg.yield %s : {t}"


def _argmax_like(a: Array, o: Array) -> Array:
    return np.fmax(o, np.fmax.reduce(a, 1))


GENERICS: Sequence[Case] = (
    generic(
        "window",
        [("11xf32", "2 * i + j"), ("3xf32", "j")],
        ("5xf32", "i"),
        "i, j",
        "pr",
        _ops("%m = arith.mulf %a, %b : f32", *_sum("%m")),
        lambda a, b, o: o + np.array([(a[2 * i : 2 * i + 3] * b).sum() for i in range(5)]),
    ),
    generic(
        "reverse",
        [("6xf32", "5 - i")],
        ("6xf32", "i"),
        "i",
        "p",
        _ops("linalg.yield %a : f32"),
        lambda a, o: a[::-1],
    ),
    generic(
        "antidiagonals",
        [("3x4xf32", "i, j")],
        ("6xf32", "i + j"),
        "i, j",
        "rr",
        _ops(*_sum("%a")),
        lambda a, o: o + np.array([np.trace(a[:, ::-1], 3 - k) for k in range(6)]),
    ),
    generic(
        "diagonal",
        [("4x4xf32", "i, i")],
        ("4xf32", "i"),
        "i",
        "p",
        _ops("linalg.yield %a : f32"),
        lambda a, o: np.diagonal(a),
    ),
    generic(
        "strided_write",
        [("3xf32", "i")],
        ("7xf32", "2 * i + 1"),
        "i",
        "p",
        _ops("linalg.yield %a : f32"),
        lambda a, o: np.array([o[0], a[0], o[2], a[1], o[4], a[2], o[6]]),
    ),
    generic(
        "constant_axis",
        [("3x4xf32", "1, i")],
        ("1x4xf32", "0, i"),
        "i",
        "p",
        _ops("%m = arith.mulf %a, %o : f32", "linalg.yield %m : f32"),
        lambda a, o: a[1:2] * o,
    ),
    generic(
        "bias",
        [("4x5xf32", "i, j"), ("5xf32", "j"), ("4xf32", "i")],
        ("5x4xf32", "j, i"),
        "i, j",
        "pp",
        _ops(
            "%s = arith.addf %a, %b : f32",
            "%t = arith.mulf %s, %c : f32",
            "linalg.yield %t : f32",
        ),
        lambda a, b, c, o: ((a + b) * c[:, None]).T,
    ),
    generic(
        "exp_product",
        [("4x6xf32", "i, k"), ("6x5xf32", "k, j"), ("6xf32", "k")],
        ("4x5xf32", "i, j"),
        "i, j, k",
        "ppr",
        _ops(
            "%e = math.exp %a : f32",
            "%m = arith.mulf %e, %b : f32",
            "%n = arith.mulf %m, %c : f32",
            *_sum("%n"),
        ),
        lambda a, b, c, o: o + np.exp(a) * c @ b,
    ),
    generic(
        "difference",
        [("4x6xf32", "i, k"), ("5x6xf32", "j, k")],
        ("4x5xf32", "i, j"),
        "i, j, k",
        "ppr",
        _ops(
            "%d = arith.subf %a, %b : f32",
            "%m = arith.mulf %d, %d : f32",
            *_sum("%m"),
        ),
        lambda a, b, o: o + ((a[:, None] - b[None]) ** 2).sum(2),
    ),
    generic(
        "subtracted",
        [("4x6xf32", "i, k")],
        ("4xf32", "i"),
        "i, k",
        "pr",
        _ops("%s = arith.subf %o, %a : f32", "linalg.yield %s : f32"),
        lambda a, o: o - a.sum(1),
    ),
    generic(
        "fused",
        [("4x6xf32", "i, k"), ("6xf32", "k")],
        ("4xf32", "i"),
        "i, k",
        "pr",
        _ops("%s = math.fma %a, %b, %o : f32", "linalg.yield %s : f32"),
        lambda a, b, o: o + a @ b,
    ),
    generic(
        "two_terms",
        [("4x6xf32", "i, k"), ("6xf32", "k")],
        ("4xf32", "i"),
        "i, k",
        "pr",
        _ops(
            "%s = arith.addf %o, %a : f32",
            "%t = arith.addf %s, %b : f32",
            "linalg.yield %t : f32",
        ),
        lambda a, b, o: o + a.sum(1) + b.sum(),
    ),
    generic(
        "count",
        [("4x6xf32", "i, k")],
        ("4xf32", "i"),
        "i, k",
        "pr",
        _ops("%c = arith.constant 0.5 : f32", *_sum("%c")),
        lambda a, o: o + 3,
    ),
    generic(
        "largest_number",
        [("4x6xf32", "i, k")],
        ("4xf32", "i"),
        "i, k",
        "pr",
        _ops("%m = arith.maxnumf %a, %o : f32", "linalg.yield %m : f32"),
        _argmax_like,
    ),
    generic(
        "chosen_larger",
        [("4x6xf32", "i, k")],
        ("4xf32", "i"),
        "i, k",
        "pr",
        _ops(
            "%c = arith.cmpf ogt, %a, %o : f32",
            "%m = arith.select %c, %a, %o : f32",
            "linalg.yield %m : f32",
        ),
        _argmax_like,
    ),
    generic(
        "unsigned_least",
        [("4x6xi8", "i, k")],
        ("4xi8", "i"),
        "i, k",
        "pr",
        _ops("%m = arith.minui %a, %o : i8", "linalg.yield %m : i8"),
        lambda a, o: np.minimum(o.view("u1"), a.view("u1").min(1)).view("i1"),
    ),
    generic(
        "any",
        [("4x6xi1", "i, k")],
        ("4xi1", "i"),
        "i, k",
        "pr",
        _ops("%m = arith.ori %a, %o : i1", "linalg.yield %m : i1"),
        lambda a, o: o | a.any(1),
    ),
    generic(
        "product_of_all",
        [("2x3xi32", "i, k")],
        ("i32", ""),
        "i, k",
        "rr",
        _ops("%m = arith.muli %a, %o : i32", "linalg.yield %m : i32"),
        lambda a, o: o * a.prod(dtype="i4"),
    ),
    generic(
        "positions",
        [("4x6xf32", "i, j")],
        ("4x6xf32", "i, j"),
        "i, j",
        "pp",
        _ops(
            "%i = linalg.index 0 : index",
            "%j = linalg.index 1 : index",
            "%k = arith.addi %i, %j : index",
            "%n = arith.index_cast %k : index to i32",
            "%f = arith.sitofp %n : i32 to f32",
            "%m = arith.mulf %a, %f : f32",
            "linalg.yield %m : f32",
        ),
        lambda a, o: a * (np.arange(4)[:, None] + np.arange(6)),
    ),
    generic(
        "triangle",
        [("4x4xf32", "i, j")],
        ("4x4xf32", "i, j"),
        "i, j",
        "pp",
        _ops(
            "%i = linalg.index 0 : index",
            "%j = linalg.index 1 : index",
            "%c = arith.cmpi sge, %i, %j : index",
            "%z = arith.constant 0.0 : f32",
            "%m = arith.select %c, %a, %z : f32",
            "linalg.yield %m : f32",
        ),
        lambda a, o: np.tril(a),
    ),
    generic(
        "iota",
        [],
        ("7xi64", "i"),
        "i",
        "p",
        _ops(
            "%i = linalg.index 0 : index",
            "%n = arith.index_cast %i : index to i64",
            "linalg.yield %n : i64",
        ),
        lambda o: np.arange(7),
    ),
    Case(
        "generic_gathered",
        "%t: tensor<9x6xf32>, %p: tensor<4xi32>, %x: tensor<4x6xf32>",
        "tensor<4x6xf32>",
        "  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, "
        'affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}\n'
        "    ins(%p : tensor<4xi32>) outs(%x : tensor<4x6xf32>) {\n  ^bb0(%a: i32, %o: f32):\n"
        "    %c = arith.constant 6 : i32\n    %n = arith.remui %a, %c : i32\n"
        "    %i = arith.index_cast %n : i32 to index\n    %j = linalg.index 1 : index\n"
        "    %e = tensor.extract %t[%i, %j] : tensor<9x6xf32>\n    linalg.yield %e : f32\n"
        "  } -> tensor<4x6xf32>",
        lambda t, p, x: t[p.astype("u4") % 6],
    ),
    generic(
        "apply",
        [("4x6xi32", "i, j")],
        ("4x6xi32", "i, j"),
        "i, j",
        "pp",
        _ops(
            "%i = linalg.index 0 : index",
            "%j = linalg.index 1 : index",
            "%k = affine.apply affine_map<(a, b) -> ((a + 3 * b) floordiv 2 + b mod 4)>(%i, %j)",
            "%n = arith.index_cast %k : index to i32",
            "%m = arith.addi %a, %n : i32",
            "linalg.yield %m : i32",
        ),
        lambda a, o: a + (np.arange(4)[:, None] + 3 * np.arange(6)) // 2 + (np.arange(6) % 4),
    ),
)
