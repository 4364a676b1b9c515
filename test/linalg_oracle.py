"""Convert other projects' tests of linalg, and tell what passes, what is refused, and why.

`python test/linalg_oracle.py PATH` takes folders of MLIR files, or single files. Each function with
ops of linalg on tensors is converted to the tile dialect. Where its types are known, it is computed
for random inputs by the reference semantics, and the results are compared with those of xDSL's
interpreter, if that can run it, and with those of the function that `convert-tile-to-linalg` makes
of it. The table has a row for each file, and is written to a page with `--page`; the status is 1 if
any result is wrong.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.errors import TileError
from tiledialect.interpreters.tile import interpret
from tiledialect.ir.mlir_text import all_dialects, parse_mlir
from tiledialect.ir.signature import find_function
from tiledialect.ir.verification import verify
from tiledialect.lowering.tile_to_linalg.convert_tile_to_linalg import ConvertTileToLinalgPass
from tiledialect.passes.convert.convert_linalg_to_tile import ConvertLinalgToTilePass

sys.path.append(str(Path(__file__).parent / "support"))

from linalg_cases import random_array
from outcomes import Outcome, files_of, programs, report
from xdsl_calls import xdsl_results

Array = npt.NDArray[Any]

MOST_ELEMENTS = 2**16
"""Most elements of the inputs of a function that is computed."""


def is_tested(op: Operation) -> bool:
    """Whether an op is one of linalg on tensors."""
    return op.name.startswith("linalg.") and any(isinstance(t, TensorType) for t in op.result_types)


def outcomes(text: str) -> list[Outcome]:
    """The outcomes of the functions of a program."""
    if "linalg." not in text or "tensor<" not in text:
        return []
    try:
        module = parse_mlir(text, "<test>", all_dialects())
    except TileError as error:
        return [Outcome("refused", error.message.partition("\n")[0])]
    names = [
        f.sym_name.data
        for f in module.walk()
        if isinstance(f, func.FuncOp) and any(map(is_tested, f.walk()))
    ]
    tops = [op for op in module.ops if is_tested(op)]
    return [
        *(outcome(alone(module, name), name) for name in names),
        *(outcome(function_of(op), "f") for op in tops),
    ]


def function_of(op: Operation) -> ModuleOp:
    """An op outside of functions as one, of the results of ops of no meaning."""
    function = func.FuncOp("f", ([], op.result_types))
    block = function.body.block
    made: dict[SSAValue, SSAValue] = {}

    def take(value: SSAValue) -> None:
        owner = value.owner
        if value in made:
            return
        if isinstance(owner, Block) or owner.name.startswith("test."):
            made[value] = block.insert_arg(value.type, len(block.args))
        elif isinstance(owner, Operation):
            copy(owner)

    def copy(found: Operation) -> None:
        inner = {v for r in found.regions for o in r.walk() for v in o.results}
        inner |= {v for r in found.regions for b in r.blocks for v in b.args}
        for nested in found.walk():
            for value in nested.operands:
                if value not in inner:
                    take(value)
        block.add_op(found.clone(made))

    copy(op)
    assert block.last_op is not None
    block.add_op(func.ReturnOp(*block.last_op.results))
    function.update_function_type()
    return ModuleOp([function])


def alone(module: ModuleOp, name: str) -> ModuleOp:
    """A function in a module of its own, with those that it calls."""
    functions = {f.sym_name.data: f for f in module.walk() if isinstance(f, func.FuncOp)}
    kept, pending = dict[str, func.FuncOp](), [name]
    while pending:
        current = pending.pop()
        if current not in functions or current in kept:
            continue
        kept[current] = functions[current]
        pending += [
            op.callee.root_reference.data
            for op in functions[current].walk()
            if isinstance(op, func.CallOp)
        ]
    return ModuleOp([f.clone() for f in kept.values()])


def outcome(module: ModuleOp, name: str) -> Outcome:
    """The outcome of one function."""
    given = module.clone()
    try:
        verify(module)
        ConvertLinalgToTilePass().apply(all_dialects(), module)
        verify(module)
        arrays = inputs_of(module, name)
        if arrays is None:
            return Outcome("passed")
        results = interpret(module, name, arrays)
        ConvertTileToLinalgPass().apply(all_dialects(), module)
        verify(module)
        ConvertLinalgToTilePass().apply(all_dialects(), module)
        again = interpret(module, name, arrays)
    except TileError as error:
        return Outcome("refused", error.message.partition("\n")[0])
    try:
        by_xdsl = xdsl_results(given, name, arrays)
    except Exception:  # Whatever its interpreter lacks.
        by_xdsl = list(results)
    for got, *others in zip(results, again, by_xdsl, strict=True):
        for wanted in others:
            # Sums in another order, of numbers of up to 64 bits.
            if got.shape != wanted.shape or not np.allclose(
                got.astype("f8"), wanted.astype("f8"), rtol=1e-2, atol=1e-2, equal_nan=True
            ):
                return Outcome("wrong", f"@{name}: {got.tolist()} is not {wanted.tolist()}")
    return Outcome("passed")


def inputs_of(module: ModuleOp, name: str) -> list[Array] | None:
    """Random inputs of a function; None if its types are open or the inputs large."""
    types = list(find_function(module, name).function_type.inputs)
    count = 0
    for t in types:
        if not isinstance(t, TensorType) or not t.has_static_shape():
            return None
        if t.element_type not in CONCRETE.values():
            return None
        count += int(np.prod(t.get_shape()))
    if count > MOST_ELEMENTS:
        return None
    rng = np.random.default_rng(0)
    return [random_array(t, rng) for t in types]


PAGE = """# Other projects' tests of linalg

<!-- Made by `make linalg LINALG=paths`. -->

`make linalg LINALG=../xdsl/tests/filecheck` converts the functions on tensors in the tests of
[xDSL](https://github.com/xdslproject/xdsl) that hold ops of `linalg`; other folders may be given,
as `mlir/test/Dialect/Linalg` of LLVM. Functions of known types are computed by the reference
semantics, and compared with xDSL's interpreter where it runs them, and with themselves after
`convert-tile-to-linalg`. Of {all} functions {passed} pass, {refused} are refused, and {wrong} give
another result. [What is refused](interop.md) is an error that says so.
"""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--page", type=Path, help="write the table to this file")
    given = parser.parse_args(arguments)
    found = {
        name: [o for text in programs(file) for o in outcomes(text)]
        for name, file in files_of(given.paths).items()
        # Programs that are to fail.
        if "invalid" not in name
    }
    return report({k: v for k, v in found.items() if v}, PAGE, given.page)


if __name__ == "__main__":
    sys.exit(main())
