"""`implicature play` in a process of its own, for all tests that need a real server."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest


class Server(NamedTuple):
    address: str
    process: subprocess.Popen


@contextmanager
def _serving(*arguments: str) -> Iterator[Server]:
    command = [str(Path(sys.executable).with_name("implicature")), "play", "--no-browser", "--port", "0", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield Server(process.stdout.readline().split()[2], process)
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def serving() -> Callable[..., AbstractContextManager[Server]]:
    """A server with these arguments, as long as the context lasts."""
    return _serving


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a page that many tests look at."""
    with _serving() as started:
        yield started.address
