"""Early builds: the device's compiler works on printed kernels while others are lowered."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from enum import Enum
from queue import SimpleQueue
from threading import Thread

from tiledialect.lowering.opencl.target import Program

ENOUGH = 15_000
"""Least characters of kernels that are built together, with all that are printed by then: each
build costs as much as some 5,000 more."""


class End(Enum):
    """The end of the printed kernels."""

    WHOLE = 1
    """All are printed: the rest of them is built."""
    GIVEN_UP = 2
    """The program is refused: the rest of them is not."""


Builder = Callable[[Program | End], None]
"""Function that takes a printed kernel, or the end of them."""


@contextmanager
def early_builds(build: Callable[[str], object]) -> Generator[Builder]:
    """Build the kernels that are given, some at a time, in a thread that ends with the context.

    A refused kernel is left to the caller, who builds it again and reports why.
    """
    waiting: SimpleQueue[Program | End] = SimpleQueue()

    def work() -> None:
        together, end = Program(), None
        while end is None:
            match waiting.get():
                case Program() as program:
                    together.take(program)
                case end:
                    pass
            is_enough = end is None and waiting.empty() and len(together.text) >= ENOUGH
            if together.functions and (is_enough or end is End.WHOLE):
                # Whatever fails here fails again where all is built, and is reported there.
                with suppress(Exception):
                    build(together.text)
                together = Program()

    thread = Thread(target=work, name="early builds")
    thread.start()
    try:
        yield waiting.put
    finally:
        waiting.put(End.GIVEN_UP)
        thread.join()
