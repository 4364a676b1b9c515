"""Recurrent layers of ONNX, unrolled step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.layout import element_type, shape
from tiledialect.operators.linear import einsum
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value

Values = Sequence[Value]
Activation = Callable[..., SSAValue]


def _affine(b: TensorBuilder, x: SSAValue, alpha: float = 1.0, beta: float = 0.0) -> SSAValue:
    return b.add(b.mul(x, alpha), beta)


def _hard_sigmoid(b: TensorBuilder, x: SSAValue, alpha: float = 0.2, beta: float = 0.5) -> SSAValue:
    return b.op(ew.MinOp, b.op(ew.MaxOp, _affine(b, x, alpha, beta), 0.0), 1.0)


def _elu(b: TensorBuilder, x: SSAValue, alpha: float = 1.0, beta: float = 0.0) -> SSAValue:
    return fn.sloped(b, x, b.mul(b.op(ew.ExpM1Op, x), alpha))


def _leaky(b: TensorBuilder, x: SSAValue, alpha: float = 0.01, beta: float = 0.0) -> SSAValue:
    return fn.sloped(b, x, b.mul(x, alpha))


def _scaled_tanh(b: TensorBuilder, x: SSAValue, alpha: float = 1.0, beta: float = 1.0) -> SSAValue:
    return b.mul(b.op(ew.TanhOp, b.mul(x, beta)), alpha)


def _thresholded(b: TensorBuilder, x: SSAValue, alpha: float = 1.0, beta: float = 0.0) -> SSAValue:
    return b.select(b.op(ew.CmpGtOp, x, alpha), x, fn.like(b, x, 0))


def _softsign(b: TensorBuilder, x: SSAValue) -> SSAValue:
    return b.div(x, b.add(b.op(ew.AbsOp, x), 1.0))


def _plain(op: type[ew.ElementwiseOp]) -> Activation:
    def apply(b: TensorBuilder, x: SSAValue) -> SSAValue:
        return b.op(op, x)

    return apply


ACTIVATIONS: dict[str, Activation] = {
    "affine": _affine,
    "elu": _elu,
    "hardsigmoid": _hard_sigmoid,
    "leakyrelu": _leaky,
    "relu": _plain(ew.ReluOp),
    "scaledtanh": _scaled_tanh,
    "sigmoid": _plain(ew.SigmoidOp),
    "softplus": fn.softplus,
    "softsign": _softsign,
    "tanh": _plain(ew.TanhOp),
    "thresholdedrelu": _thresholded,
}
"""Activations by their names in lower case; those of numbers take alpha and beta."""

WITH_NUMBERS = (_affine, _elu, _hard_sigmoid, _leaky, _scaled_tanh, _thresholded)


@dataclass(frozen=True)
class Cell:
    """Direction of a layer: a step from the states before to those after."""

    b: TensorBuilder
    node: Node
    weights: SSAValue
    """Gates, rows of the hidden size, columns of the input size."""
    recurrent: SSAValue
    """The same for the state before."""
    bias: SSAValue | None
    state_bias: SSAValue | None
    activations: list[Activation]
    peepholes: list[SSAValue] | None = None

    def inputs(self, x: SSAValue) -> SSAValue:
        """Sums over the inputs of all steps, which wait for no state: step, gate, batch, hidden."""
        total = einsum(self.b, [x, self.weights], ["tnk", "ghk"], "tgnh", element_type(x))
        return total if self.bias is None else self.b.add(total, self.bias)

    def past(self, h: SSAValue, first: int, last: int) -> SSAValue:
        """Sums of some gates over the state before."""
        b = self.b
        weights = layout.section(b, self.recurrent, 0, first, last)
        total = einsum(b, [h, weights], ["nk", "ghk"], "gnh", element_type(h))
        if self.state_bias is None:
            return total
        return b.add(total, layout.section(b, self.state_bias, 0, first, last))

    def clipped(self, x: SSAValue) -> SSAValue:
        """A sum within the bounds of the node."""
        if "clip" not in self.node.attributes:
            return x
        bound = float(self.node.attributes["clip"])
        return self.b.op(ew.MinOp, self.b.op(ew.MaxOp, x, -bound), bound)

    def active(self, k: int, x: SSAValue) -> SSAValue:
        """A gate's value."""
        return self.activations[k](self.b, self.clipped(x))


