"""Loopy's kernels of some workloads, with the schedules of its tutorial, on our device."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import loopy as lp
import pyopencl.array as cla
from frame import Array
from timing import Contestant

import tiledialect as td

VERSION = (2018, 2)


def product(arrays: Sequence[Array], device: td.Device) -> Contestant:
    """A matrix product, tiled, with both operands in local memory."""
    kernel = lp.make_kernel(
        "{[i, j, k]: 0 <= i < m and 0 <= j < n and 0 <= k < l}",
        "c[i, j] = sum(k, a[i, k] * b[k, j])",
        assumptions="m, n, l >= 16",
        lang_version=VERSION,
    )
    (m, length), (_, n) = (a.shape for a in arrays)
    kernel = lp.fix_parameters(kernel, m=m, n=n, l=length)
    kernel = lp.split_iname(kernel, "i", 16, outer_tag="g.0", inner_tag="l.1")
    kernel = lp.split_iname(kernel, "j", 16, outer_tag="g.1", inner_tag="l.0")
    kernel = lp.split_iname(kernel, "k", 16)
    outer = frozenset({"i_outer", "j_outer", "k_outer"})
    for name, inner in (("a", ["i_inner", "k_inner"]), ("b", ["k_inner", "j_inner"])):
        kernel = lp.add_prefetch(
            kernel, name, inner, fetch_outer_inames=outer, default_tag="l.auto"
        )
    return _contestant(kernel, device, a=arrays[0], b=arrays[1])


def row_sums(arrays: Sequence[Array], device: td.Device) -> Contestant:
    """A row to a work-item."""
    kernel = lp.make_kernel(
        "{[i, j]: 0 <= i < m and 0 <= j < n}", "s[i] = sum(j, x[i, j])", lang_version=VERSION
    )
    (m, n) = arrays[0].shape
    kernel = lp.fix_parameters(kernel, m=m, n=n)
    kernel = lp.split_iname(kernel, "i", 4, outer_tag="g.0", inner_tag="l.0")
    return _contestant(kernel, device, x=arrays[0])


def _contestant(kernel: Any, device: td.Device, **arrays: Array) -> Contestant:
    queue = td.queue(device)
    kernel = lp.set_options(kernel, no_numpy=True)
    types = {name: a.dtype for name, a in arrays.items()}
    given = {name: cla.to_device(queue, a) for name, a in arrays.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = lp.add_dtypes(kernel, types).executor(queue.context)
    return Contestant(
        lambda: call(queue, **given)[1][0], queue.finish, lambda result: [result.get()]
    )
