"""The kernel op: a group of ops that becomes one OpenCL kernel, with its schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType, i64
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.discardable import STAGED, STAGING
from tiledialect.dialects.tile.attributes import (
    DomainAttr,
    ScheduleAttr,
    parse_schedule,
    print_schedule,
)
from tiledialect.dialects.tile.base import name_of, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import ScatterOp
from tiledialect.dialects.tile.structure.extremum_counts import extreme_counted
from tiledialect.dialects.tile.structure.parts import ConcatenatedPart, check_shapes, parts_yielded
from tiledialect.dialects.tile.structure.row_axes import Rows, check_results, reduced_by
from tiledialect.dialects.tile.structure.schedules import (
    check_global_stages,
    check_stage,
    check_undivided,
    instruction_box,
)
from tiledialect.dialects.tile.yielding import EndsInYield, YieldOp
from tiledialect.index.expr import Range
from tiledialect.ir.names import given_name, keep_place
from tiledialect.schedule.loops import LoopIndex, Schedule, ScheduleError, check
from tiledialect.schedule.scans import ScanLevels
from tiledialect.schedule.scatters import rows_of_item


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A group of tile ops that runs as one kernel.

    The body sees the operands as its arguments and yields the results. A symbol, as `@O`, names the
    kernel. The schedule, once there, orders the loops over the indices and maps each to the device:
    see `#tile.schedule`. The indices are the body's contraction's; a body without one, or with
    several, has `d0, d1, …`, the axes of its results. Several are sums, or copies, of few points,
    computed where elementwise ops take them; so is what elementwise ops make for such sums, if it
    is 0 of zeros, and a copy that takes what is computed as its default. Copies may read copies, of
    other shapes too. A maximum or minimum may stand with the count of its points that have it. The
    results are of one shape; where copies put some together of parts, the kernel runs over a part.
    What elementwise ops make of inputs before the contraction takes it is computed where that would
    be loaded, and can be staged like an input; so can the inputs of which it is computed.

    A kernel with `axes` is a row kernel: it has several contractions, and elementwise ops before,
    between and after them, and its indices are the axes. Every contraction reads and writes at the
    axes themselves, or at 0 along an axis of size 1, and so do elementwise ops, as NumPy
    broadcasts. Inputs may have more axes, of which a contraction reads one place. An axis that some
    contraction aggregates over stays within a work-group; along the others, the rows, each result
    has an element of its own. `stage` takes inputs, and computed values, which registers keep then.

    Example:

    ```mlir
    %O = tile.kernel @O(%x = %X : tensor<8xf32>) -> tensor<8xf32> schedule <local.x d0 : 8> {
      %e = tile.exp %x : (tensor<8xf32>) -> tensor<8xf32>
      tile.yield %e : tensor<8xf32>
    }
    %P = tile.kernel(%x = %Y : tensor<4x8xf32>) -> tensor<4x8xf32> axes <i = 0 to 4, j = 0 to 8> {
      %s = tile.contraction add(%x[i, j]) -> [i, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
      %p = tile.div %x, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
      tile.yield %p : tensor<4x8xf32>
    }
    ```
    """

    name = "tile.kernel"

    inputs = var_operand_def(AnyAttr())
    outputs = var_result_def(AnyAttr())
    sym_name = opt_prop_def(StringAttr)
    axes = opt_prop_def(DomainAttr)
    schedule = opt_prop_def(ScheduleAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), Pure(), EndsInYield())

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        body: Block | Region,
        axes: DomainAttr | None = None,
        like: Operation | None = None,
    ):
        """Make a kernel; ``body`` has an argument for each input and ends in a `tile.yield`.

        It has the place of ``like``.
        """
        region = Region(body) if isinstance(body, Block) else body
        last = region.block.last_op
        assert isinstance(last, YieldOp)
        super().__init__(
            operands=[inputs],
            result_types=[last.values.types],
            properties={"axes": axes},
            regions=[region],
        )
        if like is not None:
            keep_place(self, like)

    @property
    def block(self) -> Block:
        """The body's block."""
        return self.body.block

    @property
    def yield_op(self) -> YieldOp:
        """The body's terminator."""
        last = self.block.last_op
        assert isinstance(last, YieldOp)
        return last

    @property
    def contractions(self) -> tuple[ContractionOp, ...]:
        """The body's contractions."""
        return tuple([op for op in self.block.ops if type(op) is ContractionOp])

    @property
    def contraction(self) -> ContractionOp | None:
        """The body's contraction, if its indices are the kernel's."""
        if self.axes is not None:
            return None
        found = self.contractions
        if len(found) != 1 or _is_computed(found[0].default):
            return extreme_counted(found)
        return found[0]

    @property
    def count(self) -> ContractionOp | None:
        """Count of the elements that equal the maximum or minimum that is the kernel's
        contraction."""
        found = self.contractions
        return found[1] if len(found) > 1 and self.contraction is not None else None

    @property
    def parts(self) -> Mapping[SSAValue, tuple[ConcatenatedPart, ...]]:
        """Parts of which results are concatenated, computed at the kernel's own places."""
        if self.axes is not None or len(self.contractions) < 2:
            return {}
        return parts_yielded(self.yield_op.values)

    @property
    def element_shape(self) -> tuple[int, ...]:
        """The shape of the parts of the results, or of the results if they have none."""
        values = (part.value for parts in self.parts.values() for part in parts)
        return shape_of(tensor_type(next(values, self.outputs[0]))) or ()

    @property
    def scatter(self) -> ScatterOp | None:
        """The body's scatter, if it has one."""
        return next((op for op in self.block.ops if isinstance(op, ScatterOp)), None)

    @property
    def scan(self) -> ScanOp | None:
        """The body's scan, if it has one."""
        return next((op for op in self.block.ops if isinstance(op, ScanOp)), None)

    @property
    def reduced(self) -> set[str]:
        """The axes of a row kernel that contractions aggregate over."""
        axes = self.axes.ranges if self.axes is not None else {}
        return {name for op in self.contractions for name in reduced_by(op, axes)}

    @property
    def values(self) -> tuple[SSAValue, ...]:
        """Values that stages number: the inputs, as in the body, and the results of its ops.

        In a kernel without axes, of the results only operands of its contraction. Staged values
        come first, by the numbers in the attribute `staged` of its ops: passes that remove ops, or
        merge equal ones, leave those numbers alone.
        """
        ops = [op for op in self.block.ops if not isinstance(op, ConstantOp)]
        computed = (r for op in sorted(ops, key=_staged_number) for r in op.results)
        if self.axes is None:
            taken = self.contraction.inputs if self.contraction is not None else ()
            computed = (v for v in computed if v in taken)
        return (*self.block.args, *computed)

    @property
    def indices(self) -> tuple[LoopIndex, ...]:
        """Indices of the loops; a contraction's are known once it has a domain."""
        if self.axes is not None:
            reduced = self.reduced
            return tuple(LoopIndex(n, r, n not in reduced) for n, r in self.axes.data)
        op = self.contraction
        if op is not None:
            ranges = op.domain.data if op.domain is not None else ()
            output = {name for e in op.output.data for name in e.names}
            return tuple(LoopIndex(name, r, name in output) for name, r in ranges)
        sizes = enumerate(self.element_shape)
        return tuple(LoopIndex(f"d{k}", Range(0, size), True) for k, size in sizes)

    def verify_(self) -> None:
        """Check that arguments match operands, yielded values results, and loops indices."""
        if self.block.arg_types != tuple(self.operand_types):
            raise VerifyException("the arguments of a tile.kernel must match its operands")
        if tuple(self.yield_op.operand_types) != tuple(self.result_types):
            raise VerifyException("the values a tile.kernel yields must match its results")
        for value in (*self.operands, *self.results):
            if not (isinstance(value.type, TensorType) and value.type.has_static_shape()):
                raise VerifyException(f"a tile.kernel works on static shapes, not {value.type}")
        if not self.outputs:
            raise VerifyException("a tile.kernel has a result")
        self._verify_results()
        if self.schedule is not None:
            self.verify_schedule(self.schedule)

    def _verify_results(self) -> None:
        contractions = self.contractions
        scans = [op for op in self.block.ops if isinstance(op, ScanOp)]
        permitted = (ScatterOp, ConstantOp, YieldOp)
        others = [op for op in self.block.ops if not isinstance(op, permitted)]
        if self.scatter is not None and (others or len(self.outputs) > 1):
            raise VerifyException(f"{name_of(self.scatter.result)} must be alone in its kernel")
        if scans and (contractions or len(scans) > 1):
            names = " and ".join(name_of(op.result) for op in (*contractions, *scans))
            raise VerifyException(f"a tile.kernel with a scan has no other op like it: {names}")
        if self.axes is not None:
            rows = Rows.of(self.block.ops, self.axes.ranges)
            check_results(rows, self.yield_op.values, self.reduced)
        else:
            several = contractions and self.contraction is None
            stencils, others = (contractions, scans) if several else ((), (*contractions, *scans))
            check_shapes(stencils, others, self.yield_op.values, self.parts)

    def verify_schedule(self, schedule: ScheduleAttr) -> None:
        """Check that the kernel can run a schedule."""
        op = self.contraction
        if op is not None and op.domain is None:
            raise VerifyException(f"{name_of(op.result)} is scheduled, but has no domain")
        values = self.values
        ranks = [len(shape_of(tensor_type(v)) or ()) for v in values]
        names = [given_name(v) or f"input {k}" for k, v in enumerate(values)]
        try:
            check(self.indices, schedule.data, ranks, names)
            check_undivided(op, self.indices, schedule.data)
            axes = None if self.axes is None else self.axes.ranges
            for stage in schedule.data.stages:
                check_stage(stage, values[stage.operand], op, axes)
            is_copy = STAGING in self.attributes
            check_global_stages(schedule.data.global_stages, values, op, is_copy)
            instruction_box(op, schedule.data)
            if (scatter := self.scatter) is not None:
                size = (shape_of(tensor_type(scatter.result)) or ())[scatter.row_axis]
                rows_of_item(schedule.data, scatter.row_axis, size)
            if (scan := self.scan) is not None:
                ScanLevels.of(schedule.data, f"d{scan.along}", scan.block)
        except ScheduleError as e:
            raise VerifyException(str(e)) from None

    def print(self, printer: Printer) -> None:
        """Print in the form shown in the class's example."""

        def argument(pair: tuple[SSAValue, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])
            printer.print_string(" : ")
            printer.print_attribute(pair[1].type)

        if self.sym_name is not None:
            printer.print_string(" ")
            printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(zip(self.block.args, self.inputs, strict=True), argument)
        printer.print_string(" -> ")
        if len(self.results) == 1:
            printer.print_attribute(self.results[0].type)
        else:
            with printer.in_parens():
                printer.print_list(self.result_types, printer.print_attribute)
        if self.axes is not None:
            printer.print_string(" axes ")
            self.axes.print_parameter(printer)
        if self.schedule is not None:
            printer.print_string(" schedule ")
            print_schedule(printer, self.schedule.data, lambda k: self._print_staged(printer, k))
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        """Parse the form shown in the class's example."""

        def argument() -> tuple[Parser.UnresolvedArgument, SSAValue]:
            name = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            value = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            t = parser.parse_type()
            return name, parser.resolve_operand(value, t)

        symbol = parser.parse_optional_symbol_name()
        parens = parser.Delimiter.PAREN
        pairs = parser.parse_comma_separated_list(parens, argument)
        parser.parse_punctuation("->")
        types = parser.parse_optional_comma_separated_list(parens, parser.parse_type)
        if types is None:
            types = [parser.parse_type()]
        numbers = {name.name.text[1:]: k for k, (name, _) in enumerate(pairs)}
        computed: list[UnresolvedOperand] = []

        def operand() -> int | None:
            name = parser.parse_optional_unresolved_operand()
            if name is None:
                return None
            if name.operand_name in numbers:
                return numbers[name.operand_name]
            computed.append(name)
            return -len(computed)

        axes, schedule = None, None
        if parser.parse_optional_keyword("axes"):
            axes = DomainAttr(DomainAttr.parse_parameter(parser))
        if parser.parse_optional_keyword("schedule"):
            schedule = parse_schedule(parser, operand)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        arguments = [name.resolve(value.type) for name, value in pairs]
        body = parser.parse_region(arguments)
        op = cls.build(
            operands=[[value for _, value in pairs]], result_types=[types], regions=[body]
        )
        op.sym_name, op.axes = symbol, axes
        op.attributes.update({} if attributes is None else attributes.data)
        if schedule is not None:
            op.schedule = ScheduleAttr(op.mark(op._with_computed(schedule, computed, parser)))
        return op

    def mark(self, schedule: Schedule) -> Schedule:
        """Give the staged values lasting numbers; the schedule with these."""
        values = self.values
        chosen = [s.operand for s in schedule.stages if s.operand < len(values)]
        for op in self.block.ops:
            op.attributes.pop(STAGED, None)
        for number, k in enumerate(k for k in dict.fromkeys(chosen) if k >= len(self.inputs)):
            owner = values[k].owner
            assert isinstance(owner, Operation)
            owner.attributes[STAGED] = IntegerAttr(number, i64)
        now = {v: k for k, v in enumerate(self.values)}
        numbers = {k: now[v] for k, v in enumerate(values)}
        return renumbered(schedule, numbers)

    def _print_staged(self, printer: Printer, number: int) -> None:
        """Print a value by its name, if that tells which one is meant."""
        value = self.values[number]
        if isinstance(value, BlockArgument) or self._named(value.name_hint) == [number]:
            printer.print_ssa_value(value)
        else:
            printer.print_string(f"input {number}")

    def _named(self, hint: str | None) -> list[int]:
        """The numbers of the values that are computed under a name."""
        inner = [*enumerate(self.values)][len(self.inputs) :] if hint else ()
        return [k for k, v in inner if v.name_hint == hint]

    def _with_computed(
        self, schedule: Schedule, names: Sequence[UnresolvedOperand], parser: Parser
    ) -> Schedule:
        """The schedule with the numbers of values that had only a name before the body."""
        numbers: dict[int, int] = {}
        for k, name in enumerate(names):
            text = name.operand_name
            hint = SSAValue.extract_valid_name(text) if SSAValue.is_valid_name(text) else None
            found = self._named(hint)
            if len(found) != 1:
                parser.raise_error(
                    f"%{text} is no argument or named value of this kernel", name.span
                )
            numbers[-k - 1] = found[0]
        return renumbered(schedule, numbers)


def renumbered(schedule: Schedule, numbers: Mapping[int, int]) -> Schedule:
    """The schedule with other numbers for the values that it stages."""

    def number(k: int) -> int:
        return numbers.get(k, k)

    return replace(
        schedule,
        stages=tuple(replace(s, operand=number(s.operand)) for s in schedule.stages),
        global_stages=tuple(replace(s, operand=number(s.operand)) for s in schedule.global_stages),
    )


def _staged_number(op: Operation) -> float:
    number = op.attributes.get(STAGED)
    return number.value.data if isinstance(number, IntegerAttr) else inf


def _is_computed(value: SSAValue | None) -> bool:
    """Whether a kernel computes the elements without points."""
    owner = None if value is None else value.owner
    return isinstance(owner, Operation) and not isinstance(owner, ConstantOp)


KERNEL_OPS: tuple[type[Operation], ...] = (KernelOp, YieldOp)
"""All ops of this file."""
