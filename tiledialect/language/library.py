"""Functions that are written in Tile, for tensors of any rank."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tiledialect import caches
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.errors import TileError, count

from . import ast
from .parser import parse

# The number subtracted before `exp` changes no value, and so no derivative either.
SOFTMAX = """
function softmax(X[{sizes}]) -> (Y) {{
    Max[{kept}: {kept_sizes}] = >(X[{indices}]);
    Exp = exp(X - stop_gradient(Max));
    Sum[{kept}: {kept_sizes}] = +(Exp[{indices}]);
    Y = Exp / Sum;
}}
"""
LOGSOFTMAX = """
function logsoftmax(X[{sizes}]) -> (Y) {{
    Max[{kept}: {kept_sizes}] = >(X[{indices}]);
    Shifted = X - stop_gradient(Max);
    Exp = exp(Shifted);
    Sum[{kept}: {kept_sizes}] = +(Exp[{indices}]);
    Y = Shifted - log(Sum);
}}
"""
TEXTS = {"softmax": SOFTMAX, "logsoftmax": LOGSOFTMAX}
LIBRARY: dict[str, list[str]] = {name: [name] for name in TEXTS}
"""Functions, with the names of their results."""


def library_function(call: ast.Call, operand: SSAValue, axis: int) -> ast.Function:
    """The function that ``call`` calls, for the rank of its operand; axes count from both ends."""
    shape, given = shape_of(tensor_type(operand)), call.arguments[0]
    called, place = given.name if isinstance(given, ast.Variable) else "this", given.span
    if shape is None:
        raise TileError(
            f"`{call.function}` needs the number of dimensions of {called}: "
            "name them in the header, as in `X[N, M]`",
            place,
        )
    rank = len(shape)
    if not -rank <= axis < rank:
        dimensions = count(rank, "dimension", "dimensions")
        raise TileError(f"{called} has {dimensions}, and none is {axis}", place)
    return _function(call.function, rank, axis % rank)


@caches.LIBRARY
def _function(name: str, rank: int, axis: int) -> ast.Function:
    indices, sizes = [f"i{k}" for k in range(rank)], [f"N{k}" for k in range(rank)]
    kept, kept_sizes = list(indices), list(sizes)
    kept[axis], kept_sizes[axis] = "0", "1"
    lists = {"indices": indices, "sizes": sizes, "kept": kept, "kept_sizes": kept_sizes}
    text = TEXTS[name].format(**{key: ", ".join(words) for key, words in lists.items()})
    (function,) = parse(text)
    return function
