"""Measures a model in several processes that compute on one machine at the same time."""

from __future__ import annotations

import multiprocessing
import os
import queue
import statistics
import time
from typing import Any, Callable

import torch

from .measurement import Profile, profile_script
from .user_script import InputError


def profile_together(reference: str, processes: int, *, name: str | None = None, repeat: int = 10) -> Profile:
    """The model's profile if that many processes of this machine compute at the same time, each on one thread.

    The processes begin each pass together, as workers of synchronous training do. Times are means over passes and
    processes: where processes share cores, a layer that waits for a core is rare, and a median would ignore it."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(processes), context.Queue()
    children = [context.Process(target=_profile_beside, args=(reference, barrier, results, name, repeat))
                for _ in range(processes)]
    for child in children:
        child.start()
    try:
        profiles = _collect(results, children, reference)
    finally:
        for child in children:  # after a failure, others still wait at the barrier
            child.terminate()
            child.join()
    mean = profiles[0]
    for i, row in enumerate(mean.rows):
        row.forward_s = statistics.fmean(p.rows[i].forward_s for p in profiles)
        row.backward_s = statistics.fmean(p.rows[i].backward_s for p in profiles)
    cores = len(os.sched_getaffinity(0))
    mean.flops_per_s = statistics.fmean(p.flops_per_s or 0 for p in profiles)
    mean.memory_Bps = statistics.fmean(p.memory_Bps or 0 for p in profiles)
    mean.notes = [f"measured with trigram.torch.profile, PyTorch {torch.__version__}, means of {repeat} passes of "
                  f"{processes} processes that compute together on {cores} cores"]
    return mean


def _collect(results: Any, children: list[Any], reference: str) -> list[Profile]:
    """The profile of every child. Raises InputError with what a child says, or if one ends without a result."""
    found: list[Profile] = []
    silent = 0  # children that had ended without a result a second ago; it may still have been on the way
    while len(found) < len(children):
        try:
            result = results.get(timeout=1)
        except queue.Empty:
            if silent > 0:
                raise InputError(f"{reference}: a process that measures the model has ended early") from None
            silent = sum(child.exitcode is not None for child in children) - len(found)
            continue
        silent = 0
        if isinstance(result, str):
            raise InputError(result)
        found.append(result)
    return found


def _profile_beside(reference: str, barrier: Any, results: Any, name: str | None, repeat: int) -> None:
    try:
        results.put(_profile_with_rates(reference, barrier, name, repeat))
    except InputError as error:
        results.put(str(error))


def _profile_with_rates(reference: str, barrier: Any, name: str | None, repeat: int) -> Profile:
    torch.set_num_threads(1)
    measured = profile_script(reference, name=name, repeat=repeat, before_pass=barrier.wait, average=statistics.fmean)
    matrix, vector = torch.ones(512, 512), torch.ones(sum(row.numel for row in measured.rows))
    copy = torch.empty_like(vector)
    measured.flops_per_s = 2 * 512**3 / _mean_seconds(lambda: matrix @ matrix, barrier)
    measured.memory_Bps = 8 * vector.numel() / _mean_seconds(lambda: copy.copy_(vector), barrier)
    return measured


def _mean_seconds(call: Callable[[], Any], barrier: Any, repeat: int = 50) -> float:
    """The mean seconds of a call while the other processes make it, too."""
    call()
    barrier.wait()
    begin = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - begin) / repeat
