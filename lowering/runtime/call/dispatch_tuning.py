"""Dispatch tuning: the first calls show whether the device's threads or the caller execute a plan.

A device's own threads share the work, but must be woken and waited for, which takes longer than
many a small kernel. Some devices have queues whose commands the calling thread executes at once,
alone. Which is faster depends on the kernels, on the number of threads and on how soon they wake,
and is measured where it matters: where a call takes little time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any
from weakref import ref

from tiledialect.errors import TileError
from tiledialect.lowering.runtime.call.launch import Executable, HostRun
from tiledialect.lowering.runtime.device.queue_state import QueueState, state_in_caller
from tiledialect.lowering.runtime.program.plan import Plan
from tiledialect.lowering.runtime.program.specialization import Specialization

WARM = 6
"""Calls before the tuning; the first ones take longer than any later one."""
ROUNDS = 9
"""Least calls for each dispatch; the fastest counts, as other processes only add to its time."""
MOST = 60
"""Most calls for each dispatch."""
AGAIN, NEAR = 3, 1.05
"""Calls, the fastest included, that must agree up to this factor for their time to be known: calls
that others disturb all take different times."""
CLEARLY = 0.9
"""Largest share of the time on the device's threads for which the caller counts as faster."""
SHORT = 20e-6
"""Seconds of a launch above which the caller is not tried.

The caller would save a few percent, while Python's other threads wait.
"""


class Calls:
    """Calls of a plan."""

    def __init__(self, plan: Plan, run: Callable[[Any], Any], unchecked: Calls | None = None):
        self.plan = plan
        self.run = run
        """Function from arrays to results; a call may replace it."""
        self._unchecked = unchecked

    @property
    def unchecked(self) -> Calls:
        """Calls for arrays that are known to fit."""
        return self._unchecked or self


def calls_on_host(
    specialization: Specialization, state: QueueState, run: Callable[[Executable], HostRun]
) -> Calls:
    """Calls with memory of the host, on the device's threads or by the calling thread alone.

    ``run`` gives the function of an executable that they call.
    """
    shared = specialization.executable(state, on_host=True)
    caller = state_in_caller(state.device)
    if caller is None or not shared.by_pointers or not shared.launches:
        return Calls(shared.plan, run(shared))

    def alone() -> HostRun:
        return run(specialization.executable(caller, on_host=True))

    return DispatchTuning(shared.plan, run(shared), alone, len(shared.launches))


class DispatchTuning(Calls):
    """Calls of a plan for memory of the host, of which the first are timed."""

    def __init__(
        self, plan: Plan, shared: HostRun, in_caller: Callable[[], HostRun], launches: int
    ):
        # A method of this object would keep it, with the built kernels, for the garbage collector.
        super().__init__(plan, partial(_tuned, ref(self)))
        self._next = "shared"
        self._make_alone = in_caller
        self._ways = {"shared": shared}
        self._times: dict[str, list[float]] = {"shared": [], "alone": []}
        self._limit = SHORT * launches

    def call(self, given: Sequence[Any]) -> Any:
        """Results of the way that is timed next."""
        return self._shared(given) if self._next == "shared" else self._alone(given)

    def _shared(self, given: Sequence[Any]) -> Any:
        results = self._timed("shared", given)
        times = self._times["shared"]
        if len(times) >= WARM:
            is_long = min(times) > self._limit
            self._next = "alone"
            if is_long:
                self.run = self._ways["shared"]
        return results

    def _alone(self, given: Sequence[Any]) -> Any:
        try:
            if "alone" not in self._ways:
                self._ways["alone"] = self._make_alone()
            results = self._timed("alone", given)
        except TileError:
            # Whatever is wrong with such a queue, there is the other.
            self.run = self._ways["shared"]
            return self.run(given)
        self._next = "shared"
        if len(self._times["alone"]) >= ROUNDS and all(map(_is_known, self._times.values())):
            shared, alone = map(min, self._times.values())
            self.run = self._ways["alone" if alone < CLEARLY * shared else "shared"]
        return results

    def _timed(self, way: str, given: Sequence[Any]) -> Any:
        start = perf_counter()
        results = self._ways[way](given)
        self._times[way].append(perf_counter() - start)
        return results


def _tuned(tuning: ref[DispatchTuning], given: Sequence[Any]) -> Any:
    """Results of a call, during which the caller has the tuning."""
    own = tuning()
    assert own is not None
    return own.call(given)


def _is_known(times: Sequence[float]) -> bool:
    """Whether a few calls took about as long as the fastest, or there are enough of them."""
    return len(times) >= MOST or sorted(times)[AGAIN - 1] <= NEAR * min(times)
