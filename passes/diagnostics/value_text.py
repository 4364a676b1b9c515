"""Text for values, as explanations show it: their names, or the expressions that compute them."""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.ir import BlockArgument, Operation, SSAValue

from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import (
    CastOp,
    ConstantOp,
    ElementwiseOp,
    IdentOp,
    SelectOp,
)
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.ir.names import from_hint
from tiledialect.language.op_text import SIZE_FUNCTIONS
from tiledialect.language.text import (
    AGGREGATIONS,
    ATOM,
    BINARY,
    PREFIX,
    SELECT,
    SEPARATORS,
    Text,
    binary,
    call,
    literal,
    prefix,
    select,
)

MAX_DEPTH = 3
"""Maximum ops in the text of a value without a name: such values are made of few."""
REST = Text("…")


def described(value: SSAValue, depth: int = MAX_DEPTH) -> str:
    """Name of a value; for one without, as in gradients, its expression: ``DO / sqrt(V)``."""
    return str(_text(value, depth))


def described_contraction(op: ContractionOp) -> str:
    """A contraction as Tile text: ``O[x] = >(I[2*x + k])``."""
    operands = [
        f"{_text(value, MAX_DEPTH).within(ATOM)}[{', '.join(map(str, access.data))}]"
        for value, access in zip(op.inputs, op.accesses, strict=True)
    ]
    result = from_hint(op.result.name_hint) if op.result.name_hint else "result"
    return f"{result}[{', '.join(map(str, op.output.data))}] = {_aggregated(op, operands)}"


def described_size(size: SSAValue) -> str:
    """A size as Tile text: its name, or its expression, as in ``N - M``."""
    return str(size_text(size))


def size_text(size: SSAValue) -> Text:
    """Text of a size, with its binding strength."""
    op = size.owner
    if (number := constant_integer(size)) is not None:
        return literal(number)
    if size.name_hint:
        return Text(from_hint(size.name_hint))
    if isinstance(op, tensor.DimOp):
        return call("dim", described(op.source), size_text(op.index))
    if not isinstance(op, Operation) or len(op.operands) != 2:
        return REST
    operands = map(size_text, op.operands)
    if op.name in BINARY:
        return binary(op.name, *operands)
    return call(SIZE_FUNCTIONS[op.name], *operands) if op.name in SIZE_FUNCTIONS else REST


def _aggregated(op: ContractionOp, operands: list[str]) -> str:
    """The operands in a contraction's parentheses."""
    separators = SEPARATORS[op.combination.data]
    rest = zip(separators, operands[1:], strict=False)
    combined = operands[0] + "".join(separator + operand for separator, operand in rest)
    return f"{AGGREGATIONS[op.aggregation.data]}({combined})"


def _text(value: SSAValue, depth: int) -> Text:
    if value.name_hint:
        return Text(from_hint(value.name_hint))
    owner = value.owner
    if isinstance(value, BlockArgument):
        kernel = value.block.parent_op()
        return _text(kernel.operands[value.index], depth) if isinstance(kernel, KernelOp) else REST
    match owner:
        case KernelOp():
            return _text(owner.yield_op.values[owner.outputs.index(value)], depth)
        case ConstantOp():
            return literal(owner.number)
        case CastOp() | IdentOp() | ReshapeOp():
            return _text(owner.operand, depth)
        case ContractionOp() if depth:
            binding = ATOM if len(owner.inputs) > 1 else SELECT
            operands = [_text(x, depth - 1).within(binding) for x in owner.inputs]
            return Text(_aggregated(owner, operands))
        case ElementwiseOp() if depth:
            return _elementwise(owner, [_text(x, depth - 1) for x in owner.operands])
        case _:
            return REST


def _elementwise(op: ElementwiseOp, operands: list[Text]) -> Text:
    if isinstance(op, SelectOp):
        return select(*operands)
    if op.name in PREFIX:
        return prefix(PREFIX[op.name], *operands)
    if op.name in BINARY:
        return binary(op.name, *operands)
    return call(op.name.removeprefix("tile."), *operands)
