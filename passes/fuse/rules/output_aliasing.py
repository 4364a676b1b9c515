"""Output aliasing: values that a function returns several times, or took as arguments, are
copied, and so are those that update an argument that is still read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.memory_updates import UpdatedMemory, updates
from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.discardable import NAME
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import IdentOp, SelectOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp, before_reshapes
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.ir.names import give_name, given_name, keep_name
from tiledialect.passes.fuse.kernel_merging import MAX_ARGUMENTS
from tiledialect.schedule.output_box import leaves_unwritten


def copy_returned_arguments(function: func.FuncOp) -> None:
    """Let a kernel copy each argument that a function returns, in place.

    The host would copy it with one core, and once for each result.
    """
    for origin, places in _returned(function).items():
        if isinstance(origin.owner, Block):
            _return_copies(places, _copied(origin, places))


def duplicate_results(function: func.FuncOp, given: Collection[KernelOp]) -> None:
    """Let kernels write each result of a function that is returned several times, in place.

    The host would copy it after the kernel. Kernels that are ``given`` stay as they are.
    """
    repeated: dict[KernelOp, dict[SSAValue, list[_ReturnOperand]]] = {}
    for origin, places in _returned(function).items():
        more, kernel = places[1:], origin.owner
        if not more or not isinstance(kernel, KernelOp):
            continue
        own = repeated.get(kernel, {})
        count = sum(map(len, own.values())) + len(more)
        if kernel not in given and _may_repeat(kernel, count):
            repeated[kernel] = {**own, origin: more}
        else:
            _return_copies(more, _copied(origin, more))
    for kernel, values in repeated.items():
        _return_copies(
            [place for more in values.values() for place in more], _repeated(kernel, values)
        )


def copy_displaced_updates(function: func.FuncOp) -> None:
    """Let a kernel copy each result that updates an argument, in place, if the kernel that makes it
    cannot write it there.

    The host would copy it with one core.
    """
    displaced = UpdatedMemory(function).displaced
    for origin, places in _returned(function).items() if displaced else ():
        own = [place for place in places if place.number in displaced]
        if own:
            _return_copies(own, _copied(origin, own))


def partial_updates(function: func.FuncOp) -> list[SSAValue]:
    """Results, before reshapes, that update an argument and leave some of its elements as they are.

    A kernel of its own writes the others alone.
    """
    found: list[SSAValue] = []
    last, arguments = function.body.block.last_op, function.body.block.args
    for k, number in updates(function).items():
        assert last is not None
        value = before_reshapes(last.operands[k])
        op = value.owner
        kept = op.operands[1:] if isinstance(op, SelectOp) else ()
        if isinstance(op, ContractionOp) and op.default is not None:
            kept = (op.default,)
        if any(before_reshapes(v) is arguments[number] for v in kept):
            found.append(value)
    return found


@dataclass(frozen=True)
class _ReturnOperand:
    """Operand of the op that ends a function."""

    returned: func.ReturnOp
    number: int
    name: str | None

    @property
    def value(self) -> SSAValue:
        """The returned value."""
        return self.returned.operands[self.number]


def _returned(function: func.FuncOp) -> dict[SSAValue, list[_ReturnOperand]]:
    """Values that a function returns, without reshapes, with their places."""
    last = function.body.block.last_op
    places: dict[SSAValue, list[_ReturnOperand]] = {}
    if isinstance(last, func.ReturnOp):
        names = _names(function)
        for k, value in enumerate(last.operands):
            place = _ReturnOperand(last, k, names.get(k, given_name(value)))
            places.setdefault(before_reshapes(value), []).append(place)
    return places


def _return_copies(places: Sequence[_ReturnOperand], copies: Sequence[SSAValue]) -> None:
    """Return copies, each under the type of the returned value."""
    for place, copy in zip(places, copies, strict=True):
        give_name(copy, place.name)
        old = place.value
        place.returned.operands[place.number] = _reshaped(copy, place)
        while isinstance(view := old.owner, ReshapeOp) and not old.uses:
            old = view.operand
            Rewriter.erase_op(view)


def _names(function: func.FuncOp) -> dict[int, str]:
    """Names for values that are results with a name."""
    given = function.res_attrs.data if isinstance(function.res_attrs, ArrayAttr) else ()
    names = ((k, attributes.data.get(NAME)) for k, attributes in enumerate(given))
    return {k: name.data for k, name in names if isinstance(name, StringAttr)}


def _copied(origin: SSAValue, places: Sequence[_ReturnOperand]) -> Sequence[SSAValue]:
    """Results of kernels that copy a value to so many places."""
    most = MAX_ARGUMENTS - 1
    parts = (places[k : k + most] for k in range(0, len(places), most))
    return [copy for part in parts for copy in _copied_once(origin, part)]


def _copied_once(origin: SSAValue, places: Sequence[_ReturnOperand]) -> Sequence[SSAValue]:
    """Results of one kernel that copies a value."""
    body = Block(arg_types=[origin.type])
    keep_name(body.args[0], origin)
    same = IdentOp.create(operands=[body.args[0]], result_types=[origin.type])
    give_name(same.res, places[0].name)
    body.add_ops([same, YieldOp([same.res] * len(places))])
    kernel = KernelOp([origin], body)
    Rewriter.insert_op(kernel, InsertPoint.before(places[0].returned))
    return kernel.outputs


def _may_repeat(kernel: KernelOp, count: int) -> bool:
    """Whether a kernel can write a result several times: it needs no initial values."""
    if len(kernel.inputs) + len(kernel.outputs) + count > MAX_ARGUMENTS:
        return False
    if kernel.axes is not None:
        return True
    is_other = kernel.scatter is not None or kernel.scan is not None or kernel.parts
    return not is_other and not any(
        leaves_unwritten(op.space(), ranges_of(op)) for op in kernel.contractions
    )


def _repeated(
    kernel: KernelOp, values: Mapping[SSAValue, Sequence[_ReturnOperand]]
) -> Sequence[SSAValue]:
    """New results of a kernel that yields some of its values for each of their other places."""
    last, old = kernel.yield_op, len(kernel.outputs)
    inside: dict[SSAValue, SSAValue] = dict(zip(kernel.outputs, last.values, strict=True))
    yielded = [*last.values, *(inside[value] for value, more in values.items() for _ in more)]
    Rewriter.replace_op(last, YieldOp(yielded))
    body = kernel.detach_region(kernel.body)
    new = KernelOp(kernel.inputs, body, kernel.axes, like=kernel)
    new.attributes.update(kernel.attributes)
    for before, after in zip(kernel.outputs, new.outputs[:old], strict=True):
        keep_name(after, before)
    Rewriter.replace_op(kernel, new, new.outputs[:old])
    return new.outputs[old:]


def _reshaped(copy: SSAValue, place: _ReturnOperand) -> SSAValue:
    """A copy under the type of the returned value."""
    if copy.type == place.value.type:
        return copy
    view = place.value.owner
    assert isinstance(view, ReshapeOp)
    again = view.clone({view.operand: copy})
    Rewriter.insert_op(again, InsertPoint.before(place.returned))
    give_name(again.result, place.name)
    return again.result
