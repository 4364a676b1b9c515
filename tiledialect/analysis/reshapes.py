"""Reshapes: axes before and after that hold the same elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def reshaped_axes(old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The fewest axes side by side that have as many elements together; axes of 1 are alone."""
    before = [k for k, n in enumerate(old) if n != 1]
    after = [k for k, n in enumerate(new) if n != 1]
    yield from (([k], list[int]()) for k, n in enumerate(old) if n == 1)
    yield from ((list[int](), [k]) for k, n in enumerate(new) if n == 1)
    while before or after:
        own, other, product, wanted = list[int](), list[int](), 1, 1
        while product != wanted or not own:
            if product <= wanted and before:
                own.append(before.pop(0))
                product *= old[own[-1]]
            elif after:
                other.append(after.pop(0))
                wanted *= new[other[-1]]
            else:
                own += before
                before.clear()
                break
        yield own, other
