"""tile-broadcast: contractions that only repeat a tensor are left to the ops that broadcast it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import broadcast_shape, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import AddOp, ElementwiseOp, IndexOp, MulOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp, before_reshapes
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.common_subexpressions import cse
from tiledialect.ir.names import keep_name, keep_origin
from tiledialect.ir.ops_in import ops_of


def repeats(op: ContractionOp) -> bool:
    """Whether a contraction's result is its operand, broadcast."""
    if len(op.inputs) != 1 or op.constraints.data or op.default is not None or not op.is_static:
        return False
    (source,), (access,), zero = op.inputs, op.accesses, IndexExpr()
    shape, whole = shape_of(tensor_type(source)) or (), shape_of(tensor_type(op.result)) or ()
    names = [e.variable for e in op.output.data if e.names]
    if tensor_type(source).element_type != tensor_type(op.result).element_type:
        return False
    if None in names or len(set(names)) != len(names) or len(shape) > len(whole):
        return False
    places = zip(op.output.data, whole, strict=True)
    if not all(e.names or (e == zero and n == 1) for e, n in places):
        return False
    # Shapes are aligned at their last axes, as where a scalar is repeated.
    first = len(whole) - len(shape)
    axes = zip(op.output.data[first:], access.data, whole[first:], shape, strict=True)
    return all((b == zero and m == 1) or (a == b and n == m) for a, b, n, m in axes)


PRODUCTS: dict[Combination, type[ElementwiseOp]] = {
    Combination.mul: MulOp,
    Combination.add: AddOp,
}


def _elementwise_product(op: ContractionOp) -> list[Operation] | None:
    """Elementwise ops for a contraction with one product for each element.

    One operand has all elements, in their places. Others may be repeated along axes of size 1,
    or along such that they lack, by contractions of their own. Such ops join others of their shape.
    """
    kind = PRODUCTS.get(op.combination.data)
    if kind is None or len(op.inputs) < 2 or op.constraints.data or op.default is not None:
        return None
    t, names = tensor_type(op.result), [e.variable for e in op.output.data]
    whole = shape_of(t) or ()
    if not op.is_static or None in names or len(set(names)) != len(names):
        return None
    if any(tensor_type(v).element_type != t.element_type for v in op.inputs):
        return None
    sizes = dict(zip(names, whole, strict=True))
    reads = [[e.variable for e in access.data] for access in op.accesses]
    stretched = [
        _is_broadcast(access.data, value, op.output.data, whole)
        for access, value in zip(op.accesses, op.inputs, strict=True)
    ]
    if names not in reads or not all(
        one or _are_places(r, v, sizes)
        for one, r, v in zip(stretched, reads, op.inputs, strict=True)
    ):
        return None
    made: list[Operation] = []
    operands: list[SSAValue] = []
    # Operands with all elements first, so that either order makes the same op.
    inputs = zip(reads, op.inputs, stretched, strict=True)
    for read, value, one in sorted(inputs, key=lambda r: r[0] != names):
        if read != names and not one:
            made.append(_repeated(value, read, names, whole))
            (value,) = made[-1].results
        operands.append(value)
    result = operands[0]
    for operand in operands[1:]:
        made.append(kind.create(operands=[result, operand], result_types=[t]))
        (result,) = made[-1].results
    keep_origin(made, op)
    return made


def _repeated(
    value: SSAValue, read: Sequence[str | None], names: Sequence[str | None], whole: tuple[int, ...]
) -> ContractionOp:
    """Tensor with the axes that are read, repeated along all others."""
    # Names by place, so that equal repetitions are the same op.
    places = {name: IndexExpr.of(f"i{k}") for k, name in enumerate(names)}
    access = [places[name] for name in read]
    return ContractionOp(
        Aggregation.add, Combination.none, [*places.values()], [(value, access)], shape=whole
    )


def _is_broadcast(
    access: Sequence[IndexExpr], value: SSAValue, output: Sequence[IndexExpr], whole: Sequence[int]
) -> bool:
    """Whether an access broadcasts a tensor that has all axes, some of them of size 1."""
    shape = shape_of(tensor_type(value)) or ()
    if len(shape) != len(whole):
        return False
    axes = zip(access, output, shape, whole, strict=True)
    return all((a == e and n == m) or (a == IndexExpr() and n == 1) for a, e, n, m in axes)


def _are_places(
    read: Sequence[str | None], value: SSAValue, sizes: Mapping[str | None, int]
) -> bool:
    """Whether a tensor is read at the places of some of the result's axes, in their order."""
    shape = shape_of(tensor_type(value)) or ()
    along = list(read) == [name for name in sizes if name in read]
    return along and all(sizes[name] == n for name, n in zip(read, shape, strict=True))


