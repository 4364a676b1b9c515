"""Fusion of the kernels of a block: pairs that a rule can merge, where the cost model gains."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Block, Operation
from xdsl.rewriter import Rewriter

from tiledialect.dialects.discardable import FUSED
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.dialects.tile.structure.row_axes import Rows
from tiledialect.ir.common_subexpressions import cse
from tiledialect.ir.names import given_name
from tiledialect.passes.diagnostics.value_text import described
from tiledialect.passes.fuse.fusion_rules import ROW_FUSION, Order, Partners, Rule, producers
from tiledialect.passes.fuse.kernel_merging import replace, sort_topologically, users_of
from tiledialect.passes.fuse.rules.epilogue_fission import (
    Fission,
    repeatable_results,
    split_epilogue,
    split_results,
)
from tiledialect.passes.fuse.rules.producer_inlining import is_elementwise
from tiledialect.passes.fuse.rules.recomputation import (
    Recomputation,
    erase,
    recomputation_gain,
    recomputations,
    recompute,
    repeats_steps,
    repeats_too_much,
)
from tiledialect.passes.fuse.rules.row_kernels import row_kernel_gain
from tiledialect.passes.fuse.rules.window_fusion import (
    WindowKernel,
    fuse_windows,
    has_windows,
    may_join,
)
from tiledialect.schedule.cost.traffic import Gain, Machine


def notes_of(kernel: KernelOp) -> tuple[str, ...]:
    """Explanations of the fusion of a kernel, as far as there are any."""
    notes = kernel.attributes.get(FUSED)
    given = notes if isinstance(notes, ArrayAttr) else ()
    return tuple(note.data for note in given if isinstance(note, StringAttr))


@dataclass
class KernelFusion:
    """Fusion of the kernels of a block."""

    block: Block
    machine: Machine
    forced: dict[Rule, bool | None]
    """Choice for each rule, in the order of trial: True to merge wherever possible, False never,
    None by cost.
    """
    again: bool | None = None
    """The same choice for recomputation in each kernel that takes a result."""
    apart: Collection[str] = ()
    """Names of results that stay in memory, and whose kernels merge with no later one."""
    given: Collection[KernelOp] = ()
    """Kernels that were given in the input: they stay as they are."""
    explains: bool = False
    """Whether notes describe values without names by their expressions."""
    notes: dict[KernelOp, list[str]] = field(default_factory=dict[KernelOp, list[str]])

    def __post_init__(self):
        self.order = Order(self.block)
        """Positions of the ops: a fused kernel has the position of one of the two."""

    def run(self) -> None:
        """Merge kernels by the rules, recompute some, and merge those that share windows.

        Recomputed kernels need no windows to share a kernel with their users.
        """
        self._apply(rule for rule in self.forced if not rule.is_last)
        if self.again is not False:
            self._recompute_all()
        if self.forced.get(ROW_FUSION) is not False:
            for kernel in reversed(kernels_in(self.block)):
                if kernel.parent is not None and kernel not in self.given and has_windows(kernel):
                    self._merge_windows(kernel)
        self._apply(rule for rule in self.forced if rule.is_last)

    def _apply(self, rules: Iterable[Rule]) -> None:
        """Merge all kernels by some rules, in order."""
        for rule in rules:
            for partners in rule.partners:
                self._merge(rule, kernels_in(self.block), partners)

    def _recompute_all(self) -> None:
        """Recompute kernels where their results are taken, if that pays."""
        before = set(kernels_in(self.block))
        # The last ones first: their producers may then be recomputed, too.
        for kernel in reversed(kernels_in(self.block)):
            self._recompute(kernel)
        # Kernels with recomputed operands may cost less to recompute.
        for kernel in reversed([k for k in kernels_in(self.block) if k not in before]):
            self._recompute(kernel)
        new = [k for k in kernels_in(self.block) if k not in before and k.axes is not None]
        self._merge(ROW_FUSION, new, producers)
        # One kernel computes common values once.
        for kernel in [k for k in kernels_in(self.block) if k not in before]:
            merge_equal_values(kernel)

    def _merge(self, rule: Rule, kernels: Iterable[KernelOp], partners: Partners) -> None:
        """Merge each of some kernels with its partners, as long as that pays."""
        if self.forced.get(rule) is False:
            return
        for kernel in [k for k in kernels if k not in self.given and rule.may_merge(k)]:
            if rule.is_symmetric and self._is_apart(kernel):
                continue
            last: KernelOp | None = kernel
            while last is not None and last.parent is not None:
                last = self._merged(rule, last, partners)

    def _merge_windows(self, last: KernelOp) -> None:
        """Merge a kernel with producers of its inputs over the same windows, if that pays."""
        members, found, refused = [last], None, set[KernelOp]()
        while (first := self._joining(members, refused)) is not None:
            more = sorted([first, *members], key=self.order.__getitem__)
            both = self._fused_windows(first, more, found or last)
            if both is None:
                refused.add(first)
                continue
            if found is not None:
                found.erase()
            members, found = more, both
        if found is not None:
            self.order[found.kernel] = self.order[last]
            self.notes[found.kernel] = [note for k in members for note in self.notes.get(k, ())]
            found.put()

    def _joining(
        self, members: Sequence[KernelOp], refused: Collection[KernelOp]
    ) -> KernelOp | None:
        """A producer of inputs of some kernels, whose other results can wait for the last one."""
        for member in reversed(members):
            for first in producers(member, self.order):
                is_new = first not in refused and first not in members and first not in self.given
                if is_new and may_join([first, *members], self.order):
                    return first
        return None

    def _fused_windows(
        self, first: KernelOp, members: Sequence[KernelOp], without: WindowKernel | KernelOp
    ) -> WindowKernel | None:
        """A row kernel of some kernels, if it is faster than the one without the first, and that
        one.
        """
        if self._is_apart(first):
            return None
        if (both := fuse_windows(members)) is None:
            return None
        rest = without.kernel if isinstance(without, WindowKernel) else without
        gain = row_kernel_gain((first, rest), both.kernel, self.machine)
        pays = gain.saved >= 0
        does = "in one kernel" if pays else "not in one kernel"
        name, last = self._described(first), self._described(members[-1])
        note = f"{name} is {does} with {last}, over the same windows: {self._costs_text(gain)}"
        self.notes.setdefault(first if pays else members[-1], []).append(note)
        if pays or self.forced[ROW_FUSION]:
            return both
        both.erase()
        return None

    def _recompute(self, kernel: KernelOp) -> None:
        """Recompute an elementwise kernel where its results are taken, if that pays.

        In a kernel with contractions, the elementwise end is recomputed.
        """
        users = users_of(kernel)
        if self._is_apart(kernel) or not users.isdisjoint(self.given) or kernel in self.given:
            return
        parted = None if is_elementwise(kernel) else split_epilogue(kernel)
        if self._recompute_split(kernel, parted):
            return
        for results in repeatable_results(kernel):
            parted = split_results(kernel, results)
            if parted is not None and self._recompute_split(kernel, parted):
                self._recompute(parted.rest)
                return

    def _recompute_split(self, kernel: KernelOp, parted: Fission | None) -> bool:
        """Recompute a kernel, or its elementwise end, if that pays; whether it was done."""
        first = parted.end if parted is not None else kernel
        is_decided = not self.again and not self.explains
        if is_decided and repeats_too_much(first, self.machine, parted):
            found = []
        else:
            found = recomputations(first, self.order, self.machine)
        if repeats_steps(first, found, parted):
            erase(found)
            found = []
        if found and self._recomputation_pays(kernel, first, found, parted):
            if parted is not None:
                self.order[parted.rest] = self.order[kernel]
                self.notes[parted.rest] = self.notes.get(kernel, [])
                Rewriter.erase_op(kernel)
            recompute(first, found, self.order)
            if any(len(own.users) > 1 for own in found):
                sort_topologically(self.block)
                self.order = Order(self.block)
            return True
        if parted is not None:
            parted.undo()
        return False

    def _recomputation_pays(
        self,
        kernel: KernelOp,
        first: KernelOp,
        found: Sequence[Recomputation],
        parted: Fission | None,
    ) -> bool:
        """Whether kernels that recompute another one's results are faster; they get notes."""
        gain = recomputation_gain(first, found, self.machine, parted)
        name, worth = self._described(first), self._costs_text(gain)
        if gain.saved <= 0 and not self.again:
            note = f"{name} is not computed again where it is taken, which would take {worth}"
            self.notes.setdefault(kernel, []).append(note)
            erase(found)
            return False
        for own in found:
            self.order[own.kernel] = max(map(self.order.__getitem__, own.users))
            notes = [note for op in (kernel, *own.users) for note in self.notes.get(op, ())]
            note = f"{name} is computed again where it is taken: {worth}"
            self.notes[own.kernel] = [*notes, note]
        return True

    def explain(self) -> None:
        """Store the explanations of its fusion in each kernel."""
        for kernel in kernels_in(self.block):
            if self.notes.get(kernel):
                kernel.attributes[FUSED] = ArrayAttr(map(StringAttr, self.notes[kernel]))

    def _merged(
        self,
        rule: Rule,
        kernel: KernelOp,
        partners: Partners,
    ) -> KernelOp | None:
        """Fusion of a kernel with one of its partners; None if it stays."""
        for first in list(partners(kernel, self.order)):
            if first in self.given or self._is_apart(first):
                continue
            place = place_of(first, kernel, self.order)
            both = rule.merge(first, kernel) if place is not None else None
            if both is None or place is None:
                continue
            gain = rule.gain(first, kernel, both, self.machine)
            name, what = self._described(first), rule.text.format(self._described(kernel))
            pays = gain.saved > 0 or (gain.saved == 0 and rule.saves_launch)
            worth = self._costs_text(gain)
            notes = [*self.notes.get(first, ()), *self.notes.get(kernel, ())]
            if pays or self.forced[rule]:
                worth += "" if pays else ", but it was asked for"
                self.order[both] = self.order[place]
                replace(first, kernel, both, place)
                self.notes[both] = [*notes, f"{name} is {what}: {worth}"]
                return both
            refusal = f"{name} is not {what}, which would take {worth}"
            if refusal not in notes:
                self.notes.setdefault(kernel, []).append(refusal)
            both.erase()
        return None

    def _described(self, kernel: KernelOp) -> str:
        """Name of a kernel in notes."""
        value = kernel.outputs[0]
        return described(value) if self.explains else name_of(value)

    def _is_apart(self, kernel: KernelOp) -> bool:
        """Whether a kernel is kept apart from later kernels."""
        return bool(self.apart) and any(given_name(v) in self.apart for v in kernel.outputs)

    def _costs_text(self, gain: Gain) -> str:
        """Text of the costs that were compared."""
        fused, separate = map(self.machine.microseconds, (gain.fused, gain.separate))
        return f"{fused} instead of {separate} apart, {gain.why}"


def kernels_in(block: Block) -> list[KernelOp]:
    """The kernels of a block, in order."""
    return [op for op in block.ops if isinstance(op, KernelOp)]


def merge_equal_values(kernel: KernelOp) -> None:
    """Compute values once that are equal and lie along the same axes."""
    axes = kernel.axes
    maps = None if axes is None else Rows.of(kernel.block.ops, axes.ranges).maps
    cse(kernel.body, maps)


def place_of(first: KernelOp, second: KernelOp, order: Order) -> KernelOp | None:
    """Possible position of a fused kernel: after all of its operands, before all of its users."""
    if all(order[user] > order[second] for user in users_of(first) - {second} if user in order):
        return second
    owners = {v.owner for v in second.inputs if isinstance(v.owner, Operation)} - {first}
    if all(order[op] < order[first] for op in owners if op in order):
        return first
    return None
