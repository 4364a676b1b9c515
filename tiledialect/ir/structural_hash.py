"""Structural hash: kernels alike but for the names of their values have the same."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Operation, SSAValue


def structural_hash(op: Operation) -> Hashable:
    """Equal for ops that do the same with operands of the same types.

    Inputs count by type alone, so that the code made for one kernel serves all alike.
    """
    numbers: dict[SSAValue, int] = {}
    return (*(v.type for v in op.operands), _structure(op, numbers))


def structural_hash_with_names(op: Operation) -> Hashable:
    """Equal for ops that are the same to the names of their values, from which others are made."""
    numbers: dict[SSAValue, int] = {}
    structure = _structure(op, numbers)
    return structure, tuple(v.name_hint for v in numbers)


def attributes_text(op: Operation) -> str:
    """Text of the attributes of an op: those of DLTI are equal whatever they hold."""
    return ", ".join(sorted(f"{name} = {value}" for name, value in op.attributes.items()))


def _structure(op: Operation, numbers: dict[SSAValue, int]) -> Hashable:
    """The op and all in it, with each value as the number of its first appearance."""
    operands = tuple(numbers.setdefault(v, len(numbers)) for v in op.operands)
    for result in op.results:
        numbers[result] = len(numbers)
    blocks: list[Hashable] = []
    for block in (b for region in op.regions for b in region.blocks):
        for argument in block.args:
            numbers[argument] = len(numbers)
        arguments = tuple(a.type for a in block.args)
        blocks.append((arguments, *(_structure(inner, numbers) for inner in block.ops)))
    given = (*op.properties.items(), *op.attributes.items())
    attributes = frozenset((name, value) for name, value in given if name != "sym_name")
    return op.name, operands, tuple(r.type for r in op.results), attributes, *blocks
