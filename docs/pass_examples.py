"""Examples of the passes: a program, a pipeline that ends in the pass, and the lines to show."""

from __future__ import annotations

POOL = 'tile-specialize{arguments="8xf32"}'
NORMAL = f"{POOL},tile-bounds,tile-reduce,tile-defract"
SCHEDULED = f"{NORMAL},tile-fuse,tile-loop-tiling"


def nest(size: int, schedule: str) -> str:
    """Passes from a program to nests by a schedule."""
    passes = NORMAL.replace("8xf32", f"{size}xf32")
    return f'{passes},tile-fuse,tile-loop-tiling{{schedules="{schedule}"}},tile-to-nest'


GUARDED = nest(21, "O: <group.x 4*x : 3, local.x x : 4, serial k : 2> stage <I local>")
HISTOGRAM = 'tile-specialize{arguments="99xf32","99xi32","40xf32"}'
TOTALS = 'tile-specialize{arguments="4x32xf32"},tile-bounds,tile-scan'
ROWS = "Y: <group.x 4*d0 : 2, serial d0 : 4, serial 8*d1 : 64, vector d1 : 8> stage <Exp private>"
SOFTMAX = (
    'tile-specialize{arguments="8x512xf32"},tile-decompose,tile-bounds,tile-reduce,tile-defract,tile-fuse'
    f',tile-loop-tiling{{schedules="{ROWS}"}},tile-to-nest'
)
STAGED = "O: <group.x 16*x : 2, local.x x : 16, serial k : 2> stage <I local at k{}>"
MARGINS = 'tile-specialize{arguments="4x4xf32"},tile-bounds,tile-fuse,tile-loop-tiling,tile-to-nest'
CLOSING = "{}: <group.x n : 4, serial i : 16, serial j : 3>"
TRIANGLE = "O: <group.x n : 4, serial j : 16, unroll 4*i : 4, vector i : 4>"
EXAMPLES = {
    "convert-linalg-to-tile": ("linalg_layer.mlir", "convert-linalg-to-tile"),
    "convert-tile-to-linalg": ("pool", f"{POOL},convert-tile-to-linalg"),
    "convert-stablehlo-to-tile": ("stablehlo_softmax.mlir", "convert-stablehlo-to-tile"),
    "tile-gradient": ("norm", "tile-gradient,canonicalize"),
    "tile-jvp": ("conv", "tile-jvp{wrt=K},canonicalize"),
    "tile-specialize": ("pool", POOL),
    "tile-vmap": ("pool", f"{POOL},tile-vmap{{size=4}}"),
    "tile-widen": ("norm", 'tile-specialize{arguments="8xf16"},tile-widen'),
    "tile-bounds": ("pool", f"{POOL},tile-bounds"),
    "tile-decompose": (
        "histogram",
        'tile-specialize{arguments="9xf32","9xi32","4xf32"},tile-decompose',
    ),
    "tile-factor-sums": ("shares", 'tile-specialize{arguments="8xf32","8xf32"},tile-factor-sums'),
    "tile-broadcast": (
        "shares",
        'tile-gradient,tile-specialize{function=shares_gradient arguments="8xf32","8xf32","8xf32"}'
        ",tile-decompose,tile-broadcast",
    ),
    "tile-reduce": ("repeat", f"{POOL},tile-reduce"),
    "tile-defract": ("repeat", f"{POOL},tile-reduce,tile-defract"),
    "tile-compose-copies": ("heads.mlir", "tile-bounds,tile-compose-copies"),
    "tile-choose-layouts": ("channels.mlir", "tile-bounds,tile-choose-layouts"),
    "tile-narrow-operands": (
        "conv",
        'tile-specialize{arguments="1x9x9x2xf16","2x2x2x8xf16"},tile-widen,tile-narrow-operands',
    ),
    "tile-one-hot": ("histogram", f"{HISTOGRAM},tile-decompose,tile-bounds,tile-one-hot"),
    "tile-scan": ("totals", TOTALS),
    "tile-split-scan": ("totals", f"{TOTALS},tile-split-scan{{block=8}}"),
    "tile-split-scatter": (
        "histogram",
        f"{HISTOGRAM},tile-decompose,tile-bounds,tile-one-hot,tile-split-scatter{{parts=3}}",
    ),
    "tile-split-product": (
        "bilinear",
        'tile-specialize{arguments="8x4xf32","4x5xf32","6x5xf32"},tile-bounds'
        ",tile-split-product{first=W,B}",
    ),
    "tile-winograd": (
        "windows",
        'tile-specialize{arguments="2x4x6x6xf32","8x4x3x3xf32"},tile-bounds'
        ",tile-winograd{contraction=O}",
        "contraction",
    ),
    "tile-outline-parts": ("halving.mlir", "convert-linalg-to-tile,tile-outline-parts"),
    "tile-split-rows": (
        "softmax",
        'tile-specialize{arguments="2x8xf32"},tile-decompose,tile-bounds,tile-split-rows{parts=2}',
    ),
    "tile-split-reduction": ("norm", f"{POOL},tile-split-reduction{{index=i parts=2}}"),
    "tile-fuse": ("norm", f"{NORMAL},tile-fuse{{explain}}"),
    "tile-block-layouts": ("layers.mlir", "tile-block-layouts{constants=W}"),
    "tile-join-axes": ("picture.mlir", "tile-join-axes"),
    "tile-merge-products": ("products.mlir", 'tile-merge-products{constants="V","W"}'),
    "tile-block-constants": ("weights.mlir", "tile-block-constants{constants=W}"),
    "tile-loop-tiling": ("pool", SCHEDULED),
    "tile-to-lift": ("norm", 'tile-specialize{arguments="8xf32"},tile-bounds,tile-to-lift'),
    "lift-to-tile": ("stencil.mlir", 'tile-specialize{arguments="8xf32"},lift-to-tile'),
    "lift-numbers-to-tile": ("scaled.mlir", "lift-numbers-to-tile"),
    "lift-rewrite": ("stencil.mlir", "lift-rewrite{rule=tile_stencil at=map}"),
    "lift-bind": (
        "stencil.mlir",
        'lift-rewrite{rule=tile_stencil},lift-bind{sizes="v=4"}',
    ),
    "tile-to-nest": ("pool", f"{SCHEDULED},tile-to-nest"),
    "lift-lower": ("stencil.mlir", "lift-lower"),
    "lift-to-nest": ("tiled_stencil.mlir", "lift-to-nest{print-views}"),
    "lift-to-gpu": ("stencil.mlir", "lift-lower,lift-to-gpu{index-width=32}"),
    "nest-pipeline": ("pool", f"{nest(64, STAGED.format(' copies 2'))},nest-pipeline"),
    "nest-peel": (
        "pool",
        f"{nest(200, 'O: <group.x 16*x : 7, local.x 4*x : 4, serial k : 2, unroll x : 4>')}"
        ",nest-peel",
    ),
    "nest-bound-loops": (
        "pool",
        f"{nest(64, 'O: <serial x : 40, serial k : 2>')},nest-bound-loops",
    ),
    "nest-join-kernels": (
        "closing",
        nest(0, '","'.join(map(CLOSING.format, "DO"))).replace("0xf32", "4x16xf32")
        + ",nest-join-kernels",
    ),
    "nest-fuse-horizontally": (
        "margins",
        f"{MARGINS},nest-fuse-horizontally",
    ),
    "nest-split-tiles": (
        "totals",
        f"{nest(0, TRIANGLE)},nest-split-tiles".replace("0xf32", "4x16xf32"),
    ),
    "nest-halve-vectors": (
        "norm",
        f"{nest(62, 'Y: <serial 4*d0 : 16, vector d0 : 4>')},nest-halve-vectors".replace(
            "tile-fuse", "tile-fuse{apart=Y}"
        ),
    ),
    "nest-interleave-stores": (
        "repeat",
        f"{nest(16, 'O: <serial 8*v0_1 : 2, unroll v0_0 : 2, vector v0_1 : 8>')}"
        ",nest-interleave-stores,nest-vectorize",
    ),
    "nest-merge-loads": ("lengths.mlir", "lift-to-nest,nest-merge-loads"),
    "nest-pad-rows": ("turned_tiles.mlir", "lift-to-nest,nest-pad-rows"),
    "nest-vectorize": (
        "norm",
        f"{nest(64, 'Y: <local.x 4*d0 : 16, vector d0 : 4>')},nest-vectorize".replace(
            "tile-fuse", "tile-fuse{apart=Y}"
        ),
    ),
    "simplify-index-arithmetic": (
        "pool",
        f"{nest(64, STAGED.format(' copies 2'))},nest-pipeline,simplify-index-arithmetic",
    ),
    "nest-share-memory": ("tree_sum.mlir", "lift-to-nest,nest-share-memory"),
    "nest-stream-stores": (
        "pool",
        'tile-specialize{arguments="8388608xf32"},tile-bounds,tile-fuse,'
        'tile-loop-tiling{schedules="O: <group.x 131072*x : 32, serial 4*x : 32768, '
        'unroll k : 2, vector x : 4>"},tile-to-nest,nest-vectorize,nest-stream-stores',
    ),
    "nest-prefetch-streams": (
        "pool",
        'tile-specialize{arguments="8388608xf32"},tile-bounds,tile-fuse,'
        'tile-loop-tiling{schedules="O: <group.x 131072*x : 32, serial 8*x : 16384, '
        'unroll x : 8, vector k : 2>"},tile-to-nest,nest-vectorize,nest-prefetch-streams',
    ),
    "nest-prefetch": ("softmax", f"{SOFTMAX},nest-vectorize,nest-prefetch"),
    "math-polynomial-approximation": (
        "softmax",
        f"{SOFTMAX},nest-vectorize,nest-to-gpu,math-polynomial-approximation",
    ),
    "arith-share-reciprocals": (
        "softmax",
        f"{SOFTMAX},nest-vectorize,nest-to-gpu,arith-share-reciprocals",
    ),
    "nest-barriers": ("pool", f"{nest(64, STAGED.format(''))},nest-barriers"),
    "nest-free-barriers": ("pool", f"{GUARDED},nest-peel,nest-barriers,nest-free-barriers"),
    "nest-peel-last": (
        "closing",
        'tile-specialize{arguments="2x50xf32"},tile-bounds,tile-reduce,tile-fuse,tile-loop-tiling'
        '{schedules="D: <serial n : 2, serial i : 50, unroll j : 3>",'
        '"O: <serial n : 2, serial i : 50, unroll j : 3>"},tile-to-nest,nest-peel-last',
    ),
    "nest-to-gpu": ("pool", f"{SCHEDULED},tile-to-nest,nest-to-gpu"),
    "gpu-broadcast-halves": (
        "conv",
        'tile-specialize{arguments="1x9x9x2xf16","2x2x2x8xf16"},tile-bounds,tile-reduce,tile-fuse,'
        'tile-loop-tiling{schedules="O: <group.x y : 3, serial x : 3, serial j : 2, '
        'serial i : 2, serial ci : 2, vector co : 8>"}'
        ",tile-to-nest,nest-vectorize,nest-to-gpu,gpu-broadcast-halves",
    ),
    "gpu-share-rows": (
        "pool",
        'tile-specialize{arguments="64xf32"},tile-bounds,tile-fuse,'
        'tile-loop-tiling{schedules="O: <group.x 16*x : 2, unroll k : 2, vector x : 16>"}'
        ",tile-to-nest,nest-vectorize,nest-to-gpu,gpu-share-rows",
    ),
    "gpu-divide-groups": (
        "margins",
        f"{MARGINS},nest-fuse-horizontally,nest-to-gpu,gpu-divide-groups",
    ),
    "gpu-count-copies": (
        "copies_ahead.mlir",
        "tile-to-nest,nest-pipeline,nest-vectorize,nest-barriers,nest-to-gpu,gpu-count-copies",
    ),
    "gpu-load-ahead": (
        "load_ahead.mlir",
        "tile-to-nest,nest-pipeline,nest-vectorize,nest-barriers,nest-to-gpu,gpu-count-copies,"
        "gpu-load-ahead",
    ),
    "tile-to-gpu": ("pool", f"{SCHEDULED},tile-to-gpu"),
    "gpu-keep-loops": (
        "pool",
        f"{NORMAL.replace('8xf32', '21xf32')},tile-fuse"
        ',tile-loop-tiling{schedules="O: <group.x 8*x : 2, serial x : 8, serial k : 2>"}'
        ",tile-to-nest,nest-to-gpu,gpu-keep-loops",
    ),
    "gpu-split-sincos": (
        "angles",
        'tile-specialize{arguments="8xf32"},tile-bounds,tile-fuse,tile-loop-tiling,tile-to-nest'
        ",nest-to-gpu,gpu-split-sincos",
    ),
    "gpu-keep-sums": (
        "places",
        'tile-specialize{arguments="8xf32"},tile-bounds,tile-fuse'
        ',tile-loop-tiling{schedules="P: <group.x 2*d0 : 4, unroll d0 : 2>"},tile-to-nest'
        ",nest-to-gpu,gpu-keep-sums",
    ),
    "gpu-widen-bf16": (
        "pool",
        f"{NORMAL.replace('8xf32', '21xbf16')},tile-fuse,tile-loop-tiling,tile-to-nest,nest-to-gpu"
        ",gpu-widen-bf16",
    ),
    "gpu-arena": (
        "scores",
        'tile-specialize{arguments="64x32xf32","32x16xf32"},tile-decompose,tile-bounds'
        ",tile-fuse,tile-loop-tiling,tile-to-gpu,gpu-arena",
    ),
    "tile-compile": ("pool", f"{POOL},tile-compile"),
}
"""Examples by pass: a program of examples/, a pipeline, a word of the lines to show."""
