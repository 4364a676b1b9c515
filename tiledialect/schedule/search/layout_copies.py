"""Copies of operands in global memory that contractions on CPUs may read, with other axes fastest.

A separate kernel makes such a copy, once. It pays where an operand is read often, and across the
axis along which it lies: for example rows of a tile that are neighbours in memory, but whose next
summed elements are far away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.loops import GlobalStage, LoopIndex

OFTEN = 128
"""Fewest reads of an element of an operand for a copy of it to pay."""


def copies(facts: Facts, device: Device) -> Iterator[GlobalStage]:
    """Copies to try: those with an axis fastest that is not so in the operand.

    The axis is the one along which vectors are read, or else a summed one.
    """
    # Groups with a local memory transpose tiles there.
    if device.traits.has_local_memory or not facts.aggregates or facts.is_rows:
        return
    read = [t.number for t in (*facts.inputs, *facts.after)]
    along = set(facts.outputs[0].contiguous)
    for tensor in facts.inputs:
        is_often = facts.points >= OFTEN * prod(tensor.shape)
        is_operand = tensor.access is not None and tensor.number not in facts.loaded
        if is_often and is_operand and read.count(tensor.number) == 1:
            wanted = along & tensor.names or set(facts.reduced_indices)
            yield from (GlobalStage(tensor.number, order) for order in _orders(tensor, wanted))


def _orders(tensor: Tensor, wanted: set[str]) -> Iterator[tuple[int, ...]]:
    """The orders of axes that let some index move the fastest one, if none does so yet."""
    axes = [k for k, e in enumerate(tensor.access or ()) if wanted & set(e.names)]
    rank = len(tensor.shape)
    if axes and axes[-1] != rank - 1:
        yield (*(k for k in range(rank) if k != axes[-1]), axes[-1])


def reading(facts: Facts, stage: GlobalStage) -> Facts:
    """The facts of a kernel that reads a copy of an operand in its place."""
    return replace(
        facts,
        inputs=tuple(
            _ordered(t, stage.order) if t.number == stage.operand else t for t in facts.inputs
        ),
    )


def making(facts: Facts, stage: GlobalStage) -> Facts:
    """The facts of the kernel that makes a copy."""
    tensor = next(t for t in facts.inputs if t.number == stage.operand)
    axes = tuple(IndexExpr.of(f"d{k}") for k in range(len(tensor.shape)))
    source = replace(tensor, number=0, access=axes)
    result = _ordered(source, stage.order)
    indices = tuple(LoopIndex(f"d{k}", Range(0, tensor.shape[k]), True) for k in stage.order)
    return Facts(indices, (source,), (result,), "assign")


def _ordered(tensor: Tensor, order: tuple[int, ...]) -> Tensor:
    """The copy of a tensor with its axes in an order."""
    access = tensor.access or ()
    return replace(
        tensor,
        shape=tuple(tensor.shape[k] for k in order),
        access=tuple(access[k] for k in order),
    )
