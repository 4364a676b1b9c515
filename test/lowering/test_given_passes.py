"""Passes that a search gives in place of the cost model's choices."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

import tiledialect as td
from tiledialect.dialects.tile.schedule_text import named_kernels
from tiledialect.errors import TileError
from tiledialect.ir.signature import parse_type
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.given_passes import GivenPasses
from tiledialect.passes.fuse.options import Fusion

SOURCE = """function sums(A[M, K], B[K, N]) -> (E) {
  C[i, j: M, N] = +(A[i, k] * B[k, j]);
  E = exp(C);
}"""


def kernels(*passes: str, fusion: Fusion | None = None) -> list[str]:
    """Names of the kernels of a program by some passes."""
    types = [parse_type("8x64xf32"), parse_type("64x8xf32")]
    module: ModuleOp = compile_module(
        load(SOURCE), None, types, after="tile-fuse", passes=passes, fusion=fusion or Fusion()
    )
    return [*named_kernels(module)]


def test_sums_are_split_and_results_kept_apart():
    split = "tile-split-reduction{contraction=C index=k parts=4}"
    assert kernels() == ["E"]
    assert kernels(split) == ["C_parts", "E"]
    assert kernels("tile-fuse{apart=C}") == ["C", "E"]
    assert kernels(split, "tile-fuse{apart=C}") == ["C_parts", "C", "E"]
    assert kernels("tile-fuse{apart=C}", fusion=Fusion(loads=True)) == ["E"]


def test_what_is_named_is_left_to_what_is_given():
    given = GivenPasses(
        (
            "tile-split-reduction{contraction=C index=k parts=4}",
            "tile-split-reduction{keep=D}",
            "tile-winograd{keep=O}",
            "tile-winograd{contraction=P}",
        )
    )
    split, rest = given.splits(("S",))
    assert (split.contraction, split.index, split.parts) == ("C", "k", 4)
    assert rest.index is None and rest.keep == ("S", "D", "C", "C_parts")
    window, others = given.winograd(())
    assert window.contraction == "P" and others.keep == ("O", "P")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tile-scan", "tile-scan is no pass that can be given; there is tile-winograd, "),
        ("tile-fuse{", "is no pass with its options"),
        ("tile-fuse{loads=3}", "is no pass with its options"),
        ("tile-fuse{all=true}", "is no pass with its options"),
    ],
)
def test_wrong_passes(text: str, message: str):
    with pytest.raises(TileError, match=message):
        GivenPasses((text,))


def test_passes_that_do_not_fit_are_errors():
    with pytest.raises(td.TileError, match="there is no contraction Z"):
        kernels("tile-split-reduction{contraction=Z index=k parts=4}")
