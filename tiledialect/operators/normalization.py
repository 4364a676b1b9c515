"""Operators that normalize: softmax, batch normalization and its gradients."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.layout import broadcast, constant, element_type, shape
from tiledialect.operators.reductions import reduce, reduced


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

    def _spread(self, vector: SSAValue) -> SSAValue:
        """Vector of the features in the tensor's shape."""
        return broadcast(self.b, vector, shape(self.x), [self.axis])

    def _sum(self, x: SSAValue) -> SSAValue:
        axes = [k for k in range(len(shape(x))) if k != self.axis]
        return reduce(self.b, x, constant(self.b, 0.0, element_type(x)), Aggregation.add, axes)

    def _mean(self, x: SSAValue) -> SSAValue:
        return self.b.div(self._sum(x), self._count)

    def _centred(self, mean: SSAValue) -> SSAValue:
        return self.b.sub(self.x, self._spread(mean))

    def _deviation(self, variance: SSAValue) -> SSAValue:
        return self.b.op(ew.SqrtOp, self.b.add(variance, self.epsilon))

    def inference(
        self, scale: SSAValue, offset: SSAValue, mean: SSAValue, variance: SSAValue
    ) -> SSAValue:
        """The tensor normalized by a mean and a variance of each feature."""
        factor = self._spread(self.b.div(scale, self._deviation(variance)))
        return self.b.add(self.b.mul(self._centred(mean), factor), self._spread(offset))

    def training(self, scale: SSAValue, offset: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
        """The tensor normalized by its own mean and variance, and these."""
        mean = self._mean(self.x)
        centred = self._centred(mean)
        variance = self._mean(self.b.mul(centred, centred))
        return self.inference(scale, offset, mean, variance), mean, variance

    def gradients(
        self, scale: SSAValue, mean: SSAValue, variance: SSAValue, cotangent: SSAValue
    ) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Gradients by the tensor, the scale and the offset of ``training``."""
        b, centred, deviation = self.b, self._centred(mean), self._deviation(variance)
        total, product = self._sum(cotangent), self._sum(b.mul(cotangent, centred))
        slope = b.div(product, b.mul(b.add(variance, self.epsilon), self._count))
        rest = b.sub(cotangent, self._spread(b.div(total, self._count)))
        rest = b.sub(rest, b.mul(centred, self._spread(slope)))
        by_x = b.mul(self._spread(b.div(scale, deviation)), rest)
        return by_x, b.div(product, deviation), total
