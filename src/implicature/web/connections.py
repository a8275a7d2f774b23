"""Connections that cost the server little: each request must arrive in time, and one address has so many at most.

uvicorn ends a connection that is idle between requests, but waits for the rest of a request forever and counts
connections only over all clients.
"""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 10.0
"""From the first byte of a request (of the first one, from the connection on) to its last."""
MAX_FOR_ADDRESS = 256
"""A browser opens up to 6, so this is enough for a class behind one router."""
MAX_CONNECTIONS = 700
"""Below uvicorn's limit_concurrency, beyond which it refuses every request, and the usual limit of 1,024 open files."""


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol for one connection, with these limits. Where there are too many connections, that which waits
    for a request, and has waited longest, is ended: a new client always gets in."""

    timer: asyncio.TimerHandle | None = None
    waiting_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        self.start_timer()
        others = [one for one in self.connections if isinstance(one, BoundedProtocol)]
        alive = [one for one in others if not one.transport.is_closing()]
        same_address = [one for one in alive if one.address == self.address]
        if len(same_address) > MAX_FOR_ADDRESS:
            end_longest_waiting(same_address)
        elif len(alive) > MAX_CONNECTIONS:
            end_longest_waiting(alive)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.is_waiting:
            self.start_timer()
        else:
            self.stop_timer()

    def on_response_complete(self) -> None:
        self.waiting_since = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_timer()
        super().connection_lost(exc)

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def is_waiting(self) -> bool:
        """Whether a request has not arrived, or not all of it."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    @property
    def is_idle(self) -> bool:
        """Whether it waits after a request that was answered, as browsers do."""
        return self.cycle is not None and self.cycle.response_complete

    def start_timer(self) -> None:
        if self.timer is None:
            self.timer = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


def end_longest_waiting(connections: list[BoundedProtocol]) -> None:
    """End one of these, an idle one last; one whose request is being answered, never."""
    waiting = [one for one in connections if one.is_waiting]
    if waiting:
        min(waiting, key=lambda one: (one.is_idle, one.waiting_since)).transport.abort()
