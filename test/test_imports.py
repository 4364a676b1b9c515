"""Imports between modules: no circle, and none that looks up."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]

FOLDERS = {
    "tiledialect": "tiledialect",
    "passes": "tiledialect.passes",
    "lowering": "tiledialect.lowering",
    "tools": "tiledialect.tools",
}
"""Packages by folder, as in `pyproject.toml`."""

STOREYS = (
    "tiledialect.passes",
    "tiledialect.lowering",
    "tiledialect.exploration",
    "tiledialect.api",
    "tiledialect.onnx",
    "tiledialect.torch",
    "tiledialect.tools",
)
"""Packages from the bottom to the top, above the rest of `tiledialect`."""

FRONT_DOORS = ("tiledialect", "tiledialect.lift")
"""Packages whose public names lie higher, and are imported when they are used."""


ALLOWED = {
    "tiledialect.lowering.runtime.call.generated_calls": {
        "tiledialect.lowering.runtime.call.launch": "the type of an argument that passes itself",
    },
}
"""Imports that may close a circle, with their reasons."""


@cache
def modules() -> Mapping[str, Path]:
    found: dict[str, Path] = {}
    for folder, package in FOLDERS.items():
        for file in (ROOT / folder).rglob("*.py"):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            found[".".join((package, *parts))] = file
    return found


def imports(name: str, late: bool) -> Iterator[str]:
    """The modules of the project that a module imports, on request in functions and for types."""
    return (module for module, is_late in _imports(name) if late or not is_late)


@cache
def _imports(name: str) -> tuple[tuple[str, bool], ...]:
    """The modules, and whether the import is in a function or for types."""
    found: list[tuple[str, bool]] = []
    pending: list[tuple[ast.AST, bool]] = [(ast.parse(modules()[name].read_text()), False)]
    while pending:
        node, is_late = pending.pop()
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join((*name.split(".")[: -node.level or None], node.module or ""))
            base = (base if node.level else node.module or "").strip(".")
            wholes = [f"{base}.{alias.name}" for alias in node.names]
            names = [w if w in modules() else base for w in wholes]
        found += [(module, is_late) for module in names if module in modules()]
        for child in ast.iter_child_nodes(node):
            pending.append(
                (child, is_late or isinstance(child, ast.FunctionDef) or _is_for_types(child))
            )
    return tuple(found)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def storey(module: str) -> int:
    for number, package in enumerate(STOREYS, 1):
        if module == package or module.startswith(f"{package}."):
            return number
    return 0


def circle(graph: Mapping[str, set[str]]) -> str:
    """A circle of imports; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " imports ".join(reversed(error.args[1]))
    return ""


def test_no_circle():
    assert not circle({name: set(imports(name, late=False)) for name in modules()})


def test_no_circle_by_late_imports():
    """Behind the front doors, an import in a function or for types does not hide a circle."""
    graph = {name: set(imports(name, late=name not in FRONT_DOORS)) for name in modules()}
    for module, others in ALLOWED.items():
        assert others.keys() <= graph[module]
        graph[module] -= others.keys()
    assert not circle(graph)


def test_imports_go_down():
    upward = [
        f"{name} imports {other}"
        for name in modules()
        for other in imports(name, late=name not in FRONT_DOORS)
        if storey(other) > storey(name)
    ]
    assert not upward


def test_found():
    """The tests above see the modules and their imports."""
    assert len(modules()) > 300
    assert "tiledialect.passes.fuse.tile_fuse" in set(
        imports("tiledialect.lowering.pipeline", True)
    )
    assert storey("tiledialect.api.function") > storey("tiledialect.lowering.pipeline") > 1
