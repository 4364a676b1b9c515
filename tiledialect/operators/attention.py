"""Attention: products of queries and keys, normalized, as weights of values."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

from xdsl.dialects.builtin import f32, i1
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators.layout import cast, element_type, reshape, shape
from tiledialect.operators.linear import einsum
from tiledialect.operators.reductions import reduced


@dataclass(frozen=True)
class Attention:
    """Attention of queries to keys along the axis before the last, for each place of the others.

    Queries may have an axis before the last two that keys and values lack: they share those.
    """

    b: TensorBuilder
    query: SSAValue
    key: SSAValue
    mask: SSAValue | None = None
    """Numbers added to the products, or bools that say which count."""
    is_causal: bool = False
    """Whether a query attends to keys up to its own place alone."""
    scale: float | None = None
    """Factor of the products; None: 1 over the root of the number of features."""

    @property
    def _factor(self) -> float:
        return 1 / sqrt(shape(self.query)[-1]) if self.scale is None else self.scale

    @property
    def _type(self) -> Attribute:
        """Type of the products: at least f32."""
        t = element_type(self.query)
        return f32 if t in et.SHORT_FLOATS else t

    def _product(
        self, x: SSAValue, y: SSAValue, terms: str, like: SSAValue | None = None
    ) -> SSAValue:
        """Product of matrices for each place of the outer axes of a tensor, by default of ``x``."""
        outer = [f"b{k}" for k in range(len(shape(x)) - 2)]
        left, right, result = (
            [*outer[: len(shape(z)) - 2], *term]
            for z, term in zip((x, y, x if like is None else like), terms.split(), strict=True)
        )
        return einsum(self.b, [x, y], [left, right], result, self._type)

    def scores(self) -> SSAValue:
        """Products of queries and keys, scaled and masked."""
        b = self.b
        found = b.mul(self._product(self.query, self.key, "qe ke qk"), self._factor)
        none = fn.like(b, found, -inf)
        if self.mask is not None and element_type(self.mask) == i1:
            found = b.select(self.mask, found, none)
        elif self.mask is not None:
            found = b.add(found, cast(b, self.mask, self._type))
        if self.is_causal:
            rank = len(shape(found))
            row, column = (b.insert(ew.IndexOp.along(found, rank - k)) for k in (2, 1))
            found = b.select(b.op(ew.CmpLeOp, column, row), found, none)
        return found

    def applied(self, value: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Weighted sums of values, and the logarithms of the sums of the exponentials.

        The sum is 0 for a query to which no key counts.
        """
        b, scores = self.b, self.scores()
        axis = len(shape(scores)) - 1
        most = reduced(b, scores, Aggregation.max, [axis], keeps=True)
        # An infinity would leave no difference.
        most = b.select(fn.is_finite(b, most), most, fn.like(b, most, 0))
        weights = b.op(ew.ExpOp, b.sub(scores, most))
        total = reduced(b, weights, Aggregation.add, [axis], keeps=True)
        divisor = b.select(b.op(ew.CmpEqOp, total, 0), fn.like(b, total, 1), total)
        result = b.div(self._product(weights, cast(b, value, self._type), "qk ke qe"), divisor)
        sums = b.add(b.op(ew.LogOp, total), most)
        return result, reshape(b, sums, shape(sums)[:-1])

    def gradients(
        self, value: SSAValue, result: SSAValue, sums: SSAValue, cotangent: SSAValue
    ) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Gradients of the result of ``applied`` by queries, keys and values."""
        b, t = self.b, self._type
        cotangent, result = cast(b, cotangent, t), cast(b, result, t)
        column = reshape(b, cast(b, sums, t), (*shape(sums), 1))
        column = b.select(fn.is_finite(b, column), column, fn.like(b, column, 0))
        weights = b.op(ew.ExpOp, b.sub(self.scores(), column))
        by_value = self._product(weights, cotangent, "qk qe ke", like=value)
        by_weights = self._product(cotangent, cast(b, value, t), "qe ke qk")
        axis = len(shape(cotangent)) - 1
        own = reduced(b, b.mul(cotangent, result), Aggregation.add, [axis], keeps=True)
        by_scores = b.mul(b.mul(weights, b.sub(by_weights, own)), self._factor)
        by_query = self._product(by_scores, cast(b, self.key, t), "qk ke qe")
        by_key = self._product(by_scores, cast(b, self.query, t), "qk qe ke", like=self.key)
        return by_query, by_key, by_value
