"""What stands between the network and the page: bounded sizes and rates, only hosts it was told of, and headers that
let a browser load and send nothing elsewhere."""

from collections import OrderedDict
from collections.abc import Callable
from json import dumps
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 8_192
"""Of a question. The longest real one has some 600."""
MOST_LETTERS = 2_048
"""Of an address."""
RATE, BURST = 500.0, 1000.0
"""Requests a second from one network address, and how many may come at once: a class behind one router fits in."""
MOST_ADDRESSES = 4_096

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
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


class Guard:
    """ASGI middleware. `hosts` are the names the page may be asked for under, so that no other site can pass itself off
    as it; None for any."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None, clock: Callable[[], float] = monotonic):
        self.app, self.hosts, self.clock = app, hosts, clock
        self.left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if refused := self.refusal(scope):
            await refuse(send, *refused)
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
            if len(body) > MOST_BYTES:
                await refuse(send, 413, f"A question of more than {MOST_BYTES} bytes is none of the page's.")
                return
        unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def whole() -> Message:
            return unread.pop() if unread else await receive()

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = b"no-store" if scope["path"].startswith("/api/") else b"no-cache"
                cache = [] if any(name == b"cache-control" for name, _ in message["headers"]) else [kept]
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode()) for name, value in HEADERS.items()),
                    *((b"cache-control", value) for value in cache),
                ]
            await send(message)

        await self.app(scope, whole, guarded)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").rsplit(":", 1)[0].lower()
        if self.hosts is not None and host not in self.hosts:
            return 400, "This page answers only under its own address, http://127.0.0.1."
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_LETTERS:
            return 414, "This address is longer than any of the page's."
        if scope["method"] == "POST" and headers.get(b"sec-fetch-site", b"same-origin") not in (
            b"same-origin",
            b"none",
        ):
            return 403, "Another site asked for this: only the page itself may."
        if not headers.get(b"content-length", b"0").isdigit() or int(headers.get(b"content-length", b"0")) > MOST_BYTES:
            return 413, f"A question of more than {MOST_BYTES} bytes is none of the page's."
        if not self.may(scope["client"][0] if scope.get("client") else ""):
            return 429, "Too many questions at once from one address: try again in a second."
        return None

    def may(self, client: str) -> bool:
        """A bucket for each client that fills at RATE and holds BURST; of many clients, the latest are remembered."""
        now = self.clock()
        left, seen = self.left.pop(client, (BURST, now))
        left = min(BURST, left + RATE * (now - seen))
        self.left[client] = max(left - 1, 0.0), now
        if len(self.left) > MOST_ADDRESSES:
            self.left.popitem(last=False)
        return left >= 1


async def refuse(send: Send, status: int, sentence: str) -> None:
    body = dumps({"sentence": sentence}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close", **HEADERS}
    if status == 429:
        headers["retry-after"] = "1"
    start = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})
