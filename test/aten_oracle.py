"""Page of PyTorch's core ATen operators: converted, decomposed, or left to PyTorch.

Run with ``make aten``.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import torch
from torch._decomp import core_aten_decompositions

from tiledialect.passes.convert.aten.graph import SIZES
from tiledialect.passes.convert.aten.table import FAMILIES, REASONS
from tiledialect.torch.decompositions.table import OWN

HEAD = """# Operators of PyTorch

<!-- Made by `make aten`. -->

The core ATen operators of PyTorch {version} (`torch.Tag.core`), as
[`torch.compile(model, backend="tiledialect")`](torch-compile.md) takes them. Of {total} operators
{converted} are converted, and {decomposed} are decomposed into others. {left} are left to
PyTorch; `options={{"strict": True}}` refuses them.
"""

COMPOSITE = (
    "aten.adaptive_avg_pool1d.default",
    "aten.avg_pool1d.default",
    "aten.upsample_bilinear2d.vec",
    "aten.upsample_nearest2d.vec",
)
"""Operators that AOTAutograd always decomposes."""


def core() -> list[str]:
    """Names of the core operators."""
    # Operators are known once something has asked for them.
    core_aten_decompositions()
    names = {schema.name for schema in torch._C._jit_get_all_schemas()}
    packets = [getattr(torch.ops.aten, n[6:], None) for n in names if n.startswith("aten::")]
    ops = [getattr(p, o) for p in packets if p is not None for o in p.overloads()]
    return sorted(str(op) for op in ops if torch.Tag.core in op.tags)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{n.removeprefix('aten.').removesuffix('.default')}`" for n in names)


def page() -> Iterator[str]:
    """Lines of the page."""
    names = core()
    families = {k: [n for n in names if n in family] for k, family in FAMILIES.items()}
    families["sizes"] = [n for n in names if n in SIZES]
    converted = sum(map(len, families.values()))
    decomposed = [n for n in names if n in COMPOSITE or n in {str(op) for op in OWN}]
    known = {n for family in families.values() for n in family} | {*decomposed}
    left = [n for n in names if n not in known]
    yield HEAD.format(
        version=".".join(torch.__version__.split(".")[:2]),
        total=len(names),
        converted=converted,
        decomposed=len(decomposed),
        left=len(left),
    )
    yield "| family | operators |"
    yield "| --- | --- |"
    for family, own in families.items():
        yield f"| {family} | {_listed(own)} |"
    yield f"| decomposed into others | {_listed(decomposed)} |"
    yield ""
    yield "| left to PyTorch | reason |"
    yield "| --- | --- |"
    for name in left:
        yield f"| {_listed([name])} | {REASONS.get(name, 'there is no conversion')} |"
    more = sorted({n for family in FAMILIES.values() for n in family} - {*names})
    yield ""
    yield f"Beyond the core ones, {len(more)} are converted, too: {_listed(more)}."
    others = sorted({str(op) for op in OWN} - {*names, *more})
    yield ""
    yield f"These are decomposed beside those that PyTorch decomposes: {_listed(others)}."


def main() -> None:
    """Write or print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, help="file to write")
    text = "\n".join(page()) + "\n"
    if (path := parser.parse_args().page) is None:
        print(text, end="")
    else:
        path.write_text(text)


if __name__ == "__main__":
    main()