def _reshaped_input(op: ContractionOp) -> ReshapeOp | None:
    """Input of the function that a contraction repeats along other axes, reshaped to have these.

    The added axes have size 1. Computed tensors keep their axes, as a reshape would separate them
    from the elementwise ops that compute them.
    """
    if len(op.inputs) != 1 or op.constraints.data or op.default is not None or not op.is_static:
        return None
    (source,), (access,) = op.inputs, op.accesses
    shape, whole = shape_of(tensor_type(source)) or (), shape_of(tensor_type(op.result)) or ()
    names = [e.variable for e in op.output.data]
    if tensor_type(source).element_type != tensor_type(op.result).element_type:
        return None
    if None in names or len(set(names)) != len(names) or not _is_function_input(source):
        return None
    sizes = dict(zip(names, whole, strict=True))
    read = [e.variable for e in access.data]
    if read != [name for name in names if name in read] or len(read) == len(names):
        return None
    if any(sizes[name] != n for name, n in zip(read, shape, strict=True)):
        return None
    return ReshapeOp.of(source, [sizes[n] if n in read else 1 for n in names])


def _is_function_input(value: SSAValue) -> bool:
    return isinstance(before_reshapes(value), BlockArgument)


def _broadcast_source(value: SSAValue, source: SSAValue) -> None:
    """Let the users of a repeated value take its source, where they broadcast it."""
    made: list[tuple[ElementwiseOp, ElementwiseOp]] = []
    # A long chain would be too deep a recursion.
    pending = [(use, source) for use in reversed([*value.uses])]
    while pending:
        use, source = pending.pop()
        op = use.operation
        if not isinstance(op, ElementwiseOp) or isinstance(op, IndexOp):
            continue
        others = [v for k, v in enumerate(op.operands) if k != use.index]
        whole = shape_of(tensor_type(op.operands[use.index]))
        if any(shape_of(tensor_type(v)) == whole for v in others):
            op.operands[use.index] = source
        else:
            made.append((_computed_before(op, use.index, source), op))
            first = made[-1][0].res
            pending += [(later, first) for later in reversed([*op.res.uses])]
    # An op that was reached twice is erased once.
    for op in dict.fromkeys(op for pair in reversed(made) for op in pair):
        if not op.res.uses:
            Rewriter.erase_op(op)


def _computed_before(op: ElementwiseOp, index: int, source: SSAValue) -> ElementwiseOp:
    """Compute an op on the source of a repeated operand, for users that broadcast the result.

    Its other operands are repeated along some of the same axes, or constants.
    """
    operands = list(op.operands)
    operands[index] = source
    t = tensor_type(op.res)
    first = type(op).create(
        operands=operands,
        result_types=[TensorType(t.element_type, broadcast_shape(operands) or ())],
        properties=op.properties,
        attributes=op.attributes,
    )
    Rewriter.insert_op(first, InsertPoint.before(op))
    keep_name(first.res, op.res)
    return first


def _replace_elementwise_products(function: func.FuncOp) -> None:
    """Replace elementwise products by elementwise ops."""
    found = False
    for contraction in ops_of(function, ContractionOp):
        within = isinstance(contraction.parent_op(), KernelOp)
        if not within and (made := _elementwise_product(contraction)) is not None:
            Rewriter.replace_op(contraction, made, made[-1].results)
            found = True
    if found:
        cse(function.body)


class TileBroadcastPass(ModulePass):
    """Lets elementwise ops broadcast tensors that contractions repeat along other axes.

    The gradient of a sum is such a contraction: `add(%DS[0, c]) -> [r, c]`. An op with another
    operand of the whole shape takes `%DS` itself, and then needs no kernel of its own. A number, or
    a tensor without the first axes alone, is taken as it is; inputs of the function without other
    axes are reshaped for that.

    A contraction that has one point for each element is a product, or sum, of elements, if an
    operand has all elements: `add(%W[r] mul %X[r, c]) -> [r, c]`. Others take part in its kernel.
    """

    name = "tile-broadcast"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Let users broadcast the repeated tensors."""
        for function in ops_of(op, func.FuncOp):
            _replace_elementwise_products(function)
        for contraction in ops_of(op, ContractionOp):
            kernel = contraction.parent_op()
            if isinstance(kernel, KernelOp) and kernel.schedule is not None:
                # The schedule may stage the repeated tensor.
                continue
            if repeats(contraction):
                _broadcast_source(contraction.result, contraction.inputs[0])
            elif (row := _reshaped_input(contraction)) is not None:
                Rewriter.insert_op(row, InsertPoint.before(contraction))
                _broadcast_source(contraction.result, row.result)
                if not row.result.uses:
                    Rewriter.erase_op(row)
            else:
                continue
            if not contraction.result.uses:
                Rewriter.erase_op(contraction)
