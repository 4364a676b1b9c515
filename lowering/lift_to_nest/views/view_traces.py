"""Traces of a kernel's accesses through views to memory, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiledialect.index.integer.expressions import Condition, Expr
from tiledialect.lowering.lift_to_nest.views.paths import Component, Path


@dataclass(frozen=True)
class ViewStep:
    """View, and the path into it."""

    view: str
    path: Path
    pattern: str = ""
    """Pattern of the program that the view is for, if there is one."""

    @property
    def indices(self) -> tuple[str, ...]:
        """Indices of the path."""
        return tuple(str(step) for step in self.path if not isinstance(step, Component))

    @property
    def components(self) -> tuple[str, ...]:
        """Components of tuples in the path."""
        return tuple(str(step) for step in self.path if isinstance(step, Component))


@dataclass(frozen=True)
class Trace:
    """Trace of an access: the views from the last to memory, and the path into each."""

    memory: str
    kind: str
    steps: tuple[ViewStep, ...]
    end: Expr | Condition
    """Flat index; or the condition by which the access is to one of two views."""

    @property
    def title(self) -> str:
        """Title: the kind of access, and the memory."""
        return f"{self.memory} is {self.kind}"

    @property
    def is_choice(self) -> bool:
        """Whether one of two views is accessed."""
        return not isinstance(self.end, Expr)

    def __str__(self) -> str:
        """Text with a line for each view; the last index is the flat one."""
        lines = [(s.view, f"[{', '.join(map(str, s.path))}]") for s in self.steps]
        if self.is_choice:
            lines.append(("choice", f"where {self.end}"))
        elif len(self.steps[-1].path) > 1:
            lines.append(("", f"[{self.end}]"))
        width = max(len(view) for view, _ in lines)
        return "\n".join([f"{self.title}:", *(f"  {v:{width}}  {path}" for v, path in lines)])


Traces = Mapping[str, Sequence[Trace]]
"""Accesses of kernels, by their names."""


def views_text(traces: Traces) -> str:
    """Traces of the accesses of some kernels, as comments of MLIR."""
    texts = [
        text
        for name, found in traces.items()
        for text in (f"In {name}", *dict.fromkeys(map(str, found)))
    ]
    return "\n".join(f"// {line}" for text in texts for line in text.splitlines())