def _rnn_step(cell: Cell, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
    (total,) = _parts(cell.b, cell.b.add(x, cell.past(states[0], 0, 1)))
    return [cell.active(0, total)]


def _gru_step(cell: Cell, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
    b, (h,) = cell.b, states
    own_z, own_r, own = _parts(b, x)
    is_whole = bool(cell.node.attribute("linear_before_reset", 0))
    past_z, past_r, *rest = _parts(b, cell.past(h, 0, 3 if is_whole else 2))
    z = cell.active(0, b.add(own_z, past_z))
    r = cell.active(0, b.add(own_r, past_r))
    (past,) = [b.mul(r, rest[0])] if is_whole else _parts(b, cell.past(b.mul(r, h), 2, 3))
    n = cell.active(1, b.add(own, past))
    return [b.add(b.mul(b.sub(1.0, z), n), b.mul(z, h))]


def _lstm_step(cell: Cell, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
    b, (h, c) = cell.b, states
    i, o, f, g = _parts(b, b.add(x, cell.past(h, 0, 4)))
    if cell.peepholes is not None:
        i = b.add(i, b.mul(cell.peepholes[0], c))
        f = b.add(f, b.mul(cell.peepholes[2], c))
    i, g = cell.active(0, i), cell.active(1, g)
    f = b.sub(1.0, i) if cell.node.attribute("input_forget", 0) else cell.active(0, f)
    after = b.add(b.mul(f, c), b.mul(i, g))
    if cell.peepholes is not None:
        o = b.add(o, b.mul(cell.peepholes[1], after))
    o = cell.active(0, o)
    return [b.mul(o, cell.activations[2](b, after)), after]


@dataclass(frozen=True)
class Layer:
    """Form of a recurrent layer."""

    step: Callable[[Cell, SSAValue, Sequence[SSAValue]], list[SSAValue]]
    gates: int
    defaults: tuple[str, ...]
    """Activations of one direction."""
    states: int = 1


def _parts(b: TensorBuilder, x: SSAValue) -> list[SSAValue]:
    """Parts of a tensor, one for each place on its first axis."""
    return [layout.element(b, x, 0, k) for k in range(shape(x)[0])]


def _activations(node: Node, layer: Layer, directions: int) -> list[list[Activation]]:
    given = node.attribute("activations", [])
    names = [n.decode() if isinstance(n, bytes) else n for n in given]
    names = names or [*layer.defaults] * directions
    alphas, betas = (
        iter(node.attribute("activation_alpha", [])),
        iter(node.attribute("activation_beta", [])),
    )
    found: list[Activation] = []
    for name in names:
        function = ACTIVATIONS.get(name.lower())
        if function is None:
            raise node.refusal(f"there is no activation {name}")
        if function in WITH_NUMBERS:
            numbers = {"alpha": next(alphas, None), "beta": next(betas, None)}
            function = partial(function, **{k: v for k, v in numbers.items() if v is not None})
        found.append(function)
    count = len(layer.defaults)
    return [found[k * count : (k + 1) * count] for k in range(directions)]


def _cell(b: TensorBuilder, node: Node, layer: Layer, k: int, acts: list[Activation]) -> Cell:
    weights, recurrent = (_by_gate(b, node.tensor(n), layer, k) for n in (1, 2))
    hidden = shape(recurrent)[1]
    bias = state_bias = None
    if (found := node.optional(3)) is not None:
        pairs = layout.reshape(b, layout.element(b, found, 0, k), (2, layer.gates, 1, hidden))
        bias, state_bias = _parts(b, pairs)
    peepholes = None
    if layer.states == 2 and (found := node.optional(7)) is not None:
        peepholes = _parts(b, layout.reshape(b, layout.element(b, found, 0, k), (3, hidden)))
    return Cell(b, node, weights, recurrent, bias, state_bias, acts, peepholes)


def _by_gate(b: TensorBuilder, weights: SSAValue, layer: Layer, k: int) -> SSAValue:
    """Weights of a direction: gates, rows, columns."""
    own = layout.element(b, weights, 0, k)
    rows, columns = shape(own)
    return layout.reshape(b, own, (layer.gates, rows // layer.gates, columns))


def _recurrent(layer: Layer) -> Conversion:
    def convert(b: TensorBuilder, node: Node) -> Values:
        x = node.tensor(0)
        is_batch_first = bool(node.attribute("layout", 0))
        if is_batch_first:
            x = layout.transpose(b, x, [1, 0, 2])
        direction = node.attribute("direction", "forward")
        ways = {"forward": (False,), "reverse": (True,)}.get(direction, (False, True))
        activations = _activations(node, layer, len(ways))
        runs = [
            _run(b, node, layer, _cell(b, node, layer, k, activations[k]), x, k, is_reverse=way)
            for k, way in enumerate(ways)
        ]
        return _outputs(b, node, runs, is_batch_first=is_batch_first)

    return convert


def _outputs(
    b: TensorBuilder,
    node: Node,
    runs: Sequence[tuple[list[SSAValue], list[SSAValue]]],
    *,
    is_batch_first: bool,
) -> Values:
    """All steps and the last states: times, directions, batch, hidden; or with the batch first."""
    steps: list[SSAValue] = []
    for own in zip(*(outputs for outputs, _ in runs), strict=True):
        rows = [layout.reshape(b, v, (1, 1, *shape(v))) for v in own]
        steps.append(layout.concatenate(b, rows, 1))
    whole = layout.concatenate(b, steps, 0)
    states = [
        layout.concatenate(b, [layout.reshape(b, v, (1, *shape(v))) for v in own], 0)
        for own in zip(*(last for _, last in runs), strict=True)
    ]
    if is_batch_first:
        whole = layout.transpose(b, whole, [2, 0, 1, 3])
        states = [layout.transpose(b, v, [1, 0, 2]) for v in states]
    return [whole, *states][: max(1, len(node.proto.output))]


def _run(
    b: TensorBuilder,
    node: Node,
    layer: Layer,
    cell: Cell,
    x: SSAValue,
    k: int,
    *,
    is_reverse: bool,
) -> tuple[list[SSAValue], list[SSAValue]]:
    """Outputs of all steps in the order of time, and the last states."""
    times, batch, _ = shape(x)
    states = [
        _first_state(b, node, 5 + n, k, (batch, shape(cell.recurrent)[1]))
        for n in range(layer.states)
    ]
    lengths = node.optional(4)
    inputs = cell.inputs(x)
    outputs: list[SSAValue] = []
    for time in reversed(range(times)) if is_reverse else range(times):
        after = layer.step(cell, layout.element(b, inputs, 0, time), states)
        out = after[0]
        if lengths is not None:
            # Steps after the end of a sequence leave its states, and give 0.
            column = layout.reshape(b, layout.cast(b, lengths, i32), (batch, 1))
            runs = b.op(ew.CmpGtOp, column, time)
            after = [b.select(runs, new, old) for new, old in zip(after, states, strict=True)]
            out = b.select(runs, out, fn.like(b, out, 0))
        states = after
        outputs.append(out)
    return (outputs[::-1] if is_reverse else outputs), states


def _first_state(
    b: TensorBuilder, node: Node, number: int, k: int, sizes: tuple[int, int]
) -> SSAValue:
    given = node.optional(number)
    if given is None:
        return layout.full(b, 0, sizes, element_type(node.tensor(0)))
    if node.attribute("layout", 0):
        given = layout.transpose(b, given, [1, 0, 2])
    return layout.element(b, given, 0, k)


RECURRENT: dict[str, Conversion] = {
    "GRU": _recurrent(Layer(_gru_step, 3, ("sigmoid", "tanh"))),
    "LSTM": _recurrent(Layer(_lstm_step, 4, ("sigmoid", "tanh", "tanh"), states=2)),
    "RNN": _recurrent(Layer(_rnn_step, 1, ("tanh",))),
}
