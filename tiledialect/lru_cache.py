"""Cache of the most recently used values."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(dict[Key, Value]):
    """The values that were used last, at most ``limit``; several threads may use it.

    They are in two generations, of which the dictionary itself is the young one, so that ``get``
    is no more than that of a dictionary. A value that is not used while the young generation fills
    goes with the old one. A key is in one generation, and each has half of the limit.
    """

    def __init__(self, limit: int):
        super().__init__()
        self.limit = limit
        self.old: dict[Key, Value] = {}
        self.lock = threading.Lock()

    @property
    def kept(self) -> int:
        """Number of values in both generations."""
        return len(self) + len(self.old)

    def find(self, key: Key) -> Value | None:
        """The value kept under ``key``, which is young then."""
        value = self.get(key)
        if value is None and (value := self.old.get(key)) is not None:
            self.put(key, value)
        return value

    def put(self, key: Key, value: Value) -> Value:
        """Keep a value."""
        half = self.limit // 2
        with self.lock:
            self.old.pop(key, None)
            if key not in self and len(self) >= max(1, half):
                self.old = dict(self) if half else {}
                self.clear()
            self[key] = value
        return value

    def drop(self) -> None:
        """Keep no value any more."""
        with self.lock:
            self.clear()
            self.old = {}
