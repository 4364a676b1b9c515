"""Parts of images in boxes, brought to one size: means, or maxima, of samples in bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators.layout import (
    cast,
    element_type,
    full,
    iota,
    literal,
    reshape,
    section,
    shape,
)
from tiledialect.operators.linear import einsum
from tiledialect.operators.reductions import reduced
from tiledialect.operators.sampling import sample_at, sample_at_gradients, shares_at

ADD = Aggregation.add
MOST_SAMPLES = 7
"""Most samples of a bin near one element: they are more than half an element apart."""


@dataclass(frozen=True)
class Line:
    """Bins of all boxes along an axis: where the first begins, and their size."""

    start: SSAValue
    bin: SSAValue
    count: int
    """Number of bins."""
    size: int
    """Number of elements of the image."""


@dataclass(frozen=True)
class Regions:
    """Boxes in a batch of images, divided into bins, and in each bin a grid of samples.

    A sample is interpolated between elements; it is 0 farther than one element outside.
    """

    b: TensorBuilder
    boxes: SSAValue
    """For each box its two corners in elements: x, y, x, y."""
    batch: SSAValue
    """Number of the image of each box."""
    counts: tuple[int, int]
    """Number of bins along each axis."""
    sizes: tuple[int, int, int, int]
    """Batch, features, height, width of the images."""
    ratio: int
    """Number of samples of a bin along an axis; 0 for one in each element that begins."""
    is_aligned: bool
    """Whether pixels have their centres at halves, and boxes may be smaller than one element."""

    @cached_property
    def _lines(self) -> tuple[Line, Line]:
        """Bins along the two spatial axes."""
        b, count = self.b, shape(self.boxes)[0]
        x0, y0, x1, y1 = (
            reshape(b, section(b, self.boxes, 1, k, k + 1), (count,)) for k in range(4)
        )
        lines: list[Line] = []
        for (low, high), bins, size in zip(
            ((y0, y1), (x0, x1)), self.counts, self.sizes[2:], strict=True
        ):
            length = b.sub(high, low)
            if self.is_aligned:
                low = b.sub(low, 0.5)
            else:
                length = b.op(ew.MaxOp, length, 1.0)
            lines.append(Line(low, b.div(length, float(bins)), bins, size))
        return lines[0], lines[1]

    def _places(self) -> list[SSAValue]:
        """Places of samples along each axis, by box, bins along each axis, samples along each."""
        b, boxes, result = self.b, shape(self.boxes)[0], []
        for axis, line in enumerate(self._lines):
            start, size = (reshape(b, v, (boxes, 1, 1, 1, 1)) for v in (line.start, line.bin))
            of_bin, of_sample = [1] * 5, [1] * 5
            of_bin[1 + axis], of_sample[3 + axis] = line.count, self.ratio
            t = element_type(line.start)
            bins = np.arange(line.count, dtype=np.float64).reshape(of_bin)
            samples = (np.arange(self.ratio) + 0.5).reshape(of_sample)
            first = b.add(start, b.mul(cast(b, literal(b, bins), t), size))
            own = b.div(b.mul(cast(b, literal(b, samples), t), size), float(self.ratio))
            result.append(b.add(first, own))
        return result

    def _is_inside(self, places: Sequence[SSAValue]) -> SSAValue:
        """Whether samples are at most one element outside."""
        inside = [
            self.b.op(
                ew.BitAndOp,
                self.b.op(ew.CmpGeOp, place, -1.0),
                self.b.op(ew.CmpLeOp, place, float(size)),
            )
            for place, size in zip(places, self.sizes[2:], strict=True)
        ]
        return self.b.op(ew.BitAndOp, *inside)

    @property
    def _numbers(self) -> SSAValue:
        """Numbers of the images beside samples."""
        return reshape(self.b, cast(self.b, self.batch, i32), (shape(self.batch)[0], 1, 1, 1, 1))

    def mean(self, x: SSAValue) -> SSAValue:
        """Mean of the samples of each bin: boxes, features, bins along each axis."""
        if self.ratio == 0:
            return self._mean_by_rows(x)
        b, places = self.b, self._places()
        found = sample_at(b, x, places, "linear", "border", batch=self._numbers)
        return reduced(
            b, b.div(self._kept(found, places), float(self.ratio**2)), ADD, [4, 5], keeps=False
        )

    def maximum(self, x: SSAValue) -> SSAValue:
        """Maximum in each bin of the shares that elements have in its samples, as ONNX has it."""
        b, places = self.b, self._places()
        shares = shares_at(b, x, places, batch=self._numbers)
        best = shares[0]
        for share in shares[1:]:
            best = b.op(ew.MaxOp, best, share)
        return reduced(b, self._kept(best, places), Aggregation.max, [4, 5], keeps=False)

    def _kept(self, found: SSAValue, places: Sequence[SSAValue]) -> SSAValue:
        """Values of samples, with features second; 0 outside."""
        inside = self._is_inside(places)
        boxes, *inner = shape(inside)
        inside = reshape(self.b, inside, (boxes, 1, *inner))
        return self.b.select(inside, found, fn.like(self.b, found, 0))

    def mean_by_x(self, cotangent: SSAValue) -> SSAValue:
        """Gradient of the mean by the images."""
        if self.ratio == 0:
            return self._mean_by_rows_by_x(cotangent)
        b, places = self.b, self._places()
        share = reshape(b, b.div(cotangent, float(self.ratio**2)), (*shape(cotangent), 1, 1))
        share = self._kept(share, places)
        # Only the shape counts.
        like = full(b, 0, self.sizes, element_type(cotangent))
        numbers = self._numbers
        return sample_at_gradients(b, share, like, places, "linear", "border", batch=numbers)[0]

    def _rows(self, line: Line) -> tuple[SSAValue, SSAValue]:
        """Sum of the weights of each element in the samples of each bin, and the samples' number.

        There is a sample in each element that a bin begins, so that few are near one element.
        """
        b, boxes = self.b, shape(line.start)[0]
        start, size = (reshape(b, v, (boxes, 1, 1, 1)) for v in (line.start, line.bin))
        t, whole = element_type(start), (boxes, line.count, line.size, MOST_SAMPLES)
        number = b.op(ew.CeilOp, size)
        is_any = b.op(ew.CmpGtOp, number, 0.0)
        step = b.select(is_any, b.div(size, number), fn.like(b, size, 1))
        own = [
            iota(b, tuple(n if k == j else 1 for j, n in enumerate(whole)), k, t) for k in (1, 2, 3)
        ]
        first = b.add(start, b.mul(own[0], size))
        nearest = b.div(b.sub(b.sub(own[1], 1.0), first), step)
        sample = b.add(b.op(ew.MaxOp, b.op(ew.FloorOp, b.sub(nearest, 0.5)), 0.0), own[2])
        place = b.add(first, b.mul(b.add(sample, 0.5), step))
        clamped = b.op(ew.MinOp, b.op(ew.MaxOp, place, 0.0), float(line.size - 1))
        weight = b.op(ew.MaxOp, b.sub(1.0, b.op(ew.AbsOp, b.sub(clamped, own[1]))), 0.0)
        is_counted = [
            fn.is_less(b, sample, number),
            b.op(ew.CmpGeOp, place, -1.0),
            b.op(ew.CmpLeOp, place, float(line.size)),
        ]
        for condition in is_counted:
            weight = b.select(condition, weight, fn.like(b, weight, 0))
        return reduced(b, weight, ADD, [3], keeps=False), reshape(b, number, (boxes,))

    def _weights(self) -> tuple[SSAValue, SSAValue]:
        """Weights of rows of all images, over the number of samples, and those of columns."""
        b, boxes = self.b, shape(self.boxes)[0]
        (rows, of_rows), (columns, of_columns) = (self._rows(line) for line in self._lines)
        count = b.op(ew.MaxOp, b.mul(of_rows, of_columns), 1.0)
        rows = b.div(rows, reshape(b, count, (boxes, 1, 1)))
        images = self.sizes[0]
        own = reshape(b, cast(b, self.batch, i32), (boxes, 1, 1, 1))
        is_own = b.op(ew.CmpEqOp, own, iota(b, (1, 1, images, 1), 2, i32))
        rows = reshape(b, rows, (boxes, self.counts[0], 1, self.sizes[2]))
        return b.select(is_own, rows, fn.like(b, rows, 0)), columns

    def _mean_by_rows(self, x: SSAValue) -> SSAValue:
        """The mean as two products, as the number of samples of a box is its own."""
        (rows, columns), t = self._weights(), element_type(x)
        lines = einsum(self.b, [rows, x], (list("kpny"), list("ncyx")), list("kcpx"), t)
        return einsum(self.b, [lines, columns], (list("kcpx"), list("kqx")), list("kcpq"), t)

    def _mean_by_rows_by_x(self, cotangent: SSAValue) -> SSAValue:
        (rows, columns), t = self._weights(), element_type(cotangent)
        lines = einsum(self.b, [cotangent, columns], (list("kcpq"), list("kqx")), list("kcpx"), t)
        return einsum(self.b, [rows, lines], (list("kpny"), list("kcpx")), list("ncyx"), t)
