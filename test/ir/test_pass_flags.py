"""Options of passes that are true or false, named alone."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, is_dataclass

import pytest
from xdsl.utils.arg_spec import ArgSpec, parse_spec

from tiledialect.ir.pass_flags import FLAGS
from tiledialect.passes.fuse.tile_fuse import TileFusePass
from tiledialect.passes.gradient.tile_gradient import TileGradientPass
from tiledialect.universe import TILE_UNIVERSE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tile-fuse{explain}", TileFusePass(explain=True)),
        ("tile-fuse{explain loads rows=false}", TileFusePass(explain=True, loads=True, rows=False)),
        ("tile-fuse{explain=false}", TileFusePass()),
        ("tile-fuse{apart=Y explain}", TileFusePass(apart=("Y",), explain=True)),
    ],
)
def test_named_alone(text: str, expected: TileFusePass) -> None:
    """An option that is named alone is true."""
    assert TileFusePass.from_spec(parse_spec(text)) == expected


def test_names_with_hyphens() -> None:
    """Names may be written either way."""
    for text in ("tile-gradient{with-outputs}", "tile-gradient{with_outputs=true}"):
        assert TileGradientPass.from_spec(parse_spec(text)).with_outputs


@pytest.mark.parametrize("name", TILE_UNIVERSE.all_passes)
def test_every_pass(name: str) -> None:
    """No pass wants all that is true to be written out."""
    cls = TILE_UNIVERSE.all_passes[name]()
    for field in fields(cls) if is_dataclass(cls) else ():
        if field.type in FLAGS:
            needed = {f.name: ("x",) for f in fields(cls) if f.default is MISSING}
            spec = ArgSpec(name, {**needed, field.name: ()})
            assert getattr(cls.from_spec(spec), field.name) is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tile-fuse{explained}", '"explained"'),
        ("tile-fuse{explain=1}", "given (1,), expected <class 'bool'>"),
    ],
)
def test_refused(text: str, message: str) -> None:
    """Unknown names, and flags with other values."""
    with pytest.raises(ValueError, match=re.escape(message)):
        TileFusePass.from_spec(parse_spec(text))
