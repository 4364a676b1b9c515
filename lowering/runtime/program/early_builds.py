"""Early builds: the device's compiler works on printed kernels while others are lowered."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from threading import Thread

import pyopencl as cl

from tiledialect.errors import TileError
from tiledialect.lowering.opencl.target import Program

ENOUGH = 40_000
"""Characters of kernels that are built together: each build costs as much as some 5,000 more."""

Printed = Callable[[Program], None]
"""Function that takes a printed kernel."""


@contextmanager
def early_builds(build: Callable[[str], object]) -> Generator[Printed]:
    """Build the kernels that are given, some at a time, in a thread that ends with the context.

    A refused kernel is left to the caller, who builds it again and reports why.
    """
    waiting: SimpleQueue[Program | None] = SimpleQueue()

    def work() -> None:
        together = Program()
        while (program := waiting.get()) is not None:
            together.take(program)
            if len(together.text) >= ENOUGH:
                _try(build, together)
                together = Program()
        if together.functions and is_whole:
            _try(build, together)

    is_whole = False
    thread = Thread(target=work, name="early builds")
    thread.start()
    try:
        yield waiting.put
        is_whole = True
    finally:
        waiting.put(None)
        thread.join()


def _try(build: Callable[[str], object], program: Program) -> None:
    with suppress(TileError, cl.Error):
        build(program.text)
