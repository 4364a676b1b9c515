"""Paths: indices and components of tuples that choose an element, from the outermost axis on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tiledialect.index.integer.expressions import Expr


@dataclass(frozen=True)
class Component:
    """Step of a path: a component of a tuple."""

    number: int

    def __str__(self) -> str:
        return f"get {self.number}"


Path = tuple[Expr | Component, ...]


def indices(path: Path) -> Iterator[Expr]:
    """Steps of a path, which are all indices."""
    for step in path:
        assert isinstance(step, Expr)
        yield step


def one(path: Path) -> tuple[Expr, Path]:
    """First step of a path, which is an index, and the others."""
    (index,) = indices(path[:1])
    return index, path[1:]


def two(path: Path) -> tuple[Expr, Expr, Path]:
    """First two steps of a path, which are indices, and the others."""
    outer, inner = indices(path[:2])
    return outer, inner, path[2:]


def first_component(path: Path) -> tuple[int, int]:
    """Position and number of the first component in a path."""
    return next((k, s.number) for k, s in enumerate(path) if isinstance(s, Component))
