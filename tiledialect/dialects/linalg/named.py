"""Table of named linalg ops whose indexing maps follow from their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseIntElementsAttr,
    ShapedType,
)
from xdsl.dialects.linalg import Linalg
from xdsl.dialects.linalg.abstract_ops import NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import irdl_op_definition, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.linalg import scalars
from tiledialect.dialects.linalg.attributes import TypeFnAttr
from tiledialect.dialects.linalg.syntax import (
    iterators,
    parse_operands,
    parse_results,
    print_operands,
    print_results,
)

Body = Callable[[Sequence[Attribute], bool], Region]
"""Body for elements of these types; whether casts are those of numbers without a sign."""


def maps_of(text: str, strides: Sequence[int], dilations: Sequence[int]) -> tuple[AffineMap, ...]:
    """Indexing maps of a text such as `n h:kh c, kh c f -> n h f`.

    `h:kh` is a window: `h` times a stride and `kh` times a dilation.
    """
    operands = [part.split() for part in text.replace("->", ",").split(",")]
    names = dict.fromkeys(operands[-1])
    names |= dict.fromkeys(n for part in operands for token in part for n in token.split(":"))
    dims = {name: AffineDimExpr(k) for k, name in enumerate(names)}
    steps = list(zip(strides, dilations, strict=True))

    def exprs(part: Sequence[str]) -> tuple[AffineExpr, ...]:
        found: list[AffineExpr] = []
        number = 0
        for token in part:
            first, _, second = token.partition(":")
            expr: AffineExpr = dims[first]
            if second:
                stride, dilation = steps[number] if steps else (1, 1)
                number += 1
                expr = expr * stride + dims[second] * dilation
            found.append(expr)
        return tuple(found)

    return tuple(AffineMap(len(dims), 0, exprs(part)) for part in operands)


XDSL_OPS = {op.name: op for op in Linalg.operations if issubclass(op, NamedOperation)}
"""Named ops of xDSL."""


def _own_class(op: type[NamedOperation], attributes: Mapping[str, Attribute]):
    """The class of xDSL of an op, if it can hold the op: interpreters and patterns know that."""
    known = XDSL_OPS.get(op.name)
    if known is None or "indexing_maps" in attributes or "cast" in attributes:
        return op
    properties = known.get_irdl_definition().properties
    return (
        known if all(p in attributes for p in ("strides", "dilations") if p in properties) else op
    )


class TableOp(NamedOperation):
    """A named op of the table."""

    strides = opt_prop_def(DenseIntElementsAttr)
    dilations = opt_prop_def(DenseIntElementsAttr)
    indexing_maps = opt_prop_def(ArrayAttr[AffineMapAttr])
    cast = opt_prop_def(TypeFnAttr)

    def get_default_indexing_maps(self) -> tuple[AffineMap, ...]:
        """The maps that are given, or those of the name."""
        if self.indexing_maps is not None:
            return tuple(m.data for m in self.indexing_maps)
        text = MAPS.get(self.name.removeprefix("linalg."))
        if text is None:
            t = self.outputs[0].type
            rank = len(t.get_shape()) if isinstance(t, ShapedType) else 0
            shaped = [isinstance(v.type, ShapedType) for v in self.operands]
            same = AffineMap.identity(rank)
            return tuple(same if s else AffineMap(rank, 0, ()) for s in shaped)
        windows = text.count(":")
        steps = [
            tuple(int(n) for n in given.get_values()) if given is not None else (1,) * windows
            for given in (self.strides, self.dilations)
        ]
        for name, numbers in zip(("strides", "dilations"), steps, strict=True):
            if len(numbers) != windows:
                raise VerifyException(f"{self.name} has {windows} {name}, not {len(numbers)}")
        return maps_of(text, *steps)

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        """Parallel loops along the output, reductions else."""
        maps = self.get_default_indexing_maps()
        written = maps[-1].used_dims()
        return iterators([k in written for k in range(maps[-1].num_dims)])

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        """The body for operands of these types."""
        return cls._body(inputs, outputs, TypeFnAttr("cast_signed"))

    @classmethod
    def _body(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], cast: Attribute | None
    ) -> Region:
        types = [getattr(v.type, "element_type", v.type) for v in (*inputs, *outputs)]
        is_unsigned = cast == TypeFnAttr("cast_unsigned")
        return BODIES[cls.name.removeprefix("linalg.")](types, is_unsigned)

    @classmethod
    def parse(cls, parser: Parser):
        """Parse `{strides = …} ins(…) outs(…) -> type`, with `indexing_maps = […]` before."""
        position = parser.pos
        attributes = dict(parser.parse_optional_attr_dict())
        if parser.parse_optional_keyword("indexing_maps") is not None:
            parser.parse_punctuation("=")
            attributes["indexing_maps"] = parser.parse_attribute()
        attributes |= parser.parse_optional_attr_dict()
        inputs, outputs = parse_operands(parser, "ins"), parse_operands(parser, "outs")
        if parser.parse_optional_keyword("attrs") is not None:
            parser.parse_punctuation("=")
            attributes |= parser.parse_optional_attr_dict()
        results = parse_results(parser)
        keys = cls.get_irdl_definition().properties
        try:
            region = cls._body(inputs, outputs, attributes.get("cast"))
        except (ValueError, IndexError) as e:
            parser.raise_error(f"{cls.name} on these operands: {e}", position, parser.pos)
        return _own_class(cls, attributes).build(
            operands=(inputs, outputs),
            result_types=(results,),
            properties={k: v for k, v in attributes.items() if k in keys},
            attributes={k: v for k, v in attributes.items() if k not in keys},
            regions=(region,),
        )

    def print(self, printer: Printer) -> None:
        """Print the form that is parsed."""
        if self.indexing_maps is not None:
            printer.print_string(" indexing_maps = ")
            printer.print_attribute(self.indexing_maps)
        known = ("strides", "dilations", "cast")
        shown = {k: v for k in known if (v := self.properties.get(k)) is not None}
        printer.print_op_attributes(self.attributes | shown)
        print_operands(printer, "ins", self.inputs)
        print_operands(printer, "outs", self.outputs)
        print_results(printer, self)


PRODUCTS: Mapping[str, str] = {
    "dot": "k, k ->",
    "matvec": "m k, k -> m",
    "vecmat": "k, k n -> n",
    "matmul": "m k, k n -> m n",
    "matmul_transpose_a": "k m, k n -> m n",
    "matmul_transpose_b": "m k, n k -> m n",
    "batch_matvec": "b m k, b k -> b m",
    "batch_vecmat": "b k, b k n -> b n",
    "batch_matmul": "b m k, b k n -> b m n",
    "batch_matmul_transpose_a": "b k m, b k n -> b m n",
    "batch_matmul_transpose_b": "b m k, b n k -> b m n",
    "batch_reduce_matmul": "b m k, b k n -> m n",
    "mmt4d": "m k i l, n k j l -> m n i j",
    "batch_mmt4d": "b m k i l, b n k j l -> b m n i j",
    "conv_1d": "x:kx, kx -> x",
    "conv_2d": "y:ky x:kx, ky kx -> y x",
    "conv_3d": "z:kz y:ky x:kx, kz ky kx -> z y x",
    "conv_1d_nwc_wcf": "n x:kx c, kx c f -> n x f",
    "conv_1d_ncw_fcw": "n c x:kx, f c kx -> n f x",
    "conv_2d_nhwc_hwcf": "n y:ky x:kx c, ky kx c f -> n y x f",
    "conv_2d_nhwc_fhwc": "n y:ky x:kx c, f ky kx c -> n y x f",
    "conv_2d_nchw_fchw": "n c y:ky x:kx, f c ky kx -> n f y x",
    "conv_2d_ngchw_fgchw": "n g c y:ky x:kx, f g c ky kx -> n g f y x",
    "conv_2d_ngchw_gfchw": "n g c y:ky x:kx, g f c ky kx -> n g f y x",
    "conv_2d_nhwgc_gfhwc": "n y:ky x:kx g c, g f ky kx c -> n y x g f",
    "conv_3d_ndhwc_dhwcf": "n z:kz y:ky x:kx c, kz ky kx c f -> n z y x f",
    "conv_3d_ncdhw_fcdhw": "n c z:kz y:ky x:kx, f c kz ky kx -> n f z y x",
    "depthwise_conv_1d_ncw_cw": "n c x:kx, c kx -> n c x",
    "depthwise_conv_1d_nwc_wc": "n x:kx c, kx c -> n x c",
    "depthwise_conv_1d_nwc_wcm": "n x:kx c, kx c m -> n x c m",
    "depthwise_conv_2d_nchw_chw": "n c y:ky x:kx, c ky kx -> n c y x",
    "depthwise_conv_2d_nhwc_hwc": "n y:ky x:kx c, ky kx c -> n y x c",
    "depthwise_conv_2d_nhwc_hwcm": "n y:ky x:kx c, ky kx c m -> n y x c m",
    "depthwise_conv_3d_ndhwc_dhwc": "n z:kz y:ky x:kx c, kz ky kx c -> n z y x c",
    "depthwise_conv_3d_ncdhw_cdhw": "n c z:kz y:ky x:kx, c kz ky kx -> n c z y x",
    "depthwise_conv_3d_ndhwc_dhwcm": "n z:kz y:ky x:kx c, kz ky kx c m -> n z y x c m",
}
"""Ops that sum products."""

QUANTIZED: Mapping[str, str] = {
    f"{name}_q": f"{maps.partition('->')[0]}, , -> {maps.partition('->')[2]}"
    for name, maps in PRODUCTS.items()
    if name
    in (
        *("conv_2d_nhwc_hwcf", "conv_2d_nhwc_fhwc", "conv_2d_nchw_fchw", "conv_2d_ngchw_gfchw"),
        *("conv_2d_nhwgc_gfhwc", "conv_3d_ndhwc_dhwcf", "depthwise_conv_2d_nhwc_hwc"),
        "depthwise_conv_2d_nhwc_hwcm",
    )
} | {
    "quantized_matmul": "m k, k n, , -> m n",
    "quantized_batch_matmul": "b m k, b k n, , -> b m n",
}
"""Ops that sum products of differences from zero points."""

LAYOUTS: Mapping[str, str] = {
    "nwc": "n x:kx c, kx -> n x c",
    "ncw": "n c x:kx, kx -> n c x",
    "nhwc": "n y:ky x:kx c, ky kx -> n y x c",
    "nchw": "n c y:ky x:kx, ky kx -> n c y x",
    "ndhwc": "n z:kz y:ky x:kx c, kz ky kx -> n z y x c",
}
POOLING: Mapping[str, tuple[scalars.Scalar, bool]] = {
    "sum": (scalars.ADD, False),
    "max": (scalars.MAXIMUM, False),
    "min": (scalars.MINIMUM, False),
    "max_unsigned": (scalars.MAXIMUM_UNSIGNED, True),
    "min_unsigned": (scalars.MINIMUM_UNSIGNED, True),
}


def _pooling(scalar: scalars.Scalar, is_unsigned: bool) -> Body:
    return lambda types, casts: scalars.pooling_body(scalar, types, is_unsigned or casts)


def _elementwise(name: str, scalar: scalars.Scalar) -> Body:
    return lambda types, casts: scalars.elementwise_body(scalar, types, casts or "unsigned" in name)


MAPS: Mapping[str, str] = {
    **PRODUCTS,
    **QUANTIZED,
    **{f"pooling_{layout}_{kind}": maps for layout, maps in LAYOUTS.items() for kind in POOLING},
}
"""Text of the indexing maps by name; those of other ops are identities."""

BODIES: Mapping[str, Body] = {
    **dict.fromkeys((*PRODUCTS, *QUANTIZED, "contract"), scalars.product_body),
    **{
        f"pooling_{layout}_{kind}": _pooling(*body)
        for layout in LAYOUTS
        for kind, body in POOLING.items()
    },
    **{
        name: _elementwise(name, scalar)
        for name, scalar in scalars.FUNCTIONS.items()
        if "_signed" not in name
    },
    "select": lambda types, _: scalars.select_body(types),
    "copy": _elementwise("copy", lambda s, values: values[0]),
    "fill": _elementwise("fill", lambda s, values: values[0]),
}
"""Bodies by name."""


def _named(name: str) -> type[TableOp]:
    """The op of a row of the table."""
    members = {
        "name": f"linalg.{name}",
        "__doc__": f"The op `linalg.{name}`.",
        "__module__": __name__,
    }
    words = "".join(word.capitalize() for word in name.split("_"))
    return irdl_op_definition(type(f"{words}Op", (TableOp,), members))


NAMED_OPS: tuple[type[TableOp], ...] = tuple(map(_named, BODIES))
"""Named ops, all of the table."""
