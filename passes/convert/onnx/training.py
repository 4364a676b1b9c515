"""Steps of optimizers, of ONNX's preview of training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators.layout import cast, element_type, reshape
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value

Values = Sequence[SSAValue]
Step = Callable[[TensorBuilder, Node, SSAValue, SSAValue, SSAValue, Values], Values]
"""Makes a parameter and its state anew, from the rate, the number of steps before, the parameter,
its gradient and its old state."""


def _scalar(b: TensorBuilder, node: Node, k: int, like: SSAValue) -> SSAValue:
    """Input ``k``, one number, in the type of a tensor."""
    return cast(b, reshape(b, node.tensor(k), ()), element_type(like))


def _optimizer(step: Step, states: int) -> Conversion:
    """Steps of all parameters: a node has the rate, the number of steps, then of all parameters the
    values, then the gradients, then each state."""

    def convert(b: TensorBuilder, node: Node) -> Sequence[Value]:
        given = node.tensors[2:]
        count = len(given) // (2 + states)
        if len(given) != count * (2 + states):
            raise node.refusal(f"its {len(given)} tensors are not {2 + states} for each parameter")
        norm = node.attribute("norm_coefficient", 0.0)
        made: list[Values] = []
        for k in range(count):
            x, gradient, *state = given[k::count]
            rate, number = (_scalar(b, node, n, x) for n in (0, 1))
            gradient = b.add(b.mul(x, norm), gradient)
            made.append(step(b, node, rate, number, x, [gradient, *state]))
        return [value for kind in zip(*made, strict=True) for value in kind]

    return convert


def _adagrad(
    b: TensorBuilder, node: Node, rate: SSAValue, number: SSAValue, x: SSAValue, given: Values
) -> Values:
    gradient, squares = given
    decay = b.add(b.mul(number, node.attribute("decay_factor", 0.0)), 1.0)
    squares = b.add(squares, fn.square(b, gradient))
    size = b.add(b.op(ew.SqrtOp, squares), node.attribute("epsilon", 0.0))
    return b.sub(x, b.div(b.mul(b.div(rate, decay), gradient), size)), squares


def _adam(
    b: TensorBuilder, node: Node, rate: SSAValue, number: SSAValue, x: SSAValue, given: Values
) -> Values:
    gradient, mean, squares = given
    alpha, beta = node.attribute("alpha", 0.9), node.attribute("beta", 0.999)
    mean = b.add(b.mul(mean, alpha), b.mul(gradient, 1 - alpha))
    squares = b.add(b.mul(squares, beta), b.mul(fn.square(b, gradient), 1 - beta))
    size = b.add(b.op(ew.SqrtOp, squares), node.attribute("epsilon", 1e-6))
    rest = [b.sub(1.0, b.op(ew.PowOp, fn.like(b, number, p), number)) for p in (beta, alpha)]
    corrected = b.div(b.mul(rate, b.op(ew.SqrtOp, rest[0])), rest[1])
    own = b.select(b.op(ew.CmpGtOp, number, 0.0), corrected, rate)
    after = 1 - node.attribute("norm_coefficient_post", 0.0)
    return b.mul(b.sub(x, b.mul(own, b.div(mean, size))), after), mean, squares


def _momentum(
    b: TensorBuilder, node: Node, rate: SSAValue, number: SSAValue, x: SSAValue, given: Values
) -> Values:
    gradient, velocity = given
    alpha, beta = node.attribute("alpha", 0.0), node.attribute("beta", 0.0)
    share = b.select(b.op(ew.CmpGtOp, number, 0.0), fn.like(b, x, beta), fn.like(b, x, 1))
    velocity = b.add(b.mul(velocity, alpha), b.mul(share, gradient))
    is_nesterov = node.attribute("mode", "standard") == "nesterov"
    step = b.add(gradient, b.mul(velocity, alpha)) if is_nesterov else velocity
    return b.sub(x, b.mul(rate, step)), velocity


TRAINING: dict[str, Conversion] = {
    "ai.onnx.preview.training.Adagrad": _optimizer(_adagrad, 1),
    "ai.onnx.preview.training.Adam": _optimizer(_adam, 2),
    "ai.onnx.preview.training.Momentum": _optimizer(_momentum, 1),
}
