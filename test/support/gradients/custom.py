"""Functions with gradients of their own."""

from __future__ import annotations

from dataclasses import dataclass

from gradients.differences import Case
from gradients.elementwise import reals


@dataclass(frozen=True)
class Custom(Case):
    """With the gradient function as it would be written."""

    like: str = ""


CASES = [
    Custom(
        "straight_through",
        "function (X) -> (Y) { Y = custom_gradient(round(X), X) (DY) -> (DY) {}; }",
        (reals(3, 4),),
        like="function (X, DY) -> (DX) { DX = ident(DY); }",
    ),
    Custom(
        "clipped",
        """function (X) -> (Y) {
             Y = custom_gradient(X * X, X) (DY) -> (DX) {
               Wide = DY * 2 * X;
               DX = max(min(Wide, 1.0), -1.0);
             };
           }""",
        (reals(3, 4),),
        like="function (X, DY) -> (DX) { DX = max(min(DY * 2 * X, 1.0), -1.0); }",
    ),
    Custom(
        "two_inputs",
        """function (X[N, M], W[M]) -> (Y) {
             P[i, j: N, M] = +(X[i, j] * W[j]);
             S = sin(P);
             Y = custom_gradient(S, X, W) (DY) -> (DX, DW) {
               DX = DY * W * W;
               DW[j: M] = +(DY[i, j] * X[i, j]);
             };
           }""",
        (reals(3, 4), reals(4)),
        like="""function (X[N, M], W[M], DY) -> (DX, DW) {
             DX = DY * W * W; DW[j: M] = +(DY[i, j] * X[i, j]); }""",
    ),
    Custom(
        "number_for_each",
        """function (X[N]) -> (Y) {
             S[] = +(X[i]);
             Y = custom_gradient(S, X) (DY) -> (DX) { DX = DY * 3; };
           }""",
        (reals(4),),
        like="function (X[N], DY) -> (DX) { DX = DY * 3 + 0 * X; }",
    ),
    Custom(
        "of_an_intermediate",
        """function (X) -> (Y) {
             E = exp(X);
             C = custom_gradient(floor(E), E) (DC) -> (DE) { DE = DC * E; };
             Y = C * X;
           }""",
        (reals(4, low=-1, high=1),),
        second=False,
        like="""function (X, DY) -> (DX) {
             E = exp(X); DX = DY * floor(E) + DY * X * E * E; }""",
    ),
    Custom(
        "nested",
        """function (X) -> (Y) {
             Y = custom_gradient(X, X) (DY) -> (DX) {
               Z = custom_gradient(DY * X, DY) (DZ) -> (DDY) { DDY = DZ * X; };
               DX = 2 * Z;
             };
           }""",
        (reals(4),),
        second=False,
        like="function (X, DY) -> (DX) { DX = 2 * DY * X; }",
    ),
    Custom(
        "stopped",
        "function (X) -> (Y) { Y = X * stop_gradient(sin(X)); }",
        (reals(4),),
        like="function (X, DY) -> (DX) { DX = DY * stop_gradient(sin(X)); }",
        second=False,
    ),
]
