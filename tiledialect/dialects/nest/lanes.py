"""Types of vectors."""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute

from tiledialect import caches


@caches.VECTOR_TYPES
def vector_of(element: Attribute, lanes: int) -> VectorType[Attribute]:
    """The type of so many lanes: it is asked for each op, and takes long to make."""
    return VectorType(element, [lanes])
