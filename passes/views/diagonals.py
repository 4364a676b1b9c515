"""Written diagonals as selections of repeated elements where one axis equals another."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import BitAndOp, CmpEqOp, IndexOp, SelectOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.ir.names import give_name, given_name, keep_name, keep_origin
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.passes.views.initial_values import filled


def select_diagonals(block: Block) -> None:
    """Select elements of a diagonal among zeros, in the kernel that fills a result with these.

    The result is written once, as vectors, and elementwise ops may follow. Another kernel would
    write single elements into the zeros of the first one.
    """
    for op in list(block.ops):
        if isinstance(op, ContractionOp) and (row := _row_of(op)) is not None:
            made = [row, *_selection(op, row.result)]
            keep_origin(made, op)
            Rewriter.replace_op(op, made, made[-1].results)


def _row_of(op: ContractionOp) -> ReshapeOp | None:
    """Elements that a contraction writes along a diagonal, with axes of size 1 for the others.

    None if the contraction does anything else.
    """
    if len(op.inputs) != 1 or op.constraints.data or op.default is not None:
        return None
    (source,), (access,) = op.inputs, op.accesses.data
    t, names = tensor_type(op.result), [e.variable for e in op.output.data]
    read, given = [e.variable for e in access.data], tensor_type(source)
    if None in (*names, *read) or len(set(names)) == len(names):
        return None
    if set(op.index_names) != set(names) or given.element_type != t.element_type:
        return None
    # A diagonal ends with the shorter of its axes, and with the written elements.
    places = [*zip(names, shape_of(t) or (), strict=True)]
    places += zip(read, shape_of(given) or (), strict=True)
    sizes = dict(places)
    if len(set(places)) > len(sizes) or read != [name for name in sizes if name in read]:
        return None
    shape = [sizes[n] if n in read and n not in names[:k] else 1 for k, n in enumerate(names)]
    row = ReshapeOp.of(source, shape)
    keep_name(row.result, source)
    return row


def _selection(op: ContractionOp, row: SSAValue) -> Iterator[Operation]:
    """Ops that select a row's elements on the diagonal that a contraction writes, else 0."""
    t, names = tensor_type(op.result), [e.variable for e in op.output.data]
    made = filled(0, t.element_type, shape_of(t) or ())
    zeros = made[-1].results[0]
    give_name(zeros, f"{given_name(op.result) or 'result'}_fill")
    for new in made:
        yield new
        if isinstance(new, ContractionOp):
            set_domain(new, new.space())
    tests: list[SSAValue] = []
    for axis, name in enumerate(names):
        first = names.index(name)
        if first != axis:
            places = [IndexOp.along(zeros, k) for k in (first, axis)]
            same = CmpEqOp.make(*(place.result for place in places))
            yield from (*places, same)
            tests.append(same.result)
    test = tests[0]
    for another in tests[1:]:
        yield (both := BitAndOp.make(test, another))
        test = both.result
    yield SelectOp.make(test, row, zeros)
