"""Epilogue fission: the elementwise end of a kernel, split off so that its users can recompute it.

The rest of a row kernel gives the values of rows that the end needs, such as mean and variance; the
rest of another one gives the result of its contraction.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.kernel_facts import makers
from tiledialect.analysis.rounded_steps import rounded_steps
from tiledialect.dialects.tile.attributes import DomainAttr
from tiledialect.dialects.tile.base import Shape, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.row_axes import Map, Rows
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.ir.names import give_name, given_name, keep_name, take_name
from tiledialect.passes.fuse.fusion_cost import bytes_of
from tiledialect.passes.fuse.kernel_merging import pruned, users_of


@dataclass(frozen=True)
class Fission:
    """A kernel that has no users any longer, and the two kernels that replace it."""

    whole: KernelOp
    rest: KernelOp
    end: KernelOp
    outputs: tuple[SSAValue, ...]
    """Results of the two, in the order of the whole kernel's results."""
    reshapes: tuple[ReshapeOp, ...] = ()
    """Reshapes that give values of rows the axes along which the end repeats them."""

    def undo(self) -> None:
        """Restore the whole kernel for the users of its results."""
        for new, old in zip(self.outputs, self.whole.outputs, strict=True):
            hint = old.name_hint
            new.replace_all_uses_with(old)
            # xDSL hands on the name that the part had.
            old.name_hint = hint
        for op in (self.end, *self.reshapes, self.rest):
            Rewriter.erase_op(op)


def split_epilogue(kernel: KernelOp) -> Fission | None:
    """Split off a kernel the elementwise results of its contractions that other kernels alone take.

    A row kernel loses its results of whole rows; another one those that a row kernel alone takes,
    which keeps rows: there they cost no more than at the end of the contraction.
    """
    if kernel.axes is not None:
        maps = Rows.of(kernel.block.ops, kernel.axes.ranges).maps
        rows = {name for name, r in kernel.axes.ranges.items() if r.extent > 1} - kernel.reduced
        of_rows = {v for v, m in maps.items() if set(m) - {None} == rows}
        return _split_off(kernel, of_rows, maps, _epilogue_results(kernel, of_rows))
    op, users = kernel.contraction, users_of(kernel)
    over_rows = len(users) == 1 and all(isinstance(u, KernelOp) and u.axes for u in users)
    if op is None or not over_rows or not _saves(kernel, op):
        return None
    maps = dict.fromkeys((op.result, *kernel.yield_op.values), ())
    return _split_off(kernel, {op.result}, maps, _epilogue_results(kernel, {op.result}))


def split_results(kernel: KernelOp, results: Collection[SSAValue]) -> Fission | None:
    """Split off a kernel some results that elementwise ops compute from its operands.

    They are computed from its other results where these are steps of rounded numbers.
    """
    values = kernel.yield_op.values
    steps = rounded_steps(kernel.block.ops).intersection(values).difference(results)
    return _split_off(kernel, {*kernel.block.args, *steps}, dict.fromkeys(values, ()), results)


def repeatable_results(kernel: KernelOp) -> list[list[SSAValue]]:
    """Elementwise results of a kernel's operands that other kernels alone take.

    First all of one shape together, then those with the same users, largest groups first; but not
    all results of the kernel.
    """
    found: dict[Hashable, list[SSAValue]] = {}
    results = kernel.yield_op.values
    for value, output in zip(results, kernel.outputs, strict=True):
        if _is_for_kernels(output) and all(map(_may_repeat, makers([value], ()))):
            users = frozenset(use.operation for use in output.uses)
            found.setdefault(value.type, []).append(value)
            found.setdefault(users, []).append(value)
    parts = dict.fromkeys(tuple(own) for own in found.values() if len(own) < len(results))
    return [[*own] for own in sorted(parts, key=len, reverse=True)]


def _may_repeat(op: Operation) -> bool:
    """Whether an op computes elements, or repeats an operand of the kernel."""
    if isinstance(op, ContractionOp):
        return isinstance(op.inputs[0], BlockArgument) and _broadcasts(op)
    return isinstance(op, ElementwiseOp | ConstantOp)


def _saves(kernel: KernelOp, op: ContractionOp) -> bool:
    """Whether the end moves half as much again as the result of its contraction."""
    before = makers(op.inputs, ())
    read = {v for other in before for v in other.operands} | {*op.inputs}
    own = [a for a in kernel.block.args if a not in read]
    moved = sum(map(bytes_of, (*own, *kernel.outputs)))
    return moved >= 1.5 * bytes_of(op.result)


def _epilogue_results(kernel: KernelOp, given: Collection[SSAValue]) -> list[SSAValue]:
    """Results that kernels alone take, but the ``given`` ones."""
    pairs = zip(kernel.yield_op.values, kernel.outputs, strict=True)
    return [v for v, output in pairs if v not in given and _is_for_kernels(output)]


