"""tile-fuse: group ops into kernels."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.analysis.normal_form import check_one_owner, ranges_of
from tiledialect.dialects.tile.attributes import DomainAttr
from tiledialect.dialects.tile.base import size_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import concrete
from tiledialect.dialects.tile.elementwise.ops import CastOp, ConstantOp, ElementwiseOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.schedule_text import name_kernels
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.errors import TileError, meant
from tiledialect.ir.control_flow import has_control_flow
from tiledialect.ir.named_values import names_text, option_name
from tiledialect.ir.names import given_name, keep_name
from tiledialect.ir.ops_in import has_one_block, ops_in, ops_of
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.passes.fuse.fusion_rules import (
    CONCATENATION_FUSION,
    COPY_FUSION,
    EXTREMUM_COUNTING,
    GATHER_INLINING,
    HORIZONTAL_FUSION,
    PRODUCER_INLINING,
    ROW_FUSION,
    STENCIL_FUSION,
    Rule,
)
from tiledialect.passes.fuse.kernel_fusion import KernelFusion, kernels_in
from tiledialect.passes.fuse.kernel_grouping import group_into_kernels, make_kernel
from tiledialect.passes.fuse.kernel_merging import drop_overwritten_defaults
from tiledialect.passes.fuse.rules.constant_positions import index_constant_positions
from tiledialect.passes.fuse.rules.operand_duplication import duplicate_operands
from tiledialect.passes.fuse.rules.output_aliasing import (
    copy_displaced_updates,
    copy_returned_arguments,
    duplicate_results,
    partial_updates,
)
from tiledialect.passes.views.concatenation import is_completed, is_written_over, merge_added_parts
from tiledialect.passes.views.diagonals import select_diagonals
from tiledialect.passes.views.initial_values import initialize_unwritten
from tiledialect.passes.views.mask_elimination import eliminate_masks
from tiledialect.passes.views.slice_sinking import sink_slices
from tiledialect.passes.views.triangles import select_inside
from tiledialect.schedule.cost.device import device_of
from tiledialect.schedule.cost.traffic import Machine
from tiledialect.schedule.output_box import output_box, widened


def _has_gaps(op: ContractionOp) -> bool:
    """Whether no loops of a contraction visit every element of its result."""
    return output_box(op.space()) is None


def _widen_domain(op: ContractionOp) -> None:
    """Let the loops of a contraction visit every element of its result, where they can."""
    if is_written_over(op):
        return
    ranges = widened(op.space(), ranges_of(op))
    op.domain = DomainAttr(tuple((name, ranges[name]) for name in op.index_names))
    check_one_owner(op)


def _group(
    body: Region, apart: Collection[str], partial: Collection[SSAValue], vectors: bool
) -> None:
    """Move the tile ops of a function into kernels, in place.

    ``partial`` are results that update an argument and leave some of its elements as they are.
    """
    block = body.block
    _materialize_constants(block)
    eliminate_masks(body)
    sink_slices(body, apart)
    merge_added_parts(block)
    if vectors:
        select_diagonals(block)
        select_inside(block)
    contractions = [op for op in block.ops if isinstance(op, ContractionOp)]
    # Cores write whole rows no slower than parts of them.
    completed = {op for op in contractions if (not vectors or _has_gaps(op)) and is_completed(op)}
    for op in contractions:
        if op not in completed:
            if op.result not in partial:
                index_constant_positions(op)
                _widen_domain(op)
            initialize_unwritten(op)
    _hoist_small_ops(block)
    group_into_kernels(block, apart)


def fill_uncompleted(block: Block, given: Collection[KernelOp]) -> None:
    """Fill results whose unwritten elements other kernels were to write until fusion took one."""
    for kernel in [k for k in kernels_in(block) if k not in given]:
        op = kernel.contraction
        if op is None or op.default is not None or is_completed(op):
            continue
        if made := initialize_unwritten(op):
            for new in made:
                new.detach()
            Rewriter.insert_op(made, InsertPoint.before(kernel))
            start = made[-1].results[0]
            argument = kernel.block.insert_arg(start.type, len(kernel.inputs))
            keep_name(argument, start)
            op.set_default(argument)
            kernel.operands = [*kernel.operands, start]
            make_kernel(made)


def _hoist_small_ops(block: Block) -> None:
    """Move elementwise ops that larger ones may repeat right after their operands.

    An op joins the last group that produces an operand: that should be one of its own shape.
    """
    elementwise = [op for op in block.ops if isinstance(op, ElementwiseOp)]
    largest = max((size_of(op.results[0]) for op in elementwise), default=0)
    place: dict[Operation, tuple[int, int]] = {}
    for k, op in enumerate(block.ops):
        place[op] = k, 0
        if isinstance(op, ElementwiseOp | ReshapeOp) and size_of(op.results[0]) < largest:
            owners = (v.owner for v in op.operands)
            makers = [place[o][0] for o in owners if isinstance(o, Operation) and o in place]
            place[op] = max(makers, default=-1), k + 1
        elif isinstance(op, ConstantOp):
            place[op] = -1, k + 1
    ordered = sorted(place, key=place.__getitem__)
    if ordered != list(place):
        for op in ordered:
            op.detach()
        block.add_ops(ordered)


def _materialize_constants(block: Block) -> None:
    """Give constants that must be in memory an op that a kernel can hold."""
    for op in list(block.ops):
        if isinstance(op, func.ReturnOp | ReshapeOp):
            for k, value in enumerate(op.operands):
                if isinstance(value.owner, ConstantOp):
                    cast = CastOp.to(value, concrete(tensor_type(value).element_type))
                    keep_name(cast.result, value)
                    Rewriter.insert_op(cast, InsertPoint.before(op))
                    op.operands[k] = cast.result


@dataclass(frozen=True)
class TileFusePass(PassWithFlags):
    """Groups the ops of every function into kernels.

    A contraction begins a kernel, in which the elementwise ops on its result's elements may follow;
    chains of elementwise ops of one shape are one kernel. Constants go into each kernel that uses
    them; reshapes stay outside. The domain of a contraction is widened where its loops can visit
    every element of the result; one of few points that writes at a number of an axis, as `O[i, 3]`,
    gets an index there. Each element must have one owner among the values of the result's indices,
    which `tile-reduce` and `tile-defract` ensure. A contraction that leaves elements of its result
    unwritten is alone in its kernel, and writes over the default, or 0, with which another kernel
    has filled the result. So does one whose default no other op takes, as in a concatenation, where
    no elementwise ops follow. Parts that are added, of which no two write the same elements, become
    such; on GPUs the first one does not fill the elements of the others. On CPUs elements along a
    diagonal, `[i, i]`, are selected in the kernel that fills the result, and copies of half a
    tensor or more, as triangles, select elements, too. In gradients, reads of a part that the
    others leave alone read past their masks. Where elementwise ops of arguments are used in parts
    alone, they are computed on parts of the arguments, and for concatenated arguments on the part
    alone.

    A result that updates an argument (`tile.updates`) has a kernel that can write it there, which
    later ops do not join if it leaves elements as they are; another one copies it where elements of
    the argument are needed otherwise.

    A contraction's kernel has an operand for each place at which it reads a tensor.

    Then kernels are fused where that pays. Contractions of few points an element, as differences of
    neighbours, share a kernel, which computes them where elementwise ops take them. Copies of them
    share it, too, and copies that take others as their defaults, as concatenations of functions of
    slices do. Copies that compose a result of parts of one shape join the kernel that computes
    these, which writes each part in its place. Initial values of copies are dropped where other
    copies in the kernel overwrite all of them. Elementwise ops whose results a contraction alone
    takes are computed where it loads them; on CPUs gathered rows and matrices, too, where it takes
    them as they lie and writes along rows. Kernels that read one another's results, or the same
    inputs, along the same rows become a row kernel: contractions that aggregate over the same axes,
    and elementwise ops before, between and after them, as in softmax or layer normalization. Its
    indices are the axes of the largest shape, `d0, d1, …`. Elementwise ops that several kernels
    take are recomputed in each, where that takes less than to write and to read their results, by
    one kernel for contractions over the same rows; those at the end of a contraction go to the row
    kernel that alone takes them, if that moves less. Then kernels that read or write disjoint
    windows, as `X[4*i + k]` with `0 <= k < 4`, become row kernels over shapes in which `i` and `k`
    have axes of their own; reshapes stand around them. Elementwise kernels of one shape that read
    the same, or have few elements, share a kernel, and so do few sums over tensors of one shape. A
    maximum or minimum over overlapping windows shares a kernel with the count of the elements that
    equal it.
    """

    name = "tile-fuse"

    loads: bool | None = None
    """Whether elementwise ops join the contraction that reads them, and contractions of few points
    their users, or the kernels of the parts that they write; by default, if that pays.
    """
    rows: bool | None = None
    """Whether contractions over the same rows, or windows, share a kernel; by default, if that
    pays.
    """
    again: bool | None = None
    """Whether elementwise ops that several kernels take are computed in each; by default, if that
    pays.
    """
    beside: bool | None = None
    """Whether elementwise kernels with a common operand share a kernel; by default, if that
    pays.
    """
    apart: tuple[str, ...] = ()
    """Names of results that are written to memory, and whose kernels no later op joins."""
    explain: bool = False
    """Whether each kernel gets an attribute that explains its fusion."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fuse every function, and name the kernels."""
        device = device_of(op)
        apart = _results_apart(op, self.apart)
        for function in ops_of(op, func.FuncOp):
            if has_one_block(function) and _is_static(function) and not has_control_flow(function):
                vectors = device is None or device.traits.has_vectors
                self._fuse(function, apart, Machine.of(device), vectors)
        name_kernels(op)

    def _fuse(
        self, function: func.FuncOp, apart: Sequence[str], machine: Machine, vectors: bool
    ) -> None:
        """Group the ops of a function into kernels, and fuse these where that pays."""
        block = function.body.block
        given = kernels_in(block)
        partial = partial_updates(function)
        alone = [*apart, *filter(None, map(given_name, partial))]
        _group(function.body, alone, partial, vectors)
        copy_returned_arguments(function)
        forced = self._rules(vectors), self.again, alone
        fusion = KernelFusion(block, machine, *forced, given, explains=self.explain)
        fusion.run()
        drop_overwritten_defaults(function.body)
        fill_uncompleted(block, given)
        duplicate_operands(block)
        if self.explain:
            fusion.explain()
        duplicate_results(function, given)
        copy_displaced_updates(function)

    def _rules(self, vectors: bool) -> dict[Rule, bool | None]:
        """Rules in their order, with what the options say of each."""
        loads, rows = self.loads, self.rows
        return {
            # Without vectors sums need not read neighbours along rows.
            **({} if vectors else {STENCIL_FUSION: loads}),
            COPY_FUSION: loads,
            CONCATENATION_FUSION: loads,
            PRODUCER_INLINING: loads,
            # Vectors lie along rows; without them it has not been measured.
            **({GATHER_INLINING: loads} if vectors else {}),
            ROW_FUSION: rows,
            EXTREMUM_COUNTING: rows,
            HORIZONTAL_FUSION: self.beside,
        }


def _results_apart(module: ModuleOp, options: Sequence[str]) -> list[str]:
    """Names of results that are written to memory; a TileError for one that is not there."""
    results = [value for op in ops_in(module) for value in op.results]
    names = dict.fromkeys(filter(None, map(given_name, results)))
    apart = [*map(option_name, options)]
    for name in apart:
        if name not in names:
            like = meant(name, names) or f"; there is {names_text(results)}"
            raise TileError(f"there is no result {name} to keep apart{like}")
    return apart


def _is_static(function: func.FuncOp) -> bool:
    return all(
        isinstance(t, TensorType) and t.has_static_shape() for t in function.function_type.inputs
    )
