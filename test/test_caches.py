"""Caches of the process are all in one list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tiledialect
import tiledialect as td
from tiledialect import caches, lowering, passes, tools

# pyright: reportPrivateUsage=false

ROOTS = [Path(p.__path__[0]) for p in (tiledialect, passes, lowering, tools)]
NAMES = {"cache", "lru_cache"}
WEAK = {"WeakKeyDictionary", "WeakValueDictionary"}


def called(node: ast.expr) -> str:
    """Last name of a decorator or of a called function."""
    if isinstance(node, ast.Call):
        return called(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def lasting(tree: ast.Module) -> Iterator[str]:
    """Names of caches that decorate functions, or that a module holds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield from map(called, node.decorator_list)
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            yield called(node.value)


def used_in(tree: ast.Module) -> Iterator[str]:
    """Names of the caches of the list that a module uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and called(node.value) == "caches":
            yield node.attr


@cache
def files() -> tuple[tuple[str, set[str], set[str]], ...]:
    """Files of the package, but for the list of caches: name, own caches, caches of the list."""
    paths = [path for root in ROOTS for path in root.rglob("*.py")]
    trees = (
        (path.name, ast.parse(path.read_text(encoding="utf-8")))
        for path in paths
        if path != Path(caches.__file__)
    )
    return tuple((name, {*lasting(tree)}, {*used_in(tree)}) for name, tree in trees)


def test_caches_of_the_process_are_in_the_list():
    found = {name: own for name, own, _ in files()}
    assert not [name for name, own in found.items() if own & NAMES]
    weak = {name for name, own in found.items() if own & WEAK}
    assert weak == {"parts.py", "tensor_functions.py", "transforms.py"}


def test_every_cache_in_the_list_is_used():
    used = {name for _, _, listed in files() for name in listed}
    assert used == {name for name, value in vars(caches).items() if isinstance(value, caches.Cache)}


def test_a_cache_keeps_as_many_results_as_its_bound():
    asked = list[int]()

    @caches.Cache("squares", 2)
    def square(x: int) -> int:
        asked.append(x)
        return x * x

    assert [square(x) for x in (1, 2, 1, 3, 1, 2)] == [1, 4, 1, 9, 1, 4]
    assert asked == [1, 2, 3, 2]


def test_tables_of_a_compilation_end_with_the_outermost():
    @caches.Cache("squares", 8, of_compilation=True)
    def table(x: int) -> int:
        return x * x

    try:
        with caches.compilation():
            with pytest.raises(ZeroDivisionError), caches.compilation():
                table(1 // table(0))
            table(3)
            assert table.cache_info().currsize == 2
        assert table.cache_info().currsize == 0
    finally:
        caches._COMPILATIONS.tables.remove(table)


def test_a_compilation_leaves_no_tables():
    f = td.compile("function (A[N, K], B[K, M]) -> (C) { C[i, j: N, M] = +(A[i, k] * B[k, j]); }")
    f.opencl("17x40xf32", "40x24xf32")
    tables = caches._COMPILATIONS.tables
    asked = [table.cache_info() for table in tables]
    assert len(tables) > 5 and not any(info.currsize for info in asked)
