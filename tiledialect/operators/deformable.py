"""Convolutions of elements at computed places: deformable convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.layout import cast, element_type, literal, reshape, shape
from tiledialect.operators.linear import Window, einsum
from tiledialect.operators.reductions import reduced
from tiledialect.operators.sampling import sample_at, sample_at_gradients


@dataclass(frozen=True)
class Deformation:
    """Deformable convolution: each tap of each window has an offset of its own along each axis.

    Elements between others are interpolated; those outside are 0.
    """

    b: TensorBuilder
    x: SSAValue
    """Batch, features, spatial axes."""
    kernel: SSAValue
    """Features of the result, features of a group, taps along each axis."""
    offsets: SSAValue
    """Batch; groups of offsets, taps and axes as one axis; places of the windows."""
    mask: SSAValue | None
    """Factors of the taps, as the offsets, of which an axis is left out."""
    windows: Sequence[Window]
    counts: Sequence[int]
    """Number of windows along each axis."""
    groups: int
    """Groups of features that have parts of the kernel of their own."""
    offset_groups: int
    """Groups of features that have offsets of their own."""

    @property
    def _taps(self) -> int:
        return prod(w.size for w in self.windows)

    @property
    def _batch(self) -> int:
        """Batch of tensors that have one group of offsets each."""
        return shape(self.x)[0] * self.offset_groups

    def _separate(self) -> SSAValue:
        """The tensor with a group of offsets as an element of the batch."""
        features = shape(self.x)[1] // self.offset_groups
        return reshape(self.b, self.x, (self._batch, features, *shape(self.x)[2:]))

    def _places(self) -> list[SSAValue]:
        """Places of the taps of all windows along each axis."""
        b, rank = self.b, len(self.windows)
        sizes = (self._batch, self._taps, *self.counts)
        moved = reshape(b, self.offsets, (self._batch, self._taps, rank, *self.counts))
        result: list[SSAValue] = []
        for axis, window in enumerate(self.windows):
            own = reshape(b, layout.section(b, moved, 2, axis, axis + 1), sizes)
            taps = [t[axis] for t in product(*(range(w.size) for w in self.windows))]
            starts = np.arange(self.counts[axis]) * window.stride - window.low
            line = [1] * rank
            line[axis] = -1
            first = np.reshape(taps, (-1, *[1] * rank)) * window.dilation + starts.reshape(line)
            place = np.broadcast_to(first, (1, self._taps, *self.counts)).astype(np.float32)
            result.append(b.add(own, cast(b, literal(b, place), element_type(own))))
        return result

    def _factors(self) -> SSAValue | None:
        """Factors of the taps of all windows, for all features."""
        if self.mask is None:
            return None
        return reshape(self.b, self.mask, (self._batch, 1, self._taps, *self.counts))

    def _columns(self, found: SSAValue, factors: SSAValue | None) -> SSAValue:
        """Samples of all windows by their factors, with the features in groups."""
        n, features = shape(self.x)[:2]
        sizes = (n, self.groups, features // self.groups, self._taps, prod(self.counts))
        weighted = found if factors is None else self.b.mul(found, factors)
        return reshape(self.b, weighted, sizes)

    def _weights(self) -> SSAValue:
        """The kernel with its features in groups."""
        out, inner = shape(self.kernel)[:2]
        return reshape(self.b, self.kernel, (self.groups, out // self.groups, inner, self._taps))

    def result(self) -> SSAValue:
        """The convolution, without a bias."""
        b, t = self.b, element_type(self.x)
        found = sample_at(b, self._separate(), self._places(), "linear", "zeros")
        columns = self._columns(found, self._factors())
        terms = (list("ngctp"), list("goct"))
        made = einsum(b, [columns, self._weights()], terms, list("ngop"), t)
        return reshape(b, made, (shape(self.x)[0], shape(self.kernel)[0], *self.counts))

    def gradients(
        self, cotangent: SSAValue
    ) -> tuple[SSAValue, SSAValue, SSAValue, SSAValue | None]:
        """Gradients by the tensor, the kernel, the offsets and the mask."""
        b, t = self.b, element_type(self.x)
        n, out = shape(self.x)[0], shape(self.kernel)[0]
        own = reshape(b, cotangent, (n, self.groups, out // self.groups, prod(self.counts)))
        separate, places, factors = self._separate(), self._places(), self._factors()
        found = sample_at(b, separate, places, "linear", "zeros")
        columns = self._columns(found, factors)
        by_kernel = einsum(b, [own, columns], (list("ngop"), list("ngctp")), list("goct"), t)
        terms = (list("ngop"), list("goct"))
        by_columns = einsum(b, [own, self._weights()], terms, list("ngctp"), t)
        by_columns = reshape(b, by_columns, shape(found))
        by_mask = None
        if factors is not None and self.mask is not None:
            total = b.mul(by_columns, found)
            by_mask = reduced(b, total, Aggregation.add, [1], keeps=False)
            by_mask = reshape(b, by_mask, shape(self.mask))
            by_columns = b.mul(by_columns, factors)
        by_x, by_place = sample_at_gradients(b, by_columns, separate, places, "linear", "zeros")
        columns_of = [reshape(b, v, (*shape(v)[:2], 1, *shape(v)[2:])) for v in by_place]
        by_offsets = reshape(b, layout.concatenate(b, columns_of, 2), shape(self.offsets))
        by_x = reshape(b, by_x, shape(self.x))
        return by_x, reshape(b, by_kernel, shape(self.kernel)), by_offsets, by_mask
