"""Errors at the front door: with the source text, without the compiler's own frames."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from xdsl.utils.exceptions import DiagnosticException

from tiledialect.errors import TileError

P = ParamSpec("P")
R = TypeVar("R")
NONE: Mapping[str, int | float] = {}


@contextmanager
def sourced(text: str = "", constants: Mapping[str, int | float] = NONE) -> Generator[None]:
    """Errors get the source text, and the numbers that were given for names in it.

    Errors of xDSL and the parsers become TileErrors.
    """
    try:
        yield
    except TileError as error:
        raise error.with_source(text).with_constants(constants) from error.__cause__
    except RecursionError:
        raise TileError("the program is nested too deeply") from None
    except DiagnosticException as error:
        raise TileError(f"the program is malformed: {error}") from None


def for_user(error: TileError) -> TileError:
    """The error without the frames below; with them if ``TILE_TRACEBACK`` is set."""
    return error if os.environ.get("TILE_TRACEBACK") else error.with_traceback(None)


def front_door(function: Callable[P, R]) -> Callable[P, R]:
    """Tracebacks of errors that leave ``function`` end where the user called it."""

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        try:
            return function(*args, **named)
        except TileError as error:
            raise for_user(error) from None

    return call
