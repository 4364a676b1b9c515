"""The syntax tree, and what the grammar refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from work import is_linear

from tiledialect.errors import SourceSpan, TileError
from tiledialect.language import ast, parser


def parse(text: str, filename: str = "<tile>") -> ast.Function:
    """The only function of a text."""
    (function,) = parser.parse(text, filename)
    return function


def statement(text: str) -> ast.Statement:
    (found,) = parse(f"function (A, B, C, D) -> (O) {{ {text} }}").body
    return found


def shown(expression: ast.Expression) -> str:
    """An expression with parentheses around every call."""

    def show(node: ast.Expression, arguments: list[str]) -> str:
        match node:
            case ast.Call():
                return f"{node.function}({','.join(arguments)})"
            case ast.Variable():
                return node.name
            case ast.Integer() | ast.Real():
                return repr(node.value)

    return ast.evaluate(expression, show)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("A + B * C", "add(A,mul(B,C))"),
        ("A * B + C", "add(mul(A,B),C)"),
        ("A - B - C", "sub(sub(A,B),C)"),
        ("A / B * C", "mul(div(A,B),C)"),
        ("(A - B) - (C - D)", "sub(sub(A,B),sub(C,D))"),
        ("-A * B", "mul(neg(A),B)"),
        ("- -A", "neg(neg(A))"),
        ("A--B", "sub(A,neg(B))"),
        ("~A & B", "bit_and(bit_not(A),B)"),
        ("A + B << C", "bit_left(add(A,B),C)"),
        ("A << B >> C", "bit_right(bit_left(A,B),C)"),
        ("A < B << C", "cmp_lt(A,bit_left(B,C))"),
        ("A == B < C", "cmp_eq(A,cmp_lt(B,C))"),
        ("A > B != C <= D", "cmp_ne(cmp_gt(A,B),cmp_le(C,D))"),
        ("A & B == C", "bit_and(A,cmp_eq(B,C))"),
        ("A | B ^ C & D", "bit_or(A,bit_xor(B,bit_and(C,D)))"),
        ("A & B ^ C | D", "bit_or(bit_xor(bit_and(A,B),C),D)"),
        ("A ? B : C", "select(A,B,C)"),
        ("A ? B : C ? D : A", "select(A,B,select(C,D,A))"),
        ("A ? B ? C : D : A", "select(A,select(B,C,D),A)"),
        ("A >= B ? C : D + A", "select(cmp_ge(A,B),C,add(D,A))"),
        ("max(A, exp(B))", "max(A,exp(B))"),
        ("A' + B_2' * C2", "add(A',mul(B_2',C2))"),
        ("1 + 1.5 + 1e3 + 2.5E-1 + .5 + 3.", "add(add(add(add(add(1,1.5),1000.0),0.25),0.5),3.0)"),
        ("007 + 9223372036854775807", "add(7,9223372036854775807)"),
    ],
)
def test_expressions_group_as_in_c(text: str, meaning: str):
    found = statement(f"O = {text};")
    assert isinstance(found, ast.Assignment)
    assert shown(found.value) == meaning


@pytest.mark.parametrize("symbol", ["+", "*", ">", "<", "="])
@pytest.mark.parametrize("text", ["O[i: N] = {}(A[i]);", "O[i:N]={}(A[i]);"])
def test_aggregations(symbol: str, text: str):
    names = {"+": "add", "*": "mul", ">": "max", "<": "min", "=": "assign"}
    found = statement(text.format(symbol))
    assert isinstance(found, ast.Contraction)
    assert found.aggregation == names[symbol]


@pytest.mark.parametrize(
    ("inside", "combination", "count"),
    [
        ("A[i]", "none", 1),
        ("A[i] * B[i]", "mul", 2),
        ("A[i] * B[i] * C[]", "mul", 3),
        ("A[i] + B[i]", "add", 2),
        ("A[i] + B[i] + C[]", "add", 3),
        ("A[i] == B[i]", "eq", 2),
        ("A[i] == B[i] ? C[i]", "cond", 3),
    ],
)
def test_combinations(inside: str, combination: str, count: int):
    found = statement(f"O[i: N] = +({inside});")
    assert isinstance(found, ast.Contraction)
    assert (found.combination, len(found.operands)) == (combination, count)


def test_clauses():
    text = "[[pid(a, B)]] [[fast]] O[2i, j + 1: N/2, 3] = +(A[i, -j]), i - j < N, j < 2 default B no_defract;"
    found = statement(text)
    assert isinstance(found, ast.Contraction)
    assert [(a.name, a.arguments) for a in found.attributes] == [("pid", ("a", "B")), ("fast", ())]
    assert [shown(e) for e in found.output.indices] == ["mul(2,i)", "add(j,1)"]
    assert [shown(e) for e in found.sizes or ()] == ["div(N,2)", "3"]
    constraints = [(shown(c.expression), shown(c.bound)) for c in found.constraints]
    assert constraints == [("sub(i,j)", "N"), ("j", "2")]
    assert found.default is not None and found.default.text == "B"
    assert found.no_defract


@pytest.mark.parametrize("output", ["O[]", "O[:]"])
def test_scalar_outputs(output: str):
    found = statement(f"{output} = +(A[i]);")
    assert isinstance(found, ast.Contraction)
    assert (found.output.indices, found.sizes) == ((), ())


def test_header():
    function = parse("function net (A[N, M], B, C[]) -> (O, P) {; O = A; ;P = B;}")
    assert function.name is not None and function.name.text == "net"
    dims = [i.dims and [d.text for d in i.dims] for i in function.inputs]
    assert dims == [["N", "M"], None, ()]
    assert [o.text for o in function.outputs] == ["O", "P"]
    assert [s.target.text for s in function.body] == ["O", "P"]
    assert parse("function () -> (O) { O = 1; }").inputs == ()


def test_comments_are_blank():
    function = parse(
        "// RUN: this\nfunction (A) /* in\nthe ** middle */ -> (O) { # as in a shell\n O = A; // end"
        "\n}\n/**/"
    )
    assert function.body[0].target.span.line == 4


def test_keywords_are_names_elsewhere():
    found = statement("O[default: N] = +(A[default + no_defract]), function < 2;")
    assert isinstance(found, ast.Contraction)
    assert shown(found.output.indices[0]) == "default"


def test_spans():
    text = "function (A) -> (O) {\n\tO = A +\n   exp(A)*2;\n}"
    (found,) = parse(text, "x.tile").body
    assert isinstance(found, ast.Assignment)
    assert isinstance(found.value, ast.Call)
    product = found.value.arguments[1]
    assert product.span == SourceSpan(text, 3, 4, "x.tile", len("exp(A)*2"))
    assert product.span.excerpt() == "   exp(A)*2;\n   ^^^^^^^^"
    assert found.span.excerpt() == "\tO = A +\n\t^^^^^^^"


BODIES = [
    ("O = A¦", "expected `;` after `A`"),
    ("O = A¦\n P = B;", "expected `;` after `A`"),
    ("O = A¦ // comment\n P = B;", "expected `;` after `A`"),
    ("O = A¦ [[pid(x)]] P = B;", "expected `;` after `A`"),
    ("O = A ¦B;", "expected `;` or an operator after `A`, but found `B`"),
    ("O = ¦;", "expected an expression after `=`, but found `;`"),
    ("O = (A¦;", "expected `)` or an operator after `A`, but found `;`"),
    ("O = A¦);", "expected `;` or an operator after `A`, but found `)`"),
    ("O[i: N ¦= +(A[i]);", "expected `,`, `]` or an operator after `N`, but found `=`"),
    ("O[i: N] = ¦(A[i]);", "expected an aggregation (`+`, `*`, `>`, `<` or `=`) after `=`"),
    ("O[i: N] = ¦-(A[i]);", "expected an aggregation"),
    ("O[i: N] = ¦max(A[i]);", "expected an aggregation"),
    ("O[i: N] = +(A[i] ¦- B[i]);", "expected `)`, `*`, `+` or `==` after `]`"),
    ("O[i: N] = +(A[i] * B[i] ¦? C[i]);", "expected `)`, `*` or `==` after `]`"),
    ("O[i: N] = +(¦2 * A[i]);", "expected a name after `(`, but found `2`"),
    ("O[i: N] = +(A[i]) ¦and i < 2;", "(separate constraints with `,`)"),
    ("O[i: N] = +(A[i]), i ¦<= 2;", "a bound is one more than the largest value)"),
    ("O[i: N] = +(A[i]), i¦;", "expected `<` or an operator after `i`"),
    ("O[i: N] = +(A[i]) default B default ¦C;", "a contraction has one default"),
    ("O[i: ¦] = +(A[i]);", "expected an expression after `:`, but found `]`"),
    ("O = ¦+(A[i]);", "(a contraction gives its output indices, `O[]` if there are none)"),
    ("O ¦+= A;", "expected `=` or `[` after `O`"),
    ("O = A < B ¦< C;", "(comparisons do not chain, write `(A < B) & (B < C)`)"),
    ("O = A ¦&& B;", "there is no operator `&&` (use `&`, of bools"),
    ("O = A ¦|| B;", "there is no operator `||` (use `|`, of bools"),
    ("O = A ¦! B;", "expected `;` or an operator after `A`"),
    ("O = A % ¦% B;", "expected an expression after `%`"),
    ("O = A ¦** B;", "there is no operator `**` (use `pow`"),
    ("¦_O = A;", "(a name begins with a letter)"),
    ("O = 1.5¦f;", "but found `f`"),
    ("O = ¦2N;", "expected an operator between `2` and `N`"),
    ("O = ¦9223372036854775808;", "the number does not fit 64 bits"),
    ("O = f(A, ¦);", "expected an expression after `,`, but found `)`"),
    ("[[a(¦1)]] O = A;", "expected a name after `(`"),
    ("[[a]] \n ¦}}", "expected `[[` or a name after `]]`, but found `}`"),
    ("O = ¦é;", "expected an expression after `=`, but found `é`"),
    ("O = ¦$;", "expected an expression after `=`, but found `$`"),
]
TEXTS = [
    ("¦", "expected `function`, but the text ends"),
    ("¦fun (A) -> (O) {}", "expected `function`, but found `fun`"),
    ("function ¦", "expected `(` or a name after `function`, but the text ends"),
    ("function (A) -> ¦O {}", "expected `(` after `->`, but found `O`"),
    ("function (A,¦) -> (O) {}", "expected a name after `,`, but found `)`"),
    ("function (A[N¦+1]) -> (O) {}", "expected `,` or `]` after `N`, but found `+`"),
    ("function (A[2¦N]) -> (O) {}", "expected `,` or `]` after `2`, but found `N`"),
    ("function (A)¦", "expected `->` after `)`, but the text ends"),
    ("function (A) -> (O) { O = A; } ¦x", "expected `function` or the end of the text after `}`"),
    ("function (A) -> (O) { O = A;¦", "expected `;`, `[[`, `}` or a name after `;`"),
    ("function (A) -> (O) { O = A; ¦/* }", "(the comment has no end)"),
    ("function (A) -> (O) { ¦\0 }", "but found `\0`"),
]
CASES = [(f"function (A, B, C) -> (O) {{\n  {body} }}", said) for body, said in BODIES] + TEXTS


@pytest.mark.parametrize(("marked", "said"), CASES, ids=[said for _, said in CASES])
def test_errors_say_where_and_what(marked: str, said: str):
    before, _, after = marked.partition("¦")
    with pytest.raises(TileError) as caught:
        parse(before + after, "x.tile")
    span = caught.value.span
    assert span is not None
    line = before.count("\n") + 1
    assert (span.line, span.column) == (line, len(before.rpartition("\n")[2]) + 1)
    assert said in caught.value.message
    assert str(caught.value).startswith(f"x.tile:{line}:{span.column}: ")


DEPTH = 1500


@pytest.mark.parametrize(
    "nested",
    [
        lambda n: "(" * n + "A" + ")" * n,
        lambda n: "-" * n + "A",
        lambda n: "A + " * n + "A",
        lambda n: "A ? A : " * n + "A",
        lambda n: "exp(" * n + "A" + ")" * n,
        lambda n: "max(A, " * n + "A" + ")" * n,
    ],
)
def test_nesting_has_no_limit(nested: Callable[[int], str]):
    found = statement(f"O = {nested(DEPTH)};")
    assert isinstance(found, ast.Assignment)
    assert sum(1 for _ in ast.postorder(found.value)) >= 1
    with pytest.raises(TileError):
        statement(f"O = {nested(DEPTH)[:-2]};;}}")


def test_the_work_is_linear_in_the_statements():
    def parse_many(count: int) -> None:
        text = "".join(f"T{k}[i: N] = +(A[i]);" for k in range(count))
        assert len(parse(f"function (A[N]) -> (O) {{ {text} }}").body) == count

    assert is_linear(parse_many, 200)
