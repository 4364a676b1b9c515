"""Compiled models in files: another process calls them without PyTorch's trace of their Python.

PyTorch writes guards and code (``aot_compile``), but no guards that compare identities or look at
globals, and does not look at sources. These are checked here: identities by their names, at each
call. A model whose code depends on something else that is not written cannot be saved.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import importlib
import inspect
import operator
import pickle
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import finalize

import torch
import torch._dynamo
from torch._dynamo.aot_compile import AOTCompiledFunction
from torch._dynamo.eval_frame import OptimizedModule
from torch._dynamo.precompile_context import PrecompileContext

from tiledialect import disk
from tiledialect.api.error_boundary import front_door
from tiledialect.errors import TileError
from tiledialect.output_files import replacing
from tiledialect.torch.kept_graphs import UnknownError
from tiledialect.torch.options import NO_OPTIONS, Options
from tiledialect.torch.residence.residence import check_module, path_of
from tiledialect.torch.unwritten_guards import (
    MISSING,
    UnwrittenGuards,
    said,
    value_text,
    values_of,
)

FORMAT = "tiledialect model"
WITH_HOOKS = torch._dynamo.config.patch(skip_nnmodule_hook_guards=False)
"""Guards on hooks of modules, too: the model of another process may have others."""


class SavedModel:
    """A model with code for it that was read from a file, or will be."""

    def __init__(self, model: torch.nn.Module, run: Any, known: Mapping[str, str]):
        """``known`` has a text for each expression whose value the code depends on."""
        self._model = model
        self._run = run
        self._known = known
        self._values_of = values_of([*known], run)
        self._values = self._checked()
        # PyTorch has guards as long as the classes that they compare, and with them these globals.
        free = finalize(self, run.fn.__globals__.pop, run._artifacts.backend_id, None)
        free.atexit = False

    @front_door
    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """The outputs; an error if the code is not for this model, its state, or such inputs."""
        if not all(map(operator.is_, self._now(), self._values)):
            self._values = self._checked()
        if not self._run.guard_check(self._model, *inputs, **named):
            raise TileError(
                f"the model was not saved for such a call: {self._misfit(inputs, named)}"
            )
        return self._run.fn(self._model, *inputs, **named)

    def __reduce_ex__(self, _: Any) -> Any:
        raise TileError(
            "code of a saved model cannot be copied: copy the model, and load the file for the copy"
        )

    def _misfit(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> str:
        """Guard that a call does not pass, without the place of PyTorch's trace."""
        values = self._run.prepare_f_locals(self._model, *inputs, **named)
        parts = self._run._artifacts.guard_manager.check_verbose(values).verbose_code_parts
        return ", ".join(said(part.partition("  #")[0].rstrip()) for part in parts)

    def _checked(self) -> Sequence[Any]:
        """The objects that the code depends on."""
        values = self._now()
        for (name, text), value in zip(self._known.items(), values, strict=True):
            if value_text(value) != text:
                raise TileError(f"the model was saved with another {said(name)}: save it again")
        return values

    def _now(self) -> Sequence[Any]:
        """The objects that are now where those are that the code depends on."""
        try:
            return self._values_of(self._model)
        except MISSING as error:
            raise TileError(f"the model was saved with another structure: {error}") from error


def _check(model: torch.nn.Module, called: str) -> None:
    """Raise a TileError for what cannot be saved, or have loaded code."""
    check_module(model, called)
    if isinstance(model, OptimizedModule):
        raise TileError(f"{called} takes a model itself, not what torch.compile gives for it")


def _refusal(reason: object) -> TileError:
    return TileError(f"the model cannot be saved: {reason}")


def _call(model: torch.nn.Module, *inputs: Any, **named: Any) -> Any:
    """A call of a model, which PyTorch traces: the model is no part of the code then."""
    return model(*inputs, **named)


NOT_SAVED = (AttributeError, RuntimeError, TypeError, pickle.PicklingError)
"""Errors of PyTorch's trace, which are RuntimeErrors, and of writing what it has made."""
NOT_READ = (AttributeError, ImportError, OSError, RuntimeError, TypeError)
"""Errors for other versions, and for modules whose sources or names are gone."""


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
        TileError: PyTorch does not trace the model as a whole, its code depends on something that
            cannot be written, or the file cannot be written.
    """
    _check(model, "save")
    target = path_of(path, "save")
    Options.of(options)
    guards = UnwrittenGuards()
    own = {**options, "guard_filter_fn": guards.written}
    whole = torch.compile(_call, backend="tiledialect", fullgraph=True, options=own)
    try:
        with WITH_HOOKS:
            run = whole.aot_compile(((model, *inputs), named))
        data = AOTCompiledFunction.serialize(run).serialized_data
        known = guards.texts(model, run)
    except NOT_SAVED as error:
        raise _refusal(error) from error
    except UnknownError as error:
        raise _refusal(f"its code depends on {error}") from error
    # PyTorch has code for files of its own, too, which would stay as long as the process.
    PrecompileContext._backend_artifacts_by_key.pop(run._artifacts.backend_id, None)
    with replacing(target) as file:
        file.write(disk.sealed(pickle.dumps((data, known)), FORMAT))
    return SavedModel(model, run, known)


@front_door
def load(model: torch.nn.Module, path: str | Path) -> SavedModel:
    """A model as compiled, with code from a file that `save` has written, which must be trusted.

    Raises:
        TileError: the file cannot be read, or is of other sources or versions, or of another model.
    """
    _check(model, "load")
    source = path_of(path, "load")
    try:
        written = disk.unsealed(source.read_bytes(), FORMAT)
    except OSError as error:
        raise TileError(f"{path} cannot be read: {error}") from error
    if written is None:
        raise TileError(f"{path} has no model that `save` has written")
    data, known = pickle.loads(written)
    try:
        with WITH_HOOKS:
            run = AOTCompiledFunction.deserialize(data, globals())
        _check_sources(run.source_info().inlined_sources)
    except NOT_READ as error:
        raise TileError(f"{error}: save the model again") from error
    return SavedModel(model, run, known)


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
