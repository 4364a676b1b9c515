"""The parts of a contraction's text."""

from __future__ import annotations

from xdsl.parser import Parser, UnresolvedOperand

from tiledialect.dialects.tile.attributes import Combination, parse_expr, symbol
from tiledialect.dialects.tile.combinations import ARITY, OPERATORS, WORDS
from tiledialect.index.expr import IndexExpr


class ContractionSyntax:
    """Parses the parts of a contraction, collecting the symbol operands on the way."""

    def __init__(self, parser: Parser):
        self.parser = parser
        self.symbols: list[UnresolvedOperand] = []

    def parse_symbol(self) -> str | None:
        """A symbol's name in expressions, if an operand comes next."""
        operand = self.parser.parse_optional_unresolved_operand()
        if operand is None:
            return None
        names = [(s.operand_name, s.index) for s in self.symbols]
        key = (operand.operand_name, operand.index)
        if key not in names:
            names.append(key)
            self.symbols.append(operand)
        return symbol(names.index(key))

    def parse_expr(self) -> IndexExpr:
        """An index expression of names and symbols."""
        return parse_expr(self.parser, self.parse_symbol)

    def parse_inputs(self) -> tuple[Combination, list[tuple[UnresolvedOperand, list[IndexExpr]]]]:
        """Parse the combination and the tensors, each with its index expressions."""
        inputs = [self._parse_input()]
        operators: list[str] = []
        while (word := self.parser.parse_optional_keyword_in(WORDS)) is not None:
            operators.append(word)
            inputs.append(self._parse_input())
        for combination, wanted in OPERATORS.items():
            if len(inputs) in ARITY[combination] and tuple(operators) == wanted[: len(operators)]:
                return combination, inputs
        self.parser.raise_error(f"'{' '.join(operators)}' is not a way to combine tensors")

    def _parse_input(self) -> tuple[UnresolvedOperand, list[IndexExpr]]:
        value = self.parser.parse_unresolved_operand()
        access = self.parser.parse_comma_separated_list(
            self.parser.Delimiter.SQUARE, self.parse_expr
        )
        return value, access

    def parse_output(self) -> tuple[list[IndexExpr], list[int], list[UnresolvedOperand]]:
        """The index expressions, the axes with a size, and these sizes."""
        output: list[IndexExpr] = []
        axes: list[int] = []
        sizes: list[UnresolvedOperand] = []

        def item() -> None:
            output.append(self.parse_expr())
            if self.parser.parse_optional_punctuation(":"):
                axes.append(len(output) - 1)
                sizes.append(self.parser.parse_unresolved_operand())

        self.parser.parse_comma_separated_list(self.parser.Delimiter.SQUARE, item)
        return output, axes, sizes
