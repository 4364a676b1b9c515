"""Guards that PyTorch does not write to files, as texts that another process compares.

They compare identities, or look at globals. Expressions of Dynamo's give the values, and each value
has a text that tells it from others.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256
from types import CodeType, EllipsisType, FunctionType, ModuleType
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.guards import CheckFunctionManager

from tiledialect.torch.kept_graphs import PLAIN, UnknownError, function_text

NOT_WRITTEN = {*CheckFunctionManager.UNSUPPORTED_SERIALIZATION_GUARD_TYPES}
"""Guards that PyTorch does not write, beside those on globals."""
OF_DYNAMO = re.compile(r"\bL\['(?P<local>\w+)'\]|\bG\['__import_(?P<module>\w+)'\]")
"""Expressions of Dynamo's for arguments of the function that it traces, and for modules."""
OWN_NAME = re.compile(r"G\['_\d+_c\d+'\]")
"""Names that Dynamo gives to objects at each trace."""
IDENTITIES = ("BUILTIN", "CLASS", "CLOSURE", "CONSTANT", "EQUALS", "FUNCTION", "ID", "MODULE")
COMPARED: Mapping[str, str] = {
    **{f"{kind}_MATCH": "{}" for kind in IDENTITIES},
    "TYPE_MATCH": "type({})",
    "SEQUENCE_LENGTH": "len({})",
    "DICT_KEYS_MATCH": "intern(repr([*map(str, {})]))",
}
"""Expression that a guard compares, by the guard; its value is the same object until it changes."""
OF_SOURCES = ("DICT_CONTAINS", "DICT_NOT_CONTAINS", "HASATTR", "NOT_PRESENT_IN_GENERIC_DICT")
"""Guards on what modules, classes and functions have, which is in their sources."""

HOOKS = tuple(
    f"len(modules._global_{kind}_hooks)"
    for kind in ("forward", "forward_pre", "backward", "backward_pre")
)
"""Numbers of the hooks of all modules, for which Dynamo has no guards."""
MISSING = (AttributeError, IndexError, KeyError, NameError, TypeError)
"""Errors of expressions for a model of another structure."""


@dataclass
class UnwrittenGuards:
    """Guards that PyTorch does not write, noted when it asks for those that it may."""

    expressions: list[str] = field(default_factory=list)
    """Expressions whose values are compared."""
    others: list[str] = field(default_factory=list)
    """Names of which nothing can be compared."""

    def written(self, guards: Iterable[Any]) -> list[bool]:
        """Whether PyTorch can write each guard; the others are noted."""
        return [self._is_written(guard) for guard in guards]

    def _is_written(self, guard: Any) -> bool:
        # The entry's own name has lost the end of a name in front of brackets, as `ALL['k']`.
        kind, name = guard.guard_type, guard.orig_guard.name
        if not guard.is_global and NOT_WRITTEN.isdisjoint((kind, *guard.derived_guard_types)):
            return True
        # It tells apart objects, which have their own guards.
        is_needless = kind == "DUPLICATE_INPUT" and not isinstance(guard.value, torch.Tensor)
        if kind in COMPARED:
            if not OWN_NAME.match(name):
                self.expressions.append(COMPARED[kind].format(name))
        elif kind not in OF_SOURCES and not is_needless:
            self.others.append(f"{name} ({kind})")
        return False

    def texts(self, model: torch.nn.Module, run: Any) -> dict[str, str]:
        """Texts of the values for a model, by expressions; an `UnknownError` if one has none."""
        expressions = [*dict.fromkeys((*HOOKS, *self.expressions))]
        try:
            values = values_of(expressions, run)(model)
        except MISSING as error:
            raise UnknownError(error) from error
        found = {
            name: text
            for name, value in zip(expressions, values, strict=True)
            if (text := value_text(value)) is not None
        }
        hooks = [name for name in HOOKS if found[name] != "int 0"]
        unknown = [name for name in expressions if name not in found]
        for name in (*self.others, *hooks, *unknown):
            raise UnknownError(said(name))
        return found


def values_of(expressions: Sequence[str], run: Any) -> Callable[[Any], Sequence[Any]]:
    """Function of a model that gives the values of expressions of the guards of its code."""
    scope = {
        "G": _Globals(run.fn.__globals__),
        "intern": sys.intern,
        "modules": torch.nn.modules.module,
    }
    # The model is among the arguments of the function that Dynamo traces.
    code = f"lambda L: [{', '.join(expressions)}]"
    values = eval(code, {**vars(torch._dynamo.guards), **scope})
    return lambda model: values({"model": model})


class _Globals(dict[str, Any]):
    """Globals by the names that Dynamo has for them, among which are modules."""

    def __missing__(self, name: str) -> Any:
        if name.startswith("__builtins_dict__"):
            return vars(builtins)
        raise KeyError(name)


def said(text: str) -> str:
    """Text of a guard with the names of the user."""
    return OF_DYNAMO.sub(lambda m: m["local"] or m["module"].replace("_dot_", "."), text)


def value_text(value: Any) -> str | None:
    """Text of a value that is another one for another value, in each process; None without one."""
    try:
        return _text(value)
    except UnknownError:
        return None


def _text(value: Any) -> str:
    match value:
        case ModuleType():
            return f"module {value.__name__}"
        case FunctionType():
            return f"{function_text(value)} {_text(value.__code__)}"
        case CodeType():
            parts = (value.co_code, value.co_names, _text(value.co_consts))
            return f"{value.co_qualname} {sha256(repr(parts).encode()).hexdigest()}"
        case Enum():
            return f"{type(value).__qualname__}.{value.name}"
        case bytes() | EllipsisType() | torch.dtype() | torch.device():
            return repr(value)
        case tuple() | list():
            return f"{type(value).__name__} ({', '.join(map(_text, value))})"
        case frozenset():
            return f"frozenset ({', '.join(sorted(map(_text, value)))})"
        case _ if type(value) in PLAIN:
            return f"{type(value).__name__} {value!r}"
        case _ if hasattr(value, "__qualname__"):
            return function_text(value)
    raise UnknownError
