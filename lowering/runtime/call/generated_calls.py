"""Generated call paths: Python text for each plan, on devices that take the addresses of arrays.

A small call takes little more than a launch, and a loop in Python over three arguments takes a
tenth of that. So each plan gets a function without loops or tests of facts that are the same at
every call; it waits for the last event alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl as cl

from tiledialect.lowering.runtime.call.host_arrays import pointer
from tiledialect.lowering.runtime.device.queues import SURVIVE_FORKS, check_process

if TYPE_CHECKING:
    from tiledialect.lowering.runtime.call.launch import Executable, HostRun


def generated_call(executable: Executable, kind: Callable[..., Any] | None) -> HostRun:
    """A function that runs a plan of launches on arrays where they are.

    It gives ``kind`` of the outputs, or where that is None the only output.
    """
    plan, state, launches = executable.plan, executable.state, executable.launches
    outputs = range(len(plan.inputs), plan.tensor_count)

    def prepared(kernels: Iterable[cl.Kernel], addresses: list[int | None]) -> list[Any]:
        """Kernels, their setters of arguments, and last the addresses that they were given."""
        return [*(part for kernel in kernels for part in (kernel, kernel.set_arg)), addresses]

    def made() -> list[Any]:
        return prepared(map(executable.kernel_of, launches), [None] * plan.tensor_count)

    own = prepared(executable.kernels, executable.last_given) if plan.allocations else None

    names: dict[str, Any] = {
        **{f"shape{k}": t.shape for k, t in zip(outputs, plan.outputs, strict=True)},
        **{f"dtype{k}": dtype for k, dtype in zip(outputs, executable.dtypes, strict=True)},
        **{f"global{k}": launch.global_size for k, launch in enumerate(launches)},
        **{f"local{k}": launch.local_size for k, launch in enumerate(launches)},
        **{"executable": executable, "state": state, "lock": state.lock, "queue": state.queue},
        **{"kernels": own, "free": list[Any](), "made": made, "kind": kind, "cl": cl},
        **{
            "aside": lambda: executable.aside().host_run(kind),
            "unknown": [None] * plan.tensor_count,
        },
        **{"address": cl.SVM, "pointer": pointer, "new": np.empty, "check": check_process},
    }
    exec("\n".join(_function(executable, is_single=kind is None)), names)
    # Among its own names it would keep itself, and the kernels, for the garbage collector.
    return names.pop("run")


def _function(executable: Executable, is_single: bool) -> list[str]:
    """The text of the function.

    A call that gives all arguments takes kernels that no other call uses now. Intermediates exist
    once: calls that need them run one at a time. Enqueued kernels keep their arguments. A call that
    is left early may not have noted all arguments of its kernels.
    """
    plan = executable.plan
    steps = _steps(executable)
    outputs = ", ".join(f"t{k}" for k in range(len(plan.inputs), plan.tensor_count))
    if plan.allocations:
        test = "if executable.generation != state.generation:"
        steps = ["state.is_busy = True", test, "    executable.bind()", *steps]
        forget = [
            "    executable.generation = -1",
            "    raise",
            "finally:",
            "    state.is_busy = False",
        ]
        steps = ["try:", *_indented(steps), "except BaseException:", *forget]
        steps = ["if state.is_busy:", "    return aside()(arrays)", *steps]
        steps = ["with lock:", *_indented(steps)]
    else:
        take = ["    kernels = free.pop()", "except IndexError:", "    kernels = made()"]
        # Making others takes longer, and pyopencl drops an interrupt meanwhile.
        forget = ["    kernels[-1][:] = unknown", "    free.append(kernels)", "    raise"]
        steps = ["try:", *_indented(steps), "except BaseException:", *forget]
        steps = ["try:", *take, *steps, "free.append(kernels)"]
    survives = executable.state.device.short_platform in SURVIVE_FORKS
    body = [
        *([] if survives else ["check(state.device)"]),
        "try:",
        *_indented(steps),
        "except BaseException as error:",
        "    raise executable.left_early(error) from None",
        f"return {outputs}" if is_single else f"return kind({outputs})",
    ]
    return ["def run(arrays):", *_indented(body)]


def _steps(executable: Executable) -> list[str]:
    """Text from arrays to outputs; ``t`` begins names of outputs, ``p`` names of addresses."""
    plan, launches = executable.plan, executable.launches
    inputs, tensors = range(len(plan.inputs)), range(plan.tensor_count)
    lines = [f"({', '.join(f't{k}' for k in inputs)},) = arrays"] if inputs else []
    lines += [f"t{k} = new(shape{k}, dtype{k})" for k in tensors[len(inputs) :]]
    places: dict[int, list[str]] = {}
    for k, launch in enumerate(launches):
        for at, number in executable.varying(launch):
            places.setdefault(number, []).append(f"set{k}({at}, p{number})")
    parts = "".join(f"kernel{k}, set{k}, " for k in range(len(launches)))
    lines += [
        f"{parts}last = kernels",
        "try:",
        *(f"    p{k} = address(t{k})" for k in tensors),
        "except ValueError:",
        # One of them is read-only.
        *(f"    p{k} = pointer(t{k})" for k in tensors),
    ]
    for k, setters in places.items():
        # Most arrays of most calls are at the addresses of the last call.
        lines += [f"at = p{k}.svm_ptr", f"if at != last[{k}]:"]
        lines += _indented([*setters, f"last[{k}] = at"])
    for k in range(len(launches)):
        # By place: names are a tenth of a small call.
        lines += [f"event = cl.enqueue_nd_range_kernel(queue, kernel{k}, global{k}, local{k})"]
    is_done = executable.state.is_synchronous or not launches
    return lines if is_done else [*lines, "event.wait()"]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
