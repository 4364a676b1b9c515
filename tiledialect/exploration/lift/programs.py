"""Programs of algorithmic rewriting, found as a search comes to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from tiledialect.exploration.lift.algorithmic import canonical_hash
from tiledialect.passes.lift.strategies.derivation import Derivation


class Programs(Sequence[str]):
    """Words of the programs of a stream, as options of a decision.

    The length is that of the words found so far; one more is looked for whenever the last one is
    asked for. A word that is looked for is found wherever in the stream it is.
    """

    def __init__(self, stream: Iterator[Derivation]):
        self._stream = stream
        self._found: dict[str, Derivation] = {}
        self._words: list[str] = []
        self._more()

    def program(self, word: str) -> Derivation:
        """The program of a word."""
        return self._found[word]

    def add(self, word: str, derivation: Derivation) -> None:
        """Add a program whose word is known."""
        if word not in self._found:
            self._found[word] = derivation
            self._words.append(word)

    def all(self) -> Iterator[str]:
        """Words of all programs, each found when it is asked for."""
        number = 0
        while number < len(self._words) or self._more():
            yield self._words[number]
            number += 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, int) and index + 1 == len(self._words):
            # An enumeration goes on as long as there are more options.
            self._more()
        return self._words[index]

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        return iter([*self._words])

    def __contains__(self, value: object) -> bool:
        return value in self._found or any(word == value for word in self.all())

    def _more(self) -> bool:
        """Find one more; false if there is none."""
        for derivation in self._stream:
            count = len(self)
            self.add(canonical_hash(derivation.function), derivation)
            if len(self) > count:
                return True
        return False
