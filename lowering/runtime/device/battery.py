"""Cases that a device must compute before it is offered, each a kernel as programs have it.

The functions, the types and the lengths of vectors come from the tables by which programs are
compiled, and the kernels go by the same passes and the same printer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import FloatAttr, ModuleOp, TensorType, bf16, f16, f32, f64, i1
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect import caches
from tiledialect.dialects.nest.attributes import LoopRole
from tiledialect.dialects.nest.sub_group import ShuffleOp
from tiledialect.dialects.tile.element_types import CONCRETE, is_unsigned, type_name
from tiledialect.dialects.tile.elementwise import numeric
from tiledialect.dialects.tile.elementwise import ops as elementwise
from tiledialect.dialects.tile.elementwise.base import ElementwiseOp, UnaryOp
from tiledialect.index.integer.expressions import Expr, equal, less
from tiledialect.ir.target_spec import SPEC
from tiledialect.lowering.nest.utils.builder import GLOBAL, LOCAL, PRIVATE, NestBuilder, memory_type
from tiledialect.lowering.nest.utils.scalars import FUNCTIONS, Scalars
from tiledialect.lowering.opencl.target import print_opencl
from tiledialect.lowering.opencl.types import VECTOR_LENGTHS
from tiledialect.lowering.pipeline import lower_nests
from tiledialect.lowering.runtime.device.description import system_spec
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.tile_to_nest.kernel import kernel_function
from tiledialect.lowering.tile_to_nest.tile_to_nest import kernel_module
from tiledialect.schedule.loops import Role

Array = npt.NDArray[Any]

KERNEL = "try_device"
ELEMENTS = 48
"""The elements of an array: whole vectors of every length."""
LOCAL_SIZE = 16
"""Work-items of a group where each computes one element; with vectors 1."""

EVERY_LENGTH = (1, *VECTOR_LENGTHS)
FEW_LENGTHS = (1, 8)
"""The lengths for types whose functions are operators, or are computed in f32."""

TOLERANCES: dict[Attribute, float] = {f16: 4e-3, bf16: 3e-2, f32: 1e-5, f64: 1e-13}
"""Allowed errors, as shares of the results: several times the errors that OpenCL allows."""
SMALL = 0.01
"""Least magnitude of which errors are shares."""


@dataclass(frozen=True)
class Result:
    """An output of a kernel."""

    name: str
    type: Attribute
    compute: Callable[[Scalars, Sequence[SSAValue]], SSAValue]
    """The element of the output, of the elements of the inputs."""
    expected: Callable[[Sequence[Array]], Array]


@dataclass(frozen=True)
class Case(ABC):
    """A kernel with its arguments and expected results."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the case in a reason."""

    @property
    @abstractmethod
    def inputs(self) -> Sequence[tuple[Attribute, Array]]:
        """The arrays that the kernel reads, with their element types."""

    @property
    @abstractmethod
    def outputs(self) -> Sequence[tuple[str, Attribute, Array]]:
        """The names, element types and expected elements of the arrays that the kernel writes."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, int]:
        """The number of work-groups, and of work-items in each."""

    @property
    def apart(self) -> Sequence[Case]:
        """A case for each output, if there are several."""
        return []

    @abstractmethod
    def build(self, nest: NestBuilder, arguments: Sequence[SSAValue]) -> None:
        """The body of the kernel."""


# -- functions and conversions ---------------------------------------------------------------


@dataclass(frozen=True)
class Elementwise(Case):
    """The functions that take numbers of a type, and the conversions of these."""

    type: Attribute
    lanes: int
    results: Sequence[Result]

    @property
    def name(self) -> str:
        """The only function, or all."""
        what = self.results[0].name if len(self.results) == 1 else "the functions"
        vectors = f" in vectors of {self.lanes}" if self.lanes > 1 else ""
        return f"{what} of {type_name(self.type)}{vectors}"

    @property
    def inputs(self) -> Sequence[tuple[Attribute, Array]]:
        """Operands of the functions."""
        return [(self.type, a) for a in operands(self.type)]

    @property
    def outputs(self) -> Sequence[tuple[str, Attribute, Array]]:
        """Results of each function."""
        given = operands(self.type)
        alone = (replace(self, results=(r,)).name for r in self.results)
        return [
            (name, r.type, r.expected(given)) for name, r in zip(alone, self.results, strict=True)
        ]

    @property
    def sizes(self) -> tuple[int, int]:
        """A work-item for each vector."""
        count = ELEMENTS // self.lanes
        return (count, 1) if self.lanes > 1 else (count // LOCAL_SIZE, LOCAL_SIZE)

    @property
    def apart(self) -> Sequence[Case]:
        """A case for each function, if there are several."""
        several = len(self.results) > 1
        return [replace(self, results=(r,)) for r in self.results] if several else []

    def build(self, nest: NestBuilder, arguments: Sequence[SSAValue]) -> None:
        """Compute all functions of each element."""
        groups, local = self.sizes
        with (
            nest.loop(LoopRole(Role.GROUP, "x"), groups, "g") as g,
            nest.loop(LoopRole(Role.LOCAL, "x"), local, "i") as i,
            nest.loop(LoopRole(Role.VECTOR), self.lanes, "v") as v,
        ):
            place = [(g * local + i) * self.lanes + v]
            values = [nest.load(memory, place) for memory in arguments[:2]]
            for memory, result in zip(arguments[2:], self.results, strict=True):
                nest.store(result.compute(nest.scalars, values), memory, place)


@caches.ELEMENT_TYPES
def operands(t: Attribute) -> tuple[Array, Array]:
    """Operands of a type, two arrays.

    Reals are from -20.25 to 25.5, in the second without zeros; integers fit all types, and are
    small in the second.
    """
    counts = np.arange(ELEMENTS)
    if t in TOLERANCES:
        a = np.concatenate([np.linspace(-3.1, 3.3, ELEMENTS - 4), [0, 0.5, 25.5, -20.25]])
        b = np.where(counts % 3, 0.25, -0.4) * (1 + counts * 7 % 11)
    elif t == i1:
        a, b = counts % 2, counts // 2 % 2
    elif is_unsigned(t):
        a, b = 4 * counts, counts * 7 % 11
    else:
        a, b = 4 * counts - 90, counts * 7 % 11 - 3
    return numeric.convert(a, t), numeric.convert(b, t)


def elementwise_case(t: Attribute, lanes: int) -> Elementwise:
    """Case of all functions and conversions of a type."""
    return Elementwise(t, lanes, (*_functions(t), *_conversions(t)))


def _functions(t: Attribute) -> Iterator[Result]:
    """The elementwise ops that are computed in a type, by the dialect's own rules."""
    tensor = TensorType(t, [ELEMENTS])
    for op in vars(elementwise).values():
        name = getattr(op, "name", None)
        if name not in FUNCTIONS or not issubclass(op, ElementwiseOp):
            continue
        count = 1 if issubclass(op, UnaryOp) else 2
        values = Block(arg_types=[tensor] * count).args
        example = op.create(operands=values, result_types=[tensor])
        try:
            result = example.inferred_type().element_type
        except VerifyException:
            continue
        if example.operand_type() == t:
            yield _function(name, t, result, count)


