"""Peers that compute the workloads, where they are installed, and calls of them."""

from __future__ import annotations

import ctypes.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import ml_dtypes
import numpy as np
from frame import Array, Task
from timing import Contestant

import tiledialect as td

BF16 = np.dtype(ml_dtypes.bfloat16)

Entry = Callable[[Task, Sequence[Array], td.Device], Contestant | None]
"""The contestant for a task; None if the peer does not compute such."""


@dataclass(frozen=True)
class PeerKind:
    """A library."""

    name: str
    on: tuple[str, ...]
    """The types of devices that it is compared on."""
    installed: Callable[[], bool]
    enter: Entry


def ours(function: td.Function, arrays: Sequence[Array]) -> Contestant:
    """Our function, for arrays that are on the device already."""
    import pyopencl.array as cla

    queue = td.queue(function.device)
    given = [cla.to_device(queue, np.asarray(a)) for a in arrays]
    return Contestant(lambda: function(*given), queue.finish, _from_device)


def _from_device(result: Any) -> list[Array]:
    results = result if isinstance(result, tuple) else (result,)
    return [r.get() for r in results]


# -- NumPy -----------------------------------------------------------------------------------


def _numpy(task: Task, arrays: Sequence[Array], device: td.Device) -> Contestant | None:
    function = task.workload.numpy
    if function is None or task.wrt:
        return None
    return Contestant(lambda: function(*arrays), to_numpy=_listed)


def _listed(result: Any) -> list[Array]:
    return [np.asarray(r) for r in (result if isinstance(result, tuple) else (result,))]


# -- PyTorch ---------------------------------------------------------------------------------


def _torch(task: Task, arrays: Sequence[Array], device: td.Device) -> Contestant | None:
    return _torch_contestant(task, arrays, device, lambda function: function)


def _torch_compile(task: Task, arrays: Sequence[Array], device: td.Device) -> Contestant | None:
    import torch
    from torch._functorch import config

    # The backward computation runs again and again.
    config.donated_buffer = False
    torch.compiler.reset()
    return _torch_contestant(task, arrays, device, torch.compile)


def _torch_contestant(
    task: Task, arrays: Sequence[Array], device: td.Device, prepare: Callable[[Any], Any]
) -> Contestant | None:
    import torch

    workload = task.workload
    if workload.torch is None:
        return None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = workload.tf32
    torch.backends.cudnn.benchmark = True
    place = "cuda" if device.type == "gpu" else "cpu"
    tensors = [_tensor(a).to(place) for a in arrays]
    names = list(task.problem.shapes)
    function = prepare(workload.torch)
    finish = torch.cuda.synchronize if place == "cuda" else lambda: None
    if not task.wrt:

        def forward() -> Any:
            with torch.no_grad():
                return function(*tensors)

        return Contestant(forward, finish, _from_torch)
    inputs, cotangent = tensors[: len(names)], tensors[len(names)]
    leaves = [inputs[names.index(name)].requires_grad_() for name in task.wrt]
    if workload.step:

        def step() -> Any:
            loss = function(*inputs)
            return (loss, *torch.autograd.grad(loss, leaves, cotangent))

        return Contestant(step, finish, _from_torch)
    result = function(*inputs)
    cotangent = cotangent.reshape(result.shape)

    def backward() -> Any:
        return torch.autograd.grad(result, leaves, cotangent, retain_graph=True)

    return Contestant(backward, finish, _from_torch)


def _tensor(array: Array) -> Any:
    import torch

    if array.dtype == BF16:
        # PyTorch does not know NumPy's.
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    tensor = torch.from_numpy(np.asarray(array))
    # PyTorch takes wide integers alone where it looks something up.
    return tensor.long() if array.dtype.kind == "i" else tensor


def _from_torch(result: Any) -> list[Array]:
    results = result if isinstance(result, tuple | list) else (result,)
    return [_array(r.detach().cpu()) for r in results]


def _array(tensor: Any) -> Array:
    import torch

    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(BF16)
    return tensor.numpy()


# -- others ----------------------------------------------------------------------------------


def _by_workload(name: str) -> Entry:
    """A peer that each workload calls in its own way."""

    def enter(task: Task, arrays: Sequence[Array], device: td.Device) -> Contestant | None:
        entry = task.workload.others.get(name)
        return None if entry is None or task.wrt else entry(arrays, device)

    return enter


def _has(module: str) -> Callable[[], bool]:
    return lambda: find_spec(module) is not None


@cache
def _has_cuda() -> bool:
    if find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available()


PEERS = (
    PeerKind("NumPy", ("cpu",), lambda: True, _numpy),
    PeerKind("PyTorch", ("cpu",), _has("torch"), _torch),
    PeerKind("PyTorch", ("gpu",), _has_cuda, _torch),
    PeerKind("torch.compile", ("gpu",), _has_cuda, _torch_compile),
    PeerKind("loopy", ("cpu",), _has("loopy"), _by_workload("loopy")),
    PeerKind(
        "CLBlast",
        ("gpu",),
        lambda: ctypes.util.find_library("clblast") is not None,
        _by_workload("CLBlast"),
    ),
    PeerKind("Triton", ("gpu",), lambda: _has_cuda() and _has("triton")(), _by_workload("Triton")),
)


def for_device(device: td.Device) -> tuple[list[PeerKind], list[str]]:
    """Peers on a device, and the names of those that are not installed."""
    there = [p for p in PEERS if device.type in p.on]
    return [p for p in there if p.installed()], [p.name for p in there if not p.installed()]
