"""Caches of the process, with their bounds.

Every cache that outlives the object that fills it is one of these. Their keys and values are
immutable and hold no IR, so that all compilations share them. Caches of one compilation are marked,
and are empty after it; the weak dictionaries of `torch/tensor_functions.py` hold no function that
nothing else holds, that of `torch/parts.py` no results that no graph uses, and that of
`passes/transform/transforms.py` one copy of a function, which goes when it is compiled. Printed
kernels, whose keys are made of IR, are kept by `lowering/runtime/program/kernel_reuse.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper  # pyright: ignore[reportPrivateUsage]

T = TypeVar("T")


@dataclass
class _Compilations:
    """The running compilations of all threads, and the tables that they share."""

    tables: list[_lru_cache_wrapper[Any]] = field(default_factory=list["_lru_cache_wrapper[Any]"])
    running: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


_COMPILATIONS = _Compilations()


@contextmanager
def compilation() -> Generator[None]:
    """Keep the tables of compilations until the outermost one, and all other threads', end."""
    with _COMPILATIONS.lock:
        _COMPILATIONS.running += 1
    try:
        yield
    finally:
        with _COMPILATIONS.lock:
            _COMPILATIONS.running -= 1
            if not _COMPILATIONS.running:
                for table in _COMPILATIONS.tables:
                    table.cache_clear()


@dataclass(frozen=True)
class Cache:
    """A decorator of functions of hashable arguments, whose results are kept."""

    content: str
    """Results, and their keys."""
    bound: int | None
    """Most results of a function, the last used ones; None: there are few keys."""
    of_compilation: bool = False
    """Whether the results end with the compilation."""

    def __call__(self, function: Callable[..., T]) -> _lru_cache_wrapper[T]:
        """Keep the results of a function."""
        table = lru_cache(self.bound)(function)
        if self.of_compilation:
            _COMPILATIONS.tables.append(table)
        return table


PACKAGE = Cache("facts of the package's files, the process and the processor: no key", None)
RATES = Cache("rates of microarchitectures by the name of their file", None)
PLATFORMS = Cache("OpenCL C before programs by platform and compute capability", None)
DEVICES = Cache("descriptions, contexts, queues and rates by a device", None)
QUEUES = Cache("states of queues, the user's too, by the queue", 32)
HOOKS = Cache("hooks on PyTorch's optimizers by the question if a tensor is kept", None)
ELEMENT_TYPES = Cache("operands of the battery by an element type", None)
RECORDS = Cache("readers of records by the record's type", None)
POINTS = Cache("points of a contraction, and elements touched there, by the space", 1 << 7)
FRAGMENT_PLACES = Cache("positions of an operand's elements by the operand and lanes", 1 << 8)
TEMPLATES = Cache("parsed functions by one of the library's own texts", None)

LIBRARY = Cache("functions of Tile's library by name, rank and axis", 1 << 10)
RESULT_TYPES = Cache("classes of named results by function and names", 1 << 10)
RESTORED = Cache("functions by the texts in exported PyTorch graphs", 64)
TYPE_TEXTS = Cache("types by their texts: programs have hundreds of inputs", 1 << 10)

VECTOR_TYPES = Cache("vector types by element type and length", 1 << 8)
MEMORY_TYPES = Cache("memref types by element type, shape and space", 1 << 10)
C_TYPES = Cache("C types by type and index width", 1 << 8)
SEGMENTS = Cache("operand segments by their sizes", 1 << 10)
CONSTANTS = Cache("properties of index constants by the number", 1 << 12)

VARIABLES = Cache("index expressions by a variable's name", 1 << 12)
LOOP_FACTS = Cache("conditions by a loop's name and range", 1 << 10)
SIMPLIFIERS = Cache("simplifiers by the facts that they use: those of one kernel at a time", 1 << 7)
INDEX_MAPS = Cache("faults of index maps by map and size", 1 << 8)
INTEGER_SETS = Cache("answers about integer sets by the set", 1 << 14)
INDEX_SPACES = Cache("answers about index spaces by the space", 1 << 12)

FOOTPRINTS = Cache("footprints of accesses by access and loops", 1 << 14, of_compilation=True)
PADDED_INDICES = Cache(
    "indices that leave a tensor by kernel facts and tensor", 1 << 8, of_compilation=True
)
BANK_CYCLES = Cache("busiest banks by strides and width", 1 << 12, of_compilation=True)
STORES = Cache("sectors that stores touch by strides and width", 1 << 12, of_compilation=True)
SIZELESS_FACTS = Cache("kernel facts without sizes by kernel facts", 1 << 10, of_compilation=True)
SIZES = Cache("numbers of steps of a level by those that are left", 1 << 10, of_compilation=True)
RANKINGS = Cache("ranked schedules by kernel facts and device", 1 << 8, of_compilation=True)
CHOICES = Cache("best schedules by kernel facts and device: 20 KB", 1 << 11, of_compilation=True)
