"""Places in the user's code, and the ops that are emitted for them."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count, islice
from os.path import dirname
from types import FrameType

import xdsl
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect import errors
from tiledialect.errors import SourceSpan, TileError
from tiledialect.ir.names import set_place

_OURS = tuple(dirname(module.__file__ or "") for module in (errors, xdsl))
"""Folders of frames that are not the user's: this package and xDSL."""


_placed: ContextVar[bool] = ContextVar("placed", default=True)


@contextmanager
def unplaced() -> Generator[None]:
    """Scope in which this package itself applies patterns: no location is the user's."""
    token = _placed.set(False)
    try:
        yield
    finally:
        _placed.reset(token)


def place() -> SourceSpan | None:
    """Location of the user's code that calls this package; None if there is none."""
    if not _placed.get():
        return None
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return None if frame is None else _span(frame)


def _span(frame: FrameType) -> SourceSpan:
    code = frame.f_code
    positions = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    line, end_line, column, end_column = positions
    text = "".join(linecache.getlines(code.co_filename, frame.f_globals))
    if line is None or column is None or end_column is None:
        return SourceSpan(text, frame.f_lineno, 1, code.co_filename)
    # Python counts bytes of UTF-8.
    source = linecache.getline(code.co_filename, line, frame.f_globals).encode()
    if source:
        column = len(source[:column].decode(errors="ignore"))
        end_column = len(source[:end_column].decode(errors="ignore"))
    length = end_column - column if end_line == line else 1
    return SourceSpan(text, line, column + 1, code.co_filename, max(1, length))


_numbers: ContextVar[Iterator[int]] = ContextVar("numbers")


@contextmanager
def fresh_names() -> Generator[None]:
    """Begin to number names anew, for a program of its own."""
    token = _numbers.set(count())
    try:
        yield
    finally:
        _numbers.reset(token)


def fresh_name() -> str:
    """A name of a size that the program does not have: the user's do not begin with ``_``."""
    number = next(_numbers.get())
    return f"_n{number}" if number else "_n"


def emit(make: Callable[[], Operation], where: SourceSpan | None) -> SSAValue:
    """The result of an op, which is from a place in the user's code, as are its errors."""
    try:
        op = make()
    except VerifyException as error:
        raise TileError(str(error), where) from None
    if where is not None:
        file = StringAttr(where.filename)
        set_place(op, FileLineColLoc(file, IntAttr(where.line), IntAttr(where.column)))
    return op.results[0]
