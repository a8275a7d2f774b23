"""Programs compiled ahead: while one stage trains, threads compile what later ones run.

`f.lower(x).compile()` leaves the program of a compiled function where a later call f(x) finds it, so results are the
same to the last bit, and a program is compiled once.
"""

from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

THREADS = 2


class Ahead:
    """Work that threads do before it is needed."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="ahead")
        self._work: dict[Hashable, Future[Any]] = {}

    def start(self, key: Hashable, work: Callable[[], object]) -> None:
        """Do this work in a thread, once for each key."""
        if key not in self._work:
            self._work[key] = self._pool.submit(work)

    def wait(self, key: Hashable) -> Any:
        """What this work gave; None where there is none or it failed: who needs it runs into the error again."""
        work = self._work.get(key)
        return None if work is None or work.exception() else work.result()

    def close(self) -> None:
        """Begin no more work."""
        self._pool.shutdown(wait=False, cancel_futures=True)
