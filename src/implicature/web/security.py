"""What every request passes through: limits on size and rate, allowed hosts and origins, and headers with which a
browser loads and sends nothing elsewhere."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from json import dumps
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 8_192
"""The longest real request has some 600."""
MAX_URL_LENGTH = 2_048
RATE, BURST = 500.0, 1000.0
"""Requests a second from one network address, and how many may come at once: enough for a class behind one router."""
MAX_CLIENTS = 4_096

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
TOO_LARGE = 413, f"The request has more than {MAX_BODY_BYTES} bytes: the page's own are shorter."


class SecurityMiddleware:
    """ASGI middleware. `allowed_hosts` are the names that the page answers to, against DNS rebinding; None for any."""

    def __init__(self, app: ASGIApp, allowed_hosts: frozenset[str] | None, clock: Callable[[], float] = monotonic):
        self.app, self.allowed_hosts, self.clock = app, allowed_hosts, clock
        self.buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if error := self.check_request(scope):
            await send_error(send, *error)
            return
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return  # the rest of the body will not come, and nobody waits for a response
            body, more = body + message.get("body", b""), message.get("more_body", False)
            if len(body) > MAX_BODY_BYTES:
                await send_error(send, *TOO_LARGE)
                return
        unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        disconnected = asyncio.Event()
        scope["state"] = {**scope.get("state", {}), "disconnected": disconnected}

        async def watch_connection() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            disconnected.set()

        async def receive_body() -> Message:
            if unread:
                return unread.pop()
            await disconnected.wait()
            return {"type": "http.disconnect"}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = dict(HEADERS)
                if not any(name == b"cache-control" for name, _ in message["headers"]):
                    headers["cache-control"] = "no-store" if scope["path"].startswith("/api/") else "no-cache"
                message["headers"] = [*message["headers"], *encode_headers(headers)]
            await send(message)

        watch = asyncio.create_task(watch_connection())
        try:
            await self.app(scope, receive_body, send_with_headers)
        finally:
            watch.cancel()

    def check_request(self, scope: Scope) -> tuple[int, str] | None:
        """Status and message of the error, if the request is refused."""
        headers = dict(scope["headers"])
        # Not TrustedHostMiddleware: before August 2026 it refused [::1] (Starlette issue 3357), and it answers in text.
        host = re.sub(r":\d*$", "", headers.get(b"host", b"").decode("latin-1").lower())
        if self.allowed_hosts is not None and host not in self.allowed_hosts:
            return 400, "This page answers only to its own address, http://127.0.0.1."
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_URL_LENGTH:
            return 414, f"The URL has more than {MAX_URL_LENGTH} characters: the page's own are shorter."
        if scope["method"] == "POST" and not is_same_origin(scope["headers"]):
            return 403, "The request comes from another site: only the page itself may send it."
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            return TOO_LARGE
        if not self.allow(scope["client"][0] if scope.get("client") else ""):
            return 429, "Too many requests at once from one address: try again in a second."
        return None

    def allow(self, client: str) -> bool:
        """A token bucket for each client, filled at RATE up to BURST; the latest MAX_CLIENTS are remembered."""
        now = self.clock()
        tokens, since = self.buckets.pop(client, (BURST, now))
        tokens = min(BURST, tokens + RATE * (now - since))
        self.buckets[client] = max(tokens - 1, 0.0), now
        if len(self.buckets) > MAX_CLIENTS:
            self.buckets.popitem(last=False)
        return tokens >= 1


def is_same_origin(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether the page itself sends this. Clients other than browsers say nothing about it, and may."""
    host = {value.lower() for name, value in headers if name == b"host"}
    origins = [value.lower() for name, value in headers if name == b"origin"]
    sites = [value for name, value in headers if name == b"sec-fetch-site"]
    own = {scheme + one for scheme in (b"http://", b"https://") for one in host}
    return all(one in own for one in origins) and all(one in (b"same-origin", b"none") for one in sites)


def encode_headers(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def send_error(send: Send, status: int, message: str) -> None:
    body = dumps({"message": message}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close", **HEADERS}
    if status == 429:
        headers["retry-after"] = "1"
    await send({"type": "http.response.start", "status": status, "headers": encode_headers(headers)})
    await send({"type": "http.response.body", "body": body})
