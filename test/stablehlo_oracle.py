"""Run the interpreter tests of openxla/stablehlo, and tell what passes, what is refused, and why.

`python test/stablehlo_oracle.py PATH` takes the folder `stablehlo/tests/interpret` of a checkout,
or single files of it. Each program in them holds inputs as constants and the expected results. It
is converted to the tile dialect and computed by the reference semantics, with `--device` on a
device. The table has a row for each file, and is written to a page with `--page`; the status is 1
if any result is wrong.
"""

from __future__ import annotations

import argparse
import sys
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def
from xdsl.parser import Parser

import tiledialect as td
from tiledialect.api.reference import run_function
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import all_dialects, parse_mlir
from tiledialect.ir.verification import verify
from tiledialect.passes.convert.convert_stablehlo_to_tile import ConvertStablehloToTilePass
from tiledialect.passes.convert.stablehlo.elementwise import to_number

sys.path.append(str(Path(__file__).parent / "support"))

from outcomes import Outcome, files_of, programs, report

TOLERANCES = {"bfloat16": 1e-2, "float16": 2e-3, "float32": 1e-4, "float64": 1e-4}
"""Relative tolerances for functions: as in the tests themselves, whose numbers have few digits."""


class _Expect(IRDLOperation):
    """A value and what it must be."""

    value = operand_def()
    expected = prop_def(DenseIntOrFPElementsAttr)

    @classmethod
    def parse(cls, parser: Parser):
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        expected = parser.parse_attribute()
        parser.parse_optional_attr_dict()
        t = getattr(expected, "type", None)
        return cls.create(
            operands=[parser.resolve_operand(value, t)], properties={"expected": expected}
        )


@irdl_op_definition
class ExpectEqual(_Expect):
    name = "check.expect_eq_const"


@irdl_op_definition
class ExpectAlmostEqual(_Expect):
    name = "check.expect_almost_eq_const"


Check = Dialect("check", [ExpectEqual, ExpectAlmostEqual])


def context() -> Context:
    found = all_dialects()
    found.register_dialect("check", lambda: Check)
    found.allow_unregistered = True
    return found


def array(attribute: DenseIntOrFPElementsAttr) -> np.ndarray[Any, Any]:
    """The array that a dense attribute is."""
    t = attribute.type
    assert isinstance(t, TensorType)
    if t.element_type not in NUMPY_TYPES:
        raise TileError(f"there are no tensors of {t.element_type}")
    values = list(attribute.get_values())
    numbers = [to_number(v, t.element_type) for v in values]
    dtype = NUMPY_TYPES[t.element_type]
    return np.broadcast_to(np.array(numbers, dtype).reshape(-1), prod(t.get_shape())).reshape(
        t.get_shape()
    )


def inputs_of(main: func.FuncOp) -> list[np.ndarray[Any, Any]]:
    """Make inputs of a function's constants, in place; their values."""
    found: list[np.ndarray[Any, Any]] = []
    for op in list(main.body.block.ops):
        value = op.properties.get("value")
        if op.name == "stablehlo.constant" and isinstance(value, DenseIntOrFPElementsAttr):
            t = value.type
            if not isinstance(t, TensorType) or len(list(value.get_values())) < 2:
                continue
            found.append(array(value))
            block = main.body.block
            op.results[0].replace_all_uses_with(block.insert_arg(t, len(block.args)))
            op.detach()
            op.erase()
    return found


def outcome(text: str, device: str | None) -> Outcome:
    """Outcome of one program."""
    try:
        module = parse_mlir(text, "<test>", context())
        main = next(
            f
            for f in module.ops
            if isinstance(f, func.FuncOp) and any(isinstance(op, _Expect) for op in f.walk())
        )
        arrays = inputs_of(main)
        expected, values = results_of(main)
        ConvertStablehloToTilePass().apply(Context(), module)
        verify(module)
        name = main.sym_name.data
        if device is not None and values:
            results = td.compile(module, device=device, name=name)(*arrays)
            results = results if isinstance(results, tuple) else (results,)
        else:
            results = run_function(module, name, arrays)
    except StopIteration:
        return Outcome("refused", "the results are checked in another way")
    except TileError as error:
        return Outcome("refused", error.message.partition("\n")[0])
    for got, (wanted, is_exact) in zip(results, expected, strict=True):
        if not same(np.asarray(got), wanted, is_exact):
            return Outcome("wrong", f"{np.asarray(got).tolist()} is not {wanted.tolist()}")
    return Outcome("passed")


def results_of(main: func.FuncOp) -> tuple[list[tuple[np.ndarray[Any, Any], bool]], list[SSAValue]]:
    """Return what is checked, in place; the expected values, and whether these are exact."""
    expected: list[tuple[np.ndarray[Any, Any], bool]] = []
    values: list[SSAValue] = []
    for op in list(main.body.block.ops):
        if isinstance(op, _Expect):
            expected.append((array(op.expected), isinstance(op, ExpectEqual)))
            values.append(op.value)
            op.detach()
            op.erase()
    last = main.body.block.last_op
    assert last is not None
    last.detach()
    last.erase()
    main.body.block.add_op(func.ReturnOp(*values))
    main.update_function_type()
    return expected, values


def same(got: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], is_exact: bool) -> bool:
    """Whether a result is the expected one."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return False
    allowed = TOLERANCES.get(got.dtype.name)
    if allowed is None or is_exact:
        return np.array_equal(got, wanted, equal_nan=got.dtype.kind not in "iub")
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    # Numbers next to 0 are flushed to 0 on devices.
    return np.allclose(a, b, rtol=allowed, atol=1e-37, equal_nan=True)


PAGE = """# Upstream's tests of StableHLO

<!-- Made by `make jax STABLEHLO=path`. -->

The interpreter tests of [openxla/stablehlo](https://github.com/openxla/stablehlo) hold inputs and
expected results. `make jax STABLEHLO=../stablehlo` converts and runs each by the reference
semantics, and `test/stablehlo_oracle.py --device intel:0` on a device. Of {all} programs
{passed} pass, {refused} are refused, and {wrong} give another result.
[What is refused](interop.md) is an error that says so.
"""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--device", help="run on this device, not by the reference semantics")
    parser.add_argument("--page", type=Path, help="write the table to this file")
    given = parser.parse_args(arguments)
    found = {
        name: [outcome(text, given.device) for text in programs(file) if "func.func" in text]
        for name, file in files_of(given.paths).items()
        # Some programs in it are to fail.
        if name != "check"
    }
    return report(found, PAGE, given.page)


if __name__ == "__main__":
    sys.exit(main())
