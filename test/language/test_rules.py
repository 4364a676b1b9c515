"""The rules of the language, each with the place and the words of the error that breaking it is."""

from __future__ import annotations

import pytest

from tiledialect.errors import TileError
from tiledialect.language.to_ir import load

BODIES = [
    # names
    ("O = A; ¦O = B;", "`O` is already defined, in line 2"),
    ("O = A; ¦A = B;", "`A` is already defined, in line 1"),
    ("O = A; ¦N = 3;", "`N` is already defined, in line 1"),
    ("T = B; ¦T[i: N] = +(A[i]); O = T;", "`T` is already defined"),
    ("¦o = A;", "`o` must begin with a capital letter, as it is a tensor"),
    ("¦d = N / 2;", "`d` must begin with a capital letter, as it is a dimension"),
    ("¦o[i: N] = +(A[i]);", "`o` must begin with a capital letter"),
    ("O = ¦X;", "`X` is not defined"),
    ("Total = A; O = ¦Totl;", "`Totl` is not defined; do you mean `Total`?"),
    ("O = ¦O2; O2 = A;", "`O2` is not defined"),
    ("O = A + ¦i;", "`i` is an index"),
    ("O = A * 2¦i;", "`i` is an index"),
    (
        "O = ¦sum(A, 1);",
        "there is no function `sum`: write `S[i: N] = +(A[i, j]);`",
    ),
    ("O = ¦sqr(A);", "there is no function `sqr`; do you mean `sqrt`?"),
    ("O = ¦foo(A, 1);", "there is no function `foo`"),
    ("O = ¦exp(A, B);", "`exp` takes 1 argument, not 2"),
    ("O = ¦exp();", "`exp` takes 1 argument, not 0"),
    ("O = ¦max(A);", "`max` takes 2 arguments, not 1"),
    ("O = ¦as_bool(A, 8, 8);", "`as_bool` takes 1 or 2 arguments, not 3"),
    ("O = ¦reshape();", "`reshape` takes at least 1 argument, not 0"),
    # custom gradients
    ("O = custom_gradient(A, A) (DO) -> (¦E) {};", "`E` is not defined"),
    ("O = custom_gradient(A, ¦X) (DO) -> (DO) {};", "`X` is not defined"),
    ("O = custom_gradient(A, ¦N) (DO) -> (DO) {};", "a custom gradient is by tensors, and `N` is"),
    ("O = custom_gradient(A, A) (¦A) -> (A) {};", "`A` is already defined, in line 1"),
    ("O = custom_gradient(A, A) (DO) -> (E) { ¦DO = A; };", "`DO` is already defined"),
    ("O = custom_gradient(A, A) (DO) -> (E) { E = ¦F; };", "`F` is not defined"),
    ("O = custom_gradient(A, A, B) (DO) -> (¦DO) {};", "by 2 tensors gives 1 cotangent"),
    ("T = custom_gradient(A, A) (DO) -> (DO) {}; O = ¦DO;", "`DO` is not defined"),
    ("O = 1 + ¦custom_gradient(A, A);", "a custom gradient is a statement of its own"),
    ("O = custom_gradient(A, A)¦;", "expected `(` after `)`, but found `;`"),
    (
        "¦O = custom_gradient(A, A) (DO) -> (E) { E[i, j: N, 2] = =(DO[i]); };",
        "must have the shape of",
    ),
    # indices
    ("O[¦I: N] = +(A[I]);", "there is no dimension `I` (indices begin with a lower case letter)"),
    ("O[¦A: N] = +(A[i]);", "`A` is a tensor, where an index or a dimension is needed"),
    ("O[i: N] = +(¦A[i, j]);", "`A` has 1 dimension and 2 indices here"),
    ("O[i: N] = +(¦A[]);", "`A` has 1 dimension and no indices here"),
    ("T[i, j: N, N] = +(A[i] * A[j]); O[i: N] = +(¦T[i]);", "`T` has 2 dimensions and 1 index"),
    ("O[i: N] = +(B[i, j]); P[] = +(¦B[i]);", "`B` has 2 dimensions and 1 index here"),
    ("O[i: N] = +(A[i]) default ¦C;", "the default `C` has no dimensions and `O` has 1"),
    ("¦O[i, j: N] = +(A[i]);", "`O` has 2 indices and 1 size"),
    ("¦O[i: N, N] = +(A[i]);", "`O` has 1 index and 2 sizes"),
    ("O[i: ¦n] = +(A[i]);", "a size must hold no index, got `n`"),
    ("O[i: ¦A] = +(A[i]);", "a size must be made of dimensions, not a tensor"),
    ("O[i: ¦1.5] = +(A[i]);", "a size must be made of dimensions and whole numbers, not 1.5"),
    ("O[i: N * ¦1.5] = +(A[i]);", "a size must be made of dimensions"),
    ("O[i: ¦1 - 2] = +(A[i]);", "axis 0 of O gets the size -1"),
    ("O[i: ¦sqrt(N)] = +(A[i]);", "a size must be made of dimensions"),
    ("O[i: N] = +(A[i]), i < ¦i;", "a bound must hold no index"),
    ("O[i: N] = +(A[i]), i < ¦A;", "a bound must be made of dimensions"),
    ("O[i: N] = +(A[¦i * i]);", "an index expression may not multiply indices"),
    ("O[i: N] = +(A[i + ¦(2*i)*(j + 1)]);", "may not multiply indices"),
    ("O[i: N] = +(A[¦2 / i]);", "an index expression may not divide by an index"),
    ("O[i: N] = +(A[¦i / N]);", "an index may be divided only by a number"),
    ("O[i: N] = +(A[¦i / 0]);", "an index is divided by 0 here"),
    ("O[i: N] = +(A[¦i / (2 - 2)]);", "an index is divided by 0 here"),
    ("O[i: N] = +(A[¦max(i, 0)]);", "an index expression may not hold `max` of an index"),
    ("O[i: N] = +(A[¦exp(N) + i]);", "`exp` of dimensions is no dimension"),
    ("O[i: N] = +(A[¦0.5 * i]);", "indices are whole numbers; write `i/2` for half of i"),
    ("O[i: N] = +(A[i]), ¦i * i < N;", "an index expression may not multiply indices"),
    ("O[i: N] = +(¦N[i]);", "`N` is a dimension, not a tensor"),
    ("O[i: N] = +(¦X[i]);", "`X` is not defined"),
    ("O[i: N] = +(¦a[i]);", "tensors begin with a capital letter, `a` does not"),
    ("O[i: N] = +(A[i]) default ¦N;", "`N` is a dimension, not a tensor"),
    ("O[] = +(A[¦i - j]);", "nothing bounds the index `i`"),
    ("O[i: N] = +(A[i]), 2*¦j - k' < 3;", "nothing bounds the index `j`"),
    ("O[i: N] = +(A[i + j] * D[j + ¦k - 2*l]);", "nothing bounds the index `k`"),
    # sizes that are left out
    ("¦O[i + 1] = +(A[i]);", "`O` needs its sizes, as in `O[i: N]`"),
    ("¦O[j] = +(A[i]), j < 3;", "`j` runs along none of the operands' dimensions"),
    ("¦O[i] = +(A[i] * D[i]);", "`i` runs along several of the operands' dimensions"),
    ("¦O[i] = +(B[i, j]);", "because the sizes of `B` have no names"),
    # functions
    ("O = index(A, ¦B);", "`index` takes a dimension here, and this is a tensor"),
    ("O = A * dim(A, ¦1.5);", "`dim` takes a dimension here, and this is a real number"),
    ("O = ¦index(A, 1);", "A has 1 dimension, and none is 1"),
    ("O = index(A, ¦N);", "`index` takes a number here, not a dimension"),
    ("O = as_float(A, ¦8);", "`as_float` makes numbers of 16, 32 or 64 bits, not 8"),
    ("O = as_int(A, ¦N);", "`as_int` takes a number here"),
    ("O = reshape(A, ¦A);", "`reshape` takes a dimension here"),
    ("O = ¦A & 1.5;", "bit_and works on integers"),
    ("O = builtin_softmax(¦A, N, 1);", "`builtin_softmax` takes a tensor of 2 dimensions"),
    ("T = tuple(A, N); O = ¦T + 1;", "`add` takes tensors, not a tuple"),
    ("T = tuple(A, N); O = element(T, ¦2);", "the tuple has only 2 elements"),
    ("T = tuple(A, N); O = element(T, ¦N);", "the position of an element is a number"),
    ("O = element(¦A, 0);", "`element` takes a tuple, and this is a tensor"),
    ("O = prng_value(¦A);", "`prng_value` takes a random number step here, and this is a tensor"),
    ("S = prng_step(B, ¦A); O = A;", "`prng_step` takes a dimension here"),
    ("X = ¦assert_rank(1 == 2); O = A;", "the assertion `rank` does not hold"),
    ("X = assert_rank(¦A == A); O = A;", "`assert_rank` takes a dimension here"),
    ("X = ¦7 / 0; O = A;", "a dimension is divided by 0 here"),
    ("X = ¦9223372036854775807 + 1; O = A;", "the number does not fit 64 bits"),
    ("[[a]] ¦[[a]] O = A;", "the attribute `a` is given twice"),
]
TEXTS = [
    ("function (A, ¦A) -> (O) { O = A; }", "`A` is already defined, in line 1"),
    ("function (A[N], ¦N) -> (O) { O = A; }", "`N` is already defined"),
    ("function (A[¦A]) -> (O) { O = A; }", "`A` is already defined"),
    ("function (¦a) -> (O) { O = 1; }", "`a` must begin with a capital letter, as it is a tensor"),
    ("function (A[¦n]) -> (O) { O = A; }", "`n` must begin with a capital letter"),
    ("¦function (A) -> () { O = A; }", "a function has at least one output"),
    ("function (A) -> (O, ¦O) { O = A; }", "the output `O` is named twice"),
    ("function (A) -> (¦A) { O = A; }", "the output `A` is the name of a tensor of the header"),
    ("function (A[N]) -> (¦N) { O = A; }", "the output `N` is the name of a dimension"),
    ("function (A) -> (¦O) { P = A; }", "the output `O` is never assigned"),
    ("function (A) -> (¦O) {}", "the output `O` is never assigned"),
    ("function (A) -> (¦o) { P = A; }", "the output `o` is never assigned"),
    ("function (A) -> (¦O) { O = tuple(A, A); }", "the output `O` is a tuple"),
    ("function (A) -> (¦O) { O = prng_step(A, 2); }", "the output `O` is a random number step"),
]
HEADER = "function (A[N], B, C[], D[M]) -> (O) {\n  "
CASES = [(f"{HEADER}{body} }}", said) for body, said in BODIES] + TEXTS


@pytest.mark.parametrize(("marked", "said"), CASES, ids=[marked for marked, _ in CASES])
def test_errors_say_where_and_what(marked: str, said: str):
    before, _, after = marked.partition("¦")
    with pytest.raises(TileError) as caught:
        load(before + after)
    span = caught.value.span
    assert span is not None
    place = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
    assert (span.line, span.column) == place, str(caught.value)
    assert said in caught.value.message
