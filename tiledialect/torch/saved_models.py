"""Compiled models in files: another process calls them without PyTorch's trace of their Python.

PyTorch writes guards and code (``aot_compile``), but no guards that compare identities or look at
globals, and does not look at sources. These are checked here: identities by their names, at each
call. A model whose code depends on something else that is not written cannot be saved.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import builtins
import importlib
import inspect
import operator
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.aot_compile import AOTCompiledFunction
from torch._dynamo.exc import PackageError
from torch._dynamo.guards import CheckFunctionManager

from tiledialect.api.error_boundary import front_door
from tiledialect.errors import TileError
from tiledialect.torch.kept_graphs import PLAIN, function_text

NOT_WRITTEN = {*CheckFunctionManager.UNSUPPORTED_SERIALIZATION_GUARD_TYPES}
"""Guards that PyTorch does not write."""
OWN_NAME = re.compile(r"G\['_\d+_c\d+'\]")
"""Names that Dynamo gives to objects at each trace."""
FORMAT = "tiledialect model"
WITH_HOOKS = torch._dynamo.config.patch(skip_nnmodule_hook_guards=False)
"""Guards on hooks of modules, too: the model of another process may have others."""
FAILED = "GuardManager check failed"
"""Beginning of PyTorch's message where code is not for a call."""


class UnknownError(Exception):
    """An object has no text that tells it from others."""


def _identity(value: Any) -> str:
    """Text that is another one for another object, in each process."""
    match value:
        case ModuleType():
            return f"module {value.__name__}"
        case FunctionType():
            return f"{function_text(value)} {_identity(value.__code__)}"
        case CodeType():
            parts = (value.co_code, value.co_names, tuple(map(_constant, value.co_consts)))
            return f"{value.co_qualname} {sha256(repr(parts).encode()).hexdigest()}"
        case Enum():
            return f"{type(value).__qualname__}.{value.name}"
        case _ if type(value) in PLAIN or isinstance(value, torch.dtype | torch.device):
            return f"{type(value).__name__} {value!r}"
        case tuple() | list():
            return f"{type(value).__name__} ({', '.join(map(_identity, value))})"
        case _ if hasattr(value, "__qualname__"):
            return function_text(value)
    raise UnknownError


def _constant(value: Any) -> str:
    return _identity(value) if isinstance(value, CodeType) else repr(value)


IDENTITIES = ("BUILTIN", "CLASS", "CLOSURE", "CONSTANT", "EQUALS", "FUNCTION", "ID", "MODULE")
COMPARED: Mapping[str, str] = {
    **{f"{kind}_MATCH": "{}" for kind in IDENTITIES},
    "TYPE_MATCH": "type({})",
    "SEQUENCE_LENGTH": "len({})",
    "DICT_KEYS_MATCH": "intern(repr([*map(str, {})]))",
}
"""Expression that a guard compares, by the guard; its value is the same object until it changes."""
HOOKS = tuple(
    f"len(modules._global_{kind}_hooks)"
    for kind in ("forward", "forward_pre", "backward", "backward_pre")
)
"""Numbers of the hooks of all modules, for which Dynamo has no guards."""
OF_SOURCES = ("DICT_CONTAINS", "DICT_NOT_CONTAINS", "HASATTR", "NOT_PRESENT_IN_GENERIC_DICT")
"""Guards on what modules, classes and functions have, which is in their sources."""


@dataclass
class Identities:
    """Dependences of a model's code beside the guards that PyTorch writes."""

    known: list[str] = field(default_factory=list)
    """Expressions whose values are compared."""
    unknown: list[str] = field(default_factory=list)
    """Expressions that nothing is known of."""

    def written(self, guards: Iterable[Any]) -> list[bool]:
        """Whether PyTorch can write each guard; the others are noted."""
        return [self._is_written(guard) for guard in guards]

    def _is_written(self, guard: Any) -> bool:
        kind, name = guard.guard_type, guard.name
        if not guard.is_global and NOT_WRITTEN.isdisjoint((kind, *guard.derived_guard_types)):
            return True
        if kind in COMPARED:
            if not OWN_NAME.match(name):
                self.known.append(COMPARED[kind].format(name))
        elif kind == "DUPLICATE_INPUT" and not isinstance(guard.value, torch.Tensor):
            # It tells apart objects, which have their own guards.
            pass
        elif kind not in OF_SOURCES:
            self.unknown.append(f"{name} ({kind})")
        return False


class SavedModel:
    """A model with code for it that was read from a file, or will be."""

    def __init__(self, model: torch.nn.Module, run: Any, known: Mapping[str, str]):
        """``known`` has a text for each expression whose value the code depends on."""
        self._model = model
        self._run = run
        self._known = known
        self._values = _getter([*known], run)
        self._found = self._checked()

    @front_door
    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """The outputs; an error if the code is not for this model, its state, or such inputs."""
        if not all(map(operator.is_, self._values(self._model), self._found)):
            self._found = self._checked()
        try:
            return self._run(self._model, *inputs, **named)
        except RuntimeError as error:
            if not str(error).startswith(FAILED):
                raise
            raise TileError(f"the model was not saved for such a call: {error}") from error

    def _checked(self) -> Sequence[Any]:
        """The objects that the code depends on."""
        found = self._values(self._model)
        for (name, text), value in zip(self._known.items(), found, strict=True):
            if _text(value) != text:
                raise TileError(f"the model was saved with another {name}: save it again")
        return found


