"""Workers that evaluate candidates: one process here, or those of a cluster of Dask."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

from tiledialect.errors import TileError
from tiledialect.exploration.evaluation import Evaluator, Failure, Outcome, written
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.subject import Subject
from tiledialect.records import to_json

INSTALL = "several workers need Dask: pip install 'tiledialect[explore]'"

CONNECTING = "20s"
"""Longest time to find a scheduler."""

Submit = Callable[[Implementation, float], "Future[Outcome]"]
"""Begins a trial of an implementation, given the shortest time so far."""


class LostError(Exception):
    """Loss of the scheduler, and with it of all workers: no candidate is to blame."""


@dataclass(frozen=True)
class Workers:
    """Processes that evaluate implementations of one subject."""

    submit: Submit
    count: int
    interrupt: Callable[[], None] = lambda: None
    """Ends the trials that are being evaluated."""
    apart: bool = False
    """Whether builds leave the times of others that are measured meanwhile as they are."""


def outcome_of(future: Future[Outcome]) -> Outcome:
    """Result of a trial; one that has cost its worker is a failure."""
    try:
        return future.result()
    except Exception as error:
        if _is_killed(error):
            return Outcome(failure=Failure.ENDED, message=f"its worker was lost: {error}")
        raise LostError(str(error) or "the scheduler does not answer") from None


def _is_killed(error: Exception) -> bool:
    """Whether a trial ended the workers that tried it, one after the other."""
    try:
        from distributed import KilledWorker
    except ImportError:
        return False
    return isinstance(error, KilledWorker)


@contextmanager
def workers_for(subject: Subject, wanted: int | str) -> Generator[Workers]:
    """Workers for a subject.

    Args:
        subject: program, inputs and device that are explored.
        wanted: 1 for a process of this one's own, a number of workers of a local cluster, or the
            address of a scheduler of Dask, whose workers have the device as a resource.
    """
    if wanted == 1:
        yield from _local(subject)
    else:
        yield from _cluster(subject, wanted)


def _local(subject: Subject) -> Generator[Workers]:
    evaluator = Evaluator(subject)
    executor = ThreadPoolExecutor(1)
    try:
        submit: Submit = partial(executor.submit, evaluator.evaluate)
        yield Workers(submit, 1, evaluator.interrupt)
    finally:
        # A process that is ended answers at once.
        evaluator.close()
        executor.shutdown(cancel_futures=True)


def resource(device: str) -> str:
    """Name of a device among the resources of a worker: Dask's commands take no spaces there."""
    return f"device-{device}"


def _cluster(subject: Subject, wanted: int | str) -> Generator[Workers]:
    """Workers of Dask: each has the device once, so that it evaluates one candidate at a time."""
    needed = {resource(subject.device.id): 1}
    with ExitStack() as stack:
        client = _client(wanted, needed, stack)
        from tiledialect.exploration.worker_plugin import evaluate_on_worker, interrupt_on_worker

        count = _count_with(client, *needed)
        # A search has its own name, so that it can go.
        name = f"tiledialect-{uuid4()}"
        _give(client, name, subject, isinstance(wanted, int), stack)
        executor = client.get_executor(pure=False, retries=0, resources=needed)

        def submit(implementation: Implementation, best: float) -> Future[Outcome]:
            return executor.submit(evaluate_on_worker, name, to_json(implementation), best)

        def interrupt() -> None:
            # What is lost already needs no end.
            with suppress(OSError, TimeoutError, RuntimeError):
                client.run(interrupt_on_worker, name)

        yield Workers(submit, count, interrupt, apart=subject.device.type != "cpu")


def _client(wanted: int | str, resources: Mapping[str, int], stack: ExitStack) -> Any:
    """A client of a scheduler, or of a cluster of so many workers, that closes with the stack."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise TileError(INSTALL) from None
    cluster: Any = wanted
    if isinstance(wanted, int):
        # Trials have processes of their own; workers in some would run the user's script again.
        cluster = LocalCluster(
            n_workers=wanted,
            processes=False,
            threads_per_worker=1,
            resources=resources,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        )
        stack.callback(cluster.close)
    try:
        return stack.enter_context(closing(Client(cluster, timeout=CONNECTING)))
    except (OSError, TimeoutError, ValueError) as error:
        raise TileError(f"there is no scheduler at {wanted}: {error}") from None


def _give(client: Any, name: str, subject: Subject, is_local: bool, stack: ExitStack) -> None:
    """Give workers a subject, also those that come later, until the stack ends: schedulers that
    others use, too, keep none of a search that has ended."""
    from tiledialect.exploration.worker_plugin import SubjectPlugin

    file = written(subject) if is_local else None
    if file is not None:
        stack.callback(file.unlink, missing_ok=True)
    client.register_plugin(SubjectPlugin(file or subject.to_bytes()), name)
    stack.callback(_take_back, client, name)


def _take_back(client: Any, name: str) -> None:
    with suppress(OSError, TimeoutError):
        client.unregister_worker_plugin(name)


def _count_with(client: Any, needed: str) -> int:
    """Number of workers that have a device; a TileError if there is none."""
    found = client.scheduler_info(n_workers=-1)["workers"].values()
    count = sum(needed in worker.get("resources", {}) for worker in found)
    if not count:
        raise TileError(
            f"no worker of the cluster has the device: start one with "
            f"dask worker ADDRESS --nthreads 1 --resources {needed}=1"
        )
    return count
