"""The server of the page with slow, many and foreign clients, on real sockets."""

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient

from implicature.web.app import create_app

HALF_OPEN = 1_100
SLOW_HEAD = b"POST /api/watch HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: "
TIMEOUT = 10.0
"""Seconds in which a request must have arrived."""


def connect(address: str, source: str = "127.0.0.1") -> socket.socket:
    url = urlsplit(address)
    return socket.create_connection((url.hostname or "", url.port or 80), timeout=30, source_address=(source, 0))


def is_closed(client: socket.socket) -> bool:
    """Whether the server has ended this connection."""
    client.settimeout(0.01)
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


@contextmanager
def half_open(address: str, number: int, source: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    """Connections whose heads never end."""
    with ExitStack() as stack:
        clients = []
        for _ in range(number):
            client = stack.enter_context(connect(address, source))
            client.sendall(SLOW_HEAD)
            clients.append(client)
        yield clients


def is_answered(address: str, source: str = "127.0.0.1") -> bool:
    transport = httpx.HTTPTransport(local_address=source)
    with httpx.Client(transport=transport, timeout=5) as client:
        return client.get(f"{address}api/about").status_code == 200


@pytest.fixture(scope="module")
def address(serving) -> Iterator[str]:
    with serving() as (address, _):
        assert httpx.post(f"{address}api/watch", json={"game": "three-objects"}, timeout=120).status_code == 200
        yield address


@pytest.mark.slow
def test_d10_eleven_hundred_half_open_connections_starve_nobody(address: str):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < HALF_OPEN + 200:
        pytest.skip(f"only {hard} files may be open here: raise ulimit -n to {HALF_OPEN + 200}")
    with half_open(address, HALF_OPEN) as clients:
        started = time.monotonic()
        assert is_answered(address)
        assert is_answered(address, "127.0.0.2")
        assert time.monotonic() - started < 5
        assert sum(is_closed(client) for client in clients[:300]) == 300
        while not all(is_closed(client) for client in clients[-200:]):
            assert time.monotonic() - started < TIMEOUT + 8
            time.sleep(0.2)


@pytest.mark.slow
def test_d10_one_address_cannot_take_all_connections(address: str):
    """Those that wait longest for a request end first; one that is being used goes on."""
    with httpx.Client(base_url=address, timeout=5) as busy:
        assert busy.get("api/about").status_code == 200
        with half_open(address, 400, "127.0.0.3") as clients:
            assert busy.get("api/about").status_code == 200
            time.sleep(0.5)
            assert [is_closed(client) for client in (clients[0], clients[-1])] == [True, False]
            n_open = sum(not is_closed(client) for client in clients)
            assert n_open == 256


SLOW_BODY = b"POST /api/watch HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{"
INCOMPLETE = {
    "nothing": (b"", b""),
    "an empty line": (b"\r\n", b""),
    "a head": (SLOW_HEAD, b"x"),
    "a body": (SLOW_BODY, b" "),
    "a second request": (b"GET /api/about HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nGET", b""),
}
"""What is sent at once, and then twice a second."""


@pytest.mark.slow
def test_d10_a_request_that_does_not_arrive_is_ended(address: str):
    """Not even a byte now and then keeps it open."""
    with ExitStack() as stack:
        clients = {name: stack.enter_context(connect(address)) for name in INCOMPLETE}
        started = time.monotonic()
        for name, client in clients.items():
            client.sendall(INCOMPLETE[name][0])
            client.settimeout(0.01)
        while clients and time.monotonic() - started < 2 * TIMEOUT:
            time.sleep(0.5)
            for name, client in list(clients.items()):
                try:
                    client.sendall(INCOMPLETE[name][1])
                    if client.recv(65_536) == b"":
                        del clients[name]
                except TimeoutError:
                    pass
                except OSError:
                    del clients[name]
        assert list(clients) == []


@pytest.mark.slow
def test_d10_a_connection_that_is_used_stays_open(address: str):
    with httpx.Client(base_url=address, timeout=5) as client:
        for _ in range(4):
            response = client.get("api/about")
            assert response.status_code == 200
            time.sleep(3.5)
        assert "connection" not in response.headers


@pytest.fixture(scope="module")
def page() -> Iterator[TestClient]:
    with TestClient(create_app(), base_url="http://127.0.0.1:8642") as client:
        yield client


@pytest.mark.parametrize("path", ["game", "student", "teacher", "watch", "candidates"])
@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        (None, True),
        ("http://127.0.0.1:8642", True),
        ("HTTP://127.0.0.1:8642", True),
        ("http://127.0.0.1:8643", False),
        ("http://localhost:8642", False),
        ("http://evil.example", False),
        ("http://127.0.0.1:8642.evil.example", False),
        ("http://evil.example#127.0.0.1:8642", False),
        ("http://evil.example/127.0.0.1:8642", False),
        ("file://127.0.0.1:8642", False),
        ("null", False),
        ("", False),
    ],
)
def test_d10_a_post_of_another_origin_is_refused(path: str, origin: str | None, allowed: bool, page: TestClient):
    headers = {} if origin is None else {"origin": origin}
    response = page.post(f"/api/{path}", json={"nonsense": 1}, headers=headers)
    if allowed:
        assert response.status_code == 422
    else:
        assert (response.status_code, "another site" in response.json()["message"]) == (403, True)


def test_d10_two_origins_are_no_way_around(page: TestClient):
    headers = [("origin", "http://evil.example"), ("origin", "http://127.0.0.1:8642")]
    assert page.post("/api/watch", json={}, headers=headers).status_code == 403
