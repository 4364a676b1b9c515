"""Programs from their sources: Tile text, files, modules."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tiledialect.api.error_boundary import sourced
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir, read_text
from tiledialect.ir.names import name_values
from tiledialect.ir.verification import verified
from tiledialect.language import to_ir
from tiledialect.language.constants import given_constants

if TYPE_CHECKING:
    from tiledialect.lift.program import Program

SUFFIXES = (".tile", ".mlir")


@dataclass(frozen=True)
class Source:
    """A module and the text that it was read from, empty if from none."""

    header: ModuleOp
    """The module, or one of the same functions without bodies, if the module is read later."""
    text: str = ""
    kept: str = ""
    """Text of the module, if it is read when it is needed first."""
    read: ModuleOp | None = None
    """The module of this text, if it is at hand."""

    @cached_property
    def module(self) -> ModuleOp:
        """The module."""
        if not self.kept:
            return self.header
        return self.read or parse_mlir(self.kept, "<kept>")

    def error_context(self) -> AbstractContextManager[None]:
        """Errors get the text, and the numbers that were given for names in it."""
        return sourced(self.text, given_constants(self.header))

    def symbol(self, name: str | None) -> str | None:
        """Symbol of the function ``name``, which has another one where it has no name of its
        own."""
        symbols = {op.sym_name.data for op in self.module.ops if isinstance(op, func.FuncOp)}
        called = to_ir.default_symbol(name)
        return called if name is not None and name not in symbols and called in symbols else name


def load(
    source: str | Path | ModuleOp | Program,
    name: str | None = None,
    constants: Mapping[str, Any] | None = None,
) -> Source:
    """Read Tile text, a ``.tile`` or ``.mlir`` file, or take a Lift program or a module.

    A string without line ends that ends in one of these suffixes is a path. ``name`` is what a
    Tile function without a name of its own is called; ``constants`` are numbers for names that
    Tile text does not define. Raises a TileError, with the place where there is one, for whatever
    cannot be read.
    """
    if isinstance(source, ModuleOp):
        _refuse(constants, "a module")
        module = verified(source.clone())
        name_values(module)
        return Source(_converted(module))
    if isinstance(source, str) and not _is_path(source):
        # Editors on Windows begin files with a mark that tells their encoding.
        text = source.removeprefix("\ufeff")
        return Source(to_ir.load(text, name=name, constants=constants), text)
    if isinstance(source, str | Path):
        return _load_file(Path(source), name, constants)
    # Who has such a program has imported it: it takes a tenth of a start, and most have none.
    from tiledialect.lift.program import Program

    if not isinstance(source, Program):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TileError(
            f"a program is Tile text, a path or a ModuleOp, or of lift.fun, not {type(source)}"
        )
    _refuse(constants, "a Lift program")
    return Source(verified(source.module.clone()))


def _refuse(constants: Mapping[str, Any] | None, what: str) -> None:
    if constants:
        raise TileError(f"`constants` are numbers for names in Tile text, not in {what}")


def _is_path(source: str) -> bool:
    return "\n" not in source and source.endswith(SUFFIXES)


def _load_file(path: Path, name: str | None, constants: Mapping[str, Any] | None) -> Source:
    if path.suffix not in SUFFIXES:
        hint = "; `td.onnx.load` takes models of ONNX" if path.suffix.lower() == ".onnx" else ""
        raise TileError(f"{path} is neither a .tile nor a .mlir file{hint}")
    text = read_text(path)
    if path.suffix == ".tile":
        return Source(to_ir.load(text, str(path), name or path.stem, constants), text)
    _refuse(constants, f"{path}")
    module = verified(parse_mlir(text, str(path)), text)
    with sourced(text):
        return Source(_converted(module), text)


def _converted(module: ModuleOp) -> ModuleOp:
    """A module, its tensor programs converted to the tile dialect."""
    # Most programs are of the tile dialect.
    from tiledialect.passes.convert.sources import convert_sources

    convert_sources(module)
    return module
