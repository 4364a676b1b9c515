"""gpu-keep-sums: for OpenCL implementations that need it, products of sums stay such."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from itertools import product

from xdsl.context import Context
from xdsl.dialects import arith, gpu, math, memref
from xdsl.dialects.builtin import AnyFloat, FloatAttr, ModuleOp, f32, f64
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.ir.ops_in import ops_of


class GpuKeepSumsPass(ModulePass):
    """Computes products of sums with the same summand and factor as `fma(a + b, c, -0.0)`.

    The result is the same. `(x + b) * c` and `(y + b) * c` are not multiplied out then, as
    `x * c + b * c`, which rounds numbers near `-b` to others than in other kernels. It is done for
    scalars of f32 and f64.
    """

    name = "gpu-keep-sums"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the products of every kernel."""
        for kernel in ops_of(op, gpu.FuncOp):
            alike = defaultdict[Hashable, set[arith.MulfOp]](set)
            for one in ops_of(kernel, arith.MulfOp):
                if one.result.type in (f32, f64):
                    for key in _summands_and_factors(one):
                        alike[key].add(one)
            found = {one for group in alike.values() if len(group) > 1 for one in group}
            for one in [x for x in ops_of(kernel, arith.MulfOp) if x in found]:
                _keep(one)


def _summands_and_factors(one: arith.MulfOp) -> Iterator[Hashable]:
    """Pairs of a summand of one operand and the other operand, as far as there are any."""
    for total, factor in ((one.lhs, one.rhs), (one.rhs, one.lhs)):
        if isinstance(total.owner, arith.AddfOp | arith.SubfOp):
            yield from product(map(_source, total.owner.operands), (_source(factor),))


def _source(value: SSAValue) -> Hashable:
    """Key that equal values share: a constant's number, a place in memory, or themselves."""
    op = value.owner
    if isinstance(op, arith.ConstantOp):
        return op.value
    if isinstance(op, memref.LoadOp):
        return op.memref, *map(_source, op.indices)
    return value


def _keep(one: arith.MulfOp) -> None:
    """Replace a product by one to which a zero is added that changes no sign."""
    type = one.result.type
    assert isinstance(type, AnyFloat)
    zero = arith.ConstantOp(FloatAttr(-0.0, type))
    kept = math.FmaOp(one.lhs, one.rhs, zero.result)
    Rewriter.insert_op(zero, InsertPoint.before(one))
    Rewriter.replace_op(one, kept)
