"""Builder of a function of tile ops from a graph of another project."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Block, OpResult, Region, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.transforms.dead_code_elimination import dce

from tiledialect.dialects.discardable import NAME, UPDATES
from tiledialect.ir.names import give_name, given_name, kept_name
from tiledialect.ir.tensor_builder import TensorBuilder


@dataclass(frozen=True)
class BuiltFunction:
    """Module of one function, and the inputs that it takes."""

    module: ModuleOp
    inputs: tuple[str, ...]
    """Names of the inputs in the graph."""


class FunctionBuilder:
    """Function whose ops and inputs are added in order."""

    def __init__(self):
        self._block = Block()
        self._end = func.ReturnOp()
        self._block.add_op(self._end)
        self._names: list[str] = []
        self._taken: set[str] = set()
        self.b = TensorBuilder(self._end)
        """Builder of the ops of the body."""

    def argument(self, name: str, t: TensorType[Any]) -> SSAValue:
        """A further input."""
        argument = self._block.insert_arg(t, len(self._names))
        self._names.append(name)
        give_name(argument, self._own_name(name))
        return argument

    def finished(
        self,
        name: str,
        results: Sequence[tuple[str, SSAValue]],
        needed: Collection[str] = (),
        updated: Sequence[tuple[str, SSAValue]] = (),
    ) -> BuiltFunction:
        """The function of named results; inputs that nothing uses stay only if needed.

        ``updated`` has inputs that a call changes by their names, and what they become.
        """
        changed = [(f"{key}_new", value) for key, value in updated]
        for value, key in {value: key for key, value in (*changed, *results)}.items():
            if isinstance(value, OpResult):
                give_name(value, self._own_name(key))
        values = [value for _, value in (*results, *updated)]
        Rewriter.replace_op(self._end, func.ReturnOp(*values))
        types = [*self._block.arg_types], [v.type for v in values]
        function = func.FuncOp(name, types, Region(self._block))
        module = ModuleOp([function])
        dce(module)
        kept: list[str] = []
        for argument, key in zip(list(self._block.args), self._names, strict=True):
            if argument.uses or key in needed or any(key == name for name, _ in updated):
                kept.append(key)
            else:
                self._block.erase_arg(argument)
        function.update_function_type()
        if updated:
            names = {
                key: StringAttr(given_name(a) or key)
                for key, a in zip(kept, self._block.args, strict=True)
            }
            entries = [{}] * len(results) + [{UPDATES: names[key]} for key, _ in updated]
            function.arg_attrs = ArrayAttr([DictionaryAttr({NAME: n}) for n in names.values()])
            function.res_attrs = ArrayAttr(map(DictionaryAttr, entries))
        return BuiltFunction(module, tuple(kept))

    def _own_name(self, name: str) -> str:
        """A name that no other input or result has, as several may be kept as one."""
        kept = kept_name(name)
        numbered = (f"{kept}_{k}" for k in count(1))
        own = next(n for n in chain([kept], numbered) if n not in self._taken)
        self._taken.add(own)
        return own


def name_result(value: object, name: str) -> None:
    """Name a value as its graph does, if it is the result of an op."""
    if isinstance(value, OpResult):
        give_name(value, kept_name(name))
