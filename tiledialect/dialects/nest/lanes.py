"""Ops of arith applied lane by lane, where xDSL's own op takes scalars alone."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from xdsl.dialects import arith
from xdsl.dialects.builtin import DictionaryAttr, StringAttr, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tiledialect import caches


@caches.VECTOR_TYPES
def vector_of(element: Attribute, lanes: int) -> VectorType[Attribute]:
    """The type of so many lanes: it is asked for each op, and takes long to make."""
    return VectorType(element, [lanes])


LANEWISE: Mapping[str, type[Operation]] = {
    op.name: op
    for op in (
        arith.CmpiOp,
        arith.CmpfOp,
        arith.SelectOp,
        arith.ExtSIOp,
        arith.ExtUIOp,
        arith.TruncIOp,
        arith.SIToFPOp,
        arith.UIToFPOp,
        arith.FPToSIOp,
        arith.FPToUIOp,
    )
}
"""Comparisons, choices and conversions, by name."""


@irdl_op_definition
class LanesOp(IRDLOperation):
    """An op of arith on the lanes of vectors: a comparison, a choice or a conversion.

    Upstream has these on vectors too; xDSL's verifier and syntax know them on scalars.

    Example:

    ```mlir
    %mask = nest.lanes "arith.cmpi" {predicate = 2 : i64}(%a, %b)
        : (vector<4xi32>, vector<4xi32>) -> vector<4xi1>
    ```
    """

    name = "nest.lanes"

    op = prop_def(StringAttr)
    options = prop_def(DictionaryAttr)
    values = var_operand_def(base(VectorType))
    result = result_def(base(VectorType))

    traits = traits_def(Pure())

    assembly_format = "$op $options `(` $values `)` attr-dict `:` functional-type($values, $result)"

    def __init__(
        self,
        op: type[Operation],
        values: Sequence[SSAValue],
        result: VectorType,
        options: Mapping[str, Attribute],
    ):
        """An op of arith with its properties, on vectors."""
        super().__init__(
            operands=[values],
            properties={"op": StringAttr(op.name), "options": DictionaryAttr(dict(options))},
            result_types=[result],
        )

    def verify_(self) -> None:
        """Check that there is the same op on scalars."""
        op = LANEWISE.get(self.op.data)
        if op is None:
            raise VerifyException(f"'{self.op.data}' is none of {', '.join(LANEWISE)}")
        types = [v.type for v in (*self.values, self.result)]
        vectors = [t for t in types if isinstance(t, VectorType)]
        if len({t.shape for t in vectors}) != 1:
            raise VerifyException("nest.lanes takes and gives vectors of as many lanes")
        *lanes, result = (t.element_type for t in vectors)
        scalar = op.create(
            operands=Block(arg_types=lanes).args,
            result_types=[result],
            properties=dict(self.options.data),
        )
        scalar.verify()

    @contextmanager
    def on_vectors(self) -> Generator[Operation]:
        """The op of arith on the same values, for those who know it on vectors."""
        op = LANEWISE[self.op.data].create(
            operands=self.values,
            result_types=[self.result.type],
            properties=dict(self.options.data),
        )
        try:
            yield op
        finally:
            op.erase()