def _function(name: str, t: Attribute, result: Attribute, count: int) -> Result:
    def compute(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
        return scalars.apply(name, values[:count], t)

    def expected(arrays: Sequence[Array]) -> Array:
        return numeric.apply(name, t, [*arrays[:count]])

    return Result(name.removeprefix("tile."), result, compute, expected)


def _conversions(t: Attribute) -> Iterator[Result]:
    return (_conversion(t, other) for other in CONCRETE.values() if other != t)


def _conversion(t: Attribute, target: Attribute) -> Result:
    def compute(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
        return scalars.convert(values[0], t, target)

    def expected(arrays: Sequence[Array]) -> Array:
        return numeric.convert(arrays[0], target)

    return Result(f"the conversion to {type_name(target)}", target, compute, expected)


# -- products of sums ------------------------------------------------------------------------


@dataclass(frozen=True)
class Products(Case):
    """Case of scalars to which the same number is added, and that are multiplied by another one."""

    @property
    def name(self) -> str:
        """Title of the case."""
        return "products of sums"

    @property
    def inputs(self) -> Sequence[tuple[Attribute, Array]]:
        """Numbers near -1: multiplied out, few digits of the results are right."""
        return [(f32, (-1 + np.arange(ELEMENTS) * 2.0**-21).astype(np.float32))]

    @property
    def outputs(self) -> Sequence[tuple[str, Attribute, Array]]:
        """The products."""
        ((_, given),) = self.inputs
        return [(self.name, f32, (given + np.float32(1)) * np.float32(7.5))]

    @property
    def sizes(self) -> tuple[int, int]:
        """Launch sizes of a group for two elements, which no vectors compute."""
        return ELEMENTS // 2, 1

    def build(self, nest: NestBuilder, arguments: Sequence[SSAValue]) -> None:
        """Both elements of a group."""
        one, factor = (nest.emit(arith.ConstantOp(FloatAttr(value, f32))) for value in (1.0, 7.5))
        with nest.loop(LoopRole(Role.GROUP, "x"), self.sizes[0], "g") as g:
            for k in range(2):
                total = nest.emit(arith.AddfOp(nest.load(arguments[0], [2 * g + k]), one))
                nest.store(nest.emit(arith.MulfOp(total, factor)), arguments[1], [2 * g + k])


# -- work-groups -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Exchange(Case):
    """Case of work-items that exchange values, in three groups."""

    title: str
    body: Callable[[NestBuilder, SSAValue, SSAValue, Expr, Expr], None]
    """Builder of the code of a work-item, from the input, the output, its group and its place."""
    result: Callable[[Array], Array]
    """The rows of the output, of a row of the input for each group."""
    size: int = LOCAL_SIZE

    @property
    def name(self) -> str:
        """Title of the case."""
        return self.title

    @property
    def inputs(self) -> Sequence[tuple[Attribute, Array]]:
        """Small integers, of which all sums are exact."""
        return [(f32, self._given().ravel())]

    def _given(self) -> Array:
        count = self.sizes[0] * self.size
        return (np.arange(count, dtype=np.float32) * 7 % 13).reshape(-1, self.size)

    @property
    def outputs(self) -> Sequence[tuple[str, Attribute, Array]]:
        """Array of the results."""
        return [(self.title, f32, self.result(self._given()).ravel())]

    @property
    def sizes(self) -> tuple[int, int]:
        """Launch sizes of three groups."""
        return 3, self.size

    def build(self, nest: NestBuilder, arguments: Sequence[SSAValue]) -> None:
        """The loops over groups and work-items."""
        groups, local = self.sizes
        with (
            nest.loop(LoopRole(Role.GROUP, "x"), groups, "g") as g,
            nest.loop(LoopRole(Role.LOCAL, "x"), local, "i") as i,
        ):
            self.body(nest, arguments[0], arguments[1], g, i)


STEPS = 3


def _in_a_loop(nest: NestBuilder, a: SSAValue, o: SSAValue, g: Expr, i: Expr) -> None:
    """Add the values of neighbours in each step: barriers in a loop."""
    shared = nest.buffer(f32, [LOCAL_SIZE], LOCAL, "shared")
    total = nest.buffer(f32, [], PRIVATE, "total")
    nest.store(nest.load(a, [g * LOCAL_SIZE + i]), total, [])
    with nest.loop(LoopRole(Role.SERIAL), STEPS, "k") as k:
        nest.store(nest.load(total, []), shared, [i])
        other = nest.load(shared, [(i + k + 1) % LOCAL_SIZE])
        nest.store(nest.emit(arith.AddfOp(nest.load(total, []), other)), total, [])
    nest.store(nest.load(total, []), o, [g * LOCAL_SIZE + i])


def _looped(rows: Array) -> Array:
    for k in range(STEPS):
        rows = rows + np.roll(rows, -(k + 1), axis=1)
    return rows


def _in_a_branch(nest: NestBuilder, a: SSAValue, o: SSAValue, g: Expr, i: Expr) -> None:
    """Reverse the elements of all groups but one: barriers in one arm of a branch."""
    shared = nest.buffer(f32, [LOCAL_SIZE], LOCAL, "shared")
    place = g * LOCAL_SIZE + i

    def turned() -> None:
        nest.store(nest.load(a, [place]), shared, [i])
        value = nest.load(shared, [LOCAL_SIZE - 1 - i])
        nest.store(nest.emit(arith.AddfOp(value, value)), o, [place])

    nest.either(equal(g, 1), lambda: nest.store(nest.load(a, [place]), o, [place]), turned)


def _branched(rows: Array) -> Array:
    turned = 2 * rows[:, ::-1]
    turned[1] = rows[1]
    return turned


def _by_a_tree(nest: NestBuilder, a: SSAValue, o: SSAValue, g: Expr, i: Expr) -> None:
    """The sum of a group's elements: barriers between branches that fewer and fewer take."""
    shared = nest.buffer(f32, [LOCAL_SIZE], LOCAL, "shared")
    nest.store(nest.load(a, [g * LOCAL_SIZE + i]), shared, [i])
    half = LOCAL_SIZE // 2
    while half:
        with nest.when(less(i, half)):
            both = nest.load(shared, [i]), nest.load(shared, [i + half])
            nest.store(nest.emit(arith.AddfOp(*both)), shared, [i])
        half //= 2
    nest.store(nest.load(shared, [Expr()]), o, [g * LOCAL_SIZE + i])


def _summed(rows: Array) -> Array:
    return np.repeat(rows.sum(axis=1, keepdims=True), rows.shape[1], axis=1)


def _by_registers(size: int, nest: NestBuilder, a: SSAValue, o: SSAValue, g: Expr, i: Expr) -> None:
    """The sum of a sub-group's elements, exchanged in registers."""
    total = nest.load(a, [g * size + i])
    mask = size // 2
    while mask:
        total = nest.emit(arith.AddfOp(total, nest.emit(ShuffleOp(total, mask, size))))
        mask //= 2
    nest.store(total, o, [g * size + i])


def _exchanges(device: Device) -> Iterator[Case]:
    yield Exchange("barriers in a loop", _in_a_loop, _looped)
    yield Exchange("barriers in a branch", _in_a_branch, _branched)
    yield Exchange("sums by a tree in local memory", _by_a_tree, _summed)
    for size in device.sub_group_sizes[:1]:
        body = partial(_by_registers, size)
        yield Exchange(f"exchange in sub-groups of {size}", body, _summed, size)


# -- all of it -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """Cases that are kernels of one program: every build has a cost of its own."""

    name: str
    cases: Sequence[Case]

    @property
    def apart(self) -> list[Batch]:
        """Batches of single cases, or of the parts of the only one."""
        parts = self.cases if len(self.cases) > 1 else self.cases[0].apart
        return [Batch(part.name, [part]) for part in parts]

    def smallest(self) -> list[Batch]:
        """The parts that have no parts."""
        return [x for part in self.apart for x in part.smallest()] or [self]

    def named(self, name: str) -> Batch | None:
        """The part of this name, which may be the whole."""
        if name == self.name:
            return self
        return next(filter(None, (part.named(name) for part in self.apart)), None)


def batches(device: Device) -> list[Batch]:
    """Batches of all cases that a device must compute; without f64 where it has none."""
    found = [Batch("barriers, local memory and sums", [*_exchanges(device), Products()])]
    for t in CONCRETE.values():
        if t == f64 and not device.fp64:
            continue
        lengths = EVERY_LENGTH if t in TOLERANCES and t != bf16 else FEW_LENGTHS
        every = [elementwise_case(t, lanes) for lanes in lengths]
        if not device.fp64:
            every = [_without_f64(case) for case in every]
        found.append(Batch(f"the functions of {type_name(t)} and of its vectors", every))
    return found


def _without_f64(case: Elementwise) -> Elementwise:
    return replace(case, results=[r for r in case.results if r.type != f64])


def kernel_name(place: int) -> str:
    """The name of the kernel of a case at a place of a batch."""
    return f"{KERNEL}_{place}"


def opencl(batch: Batch, device: Device) -> str:
    """The program of a batch, as kernels are lowered and printed for a device."""
    functions = [_function_of(case, kernel_name(k)) for k, case in enumerate(batch.cases)]
    kernels = kernel_module(f"{KERNEL}_kernels", functions, 32)
    module = ModuleOp([kernels])
    module.attributes[SPEC] = system_spec(device, {})
    lower_nests(Context(), module)
    return print_opencl(kernels)


def _function_of(case: Case, name: str) -> gpu.FuncOp:
    shapes = [(t, a.size) for t, a in case.inputs]
    shapes += [(t, a.size) for _, t, a in case.outputs]
    block = Block(arg_types=[memory_type(t, [size], GLOBAL) for t, size in shapes])
    case.build(NestBuilder(block), block.args)
    groups, local = case.sizes
    return kernel_function(name, block, (groups, 1, 1), (local, 1, 1))


def fault(type: Attribute, actual: Array, expected: Array) -> str:
    """The first wrong element of an output; empty if there is none."""
    if type not in TOLERANCES:
        wrong = actual != expected
    else:
        a, e = actual.astype(np.float64), expected.astype(np.float64)
        with np.errstate(all="ignore"):
            near = np.abs(a - e) <= TOLERANCES[type] * np.maximum(np.abs(e), SMALL)
        wrong = ~(near | (a == e) | (np.isnan(a) & np.isnan(e)))
    if not wrong.any():
        return ""
    k = int(np.argmax(wrong))
    return f"{actual[k]} where {expected[k]} is right"
