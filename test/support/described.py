"""Running functions on a device as compiled for another one, which is described."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import oclgrind
from compare import LARGEST, assert_close
from hypothesis import strategies as st
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, FloatAttr, IntegerAttr, StringAttr, f64
from xdsl.dialects.dlti import TargetDeviceSpecAttr, TargetSystemSpecAttr
from xdsl.ir import Attribute

import tiledialect as td
from tiledialect.api.inputs import types_of
from tiledialect.lowering.compilation import compile_module
from tiledialect.lowering.quirks.prelude import prelude
from tiledialect.lowering.runtime.call.launch import Executable
from tiledialect.lowering.runtime.device.description import SPEC_KEYS
from tiledialect.lowering.runtime.device.queue_state import state_of
from tiledialect.lowering.runtime.device.queues import queue_for
from tiledialect.lowering.runtime.program.build import build_options, build_program
from tiledialect.lowering.runtime.program.plan_building import make_plan
from tiledialect.lowering.runtime.program.program import Built
from tiledialect.lowering.runtime.program.program_text import KernelTexts
from tiledialect.lowering.runtime.program.specialization import check_double

Array = npt.NDArray[Any]
Entries = Mapping[str, Any]

OWN = {
    "cpu": {
        "compute_units": (1, 2, 4, 16, 64),
        "native_vector_width": (0, 1, 4, 8, 16),
        "max_work_group_size": (1, 8, 128, 8192),
        "local_mem_size": (0, 1024, 8192, 32768, 1 << 18),
    },
    "gpu": {
        "compute_units": (1, 4, 16, 132),
        "max_work_group_size": (1, 8, 64, 128, 256, 1024),
        "local_mem_size": (0, 1024, 16384, 32768, 49152),
    },
}
"""Some that devices of a kind may say of themselves."""
ODD = {
    "cache_sizes": ((), (0, 0), (1024,), (49152, 2 << 20), (32768, 1 << 20, 1 << 40)),
    "bandwidth": (0.5, 20.0, 3000.0),
    "arithmetic": (1.0, 200.0, 60000.0),
    "launch": (0.0, 10.0, 500.0),
    "latency": (0.0, 0.1, 20.0),
    "sub_group_size": (0, 1, 8, 64),
    "registers": (4, 16, 64, 255),
    "local_mem_unit": (0, 1024, 1 << 18),
    "work_items_unit": (32, 2048),
    "max_mem_alloc_size": (1, 600, 4096, 1 << 16),
    "buffer_alignment": (128, 4096),
    "fp16": (False,),
}
"""Entries that only specs by hand have."""


@st.composite
def entries(draw: st.DrawFn, device: td.Device) -> tuple[str, Entries]:
    """A kind of device, and what a spec says of it that a device can do at least."""
    kind = draw(st.sampled_from(sorted(OWN)))
    found = {key: getattr(device, key) for key in SPEC_KEYS} | {"type": kind}
    found |= {key: draw(st.sampled_from(values)) for key, values in OWN[kind].items()}
    for key in ("max_work_group_size", "local_mem_size"):
        found[key] = min(found[key], getattr(device, key))
    for key, values in ODD.items():
        if draw(st.integers(0, 3)) == 0:
            found[key] = draw(st.sampled_from(values))
    return kind.upper(), found


def spec(kind: str, given: Entries) -> TargetSystemSpecAttr:
    """A module's description of a device."""
    values = {key: _attribute(value) for key, value in given.items()}
    return TargetSystemSpecAttr({kind: TargetDeviceSpecAttr(values)})


def _attribute(value: Any) -> Attribute:
    if isinstance(value, tuple):
        return ArrayAttr([IntegerAttr(number, 64) for number in value])
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    return StringAttr(value) if isinstance(value, str) else IntegerAttr(value, 64)


def check_as(
    function: td.Function,
    arrays: Sequence[Array],
    device: td.Device,
    target: TargetSystemSpecAttr,
    ulps: int,
) -> tuple[Array, ...]:
    """The reference's results, which those as compiled for a target are near; Oclgrind is silent."""
    expected = function.reference(*arrays)
    wanted = expected if isinstance(expected, tuple) else (expected,)
    before = len(oclgrind.log())
    for a, b in zip(run_as(function, arrays, device, target), wanted, strict=True):
        # Terms of sums and of gradients cancel.
        assert_close(a, b, ulps=ulps, scale=LARGEST)
    assert not oclgrind.report(before)
    return wanted


def run_as(
    function: td.Function, arrays: Sequence[Array], device: td.Device, target: TargetSystemSpecAttr
) -> list[Array]:
    """The outputs on a device, as compiled for the target."""
    given, state = function._program, state_of(queue_for(device))  # pyright: ignore[reportPrivateUsage]
    types = types_of(arrays)
    module = compile_module(given.module, given.name, types, target, given.transforms)
    plan = make_plan(module, given.result_name)
    built, kind = dict[str, Built](), device.short_platform
    if not any(a.dtype == np.float64 for a in arrays):
        check_double(plan, replace(device, fp64=False))
    if plan.source:
        text, opencl = prelude(kind) + plan.source, state.queue.device
        program = build_program(text, state.context, opencl, build_options(kind))
        built = {name: Built(program, name, b"") for name in KernelTexts.of(plan.source).kernels}
    return Executable(plan, built, state, on_host=True).on_host(arrays)
