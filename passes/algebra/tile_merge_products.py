"""tile-merge-products: products of one tensor by several constants become one product."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.analysis.kernel_facts import contraction_facts
from tiledialect.dialects.tile.base import size_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import element_bytes
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, ElementwiseOp, IndexOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.index import sets
from tiledialect.index.expr import Access, IndexExpr, Range
from tiledialect.ir.names import keep_name, keep_origin
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.signature import argument_names
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.passes.fuse.kernel_merging import sort_topologically
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.search.choice import COPY_GAIN, best_seconds

PURE = (ContractionOp, ElementwiseOp, ReshapeOp)
"""Ops that may be computed once."""
JOINED = "joined"
"""Name of the index along the constants."""


@dataclass(frozen=True)
class Factor:
    """A product by a constant, and the index that goes along an axis of the constant alone."""

    op: ContractionOp
    number: int
    """Number of the constant among the operands."""
    axis: int
    """Axis of the constant along which the index goes."""
    place: int
    """Axis of the result along which it goes."""

    @staticmethod
    def of(op: ContractionOp, known: Collection[SSAValue]) -> Factor | None:
        """The product that a contraction is; None for another one."""
        numbers = [k for k, v in enumerate(op.inputs) if v in known]
        is_plain = op.is_static and op.default is None and not op.constraints.data
        if len(op.inputs) != 2 or len(numbers) != 1 or not is_plain:
            return None
        (number,) = numbers
        access = op.accesses.data[number].data
        found = (
            Factor(op, number, access.index(e), place)
            for place, e in reversed([*enumerate(op.output.data)])
            if e in access
        )
        return next((f for f in found if f.is_free), None)

    @property
    def is_free(self) -> bool:
        """Whether the index goes from end to end of the two axes, and stands nowhere else."""
        op, e = self.op, self.op.output.data[self.place]
        if len(e.names) != 1 or e != IndexExpr.of(name := e.names[0]):
            return False
        size = shape(op.result)[self.place]
        is_whole = shape(self.constant)[self.axis] == size
        whole = sets.ranges(op.space())[name] == Range(0, size)
        return is_whole and whole and sum(name in x.names for x in op.all_exprs) == 2

    @property
    def constant(self) -> SSAValue:
        """The constant."""
        return self.op.inputs[self.number]

    @property
    def form(self) -> Hashable:
        """Common form of products that become one."""
        op = self.op
        own = {name: f"i{k}" for k, name in enumerate(op.index_names)}
        own[op.output.data[self.place].names[0]] = JOINED
        names = {name: IndexExpr.of(new) for name, new in own.items()}
        ranges = sets.ranges(op.space())

        def renamed(access: Access) -> Access:
            return tuple(e.substitute(names) for e in access)

        return (
            *(op.inputs[1 - self.number], self.number, self.axis, self.place),
            *(op.aggregation, op.combination, renamed(op.output.data)),
            tuple(renamed(access.data) for access in op.accesses),
            tuple((own[n], r) for n, r in ranges.items() if own[n] != JOINED),
            *(_other_sizes(self.constant, self.axis), _other_sizes(op.result, self.place)),
            *(tensor_type(v).element_type for v in (self.constant, op.result)),
        )


def _other_sizes(value: SSAValue, axis: int) -> tuple[int, ...]:
    sizes = shape(value)
    return (*sizes[:axis], *sizes[axis + 1 :])


def _constants(function: func.FuncOp, names: Collection[str]) -> set[SSAValue]:
    """Arguments that are constant, and what is computed of these alone."""
    pairs = zip(function.body.block.args, argument_names(function), strict=True)
    known: set[SSAValue] = {argument for argument, name in pairs if name in names}
    for op in function.body.block.ops:
        is_known = all(v in known or isinstance(v.owner, ConstantOp) for v in op.operands)
        if isinstance(op, PURE) and op.operands and is_known:
            known.update(op.results)
    return known


def _groups(function: func.FuncOp, known: Collection[SSAValue]) -> Iterator[list[Factor]]:
    """Products that could be one."""
    found: dict[Hashable, list[Factor]] = {}
    for op in function.body.block.ops:
        if isinstance(op, ContractionOp) and (factor := Factor.of(op, known)) is not None:
            found.setdefault(factor.form, []).append(factor)
    yield from (factors for factors in found.values() if len(factors) > 1)


@dataclass
class Merging:
    """Products that become one, with the same ops by other constants on their results."""

    factors: list[Factor]
    known: Collection[SSAValue]
    b: TensorBuilder

    def product(self) -> ContractionOp:
        """The product by all constants side by side."""
        first = self.factors[0]
        constants = [f.constant for f in self.factors]
        joined = layout.concatenate(self.b, constants, first.axis)
        sizes = list(shape(first.op.result))
        sizes[first.place] = sum(shape(f.op.result)[f.place] for f in self.factors)
        inputs = [(v, a.data) for v, a in zip(first.op.inputs, first.op.accesses, strict=True)]
        inputs[first.number] = joined, inputs[first.number][1]
        op = first.op
        return ContractionOp(
            *(op.aggregation.data, op.combination.data, op.output.data, inputs),
            shape=tuple(sizes),
            is_wide=op.is_wide,
        )

    def put(self, product: ContractionOp) -> None:
        """Replace the products, and ops on their results."""
        keep_origin([product], self.factors[0].op)
        value = self.b.insert(product)
        results = self._results
        for users in self._users():
            operands = self._operands(users, results, value)
            t = tensor_type(users[0].res).element_type
            made = type(users[0]).create(
                operands=operands,
                result_types=[layout.make_type(shape(value), t)],
                properties=users[0].properties,
                attributes=users[0].attributes,
            )
            keep_origin([made], users[0])
            value = self.b.insert(made)
            results = [user.res for user in users]
        self._share_out(value, results)

    def seconds_of_users(self, device: Device) -> float:
        """Estimated seconds of the ops on single parts, which the products would do by the way."""
        last = next(reversed([*self._users()]), None)
        parts = self._results if last is None else [user.res for user in last]
        moved = [v for v in parts if all(isinstance(u.operation, ElementwiseOp) for u in v.uses)]
        if not moved:
            return 0.0
        # Each part is read, and the op's result is written.
        size = sum(2 * size_of(v) * element_bytes(tensor_type(v).element_type) for v in moved)
        return device.launch_seconds + size / (device.bandwidth * 1e9)

    @property
    def _results(self) -> list[SSAValue]:
        return [f.op.result for f in self.factors]

    def _users(self) -> Iterator[list[ElementwiseOp]]:
        """Ops of one kind that take the results of all products, one after the other."""
        results = self._results
        while (users := _same_users(results)) is not None and self._are_joinable(users, results):
            yield users
            results = [user.res for user in users]

    def _are_joinable(self, users: Sequence[ElementwiseOp], results: Sequence[SSAValue]) -> bool:
        """Whether the operands of ops are the results, or constants."""
        columns = [[*own] for own in zip(*(user.operands for user in users), strict=True)]
        return [*results] in columns and all(
            own == [*results] or _are_same_number(own) or self._are_constants(own)
            for own in columns
        )

    def _operands(
        self, users: Sequence[ElementwiseOp], results: Sequence[SSAValue], value: SSAValue
    ) -> list[SSAValue]:
        """Operands of an op on the merged result."""
        found: list[SSAValue] = []
        for own in zip(*(user.operands for user in users), strict=True):
            if [*own] == [*results]:
                found.append(value)
            elif _are_same_number(own):
                found.append(own[0])
            else:
                found.append(layout.concatenate(self.b, own, self._axis(own)))
        return found

    def _axis(self, values: Sequence[SSAValue]) -> int:
        """Axis of operands along which the parts are."""
        first = self.factors[0]
        return len(shape(values[0])) - len(shape(first.op.result)) + first.place

    def _are_constants(self, values: Sequence[SSAValue]) -> bool:
        """Whether values are constants of each part that can lie side by side."""
        axis, rank = self._axis(values), len(shape(values[0]))
        for v, f in zip(values, self.factors, strict=True):
            if v not in self.known or axis < 0 or len(shape(v)) != rank:
                return False
            if shape(v)[axis] != shape(f.op.result)[f.place]:
                return False
        return len({(_other_sizes(v, axis), tensor_type(v).element_type) for v in values}) == 1

    def _share_out(self, value: SSAValue, results: Sequence[SSAValue]) -> None:
        """Let the users of the results read their parts of the merged one."""
        place, start = self.factors[0].place, 0
        for result, factor in zip(results, self.factors, strict=True):
            stop = start + shape(factor.op.result)[place]
            part = layout.section(self.b, value, place, start, stop)
            keep_name(part, result)
            result.replace_all_uses_with(part)
            start = stop


def _same_users(results: Sequence[SSAValue]) -> list[ElementwiseOp] | None:
    """Ops of one kind that take the results, each that of its product; None if there are none."""
    found: list[ElementwiseOp] = []
    for result in results:
        users = {use.operation for use in result.uses}
        user = users.pop() if len(users) == 1 else None
        if not isinstance(user, ElementwiseOp) or isinstance(user, IndexOp):
            return None
        found.append(user)
    pairs = zip(found, results, strict=True)
    is_same = all(
        (type(x), x.properties) == (type(found[0]), found[0].properties)
        and shape(x.res) == shape(result)
        and tensor_type(x.res).element_type == tensor_type(found[0].res).element_type
        for x, result in pairs
    )
    return found if is_same and len({*found}) == len(found) else None


def _are_same_number(values: Sequence[SSAValue]) -> bool:
    """Whether values are the same constant of one element."""
    owners = [v.owner for v in values]
    first = owners[0]
    if not isinstance(first, ConstantOp) or size_of(values[0]) != 1:
        return False
    return all(
        isinstance(a, ConstantOp) and (a.properties, v.type) == (first.properties, values[0].type)
        for a, v in zip(owners, values, strict=True)
    )


def _seconds(op: ContractionOp, device: Device) -> float:
    """Estimated seconds of a contraction."""
    bounded = op.clone()
    set_domain(bounded, bounded.space())
    facts = contraction_facts(bounded)
    # Else its operands would have one more user.
    bounded.erase()
    return best_seconds(facts, device)


@dataclass(frozen=True)
class TileMergeProductsPass(ModulePass):
    """Multiplies a tensor once by several constants that stand side by side.

    Such are the weights of queries, keys and values. Products are merged that read the tensor at
    the same places, with the ops on their results that take constants, such as biases, where the
    cost model finds one faster than several: where each is too small for the device. Other
    elementwise ops on the results, as residual sums, count as one more kernel. The constants are
    put side by side once for many calls. The products' users read parts.
    """

    name = "tile-merge-products"

    constants: tuple[str, ...] = ()
    """Names of arguments that seldom change."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merge the products of every function."""
        self.merge(op)

    def merge(self, module: ModuleOp) -> bool:
        """Whether products were merged."""
        device = device_of(module)
        if device is None:
            return False
        found = [self._merge(f.body.block, f, device) for f in ops_of(module, func.FuncOp)]
        return any(found)

    def _merge(self, block: Block, function: func.FuncOp, device: Device) -> bool:
        if not any(name in self.constants for name in argument_names(function)):
            return False
        if any(isinstance(op, KernelOp) for op in block.ops):
            return False
        known = _constants(function, self.constants)
        is_merged = False
        for factors in _groups(function, known):
            last = block.last_op
            assert last is not None
            apart = sum(_seconds(f.op, device) for f in factors)
            merging = Merging(factors, known, TensorBuilder(last))
            product = merging.product()
            if _seconds(product, device) + merging.seconds_of_users(device) < COPY_GAIN * apart:
                merging.put(product)
                is_merged = True
            else:
                product.erase()
        # What was put side by side for nothing, and what the merged products replace.
        region_dce(function.body)
        if is_merged:
            sort_topologically(block)
        return is_merged
