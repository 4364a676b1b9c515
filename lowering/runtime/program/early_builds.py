"""Early builds: the device's compiler works on printed kernels while others are lowered."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from enum import Enum
from queue import SimpleQueue
from threading import Thread

from tiledialect.lowering.opencl.target import Program
from tiledialect.threads import start

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


Build = Callable[[str], Callable[[], object] | None]
"""Function that builds kernels, or lets others begin to: then its result waits for them."""


@contextmanager
def early_builds(build: Build, *, side_by_side: bool = False) -> Generator[Builder]:
    """Build the kernels that are given, some at a time, in a thread that ends with the context.

    If they are built ``side_by_side``, those that are printed by then do not wait for one another.
    A refused kernel is left to the caller, who builds it again and reports why; so are all kernels
    where the system allows no more threads.
    """
    waiting: SimpleQueue[Program | End] = SimpleQueue()

    def work() -> None:
        together, end, begun = Program(), None, list[Callable[[], object]]()
        while end is None:
            match waiting.get():
                case Program() as program:
                    together.take(program)
                case end:
                    pass
            is_now = end is None and (side_by_side or waiting.empty())
            is_enough = is_now and len(together.text) >= ENOUGH
            if together.functions and (is_enough or end is End.WHOLE):
                # Whatever fails here fails again where all is built, and is reported there.
                with suppress(Exception):
                    if (finish := build(together.text)) is not None:
                        begun.append(finish)
                together = Program()
        for finish in begun if end is End.WHOLE else ():
            with suppress(Exception):
                finish()

    thread = Thread(target=work, name="early builds")
    is_started = start(thread)
    try:
        yield waiting.put
    finally:
        waiting.put(End.GIVEN_UP)
        if is_started:
            thread.join()
