"""Executes plans on OpenCL queues."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyopencl as cl

from tiledialect.lowering.runtime.call.arrays import Array
from tiledialect.lowering.runtime.call.copies import copy_bytes
from tiledialect.lowering.runtime.call.device_runs import OutputArrays, on_device
from tiledialect.lowering.runtime.call.generated_calls import generated_call
from tiledialect.lowering.runtime.call.host_runs import (
    at_addresses,
    by_pointers,
    in_place,
    staged,
)
from tiledialect.lowering.runtime.call.profiles import KernelTime, Profile
from tiledialect.lowering.runtime.call.refusals import check_sizes, out_of_memory, refusal
from tiledialect.lowering.runtime.call.repeated_launches import RepeatedLaunches, at_address
from tiledialect.lowering.runtime.device.queue_state import KeptBuffer, QueueState
from tiledialect.lowering.runtime.device.queues import check_process
from tiledialect.lowering.runtime.program.plan import (
    Branch,
    Command,
    Copy,
    Launch,
    Plan,
    Repeat,
    While,
    inner_steps,
)
from tiledialect.lowering.runtime.program.program import Built

if TYPE_CHECKING:
    import pyopencl.array as cla

Result = TypeVar("Result")
Log = Sequence[tuple[Launch, cl.Event]]
"""Launches with their events, in order."""

SPOILT = np.array([0xFF], np.uint8)
"""Byte of memory that nobody should read: reals of it are no numbers, integers are -1."""


Memory = Any
"""Argument of a kernel for a tensor: a buffer, or an address of the host."""
HostRun = Callable[[Sequence[Any]], Any]
"""Runs on memory of the host: gives the outputs for NumPy arrays, or writes them at addresses."""
FEW = 256
"""The launches of a plan up to which its calls are generated, which takes 60 us for each; a call
then takes 3 us less for each."""
Enqueue = Callable[[Sequence[Memory], Sequence[cl.Event] | None], cl.Event]
"""Function that enqueues a step after events, given the arguments that differ by call."""


@dataclass(frozen=True)
class Step:
    """A command with the function that enqueues it, or with the steps in it."""

    command: Command
    enqueue: Enqueue | None = None
    parts: tuple[Sequence[Step], ...] = ()


class Executable:
    """A plan that is ready to run on a queue.

    It takes NumPy arrays or pyopencl ones, as said when it is made. NumPy arrays are worked on in
    place where the device computes in the host's memory, else copied through buffers of the state.
    """

    def __init__(
        self,
        plan: Plan,
        built: Mapping[str, Built],
        state: QueueState,
        on_host: bool,
    ):
        check_sizes(plan, state.device)
        self.plan = plan
        self.built = built
        """Built kernels by name."""
        self.state = state
        self.in_place = on_host and state.device.uses_host_memory
        self.staged = on_host and not self.in_place
        are_launches = all(isinstance(step, Launch) for step in plan.steps)
        takes_pointers = state.takes_pointers and not state.out_of_order
        self.by_pointers = self.in_place and takes_pointers and are_launches
        """Whether kernels are given where NumPy arrays are; copies are from buffers to buffers."""
        self.fixed = 0 if self.staged else plan.tensor_count
        """The number of the first buffer that is the same at every call."""
        tensors = range(self.fixed, plan.tensor_count)
        order = sorted(tensors, key=lambda k: -plan.sizes[k])
        self.scratch_sizes = [*(plan.allocations or (0,)), *(plan.sizes[k] for k in order)]
        """Sizes of scratch buffers: intermediates, then copies of tensors, largest first."""
        first = len(self.scratch_sizes) - len(order)
        self.places = {k: first + place for place, k in enumerate(order)}
        self.buffers: dict[int, cl.Buffer] = {}
        """The buffers that stay the same: of a slot, its whole allocation."""
        self.offsets = {k: slot.offset for k, slot in enumerate(plan.slots, plan.first_slot)}
        """Offsets of the slots in their allocations; the plan gives them to kernels."""
        self.generation = -1
        """The state's when the kernels were given its buffers; before, and unknown, -1."""
        self.last_given: list[Memory | int | None] = [None] * self.fixed
        """Buffers, or addresses, that the kernels were last given; None where others set them."""
        self.dtypes = [np.dtype(t.dtype) for t in plan.outputs]
        self.launches = plan.launches
        self.log: list[tuple[Launch, cl.Event]] | None = None
        """Launches of this call with their events, where they are asked for."""

    @cached_property
    def constants(self) -> dict[int, KeptBuffer]:
        """Buffers of the constants, by number."""
        first = self.plan.tensor_count
        return {k: self.state.constant(data) for k, data in enumerate(self.plan.constants, first)}

    @cached_property
    def kernels(self) -> list[cl.Kernel]:
        """Kernels of the launches.

        Generated calls may need none of them, and drivers keep kilobytes for each kernel that was
        ever made.
        """
        return [*map(self.kernel_of, self.launches)]

    @cached_property
    def repeated(self) -> RepeatedLaunches | None:
        """The steps, where they are launches that are executed in order."""
        are_launches = all(isinstance(step, Launch) for step in self.plan.steps)
        if not are_launches or self.state.out_of_order:
            return None
        launches = [*zip(self.kernels, self.launches, strict=True)]
        return RepeatedLaunches(self.state.queue, launches, self.last_given, self.varying)

    @cached_property
    def steps(self) -> Sequence[Step]:
        """Functions that enqueue the steps."""
        kernels = iter(self.kernels)
        return [self._step(command, kernels) for command in self.plan.steps]

    def _step(self, command: Command, kernels: Iterator[cl.Kernel]) -> Step:
        """Function that enqueues a command; ``kernels`` are those of the launches that follow."""
        if isinstance(command, Copy):
            return Step(command, self._copying(command))
        if isinstance(command, Launch):
            return Step(command, self._launching(command, next(kernels)))
        inner = ([self._step(c, kernels) for c in steps] for steps in inner_steps(command))
        return Step(command, parts=tuple(inner))

    def kernel_of(self, launch: Launch) -> cl.Kernel:
        """A new kernel for a launch, which is given the numbers and constants among its
        arguments."""
        built = self.built[launch.kernel]
        kernel = cl.Kernel(built.program, built.name)
        for position, arg in enumerate(launch.args):
            if not isinstance(arg, int):
                kernel.set_arg(position, arg.number)
            elif arg in self.constants:
                kernel.set_arg(position, self.constants[arg].buffer)
        return kernel

    def _launching(self, launch: Launch, kernel: cl.Kernel) -> Enqueue:
        """Function that enqueues a kernel."""
        queue, global_size, local_size = self.state.queue, launch.global_size, launch.local_size
        varying = self.varying(launch)

        def enqueue(given: Sequence[Memory], wait_for: Sequence[cl.Event] | None) -> cl.Event:
            for position, number in varying:
                kernel.set_arg(position, given[number])
            # By place: names are a tenth of a small call.
            return cl.enqueue_nd_range_kernel(
                queue, kernel, global_size, local_size, None, wait_for
            )

        return enqueue

    def varying(self, launch: Launch) -> list[tuple[int, int]]:
        """The places of the arguments that differ by call, and the numbers of their tensors."""
        args = [(at, arg) for at, arg in enumerate(launch.args) if isinstance(arg, int)]
        numbers = [(at, self._owner(arg)) for at, arg in args]
        return [(at, number) for at, number in numbers if number < self.fixed]

    def _owner(self, number: int) -> int:
        """Number of the buffer that a kernel is given for one: of a part of an output, that one."""
        return self.plan.in_outputs.get(number, number)

    def _copying(self, copy: Copy) -> Enqueue:
        queue = self.state.queue
        from_ = copy.source_offset + self.offsets.get(copy.source, 0)
        to = copy.target_offset + self.offsets.get(copy.target, 0)
        source, target = self._owner(copy.source), self._owner(copy.target)

        def enqueue(given: Sequence[Memory], wait_for: Sequence[cl.Event] | None) -> cl.Event:
            end = given[target] if target < self.fixed else self.buffers[target]
            start = given[source] if source < self.fixed else self.buffers[source]
            return copy_bytes(queue, end, start, copy.nbytes, to, from_, wait_for)

        return enqueue

    def bind(self) -> None:
        """Give the kernels the buffers that stay the same; the caller holds the lock."""
        state = self.state
        state.ensure(self.scratch_sizes)
        if self.generation == state.generation:
            return
        tensors = {k: state.scratch[place] for k, place in self.places.items()}
        self.buffers = tensors | {k: kept.buffer for k, kept in self.constants.items()}
        for k, slot in enumerate(self.plan.slots, self.plan.first_slot):
            if self._owner(k) == k:
                self.buffers[k] = state.scratch[slot.allocation]
        for launch, kernel in zip(self.launches, self.kernels, strict=True):
            for position, arg in enumerate(launch.args):
                if isinstance(arg, int) and (owner := self._owner(arg)) >= self.fixed:
                    kernel.set_arg(position, self.buffers[owner])
        self.last_given[:] = [None] * self.fixed
        self.generation = state.generation

    def enqueue(
        self, given: Sequence[Memory], wait_for: Sequence[cl.Event] | None = None
    ) -> list[cl.Event]:
        """Enqueue the steps after events; ``given`` are the arguments that differ by call.

        Returns the last event, if there is one.
        """
        self.last_given[:] = [None] * self.fixed
        return self._run_steps(self.steps, given, wait_for)

    def enqueue_again(self, given: Sequence[Memory | int]) -> list[cl.Event]:
        """Enqueue the steps with buffers, or addresses of the host, most of which are those of the
        last call; the caller keeps the buffers."""
        if self.repeated is not None and self.log is None:
            return self.repeated.enqueue(given)
        return self.enqueue([at_address(own) if isinstance(own, int) else own for own in given])

    def _run_steps(
        self,
        steps: Sequence[Step],
        given: Sequence[Memory],
        wait_for: Sequence[cl.Event] | None = None,
    ) -> list[cl.Event]:
        last: list[cl.Event] = []
        for step in steps:
            if step.enqueue is None:
                if wait_for:
                    cl.enqueue_barrier(self.state.queue, wait_for=wait_for)
                last = self._run_inner(step, given) or last
            else:
                event = step.enqueue(given, wait_for)
                last = [event]
                if self.log is not None and isinstance(step.command, Launch):
                    self.log.append((step.command, event))
                if self.state.out_of_order:
                    cl.enqueue_barrier(self.state.queue)
            # What comes later comes after the first step.
            wait_for = None
        return last

    def _run_inner(self, step: Step, given: Sequence[Memory]) -> list[cl.Event]:
        """Run a loop or a branch, whose conditions are waited for."""
        last: list[cl.Event] = []
        match step.command:
            case Repeat(count=count):
                for _ in range(count):
                    last = self._run_steps(step.parts[0], given)
                    # Devices begin while others are enqueued.
                    self.state.queue.flush()
            case While(condition=condition):
                test, steps = step.parts
                last = self._run_steps(test, given)
                while self._holds(condition, given):
                    self._run_steps(steps, given)
                    last = self._run_steps(test, given) or last
            case Branch(condition=condition):
                then, otherwise = step.parts
                last = self._run_steps(then if self._holds(condition, given) else otherwise, given)
            case _:
                raise AssertionError(step.command)
        return last

    def _holds(self, number: int, given: Sequence[Memory]) -> bool:
        """The boolean in a buffer, when all that was enqueued is done."""
        owner = self._owner(number)
        buffer = given[owner] if owner < self.fixed else self.buffers[owner]
        found = np.empty(1, np.bool_)
        cl.enqueue_copy(self.state.queue, found, buffer, src_offset=self.offsets.get(number, 0))
        return bool(found[0])

    # -- NumPy arrays ------------------------------------------------------------------------

    @cached_property
    def on_host(self) -> HostRun:
        """Function from contiguous arrays of the plan's types to the outputs; waits for them."""
        return self.host_run(lambda *outputs: list(outputs))

    def host_run(self, kind: Callable[..., Any] | None) -> HostRun:
        """Function that runs on arrays and gives ``kind`` of the outputs; None: the only output."""
        if self.by_pointers and len(self.launches) <= FEW:
            return generated_call(self, kind)

        def run(arrays: Sequence[Array]) -> Any:
            outputs = self._guarded(Executable._host, arrays)
            return outputs[0] if kind is None else kind(*outputs)

        return run

    def address_run(self) -> Callable[[Sequence[int]], None]:
        """Function that runs on memory of the host at addresses of the inputs and outputs."""
        return lambda addresses: self._guarded(at_addresses, addresses)

    def profile(
        self,
        arrays: Sequence[Array],
        repeat: int = 1,
        *,
        on_spoilt: bool = False,
        again: bool = False,
    ) -> tuple[list[Array], Profile]:
        """Run on arrays ``repeat`` times, with the median times of the launches.

        The state's queue must have profiling enabled. ``on_spoilt`` overwrites all memory but the
        inputs before: an element that no kernel writes is not right by an earlier call. ``again``
        says that the arrays are those of the last call on the queue: they are not copied once more.
        Inputs that a call changes are changed once.
        """
        before = [(arrays[k], arrays[k].copy()) for k in self.plan.updated]
        # Simulators have new buffers at each call.
        if again and self.staged and not before and not self.state.is_simulator:
            arrays = ()
        run = Executable._on_spoilt if on_spoilt else Executable._profiled
        outputs: list[Array] = []
        seconds: dict[int, list[float]] = {id(launch): [] for launch in self.launches}
        for _ in range(repeat):
            for array, old in before:
                array[...] = old
            outputs, log = self._guarded(run, arrays)
            spent = dict.fromkeys(seconds, 0)
            for launch, event in log:
                spent[id(launch)] += event.profile.end - event.profile.start
            for key, nanoseconds in spent.items():
                seconds[key].append(nanoseconds * 1e-9)
        times = tuple(self._time(step, median(seconds[id(step)])) for step in self.launches)
        return outputs, Profile(self.state.device, times, self.plan.peak_memory, repeat)

    def _profiled(self, arrays: Sequence[Array]) -> tuple[list[Array], Log]:
        return self._logged(arrays, self._outputs())

    def _on_spoilt(self, arrays: Sequence[Array]) -> tuple[list[Array], Log]:
        for buffer in self.state.scratch:
            cl.enqueue_fill_buffer(self.state.queue, buffer, SPOILT, 0, buffer.size)
        self.state.queue.finish()
        outputs = self._outputs()
        for array in outputs:
            array.reshape(-1).view(np.uint8)[:] = SPOILT
        return self._logged(arrays, outputs)

    def _logged(self, arrays: Sequence[Array], outputs: list[Array]) -> tuple[list[Array], Log]:
        """Run on arrays, and keep the events of the launches."""
        self.log = []
        try:
            self._run_on_host(arrays, outputs)
            return outputs, self.log
        finally:
            self.log = None

    def _time(self, launch: Launch, seconds: float) -> KernelTime:
        numbers = {arg for arg in launch.args if isinstance(arg, int)}
        nbytes = sum(self.plan.sizes[k] for k in numbers)
        sizes = launch.global_size, launch.local_size
        return KernelTime(launch.kernel, seconds, nbytes, *sizes, launch.part, launch.layers)

    def aside(self) -> Executable:
        """Copy of this with memory and kernels of its own, on the same queue.

        A signal's handler, or a finalizer, may call a function in the midst of another call of
        its thread, which no lock can keep out.
        """
        state = QueueState(self.state.queue, self.state.is_synchronous)
        on_host = self.in_place or self.staged
        return Executable(self.plan, self.built, state, on_host)

    def _guarded(self, run: Callable[[Executable, Sequence[Any]], Result], arrays: Any) -> Result:
        """Run while holding the lock; whatever goes wrong, nothing runs on afterwards."""
        check_process(self.state.device)
        try:
            state = self.state
            with state.lock:
                if state.is_busy:
                    return self.aside()._guarded(run, arrays)
                try:
                    state.is_busy = True
                    if self.generation != state.generation or state.is_simulator:
                        self.bind()
                    return run(self, arrays)
                finally:
                    state.is_busy = False
        except BaseException as error:
            raise self.left_early(error) from None

    def left_early(self, error: BaseException) -> BaseException:
        """The error of a call, as users see it, when nothing runs any more."""
        # What still runs works on the arrays' memory, which goes when this is left.
        self.state.finish()
        if isinstance(error, cl.Error):
            return refusal(error, self.state.device, self.plan)
        return out_of_memory(self.plan) if isinstance(error, MemoryError) else error

    def _host(self, arrays: Sequence[Array]) -> list[Array]:
        outputs = self._outputs()
        self._run_on_host(arrays, outputs)
        return outputs

    def _outputs(self) -> list[Array]:
        shapes = zip(self.plan.outputs, self.dtypes, strict=True)
        return [self.state.host_array(t.shape, dtype) for t, dtype in shapes]

    @cached_property
    def _run_on_host(self) -> Callable[[Sequence[Array], Sequence[Array]], None]:
        run = staged if self.staged else by_pointers if self.by_pointers else in_place
        return partial(run, self)

    # -- memory of the device ----------------------------------------------------------------

    def on_buffers(self, buffers: Sequence[cl.Buffer]) -> None:
        """Run with buffers of the inputs and outputs, which the caller keeps; does not wait."""
        self._guarded(Executable.enqueue_again, buffers)

    def on_device(self, arrays: Sequence[cla.Array]) -> list[cla.Array]:
        """The outputs for contiguous pyopencl arrays of the plan's types; does not wait."""
        return self._guarded(on_device, arrays)

    def output(self, number: int, allocator: Any = None) -> cla.Array:
        """A new array for an output on the device."""
        return self._output_arrays.make(number, allocator)

    @cached_property
    def _output_arrays(self) -> OutputArrays:
        return OutputArrays(self.plan, self.state)
