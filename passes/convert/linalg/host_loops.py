"""Loops and branches that the host runs: they carry tensors, and tensors hold their conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.ir.names import keep_name

Values = Sequence[SSAValue]
Make = Callable[[Builder, Values], Values]
"""Makes the end of a region: what it gives."""


def host_for(loop: scf.ForOp, count: int | None) -> scf.ForOp | scf.WhileOp:
    """Replace a loop by one that counts in a tensor, or not at all where nobody asks.

    Without a number of iterations the count decides when it ends.
    """
    body = loop.body.block
    builder = Builder(InsertPoint.before(loop))
    index_type = body.args[0].type
    counts = count is None or bool(body.args[0].uses)
    carried = [*([loop.lb] if counts else []), *loop.iter_args]
    types = [v.type for v in carried]
    given = tensors_of(builder, carried)

    def step(inner: Builder, numbers: Values) -> list[SSAValue]:
        """The body's results, after the next count."""
        index = numbers[0] if counts else inner.insert(arith.ConstantOp(_zero(index_type))).result
        results = _moved(body, inner, [index, *numbers[counts:]])
        if not counts:
            return results
        return [inner.insert(arith.AddiOp(index, loop.step)).result, *results]

    if count is not None:
        zero, end, one = (
            builder.insert(arith.ConstantOp(_number(n, IndexType()))) for n in (0, count, 1)
        )
        new = scf.ForOp(zero, end, one, given, _region(types, step, [IndexType()]))
    else:

        def test(inner: Builder, numbers: Values) -> list[SSAValue]:
            """Whether the count is below its end, before what is carried."""
            return [inner.insert(arith.CmpiOp(numbers[0], loop.ub, "slt")).result, *numbers]

        tensors = [v.type for v in given]
        new = scf.WhileOp(given, tensors, _region(types, test, is_test=True), _region(types, step))
    _replace(loop, new, builder, new.results[counts:])
    return new


def host_while(loop: scf.WhileOp) -> scf.WhileOp:
    """Replace a loop by one that carries tensors."""
    builder = Builder(InsertPoint.before(loop))
    before, after = loop.before_region.block, loop.after_region.block
    first = _region(before.arg_types, lambda b, v: _moved(before, b, v), is_test=True)
    second = _region(after.arg_types, lambda b, v: _moved(after, b, v))
    given = tensors_of(builder, loop.arguments)
    new = scf.WhileOp(given, [tensor_of(t) for t in loop.result_types], first, second)
    _replace(loop, new, builder, new.results)
    return new


def host_if(branch: scf.IfOp) -> scf.IfOp:
    """Replace a branch by one that gives tensors."""
    builder = Builder(InsertPoint.before(branch))
    then, otherwise = (
        _region((), lambda b, v, block=region.block: _moved(block, b, v))
        for region in (branch.true_region, branch.false_region)
    )
    types = [tensor_of(t) for t in branch.result_types]
    new = scf.IfOp(_condition(builder, branch.cond), types, then, otherwise)
    _replace(branch, new, builder, new.results)
    return new


def _replace(old: Operation, new: Operation, builder: Builder, results: Values) -> None:
    new.location = old.location
    builder.insert(new)
    values = [
        element_of(builder, value, was.type)
        for value, was in zip(results, old.results, strict=True)
    ]
    for value, was in zip(results, old.results, strict=True):
        keep_name(value, was)
    Rewriter.replace_op(old, [], values, safe_erase=False)


def _region(
    types: Iterable[Attribute], make: Make, first: Sequence[Attribute] = (), is_test: bool = False
) -> Region:
    """Region of tensors of these types, or numbers, that ends in what is made of them."""
    types = list(types)
    block = Block(arg_types=[*first, *map(tensor_of, types)])
    builder = Builder(InsertPoint.at_end(block))
    arguments = block.args[len(first) :]
    elements = [element_of(builder, a, t) for a, t in zip(arguments, types, strict=True)]
    results = make(builder, elements)
    if is_test:
        condition = _condition(builder, results[0])
        builder.insert(scf.ConditionOp(condition, *tensors_of(builder, results[1:])))
    else:
        builder.insert(scf.YieldOp(*tensors_of(builder, results)))
    return Region(block)


def _moved(block: Block, builder: Builder, values: Values) -> list[SSAValue]:
    """Move the ops of a block, on these values; what its last op takes."""
    for argument, value in zip(block.args, values, strict=True):
        keep_name(value, argument)
        argument.replace_all_uses_with(value)
    last = block.last_op
    assert last is not None
    for op in list(block.ops):
        if op is not last:
            op.detach()
            builder.insert(op)
    return list(last.operands)


def tensor_of(t: Attribute) -> Attribute:
    """The tensor of a number; indices are of 64 bits."""
    if isinstance(t, TensorType):
        return t
    return TensorType(i64 if isinstance(t, IndexType) else t, ())


def tensors_of(builder: Builder, values: Iterable[SSAValue]) -> list[SSAValue]:
    """Tensors of values."""
    made: list[SSAValue] = []
    for value in values:
        t = tensor_of(value.type)
        if t != value.type:
            if isinstance(value.type, IndexType):
                value = builder.insert(arith.IndexCastOp(value, i64)).result
            value = builder.insert(tensor.FromElementsOp(value, result_type=t)).result
        made.append(value)
    return made


def element_of(builder: Builder, value: SSAValue, t: Attribute) -> SSAValue:
    """The number of a type that a tensor holds; the tensor itself if that is its type."""
    if isinstance(t, TensorType):
        return value
    if isinstance(t, IndexType):
        element = builder.insert(tensor.ExtractOp(value, [], i64)).result
        return builder.insert(arith.IndexCastOp(element, t)).result
    return builder.insert(tensor.ExtractOp(value, [], t)).result


def _condition(builder: Builder, value: SSAValue) -> SSAValue:
    """A condition that is the element of a tensor."""
    if isinstance(value.owner, tensor.ExtractOp) and not value.owner.indices:
        # The host reads it where it is needed.
        return builder.insert(value.owner.clone()).results[0]
    (made,) = tensors_of(builder, [value])
    return element_of(builder, made, value.type)


def _number(value: int, t: Attribute) -> IntegerAttr:
    return IntegerAttr(value, t)  # pyright: ignore[reportArgumentType, reportCallIssue]


def _zero(t: Attribute) -> IntegerAttr:
    return _number(0, t)
