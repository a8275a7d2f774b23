"""Where the time of a command goes. Work is in named parts, of which one runs at a time:

    seconds of a part = wall time inside `with part(name)`, without parts inside it, tracing and compiling

Tracing and compiling are what JAX reports of itself in this thread; other threads' is told apart, since it takes no
time of its own where a core is free. Without a profile, `part` does nothing. Importing this imports no JAX.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

EVENTS = {
    "/jax/core/compile/jaxpr_trace_duration": "tracing",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "tracing",
    "/jax/core/compile/backend_compile_duration": "compiling",
}
"""Reading a program from the compilation cache counts as compiling."""
BEFORE, OTHER = "imports", "other"


class Profile:
    """Seconds by part, from the start of the process on."""

    def __init__(self, started: float) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.background: defaultdict[str, float] = defaultdict(float)
        self._parts, self._since = [OTHER, BEFORE], started
        self._claimed: list[tuple[float, float]] = []
        self._thread = threading.get_ident()

    def enter(self, name: str) -> None:
        self._settle()
        self._parts.append(name)

    def leave(self) -> None:
        self._settle()
        self._parts.pop()

    def _settle(self) -> None:
        now = time.perf_counter()
        self.seconds[self._parts[-1]] += now - self._since
        self._since = now

    def claim(self, name: str, seconds: float) -> None:
        """The last `seconds` were spent on this instead, but for what others inside them have claimed."""
        if threading.get_ident() != self._thread:
            self.background[name] += seconds
            return
        end = time.perf_counter()
        begin = end - seconds
        inside = sum(stop - start for start, stop in self._claimed if start >= begin)
        self._claimed = [claim for claim in self._claimed if claim[0] < begin] + [(begin, end)]
        self.seconds[name] += seconds - inside
        self.seconds[self._parts[-1]] -= seconds - inside

    def finish(self) -> dict[str, float]:
        """Seconds by part, the longest first; their sum is the wall time. Nothing more is recorded."""
        global _active
        self._settle()
        _active = None
        return {name: max(0.0, s) for name, s in sorted(self.seconds.items(), key=lambda item: -item[1])}


_active: Profile | None = None


def start_profile(started: float) -> Profile:
    """Profile this process, which was started at this `time.perf_counter()`, from here on. What came before are
    imports; JAX is imported by this."""
    global _active
    from jax import monitoring

    profile = _active = Profile(started)
    profile.leave()

    def listen(event: str, duration_secs: float, **_: str | int) -> None:
        if event in EVENTS and _active is profile:
            profile.claim(EVENTS[event], duration_secs)

    monitoring.register_event_duration_secs_listener(listen)
    return profile


@contextmanager
def part(name: str) -> Iterator[None]:
    """What is done here belongs to this part of the profile."""
    profile = _active
    if profile is None or threading.get_ident() != profile._thread:
        yield
        return
    profile.enter(name)
    try:
        yield
    finally:
        profile.leave()