def _text(value: Any) -> str | None:
    try:
        return _identity(value)
    except UnknownError:
        return None


def _getter(expressions: Sequence[str], run: Any) -> Callable[[Any], Sequence[Any]]:
    """Function of a model that gives the values of expressions of Dynamo's."""
    sources = run._artifacts.runtime_env.import_sources
    aliases = {name: importlib.import_module(module) for name, module in sources.items()}
    scope = {
        "G": _Globals(globals(), aliases),
        "intern": sys.intern,
        "modules": torch.nn.modules.module,
    }
    code = f"lambda model: [{', '.join(expressions)}]"
    return eval(code, {**vars(torch._dynamo.guards), **scope})


@dataclass(frozen=True)
class _Globals:
    """Globals of now, by the names that Dynamo has for them."""

    own: Mapping[str, Any]
    aliases: Mapping[str, ModuleType]

    def __getitem__(self, name: str) -> Any:
        if name.startswith("__builtins_dict__"):
            return vars(builtins)
        return self.aliases[name] if name in self.aliases else self.own[name]


def _texts(model: torch.nn.Module, run: Any, identities: Identities) -> dict[str, str]:
    """Texts of what the code of a model depends on, by expressions."""
    known = [*dict.fromkeys((*identities.known, *HOOKS))]
    try:
        found = dict(zip(known, map(_text, _getter(known, run)(model)), strict=True))
    except (NameError, KeyError, AttributeError, IndexError) as error:
        raise _refusal(f"its code depends on {error}") from error
    hooks = [k for k in HOOKS if found[k] != "int 0"]
    for name in (*identities.unknown, *hooks, *(k for k, text in found.items() if text is None)):
        raise _refusal(f"its code depends on {name}")
    return {k: text for k, text in found.items() if text is not None}


def _refusal(reason: object) -> TileError:
    return TileError(f"the model cannot be saved: {reason}")


def _call(model: torch.nn.Module, *inputs: Any, **named: Any) -> Any:
    """A call of a model, which PyTorch traces: the model is no part of the code then."""
    return model(*inputs, **named)


NO_OPTIONS: Mapping[str, Any] = {}


@front_door
def save(
    model: torch.nn.Module,
    path: str | Path,
    *inputs: Any,
    options: Mapping[str, Any] = NO_OPTIONS,
    **named: Any,
) -> SavedModel:
    """Compile a model for inputs like these, and write the code to a file; the model as compiled.

    The code is for the mode of gradients, and for training or evaluation, of now. ``options`` are
    those of ``torch.compile``. The file has no parameters.

    Raises:
        TileError: PyTorch does not trace the model as a whole, or its code depends on something
            that cannot be written.
    """
    identities = Identities()
    own = {**options, "guard_filter_fn": identities.written}
    whole = torch.compile(_call, backend="tiledialect", fullgraph=True, options=own)
    try:
        with WITH_HOOKS:
            run = whole.aot_compile(((model, *inputs), named))
        data = AOTCompiledFunction.serialize(run).serialized_data
    except (TypeError, PackageError) as error:
        raise _refusal(error) from error
    known = _texts(model, run, identities)
    Path(path).write_bytes(pickle.dumps((FORMAT, data, known)))
    return SavedModel(model, run, known)


@front_door
def load(model: torch.nn.Module, path: str | Path) -> SavedModel:
    """A model as compiled, with code from a file that `save` has written, which must be trusted.

    Raises:
        TileError: The file is none, or of other sources or versions, or of another model.
    """
    try:
        form, data, known = pickle.loads(Path(path).read_bytes())
    except (pickle.UnpicklingError, ValueError, TypeError, EOFError):
        form = None
    if form != FORMAT:
        raise TileError(f"{path} has no model that `save` has written")
    try:
        with WITH_HOOKS:
            run = AOTCompiledFunction.deserialize(data, globals())
    except RuntimeError as error:
        raise TileError(f"{error}: save the model again") from error
    _check_sources(run.source_info().inlined_sources)
    try:
        return SavedModel(model, run, known)
    except (KeyError, AttributeError, IndexError) as error:
        raise TileError(f"the model was saved with another structure: {error}") from error


def _check_sources(sources: Iterable[Any]) -> None:
    """Refuse code of functions whose text has changed."""
    texts: dict[str, list[str]] = {}
    for own in sources:
        if own.module not in texts:
            texts[own.module] = inspect.getsourcelines(importlib.import_module(own.module))[0]
        text = "".join(texts[own.module][own.firstlineno - 1 : own.lastlineno - 1])
        if sha256(text.encode()).hexdigest() != own.checksum:
            raise TileError(
                f"the source of {own.module} has changed at line {own.firstlineno}: "
                f"save the model again"
            )
