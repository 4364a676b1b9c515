"""Operators that normalize: softmax, standardization, batch normalization, and gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators.layout import reshape, shape
from tiledialect.operators.reductions import reduced


def stop_gradient(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """A value by which nothing is differentiated."""
    op = CustomGradientOp.of(x, [])
    op.body.block.add_op(YieldOp([]))
    return b.insert(op)


def _shifted(b: TensorBuilder, x: SSAValue, axis: int) -> SSAValue:
    """A tensor less its maximum along an axis, by which there is no derivative."""
    return b.sub(x, stop_gradient(b, reduced(b, x, Aggregation.max, [axis], keeps=True)))


def softmax(b: TensorBuilder, x: SSAValue, axis: int) -> SSAValue:
    """Exponentials over their sum along an axis."""
    exponentials = b.op(ew.ExpOp, _shifted(b, x, axis))
    return b.div(exponentials, reduced(b, exponentials, Aggregation.add, [axis], keeps=True))


def log_softmax(b: TensorBuilder, x: SSAValue, axis: int) -> SSAValue:
    """The logarithm of ``softmax``."""
    shifted = _shifted(b, x, axis)
    total = reduced(b, b.op(ew.ExpOp, shifted), Aggregation.add, [axis], keeps=True)
    return b.sub(shifted, b.op(ew.LogOp, total))


def mean_along(b: TensorBuilder, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    """Mean along axes, which stay with one element."""
    count = float(prod(shape(x)[k] for k in axes))
    return b.div(reduced(b, x, Aggregation.add, axes, keeps=True), count)


def over_deviation(
    b: TensorBuilder, x: SSAValue, axes: Sequence[int], epsilon: float
) -> tuple[SSAValue, SSAValue]:
    """Factor that makes the mean of the squares along axes 1, and the tensor times it."""
    square = mean_along(b, fn.square(b, x), axes)
    factor = fn.rsqrt(b, b.add(square, epsilon))
    return factor, b.mul(x, factor)


def standardized_by_x(
    b: TensorBuilder, own: SSAValue, factor: SSAValue, axes: Sequence[int], cotangent: SSAValue
) -> SSAValue:
    """Gradient of a tensor less its mean along axes, times the factor that is 1 over its deviation.

    ``own`` is the result. Axes stay with one element in ``factor``.
    """
    mean = mean_along(b, cotangent, axes)
    slope = mean_along(b, b.mul(cotangent, own), axes)
    return b.mul(b.sub(b.sub(cotangent, mean), b.mul(own, slope)), factor)


@dataclass(frozen=True)
class BatchNorm:
    """Normalization of a tensor along all of its axes but one."""

    b: TensorBuilder
    x: SSAValue
    axis: int
    epsilon: float

    @property
    def _count(self) -> float:
        """Number of elements of each feature."""
        return float(prod(n for k, n in enumerate(shape(self.x)) if k != self.axis))

    def along(self, vector: SSAValue) -> SSAValue:
        """Vector of the features along their axis of the tensor, with one element along others."""
        sizes = tuple(n if k == self.axis else 1 for k, n in enumerate(shape(self.x)))
        return reshape(self.b, vector, sizes)

    def vector(self, along: SSAValue) -> SSAValue:
        """Vector of the features, of one along their axis."""
        return reshape(self.b, along, (shape(self.x)[self.axis],))

    def _sum(self, x: SSAValue) -> SSAValue:
        axes = [k for k in range(len(shape(x))) if k != self.axis]
        return reduced(self.b, x, Aggregation.add, axes, keeps=True)

    def _mean(self, x: SSAValue) -> SSAValue:
        return self.b.div(self._sum(x), self._count)

    def _centred(self, mean: SSAValue) -> SSAValue:
        return self.b.sub(self.x, self.along(mean))

    def _deviation(self, variance: SSAValue) -> SSAValue:
        return self.b.op(ew.SqrtOp, self.b.add(variance, self.epsilon))

    def factor(self, variance: SSAValue) -> SSAValue:
        """1 over the deviation of each feature."""
        return self.b.op(ew.RecipOp, self._deviation(variance))

    def inference(
        self,
        scale: SSAValue | None,
        offset: SSAValue | None,
        mean: SSAValue,
        variance: SSAValue,
    ) -> SSAValue:
        """The tensor normalized by a mean and a variance of each feature."""
        deviation = self._deviation(self.along(variance))
        if scale is None:
            weight = self.b.op(ew.RecipOp, deviation)
        else:
            weight = self.b.div(self.along(scale), deviation)
        result = self.b.mul(self._centred(mean), weight)
        return result if offset is None else self.b.add(result, self.along(offset))

    def training(
        self, scale: SSAValue | None, offset: SSAValue | None
    ) -> tuple[SSAValue, SSAValue, SSAValue]:
        """The tensor normalized by its own mean and variance, and these, along the features' axis.

        One kernel can have both statistics, the result, and what else is computed of them there.
        """
        mean = self._mean(self.x)
        centred = self._centred(mean)
        variance = self._mean(self.b.mul(centred, centred))
        return self.inference(scale, offset, mean, variance), mean, variance

    def gradients(
        self, scale: SSAValue, mean: SSAValue, variance: SSAValue, cotangent: SSAValue
    ) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Gradients by the tensor, the scale and the offset of ``training``."""
        return self.gradients_by_factor(scale, mean, self.factor(variance), cotangent)

    def gradients_by_factor(
        self,
        scale: SSAValue | None,
        mean: SSAValue,
        factor: SSAValue,
        cotangent: SSAValue,
        *,
        is_inference: bool = False,
    ) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Gradients from 1 over the deviation; of ``inference`` if the mean is not the tensor's."""
        b, centred, factor = self.b, self._centred(mean), self.along(factor)
        total, product = self._sum(cotangent), self._sum(b.mul(cotangent, centred))
        rest = cotangent
        if not is_inference:
            slope = b.div(b.mul(product, b.mul(factor, factor)), self._count)
            rest = b.sub(rest, b.div(total, self._count))
            rest = b.sub(rest, b.mul(centred, slope))
        weight = factor if scale is None else b.mul(self.along(scale), factor)
        by_scale, by_offset = self.vector(b.mul(product, factor)), self.vector(total)
        return b.mul(weight, rest), by_scale, by_offset