def _split_off(
    kernel: KernelOp,
    given: Collection[SSAValue],
    maps: Mapping[SSAValue, Map],
    ends: Collection[SSAValue],
) -> Fission | None:
    """Split off results computed from the ``given`` ones of the values that are computed at
    ``maps``.
    """
    found = makers(ends, given)
    spreads: dict[SSAValue, ContractionOp] = {}
    for op in found:
        if isinstance(op, ContractionOp):
            spreads[op.result] = op
    ops = [op for op in kernel.block.ops if op in found and op.results[0] not in spreads]
    shapes = {shape_of(tensor_type(v)) for v in ends}
    # A kernel that recomputes the end cannot aggregate.
    repeats = all(_repeats_rows(op, ops) and op.inputs[0] in given for op in spreads.values())
    if len(shapes) != 1 or not repeats or not spreads.keys().isdisjoint(ends):
        return None
    taken = dict.fromkeys(v for op in ops for v in op.operands if v.owner not in ops)
    sources = {v: spreads[v].inputs[0] if v in spreads else v for v in taken}
    rest, made = _rest(kernel, sources.values(), maps, ends)
    inputs = dict[SSAValue, SSAValue](zip(kernel.block.args, kernel.inputs, strict=True))
    outer = {v: made.get(source) or inputs[source] for v, source in sources.items()}
    reshapes = {v: ReshapeOp.of(outer[v], _with_axes(spreads[v])) for v in taken if v in spreads}
    outer |= {v: op.result for v, op in reshapes.items()}
    end = _kernel(outer, ops, [*ends], kernel)
    made.update(zip(ends, end.outputs, strict=True))
    _name_parts(kernel, made)
    Rewriter.insert_op((rest, *reshapes.values(), end), InsertPoint.before(kernel))
    outputs = tuple(made[v] for v in kernel.yield_op.values)
    for old, new in zip(kernel.outputs, outputs, strict=True):
        take_name(new, old)
        old.replace_all_uses_with(new)
    return Fission(kernel, rest, end, outputs, tuple(reshapes.values()))


def _rest(
    kernel: KernelOp,
    sources: Iterable[SSAValue],
    maps: Mapping[SSAValue, Map],
    ends: Collection[SSAValue],
) -> tuple[KernelOp, dict[SSAValue, SSAValue]]:
    """A kernel of the other results and what the ends are computed from, with its results by the
    values that they are of."""
    kept = (v for v in (*kernel.yield_op.values, *sources) if v in maps and v not in ends)
    left = list(dict.fromkeys(kept))
    everything = [op for op in kernel.block.ops if not isinstance(op, YieldOp)]
    inputs = dict[SSAValue, SSAValue](zip(kernel.block.args, kernel.inputs, strict=True))
    rest = _kernel(inputs, everything, left, kernel)
    rest.axes = kernel.axes
    rest = pruned(rest)
    if kernel.axes is not None:
        _leave_rows(rest)
    return rest, dict[SSAValue, SSAValue](zip(left, rest.outputs, strict=True))


def _name_parts(kernel: KernelOp, made: Mapping[SSAValue, SSAValue]) -> None:
    """Name results of kernels by the values that they are of, or after a result of a kernel."""
    name = next(filter(None, map(given_name, kernel.outputs)), None)
    for value, output in made.items():
        give_name(output, given_name(value) or (name and f"{name}_part"))


def _repeats_rows(op: ContractionOp, ops: Collection[Operation]) -> bool:
    """Whether a contraction repeats a value of rows, and its users broadcast it, too."""
    users = {use.operation for use in op.result.uses}
    return _broadcasts(op) and all(_is_whole_without(user, op) for user in users.intersection(ops))


def _broadcasts(op: ContractionOp) -> bool:
    """Whether a contraction only repeats a whole tensor along some axes of its result."""
    if len(op.inputs) != 1 or op.constraints.data or op.default is not None:
        return False
    (access,), whole = op.accesses, [e.variable for e in op.output.data]
    along = [e.variable for e in access.data if e.names]
    read = [n for n in shape_of(tensor_type(op.inputs[0])) or () if n != 1]
    is_all = read == [n for n in _with_axes(op) if n != 1]
    return is_all and None not in along and along == [name for name in whole if name in along]


def _is_whole_without(user: Operation, op: ContractionOp) -> bool:
    """Whether an op has another operand of the shape of a contraction's result."""
    whole = shape_of(tensor_type(op.result))
    others = (v for v in user.operands if not isinstance(v.owner, ContractionOp))
    return any(shape_of(tensor_type(v)) == whole for v in others)


def _with_axes(op: ContractionOp) -> Shape:
    """Shape of a repeated tensor, with an axis of size 1 for each that the contraction adds."""
    names = {name for e in op.accesses.data[0].data for name in e.names}
    whole = shape_of(tensor_type(op.result)) or ()
    places = zip(whole, op.output.data, strict=True)
    return tuple(n if names.intersection(e.names) else 1 for n, e in places)


def _leave_rows(kernel: KernelOp) -> None:
    """Make a row kernel of a single contraction a plain one, if it reads no rows that could be
    kept.

    Its operands are tensors that other rows share, and a tile of rows reads once.
    """
    assert kernel.axes is not None
    ranges, contractions = kernel.axes.ranges, kernel.contractions
    whole = tuple(r.extent for r in ranges.values())
    if len(contractions) != 1 or any(shape_of(tensor_type(v)) == whole for v in kernel.inputs):
        return
    (op,) = contractions
    results = {shape_of(tensor_type(v)) for v in kernel.yield_op.values}
    if results == {shape_of(tensor_type(op.result))}:
        kernel.axes = None
        op.domain = DomainAttr(tuple((name, ranges[name]) for name in op.index_names))


def _is_for_kernels(output: SSAValue) -> bool:
    """Whether kernels alone take a result of another one."""
    return all(isinstance(use.operation, KernelOp) for use in output.uses)


def _kernel(
    inputs: dict[SSAValue, SSAValue],
    ops: Iterable[Operation],
    results: Sequence[SSAValue],
    like: KernelOp,
) -> KernelOp:
    """A kernel of copies of some ops of another one, with ``inputs`` for outer values."""
    body = Block(arg_types=[v.type for v in inputs.values()])
    values = dict[SSAValue, SSAValue](zip(inputs, body.args, strict=True))
    for value, argument in values.items():
        keep_name(argument, value)
    body.add_ops([op.clone(values) for op in ops])
    body.add_op(YieldOp([values[v] for v in results]))
    return KernelOp(list(inputs.values()), body, like=like)
