"""Results that update an argument: which values can lie in the argument's memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects import func
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue, Use

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.base import size_of, tensor_type
from tiledialect.dialects.tile.elementwise.ops import ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp, before_reshapes
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.errors import TileError
from tiledialect.ir.signature import argument_names, updated_names
from tiledialect.schedule.output_box import leaves_unwritten


def updates(function: func.FuncOp) -> dict[int, int]:
    """Numbers of the results that update an argument, with the arguments' numbers."""
    found: dict[int, int] = {}
    given = {k: name for k, name in enumerate(updated_names(function)) if name is not None}
    if not given:
        return found
    names, types = argument_names(function), function.function_type
    for k, name in given.items():
        if name not in names:
            raise TileError.at(function, f"result {k} updates {name}, which is no input")
        number = names.index(name)
        if number in found.values():
            raise TileError.at(function, f"two results update {name}")
        found[k] = number
        new, old = types.outputs.data[k], types.inputs.data[number]
        if new != old:
            raise TileError.at(function, f"{name} is a {old}, and a {new} updates it")
    return found


class UpdatedMemory:
    """Values of a function of kernels that lie in the memory of the arguments they update.

    A kernel can write over an argument if all others that read it come before, and if it reads of
    the argument, for each element, that element alone.
    """

    def __init__(self, function: func.FuncOp):
        block = function.body.block
        self.homes: dict[SSAValue, BlockArgument] = {}
        """Arguments by the results of kernels that lie in their memory."""
        self.displaced: dict[int, BlockArgument] = {}
        """Arguments by the numbers of the function's results that lie elsewhere."""
        updated = updates(function)
        if not updated:
            return
        self._order: dict[Operation, int] = {op: k for k, op in enumerate(block.ops)}
        last = block.last_op
        assert isinstance(last, func.ReturnOp)
        for k, number in updated.items():
            argument = block.args[number]
            chain = _chain(before_reshapes(last.operands[k]))
            if (
                chain
                and self.homes.keys().isdisjoint(chain)
                and self._comes_last(chain[-1], argument)
            ):
                self.homes.update(dict.fromkeys(chain, argument))
            else:
                self.displaced[k] = argument

    def _comes_last(self, value: OpResult, argument: BlockArgument) -> bool:
        """Whether the kernel of a value can write over an argument."""
        if size_of(value) != size_of(argument) or _element(value) != _element(argument):
            return False
        for use in _uses_behind_reshapes(argument):
            op = use.operation
            if op is value.op:
                if not _reads_own_elements(value, use.index):
                    return False
            elif not isinstance(op, KernelOp) or self._order[op] > self._order[value.op]:
                return False
        return True

    def in_place(self, kernel: KernelOp) -> Mapping[int, int]:
        """Numbers of the inputs that lie where a result is written, but for the initial value, with
        the results' numbers."""
        homes = {k: self.homes.get(v) for k, v in enumerate(kernel.outputs)}
        return {
            k: number
            for number, home in homes.items()
            for k, value in enumerate(kernel.inputs)
            if home is not None and before_reshapes(value) is home and k != _start(kernel)
        }


def _chain(value: SSAValue) -> list[OpResult]:
    """A kernel's result, and those that it is written over, the first one last."""
    chain: list[OpResult] = []
    while isinstance(value, OpResult) and isinstance(value.op, KernelOp):
        chain.append(value)
        start = _start(value.op)
        if start is None or not _is_last_use(source := value.op.inputs[start]):
            break
        value = before_reshapes(source)
    return chain


def _is_last_use(value: SSAValue) -> bool:
    """Whether neither a value nor its sources before reshapes have other uses."""
    while value.has_one_use() and isinstance(value.owner, ReshapeOp):
        value = value.owner.operand
    return value.has_one_use() and not isinstance(value.owner, ReshapeOp)


def _start(kernel: KernelOp) -> int | None:
    """Number of the input over which a kernel writes, if it leaves elements unwritten."""
    op = kernel.contraction
    if op is None or op.default is None or not leaves_unwritten(op.space(), ranges_of(op)):
        return None
    return next((k for k, arg in enumerate(kernel.block.args) if arg is op.default), None)


def _uses_behind_reshapes(value: SSAValue) -> Iterator[Use]:
    """Uses of a value, and of what reshapes make of it."""
    for use in value.uses:
        if isinstance(use.operation, ReshapeOp):
            yield from _uses_behind_reshapes(use.operation.result)
        else:
            yield use


def _element(value: SSAValue) -> object:
    return tensor_type(value).element_type


def _reads_own_elements(result: OpResult, number: int) -> bool:
    """Whether a kernel takes, for each element of a result, that element of an input alone."""
    kernel = result.op
    assert isinstance(kernel, KernelOp)
    argument = kernel.block.args[number]
    if argument.type != result.type:
        return False
    if number == _start(kernel):
        return argument.has_one_use()
    if kernel.scatter is not None or kernel.scan is not None or kernel.parts:
        return False
    return _stays_apart(argument)


def _stays_apart(argument: BlockArgument) -> bool:
    """Whether elementwise ops alone take an argument of a kernel and what is computed of it, each
    for as many elements.

    Work-items that share a row would all read a value for it, while one of them writes.
    """
    pending: list[SSAValue] = [argument]
    reached = {*pending}
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if isinstance(op, YieldOp):
                continue
            if not isinstance(op, ElementwiseOp) or size_of(op.res) != size_of(argument):
                return False
            pending += {op.res} - reached
            reached.add(op.res)
    return True
