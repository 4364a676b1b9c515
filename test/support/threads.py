"""Running tests' work in threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable


def in_threads(work: Callable[[int], object], numbers: Iterable[int]) -> None:
    """Call it with each number, in a thread for each, and wait until all are done."""
    threads = [threading.Thread(target=work, args=(n,)) for n in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
